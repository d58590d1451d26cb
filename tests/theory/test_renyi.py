"""Rényi entropy: its value, and which way it moves with the bounds of complexity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from multikernel.theory import renyi_entropy, virtual_kernels


def random_psd(rng, M):
    A = rng.normal(size=(M, M))
    return A @ A.T


def random_laplacian(rng, M):
    W = np.triu(0.1 + rng.random((M, M)), k=1)
    W += W.T
    return np.diag(W.sum(axis=1)) - W


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), M=st.integers(1, 8))
def test_entropy_is_that_of_the_inverse(seed, M):
    Q = random_psd(np.random.default_rng(seed), M) + 0.1 * np.eye(M)
    assert_allclose(np.exp(-renyi_entropy(Q)), np.linalg.inv(Q).sum() / M**2, rtol=1e-9)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), M=st.integers(2, 8))
def test_theorem_2_is_not_strict_for_a_laplacian(seed, M):
    """1ᵀQ⁻¹1 = M exactly for Q = I + L: the traces of virtual kernels are no smaller than for I."""
    Q = np.eye(M) + random_laplacian(np.random.default_rng(seed), M)
    assert np.linalg.eigvalsh(np.linalg.inv(Q))[0] < 0.999  # the premise: Q⁻¹ differs from I
    assert_allclose(np.sum(virtual_kernels(Q).traces ** 2), M, rtol=1e-12)
    assert_allclose(renyi_entropy(Q), renyi_entropy(np.eye(M)), rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), M=st.integers(2, 8))
def test_theorem_2_holds_where_a_penalised_eigenvector_sees_the_traces(seed, M):
    Q = np.eye(M) + random_psd(np.random.default_rng(seed), M)
    assert np.sum(virtual_kernels(Q).traces ** 2) < M
    assert renyi_entropy(Q) > np.log(M)  # smaller traces, larger entropy: the identity is minimal


def test_a_singular_matrix_is_refused():
    with pytest.raises(ValueError, match=r"renyi_entropy: .* 2 of its 3 eigenvalues are zero"):
        renyi_entropy(np.ones((3, 3)))
