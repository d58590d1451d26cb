"""Heuristic weights against their formulas on explicit matrices."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import instances
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from multikernel import (
    Alignment,
    AlignmentQP,
    BestAligned,
    FactoredBank,
    FixedWeights,
    Hinge,
    MarginShares,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    OneKernel,
    PackedBank,
    Problem,
    Squared,
    Uniform,
)
from multikernel.heuristics import WEIGHT_RULES

SOURCES = list("abcd")


@pytest.fixture
def parts(rng):
    Z = [rng.normal(size=(24, r)) for r in (1, 2, 3, 3)]
    y = (Z[0][:, :1] + 0.3 * Z[1][:, :1] + 0.2 * rng.normal(size=(24, 1))) > 0
    return Z, np.where(y, 1.0, -1.0)


def problem_of(Z, y, *, factored=False, s=None, loss=None):
    bank = FactoredBank(Z) if factored else PackedBank.from_grams([z @ z.T for z in Z])
    return Problem(bank, y, loss or Hinge(), Uniform(), sample_weight=s)


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("factored", [False, True])
def test_alignment_is_the_cosine_with_the_targets(parts, factored):
    Z, y = parts
    grams = [centred(z @ z.T) for z in Z]
    T = centred(y @ y.T)
    expected = np.array([np.sum(K * T) / np.sum(K * K) for K in grams])
    d = Alignment().weights(problem_of(Z, y, factored=factored), SOURCES)
    assert_allclose(d, expected / expected.mean(), rtol=1e-10)


def test_the_combination_of_alignment_qp_is_the_nearest_to_the_targets(parts):
    Z, y = parts
    grams = np.stack([centred(z @ z.T).ravel() for z in Z], axis=1)
    nearest, _ = nnls(grams, centred(y @ y.T).ravel())
    d = AlignmentQP().weights(problem_of(Z, y), SOURCES)
    assert_allclose(d, nearest / nearest.mean(), rtol=1e-5, atol=1e-6)


def test_a_kernel_there_twice_shares_its_weight(parts):
    Z, y = parts
    once = AlignmentQP().weights(problem_of(Z[:2], y), SOURCES[:2])
    twice = AlignmentQP().weights(problem_of([Z[0], Z[0], Z[1]], y), SOURCES[:3])
    assert_allclose((twice[0] + twice[1]) / twice[2], once[0] / once[1], rtol=1e-5)


def test_best_aligned_is_the_largest_alignment(parts):
    Z, y = parts
    assert BestAligned().weights(problem_of(Z, y), SOURCES).argmax() == 0
    assert np.count_nonzero(BestAligned().weights(problem_of(Z, y), SOURCES)) == 1


@pytest.mark.parametrize("rule", instances(WEIGHT_RULES), ids=repr)
def test_every_rule(parts, rule):
    Z, y = parts
    d = rule.weights(problem_of(Z, y), SOURCES)
    assert np.all(d >= 0)
    assert_allclose(d.mean(), 1.0)
    shift = [np.hstack([z, np.full((24, 1), 3.0)]) for z in Z]  # k + 9: the same once centred
    assert_allclose(rule.weights(problem_of(shift, y), SOURCES), d, atol=2e-3)
    scaled = [np.sqrt(m + 1) * z for m, z in enumerate(Z)]
    if not isinstance(rule, MarginShares | OneKernel | BestAligned):
        ratio = rule.weights(problem_of(scaled, y), SOURCES) * np.arange(1, 5)
        assert_allclose(ratio / ratio.mean(), d, atol=1e-4)


@pytest.mark.parametrize("rule", instances(WEIGHT_RULES), ids=repr)
def test_integer_weights_are_repetitions(parts, rule):
    Z, y = parts
    s = np.where(np.arange(24) < 8, 3.0, 1.0)
    again = np.repeat(np.arange(24), s.astype(int))
    weighted = rule.weights(problem_of(Z, y, s=s), SOURCES)
    repeated = rule.weights(problem_of([z[again] for z in Z], y[again]), SOURCES)
    assert_allclose(weighted, repeated, atol=5e-3)


def test_constant_kernels_and_targets_get_equal_weights(parts):
    Z, _ = parts
    y = np.zeros((24, 1))
    d = Alignment().weights(problem_of(Z, y, loss=Squared()), SOURCES)
    assert_array_equal(d, np.ones(4))
    constant = [np.ones((24, 1))] * 2
    assert_array_equal(AlignmentQP().weights(problem_of(constant, parts[1]), "ab"), [1.0, 1.0])


def test_fixed_weights_are_the_uniform_sum_of_scaled_kernels(parts):
    Z, y = parts
    w = np.array([2.0, 0.5, 1.0, 0.0])
    K = np.stack([z @ z.T for z in Z], axis=-1)
    fixed = MKLRegressor("precomputed", regularizer=FixedWeights(w), normalize=None).fit(K, y[:, 0])
    uniform = MKLRegressor("precomputed", regularizer="uniform", normalize=None)
    uniform.fit(K * w, y[:, 0])
    assert_allclose(fixed.predict(K), uniform.predict(K * w), atol=1e-10)
    assert_allclose(fixed.weights_, w)
    assert fixed.converged_


def test_rules_learn_from_training_samples_only(parts):
    Z, y = parts
    X = np.hstack(Z)
    sources = {"a": [0], "b": [1, 2], "c": [3, 4, 5]}
    model = MKLClassifierCV(sources, regularizer=FixedWeights(Alignment()), Cs=[0.1, 1.0], cv=3)
    model.fit(X, y[:, 0])
    assert model.weights_.max() > 1 > model.weights_.min()
    search = MKLClassifierCV(
        {"a": ([0], "linear"), "b": ([1, 2], "linear")},
        regularizer=FixedWeights(OneKernel()),
        regularizer_grid={"weights__kernel": [0, 1]},
        cv=3,
    ).fit(X, y[:, 0])
    assert search.best_params_["regularizer__weights__kernel"] == 0


def test_clear_errors(parts):
    Z, y = parts
    problem = problem_of(Z, y)
    with pytest.raises(ValueError, match="one of the 4 kernels, counted from 0; got 4"):
        OneKernel(4).weights(problem, SOURCES)
    K = np.stack([z @ z.T for z in Z], axis=-1)
    for weights, message in [
        ([1.0, -1.0, 1.0, 1.0], "nonnegative"),
        ([1.0, 1.0], "2 weights for 4 kernels"),
        (np.zeros(4), "not all zero"),
        (None, "one per kernel, or a rule such as Alignment"),
        ("alignment", "or a rule such as Alignment"),
        (Alignment, "or a rule such as Alignment"),
        ({"a": 1.0}, "or a rule such as Alignment"),
    ]:
        model = MKLClassifier("precomputed", regularizer=FixedWeights(weights), normalize=None)
        with pytest.raises(ValueError, match=message):
            model.fit(K, y[:, 0])
