"""Indefinite kernels: found at the first look, or in the model that uses them, and named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import booleans, integers

from multikernel import (
    BayesianMKLClassifier,
    MKLClassifier,
    MKLClassifierCV,
    ProbabilisticMKLClassifier,
    mkl_path,
)
from multikernel._validation import _random_vector, look_like_grams, looked_at
from multikernel.kernels import KernelBundle, PrecomputedKernels

FOUND = "'signal' must be positive semi-definite"


def with_hidden_flaw(K):
    """The matrix made indefinite between two samples that are not among the first looked at."""
    K, n = K.copy(), len(K)
    assert {1, 2}.isdisjoint(range(n)[looked_at(n)])
    K[1, 2] = K[2, 1] = 2 * np.sqrt(K[1, 1] * K[2, 2])
    return K


def fail(*arguments):
    raise np.linalg.LinAlgError("the combined kernel is not positive semi-definite")


@pytest.fixture
def sources(rng):
    Z = rng.normal(size=(2, 90, 1))
    grams = np.exp(-((Z - Z.transpose(0, 2, 1)) ** 2))
    return {"signal": grams[0], "noise": grams[1]}, np.where(Z[0, :, 0] > 0, 1, -1)


@pytest.fixture
def flawed(sources):
    kernels, y = sources
    return KernelBundle(kernels | {"signal": with_hidden_flaw(kernels["signal"])}), y


def test_the_flaw_is_hidden_from_the_first_look(flawed):
    K = flawed[0].block("signal")
    assert look_like_grams(K[np.newaxis])
    order = np.roll(np.arange(90), -1)
    order[[1, 3]] = order[[3, 1]]  # samples 1 and 2 come where it looks
    assert not look_like_grams(K[np.newaxis, order[:, np.newaxis], order])


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier("precomputed", regularizer="lp"),
        MKLClassifier("precomputed", loss="squared_hinge", regularizer="uniform", C=1e4),
        MKLClassifierCV("precomputed"),
        MKLClassifier("precomputed", regularizer="wedge"),  # solved on mixtures of kernels
        ProbabilisticMKLClassifier("precomputed"),
        BayesianMKLClassifier("precomputed"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_refuse_a_kernel_in_use_by_name(model, flawed):
    with pytest.raises(ValueError, match=FOUND):
        model.fit(*flawed)
    assert not hasattr(model, "weights_")


def test_paths_and_kernel_sets_refuse_it_too(flawed):
    K, y = flawed
    with pytest.raises(ValueError, match=FOUND):
        mkl_path(MKLClassifier("precomputed", regularizer="lp"), K, y, Cs=3)
    with pytest.raises(ValueError, match=FOUND):
        PrecomputedKernels().fit(K)
    with pytest.raises(ValueError, match=FOUND):
        list(PrecomputedKernels().fit_grams(K))


def test_paths_refuse_a_kernel_in_use_though_the_solver_does_not_fail(flawed):
    K, y = flawed
    trusting = MKLClassifier(PrecomputedKernels(check_psd=False), regularizer="lp")
    path = mkl_path(trusting, K, y, Cs=[0.05, 0.1])  # so strong that the flaw does not show
    assert np.all(path.weights[:, 0] > 0)
    with pytest.raises(ValueError, match=FOUND):
        mkl_path(MKLClassifier("precomputed", regularizer="lp"), K, y, Cs=[0.05, 0.1])


@pytest.mark.parametrize("step", ["_ready", "_make_solver"])
def test_paths_name_the_kernel_on_which_a_rule_or_a_solver_fails(step, flawed, monkeypatch):
    monkeypatch.setattr(MKLClassifier, step, fail)
    with pytest.raises(ValueError, match=FOUND):
        mkl_path(MKLClassifier("precomputed"), *flawed, Cs=[0.1])


def test_what_is_not_asked_for_is_not_tested(flawed, sources):
    kernels, y = sources
    PrecomputedKernels(check_psd=False).fit(flawed[0])
    idle = KernelBundle(kernels | {"noise": with_hidden_flaw(kernels["noise"])})
    model = MKLClassifier("precomputed", regularizer="lp", C=0.1).fit(idle, y)
    assert model.weights_[1] == 0.0


def test_a_kernel_that_gets_no_weight_because_it_is_indefinite_is_refused(sources):
    kernels, y = sources
    s = np.where(np.arange(90) % 3, y, 0.0)  # not on the samples first looked at
    K = np.eye(90) - 0.05 * np.outer(s, s)  # negative along the labels: no weight can pay
    flawed = KernelBundle(kernels | {"noise": K})
    assert look_like_grams(K[np.newaxis])
    model = MKLClassifier("precomputed", regularizer="lp", C=0.1)
    with pytest.raises(ValueError, match="'noise' must be positive semi-definite"):
        model.fit(flawed, y)
    trusting = MKLClassifier(PrecomputedKernels(check_psd=False), regularizer="lp", C=0.1)
    assert trusting.fit(flawed, y).weights_[1] == 0.0


def test_the_first_look_sees_entries_far_above_the_diagonal_anywhere(sources):
    K = sources[0]["signal"].copy()
    assert look_like_grams(K[np.newaxis])
    K[1, 2] = K[2, 1] = 200.0
    assert look_like_grams(K[np.newaxis], definite=False)
    assert not look_like_grams(K[np.newaxis])


@given(
    n=integers(1, 80), rank=integers(1, 90), power=integers(-12, 12), seed=integers(0, 2**31),
    single=booleans(),
)  # fmt: skip
def test_the_first_look_passes_whatever_is_semi_definite(n, rank, power, seed, single):
    Z = np.random.default_rng(seed).normal(size=(2, n, rank)) * 10.0**power
    Z[1, : n // 2] = 0.0  # samples at the origin
    K = Z @ Z.transpose(0, 2, 1)
    assert look_like_grams((K + K.transpose(0, 2, 1)).astype("float32" if single else "float64"))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_first_look_passes_kernels_that_its_vector_does_not_see(rank, rng):
    v = _random_vector(np.empty((40, 40)))
    Z = rng.normal(size=(20, 40, rank))
    Z -= v[:, np.newaxis] * (v @ Z)[:, np.newaxis] / (v @ v)  # so that K v is rounding
    assert look_like_grams(Z @ Z.transpose(0, 2, 1))


def test_zero_kernels_are_in_doubt_at_the_first_look_and_pass_the_second():
    assert not look_like_grams(np.zeros((1, 9, 9)))
    PrecomputedKernels(normalize=None).fit(KernelBundle({"zero": np.zeros((9, 9))}))


def test_a_solver_that_fails_on_an_indefinite_kernel_says_which_it_is(flawed, monkeypatch):
    monkeypatch.setattr(MKLClassifier, "_solve", fail)
    with pytest.raises(ValueError, match=FOUND):
        MKLClassifier("precomputed").fit(*flawed)


def test_kernels_are_tested_on_all_samples_once(sources, monkeypatch):
    kernels, y = sources
    tested = []
    module = "multikernel.kernels.precomputed.check_semidefinite"
    monkeypatch.setattr(module, lambda K, name: tested.append((len(K), name)))
    MKLClassifier("precomputed", regularizer="lp", C=0.1).fit(KernelBundle(kernels), y)
    assert tested == [(90, "signal")]
    few = KernelBundle({name: K[:60, :60] for name, K in kernels.items()})
    MKLClassifier("precomputed", regularizer="lp", C=0.1).fit(few, y[:60])
    assert tested == [(90, "signal")]  # of so few, all were looked at first
