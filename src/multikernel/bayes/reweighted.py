"""Evidence by reweighted convex problems: block 1-norm MKL with weights refitted in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array
from .._warnings import unsaid
from ..banks import AtomBank
from ..losses import Squared
from ..regularizers import LpNorm
from ..solvers import Problem, Solution, choose_solver
from .base import BayesProblem, Evaluation, Inference, State
from .mackay import MacKay
from .method import Method, stationarity
from .sites import noise_of, refitted_sites

_LOOSEST, _TIGHTEST = 1e-6, 1e-13  # relative duality gaps of the convex problems
_NOTHING = 1e-14  # a slope this small beside the largest belongs to a kernel that is zero
_ROUNDING = 1e-13  # a rise of the objective this small, relative to it, is none


@dataclass(repr=False)
class ReweightedMKL(Method):
    r"""Block 1-norm multiple kernel learning with penalties refitted until they settle.

    Notes
    -----
    The log-determinant of the evidence lies below its tangent, so that with
    :math:`z_m = t_m = \operatorname{tr}(P K_m)` the objective cannot rise when the weights minimise

    .. math:: \min_{f, b} \tfrac1{2\sigma^2} \Big\|y - b \mathbf 1 - \textstyle\sum_m f_m\Big\|^2
              + \sum_m \sqrt{z_m}\, \|f_m\|_{K_m}, \qquad d_m = \|f_m\|_{K_m} / \sqrt{z_m},

    a problem for the convex solvers (Method A of [TS10]_, Section 3). The noise follows by
    MacKay's update in between. A hyper-prior whose penalty is linear, such as
    ``GammaPrior(shape=1)``, adds its slope to :math:`z_m`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, ReweightedMKL
    >>> from multikernel.likelihoods import Gaussian
    >>> x = np.linspace(-1, 1, 20)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> y = 3 * x[:, np.newaxis] + 0.3 * np.cos(40 * x[:, np.newaxis])
    >>> found = ReweightedMKL().infer(BayesProblem(bank, y, Gaussian()))
    >>> found.converged, found.weights.round(1).tolist()
    (True, [9.0, 0.0])
    """

    gaussian_only: ClassVar[bool] = True

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        if not _is_linear(problem):
            raise TypeError(
                f"ReweightedMKL needs a hyper-prior with a linear penalty, got "
                f"{problem.hyper_prior!r}; use GammaPrior(shape=1), or method='newton'."
            )
        return super()._infer(problem, state)

    def _step(self, e: Evaluation) -> Evaluation:
        tol = float(np.clip(1e-3 * stationarity(e) ** 2, _TIGHTEST, _LOOSEST))
        if e.problem.learn_likelihood:
            e = Evaluation(e.problem, refitted_sites(e))  # σ² ← σ² q₀/t₀
        new = Evaluation(e.problem, e.state._replace(d=_best_weights(e, tol)))
        if new.trial_value <= e.value + _ROUNDING * abs(e.value):
            return new
        return MacKay()._step(e)


def _is_linear(problem: BayesProblem) -> bool:
    """Whether the penalty of the hyper-prior is a sum of multiples of the weights."""
    prior, ones = problem.hyper_prior, np.ones(problem.bank.n_kernels)
    return bool(prior.keeps_zeros) and np.array_equal(
        prior.gradient(ones), prior.gradient(2 * ones)
    )


def _best_weights(e: Evaluation, tol: float) -> Array:
    """The weights that minimise the tangent bound, to a relative duality gap."""
    problem, d = e.problem, e.state.d
    z = e.t + problem.hyper_prior.gradient(np.ones_like(d))  # slopes of the bound
    unit = np.divide(1.0, z, out=np.zeros_like(z), where=z > _NOTHING * z.max())
    bank = AtomBank(problem.bank, np.diag(unit))  # K_m / z_m
    C = 1.0 / noise_of(e.state.likelihood)
    convex = Problem(bank, problem.y, Squared(), LpNorm(p=1.0), C, problem.fit_intercept)
    with unsaid(ConvergenceWarning):  # the outer certificate decides
        solution = choose_solver(convex, tol=tol).solve(convex, _warm_start(e, d * z))
    return solution.weights * unit  # d_m = d̃_m / z_m


def _warm_start(e: Evaluation, weights: Array) -> Solution:
    """The present point as a solution of the convex problem."""
    return Solution(
        weights=weights,
        dual_coef=e.alpha,
        intercept=e.intercept,
        sq_norms=weights * e.state.d * e.q,
        objective=np.inf,
        dual_objective=-np.inf,
        gap=np.inf,
        n_iter=0,
        converged=False,
        n_passes=0.0,
        history={},
        solver="",
        dual_point=e.alpha,
    )
