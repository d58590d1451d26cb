"""Method: a way to a stationary point of the evidence or of its variational bound."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._component import Component
from ..likelihoods import Gaussian, Likelihood
from .base import BayesProblem, Evaluation, Inference, Record, State, conclude
from .weight_step import all_negligible, moving, revived, weight_stationarity

_NOISE_FLOOR = 1e-8  # of the variance of the targets


def first_state(problem: BayesProblem) -> State:
    r"""Equal shares of half the variance for all kernels; the other half is noise, where learned.

    Notes
    -----
    For non-Gaussian likelihoods :math:`d_m = 1/(M\,\overline{\operatorname{diag} K_m})` and
    :math:`\gamma_i = 1/\rho'(K_{ii})`.
    """
    likelihood, M = problem.likelihood, problem.bank.n_kernels
    if is_gaussian(problem):
        variance = float(np.var(problem.y - problem.y.mean(axis=0))) or 1.0
        d = 0.5 * variance / (M * problem.kernel_scales)
        if problem.learn_likelihood:
            likelihood = Gaussian(noise_var=0.5 * variance)
        return State(d, likelihood, np.full(problem.y.shape, noise_of(likelihood)))
    d = 1.0 / (M * problem.kernel_scales)
    return State(d, likelihood, np.broadcast_to(likelihood.site_var(np.ones(1)), problem.y.shape))


def is_gaussian(problem: BayesProblem) -> bool:
    """Whether the noise is Gaussian, so that the bound is the evidence itself."""
    return hasattr(problem.likelihood, "noise_var")


def noise_of(likelihood: Likelihood) -> float:
    """The variance of Gaussian noise."""
    return float(cast(Gaussian, likelihood).noise_var)


def refitted_sites(e: Evaluation) -> State:
    """The state with the best bounds, and better parameters of the likelihood where learned."""
    problem, state = e.problem, e.state
    if is_gaussian(problem):
        if not problem.learn_likelihood:
            return state
        noise = noise_of(state.likelihood) * e.noise_form / e.noise_trace
        return with_noise(problem, state, noise)
    x = e.second_moments
    likelihood = state.likelihood.learned(x) if problem.learn_likelihood else state.likelihood
    return state._replace(likelihood=likelihood, site_var=np.asarray(likelihood.site_var(x)))


def with_noise(problem: BayesProblem, state: State, noise: float) -> State:
    """The state with another variance of Gaussian noise, kept away from zero."""
    noise = max(noise, noise_floor(problem))
    likelihood = Gaussian(noise_var=noise)
    return state._replace(likelihood=likelihood, site_var=np.full(problem.y.shape, noise))


def noise_floor(problem: BayesProblem) -> float:
    """The least variance of Gaussian noise."""
    return float(max(_NOISE_FLOOR * np.mean(np.var(problem.y, axis=0)), np.finfo(float).tiny))


def stationarity(e: Evaluation) -> float:
    """The largest violation of stationarity in weights, noise and bounds, free of units."""
    violation = weight_stationarity(e)
    if is_gaussian(e.problem):
        if not e.problem.learn_likelihood:
            return violation
        noise, slope = noise_of(e.state.likelihood), e.noise_gradient()
        if slope > 0 and noise <= noise_floor(e.problem):
            return violation  # it would fall further, and may not
        return max(violation, abs(noise * slope) / e.problem.y.size)
    better = refitted_sites(e).site_var
    return max(violation, float(np.mean(np.abs(np.log(better / e.state.site_var)))))


@dataclass(repr=False)
class Method(Component):
    """A way to a stationary point of the objective; it says how stationary its answer is."""

    tol: float = 1e-6
    max_iter: int = 500

    gaussian_only: ClassVar[bool] = False

    def infer(self, problem: BayesProblem, start: State | None = None) -> Inference:
        """Minimise the objective from a state, by default that of equal shares."""
        problem.check()
        if self.gaussian_only and not is_gaussian(problem):
            raise TypeError(
                f"{type(self).__name__} needs a Gaussian likelihood, got {problem.likelihood!r}; "
                "use method='newton' or 'mackay'."
            )
        inference: Inference = clone(self)._infer(problem, start or first_state(problem))
        if not inference.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {inference.n_iter} iterations with "
                f"stationarity {inference.stationarity:.1e} > tol={self.tol:.1e}; raise max_iter "
                "or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return inference

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        record = Record(problem)
        e = Evaluation(problem, state)
        for _ in range(self.max_iter):
            left = stationarity(e)
            record.add(e.value, left)
            d = revived(e) if moving(e) <= self.tol or all_negligible(e) else None
            if d is not None:
                e = Evaluation(problem, e.state._replace(d=d))
            elif left <= self.tol:
                break
            else:
                e = self._step(e)
        return conclude(e, record, stationarity(e), self.tol, type(self).__name__)

    @abstractmethod
    def _step(self, e: Evaluation) -> Evaluation:
        """An evaluation that is no worse."""
