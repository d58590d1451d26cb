"""Normalisations against their definitions in feature space, and their replay on queries."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multikernel._gram_stack import GramStack
from multikernel.kernels import NORMALIZERS
from multikernel.kernels.normalize import make_normalizer, sample_shares


def features(name, Phi, Phi_query, share):
    """Normalised feature vectors of training samples and queries, straight from the definition."""
    mean = share @ Phi
    power = share @ np.sum(Phi**2, axis=1)
    variance = share @ np.sum((Phi - mean) ** 2, axis=1)
    return {
        "none": lambda P: P,
        "center": lambda P: P - mean,
        "trace": lambda P: P / np.sqrt(power),
        "cosine": lambda P: P / np.linalg.norm(P, axis=1, keepdims=True),
        "variance": lambda P: (P - mean) / np.sqrt(variance),
    }[name]


@pytest.fixture(params=[False, True], ids=["even", "weighted"])
def case(request, rng):
    Phi, Phi_query = rng.normal(size=(15, 6)) + 2.0, rng.normal(size=(8, 6)) - 1.0
    weight = rng.integers(0, 4, 15) if request.param else None
    return Phi, Phi_query, sample_shares(weight, 15)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_training_and_queries_follow_the_definition(name, case):
    Phi, Phi_query, share = case
    normalized = features(name, Phi, Phi_query, share)
    P, Q = normalized(Phi), normalized(Phi_query)
    normalizer = make_normalizer(name)
    assert_allclose(normalizer.fit_transform(Phi @ Phi.T, share), P @ P.T, atol=1e-12)
    diag = np.sum(Phi_query**2, axis=1)
    cross = normalizer.transform(Phi_query @ Phi.T, share, diag)
    assert_allclose(cross, Q @ P.T, atol=1e-12)
    similarity = normalizer.self_similarity(diag, Phi_query @ Phi.T @ share)
    assert_allclose(similarity, np.sum(Q**2, axis=1), atol=1e-12)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_stacks_are_normalised_as_matrices_one_by_one(name, case, rng):
    _, _, share = case
    Z = rng.normal(size=(4, 15, 3)) + 1.0
    Ks = np.concatenate([Z @ Z.transpose(0, 2, 1), np.zeros((1, 15, 15))])
    before = Ks.copy()
    single, together = ([make_normalizer(name) for _ in Ks] for _ in range(2))
    expected = [one.fit_transform(K.copy(), share) for one, K in zip(single, Ks, strict=True)]
    stack = together[0].learn(together, GramStack(np.arange(5), Ks), share)
    assert_allclose(stack.formed(), expected, atol=1e-12)
    assert (Ks == before).all()
    A = rng.normal(size=(15, 2))
    for one, other in zip(single, together, strict=True):
        for ours, theirs in zip(other.expand(A, share), one.expand(A, share), strict=True):
            assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("sum_is_zero", [True, False])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_expansions_are_replayed_by_raw_coefficients(name, sum_is_zero, case, rng):
    Phi, Phi_query, share = case
    normalized = features(name, Phi, Phi_query, share)
    A = rng.normal(size=(15, 3))
    A[4:] = 0
    A[:4] -= A[:4].mean(axis=0) if sum_is_zero else 0
    normalizer = make_normalizer(name)
    normalizer.fit_transform(Phi @ Phi.T, share)
    coef, offset = normalizer.expand(A, share)
    F = normalizer.finish(Phi_query @ Phi.T @ coef + offset, np.sum(Phi_query**2, axis=1))
    assert_allclose(F, normalized(Phi_query) @ normalized(Phi).T @ A, atol=1e-12)
    if sum_is_zero:  # only the support is needed, and only its means
        assert not coef[4:].any()
        few = normalizer.take(np.arange(4))
        few_coef, few_offset = few.expand(A[:4], share[:4])
        assert_array_equal(few_coef, coef[:4])
        assert_allclose(few_offset, offset, atol=1e-12)


@pytest.mark.parametrize("name", NORMALIZERS)
@pytest.mark.parametrize("value", [0.0, 0.1, 3.0, 1e-200, 7.7e9])
def test_constant_kernels_cause_no_division(name, value):
    K = np.full((7, 7), value)
    normalizer = make_normalizer(name)
    normalized = normalizer.fit_transform(K.copy(), sample_shares(None, 7))
    assert np.isfinite(normalized).all()
    if name == "variance":
        assert normalizer.factor_ == 0.0
        assert_array_equal(normalized, np.zeros((7, 7)))
    if value == 0:
        assert_array_equal(normalized, K)


def test_variance_gives_zero_mean_and_unit_mean_diagonal(rng):
    X = rng.normal(size=(20, 3))
    K = make_normalizer("variance").fit_transform(X @ X.T, sample_shares(None, 20))
    assert_allclose(K.mean(axis=0), 0, atol=1e-14)
    assert_allclose(np.trace(K), 20, rtol=1e-12)


def test_cosine_of_a_zero_sample_is_zero(rng):
    X = rng.normal(size=(5, 3))
    X[2] = 0
    K = make_normalizer("cosine").fit_transform(X @ X.T, sample_shares(None, 5))
    assert_allclose(np.diagonal(K), [1, 1, 0, 1, 1])
    assert not K[2].any()


def test_unknown_normalisations_and_bad_weights_are_refused():
    with pytest.raises(ValueError, match=r"normalize='unit' is not known; choose None or one of"):
        make_normalizer("unit")
    with pytest.raises(ValueError, match="sample_weight must be 3 non-negative numbers"):
        sample_shares([1, -1, 0], 3)
    with pytest.raises(ValueError, match="must not be zero for all"):
        sample_shares([0, 0, 0], 3)
