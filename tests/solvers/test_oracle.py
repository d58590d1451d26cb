"""Every loss with every regularizer, against an independent convex solver."""

import warnings
from functools import cache

import numpy as np
import pytest
from helpers import draw_targets, instances
from oracle import objective_by_hand, solve_with_cvxpy
from sklearn.exceptions import ConvergenceWarning

from multikernel.banks import PackedBank
from multikernel.losses import LOSSES
from multikernel.regularizers import REGULARIZERS
from multikernel.solvers import Problem, choose_solver

N_SAMPLES = 14
ORACLE_ERROR = 1e-7  # relative accuracy of Clarabel's optimum


@cache
def grams() -> tuple[np.ndarray, ...]:
    """Six kernels of several ranks, widths and families, of unit mean diagonal."""
    X = np.random.default_rng(7).normal(size=(N_SAMPLES, 8))

    def sq_distances(columns):
        return np.sum((X[:, None, columns] - X[None, :, columns]) ** 2, axis=-1)

    Ks = (
        X[:, :3] @ X[:, :3].T,
        np.exp(-sq_distances([0, 1]) / 2),
        np.exp(-sq_distances([3, 4, 5]) / 3),
        X[:, 5:] @ X[:, 5:].T,
        (1 + X[:, 2:5] @ X[:, 2:5].T) ** 2,
        np.exp(-np.sqrt(sq_distances([6, 7]))),
    )
    return tuple(K * N_SAMPLES / np.trace(K) for K in Ks)


@cache
def bank() -> PackedBank:
    return PackedBank.from_grams(grams())


PAIRS = [
    pytest.param(loss, regularizer, 100 * i + j, id=f"{loss!r}-{regularizer!r}")
    for i, loss in enumerate(instances(LOSSES))
    for j, regularizer in enumerate(instances(REGULARIZERS))
]


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no-intercept"])
@pytest.mark.parametrize(("loss", "regularizer", "seed"), PAIRS)
def test_agreement_with_cvxpy(loss, regularizer, seed, fit_intercept):
    rng = np.random.default_rng(seed)
    y = draw_targets(loss.y_domain, rng, N_SAMPLES, n_outputs=3 if loss.couples_outputs else 1)
    C = (0.8, 3.0, 10.0)[seed % 3]
    weighted = (seed + fit_intercept) % 2 == 0  # every pair with and without sample weights
    sample_weight = rng.uniform(0.5, 2.0, N_SAMPLES) if weighted else None
    problem = Problem(bank(), y, loss, regularizer, C, fit_intercept, sample_weight)
    tol = 1e-8 if loss.smooth else 1e-6

    answer = solve_with_cvxpy(grams(), y, loss, regularizer, C, fit_intercept, sample_weight)
    solution = choose_solver(problem, tol=tol, max_iter=500).solve(problem)

    assert solution.converged
    assert solution.gap <= tol
    assert solution.objective == pytest.approx(answer.objective, rel=1e-6)
    slack = ORACLE_ERROR * answer.objective
    assert solution.objective >= answer.objective - slack
    assert solution.dual_objective <= answer.objective + slack
    by_hand = objective_by_hand(
        grams(),
        y,
        loss,
        regularizer,
        C,
        sample_weight,
        solution.weights,
        solution.dual_coef,
        solution.intercept,
    )
    assert solution.objective == pytest.approx(by_hand, rel=1e-10)
    if fit_intercept:
        total = np.abs(solution.dual_coef).sum(axis=0)
        assert np.all(np.abs(solution.dual_coef.sum(axis=0)) <= 1e-9 * total)

    polished = _polish(problem, solution)
    scale = max(1.0, answer.weights.max())  # weights of kernels that nothing uses are noise
    np.testing.assert_allclose(polished.weights, answer.weights, rtol=0, atol=1e-4 * scale)


def _polish(problem, solution):
    """More digits of the solution: weights err by about the root of the gap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding may end it first
        return choose_solver(problem, tol=1e-10, max_iter=50).solve(problem, solution)
