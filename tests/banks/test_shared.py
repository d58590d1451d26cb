"""Sweeps that several sets of samples share answer each as a bank of its own would."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from multikernel._linalg import SingleMatrix
from multikernel.banks import FactoredBank, PackedBank, packed, shared


def folds_of(n, M, n_parts, seed, dtype=np.float64):
    """A bank of random kernels whose samples lie in shuffled parts, and the rest of each part."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(M, n, 4)) * rng.uniform(0.5, 2.0, (M, 1, 1))
    parts = np.array_split(rng.permutation(n), n_parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "_MIN_TILE", 0)
        bank = PackedBank(n, M, dtype, parts=parts)
    for m in range(M):
        bank.set_kernel(m, Z[m] @ Z[m].T)
    trains = [bank.best_order(np.setdiff1d(np.arange(n), part)) for part in parts]
    return bank, Z @ Z.transpose(0, 2, 1), trains


def entries(K):
    return K.entries if isinstance(K, SingleMatrix) else K


def check_sweeps(kind, n, M, n_parts, T, seed):
    """Shared sweeps over random folds, against the square matrices."""
    stored = np.float32 if kind == "stored in single" else np.float64
    bank, grams, trains = folds_of(n, M, n_parts, seed, stored)
    bank = bank.rough() if kind == "rough" else bank
    tol = {"double": 1e-12, "rough": 1e-5, "stored in single": 1e-6}[kind] * np.abs(grams).max()
    rng = np.random.default_rng(seed)
    sweeps = bank.shared(trains)
    sets = sorted(rng.integers(0, n_parts, rng.integers(1, 7)).tolist())  # some ask more than once
    As = [rng.normal(size=(len(trains[k]), T)) * 10.0 ** rng.uniform(-9, 9) for k in sets]
    ds = [rng.random(M) * (rng.random(M) < 0.6) for _ in sets]
    some = np.flatnonzero(rng.random(M) < 0.5)
    forms, products, of_some = (
        sweeps.quadratic(sets, As),
        sweeps.apply(sets, As),
        sweeps.apply(sets, As, some),
    )
    for roughly in (False, True):
        for K, k, d in zip(sweeps.combine(sets, ds, roughly), sets, ds, strict=True):
            assert isinstance(K, SingleMatrix) == (kind == "rough" and roughly)
            own = grams[:, trains[k][:, None], trains[k]]
            assert_allclose(entries(K), np.tensordot(d, own, 1), atol=(1 + M) * tol, rtol=0)
    for k, A, G, V, few in zip(sets, As, forms, products, of_some, strict=True):
        own, size = grams[:, trains[k][:, None], trains[k]], np.abs(A).sum()
        assert_allclose(V, own @ A, atol=tol * size, rtol=0)
        assert_allclose(few, (own @ A)[some], atol=tol * size, rtol=0)
        assert_allclose(G, np.einsum("it,mij,jt->m", A, own, A), atol=tol * size**2, rtol=0)


KINDS = ["double", "rough", "stored in single"]


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(6, 90),
    M=st.integers(1, 45),
    n_parts=st.integers(2, 5),
    T=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_shared_sweeps_equal_the_square_matrices(kind, n, M, n_parts, T, seed):
    check_sweeps(kind, n, M, n_parts, T, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_long_runs_are_multiplied_in_another_way(kind):
    check_sweeps(kind, n=640, M=3, n_parts=4, T=2, seed=0)


def test_a_sweep_for_all_folds_is_one_pass(rng):
    bank, _, trains = folds_of(60, 5, 4, 0)
    sweeps, sets = bank.shared(trains), [0, 1, 2, 3]
    As = [rng.normal(size=(len(train), 1)) for train in trains]
    sweeps.quadratic(sets, As)
    assert sweeps.n_passes == 1.0
    sweeps.apply(sets, As)
    assert sweeps.n_passes == 2.0
    sweeps.apply(sets, As, np.array([2]))
    assert sweeps.n_passes == pytest.approx(2.2)
    sweeps.combine(sets, [np.ones(5)] * 4, roughly=True)
    assert sweeps.n_passes == pytest.approx(3.2)


def test_sets_that_cut_through_a_run_or_repeat_samples_are_not_shared(rng):
    bank, _, trains = folds_of(60, 5, 4, 0)
    assert bank.shared(trains[:1]) is not None
    assert bank.shared([trains[0], trains[1][1:]]) is None
    assert bank.shared([trains[0], np.repeat(trains[1], 2)]) is None
    assert bank.shared([trains[0], trains[1][::-1]]) is None
    swapped = trains[1].copy()
    swapped[[0, 1]] = swapped[[1, 0]]  # within a run
    assert bank.shared([trains[0], swapped]) is None
    assert FactoredBank([rng.normal(size=(60, 2))]).shared(trains) is None


@pytest.mark.parametrize("sizes", [(1e-30, 1.0), (1.0, 1e30), (1e-30, 1e30)])
def test_weights_that_single_precision_cannot_hold_give_matrices_in_double(sizes):
    bank, grams, trains = folds_of(60, 5, 4, 0)
    ds = [np.full(5, size) for size in sizes]
    Ks = bank.rough().shared(trains).combine([0, 1], ds, roughly=True)
    for K, train, d in zip(Ks, trains[:2], ds, strict=True):
        assert not isinstance(K, SingleMatrix)
        expected = np.tensordot(d, grams, 1)[np.ix_(train, train)]
        assert_allclose(K, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_answers_at_a_time_take_no_more_memory_than_the_kernels(monkeypatch):
    bank, _, trains = folds_of(60, 200, 4, 0)
    sweeps = bank.shared(trains)
    assert sweeps.most(1) == bank.nbytes // (8 * (60**2 + 6 * 200 * 60)) >= 2
    assert sweeps.most(100) == 0
    monkeypatch.setattr(shared, "available_memory", lambda: 2.0 * bank.nbytes)
    assert sweeps.most(1, n_workers=2) == sweeps.most(1)
    assert sweeps.most(1, n_workers=3) == 0
    monkeypatch.setattr(shared, "available_memory", lambda: bank.nbytes - 1.0)
    assert sweeps.most(1) == 0


def test_runs_of_kernels_without_weight_are_not_read():
    bank, grams, trains = folds_of(400, 6, 2, 0)
    sweeps, d = bank.shared(trains), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    (K,) = sweeps.combine([1], [d], roughly=False)
    assert_allclose(K, grams[2][np.ix_(trains[1], trains[1])], atol=1e-9)
    assert sweeps.n_passes < 0.5


def test_forms_are_never_negative(rng):
    bank, _, trains = folds_of(60, 5, 4, 0)
    bank.set_kernel(2, -np.eye(60))
    (G,) = bank.shared(trains).quadratic([0], [rng.normal(size=(len(trains[0]), 1))])
    assert G[2] == 0.0
    assert np.all(G[[0, 1, 3, 4]] > 0)
