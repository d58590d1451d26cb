"""Problems on some of the samples, and what their solutions say about the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._component import Array
from ..banks import Bank
from ..banks.base import Index
from ..solvers import Problem, Solution

_MAX_ENTRIES = 8_000_000  # of the products of all kernels with the coefficients of some solutions


def restrict(problem: Problem, samples: Index, bank: Bank | None = None) -> Problem:
    """The same problem on some of the samples, or on the bank of them if there is one."""
    s = problem.sample_weight
    return replace(
        problem,
        bank=bank or problem.bank.take(samples),
        y=problem.y[samples],
        sample_weight=None if s is None else s[samples],
    )


def restrict_start(start: Solution, samples: Index) -> Solution:
    """A solution on all samples as the start of one on some of them."""
    return replace(start, dual_coef=start.dual_coef[samples])


def mean_of_folds(
    solutions: Sequence[Solution], trains: Sequence[Index], n_samples: int
) -> Solution:
    """Solutions on some of the samples each as the start of one on all of them."""
    total, count = np.zeros((n_samples, solutions[0].dual_coef.shape[1])), np.zeros((n_samples, 1))
    for solution, train in zip(solutions, trains, strict=True):
        np.add.at(total, train, solution.dual_coef)
        np.add.at(count, train, 1.0)
    atoms = [s.atom_weights for s in solutions if s.atom_weights is not None]
    alpha = total / np.maximum(count, 1.0)
    return Solution(
        dual_coef=alpha,
        dual_point=alpha,
        objective=np.inf,  # nothing is known of it here
        dual_objective=-np.inf,
        gap=np.inf,
        n_iter=0,
        converged=False,
        n_passes=0.0,
        history={},
        solver=solutions[0].solver,
        intercept=np.mean([s.intercept for s in solutions], axis=0),
        weights=np.mean([s.weights for s in solutions], axis=0),
        sq_norms=np.mean([s.sq_norms for s in solutions], axis=0),
        atom_weights=np.mean(atoms, axis=0) if atoms else None,
    )


def decisions(bank: Bank, solutions: Sequence[Solution], train: Index, test: Index) -> list[Array]:
    r"""What solutions on the samples ``train`` say about the samples ``test``, intercept included.

    Notes
    -----
    :math:`\sum_m d_m K_m \alpha` for all solutions at once, with coefficients of zero outside
    ``train``: at most one pass over the bank, unless the products would take too much memory.
    """
    if not solutions:
        return []
    n_outputs = solutions[0].dual_coef.shape[1]
    size = max(1, _MAX_ENTRIES // (bank.n_kernels * bank.n_samples * n_outputs))
    parts = []
    for start in range(0, len(solutions), size):
        parts += _decisions(bank, solutions[start : start + size], train, test)
    return parts


def _decisions(bank: Bank, solutions: Sequence[Solution], train: Index, test: Index) -> list[Array]:
    alpha = np.zeros((bank.n_samples, sum(s.dual_coef.shape[1] for s in solutions)))
    np.add.at(alpha, train, np.hstack([s.dual_coef for s in solutions]))  # train may repeat some
    d = np.array([s.weights for s in solutions])
    used = np.flatnonzero(d.any(axis=0))
    shape = len(used), len(test), len(solutions), solutions[0].dual_coef.shape[1]
    V = bank.apply_at(test, alpha, used).reshape(shape)
    F = np.einsum("sm,mist->sit", d[:, used], V)  # Σ_m d_m K_m α
    return [f + s.intercept for f, s in zip(F, solutions, strict=True)]
