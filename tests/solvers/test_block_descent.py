"""Block descent on factors finds what the other solvers find on the kernels."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from helpers import draw_targets
from numpy.testing import assert_allclose
from oracle import solve_with_cvxpy

from multikernel.banks import FactoredBank, PackedBank
from multikernel.losses import Hinge, Huber, Logistic, Multinomial, Squared, SquaredHinge
from multikernel.regularizers import BlockNorm, ElasticNet, LpNorm, Uniform, Wedge
from multikernel.solvers import Alternating, DualNewton, NewtonWeights, Problem, block_descent
from multikernel.solvers.block_descent import BlockDescent

LOSSES = [Logistic(), Squared(), SquaredHinge(), Huber(), Multinomial()]
REGULARIZERS = [LpNorm(1.0), LpNorm(1.5), LpNorm(2.0), ElasticNet(0.5), Uniform(), BlockNorm(3.0)]
RANKS = (3, 1, 2, 3, 4)
TOL = 1e-8


def make_factors(rng, n=30):
    return [rng.normal(size=(n, r)) for r in RANKS]


def make_problem(loss, regularizer, rng, n_outputs=None, **kwargs):
    n_outputs = n_outputs or (3 if loss.couples_outputs else 1)
    bank = FactoredBank(make_factors(rng))
    y = draw_targets(loss.y_domain, rng, bank.n_samples, n_outputs)
    return Problem(bank, y, loss, regularizer, **kwargs)


def reference(problem, tol=TOL):
    """The answer of a solver that sees Gram matrices."""
    grams = [Z @ Z.T for Z in problem.bank.factors]
    problem = replace(problem, bank=PackedBank.from_grams(grams))
    kinds = (DualNewton, NewtonWeights) if problem.regularizer.convex else ()
    kind = next((kind for kind in kinds if not kind.missing(problem)), Alternating)
    return kind(tol=tol).solve(problem)


def check_certificate(problem, solution):
    """The certificate, recomputed from what was returned."""
    d, alpha, b = solution.weights, solution.dual_coef, solution.intercept
    G = np.array([np.sum((Z.T @ alpha) ** 2) for Z in problem.bank.factors])
    f = sum(d_m * Z @ (Z.T @ alpha) for d_m, Z in zip(d, problem.bank.factors, strict=True))
    rounding = 1e-14 * max(100.0, d.max())  # of Zᵀα, which large weights magnify
    assert_allclose(solution.objective, problem.objective(d, G, f + b), rtol=rounding)
    assert_allclose(solution.sq_norms, d**2 * G, rtol=1e-9, atol=1e-14)
    own = problem.dual_ray(alpha, G)(problem.best_scale(alpha, G))
    assert own - rounding * abs(own) <= solution.dual_objective
    assert solution.dual_objective <= solution.objective * (1 + rounding)
    gap = max(solution.objective - solution.dual_objective, 0.0) / solution.objective
    assert_allclose(solution.gap, gap, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_agrees_with_the_other_solvers(loss, regularizer, fit_intercept, rng):
    s = rng.uniform(0.5, 2.0, size=30)
    problem = make_problem(
        loss, regularizer, rng, C=1.0, fit_intercept=fit_intercept, sample_weight=s
    )
    solution = BlockDescent(tol=TOL).solve(problem)
    assert solution.converged
    assert_allclose(solution.objective, reference(problem).objective, rtol=3 * TOL)
    check_certificate(problem, solution)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_weak_regularization(regularizer, rng):
    problem = make_problem(Logistic(), regularizer, rng, C=10.0)
    solution = BlockDescent(tol=TOL).solve(problem)
    assert_allclose(solution.objective, reference(problem).objective, rtol=3 * TOL)


@pytest.mark.parametrize("regularizer", [LpNorm(1.0), ElasticNet(0.5), LpNorm(2.0)], ids=repr)
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=repr)
def test_outputs_share_their_weights(loss, regularizer, rng):
    problem = make_problem(loss, regularizer, rng, n_outputs=4, C=0.5)
    solution = BlockDescent(tol=TOL).solve(problem)
    assert solution.dual_coef.shape == (30, 4)
    assert_allclose(solution.objective, reference(problem).objective, rtol=3 * TOL)
    check_certificate(problem, solution)


def test_an_offset_is_part_of_the_predictions(rng):
    problem = make_problem(Squared(), LpNorm(1.0), rng)
    offset = rng.normal(size=problem.y.shape)
    moved = replace(problem, y=problem.y + offset, offset=offset)
    solver = BlockDescent(tol=TOL)
    assert_allclose(solver.solve(moved).objective, solver.solve(problem).objective, rtol=3 * TOL)


def test_linear_kernels_on_groups_of_columns_are_the_group_lasso(rng):
    Xs = [rng.normal(size=(40, r)) for r in (1, 2, 3, 4, 2, 3)]
    signal = Xs[1] @ [[1.0, 0.0], [-1.0, 2.0]] + Xs[3] @ rng.normal(size=(4, 2))
    y = signal + rng.normal(size=(40, 2))
    problem = Problem(FactoredBank(Xs), y, Squared(), LpNorm(1.0), C=0.2)
    solution = BlockDescent(tol=1e-10).solve(problem)
    ws, b = [cp.Variable((X.shape[1], 2)) for X in Xs], cp.Variable((1, 2))
    f = sum(X @ w for X, w in zip(Xs, ws, strict=True)) + np.ones((40, 1)) @ b
    norms = sum(cp.norm(w, "fro") for w in ws)
    model = cp.Problem(cp.Minimize(0.5 * 0.2 * cp.sum_squares(y - f) + norms))
    model.solve(solver=cp.CLARABEL)
    assert_allclose(solution.objective, model.value, rtol=1e-6)
    assert_allclose(solution.weights, [np.linalg.norm(w.value) for w in ws], atol=1e-4)
    assert np.sum(solution.weights > 0) < 6
    assert_allclose(solution.intercept, b.value[0], atol=1e-4)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_zero_and_duplicated_kernels(regularizer, rng):
    Z = rng.normal(size=(30, 3))
    bank = FactoredBank([Z, Z, np.zeros((30, 2)), np.ones((30, 1))])
    problem = Problem(bank, draw_targets("sign", rng, 30), Logistic(), regularizer, C=3.0)
    solution = BlockDescent(tol=TOL).solve(problem)
    assert np.all(np.isfinite(solution.weights))
    grams = [Z @ Z.T for Z in bank.factors]
    answer = solve_with_cvxpy(grams, problem.y, problem.loss, regularizer, problem.C)
    assert_allclose(solution.objective, answer.objective, rtol=1e-6)


def test_nothing_is_selected_when_nothing_is_worth_it(rng):
    problem = make_problem(Logistic(), LpNorm(1.0), rng, C=1e-4)
    solution = BlockDescent(tol=TOL).solve(problem)
    assert solution.converged
    assert not solution.weights.any()


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", [Logistic(), Multinomial()], ids=repr)
def test_many_samples_need_no_square_matrix(loss, regularizer, rng, monkeypatch):
    """Above the limit the dual coefficients come from the residuals, and the gap still closes."""
    problem = make_problem(loss, regularizer, rng, C=0.5)
    best = reference(problem).objective
    monkeypatch.setattr(block_descent, "_MODERATE", 1)
    monkeypatch.setattr(FactoredBank, "combine", None)
    solution = BlockDescent(tol=TOL).solve(problem)
    assert_allclose(solution.objective, best, rtol=3 * TOL)
    check_certificate(problem, solution)


def test_a_warm_start_saves_passes(rng):
    problem = make_problem(Logistic(), LpNorm(1.0), rng, C=5.0)
    solver = BlockDescent(tol=1e-6)
    cold = solver.solve(problem)
    warm = solver.solve(problem, start=cold)
    assert warm.converged
    assert warm.n_passes < cold.n_passes / 2


def test_extrapolation_saves_passes(rng, monkeypatch):
    shared = rng.normal(size=(30, 3))
    bank = FactoredBank([shared + 0.3 * rng.normal(size=(30, 3)) for _ in range(4)])
    problem = Problem(bank, rng.normal(size=(30, 1)), Squared(), LpNorm(2.0), C=10.0)
    fast = BlockDescent(tol=TOL).solve(problem)
    monkeypatch.setattr(block_descent._Blocks, "_extrapolate", lambda *args: None)
    slow = BlockDescent(tol=TOL).solve(problem)
    assert_allclose(fast.objective, slow.objective, rtol=3 * TOL)
    assert fast.n_passes < 0.7 * slow.n_passes


def test_sweeps_over_the_factors_are_counted(rng):
    problem = make_problem(Logistic(), Uniform(), rng)
    solution = BlockDescent(tol=TOL).solve(problem)
    assert solution.n_passes == solution.history["n_passes"][-1]
    assert solution.n_passes > problem.bank.n_passes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": Hinge()}, "loss.hessian"),
        ({"regularizer": LpNorm(2.0, form="ivanov")}, "a sum over kernels"),
        ({"regularizer": Wedge()}, "bank.factors"),
        ({"bank": PackedBank.from_grams([np.eye(30)])}, "bank.factors"),
    ],
)
def test_what_is_missing_is_named(change, message, rng):
    problem = replace(make_problem(Logistic(), LpNorm(1.0), rng), **change)
    with pytest.raises(TypeError, match=message):
        BlockDescent().solve(problem)
