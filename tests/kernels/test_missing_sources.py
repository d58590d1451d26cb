"""Samples that lack a whole source: kernels of those who have it, and zeros for the others."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse

from multikernel.kernels import (
    RBF,
    Cosine,
    ExpDistance,
    FunctionKernel,
    KernelBundle,
    KernelSet,
    Linear,
    PrecomputedKernels,
    Spectrum,
    ViewBundle,
)
from multikernel.kernels.normalize import NORMALIZERS

N, N_QUERIES = 24, 9
FAMILIES = [Linear(), RBF([0.5, 2.0])]
NORMALIZATIONS = [None if name == "none" else name for name in NORMALIZERS]


def draw(seed, n, none_has=()):
    """Two views and masks; views of samples that lack them hold NaN, never to be read."""
    rng = np.random.default_rng(seed)
    blocks = {"rna": rng.normal(1.0, 1.0, size=(n, 4)), "mri": rng.normal(size=(n, 3))}
    present = {"rna": rng.uniform(size=n) < 0.6, "mri": rng.uniform(size=n) < 0.8}
    for name in blocks:
        if name in none_has:
            present[name][:] = False
        blocks[name][~present[name]] = np.nan
    return ViewBundle(blocks, present)


def put(K, rows, columns):
    """A matrix with K in some rows and columns and zeros elsewhere."""
    out = np.zeros((len(rows), len(columns)))
    out[np.ix_(rows, columns)] = K
    return out


def oracle(X, Z, normalize, families=FAMILIES, sample_weight=None):
    """Training and query kernels, and those among the queries, source by source on its samples."""
    Ks, cross, among = [], [], []
    for name in X.names:
        have, ask = X.has(name), Z.has(name)
        weight = None if sample_weight is None else sample_weight[have]
        kernels = KernelSet(None, families, normalize)
        grams = dict(kernels.fit_grams(X.block(name)[have], sample_weight=weight))
        queries = Z.block(name)[ask]
        between = dict(kernels.cross(queries)) if ask.any() else {}
        own = dict(kernels.among(queries)) if ask.any() else {}
        for m in range(kernels.n_kernels_):
            Ks.append(put(grams[m], have, have))
            cross.append(put(between.get(m, 0), ask, have))
            among.append(put(own.get(m, 0), ask, ask))
    return np.array(Ks), np.array(cross), np.array(among)


def collect(stream):
    found = dict(stream)
    return np.array([found[m] for m in range(len(found))])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_kernels_are_those_of_the_samples_that_have_the_source(normalize, weighted):
    X, Z = draw(0, N), draw(1, N_QUERIES)
    weight = np.random.default_rng(2).integers(0, 4, size=N) if weighted else None
    Ks, cross, among = oracle(X, Z, normalize, sample_weight=weight)
    kernels = KernelSet(None, FAMILIES, normalize)
    assert_allclose(collect(kernels.fit_grams(X, sample_weight=weight)), Ks, atol=1e-12)
    assert_allclose(collect(kernels.cross(Z)), cross, atol=1e-12)
    assert_allclose(collect(kernels.among(Z)), among, atol=1e-12)
    diagonals = np.diagonal(among, axis1=1, axis2=2)
    assert_allclose(collect(kernels.diag(Z)), diagonals, atol=1e-12)
    assert min(np.linalg.eigvalsh(K)[0] for K in Ks) > -1e-10


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_the_predictor_is_the_sum_over_the_sources_at_hand(normalize):
    X, Z = draw(0, N), draw(1, N_QUERIES)
    _, cross, _ = oracle(X, Z, normalize)
    rng = np.random.default_rng(3)
    d, A = rng.uniform(size=len(cross)), rng.normal(size=(N, 2))
    expected = np.einsum("m,mij,jt->itm", d, cross, A)
    kernels = KernelSet(None, FAMILIES, normalize).fit(X)
    parts = kernels.cross_combine(Z, d, A, contributions=True, block_size=4)
    assert_allclose(parts, expected, atol=1e-11)
    assert_allclose(kernels.cross_combine(Z, d, A), expected.sum(axis=2), atol=1e-11)
    for name, kernel in (("rna", slice(0, 3)), ("mri", slice(3, 6))):
        assert np.all(parts[~Z.has(name)][:, :, kernel] == 0)
        assert np.all(parts[Z.has(name)][:, :, kernel] != 0)


@pytest.mark.parametrize("zero_sum", [False, True])
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_restricted_kernels_predict_the_same(normalize, zero_sum):
    X, Z = draw(0, N), draw(1, N_QUERIES)
    rng = np.random.default_rng(3)
    a = rng.normal(size=N) * (np.arange(N) % 3 == 0)
    a[a != 0] -= zero_sum * a[a != 0].mean()
    d = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.5])
    kernels = KernelSet(None, FAMILIES, normalize).fit(X)
    small = kernels.restrict(*kernels.needed(d, a))
    smaller = small.restrict(*small.needed(d, a))
    expected = kernels.cross_combine(Z, d, a)
    for other in (small, smaller, pickle.loads(pickle.dumps(small))):
        assert_allclose(other.cross_combine(Z, d, a), expected, atol=1e-12)
    if normalize is None:
        support = (a != 0) & X.present.any(axis=1)
        assert_array_equal(small.samples_, np.flatnonzero(support))


def test_restriction_to_too_few_samples_is_refused():
    X, Z = draw(0, N), draw(1, N_QUERIES)
    kernels = KernelSet(None, Linear()).fit(X)
    support = np.flatnonzero(X.has("rna") & X.has("mri"))[:2]
    a = np.zeros(N)
    a[support] = [1.0, -1.0]
    small = kernels.restrict(support, [0, 1])
    d = np.ones(2)
    assert_allclose(small.cross_combine(Z, d, a), kernels.cross_combine(Z, d, a), atol=1e-12)
    a[support[1]] = 0.5  # now the means are needed
    with pytest.raises(ValueError, match="dropped by restrict"):
        small.cross_combine(Z, d, a)


def test_coefficients_only_where_a_source_is_absent_give_zero():
    X, Z = draw(0, N), draw(1, N_QUERIES)
    a = np.where(X.has("rna"), 0.0, 1.0)
    kernels = KernelSet({"rna": (None, RBF())}).fit(X)
    small = kernels.restrict(*kernels.needed(np.ones(1), a))
    for part in (kernels, small):
        assert np.all(part.cross_combine(Z, np.ones(1), a) == 0)


def test_a_source_that_no_query_has_contributes_nothing():
    X, Z = draw(0, N), draw(1, N_QUERIES)
    d, a = np.ones(6), np.random.default_rng(0).normal(size=N)
    for normalize in NORMALIZATIONS:
        kernels = KernelSet(None, FAMILIES, normalize).fit(X)
        parts = kernels.cross_combine(Z, d, a, contributions=True)
        without = kernels.cross_combine(Z.with_absent("rna"), d, a, contributions=True)
        assert np.all(without[:, :3] == 0)
        assert_allclose(without[:, 3:], parts[:, 3:], atol=1e-12)
        only = Z.select(["mri"]).with_absent(["rna"])
        assert_allclose(kernels.cross_combine(only, d, a, contributions=True), without)
        for stream in (kernels.cross(only), kernels.diag(only), kernels.among(only)):
            assert all(not K.any() for m, K in stream if m < 3)
        nothing = Z.with_absent(["rna", "mri"])
        assert np.all(kernels.cross_combine(nothing, d, a) == 0)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.permutations(range(N)))
def test_the_order_of_samples_does_not_matter(seed, order):
    X, Z = draw(seed % 7, N), draw(seed, N_QUERIES)
    kernels, permuted = KernelSet(None, FAMILIES), KernelSet(None, FAMILIES)
    Ks, Qs = collect(kernels.fit_grams(X)), collect(permuted.fit_grams(X[np.array(order)]))
    assert_allclose(Qs, Ks[:, order][:, :, order], atol=1e-12)
    assert_allclose(collect(permuted.cross(Z)), collect(kernels.cross(Z))[:, :, order], atol=1e-12)


def test_masks_of_true_are_no_masks():
    blocks = {"rna": np.random.default_rng(0).normal(size=(10, 3)), "mri": np.eye(10)}
    everyone = {name: np.ones(10, dtype=bool) for name in blocks}
    plain, masked = KernelSet(None, FAMILIES), KernelSet(None, FAMILIES)
    Ks = collect(plain.fit_grams(ViewBundle(blocks)))
    assert_array_equal(collect(masked.fit_grams(ViewBundle(blocks, everyone))), Ks)
    assert masked.present_ == {}
    assert repr(ViewBundle(blocks, everyone)) == "ViewBundle(10 samples: rna, mri)"


def test_factors_give_the_grams():
    rng = np.random.default_rng(0)
    X = ViewBundle({"a": rng.normal(size=(80, 2)), "b": rng.normal(size=(80, 3))})
    X = ViewBundle({n: X.block(n) for n in X.names}, {"b": rng.uniform(size=80) < 0.5})
    for normalize in NORMALIZATIONS:
        Ks = collect(KernelSet(None, Linear(), normalize).fit_grams(X))
        kernels = KernelSet(None, Linear(), normalize)
        factors = kernels.fit_factors(X)
        assert_allclose([F @ F.T for F in factors], Ks, atol=1e-12)
        a = rng.normal(size=80)
        expected = np.einsum("mij,j->i", Ks, a)
        assert_allclose(kernels.cross_combine(X, np.ones(2), a), expected, atol=1e-10)


def test_sparse_blocks_strings_and_raw_rows():
    rng = np.random.default_rng(0)
    has = np.arange(8) % 3 > 0
    words = np.array(["GATTACA", "", "TACGAT", "CATTAG", "", "GATGAT", "TTAGG", ""], dtype=object)
    words[~has] = None
    X = ViewBundle(
        {"dna": words, "counts": csr_array(rng.poisson(1.0, size=(8, 5)).astype(float))},
        {"dna": has, "counts": ~has | (np.arange(8) == 1)},
    )
    same_end = FunctionKernel(
        lambda A, B: np.equal.outer(
            np.array([s[-1:] for s in A]), np.array([s[-1:] for s in B])
        ).astype(float),
        raw=True,
    )
    sources = {"dna": (None, [Spectrum(2), same_end]), "counts": (None, [Cosine(), RBF()])}
    kernels = KernelSet(sources)
    Ks = collect(kernels.fit_grams(X))
    assert_allclose(collect(kernels.cross(X)), Ks, atol=1e-12)
    assert np.all(Ks[:2][:, ~has] == 0)
    assert np.all(np.trace(Ks, axis1=1, axis2=2)[:2] > 0)
    assert np.all(Ks[2:][:, ~X.has("counts")] == 0)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_samples_with_a_source(count):
    present = {"mri": np.arange(N) < count}
    X = ViewBundle({"rna": np.eye(N), "mri": np.eye(N)}, present)
    message = rf"Source 'mri' is present in {count} of {N} training samples.*at least 3"
    with pytest.raises(ValueError, match=message):
        KernelSet().fit(X)
    enough = ViewBundle({"rna": np.eye(N), "mri": np.eye(N)}, {"mri": np.arange(N) < 3})
    KernelSet().fit(enough)
    with pytest.raises(ValueError, match="'mri' is present in 2"):  # one has no weight
        KernelSet().fit(enough, sample_weight=np.arange(N))


def test_two_samples_that_have_everything_are_enough():
    KernelSet().fit(ViewBundle({"rna": np.eye(2)}, {"rna": np.ones(2, dtype=bool)}))


# ----- precomputed kernels


def gram_bundle(X, kind="gram"):
    """Matrices between all samples, with NaN for those who lack the source."""
    matrices = {}
    for name in X.names:
        block = X.block(name)
        D = ((block[:, None] - block) ** 2).sum(axis=2)
        matrices[name] = block @ block.T if kind == "gram" else D
    ids = [f"s{i}" for i in range(len(X))]
    return KernelBundle(matrices, ids=ids, kind=kind, present=X.present)


@pytest.mark.parametrize("kind", ["gram", "distance"])
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_masks_of_precomputed_kernels(normalize, kind):
    X = draw(0, N + N_QUERIES)
    family = Linear() if kind == "gram" else RBF()
    features = KernelSet(None, family, normalize)
    families = None if kind == "gram" else ExpDistance()
    given_kernels = PrecomputedKernels(families, normalize)
    K = gram_bundle(X, kind)
    train, test = np.arange(N) + 3, np.r_[0:3, N + 3 : N + N_QUERIES]
    Ks = collect(features.fit_grams(X[train]))
    assert_allclose(collect(given_kernels.fit_grams(K[train])), Ks, atol=1e-12)
    Z, Q = X[test], pickle.loads(pickle.dumps(K[test]))
    assert_allclose(collect(given_kernels.cross(Q)), collect(features.cross(Z)), atol=1e-12)
    assert_allclose(collect(given_kernels.diag(Q)), collect(features.diag(Z)), atol=1e-12)
    assert_allclose(collect(given_kernels.among(Q)), collect(features.among(Z)), atol=1e-12)
    d, a = np.ones(2), np.random.default_rng(0).normal(size=N)
    small = given_kernels.restrict(*given_kernels.needed(d, a))
    expected = features.cross_combine(Z, d, a)
    assert_allclose(small.cross_combine(Q, d, a), expected, atol=1e-12)
    without = features.cross_combine(Z.with_absent("rna"), d, a)
    assert_allclose(small.cross_combine(Q.with_absent("rna"), d, a), without, atol=1e-12)
    joined = K[test[:2]].append(K[test[2:]])
    assert_allclose(small.cross_combine(joined, d, a), expected, atol=1e-12)


def test_absent_matrices_must_be_named():
    K = KernelBundle({"a": np.eye(6), "b": np.eye(6)})
    only = KernelBundle({"a": np.eye(6)})
    kernels = PrecomputedKernels(normalize=None).fit(K[:4])
    with pytest.raises(ValueError, match="named a, b"):
        list(kernels.cross(only[4:]))
    assert not any(K.any() for m, K in kernels.cross(only.with_absent("b")[4:]) if m == 1)
    assert repr(only.with_absent("b")[4:]) == "KernelBundle(2 samples: a, b (0 of 2))"


@pytest.mark.parametrize("at", ["fit", "cross"])
def test_nan_is_not_taken_for_absence(at):
    K = np.eye(6)
    K[1], K[:, 1] = np.nan, np.nan
    mask = np.arange(6) != 1
    bundle = KernelBundle({"a": K}, ids=list("uvwxyz"))
    kernels = PrecomputedKernels(normalize=None).fit(
        KernelBundle({"a": K}, list("uvwxyz"), present={"a": mask})
    )
    with pytest.raises(ValueError, match=r"'a' contains NaN only for 1 of .* 'v'.*present="):
        kernels.fit(bundle) if at == "fit" else list(kernels.cross(bundle[[1, 2]]))


# ----- bundles


def test_rows_keep_their_masks_and_ids():
    X = ViewBundle(
        {"a": np.arange(5.0)[:, None], "b": np.eye(5)},
        {"b": np.array([True, False, True, True, False])},
        ids=list("vwxyz"),
    )
    assert_array_equal(X[[4, 2]].present, [[True, False], [True, True]])
    assert_array_equal(X[1:4].has("b"), [False, True, True])
    assert X[np.array([True, False, False, False, True])].ids.tolist() == ["v", "z"]
    again = pickle.loads(pickle.dumps(X[[4, 2]]))
    assert_array_equal(again.present, [[True, False], [True, True]])
    assert again.ids.tolist() == ["z", "x"]
    both = X[[4, 2]].append(X[:1])
    assert_array_equal(both.has("b"), [False, True, True])
    assert both.ids.tolist() == ["z", "x", "v"]
    assert_array_equal(both.block("a").ravel(), [4, 2, 0])
    assert repr(X) == "ViewBundle(5 samples: a, b (3 of 5))"
    copied = ViewBundle({n: X.block(n) for n in X.names}, X.present, X.ids)
    assert_array_equal(copied.present, X.present)


@pytest.mark.parametrize(
    "block",
    [np.eye(3, dtype=int), csr_array(np.eye(3)), pd.DataFrame(np.eye(3)), ["AB", "C", "D"]],
    ids=["array", "sparse", "frame", "strings"],
)
@pytest.mark.parametrize("first", [True, False])
def test_append_to_a_bundle_without_the_view(block, first):
    X = ViewBundle({"a": np.eye(3), "b": block})
    Y = ViewBundle({"a": np.eye(2, 3)}).with_absent("b")
    joined = X.append(Y) if first else Y.append(X)
    assert_array_equal(
        joined.has("b"), [True] * 3 + [False] * 2 if first else [False] * 2 + [True] * 3
    )
    assert joined.block("b").shape == (5, *np.shape(block)[1:]) or issparse(block)
    assert_array_equal(joined[joined.has("b")].block("b").shape, X.block("b").shape)


def test_append_names_the_way_out():
    with pytest.raises(ValueError, match="with_absent"):
        ViewBundle({"a": np.eye(3), "b": np.eye(3)}).append(ViewBundle({"a": np.eye(3)}))


def test_summary_counts():
    X = ViewBundle(
        {"a": np.eye(4), "long name": np.eye(4)},
        {"a": np.array([True, True, False, False]), "long name": np.arange(4) < 1},
    )
    counts = X.summary()
    assert (counts.n_samples, counts.n_complete, counts.n_empty) == (4, 1, 2)
    assert counts.n_present == {"a": 2, "long name": 1}
    assert str(X[:2].summary()).splitlines() == [
        "a            2 of 2",
        "long name    1 of 2",
        "all of them  1 of 2",
    ]
    assert "none of them  2 of 4" in str(counts)


@pytest.mark.parametrize(
    ("present", "message"),
    [
        ({"c": np.ones(3, dtype=bool)}, "'c', but the sources are a, b"),
        ({"a": np.ones(2, dtype=bool)}, r"present\['a'\] must be 3 booleans.*\(2,\)"),
        ({"a": np.ones(3)}, "3 booleans.*float64"),
        (np.ones((2, 2), dtype=bool), r"shape \(3, 2\).*got shape \(2, 2\)"),
    ],
)
def test_bad_masks(present, message):
    with pytest.raises(ValueError, match=message):
        ViewBundle({"a": np.eye(3), "b": np.eye(3)}, present)
    with pytest.raises(ValueError, match=message):
        KernelBundle({"a": np.eye(3), "b": np.eye(3)}, present=present)


def test_bad_ids_and_names():
    with pytest.raises(ValueError, match="2 ids for 3 samples"):
        ViewBundle({"a": np.eye(3)}, ids=["x", "y"])
    with pytest.raises(ValueError, match="no view 'z'; there are: a"):
        ViewBundle({"a": np.eye(3)}).select(["z"])


# ----- joining tables


def test_outer_and_inner_join_by_id():
    rna = pd.DataFrame({"g": [1, 2, 3]}, index=["p", "q", "r"])
    mri = (["s", "q"], np.array([[7.0, 8.0], [9.0, 1.0]]))
    dna = (np.array(["q", "p"]), ["GAT", "TAC"])
    X = ViewBundle.align({"rna": rna, "mri": mri, "dna": dna})
    assert X.ids.tolist() == ["p", "q", "r", "s"]
    assert_array_equal(X.present.astype(int), [[1, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]])
    assert X.block("rna")["g"].tolist() == [1, 2, 3, 0]
    assert X.block("rna").index.tolist() == X.ids.tolist()
    assert_array_equal(X.block("mri"), [[0, 0], [9, 1], [0, 0], [7, 8]])
    assert X.block("dna").tolist() == ["TAC", "GAT", "", ""]
    Y = ViewBundle.align({"rna": rna, "mri": mri, "dna": dna}, how="inner")
    assert Y.ids.tolist() == ["q"]
    assert Y.present.all()
    assert_array_equal(Y.block("mri"), [[9, 1]])


def test_join_of_other_blocks():
    sparse = csr_array(np.array([[1, 0], [0, 2]]))
    frame = pl.DataFrame({"x": [1.5, 2.5], "s": ["u", "v"]})
    labelled = pd.DataFrame({"t": ["a", None], "n": [np.nan, 1.0]}, index=[5, 3])
    X = ViewBundle.align({"sp": ([3, 1], sparse), "po": ([1, 2], frame), "pa": labelled})
    assert X.ids.tolist() == [3, 1, 2, 5]
    assert_array_equal(X.block("sp").toarray(), [[1, 0], [0, 2], [0, 0], [0, 0]])
    assert X.block("po")["x"].to_list() == [0, 1.5, 2.5, 0]
    assert X.block("po")["s"].to_list() == ["", "u", "v", ""]
    assert X.block("pa")["t"].iloc[3] == "a"
    assert np.isnan(X.block("pa")["n"].iloc[3])  # what is missing in a row that is there stays so
    assert X.block("pa")["n"].iloc[0] == 1.0


def test_join_with_pairs_of_ids_and_mixed_ids():
    index = pd.MultiIndex.from_tuples([("m", 1), ("m", 2)])
    X = ViewBundle.align({"a": pd.DataFrame(np.eye(2), index), "b": ([("m", 2)], np.eye(1))})
    assert X.ids.tolist() == [("m", 1), ("m", 2)]
    assert X.has("b").tolist() == [False, True]
    mixed = ViewBundle.align({"a": ([1, "1"], np.eye(2)), "b": ([1], np.eye(1))})
    assert mixed.ids.tolist() == [1, "1"]


def test_an_empty_table_is_a_source_that_nobody_has():
    columns = pd.DataFrame({"g": [1.0], "h": [2.0]}).iloc[:0]
    X = ViewBundle.align({"a": pd.DataFrame(np.eye(2), index=["p", "q"]), "b": columns})
    assert X.summary().n_present == {"a": 2, "b": 0}
    assert X.block("b").shape == (2, 2)


@pytest.mark.parametrize(
    ("tables", "how", "message"),
    [
        ({"a": (["p", "q", "p"], np.eye(3))}, "outer", "'a' has 2 rows for the sample id 'p'"),
        ({"a": ([None, "q"], np.eye(2))}, "outer", "'a' has a row without a sample id"),
        ({"a": ([np.nan, 1.0], np.eye(2))}, "outer", "'a' has a row without a sample id"),
        ({"a": (["p"], np.eye(2))}, "outer", "'a' has 1 ids for 2 rows"),
        (
            {"a": ([1, 2], np.eye(2)), "b": (["1", "2", "3"], np.eye(3))},
            "outer",
            "'a' shares no sample id with the others: 'a' has 2 rows .first id 1., 'b' has 3 rows "
            ".first id '1'.",
        ),
        (
            {"a": ([1, 2], np.eye(2)), "b": ([2, 3], np.eye(2)), "c": ([3, 1], np.eye(2))},
            "inner",
            "No sample is in all tables: 'a' has 2 rows.*how='outer'",
        ),
        ({"a": ([], np.zeros((0, 2)))}, "outer", "hold no samples"),
        ({"a": ([1], np.eye(1))}, "left", "how must be 'outer'"),
    ],
)
def test_tables_that_cannot_be_joined(tables, how, message):
    with pytest.raises(ValueError, match=message):
        ViewBundle.align(tables, how)


@pytest.mark.parametrize("tables", [{}, [np.eye(2)], {"a": np.eye(2)}])
def test_tables_without_ids(tables):
    with pytest.raises(TypeError, match="ids"):
        ViewBundle.align(tables)


def test_blocks_of_different_lengths_are_shown_the_way():
    with pytest.raises(ValueError, match=r"ViewBundle\.align"):
        ViewBundle({"a": np.eye(3), "b": np.eye(2)})
