"""From the parameters of a probabilistic estimator to an inference: methods, starts, restarts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._warnings import listening, unsaid, warn
from ..bayes import (
    BayesProblem,
    ConvexMKL,
    Inference,
    JointMAP,
    Method,
    State,
    default_method,
    first_state,
)
from ..bayes.taxonomy_objectives import phi_vb
from ..likelihoods import Likelihood

Run = Callable[[BayesProblem, State], Inference]

_FLOOR = 1e-8  # of the size of constant targets: their noise variance
_LOG10_QUIETEST = 4.0  # a random start has up to so many powers of ten less noise


def _limits(estimator: Any) -> dict[str, Any]:
    """When to stop; a method has its own number of iterations unless one is given."""
    limits = {"tol": estimator.tol}
    return limits if estimator.max_iter is None else limits | {"max_iter": estimator.max_iter}


def _bound(estimator: Any) -> Run:
    """The evidence or its variational bound, by the method asked for."""
    method: Method = estimator._part("method")
    if not isinstance(estimator.method, Method):
        method.set_params(**_limits(estimator))
    return method.infer


def _joint_mode(estimator: Any) -> Run:
    """The joint mode of weights and function."""
    jitter = 0.0 if estimator.jitter is None else estimator.jitter
    return JointMAP(jitter=jitter, **_limits(estimator)).infer


def _convex(estimator: Any) -> Run:
    """The convex MKL objective."""
    return ConvexMKL(estimator.strength, estimator.p, **_limits(estimator)).infer


RUNS: dict[str, Callable[[Any], Run]] = {
    "evidence": _bound,
    "vb": _bound,
    "map": _joint_mode,
    "mkl": _convex,
}
BOUNDS = ("evidence", "vb")  # objectives that bound the evidence, and can learn the likelihood
USED_BY = {  # parameters that not all objectives have
    "method": BOUNDS,
    "hyper_prior": (*BOUNDS, "map"),
    "strength": ("mkl",),
    "p": ("mkl",),
    "jitter": ("map",),
    "n_restarts": (*BOUNDS, "map"),
}


def ready_problem(problem: BayesProblem, objective: str, estimator: Any) -> BayesProblem:
    """The problem with a likelihood that the objective can deal with.

    Joint mode and MKL cannot learn the likelihood, as they have no minimum in, say, the noise:
    they take what the evidence or its bound prefers, within the limits of the estimator. Constant
    targets leave no noise to learn, as the evidence would grow without bound: it is fixed near
    zero.
    """
    if not problem.learn_likelihood or problem.likelihood.y_domain != "real":
        return problem
    if not np.any(np.ptp(problem.y, axis=0) > 0):
        noise = _FLOOR * (float(np.mean(problem.y**2)) or 1.0)
        likelihood = problem.likelihood.learned(np.full(1, noise))
        return replace(problem, likelihood=likelihood, learn_likelihood=False)
    if objective in BOUNDS:
        return problem
    learned = _learned_likelihood(problem, objective, _limits(estimator))
    return replace(problem, likelihood=learned, learn_likelihood=False)


def _learned_likelihood(
    problem: BayesProblem, objective: str, limits: dict[str, Any]
) -> Likelihood:
    """The likelihood that the evidence or its bound prefers, for an objective that learns none."""
    method = default_method(problem.likelihood).set_params(**limits)
    with unsaid(ConvergenceWarning):  # its advice is for another objective
        inference = method.infer(problem)
    if not inference.converged:
        source = "evidence" if problem.likelihood.is_gaussian else "variational bound"
        stuck = inference.n_iter < method.max_iter  # in the precision of the kernels
        remedy = "Use dtype='float64', raise tol" if stuck else "Raise max_iter or tol"
        warn(
            f"objective={objective!r} takes its likelihood from the {source}, and the search for "
            f"that one stopped after {inference.n_iter} iterations with stationarity "
            f"{inference.stationarity:.1e} > tol={method.tol:.1e}: {inference.likelihood!r} had "
            f"not settled. {remedy}, or give the likelihood and set learn_likelihood=False.",
            ConvergenceWarning,
        )
    return inference.likelihood


def log_evidence(problem: BayesProblem, inference: Inference, objective: str) -> float:
    """The log evidence of the weights inferred, or its variational lower bound.

    It is that of the model of the other objectives: the jitter of the joint mode is not in it.
    """
    if objective in BOUNDS:
        penalty = problem.hyper_prior.value(inference.weights)
        return -(inference.objective - penalty) / 2
    bound = phi_vb(
        problem.bank,
        problem.y,
        inference.likelihood,
        inference.weights,
        fit_intercept=problem.fit_intercept,
    )
    return -bound.value / 2


def best_inference(
    run: Run, problem: BayesProblem, n_restarts: int, rng: np.random.Generator
) -> Inference:
    """The inference of the lowest objective, from the standard start and from random ones."""
    candidates = [_quietly(run, problem, start) for start in _starts(problem, n_restarts, rng)]
    best = min(candidates, key=lambda candidate: candidate.inference.objective)
    for message in best.complaints:
        warn(message, ConvergenceWarning)
    return best.inference


@dataclass(frozen=True)
class _Candidate:
    inference: Inference
    complaints: list[str]


def _quietly(run: Run, problem: BayesProblem, start: State) -> _Candidate:
    """Run, and keep complaints about convergence until it is known whether they matter."""
    with listening() as heard:
        inference = run(problem, start)
    complaints = []
    for warning in heard:
        if issubclass(warning.category, ConvergenceWarning):
            complaints.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return _Candidate(inference, complaints)


def _starts(problem: BayesProblem, n_random: int, rng: np.random.Generator) -> Iterator[State]:
    """The standard start, then random weights around it, with less noise where that is learned."""
    start = first_state(problem)
    yield start
    total = float(np.sum(start.d * problem.kernel_scales))
    for _ in range(n_random):
        shares = rng.dirichlet(np.ones(len(start.d)))
        d = total * np.exp(rng.normal()) * shares / problem.kernel_scales
        noise = 10.0 ** -rng.uniform(0, _LOG10_QUIETEST)
        yield first_state(problem, noise)._replace(d=d)
