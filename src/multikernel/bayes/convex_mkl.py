"""Multiple kernel learning as the convex member of the family of probabilistic objectives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array, Component
from .._warnings import unsaid
from ..banks import AtomBank
from ..regularizers import LpNorm
from ..solvers import Problem, Solution, Solver, choose_solver
from ..solvers.base import Progress
from .base import BayesProblem, Evaluation, Inference, State
from .default_method import default_method
from .hyper_priors import FlatPrior
from .mode_posterior import mode_posterior
from .start import first_state


def natural_strength(
    problem: BayesProblem, p: float = 1.0, reference: Array | None = None
) -> float:
    r"""The strength for which the penalty is as steep as the log-determinant that it replaces.

    Parameters
    ----------
    problem : BayesProblem
    p : float, default=1.0
        Order of the penalty.
    reference : array of shape (n_kernels,), optional
        Weights at which the two are compared, by default those of equal shares.

    Notes
    -----
    As :math:`\sum_m d_m \operatorname{tr}(K_d^{-1} K_m) = n`, the mean of the slopes of
    :math:`\ln|K_d|` is matched by :math:`\lambda = n\, n_{\text{outputs}} / (p \sum_m d_m^p)`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, natural_strength
    >>> from multikernel.likelihoods import Gaussian
    >>> problem = BayesProblem(PackedBank.from_grams([np.eye(6)]), np.ones((6, 1)), Gaussian())
    >>> natural_strength(problem, reference=np.array([2.0]))
    3.0
    """
    d = first_state(problem).d if reference is None else reference
    return float(problem.y.size / (p * np.sum(d**p)))


def matched_strength(e: Evaluation, p: float = 1.0) -> float:
    r"""The strength for which the penalty is as steep as that of the evidence at an evaluation.

    Notes
    -----
    The slopes of :math:`\ln|C|` are :math:`t_m = \operatorname{tr}(P K_m)`; their mean is matched
    by :math:`\lambda = \sum_m d_m t_m / (p \sum_m d_m^p)`. Where all weights are zero it is the
    largest slope, which keeps them there for p = 1 (other orders are flat at zero), and 1 where
    all kernels are zero.
    """
    used = float(e.state.d @ e.t)
    if used > 0:
        return used / (p * float(np.sum(e.state.d**p)))
    return float(np.max(e.t)) or 1.0


def _default_strength(problem: BayesProblem, p: float) -> float:
    """The strength that is matched to the evidence, or to its bound, at the optimum of that."""
    free = replace(problem, hyper_prior=FlatPrior(), learn_likelihood=False)
    with unsaid(ConvergenceWarning):
        # any strength of that size will do, and the answer to it has a certificate of its own
        best = default_method(problem.likelihood).infer(free)
    return matched_strength(Evaluation(free, best.state), p)


@dataclass(repr=False)
class ConvexMKL(Component):
    r"""Penalised likelihood over functions and weights, with a proof of optimality.

    Parameters
    ----------
    strength : float, optional
        The factor :math:`\lambda` of the penalty, by default that for which it is on average as
        steep as the log-determinant of the evidence, or of its bound, at the optimum of that.
    p : float, default=1.0
        Order of the penalty, at least 1: sparse at 1, then even.
    tol : float, default=1e-6
        Relative duality gap.
    max_iter : int, default=200

    Notes
    -----
    .. math:: \phi_{MKL}(d) = \min_{u, b} u^\top K_d^{-1} u - 2 \ln P(y | u + b)
              + \lambda \textstyle\sum_m d_m^p

    for log-concave likelihoods ([NS11]_, Eq. (3)), jointly convex, by the solvers of penalised
    multiple kernel learning: half of it is their objective with :math:`d = c\,\tilde d`,
    :math:`c = (\lambda p)^{-1/p}`, and kernels :math:`c\, a^2 K_m`, where a is the scale of the
    latent values in the loss. Parameters of the likelihood are not learned and hyper-priors not
    used: the penalty is the prior, and the objective has no minimum in, say, the noise variance.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, ConvexMKL
    >>> from multikernel.likelihoods import Gaussian
    >>> x = np.linspace(-1, 1, 9)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> problem = BayesProblem(bank, 3 * x[:, np.newaxis], Gaussian(noise_var=0.1))
    >>> ConvexMKL(strength=1.0).infer(problem).weights.round(2)
    array([2.97, 0.  ])
    """

    strength: float | None = None
    p: float = 1.0
    tol: float = 1e-6
    max_iter: int = 200

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"strength": 2.0, "p": 2.0})

    def infer(self, problem: BayesProblem, start: State | None = None) -> Inference:
        """Minimise the objective from the weights of a state, where one is given."""
        problem.check()
        loss, factor = problem.likelihood.convex_loss()  # TypeError where not log-concave
        strength = self._checked_strength(problem)
        a, c = problem.likelihood.latent_scale, (strength * self.p) ** (-1 / self.p)
        scaled = AtomBank(problem.bank, np.diag(np.full(problem.bank.n_kernels, c * a**2)))
        convex = Problem(
            scaled, problem.y, loss, LpNorm(p=self.p), factor / 2, problem.fit_intercept
        )
        solver = choose_solver(convex, tol=self.tol, max_iter=self.max_iter)
        if not np.any(problem.bank.traces(np.eye(problem.bank.n_samples))):
            solution = _constant(convex, solver)  # there is nothing to weigh
        else:
            warm = None if start is None else _weights_only(convex, start.d / c)
            solution = solver.solve(convex, warm)
        return self._conclude(problem, strength, solution, c, a)

    def _checked_strength(self, problem: BayesProblem) -> float:
        if not 1 <= self.p < np.inf:
            raise ValueError(f"ConvexMKL: p must be finite and at least 1, got {self.p}.")
        if self.strength is None:
            return _default_strength(problem, self.p)
        if not 0 < self.strength < np.inf:
            raise ValueError(f"ConvexMKL: strength must be positive, got {self.strength}.")
        return float(self.strength)

    def _conclude(
        self, problem: BayesProblem, strength: float, solution: Solution, c: float, a: float
    ) -> Inference:
        d, alpha, b = c * solution.weights, a * solution.dual_coef, solution.intercept / a
        z = problem.bank.combine(d) @ alpha + b
        variance = float(np.sum(d * problem.kernel_scales)) or 1.0
        posterior = mode_posterior(problem.likelihood, problem.y, z, alpha, variance)
        constant = float(np.sum(problem.likelihood.constant(problem.y)))
        history = dict(solution.history)
        history["objective"] = 2 * history["objective"] + constant  # φ = 2J + constant
        return Inference(
            weights=d,
            likelihood=problem.likelihood,
            dual_coef=alpha,
            intercept=b,
            site_var=posterior.site_var,
            pseudo_targets=posterior.pseudo_targets,
            objective=2 * solution.objective + constant,
            stationarity=solution.gap,  # which bounds how far every condition is from its optimum
            n_iter=solution.n_iter,
            converged=solution.converged,
            n_passes=solution.n_passes,
            history=history,
            method=type(self).__name__,
            gap=solution.gap,
        )


def _constant(convex: Problem, solver: Solver) -> Solution:
    """The constant predictor as a solution, with its duality gap."""
    progress = Progress(convex, solver.tol)
    b, alpha = convex.constant_predictor()
    weights = np.zeros(convex.bank.n_kernels)
    progress.record(weights, alpha, b, convex.bank.quadratic(alpha), np.zeros_like(alpha))
    return progress.solution(solver)


def _weights_only(convex: Problem, weights: Array) -> Solution:
    """Weights as a solution to start from, with the constant predictor."""
    b, alpha = convex.constant_predictor()
    return Solution(
        weights=weights,
        dual_coef=alpha,
        intercept=b,
        sq_norms=weights**2 * convex.bank.quadratic(alpha),
        objective=np.inf,
        dual_objective=-np.inf,
        gap=np.inf,
        n_iter=0,
        converged=False,
        n_passes=0.0,
        history={},
        solver="",
        dual_point=alpha,
    )
