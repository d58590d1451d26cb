"""MacKay's fixed point: weights times the ratio of what they explain to what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Evaluation
from .method import Method
from .sites import refitted_sites
from .weight_step import fixed_point, prune


@dataclass(repr=False)
class MacKay(Method):
    r"""The fixed point of MacKay: weights times q/t, never worse.

    Notes
    -----
    :math:`d_m \leftarrow d_m\, q_m / t_m` and the same for the noise ([TS10]_, Eqs. (22)-(23));
    for other likelihoods the bounds are refitted in turn.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, MacKay
    >>> from multikernel.likelihoods import Gaussian
    >>> x = np.linspace(-1, 1, 20)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> y = 3 * x[:, np.newaxis] + 0.3 * np.cos(40 * x[:, np.newaxis])
    >>> found = MacKay().infer(BayesProblem(bank, y, Gaussian()))
    >>> found.converged, found.weights.round(1).tolist()
    (True, [9.0, 0.0])
    """

    max_iter: int = 5000

    def _step(self, e: Evaluation) -> Evaluation:
        moved = Evaluation(e.problem, e.state._replace(d=prune(e, fixed_point(e))))
        if e.problem.likelihood.is_gaussian:
            noise = refitted_sites(e)
            return Evaluation(e.problem, noise._replace(d=moved.state.d))
        return Evaluation(e.problem, refitted_sites(moved))
