"""Linear algebra that more than one part needs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from multikernel import _linalg
from multikernel._linalg import (
    DefiniteSystem,
    SingleMatrix,
    add_low_rank,
    mirror,
    nonnegative_minimiser,
)


@pytest.mark.parametrize("n", [1, 7, 256, 600])
def test_mirror_copies_the_lower_triangle(n, rng):
    A = rng.normal(size=(n, n))
    expected = np.tril(A) + np.tril(A, -1).T
    assert_array_equal(mirror(A.copy()), expected)
    assert_array_equal(mirror(np.asfortranarray(A)), expected)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_nonnegative_minimiser_is_nonnegative_least_squares(n, rng):
    for _ in range(10):
        R, r = rng.normal(size=(n + 3, n)), rng.normal(size=n + 3)
        guess = rng.random(n) < 0.5
        found = nonnegative_minimiser(R.T @ R, R.T @ r, guess)
        assert_allclose(found, nnls(R, r)[0], atol=1e-8)


@pytest.mark.parametrize("rough", [False, True])
def test_definite_systems_may_have_no_right_hand_side(rough):
    assert DefiniteSystem(np.eye(80), np.ones(80), rough).solve(np.zeros((80, 0))).shape == (80, 0)


@pytest.mark.parametrize("n", [0, 5, 80])
@pytest.mark.parametrize("rough", [False, True])
def test_definite_systems_are_solved(n, rough, rng):
    Z, diagonal = rng.normal(size=(n, 3)), 10.0 ** rng.uniform(-2, 40, n)
    r = rng.normal(size=(n, 2)) * 1e50
    x = DefiniteSystem(Z @ Z.T, diagonal, rough).solve(r)
    exact = np.linalg.solve(Z @ Z.T + np.diag(diagonal), r)
    scale = np.sqrt(diagonal)[:, np.newaxis]  # in which the system is well conditioned
    assert np.linalg.norm((x - exact) * scale) <= 0.02 * np.linalg.norm(r / scale)


@pytest.mark.parametrize(("small", "corrected"), [(10.0, False), (0.01, True)])
def test_rough_systems_are_corrected_once_unless_five_digits_are_right(small, corrected, rng):
    Z, r = rng.normal(size=(80, 30)), rng.normal(size=(80, 1))
    A = Z @ Z.T + small * np.eye(80)
    system = DefiniteSystem(Z @ Z.T, np.full(80, small), rough=True)
    x, uncorrected = system.solve(r), system._roughly(r)
    left, before = (np.linalg.norm(r - A @ x) / np.linalg.norm(r) for x in (x, uncorrected))
    assert left <= 1e-5
    assert (left < 0.01 * before) == corrected
    assert np.any(x != DefiniteSystem(Z @ Z.T, np.full(80, small)).solve(r))


@pytest.mark.parametrize("small", [1e-7, 1e-12])
def test_systems_too_stiff_for_single_precision_get_another_factor(small, rng, monkeypatch):
    Z = rng.normal(size=(80, 90))
    A, diagonal = Z @ np.diag(10.0 ** -np.linspace(0, 12, 90)) @ Z.T, np.full(80, small)
    calls, cholesky = [], _linalg.cholesky
    if small == 1e-7:  # a factor that there is, but that is of another matrix
        other = np.eye(80, dtype=np.float32), True
        monkeypatch.setattr(DefiniteSystem, "_single_cholesky", lambda system: other)
    monkeypatch.setattr(_linalg, "cholesky", lambda *a: calls.append(1) or cholesky(*a))
    system, r = DefiniteSystem(A, diagonal, rough=True), A @ rng.normal(size=(80, 1))
    assert_allclose(A @ system.solve(r), r, atol=1e-3 * np.abs(r).max())
    assert calls == [1]


def test_columns_of_different_size_are_solved_each_to_its_digits(rng):
    Z = rng.normal(size=(80, 5))
    A = Z @ Z.T
    r = rng.normal(size=(80, 3)) * [1e30, 1.0, 1e-30]
    x = DefiniteSystem(A, np.ones(80), rough=True).solve(r)
    exact = np.linalg.solve(A + np.eye(80), r)
    assert np.all(np.abs(x - exact).max(axis=0) <= 1e-4 * np.abs(exact).max(axis=0))


def test_products_of_single_precision_keep_the_size_of_every_column(rng):
    K = rng.normal(size=(80, 80)).astype(np.float32)
    A = rng.normal(size=(80, 4)) * [1e60, 1.0, 1e-60, 0.0]
    single, exact = SingleMatrix(K) @ A, K.astype(np.float64) @ A
    assert single.dtype == np.float64
    assert np.all(np.abs(single - exact).max(axis=0) <= 1e-5 * np.abs(exact).max(axis=0))
    assert np.any(single != exact)
    assert (SingleMatrix(K)[np.ix_([0, 1], [])] @ np.zeros((0, 3))).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("n", [5, 80])
def test_definite_systems_of_matrices_in_single_precision(n, rough, rng):
    Z, r = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    A = (Z @ Z.T).astype(np.float32)
    x = DefiniteSystem(SingleMatrix(A.copy()), np.full(n, 0.1), rough).solve(r)
    exact = np.linalg.solve(A.astype(np.float64) + 0.1 * np.eye(n), r)
    assert_allclose(x, exact, atol=1e-4 * np.abs(exact).max())


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_product_of_low_rank_is_added_in_the_precision_of_the_matrix(order, rng):
    V, scales = rng.normal(size=(3, 40)), np.array([1.0, -2.0, 0.5])
    K = np.asarray(rng.normal(size=(40, 40)), order=order)
    K = K + K.T
    expected = K + V.T @ np.diag(scales) @ V
    single = add_low_rank(SingleMatrix(K.astype(np.float32)), V, scales)
    assert single.entries.dtype == np.float32
    assert_allclose(single.entries, expected, atol=1e-4)
    assert_allclose(add_low_rank(K, V, scales), expected, atol=1e-12)
