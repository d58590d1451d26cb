"""Virtual kernels: their identities, Theorem 3 as a convex program and Lemma 1 put right."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracle import solve_with_cvxpy
from problems import random_grams
from scipy.linalg import sqrtm

from multikernel import Hinge, LpNorm, NewtonWeights, PackedBank, Problem
from multikernel.regularizers import QNorm
from multikernel.theory import virtual_kernels


def random_psd(rng, M, rank=None):
    A = rng.normal(size=(M, rank or M))
    return A @ A.T / M


seeds = st.integers(0, 10_000)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, M=st.integers(1, 7))
def test_weights_norms_and_kernels_survive_the_change_of_variables(seed, M):
    rng = np.random.default_rng(seed)
    Q, d, grams = random_psd(rng, M) + 0.01 * np.eye(M), rng.random(M), random_grams(rng, 5, M)
    bank = PackedBank.from_grams(grams)
    virtual = virtual_kernels(Q, bank.traces(np.eye(5)))
    mu = virtual.to_virtual(d)
    assert_allclose(virtual.to_weights(mu), d, atol=1e-9)
    assert_allclose(mu @ mu, d @ Q @ d, rtol=1e-9)
    Ks = np.stack([virtual.combine(bank, i) for i in range(M)])
    assert_allclose(np.tensordot(mu, Ks, 1), np.tensordot(d, grams, 1), atol=1e-9)
    assert_allclose(virtual.traces, np.trace(Ks, axis1=1, axis2=2), atol=1e-9)
    u = np.full(M, 5.0)
    assert_allclose(virtual.traces @ virtual.traces, u @ np.linalg.solve(Q, u), rtol=1e-9)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, M=st.integers(2, 6))
def test_feasible_means_nonnegative_weights(seed, M):
    rng = np.random.default_rng(seed)
    virtual = virtual_kernels(random_psd(rng, M) + 0.1 * np.eye(M))
    d = rng.random(M)
    assert virtual.feasible(virtual.to_virtual(d))
    d[0] = 0.0  # the border of the set, up to rounding
    assert virtual.feasible(virtual.to_virtual(d))
    d[0] = -1e-3
    assert not virtual.feasible(virtual.to_virtual(d))


def test_stacks_of_weights_are_converted_at_once(rng):
    virtual, d = virtual_kernels(random_psd(rng, 4)), rng.random((3, 4))
    mu = virtual.to_virtual(d)
    assert_allclose(mu[1], virtual.to_virtual(d[1]))
    assert_allclose(virtual.to_weights(mu), d, atol=1e-9)


def test_only_positive_eigenvalues_of_a_singular_matrix_count(rng):
    virtual, d = virtual_kernels(np.ones((5, 5))), rng.random(5)
    assert_allclose(virtual.eigenvalues, [5.0])
    assert virtual.psd.tolist() == [True]
    assert not virtual.two_norm  # the 1-norm is not the norm of one virtual kernel
    assert_allclose(virtual.to_virtual(d), [d.sum()])  # μ² = dᵀQd
    assert_allclose(virtual.to_weights(virtual.to_virtual(d)), np.full(5, d.mean()))
    assert virtual_kernels(np.zeros((2, 2))).eigenvectors.shape == (2, 0)


def test_eigenvectors_of_one_sign_are_turned_to_the_positive():
    Q = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.5]])
    virtual = virtual_kernels(Q)
    assert_allclose(virtual.eigenvalues, [1.0, 1.5, 3.0])
    assert virtual.psd.tolist() == [True, True, False]
    assert virtual.positive_share.tolist() == [1.0, 1.0, 0.5]
    assert np.all(virtual.traces >= -1e-15)
    assert np.all(virtual_kernels(Q, traces=[1.0, 3.0, 2.0]).traces > 0)


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue is -1.0e\\+00"),
        ([[1.0, 0.5], [0.0, 1.0]], "symmetric"),
        ([[1.0, 0.5]], "square"),
        ([[np.nan]], "NaN"),
    ],
)
def test_matrices_without_virtual_kernels_are_refused(Q, message):
    with pytest.raises(ValueError, match=message):
        virtual_kernels(Q)


def test_traces_of_another_length_are_refused():
    with pytest.raises(ValueError, match="3 kernels, got shape \\(2,\\)"):
        virtual_kernels(np.eye(3), traces=[1.0, 2.0])


def learn_virtual_weights(grams, y, B, A, C):
    """min C Σ hinge + ½ fᵀK⁻¹f + ‖μ‖² with K = Σ μ_i Σ_m B_mi K_m and A μ ≥ 0, a conic program."""
    Ks = np.tensordot(B.T, grams, 1)
    mu, f, b = cp.Variable(len(Ks)), cp.Variable(len(y)), cp.Variable()
    K = sum(mu[i] * Ks[i] for i in range(len(Ks)))
    data = C * cp.sum(cp.pos(1 - cp.multiply(y, f + b)))
    J = data + cp.matrix_frac(f, (K + K.T) / 2) / 2 + cp.sum_squares(mu)
    problem = cp.Problem(cp.Minimize(J), [A @ mu >= 0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL)
    return problem.value, B @ mu.value


@pytest.mark.parametrize("seed", [0, 2])
def test_theorem_3_in_both_versions(seed):
    """The paper's βᵀQβ beside ½ Σ‖w_m‖²/β_m is h(d) = 2 dᵀQd."""
    rng = np.random.default_rng(seed)
    Z, P = rng.normal(size=(10, 3)), rng.normal(size=(10, 2))
    y = np.sign(P[:, 0])
    noise = Z @ Z.T + 0.1 * np.eye(10)
    grams = np.stack([noise + P @ P.T, noise, random_grams(rng, 10, 1)[0]])
    Q = np.array([[1.5, 1.0, 0.2], [1.0, 1.5, -0.3], [0.2, -0.3, 1.0]])
    regularizer = QNorm(2 * Q, form="tikhonov")
    problem = Problem(PackedBank.from_grams(grams), y[:, None], Hinge(), regularizer, 2.0)
    solution = NewtonWeights(tol=1e-9, max_iter=100).solve(problem)
    assert solution.weights[1] < 1e-9  # d ≥ 0 is active
    eigenvector_form = virtual_kernels(Q).to_weights(np.eye(3)).T  # V Λ^(-1/2)
    root_form = np.linalg.inv(np.real(sqrtm(Q)))  # Q^(-1/2)
    for B in (eigenvector_form, root_form):
        J, d = learn_virtual_weights(grams, y, B, B, C=2.0)
        assert_allclose(J, solution.objective, rtol=1e-6)
        assert_allclose(d, solution.weights, atol=1e-3)
    mixed, _ = learn_virtual_weights(grams, y, eigenvector_form, root_form, C=2.0)
    assert abs(mixed - solution.objective) > 1e-3  # kernels of one form, constraint of the other


# K_1 - K_2 is positive semi-definite and tells the classes apart, K_2 only disturbs.
RIVALS = np.array([[1.5, 0.5], [0.5, 1.5]])


def nested_kernels(seed):
    rng = np.random.default_rng(seed)
    Z, P = rng.normal(size=(10, 3)), rng.normal(size=(10, 2))
    y = np.sign(P[:, :1] + 0.3 * P[:, 1:])
    grams = [Z @ Z.T + P @ P.T, Z @ Z.T]
    virtual, bank = virtual_kernels(RIVALS), PackedBank.from_grams(grams)
    Ks = [virtual.combine(bank, i) for i in range(2)]
    assert min(np.linalg.eigvalsh(K)[0] for K in Ks) > -1e-12  # the premise of Lemma 1
    with_q = solve_with_cvxpy(grams, y, Hinge(), QNorm(RIVALS))
    with_two = solve_with_cvxpy(Ks, y, Hinge(), LpNorm(p=2, form="ivanov"))
    return virtual, with_q, with_two


def test_lemma_1_as_printed_is_false():
    """All virtual kernels are kernels, yet 2-norm MKL on them wants a negative weight."""
    virtual, with_q, with_two = nested_kernels(seed=6)
    assert with_two.objective < with_q.objective - 0.05
    assert virtual.to_weights(with_two.weights)[1] < -0.2
    assert not virtual.feasible(with_two.weights)
    assert with_q.weights.min() > -1e-8


def test_lemma_1_holds_where_each_solution_is_feasible_for_the_other():
    virtual, with_q, with_two = nested_kernels(seed=5)
    assert virtual.feasible(with_two.weights)
    assert np.all(virtual.to_virtual(with_q.weights) >= 0)
    assert_allclose(with_two.objective, with_q.objective, rtol=1e-7)
    assert_allclose(virtual.to_weights(with_two.weights), with_q.weights, atol=1e-4)


def test_lemma_1_holds_for_all_kernels_if_and_only_if_the_matrix_is_diagonal(rng):
    assert virtual_kernels(np.diag([3.0, 1.0, 2.0])).two_norm
    assert virtual_kernels(np.eye(4)).two_norm
    assert not virtual_kernels(np.diag([1.0, 0.0])).two_norm
    assert not virtual_kernels(RIVALS).two_norm
    assert not virtual_kernels(random_psd(rng, 4)).two_norm
