"""Machines on one kernel at a time: their dual coefficients and their held-out predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from .._component import Array
from .._warnings import unsaid
from ..banks import Bank
from ..banks.base import Index
from ..solvers import Problem, fit_fixed_weights

_TOL = 1e-8  # relative duality gap of every machine


def dual_coefficients(problem: Problem, n_jobs: int | None) -> Array:
    """The signed dual coefficients of one machine per kernel, shape (M, n, n_outputs)."""
    return _for_each_kernel(
        problem.bank, lambda K: fit_fixed_weights(problem, K, _TOL).alpha, n_jobs
    )


def held_out_coefficients(problem: Problem, n_folds: int, n_jobs: int | None) -> Array:
    r"""The coefficients :math:`-C s_i \ell'(y_i, z_i)` at held-out predictions z."""
    zs = held_out_predictions(problem, n_folds, n_jobs)
    return np.stack([-problem.cost * problem.loss.gradient(problem.y, z) for z in zs])


def held_out_predictions(problem: Problem, n_folds: int, n_jobs: int | None) -> Array:
    """What one machine per kernel says of samples it was not trained on, shape (M, n, T).

    Predictions beyond the reach of the loss, where it is infinite, are brought to its end.
    """
    fold = assign_folds(problem.y, n_folds)

    def predict(K: Array) -> Array:
        z = np.empty_like(problem.y)
        for k in range(n_folds):
            test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
            part = _restrict(problem, train)
            machine = fit_fixed_weights(part, K[np.ix_(train, train)], _TOL)
            z[test] = K[np.ix_(test, train)] @ machine.alpha + machine.b
        return np.asarray(np.clip(z + problem.known, -problem.loss.reach, problem.loss.reach))

    return _for_each_kernel(problem.bank, predict, n_jobs)


def assign_folds(y: Array, n_folds: int) -> Index:
    """The fold of every sample: those in order of their targets take turns.

    Labels are thereby stratified, numbers are spread over their range, and nothing is random.
    """
    fold = np.empty(len(y), dtype=np.intp)
    fold[np.lexsort(y.T[::-1])] = np.arange(len(y)) % n_folds
    return fold


def check_folds(n_folds: int, n_samples: int, name: str) -> None:
    """Refuse a number of folds that cannot be formed."""
    if not 2 <= n_folds <= n_samples or n_folds != int(n_folds):
        raise ValueError(
            f"{name}: n_folds must be a whole number from 2 to the number of training samples, "
            f"{n_samples}, got {n_folds}."
        )


def _restrict(problem: Problem, samples: Index) -> Problem:
    """The data term on some of the samples; machines are handed their kernel, so no bank is cut."""
    s, offset = problem.sample_weight, problem.offset
    return replace(
        problem,
        y=problem.y[samples],
        sample_weight=None if s is None else s[samples],
        offset=None if offset is None else offset[samples],
    )


def _for_each_kernel(bank: Bank, task: Callable[[Array], Array], n_jobs: int | None) -> Array:
    """The results of a task for every kernel, by threads that leave BLAS one thread each."""
    units = np.eye(bank.n_kernels)
    limit = 1 if effective_n_jobs(n_jobs) > 1 else None
    with unsaid(ConvergenceWarning), threadpool_limits(limit, user_api="blas"):
        jobs = (delayed(lambda e: task(bank.combine(e)))(e) for e in units)
        return np.stack(Parallel(n_jobs=n_jobs, require="sharedmem")(jobs))
