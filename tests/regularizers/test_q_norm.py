"""The Q-norm: its weight step, its dual norm, its special cases and what it refuses."""

import sys
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracle import factor
from scipy.optimize import nnls
from scipy.sparse import eye_array

from multikernel import DualCovariance
from multikernel.kernels import nearest_psd
from multikernel.regularizers import LpNorm, QNorm
from multikernel.regularizers._ratio_step import ratio_minimiser
from multikernel.regularizers.q_norm import free_direction

TIGHT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
KINDS = ["random", "nonnegative", "laplacian", "ones", "ill-conditioned", "singular", "blocks"]


def draw_matrix(kind, M, rng):
    A = rng.normal(size=(M, M + 2))
    if kind == "nonnegative":
        return np.abs(A) @ np.abs(A).T
    if kind == "laplacian":
        W = np.abs(A @ A.T)
        np.fill_diagonal(W, 0.0)
        return np.diag(W.sum(axis=1)) - W + 0.05 * np.eye(M)
    if kind == "ones":
        return np.ones((M, M))
    if kind == "ill-conditioned":
        U = np.linalg.qr(A[:, :M])[0]
        Q = (U * np.logspace(0, -8, M)) @ U.T
        return (Q + Q.T) / 2
    if kind == "singular":
        return A[:, : M // 2] @ A[:, : M // 2].T + np.ones((M, M))
    if kind == "blocks":
        return np.kron(np.eye(2), np.ones((M, M)))[:M, :M] + 0.3 * np.diag(rng.random(M))
    return A @ A.T


def draw_norms(M, rng):
    """Squared norms over many orders of magnitude, about a third of them zero."""
    x = rng.gamma(0.3, size=M) * (rng.random(M) < 0.65)
    x[rng.integers(M)] += 0.5
    return x


def total(x, Q, d):
    on = x > 0
    return np.sum(x[on] / d[on]) + d @ Q @ d


def socp_value(x, Q):
    """The least sum of ratios with the norm bounded by one, as a second-order cone program."""
    on = np.flatnonzero(x > 0)
    d, ratio = cp.Variable(len(x)), cp.Variable(len(x))
    cones = [cp.SOC(ratio[m] + d[m], cp.hstack([2 * np.sqrt(x[m]), ratio[m] - d[m]])) for m in on]
    program = cp.Problem(
        cp.Minimize(cp.sum(ratio[on])), [*cones, d >= 0, cp.norm(factor(Q).T @ d) <= 1]
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        program.solve(solver=cp.CLARABEL, **TIGHT)
    return program.value


def least_distance(Q, G):
    """The length of the shortest u with R u ≥ G, the dual norm, by nonnegative least squares."""
    E = np.vstack([factor(Q).T, G])
    target = np.append(np.zeros(len(E) - 1), 1.0)
    residual = E @ nnls(E, target, maxiter=1000)[0] - target
    return np.linalg.norm(residual[:-1] / residual[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_weight_step_against_a_conic_solver(kind):
    """500 cases, 72 of each kind, zero norms among them, to 1e-7.

    Clarabel's optimum may err upwards where Q is ill-conditioned, so a lower bound is the judge
    there: the sum of ratios is at least (Σ √(x_m g_m))² / ω(g) for every g ≥ 0.
    """
    rng = np.random.default_rng(len(kind))
    for _ in range(72):
        M = int(rng.integers(2, 11))
        Q, x = draw_matrix(kind, M, rng), draw_norms(M, rng)
        d = QNorm(Q).optimal_weights(x)
        on = x > 0
        value = np.sum(x[on] / d[on])
        conic = socp_value(x / value, Q)  # in units that suit Clarabel
        g = np.divide(x, d**2, out=np.zeros(M), where=on)
        lower = np.sum(np.sqrt(x * g)) ** 2 / least_distance(Q, g)
        assert conic >= 1 - 1e-7
        assert conic <= 1 + (1e-6 if kind == "ill-conditioned" else 1e-7)
        assert lower >= value * (1 - 1e-7)
        assert d @ Q @ d <= 1 + 1e-7  # rounding of a form with condition 1e8


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=30, derandomize=True)
def test_weight_step_satisfies_its_optimality_conditions(kind, seed):
    rng = np.random.default_rng(seed)
    M = int(rng.integers(1, 40))
    Q, x = draw_matrix(kind, M, rng), draw_norms(M, rng)
    d = ratio_minimiser(x, Q)
    gradient = 2 * Q @ d
    on = x > 0
    gradient[on] -= x[on] / d[on] ** 2
    scale = np.abs(2 * Q) @ d
    assert np.all(d[on] > 0)
    # the stiff entries of the gradient err by the rounding of their weight
    assert np.all(np.abs(gradient * d)[d > 0] <= 1e-7 * total(x, Q, d))
    assert np.all(gradient[d == 0] >= -1e-9 * scale.max())


def test_weight_step_at_a_thousand_kernels():
    rng = np.random.default_rng(0)
    M = 1000
    for kind in ("random", "laplacian", "ones"):
        Q, x = draw_matrix(kind, M, rng), draw_norms(M, rng)
        d = ratio_minimiser(x, Q)
        other = ratio_minimiser(x * 1e40, Q * 1e-20)  # F is homogeneous
        assert_allclose(other, 1e20 * d, rtol=1e-5, atol=1e-9 * other.max())
        lower = total(x, Q, d) * (1 - 1e-12)
        for _ in range(20):
            trial = np.abs(d * (1 + 1e-3 * rng.normal(size=M)) + 1e-6 * d.max() * rng.random(M))
            assert total(x, Q, trial) >= lower


def test_theorem_four_is_the_same_program(rng):
    """The semidefinite program of the paper, with all norms positive, where it is tight."""
    for kind in ("random", "laplacian", "nonnegative"):
        M = 5
        Q, x = draw_matrix(kind, M, rng), rng.uniform(0.2, 2.0, M)
        nu, beta = cp.Variable(M), cp.Variable((M, 1))
        Z = cp.Variable((M, M), symmetric=True)
        one = np.ones((1, 1))
        small = [
            cp.bmat([[cp.reshape(nu[m], (1, 1), order="C"), one], [one, beta[m : m + 1]]]) >> 0
            for m in range(M)
        ]
        large = cp.bmat([[one, beta.T], [beta, Z]]) >> 0
        program = cp.Problem(cp.Minimize(x @ nu), [*small, large, cp.trace(Q @ Z) <= 1])
        program.solve(solver=cp.CLARABEL)
        reg = QNorm(Q)
        assert_allclose(2 * reg.block_norm(x), program.value, rtol=1e-6)
        assert_allclose(reg.optimal_weights(x), beta.value[:, 0], atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_dual_norm_against_a_least_distance_program(kind):
    rng = np.random.default_rng(3)
    for _ in range(20):
        M = int(rng.integers(2, 15))
        Q, G = draw_matrix(kind, M, rng), draw_norms(M, rng)
        expected = least_distance(Q, G)
        assert_allclose(QNorm(Q).dual_value(G), expected, rtol=1e-6)
        assert_allclose(QNorm(Q, form="tikhonov").dual_value(G), expected**2 / 4, rtol=2e-6)


def test_the_printed_dual_norm_holds_only_where_its_weights_are_nonnegative(rng):
    closed = []
    for _ in range(200):
        Q, G = draw_matrix("random", 4, rng), rng.random(4)
        printed = np.sqrt(G @ np.linalg.solve(Q, G))
        ours = QNorm(Q).dual_value(G)
        assert ours <= printed * (1 + 1e-9)  # the sign constraint only shrinks the set
        nonnegative = bool(np.all(np.linalg.solve(Q, G) >= 0))
        assert np.isclose(ours, printed, rtol=1e-8) == nonnegative
        closed.append(nonnegative)
    assert 0 < np.mean(closed) < 0.5


def test_dual_ray_is_the_dual_value_along_a_ray(rng):
    for form in ("ivanov", "tikhonov"):
        reg, G = QNorm(draw_matrix("random", 5, rng), form=form), draw_norms(5, rng)
        for c in (0.0, 0.3, 1.0):
            assert_allclose(reg.dual_ray(G)(c), reg.dual_value(c**2 * G), rtol=1e-9)


def test_conic_method_is_a_reference(rng):
    Q, x = draw_matrix("random", 5, rng), np.append(draw_norms(4, rng), 0.0)
    for form in ("ivanov", "tikhonov"):
        ours, theirs = QNorm(Q, form=form), QNorm(Q, form=form, method="socp")
        assert_allclose(ours.block_norm(x), theirs.block_norm(x), rtol=1e-6)
    assert not QNorm(Q, method="socp").optimal_weights(np.zeros(5)).any()


def test_conic_method_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match="pip install cvxpy clarabel"):
        QNorm(np.eye(2), method="socp").optimal_weights(np.ones(2))


@pytest.mark.parametrize(
    ("Q", "p"), [(np.ones((5, 5)), 1.0), (np.eye(5), 2.0)], ids=["ones", "identity"]
)
def test_ones_and_identity_are_norms(Q, p, rng):
    ours, theirs = QNorm(Q), LpNorm(p=p, form="ivanov")
    for x in [draw_norms(5, rng), *rng.uniform(0.1, 4.0, size=(300, 5))]:
        assert_allclose(ours.block_norm(x), theirs.block_norm(x), rtol=1e-12)
        assert_allclose(ours.dual_value(x), theirs.dual_value(x), rtol=1e-9)
        # the last Newton step squares an error below the root of the tolerance, 3e-8
        assert_allclose(ours.optimal_weights(x), theirs.optimal_weights(x), rtol=0, atol=1e-12)


def test_signs_of_the_coupling():
    x = np.array([1.0, 0.0])
    rivals, friends = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([[1.0, -0.9], [-0.9, 1.0]])
    assert QNorm(rivals).optimal_weights(x)[1] == 0
    carried = QNorm(friends).optimal_weights(x)
    assert_allclose(carried[1], 0.9 * carried[0], rtol=1e-9)
    assert QNorm(rivals).sparse
    assert not QNorm(friends).sparse


LAPLACIAN = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.diag([1.0, -0.5]), r"smallest eigenvalue is -5.0e-01.*nearest_psd"),
        (np.array([[1.0, 0.3], [0.0, 1.0]]), "'Q' must be symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "'Q' contains NaN or infinity"),
        (np.ones((2, 3)), "'Q' must be a square matrix"),
        (LAPLACIAN, r"kernels 0, 1, 2 together \(Q d = 0\).*add a ridge.*block term"),
        (np.diag([1.0, 0.0, 1.0]), "kernels 1 together"),
        (np.zeros((2, 2)), "no penalty"),
    ],
    ids=["indefinite", "asymmetric", "nan", "not-square", "laplacian", "zero-row", "zero"],
)
def test_bad_matrices_are_refused_in_one_sentence(Q, message):
    with pytest.raises(ValueError, match=message):
        QNorm(Q).check()


def test_repaired_matrices_are_accepted():
    QNorm(nearest_psd(np.array([[1.0, 1.2], [1.2, 1.0]]))).check()
    QNorm(LAPLACIAN + 0.01 * np.eye(3)).check()
    QNorm(LAPLACIAN + np.ones((3, 3))).check()


def test_other_parameters_are_checked():
    with pytest.raises(ValueError, match="form must be"):
        QNorm(np.eye(2), form="lagrange").check()
    with pytest.raises(ValueError, match="method must be one of"):
        QNorm(np.eye(2), method="sdp").check()
    with pytest.raises(ValueError, match="2 rows for 3 kernels"):
        QNorm(np.eye(2)).check_n_kernels(3)


def test_unpenalised_weights_are_found():
    A = np.array([[1.0, -2.0, 0.0, 3.0]])
    d = free_direction(A.T @ A + np.diag([0, 0, 1.0, 0]))
    assert_allclose(A @ d, 0.0, atol=1e-9)
    assert d[2] == 0
    assert np.all(d >= 0)
    assert free_direction(np.array([[1.0, 1.0], [1.0, 1.0]])) is None  # singular, yet fine
    mixed = np.array([[1.0, 2.0, -0.5]])
    assert free_direction(mixed.T @ mixed) is not None


@pytest.mark.parametrize(
    "Q",
    ["covariance", eye_array(3), DualCovariance, np.ones(3), 2.0],
    ids=["name", "sparse", "class", "vector", "number"],
)
def test_what_is_no_matrix_is_refused_in_one_sentence(Q):
    with pytest.raises(TypeError, match=r"or a rule such as DualCovariance\(\)"):
        QNorm(Q).check()
