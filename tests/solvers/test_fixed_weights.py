"""The kernel machine for fixed weights, against scikit-learn and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import instances
from numpy.testing import assert_allclose
from problems import make_problem
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from multikernel.banks import PackedBank
from multikernel.losses import (
    LOSSES,
    EpsilonInsensitive,
    Hinge,
    Logistic,
    RelativeMargin,
    Squared,
    SquaredHinge,
)
from multikernel.regularizers import LpNorm, Uniform
from multikernel.solvers import Problem, fit_fixed_weights
from multikernel.solvers.fixed_weights import (
    Start,
    _active_set,
    _cold_start,
    _fixed_gap,
    _proximal_stages,
)

D = np.array([1.0, 0.3, 0.0, 2.0, 0.1, 0.7])


def machine_gap(problem, K, machine):
    """The relative gap of primal and dual, from their definitions."""
    half_norm = 0.5 * np.sum(machine.alpha * (K @ machine.alpha))
    t, b = problem.into_reach(K @ machine.alpha, machine.b)
    primal = problem.data_term(t * K @ machine.alpha + b) + t**2 * half_norm
    dual = problem.dual_data_term(machine.alpha) - half_norm
    return (primal - dual) / abs(primal)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
def test_duality_gap_is_closed(loss, fit_intercept, C):
    problem = make_problem(
        loss, Uniform(), C=C, fit_intercept=fit_intercept, n_outputs=2, weighted=True
    )
    K = problem.bank.combine(D)
    machine = fit_fixed_weights(problem, K, 1e-9)
    assert machine_gap(problem, K, machine) <= 1e-9
    if fit_intercept:
        assert_allclose(machine.alpha.sum(axis=0), 0.0, atol=1e-9 * np.abs(machine.alpha).sum())


@pytest.mark.parametrize("loss", instances(LOSSES, "kinks"), ids=repr)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_proximal_stages_converge_without_a_guess(loss, C):
    problem = make_problem(loss, Uniform(), C=C)
    K = problem.bank.combine(D)
    machine = _proximal_stages(problem, K, 1e-8, _cold_start(problem))
    assert machine_gap(problem, K, machine) <= 1e-8
    assert_allclose(_fixed_gap(problem, machine), machine_gap(problem, K, machine), atol=1e-12)


@pytest.mark.parametrize("bound", [1.2, 2.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_proximal_steps_grow_with_the_pull_of_a_wall(bound, fit_intercept):
    """A kernel of two directions of unlike size, and costs that make the losses constraints."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random((40, 1)) < 0.5, -1.0, 1.0)
    X = np.hstack([y * rng.uniform(0.2, 1.2, size=(40, 1)), 30 * rng.normal(size=(40, 1))])
    K = X @ X.T
    bank = PackedBank.from_grams([K])
    problem = Problem(bank, y, RelativeMargin(bound), Uniform(), 1e3, fit_intercept)
    machine = _proximal_stages(problem, K, 1e-7, _cold_start(problem))
    assert machine_gap(problem, K, machine) <= 1e-7


def test_proximal_steps_follow_the_dual_where_the_excess_grows():
    """With an offset, if only of zero, nothing is scaled, and the first steps leave the band."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random((40, 1)) < 0.5, -1.0, 1.0)
    X = rng.normal(size=(40, 20))
    X[:, 0] = 10 * X[:, 0] + 5 * y[:, 0]
    X[:, 1] += 2 * y[:, 0]
    K = X @ X.T
    bank = PackedBank.from_grams([K])
    problem = Problem(bank, y, RelativeMargin(1.0), Uniform(), 10.0, offset=np.zeros_like(y))
    machine = _proximal_stages(problem, K, 1e-8, _cold_start(problem))
    assert _fixed_gap(problem, machine) <= 1e-8


@pytest.mark.parametrize("loss", [Hinge(), RelativeMargin()], ids=repr)
def test_active_sets_are_exact_on_a_kernel_of_low_rank(loss):
    """As many samples on kinks as kernel and intercept have directions: all but singular."""
    vectors = np.random.default_rng(11).normal(size=(4, 12))
    y = np.array([1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, -1.0])[:, np.newaxis]
    bank = PackedBank.from_grams([np.outer(v, v) for v in vectors])
    problem = Problem(bank, y, loss, Uniform(), C=2.0)
    K = bank.combine(np.array([0.79, 1.23, 0.82, 0.09]))
    start = fit_fixed_weights(problem, K, 1e-4).point
    machine = _active_set(problem, K, 1e-13, start)
    assert np.sum(machine.curvature.W > 0) == 5
    assert machine_gap(problem, K, machine) <= 1e-12


@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
def test_an_offset_moves_the_predictions(loss):
    problem = make_problem(loss, Uniform(), n_outputs=1)
    rng = np.random.default_rng(1)
    K = problem.bank.combine(D)
    alpha = problem.feasible_dual(rng.normal(size=problem.y.shape))
    shifted = type(problem)(
        problem.bank, problem.y, problem.loss, problem.regularizer, offset=K @ alpha
    )
    machine = fit_fixed_weights(shifted, K, 1e-9)
    assert machine_gap(shifted, K, machine) <= 1e-9


@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
def test_starting_at_the_solution_stays_there(loss):
    problem = make_problem(loss, Uniform())
    K = problem.bank.combine(D)
    machine = fit_fixed_weights(problem, K, 1e-10)
    again = fit_fixed_weights(problem, K, 1e-8, Start(machine.alpha, machine.b))
    assert_allclose(again.f, machine.f, atol=1e-5)


def test_squared_loss_is_kernel_ridge():
    problem = make_problem(Squared(), Uniform(), C=3.0, fit_intercept=False, n_outputs=3)
    K = problem.bank.combine(D)
    ridge = KernelRidge(alpha=1 / 3.0, kernel="precomputed").fit(K, problem.y)
    assert_allclose(fit_fixed_weights(problem, K, 1e-10).alpha, ridge.dual_coef_, atol=1e-9)


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_hinge_loss_is_svc(C):
    problem = make_problem(Hinge(), Uniform(), C=C)
    K = problem.bank.combine(D).astype(np.float32).astype(np.float64)  # libsvm rounds kernels so
    svc = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, problem.y.ravel())
    machine = fit_fixed_weights(problem, K, 1e-12)
    alpha = np.zeros(len(K))
    alpha[svc.support_] = svc.dual_coef_[0]
    assert_allclose(machine.alpha[:, 0], alpha, atol=1e-8 * C)


def test_epsilon_insensitive_loss_is_svr():
    problem = make_problem(EpsilonInsensitive(0.2), Uniform(), C=2.0)
    K = problem.bank.combine(D).astype(np.float32).astype(np.float64)  # libsvm rounds kernels so
    svr = SVR(C=2.0, epsilon=0.2, kernel="precomputed", tol=1e-10).fit(K, problem.y.ravel())
    machine = fit_fixed_weights(problem, K, 1e-12)
    assert_allclose((machine.f + machine.b)[:, 0], svr.predict(K), atol=1e-8)


@pytest.mark.parametrize("loss", instances(LOSSES, "hessian"), ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_change_the_value_as_newton_believes(loss, fit_intercept):
    """The gradient -G/2 and the Hessian VᵀPV of the value, by central differences."""
    problem = make_problem(loss, Uniform(), C=2.0, fit_intercept=fit_intercept, n_outputs=2)
    bank, d, eps = problem.bank, D + 0.2, 1e-4

    def value_at(d):
        K = bank.combine(d)
        machine = fit_fixed_weights(problem, K, 1e-14)
        value = problem.data_term(machine.f + machine.b) + 0.5 * np.sum(machine.alpha * machine.f)
        return value, bank.quadratic(machine.alpha), machine

    _, G, machine = value_at(d)
    V = np.moveaxis(bank.apply(machine.alpha), 0, 2)
    H = np.tensordot(V, machine.system.solve(machine.curvature.times(V))[0], axes=([0, 1], [0, 1]))
    steps = eps * np.eye(len(d))
    ends = [(value_at(d + s), value_at(d - s)) for s in steps]
    slope = np.array([(a[0] - b[0]) / (2 * eps) for a, b in ends])
    bend = np.array([(a[1] - b[1]) / (2 * eps) for a, b in ends])
    assert_allclose(-G / 2, slope, rtol=1e-5, atol=1e-7)
    assert_allclose(H, -bend / 2, rtol=1e-3, atol=1e-4 * np.abs(H).max())


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("shift", [-50.0, 0.0, 50.0])
def test_a_start_with_a_far_intercept_does_no_harm(loss, shift):
    problem = make_problem(loss, LpNorm(), C=1.0)
    K = problem.bank.combine(np.ones(problem.bank.n_kernels))
    far = fit_fixed_weights(problem, K, 1e-8)
    steeper = replace(problem, C=1e3)
    best = fit_fixed_weights(steeper, K, 1e-10)
    found = fit_fixed_weights(steeper, K, 1e-10, Start(far.alpha, far.b + shift))
    value, least = (
        steeper.data_term(m.f + m.b) + 0.5 * float(np.sum(m.alpha * m.f)) for m in (found, best)
    )
    assert_allclose(value, least, rtol=1e-7)
