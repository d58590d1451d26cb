"""Checks of Gram matrices and their repair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigvalsh

from multikernel._validation import check_definite, check_gram, check_symmetric
from multikernel.kernels import nearest_psd


def with_eigenvalues(values, seed=0):
    U = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    K = (U * values) @ U.T
    return (K + K.T) / 2


@settings(deadline=None, max_examples=50)
@given(st.floats(-1e-6, 1e-6), st.integers(0, 100), st.sampled_from([1e-6, 1.0, 1e8]))
def test_the_verdict_follows_the_smallest_eigenvalue(smallest, seed, unit):
    K = unit * with_eigenvalues(np.array([smallest, 0.01, 0.3, 1.0]), seed)
    if smallest < -1.01e-8:
        with pytest.raises(ValueError, match="'K' must be positive semi-definite"):
            check_definite(K, "K")
    elif smallest > -0.99e-8:
        check_definite(K, "K")


@pytest.mark.parametrize("K", [np.zeros((3, 3)), np.ones((4, 4)), np.eye(1), np.diag([1, 0, 0.0])])
def test_singular_grams_pass(K):
    check_gram(K, "K")


def test_singular_grams_cost_no_eigenvalues(monkeypatch, rng):
    monkeypatch.setattr("multikernel._validation.eigvalsh", None)
    X = rng.normal(size=(50, 3))
    check_gram(X @ X.T, "K")


def test_definite_grams_cost_one_factorisation(monkeypatch, rng):
    monkeypatch.setattr("multikernel._validation._largest_eigenvalue", None)
    X = rng.normal(size=(60, 3))
    check_gram(np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / 50), "K")  # all but singular


def test_the_negative_identity_fails():
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -1\.0e\+00"):
        check_gram(-np.eye(3), "K")


def test_rounding_to_float32_is_forgiven(rng):
    X = rng.normal(size=(40, 3))
    K = X @ X.T
    check_gram(K.astype(np.float32), "K")
    with pytest.raises(ValueError, match="positive semi-definite"):
        check_gram(K.astype(np.float32).astype(np.float64) - 1e-6 * np.trace(K) * np.eye(40), "K")
    K[0, 1] += 1e-7 * K.max()
    check_symmetric(K.astype(np.float32), "K")
    with pytest.raises(ValueError, match="must be symmetric"):
        check_symmetric(K, "K")


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"'K' must be a square matrix, got shape \(2, 3\)"):
        check_gram(np.ones((2, 3)), "K")
    with pytest.raises(ValueError, match="'K' is empty"):
        check_gram(np.ones((0, 0)), "K")


VALUES = np.array([-0.5, -0.1, 0.2, 1.0])


@pytest.mark.parametrize(
    ("method", "repaired"),
    [("clip", np.maximum(VALUES, 0)), ("flip", np.abs(VALUES)), ("shift", VALUES + 0.5)],
)
def test_repair_changes_the_eigenvalues_as_named(method, repaired):
    K = nearest_psd(with_eigenvalues(VALUES), method)
    assert_allclose(eigvalsh(K), np.sort(repaired), atol=1e-12)
    check_gram(K, "K")
    if method == "shift":
        off = ~np.eye(4, dtype=bool)
        assert_allclose(K[off], with_eigenvalues(VALUES)[off])


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_repair_leaves_good_matrices_alone(method):
    K = with_eigenvalues(np.array([0.1, 0.5, 2.0]))
    assert_allclose(nearest_psd(K, method), K, atol=1e-12)


def test_unknown_repairs_are_refused():
    with pytest.raises(ValueError, match="method must be 'clip', 'flip' or 'shift', got 'drop'"):
        nearest_psd(np.eye(2), "drop")


def test_an_indefinite_kernel_of_few_decimals_is_said_to_be_so(rng):
    Z = rng.normal(size=(60, 2))
    K = np.exp(-np.sum((Z[:, None] - Z) ** 2, axis=2) / 8)
    with pytest.raises(ValueError, match="which rounding to a few decimals can cause"):
        check_gram(K.round(4), "K")
    with pytest.raises(ValueError, match=r"\(tolerance -1e-08\). Repair it"):
        check_gram(np.diag([1.0, -1.0]), "K")
