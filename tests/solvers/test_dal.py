"""The dual augmented Lagrangian finds what the other solvers find, and reads few kernels."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from helpers import draw_targets
from numpy.testing import assert_allclose
from oracle import solve_with_cvxpy

from multikernel.banks import FactoredBank, PackedBank
from multikernel.losses import Hinge, Huber, Logistic, Multinomial, Squared, SquaredHinge
from multikernel.regularizers import (
    BlockNorm,
    ElasticNet,
    GroupNorm,
    LpNorm,
    Uniform,
    Wedge,
)
from multikernel.solvers import Alternating, DualNewton, NewtonWeights, Problem, dal
from multikernel.solvers.dal import DualAugmentedLagrangian

LOSSES = [Logistic(), Squared(), SquaredHinge(), Huber()]
REGULARIZERS = [LpNorm(1.0), LpNorm(1.5), LpNorm(2.0), ElasticNet(0.5), Uniform(), BlockNorm(3.0)]
TOL = 1e-8


def make_bank(rng, n=25, M=7):
    Xs = [rng.normal(size=(n, 3)) for _ in range(M)]
    Ks = [np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=-1) / 6) for X in Xs[::2]]
    return PackedBank.from_grams(Ks + [X @ X.T / 3 for X in Xs[1::2]])


def make_problem(loss, regularizer, rng, **kwargs):
    bank = make_bank(rng)
    return Problem(
        bank, draw_targets(loss.y_domain, rng, bank.n_samples), loss, regularizer, **kwargs
    )


def reference(problem):
    kinds = (DualNewton, NewtonWeights) if problem.regularizer.convex else ()
    kind = next((kind for kind in kinds if not kind.missing(problem)), Alternating)
    return kind(tol=TOL).solve(problem)


def check_certificate(problem, solution):
    """The certificate, recomputed from what was returned."""
    d, alpha, b = solution.weights, solution.dual_coef, solution.intercept
    G = np.array([np.sum(alpha * KA) for KA in problem.bank.apply(alpha)])
    value = problem.objective(d, G, problem.bank.combine(d) @ alpha + b)
    assert_allclose(solution.objective, value, rtol=1e-12)
    assert_allclose(solution.sq_norms, d**2 * G, rtol=1e-9, atol=1e-14)
    assert solution.dual_objective <= solution.objective * (1 + 1e-13)
    gap = max(solution.objective - solution.dual_objective, 0.0) / solution.objective
    assert_allclose(solution.gap, gap, rtol=1e-9, atol=1e-15)
    own = problem.dual_ray(alpha, G)(problem.best_scale(alpha, G))
    assert solution.dual_objective >= own - 1e-12 * abs(own)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_agrees_with_the_other_solvers(loss, regularizer, C, fit_intercept, rng):
    s = rng.uniform(0.5, 2.0, size=25)
    problem = make_problem(
        loss, regularizer, rng, C=C, fit_intercept=fit_intercept, sample_weight=s
    )
    solution = DualAugmentedLagrangian(tol=TOL).solve(problem)
    assert solution.gap <= TOL
    assert solution.converged
    assert_allclose(solution.objective, reference(problem).objective, rtol=3 * TOL)
    check_certificate(problem, solution)


@pytest.mark.parametrize("regularizer", [Wedge(), GroupNorm([0, 0, 1, 1, 2, 2, 2])], ids=repr)
def test_mixtures_of_kernels(regularizer, rng):
    problem = make_problem(Logistic(), regularizer, rng, C=3.0)
    solution = DualAugmentedLagrangian(tol=TOL).solve(problem)
    assert_allclose(solution.objective, reference(problem).objective, rtol=3 * TOL)


def test_an_offset_is_part_of_the_predictions(rng):
    problem = make_problem(Squared(), LpNorm(1.0), rng)
    offset = rng.normal(size=problem.y.shape)
    moved = replace(problem, y=problem.y + offset, offset=offset)
    solver = DualAugmentedLagrangian(tol=TOL)
    assert_allclose(solver.solve(moved).objective, solver.solve(problem).objective, rtol=3 * TOL)


def group_lasso(Xs, y, cost):
    """Half the squared errors plus the norms of the coefficients, by Clarabel."""
    ws, b = [cp.Variable(X.shape[1]) for X in Xs], cp.Variable()
    f = sum(X @ w for X, w in zip(Xs, ws, strict=True)) + b
    loss = 0.5 * cp.sum(cp.multiply(cost, cp.square(y - f)))
    model = cp.Problem(cp.Minimize(loss + sum(cp.norm(w) for w in ws)))
    model.solve(solver=cp.CLARABEL)
    return model.value, np.array([np.linalg.norm(w.value) for w in ws])


def test_linear_kernels_on_groups_of_columns_are_the_group_lasso(rng):
    Xs = [rng.normal(size=(40, r)) for r in (1, 2, 3, 4, 2, 3)]
    y = Xs[1] @ [1.0, -1.0] + Xs[3] @ [1.0, 0.5, -1.0, 2.0] + rng.normal(size=40)
    problem = Problem(FactoredBank(Xs), y[:, np.newaxis], Squared(), LpNorm(1.0), C=0.2)
    solution = DualAugmentedLagrangian(tol=1e-10).solve(problem)
    value, norms = group_lasso(Xs, y, problem.cost[:, 0])
    assert_allclose(solution.objective, value, rtol=1e-6)
    assert_allclose(solution.weights, norms, atol=1e-4)
    assert np.sum(solution.weights > 0) < 6


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_zero_and_duplicated_kernels(regularizer, rng):
    K = make_bank(rng, M=2).gram(0)
    grams = [K, K, np.zeros_like(K), np.ones_like(K)]
    bank = PackedBank.from_grams(grams)
    problem = Problem(bank, draw_targets("sign", rng, len(K)), Logistic(), regularizer, C=5.0)
    solution = DualAugmentedLagrangian(tol=TOL).solve(problem)
    assert solution.converged
    assert np.all(np.isfinite(solution.weights))
    answer = solve_with_cvxpy(grams, problem.y, problem.loss, regularizer, problem.C)
    assert_allclose(solution.objective, answer.objective, rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_nothing_is_selected_when_nothing_is_worth_it(loss, rng):
    problem = make_problem(loss, LpNorm(1.0), rng, C=1e-4)
    solution = DualAugmentedLagrangian(tol=TOL).solve(problem)
    assert solution.converged
    assert not solution.weights.any()


def test_targets_without_variation(rng):
    problem = replace(make_problem(Squared(), LpNorm(1.0), rng), y=np.ones((25, 1)))
    with np.errstate(all="raise"):
        solution = DualAugmentedLagrangian().solve(problem)
    assert_allclose(solution.intercept, 1.0)
    assert_allclose(solution.objective, 0.0, atol=1e-12)


def test_two_samples(rng):
    bank = PackedBank.from_grams([np.eye(2), np.array([[2.0, 1.0], [1.0, 1.0]])])
    problem = Problem(bank, np.array([[-1.0], [1.0]]), Logistic(), LpNorm(1.0), C=20.0)
    solution = DualAugmentedLagrangian(tol=TOL).solve(problem)
    assert_allclose(solution.objective, reference(problem).objective, rtol=3 * TOL)


def test_a_warm_start_saves_passes(rng):
    problem = make_problem(Logistic(), LpNorm(1.0), rng, C=5.0)
    solver = DualAugmentedLagrangian(tol=1e-6)
    cold = solver.solve(problem)
    warm = solver.solve(problem, start=cold)
    assert warm.converged
    assert warm.n_passes < cold.n_passes / 2
    nearby = solver.solve(replace(problem, C=5.5), start=cold)
    assert_allclose(nearby.objective, solver.solve(replace(problem, C=5.5)).objective, rtol=3e-6)


def test_many_kernels_take_few_passes(rng):
    """Newton steps read the working set only: a few passes for the certificates are left."""
    n, M = 40, 400
    X = rng.normal(size=(n, M))
    y = np.sign(X[:, :1] - X[:, 1:2] + 0.3 * rng.normal(size=(n, 1)))
    grams = np.exp(-((X.T[:, :, np.newaxis] - X.T[:, np.newaxis]) ** 2))
    problem = Problem(PackedBank.from_grams(grams), y, Logistic(), LpNorm(1.0), C=2.0)
    solution = DualAugmentedLagrangian(tol=1e-4).solve(problem)
    assert solution.converged
    assert solution.n_passes < 20
    check_certificate(problem, solution)


def test_a_failed_round_is_repeated_with_a_smaller_step(rng, monkeypatch):
    """Steps far too long and too few Newton iterations still end at the optimum."""
    problem = make_problem(SquaredHinge(), LpNorm(1.0), rng, C=10.0)
    best = reference(problem).objective
    monkeypatch.setattr(dal, "_FIRST", 1e5)
    monkeypatch.setattr(dal, "_MAX_NEWTON", 5)
    solution = DualAugmentedLagrangian(tol=1e-6).solve(problem)
    assert_allclose(solution.objective, best, rtol=2e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": Hinge()}, "loss.hessian"),
        ({"regularizer": LpNorm(2.0, form="ivanov")}, "regularizer.prox_derivative"),
        ({"loss": Multinomial(), "y": np.eye(3)[np.arange(25) % 3]}, "one output, and there are 3"),
    ],
)
def test_what_is_missing_is_named(change, message, rng):
    problem = replace(make_problem(Logistic(), LpNorm(1.0), rng), **change)
    with pytest.raises(TypeError, match=message):
        DualAugmentedLagrangian().solve(problem)
