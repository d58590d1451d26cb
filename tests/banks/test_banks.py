"""Every bank answers the four sweeps as the square matrices would."""

import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from multikernel import _memory
from multikernel._gram_stack import GramStack
from multikernel.banks import AtomBank, FactoredBank, PackedBank, _tiles, packed


def random_factors(rng, n, M, rank=3):
    return [rng.normal(size=(n, 1 + (m + rank) % rank)) for m in range(M)]


def bank_of_parts(grams, n_parts=4):
    """Samples shuffled over parts, however small."""
    n = grams.shape[1]
    parts = np.array_split(np.random.default_rng(3).permutation(n), min(n, n_parts))
    with mock.patch.object(packed, "_MIN_TILE", 0):
        bank = PackedBank(n, len(grams), parts=parts)
    for m, K in enumerate(grams):
        bank.set_kernel(m, K)
    return bank, parts


def make_bank(kind, factors):
    grams = np.stack([Z @ Z.T for Z in factors])
    if kind == "packed":
        return PackedBank.from_grams(grams), grams, 1e-12
    if kind == "float32":
        rounded = grams.astype(np.float32).astype(np.float64)
        return PackedBank.from_grams(grams, dtype=np.float32), rounded, 1e-12
    if kind == "parts":
        return bank_of_parts(grams)[0], grams, 1e-12
    if kind == "factored":
        return FactoredBank(factors), grams, 1e-12
    T = np.random.default_rng(7).random((4, len(factors)))
    return AtomBank(PackedBank.from_grams(grams), T), np.tensordot(T, grams, axes=1), 1e-12


KINDS = ["packed", "parts", "float32", "factored", "atoms"]


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 80), M=st.integers(1, 9), T=st.integers(1, 3), seed=st.integers(0, 99))
def test_sweeps_equal_the_square_matrices(kind, n, M, T, seed):
    rng = np.random.default_rng(seed)
    bank, grams, tol = make_bank(kind, random_factors(rng, n, M))
    A = rng.normal(size=(n, T))
    d = rng.random(bank.n_kernels) * (rng.random(bank.n_kernels) < 0.6)
    S = A @ A.T
    scale = tol * np.abs(grams).max() * (1 + np.abs(S).sum()) * n
    assert_allclose(bank.combine(d), np.tensordot(d, grams, axes=1), atol=scale)
    assert_allclose(bank.apply(A), grams @ A, atol=scale)
    some = np.flatnonzero(rng.random(bank.n_kernels) < 0.5)
    assert_allclose(bank.apply(A, some), grams[some] @ A, atol=scale)
    places = rng.permutation(n)[: 1 + n // 3]
    A[places] = 0.0
    assert_allclose(bank.apply_at(places, A, some), (grams[some] @ A)[:, places], atol=scale)
    A = rng.normal(size=(n, T))
    S = A @ A.T
    assert_allclose(bank.mean_diagonals(), np.einsum("mii->m", grams) / n, atol=scale)
    assert_allclose(bank.traces(S), np.einsum("mij,ij->m", grams, S), atol=scale)
    assert_allclose(bank.traces(np.stack([S, 2 * S]))[1], 2 * bank.traces(S), atol=scale)
    assert_allclose(bank.quadratic(A), np.einsum("it,mij,jt->m", A, grams, A), atol=scale)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 80), M=st.integers(1, 9), T=st.integers(1, 3), seed=st.integers(0, 99))
def test_sums_over_kernels_equal_those_of_the_square_matrices(kind, n, M, T, seed):
    rng = np.random.default_rng(seed)
    bank, grams, tol = make_bank(kind, random_factors(rng, n, M))
    V = rng.normal(size=(bank.n_kernels, n, T))
    scale = tol * n * len(grams) * (1 + np.abs(grams).max())
    assert_allclose(bank.weighted_apply(V), np.einsum("mij,mjt->it", grams, V), atol=scale)
    squares = np.einsum("mij,mjk->ik", grams, grams)
    assert_allclose(bank.square_sum(), squares, atol=scale * np.abs(grams).max())
    some = np.flatnonzero(rng.random(bank.n_kernels) < 0.5)
    squares = np.einsum("mij,mjk->ik", grams[some], grams[some])
    assert_allclose(bank.square_sum(some), squares, atol=scale * np.abs(grams).max())


def test_sums_over_kernels_are_single_passes(rng):
    for kind in ("packed", "factored"):
        bank, _, _ = make_bank(kind, random_factors(rng, 20, 10))
        bank.weighted_apply(np.ones((10, 20, 2)))
        assert bank.n_passes == 1.0
        bank.square_sum()
        assert bank.n_passes == pytest.approx(2.0)


@pytest.mark.parametrize("kind", KINDS)
def test_select_and_take(kind, rng):
    bank, grams, _ = make_bank(kind, random_factors(rng, 70, 8))
    kernels, samples = np.array([0, 3, 2]), rng.permutation(70)[:40]
    d = np.array([1.0, 2.0, 0.5])
    assert_allclose(
        bank.select(kernels).combine(d), np.tensordot(d, grams[kernels], axes=1), atol=1e-9
    )
    part = bank.take(samples)
    whole = np.ones(bank.n_kernels)
    assert_allclose(part.combine(whole), bank.combine(whole)[np.ix_(samples, samples)], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_may_be_taken_more_than_once(kind, rng):
    bank, grams, _ = make_bank(kind, random_factors(rng, 30, 5))
    samples = rng.integers(0, 30, 40)
    d = rng.random(bank.n_kernels)
    expected = np.tensordot(d, grams, axes=1)[np.ix_(samples, samples)]
    assert_allclose(bank.take(samples).combine(d), expected, atol=1e-9)


def test_empty_parts_are_left_out(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 9, 20)])
    parts = [np.arange(4), np.arange(0), np.arange(4, 9)]
    with mock.patch.object(packed, "_MIN_TILE", 0):
        bank = PackedBank(9, 20, parts=parts)
    for m, K in enumerate(grams):
        bank.set_kernel(m, K)
    a = rng.normal(size=(5, 1))
    (G,) = bank.shared([parts[0], parts[2]]).quadratic([1], [a])
    assert_allclose(G, np.einsum("it,mij,jt->m", a, grams[:, 4:, 4:], a))


def test_whole_parts_are_taken_without_a_copy(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 90, 6)])
    bank, parts = bank_of_parts(grams)
    samples = np.sort(np.concatenate([parts[0], parts[2], parts[3]]))
    for chosen in (samples, bank.best_order(samples), rng.permutation(samples)):
        part = bank.take(chosen)
        assert all(any(np.shares_memory(t, own) for own in bank._tiles) for t in part._tiles)
        assert_allclose(part.gram(4), grams[4][np.ix_(chosen, chosen)])
    assert not np.shares_memory(bank.take(samples[1:])._tiles[-1], bank._tiles[-1])


def test_a_sample_in_place_of_another_is_no_whole_part(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 96, 2)])
    bank = PackedBank.from_grams(grams)
    samples = np.arange(96)
    samples[5] = 4  # of the same run, so that its number of samples stays
    assert_allclose(bank.take(samples).gram(1), grams[1][np.ix_(samples, samples)])


def test_parts_weigh_samples_as_they_are(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 50, 3)])
    s = rng.random(50)
    expected = np.einsum("i,mij,j->m", s**2, grams**2, s**2)
    assert_allclose(bank_of_parts(grams)[0].square_norms(s), expected)


def test_banks_travel_as_one_array(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 70, 4)])
    bank, parts = bank_of_parts(grams)
    whole = bank.__getstate__()["_tiles"]
    assert whole.nbytes == bank.nbytes
    for sent in (bank, bank.take(np.sort(parts[1])), bank.select([0, 2])):
        got = pickle.loads(pickle.dumps(sent))
        assert got.n_samples == sent.n_samples
        assert_allclose(got.gram(1), sent.gram(1))


def test_the_best_order_of_samples_is_that_of_the_tiles(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 60, 2)])
    bank, parts = bank_of_parts(grams)
    ordered = bank.best_order(np.sort(np.concatenate(parts[1:])))
    assert ordered.tolist() == np.concatenate(parts[1:]).tolist()
    assert bank.take(ordered)._order is None
    atoms = AtomBank(bank, np.eye(2))
    assert atoms.best_order(np.arange(60)).tolist() == np.concatenate(parts).tolist()


def test_parts_too_small_or_too_many_are_ignored():
    halves = np.split(np.arange(100)[::-1], 2)
    assert PackedBank(100, 10, parts=halves)._order is None
    assert PackedBank(100, 100, parts=halves)._order is not None
    many = np.array_split(np.arange(330)[::-1], 33)
    assert PackedBank(330, 700, "float32", many)._order is None
    fewer = [*many[:-2], np.concatenate(many[-2:])]
    assert PackedBank(330, 700, "float32", fewer)._order is not None


def test_products_at_some_samples_read_only_their_tiles(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 80, 3)])
    bank, parts = bank_of_parts(grams)
    A = rng.normal(size=(80, 1))
    A[parts[1]] = 0.0
    bank.apply_at(parts[1], A, np.arange(3))
    assert bank.n_passes == pytest.approx(3 / 10)  # of ten tiles, those beside the part


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_kernels_with_gaps_are_swept_in_pieces_of_any_size(n_outputs, rng):
    bank, grams, _ = make_bank("packed", random_factors(rng, 70, 12))
    A = rng.normal(size=(70, n_outputs))
    kernels = np.array([0, 1, 2, 5, 6, 9])
    for cache in (1, 8 * 35**2 * 2, 1 << 20):
        with mock.patch.object(_tiles, "_CACHE_BYTES", cache):
            assert_allclose(bank.apply(A, kernels), grams[kernels] @ A, atol=1e-9)


def test_evenly_spaced_kernels_are_selected_without_a_copy(rng):
    bank, _, _ = make_bank("packed", random_factors(rng, 10, 8))
    view = bank.select([1, 3, 5])
    bank.set_kernel(3, np.zeros((10, 10)))
    assert_allclose(view.combine(np.array([0.0, 1.0, 0.0])), 0.0)


def test_passes_are_counted_by_the_kernels_read(rng, monkeypatch):
    monkeypatch.setattr(_tiles, "_BRIDGED_BYTES", 0)
    bank, _, _ = make_bank("packed", random_factors(rng, 20, 10))
    bank.quadratic(np.ones((20, 1)))
    assert bank.n_passes == 1.0
    d = np.zeros(10)
    d[[0, 9]] = 1.0
    bank.combine(d)
    assert bank.n_passes == pytest.approx(1.2)
    bank.apply(np.ones((20, 1)), np.array([4]))
    assert bank.n_passes == pytest.approx(1.3)


def test_small_kernels_between_others_are_read_rather_than_skipped():
    small, large = np.empty((9, 20, 20)), np.empty((9, 200, 200))
    assert _tiles.runs_of(np.array([0, 1, 8]), small) == [range(9)]
    assert _tiles.runs_of(np.array([0, 1, 8]), large) == [range(2), range(8, 9)]
    assert _tiles.runs_of(np.array([], dtype=np.intp), small) == []


@pytest.mark.parametrize("n_parts", [1, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_kernels_are_stored_in_any_order_and_number(n_parts, dtype, rng, monkeypatch):
    monkeypatch.setattr(packed, "_MIN_TILE", 0)
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 70, 7)])
    parts = np.array_split(rng.permutation(70), n_parts)
    for order in ([[2, 3, 4], [6, 0], [5], [1]], [list(range(7))]):
        bank = PackedBank(70, 7, dtype, parts)
        bank.set_kernels(GramStack(np.array(ms), grams[ms]) for ms in order)
        for m in range(7):
            assert_allclose(bank.gram(m), grams[m], rtol=1e-6)


@pytest.mark.parametrize("given", ["float64", "float32"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_parts", [1, 4])
def test_kernels_are_shifted_and_scaled_as_they_are_stored(n_parts, dtype, given, rng, monkeypatch):
    monkeypatch.setattr(packed, "_MIN_TILE", 0)
    Ks = np.stack([Z @ Z.T for Z in random_factors(rng, 70, 5)]).astype(given)
    before, s, u, f = Ks.copy(), rng.normal(size=(5, 70)), rng.random((5, 70)), rng.random(5)
    expected = f[:, None, None] * u[:, :, None] * u[:, None] * (Ks - s[:, :, None] - s[:, None])
    stack = GramStack(np.arange(5), Ks, s, u, f)
    assert_allclose(stack.formed(), expected, rtol=1e-12)
    kept = rng.permutation(70)[:40]
    assert_allclose(stack.take(kept).formed(), expected[:, kept[:, None], kept], rtol=1e-12)
    bank = PackedBank(70, 5, dtype, np.array_split(rng.permutation(70), n_parts))
    bank.set_kernels([GramStack(*(part[[3, 1]] for part in stack)), stack])
    assert_allclose([bank.gram(m) for m in range(5)], expected, rtol=1e-6, atol=1e-6)
    assert (Ks == before).all()


@pytest.mark.parametrize("n_parts", [1, 4])
def test_shifts_are_taken_in_double_precision(n_parts, rng, monkeypatch):
    monkeypatch.setattr(packed, "_MIN_TILE", 0)
    small = rng.normal(size=(40, 40))
    small += small.T
    stack = GramStack(np.array([0]), small[None] + 2e6, np.full((1, 40), 1e6))
    bank = PackedBank(40, 1, "float32", np.array_split(rng.permutation(40), n_parts))
    bank.set_kernels([stack])
    assert_allclose(bank.gram(0), small, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n", [32, 33, 511, 512])
def test_products_of_tiles_of_any_width(n, n_outputs, rng):
    T, A = rng.normal(size=(3, n + 1, n)), rng.normal(size=(n + 1, n_outputs))
    assert_allclose(_tiles.times(T, A[1:]), T @ A[1:], rtol=1e-9, atol=1e-9)
    assert_allclose(_tiles.transposed_times(T, A), T.transpose(0, 2, 1) @ A, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [63, 64, 300])
def test_forms_of_narrow_and_wide_tiles(n, rng):
    T, a, b = rng.normal(size=(5, n, n)), rng.normal(size=n), rng.normal(size=n)
    expected = np.einsum("mij,i,j->m", T, a, b)
    assert_allclose(_tiles.forms(T.reshape(5, -1), a, b), expected, rtol=1e-9)


def test_a_rough_bank_sums_in_single_precision(rng):
    grams = np.stack([Z @ Z.T for Z in random_factors(rng, 70, 6)])
    bank, parts = bank_of_parts(grams)
    rough, alpha, d = bank.rough(), rng.normal(size=(70, 1)), rng.random(6)
    kept = np.concatenate(parts[1:])
    some = kept[::2]  # which is no view
    for exact, fast in [(bank, rough)] + [(bank.take(i), rough.take(i)) for i in (kept, some)]:
        a = 1e30 * alpha[: exact.n_samples]
        assert fast.rounding > exact.rounding
        for name, argument in (("combine", d), ("apply", a), ("quadratic", a)):
            one, other = getattr(exact, name)(argument), getattr(fast, name)(argument)
            assert other.dtype == np.float64
            assert_allclose(other, one, rtol=1e-5, atol=1e-5 * np.abs(one).max())
            assert np.any(other != one)
        assert exact.combine_roughly(d).dtype == np.float64
        assert_allclose(fast.combine_roughly(d).entries, fast.combine(d), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e-19, 1e19, 1e30, 1e290])
def test_sums_that_single_precision_cannot_hold_are_double(size):
    bank = PackedBank.from_grams([1e-11 * np.eye(3), 1e11 * np.eye(3)]).rough()
    for d in (np.array([size, 0.0]), np.array([0.0, size])):
        expected = (d @ [1e-11, 1e11]) * np.ones((3, 1))
        assert_allclose(bank.combine_roughly(d) @ np.ones((3, 1)), expected, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    "kernels",
    [range(0, 20), range(3, 20, 4), [7], [0, 1, 2, 3, 4, 9, 10, 11, 12], [0, 5, 6, 19], [], [3, 1]],
)
def test_chunks_of_kernels_are_those_asked_for(kernels, size):
    kernels = np.array(list(kernels), dtype=np.intp)
    parts, chosen = zip(*_tiles.chunks(kernels, size), strict=True) if len(kernels) else ((), ())
    every = np.arange(20)
    found = [every[index].tolist() for index in chosen]
    assert [kernels[part].tolist() for part in parts] == found
    assert [m for part in found for m in part] == kernels.tolist()
    assert all(len(part) <= size for part in found)


def test_a_bank_without_room_for_a_copy_is_not_made_rough(rng, monkeypatch):
    bank, _, _ = make_bank("packed", random_factors(rng, 20, 3))
    assert bank.rough() is not bank
    assert bank.select([0, 2]).rough().n_kernels == 2  # a view of some kernels stays as it is
    assert bank.rough().rough().dtype == np.float32
    for size in (1e-13, 1e13):  # squares of their entries do not fit
        odd = PackedBank.from_grams([np.eye(3), np.zeros((3, 3)), size * np.eye(3)])
        assert odd.rough() is odd
    monkeypatch.setattr(packed, "available_memory", lambda: 0.0)
    assert bank.rough() is bank


def test_a_bank_of_factors_forms_no_square_matrix(rng):
    Z = rng.normal(size=(100_000, 1))
    assert_allclose(FactoredBank([Z]).mean_diagonals(), np.mean(Z**2))


def test_float32_sums_in_float64(rng):
    n = 300
    K = (1.0 + 1e-3 * np.eye(n)).astype(np.float32)
    alpha = rng.normal(size=(n, 1))
    alpha -= alpha.mean()
    exact = float((alpha.T @ K.astype(np.float64) @ alpha)[0, 0])
    assert_allclose(
        PackedBank.from_grams([K], dtype=np.float32).quadratic(alpha)[0], exact, rtol=1e-9
    )


def test_an_entry_that_float32_cannot_hold_is_named():
    grams = np.stack([np.eye(5), 1e39 * np.eye(5)])
    named = r"^Kernel 1 has an entry of size 1e\+39, but dtype='float32' holds "
    with pytest.raises(ValueError, match=named):
        PackedBank.from_grams(grams, dtype=np.float32)


def test_packed_storage_is_near_half_the_square(rng):
    bank = PackedBank(512, 3)
    assert bank.nbytes <= 0.57 * 3 * 512**2 * 8


def test_memory_is_checked_before_it_is_allocated(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 1e9)
    with pytest.raises(
        MemoryError, match=r"20 kernels × 50,000² × 8 B.* need 225 GB.*but 1 GB are free"
    ):
        PackedBank(50_000, 20)
