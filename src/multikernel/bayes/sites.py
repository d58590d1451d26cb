"""The Gaussian bounds of a likelihood at a state, or its Gaussian noise: refitted and judged."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..likelihoods import Gaussian, Likelihood
from .base import BayesProblem, Evaluation, State

_NOISE_FLOOR = 1e-8  # of the variance of the targets


def noise_of(likelihood: Likelihood) -> float:
    """The variance of Gaussian noise."""
    return float(cast(Gaussian, likelihood).noise_var)


def noise_floor(problem: BayesProblem) -> float:
    """The least variance of Gaussian noise."""
    return float(max(_NOISE_FLOOR * np.mean(np.var(problem.y, axis=0)), np.finfo(float).tiny))


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
