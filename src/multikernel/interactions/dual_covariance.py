"""Covariance of the dual coefficients of single-kernel machines: the matrix Q of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._component import Array, resolve
from ..losses import LOSSES, Loss
from ..solvers import Problem
from ._machines import check_folds, dual_coefficients, held_out_coefficients
from ._moments import correlation, covariance
from .base import Interaction


@dataclass(repr=False, eq=False)
class DualCovariance(Interaction):
    r"""Discourage kernels whose own machines lean on the same training samples.

    Use it when many kernels are near copies of each other and should share one weight between
    them rather than be counted many times. :class:`GraphLaplacian` of it does the opposite.

    Parameters
    ----------
    correlation : bool, default=False
        Scale to unit diagonal, so that no kernel is favoured for coefficients that vary little.
    signed : bool, default=True
        Keep the sign of the coefficients of a classifier, which is that of the label. All kernels
        share the labels, so that signed coefficients vary together more; False takes sizes, as
        [H12]_ does.
    loss : str or Loss, optional
        Loss of the single-kernel machines, for example ``"hinge"``; by default that of the model.
    n_folds : int, default=0
        With 2 or more, the coefficient of a sample is that which belongs to the prediction of a
        machine trained without its fold; n_folds times the work. 0 takes the coefficients of one
        machine on all training samples.
    n_jobs : int, optional
        Threads that train machines; each then uses one thread of BLAS. -1 takes all cores.

    See Also
    --------
    ErrorCorrelation : Compares errors instead of coefficients.
    KernelAlignment : Compares the kernels themselves, without targets.

    Notes
    -----
    With signed coefficients :math:`\alpha^{(m)}_i = -C \ell'(y_i, f^{(m)}(x_i) + b^{(m)})` of a
    machine on kernel m alone,

    .. math:: Q_{kl} \propto \operatorname{cov}(\alpha^{(k)}, \alpha^{(l)}), \qquad
              \operatorname{tr} Q = M .

    The idea of [H12]_, Section 3, rests on a bound by Joachims and others for sums of two kernels:
    such a sum generalises better the fewer support vectors the two machines share. Machines that
    need the same samples have coefficients that vary together, so a large entry of Q marks two
    kernels that bring the same information, and :math:`d^\top Q d` makes using both expensive.
    Without the scaling, Q would grow like :math:`C^2` and cancel the effect of C.

    Coefficients of several outputs are stacked. A sample of weight s counts as s samples. A kernel
    whose coefficients do not vary gets the mean variance and no covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import Hinge, PackedBank, Problem, Uniform
    >>> x = np.array([-2.0, -1.0, 1.0, 2.5])
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.outer(x, x), np.eye(4)])
    >>> problem = Problem(bank, np.sign(x)[:, np.newaxis], Hinge(), Uniform())
    >>> DualCovariance(correlation=True).matrix(problem, sources="aab").round(2)
    array([[1.  , 1.  , 0.71],
           [1.  , 1.  , 0.71],
           [0.71, 0.71, 1.  ]])
    """

    correlation: bool = False
    signed: bool = True
    loss: str | Loss | None = None
    n_folds: int = 0
    n_jobs: int | None = None

    examples: ClassVar = (
        {},
        {"correlation": True},
        {"signed": False},
        {"loss": "squared"},
        {"n_folds": 3},
        {"correlation": True, "n_jobs": 2},
    )

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The covariance or correlation, of unit mean diagonal."""
        problem = self._with_loss(problem)
        if self.n_folds == 0:
            alphas = dual_coefficients(problem, self.n_jobs)
        else:
            check_folds(self.n_folds, len(problem.y), "DualCovariance")
            alphas = held_out_coefficients(problem, self.n_folds, self.n_jobs)
        s = problem.cost / problem.C
        V = (alphas / s).reshape(len(alphas), -1)  # the share of one of s copies of a sample
        V = V if self.signed else np.abs(V)
        moment = correlation if self.correlation else covariance
        return moment(V, np.broadcast_to(s, problem.y.shape).ravel())

    def _with_loss(self, problem: Problem) -> Problem:
        """The problem of the single-kernel machines."""
        if self.loss is None:
            return problem
        loss: Loss = resolve(self.loss, LOSSES, "hinge", "loss")
        loss.check()
        given, wanted = problem.loss.y_domain, loss.y_domain
        if wanted not in (given, "real") and (given, wanted) != ("onehot", "sign"):
            raise ValueError(
                f"DualCovariance: {loss!r} does not fit the targets of {problem.loss!r}; leave "
                "loss=None or choose a loss for the same targets."
            )
        labels = given == "onehot" and wanted != "onehot"
        return replace(problem, loss=loss, y=2 * problem.y - 1 if labels else problem.y)
