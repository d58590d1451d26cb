"""The Gaussian bounds of a likelihood at a state, or its Gaussian noise: refitted and judged."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..banks import Bank
from ..likelihoods import Gaussian, Likelihood
from .base import BayesProblem, Evaluation, State

_NOISE_FLOOR = 1e-8  # of the variance of the targets
_MAX_HALVINGS = 30
_RISE = 1e-6  # of the objective, relative to it: more than rounding makes, however singular C is


def noise_of(likelihood: Likelihood) -> float:
    """The variance of Gaussian noise."""
    return float(cast(Gaussian, likelihood).noise_var)


def noise_floor(problem: BayesProblem) -> float:
    r"""The least variance of Gaussian noise.

    Notes
    -----
    :math:`\max(10^{-8}, n\,\mathrm{eps})` times the variance of the targets: rounded kernels have
    negative eigenvalues of up to :math:`n\,\mathrm{eps}` times their diagonal.
    """
    share = max(_NOISE_FLOOR, problem.bank.n_samples * rounding_unit(problem.bank))
    return float(max(share * np.mean(np.var(problem.y, axis=0)), np.finfo(float).tiny))


def rounding_unit(bank: Bank) -> float:
    """The machine epsilon of what a bank stores, or of the bank that it is made of."""
    stored: Any = bank
    while not hasattr(stored, "dtype") and hasattr(stored, "bank"):
        stored = stored.bank
    return float(np.finfo(getattr(stored, "dtype", np.float64)).eps)


def rises(e: Evaluation, new: Evaluation) -> bool:
    """Whether a step raised the objective, or led where the covariance cannot be factored.

    No method does that in exact arithmetic and with kernels that are positive semi-definite.
    """
    return new.trial_value > e.value + _RISE * max(abs(e.value), 1.0)


def shortened(e: Evaluation, new: Evaluation) -> Evaluation | None:
    """The first evaluation on the way back from the new to the old that is no worse, or None."""
    for _ in range(_MAX_HALVINGS):
        new = Evaluation(e.problem, _halfway(e.state, new.state))
        if new.trial_value <= e.value:
            return new
    return None


def _halfway(old: State, new: State) -> State:
    d, site_var = 0.5 * (old.d + new.d), 0.5 * (old.site_var + new.site_var)
    gaussian = new.likelihood.is_gaussian
    likelihood = Gaussian(noise_var=float(site_var[0, 0])) if gaussian else new.likelihood
    return State(d, likelihood, site_var)


def with_noise(problem: BayesProblem, state: State, noise: float) -> State:
    """The state with another variance of Gaussian noise, kept away from zero."""
    noise = max(noise, noise_floor(problem))
    likelihood = Gaussian(noise_var=noise)
    return state._replace(likelihood=likelihood, site_var=np.full(problem.y.shape, noise))


def refitted_sites(e: Evaluation) -> State:
    """The state with the best bounds, and better parameters of the likelihood where learned."""
    problem, state = e.problem, e.state
    if problem.likelihood.is_gaussian:
        if not problem.learn_likelihood:
            return state
        noise = noise_of(state.likelihood) * e.noise_form / e.noise_trace  # σ² ← σ² q₀/t₀
        return with_noise(problem, state, noise)
    x = e.second_moments
    likelihood = state.likelihood.learned(x) if problem.learn_likelihood else state.likelihood
    return state._replace(likelihood=likelihood, site_var=np.asarray(likelihood.site_var(x)))


def site_stationarity(e: Evaluation) -> float:
    """How far bounds or noise are from where they settle, free of units."""
    if not e.problem.likelihood.is_gaussian:
        better = refitted_sites(e).site_var
        return float(np.mean(np.abs(np.log(better / e.state.site_var))))
    if not e.problem.learn_likelihood:
        return 0.0
    noise, slope = noise_of(e.state.likelihood), e.noise_gradient()
    if slope > 0 and noise <= noise_floor(e.problem):
        return 0.0  # it would fall further, and may not
    return abs(noise * slope) / e.problem.y.size
