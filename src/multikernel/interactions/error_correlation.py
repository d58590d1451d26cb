"""Correlation of the held-out errors of single-kernel machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ..solvers import Problem
from ._machines import check_folds, held_out_predictions
from ._moments import correlation
from .base import Interaction


@dataclass(repr=False, eq=False)
class ErrorCorrelation(Interaction):
    r"""Discourage kernels that fail on the same samples, and let those that complement each other.

    Use it as in an ensemble: two kernels with independent errors are worth more together than two
    with common ones. It needs n_folds machines per kernel.

    Parameters
    ----------
    n_folds : int, default=5
        Parts into which the training samples are split; every part is predicted by machines
        trained on the others. Labels are stratified, numbers spread over their range, and the
        split is the same in every run.
    n_jobs : int, optional
        Threads that train machines; each then uses one thread of BLAS. -1 takes all cores.

    See Also
    --------
    DualCovariance : Cheaper, and also of the sign of the errors with labels.

    Notes
    -----
    With held-out predictions :math:`z^{(m)}` of a machine on kernel m alone,

    .. math:: Q_{kl} = \operatorname{corr}(e^{(k)}, e^{(l)}), \qquad
              e^{(m)}_i = y_i - z^{(m)}_i \ \text{ or } \ \ell(y_i, z^{(m)}_i),

    residuals for losses on numbers, losses for losses on labels. Errors of several outputs are
    stacked. A sample of weight s counts as s samples. A kernel whose errors do not vary has no
    correlation with the others.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> x = np.linspace(-1, 1, 12)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.outer(x, x), np.outer(x**2, x**2)])
    >>> y = (x + x**2)[:, np.newaxis]
    >>> Q = ErrorCorrelation(n_folds=3).matrix(Problem(bank, y, Squared(), Uniform()), "aab")
    >>> Q.round(2)
    array([[1.  , 1.  , 0.68],
           [1.  , 1.  , 0.68],
           [0.68, 0.68, 1.  ]])
    """

    n_folds: int = 5
    n_jobs: int | None = None

    examples: ClassVar = ({}, {"n_folds": 2, "n_jobs": 2})

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The correlation of errors, of unit diagonal."""
        check_folds(self.n_folds, len(problem.y), "ErrorCorrelation")
        z = held_out_predictions(problem, self.n_folds, self.n_jobs)
        if problem.loss.y_domain == "real":
            errors = problem.y - z
        else:
            errors = np.stack([problem.loss.value(problem.y, part) for part in z])
        s = np.broadcast_to(problem.cost, errors.shape[1:])
        return correlation(errors.reshape(len(errors), -1), s.ravel())
