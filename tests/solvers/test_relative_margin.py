"""The relative margin machine: a band that no prediction leaves, with a certificate."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import instances
from numpy.testing import assert_allclose
from oracle import solve_with_cvxpy
from problems import make_problem, random_grams
from sklearn.model_selection import GridSearchCV

from multikernel import MKLClassifier, RelativeMargin
from multikernel.losses import Hinge
from multikernel.regularizers import BlockNorm, ElasticNet, LpNorm, Uniform, Wedge
from multikernel.solvers import SOLVERS, choose_solver

SOME = [LpNorm(1.0), LpNorm(2.0, "ivanov"), ElasticNet(), Wedge(), BlockNorm(), Uniform()]


def solve(problem, tol=1e-6):
    return choose_solver(problem, tol=tol).solve(problem)


def predictions(problem, solution):
    return problem.bank.combine(solution.weights) @ solution.dual_coef + solution.intercept


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", SOME, ids=repr)
def test_a_distant_bound_gives_the_hinge_machine(regularizer, fit_intercept):
    problem = make_problem(Hinge(), regularizer, C=3.0, fit_intercept=fit_intercept, n_outputs=2)
    one = solve(problem, tol=1e-9)
    other = solve(replace(problem, loss=RelativeMargin(bound=1e4)), tol=1e-9)
    assert other.objective == pytest.approx(one.objective, rel=1e-8)
    assert_allclose(predictions(problem, other), predictions(problem, one), atol=1e-3)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", SOME, ids=repr)
def test_every_solver_keeps_predictions_in_the_band(regularizer, fit_intercept, n_outputs):
    problem = make_problem(
        RelativeMargin(bound=1.1),
        regularizer,
        C=5.0,
        fit_intercept=fit_intercept,
        n_outputs=n_outputs,
        weighted=True,
    )
    free = replace(problem, loss=Hinge())
    assert np.abs(predictions(free, solve(free))).max() > 1.15  # the bound matters
    reduced, _ = problem.without_atoms
    for solver in instances(SOLVERS):
        if solver.missing(reduced):
            continue
        tol = 1e-4 if solver.max_iter > 1000 else 1e-6  # alternating takes thousands of rounds
        solution = solver.set_params(tol=tol).solve(problem)
        assert solution.gap <= tol
        largest = np.abs(predictions(problem, solution)).max(axis=0)
        assert_allclose(largest, 1.1, rtol=1e-3)
        assert largest.max() <= 1.1 * (1 + 1e-9)


@pytest.mark.parametrize("bound", [1.0, 1.1, 3.0])
def test_the_certificate_in_plain_numpy(bound):
    C = 2.0
    problem = make_problem(RelativeMargin(bound), LpNorm(2.0, "ivanov"), C=C, weighted=True)
    solution = solve(problem)
    Ks = random_grams(np.random.default_rng(0), 30, 6)
    y, cost = problem.y[:, 0], C * problem.sample_weight
    d, alpha = solution.weights, solution.dual_coef[:, 0]
    z = np.einsum("m,mij,j->i", d, Ks, alpha) + solution.intercept
    assert np.linalg.norm(d) <= 1 + 1e-9
    assert np.abs(z).max() <= bound * (1 + 1e-9)
    primal = cost @ np.maximum(0, 1 - y * z) + np.einsum("m,i,mij,j->", d, alpha, Ks, alpha) / 2
    assert solution.objective == pytest.approx(primal, rel=1e-10)

    alpha = solution.dual_point[:, 0]
    assert abs(alpha.sum()) <= 1e-12 * np.abs(alpha).sum()
    s, G = y * alpha, np.einsum("i,mij,j->m", alpha, Ks, alpha)
    pieces = np.min([bound * s, s, cost * (1 + bound) - bound * s], axis=0)
    dual = pieces.sum() - np.linalg.norm(G) / 2
    assert solution.dual_objective == pytest.approx(dual, rel=1e-10)
    assert dual <= primal
    assert primal - dual <= 1e-6 * primal


@pytest.mark.parametrize("regularizer", SOME, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_an_offset_beyond_the_band_is_brought_back(regularizer, fit_intercept):
    problem = make_problem(
        RelativeMargin(1.1), regularizer, n=14, C=2.0, fit_intercept=fit_intercept
    )
    offset = 4 * np.random.default_rng(3).normal(size=problem.y.shape)
    solution = solve(replace(problem, offset=offset))
    assert solution.gap <= 1e-6
    assert np.abs(predictions(problem, solution) + offset).max() <= 1.1 * (1 + 1e-9)
    Ks = random_grams(np.random.default_rng(0), 14, 6)
    answer = solve_with_cvxpy(
        Ks, problem.y, problem.loss, regularizer, 2.0, fit_intercept, offset=offset
    )
    assert solution.objective == pytest.approx(answer.objective, rel=1e-6)


def test_a_forgiven_excess_does_not_fool_the_certificate():
    """Multipliers far above C: without its strain the objective would fall below the bound."""
    rng = np.random.default_rng(53)
    C = 10.0 ** rng.uniform(-2, 3)
    problem = make_problem(RelativeMargin(1.1), BlockNorm(), n=25, M=7, C=C, weighted=True, seed=53)
    offset = rng.normal(size=problem.y.shape) * 4.0
    assert solve(replace(problem, offset=offset)).gap <= 1e-6


def spread_data(rng, n):
    """A clear difference of small size, and one of small and large sizes in another direction."""
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    clear, spread = 0.5 + 0.1 * rng.random(n), 1.0 + 20.0 * rng.random(n)
    return np.column_stack([y * clear, y * spread]), y


def test_a_direction_of_large_spread_is_left_alone():
    X, y = spread_data(np.random.default_rng(0), 40)
    shares = []
    for loss in (Hinge(), RelativeMargin(bound=1.5)):
        machine = MKLClassifier("linear", loss=loss, regularizer="uniform", C=1e3, normalize=None)
        z = machine.fit(X, y).decision_function(X)
        w = X.T @ machine.dual_coef_
        assert np.all(y * z >= 1 - 1e-4)  # both separate the classes with margin one
        shares.append((np.abs(z).max(), abs(w[1]) / abs(w[0])))
    (svm_size, svm_share), (size, share) = shares
    assert svm_size > 10  # the support vector machine uses what has the largest margin
    assert svm_share > 1
    assert size <= 1.5 + 1e-8
    assert share < 0.05


def test_grid_search_over_the_bound():
    rng = np.random.default_rng(0)
    X, y = spread_data(rng, 60)
    grid = {"loss__bound": [1.0, 1.5, 4.0]}
    search = GridSearchCV(MKLClassifier("linear", loss=RelativeMargin()), grid, cv=3).fit(X, y)
    assert search.best_estimator_.loss.bound == search.best_params_["loss__bound"]
    tight, wide = (
        MKLClassifier("linear", loss=RelativeMargin(bound)).fit(X, y) for bound in (1.0, 4.0)
    )
    assert np.abs(tight.decision_function(X)).max() <= 1 + 1e-8
    assert np.abs(wide.decision_function(X)).max() > 1.5


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", ["shared", "per_class"])
def test_classes_by_name(n_classes, weights):
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=90)
    X = rng.normal(size=(90, 4)) + 2 * np.eye(4)[y]
    model = MKLClassifier(loss="relative_margin", weights=weights, C=10.0).fit(X, y)
    assert model.converged_
    assert model.gap_ <= 1e-6
    assert model.score(X, y) > 0.9
    decisions = model.decision_function(X)
    assert decisions.shape == ((90,) if n_classes == 2 else (90, 3))
    assert_allclose(np.abs(decisions).max(), 2.0, rtol=1e-3)
