"""Newton systems of the softmax loss, against dense linear algebra."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import make_problem
from scipy.linalg import block_diag
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from multikernel.banks import PackedBank
from multikernel.losses import Logistic, Multinomial
from multikernel.regularizers import ElasticNet, LpNorm, Uniform
from multikernel.solvers import (
    DualNewton,
    NewtonWeights,
    Problem,
    choose_solver,
    dual_newton,
    regularization_path,
)
from multikernel.solvers._curvature import LowRankSum, SoftmaxCurvature, _MeanSystem
from multikernel.solvers.fixed_weights import (
    SmoothTerm,
    Start,
    _better_start,
    fit_fixed_weights,
)

N_COLUMNS = 4


def softmax_system(C, fit_intercept, rng):
    """A curvature, its kernel and W as a dense matrix over samples and classes."""
    problem = make_problem(Multinomial(), Uniform(), C=C, fit_intercept=fit_intercept, n_outputs=3)
    z = 2 * rng.normal(size=problem.y.shape)
    p = problem.loss.gradient(problem.y, z) + problem.y
    W = block_diag(
        *[c * (np.diag(q) - np.outer(q, q)) for c, q in zip(problem.cost[:, 0], p, strict=True)]
    )
    K = problem.bank.combine(np.ones(problem.bank.n_kernels))
    return problem, SmoothTerm(problem).curvature(z), K, W


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_conjugate_gradients_solve_the_dense_system(C, fit_intercept, rng):
    problem, curvature, K, W = softmax_system(C, fit_intercept, rng)
    n, T = problem.y.shape
    r = curvature.times(rng.normal(size=(n, T, N_COLUMNS)))
    alpha, b = curvature.system(K, fit_intercept).solve(r)
    z = np.tensordot(K, alpha, axes=1) + b
    residual = alpha + curvature.times(z) - r  # (I + WK) α + W1b = r
    assert_allclose(residual, 0.0, atol=1e-6 * np.abs(r).max())
    assert_allclose(curvature.times(z).reshape(n * T, -1), W @ z.reshape(n * T, -1), atol=1e-12 * C)
    if fit_intercept:
        assert_allclose(alpha.sum(axis=0), 0.0, atol=1e-4 * np.abs(r).max())
    else:
        dense = np.linalg.solve(np.eye(n * T) + W @ np.kron(K, np.eye(T)), r.reshape(n * T, -1))
        assert_allclose(alpha.reshape(n * T, -1), dense, atol=1e-5 * np.abs(dense).max())


def test_from_a_start_the_model_falls_by_the_share_that_is_promised(rng):
    problem, curvature, K, _ = softmax_system(10.0, True, rng)
    r = curvature.times(rng.normal(size=(*problem.y.shape, 1)))
    start = 0.1 * r[..., 0] - 0.1 * r[..., 0].mean(axis=0), np.zeros(problem.y.shape[1])
    system = curvature.system(K, True)

    def model(alpha, b):
        f = np.tensordot(K, alpha, axes=1)
        z = f + b
        return 0.5 * np.sum(z * curvature.times(z)) - np.sum(r * z) + 0.5 * np.sum(alpha * f)

    first, best = model(start[0][..., np.newaxis], start[1][:, np.newaxis]), model(*system.solve(r))
    reached = model(*system.solve(r, start))
    assert best <= reached <= best + system.error * (first - best)


@pytest.mark.parametrize("regularizer", [ElasticNet(0.3), ElasticNet(0.8), LpNorm(2.0)], ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_classes_that_share_weights_have_one_optimum(regularizer, fit_intercept):
    problem = make_problem(
        Multinomial(), regularizer, C=3.0, fit_intercept=fit_intercept, n_outputs=3, weighted=True
    )
    ours, theirs = (kind(tol=1e-9).solve(problem) for kind in (DualNewton, NewtonWeights))
    assert ours.converged
    assert theirs.converged
    assert_allclose(ours.objective, theirs.objective, rtol=2e-9)
    assert_allclose(ours.weights, theirs.weights, atol=1e-3 * theirs.weights.max())


def test_a_path_over_classes_is_certified():
    problem = make_problem(Multinomial(), ElasticNet(0.5), n_outputs=3)
    path = regularization_path(problem, [0.1, 10.0, 1000.0], tol=1e-7)
    assert all(solution.converged and solution.gap <= 1e-7 for solution in path)


@pytest.mark.parametrize("regularizer", [ElasticNet(0.5), LpNorm(2.0), Uniform()], ids=repr)
@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
def test_classes_that_overlap_are_certified_at_large_C(regularizer, C, rng):
    problem = make_problem(Multinomial(), regularizer, C=C, n_outputs=3)
    labels = np.eye(3)[rng.integers(0, 3, size=len(problem.y))]  # nothing to learn: hard to fit
    solution = DualNewton(tol=1e-4).solve(replace(problem, y=labels))
    assert solution.converged
    assert solution.gap <= 1e-4


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_response_to_columns_is_a_form_that_bends_upwards(fit_intercept, rng):
    problem, curvature, K, _ = softmax_system(10.0, fit_intercept, rng)
    V = rng.normal(size=(*problem.y.shape, 200))  # more columns than the form has rank
    system = curvature.system(K, fit_intercept)
    H, PV, _ = system.respond(V)
    exact, _ = system.solve(curvature.times(V))
    near = 1e-3  # the root of the share of the squared gradient that is left
    assert_allclose(H, np.tensordot(V, exact, axes=([0, 1], [0, 1])), atol=near * H.max())
    assert_allclose(PV, exact, atol=50 * near * np.abs(exact).max())  # K weighs gradients
    assert np.linalg.eigvalsh(H).min() > -1e-12 * H.max()


def count_products(problem, monkeypatch, solver):
    """Products with the curvature until a solver has converged."""
    products, times = [], SoftmaxCurvature.times
    with monkeypatch.context() as patch:
        patch.setattr(SoftmaxCurvature, "times", lambda *args: products.append(1) or times(*args))
        assert solver.solve(problem).converged
    return len(products)


def overlapping(rng, C):
    problem = make_problem(Multinomial(), ElasticNet(0.5), C=C, n=80, n_outputs=4)
    return replace(problem, y=np.eye(4)[rng.integers(0, 4, size=len(problem.y))])


def test_a_model_is_taken_up_where_the_last_was_minimal(monkeypatch):
    draws = [overlapping(np.random.default_rng(seed), C=1e4) for seed in range(4)]
    solver = DualNewton(tol=1e-6)
    ours = sum(count_products(problem, monkeypatch, solver) for problem in draws)

    def forgetful(*args):
        machine = fit_fixed_weights(*args)
        return machine._replace(point=Start(machine.alpha, machine.b))

    monkeypatch.setattr(dual_newton, "fit_fixed_weights", forgetful)
    assert ours < 0.85 * sum(count_products(problem, monkeypatch, solver) for problem in draws)


def test_the_start_of_coupled_outputs_is_where_newton_ended(rng):
    problem = overlapping(rng, C=1e4)
    K = problem.bank.combine(np.ones(problem.bank.n_kernels))
    machine = fit_fixed_weights(problem, K, 1e-2)
    f, square = K @ machine.point.alpha, np.sum(machine.point.alpha * (K @ machine.point.alpha))
    reached = problem.data_term(f + machine.point.b) + 0.5 * square
    dual = problem.data_term(machine.f + machine.b) + 0.5 * np.sum(machine.alpha * machine.f)
    assert reached < dual  # the dual coefficients describe a worse machine
    again = _better_start(problem, K, machine.point)
    assert again is machine.point


def test_a_start_for_a_smaller_C_is_shortened(rng):
    problem = overlapping(rng, C=1e4)
    K = problem.bank.combine(np.ones(problem.bank.n_kernels))
    alpha, b = fit_fixed_weights(problem, K, 1e-6).point
    shorter = _better_start(problem, K, Start(10 * alpha, 10 * b))
    assert_allclose(shorter.alpha, alpha, atol=0.2 * np.abs(alpha).max())


def far_apart(rng, regularizer, C=1.0, scale=1.0):
    """Four classes that the first two of six kernels tell apart."""
    n, T = 80, 4
    labels = np.append(np.arange(T), rng.integers(0, T, size=n)[T:])
    centres = 2 * rng.normal(size=(T, 4))
    views = [rng.normal(size=(n, 4)) + centres[labels] * (m < 2) for m in range(6)]
    grams = [scale * np.exp(-cdist(Z, Z, "sqeuclidean") / 8) for Z in views]
    return Problem(PackedBank.from_grams(grams), np.eye(T)[labels], Multinomial(), regularizer, C)


def test_a_path_may_fall_to_where_no_kernel_is_in_use(rng):
    path = regularization_path(far_apart(rng, ElasticNet(0.5)), [1e3, 1.0], tol=1e-6)
    assert [solution.converged for solution in path] == [True, True]


@pytest.mark.parametrize("regularizer", [ElasticNet(0.5), LpNorm(1.0), LpNorm(2.0)], ids=repr)
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_rounding_at_large_C_leaves_the_dual_balanced(regularizer, scale, rng):
    problem = far_apart(rng, regularizer, C=1e5, scale=scale)
    assert choose_solver(problem, tol=1e-6).solve(problem).converged


def test_what_all_classes_share_does_not_bend_the_response(rng):
    problem = far_apart(rng, LpNorm(1.0), C=1e7, scale=1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = NewtonWeights(max_iter=40).solve(problem)  # a form of rounding has no factor
    assert np.isfinite(solution.gap)


def test_models_are_never_solved_below_rounding(rng, monkeypatch):
    asked = []

    def stuck(model, B, tol, start):
        asked.append(tol)
        return fit_fixed_weights(model, B, tol, start)._replace(alpha=start.alpha)

    monkeypatch.setattr(dual_newton, "fit_fixed_weights", stuck)
    problem = make_problem(Logistic(), ElasticNet(0.5), C=10.0)
    with pytest.warns(ConvergenceWarning, match="stopped after 25 iterations"):
        DualNewton(tol=1e-6, max_iter=25).solve(problem)
    assert min(asked) == 1e-14


@pytest.mark.parametrize("low_rank", [False, True])
def test_the_mean_system_is_that_of_classes_that_are_alike(low_rank, rng):
    n, T, m = 6, 3, 2
    root, w = rng.normal(size=(n, n)), rng.uniform(0.5, 2.0, size=n)
    K = root @ root.T
    dense, kernel = np.kron(K, np.eye(T)), K
    if low_rank:
        V, scales = rng.normal(size=(m, n * T)), np.array([0.7, 0.2])
        dense, kernel = dense + V.T @ (scales[:, np.newaxis] * V), LowRankSum(K, V, scales)
    rho = rng.normal(size=(n, T, 1))
    s, K_s = _MeanSystem(kernel, w).solve(rho)
    expected = np.linalg.solve(np.eye(n * T) + np.repeat(w, T)[:, np.newaxis] * dense, rho.ravel())
    assert_allclose(s.ravel(), expected, rtol=1e-9)
    assert_allclose(K_s.ravel(), dense @ expected, rtol=1e-8, atol=1e-10)
