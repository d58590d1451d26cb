"""Paths agree with cold starts, the critical C is where kernels enter, screening is safe."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import make_problem
from sklearn.exceptions import ConvergenceWarning

from multikernel.losses import Hinge, Huber, Logistic, Multinomial, Squared, SquaredHinge
from multikernel.regularizers import ElasticNet, FixedWeights, GroupNorm, LpNorm, Uniform, Wedge
from multikernel.solvers import (
    Alternating,
    DualNewton,
    choose_solver,
    critical_C,
    regularization_path,
    screened_out,
)
from multikernel.solvers.asks import answered
from multikernel.solvers.path import path_steps

SPARSE = [LpNorm(1.0), ElasticNet(0.7), Wedge(), GroupNorm(groups=[0, 0, 1, 1, 2, 2])]
SMOOTH = [Logistic(), Squared(), SquaredHinge(), Huber(0.5)]


@pytest.mark.parametrize("screen", [False, True])
@pytest.mark.parametrize("regularizer", [*SPARSE, LpNorm(2.0), LpNorm(1.0, "ivanov")], ids=repr)
@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=repr)
def test_a_path_is_its_points(loss, regularizer, screen):
    problem = make_problem(loss, regularizer, M=6)
    Cs = [0.05, 0.3, 2.0, 10.0]
    path = regularization_path(problem, Cs, tol=1e-8, screen=screen)
    for C, solution in zip(Cs, path, strict=True):
        at_C = replace(problem, C=C)
        alone = choose_solver(at_C, tol=1e-8).solve(at_C)
        assert solution.converged
        assert_allclose(solution.objective, alone.objective, rtol=1e-7)


@pytest.mark.parametrize("regularizer", [ElasticNet(0.5), LpNorm(2.0)], ids=repr)
@pytest.mark.parametrize("loss", [Logistic(), Multinomial()], ids=repr)
def test_the_last_sweep_of_a_fit_is_the_first_of_the_next(loss, regularizer):
    problem = make_problem(loss, regularizer, n=60)
    solver = DualNewton(tol=1e-6)
    at_C = replace(problem, C=1.0)
    first = solver.solve(at_C, keep_sweep=True)
    assert_allclose(first.sweep.G, problem.bank.quadratic(first.dual_coef), rtol=1e-10)
    assert_allclose(first.sweep.V, problem.bank.apply(first.dual_coef), rtol=1e-10, atol=1e-12)
    again = solver.solve(at_C, first)
    assert again.n_passes == 0.0  # nothing to read: the start is the optimum and its sweep is known
    assert solver.solve(at_C, replace(first, sweep=None)).n_passes == 1.0
    assert again.sweep is None
    assert all(solution.sweep is None for solution in regularization_path(problem, [0.1, 1.0]))


@pytest.mark.parametrize("d", [[0.5, 0.0, 2.0, 1.0, 0.0, 0.3]])
def test_a_path_of_mixtures_is_in_the_weights_of_kernels(d):
    problem = make_problem(Logistic(), FixedWeights(d), M=6)
    assert problem.without_atoms[1] is not None
    for C, solution in zip((0.1, 1.0), regularization_path(problem, [0.1, 1.0]), strict=True):
        alone = choose_solver(problem).solve(replace(problem, C=C))
        assert_allclose(solution.weights, d)
        assert_allclose(solution.objective, alone.objective, rtol=1e-6)
        assert_allclose(solution.sq_norms, alone.sq_norms, rtol=1e-2)  # a few roots of the gap
        assert solution.sweep is None
    kept = choose_solver(problem).solve(problem, keep_sweep=True)
    assert kept.sweep is None  # it would be of the mixture


def test_a_path_may_end_before_a_solution_that_does_not_settle():
    problem = make_problem(Squared(), ElasticNet(0.5), n=60)
    solver = DualNewton(tol=1e-9, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = answered(path_steps(problem, [1e-4, 1.0, 2.0], solver), problem.bank)
        settled = answered(
            path_steps(problem, [1e-4, 1.0, 2.0], solver, settled=True), problem.bank
        )
    assert [solution.converged for solution in whole][:2] == [True, False]
    assert len(settled) == 1
    assert settled[0].converged


def test_warm_starts_need_fewer_steps():
    problem = make_problem(Logistic(), LpNorm(1.0), n=60, M=12)
    Cs = critical_C(problem) * np.geomspace(1.1, 30, 8)
    warm = sum(s.n_iter for s in regularization_path(problem, Cs, tol=1e-6))
    cold = sum(choose_solver(problem, tol=1e-6).solve(replace(problem, C=C)).n_iter for C in Cs)
    assert warm < cold


def test_kinks_on_a_path():
    problem = make_problem(Hinge(), LpNorm(1.0))
    assert all(s.converged for s in regularization_path(problem, [0.1, 1.0, 10.0], tol=1e-6))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", SPARSE, ids=repr)
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_kernels_enter_at_the_critical_point(loss, regularizer, fit_intercept):
    problem = make_problem(loss, regularizer, fit_intercept=fit_intercept)
    critical = critical_C(problem)

    def norms(C):
        at_C = replace(problem, C=C)
        return choose_solver(at_C, tol=1e-9).solve(at_C).sq_norms

    assert_allclose(norms(0.98 * critical), 0.0, atol=1e-12)
    assert norms(1.02 * critical).max() > 1e-7


def test_dense_regularizers_have_no_critical_point():
    assert critical_C(make_problem(Logistic(), Uniform())) == 0.0


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("regularizer", [LpNorm(1.0), ElasticNet(0.7)], ids=repr)
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_screening_never_discards_a_kernel_in_use(loss, regularizer, tol):
    for seed in range(5):
        problem = make_problem(loss, regularizer, M=10, C=1.0, seed=seed, n=25)
        exact = choose_solver(problem, tol=1e-10).solve(problem)
        rough = Alternating(tol=tol).solve(problem)
        out = screened_out(problem, rough, problem.bank.eigenvalue_bounds())
        assert_allclose(exact.weights[out], 0.0, atol=1e-9)
        if tol == 1e-6:
            assert_allclose(out.sum(), np.sum(exact.weights < 1e-9), atol=2)


def test_screening_knows_where_it_may_not():
    for problem in (make_problem(Hinge(), LpNorm(1.0)), make_problem(Logistic(), LpNorm(2.0))):
        solution = choose_solver(problem, tol=1e-6).solve(problem)
        assert not screened_out(problem, solution, problem.bank.eigenvalue_bounds()).any()


def test_eigenvalue_bounds_are_bounds(rng):
    bank = make_problem(Squared(), Uniform(), n=100).bank  # more than one panel
    largest = [np.linalg.eigvalsh(bank.gram(m))[-1] for m in range(bank.n_kernels)]
    assert np.all(bank.eigenvalue_bounds() >= largest)
    norms = [np.linalg.norm(bank.gram(m)) for m in range(bank.n_kernels)]
    np.testing.assert_allclose(bank.eigenvalue_bounds(), norms)


@pytest.mark.parametrize("regularizer", [*SPARSE, LpNorm(2.0, "ivanov")], ids=repr)
@pytest.mark.parametrize("loss", [Logistic(), Hinge()], ids=repr)
def test_the_dual_point_proves_the_bound(loss, regularizer):
    problem = make_problem(loss, regularizer, n_outputs=1)
    solution = choose_solver(problem, tol=1e-6).solve(problem)
    G = problem.bank.quadratic(solution.dual_point)
    assert_allclose(problem.dual_objective(solution.dual_point, G), solution.dual_objective)
    assert_allclose(solution.dual_point.sum(), 0.0, atol=1e-12)
