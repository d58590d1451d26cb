"""KernelSet: factors, sharing, column selection, and predictors against the dense formula."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import name_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.metrics.pairwise import rbf_kernel

from multikernel.kernels import (
    RBF,
    Chi2,
    Cosine,
    FunctionKernel,
    KernelBundle,
    KernelSet,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Spectrum,
    ViewBundle,
)

FAMILIES = [Linear(), RBF([0.5, 2.0]), Matern(), Polynomial([2, 3])]


@pytest.fixture(name="X")
def table(rng):
    return rng.normal(size=(30, 6))


def dense(stream):
    """All matrices of a stream, in order."""
    grams = dict(stream)
    return np.stack([grams[m] for m in sorted(grams)])


def test_names_are_the_cross_product_in_order(X):
    kernels = KernelSet({"a": [0, 1], "b": slice(2, 6)}, [RBF([0.5, 2]), "linear"]).fit(X)
    names = ["rbf(width=0.5)", "rbf(width=2)", "linear"]
    assert kernels.names_ == [f"{source}/{name}" for source in "ab" for name in names]


def test_equal_names_are_numbered(X):
    kernels = KernelSet(families=[RBF(1.0), RBF(1.0, scale=None)]).fit(X)
    assert kernels.names_ == ["all/rbf(width=1)", "all/rbf(width=1)#2"]


def test_table_remembers_every_factor(X):
    rows = KernelSet({"a": [0, 1]}, [RBF([0.5, 2]), Linear()]).fit(X).table()
    D = np.sum((X[:, None, :2] - X[:, :2]) ** 2, axis=2)
    median = np.median(D[np.triu_indices(30, 1)])
    assert rows[1]["kernel"] == "a/rbf(width=2)"
    assert (rows[1]["source"], rows[1]["family"], rows[1]["parameter"]) == ("a", "rbf", "width=2")
    assert rows[1]["parameters"] == {"width": 2.0}
    assert_allclose(rows[1]["scale"], median, rtol=1e-10)
    assert_allclose(rows[2]["factor"], 1 / np.sum(X[:, :2].var(axis=0)), rtol=1e-10)


def test_parameters_share_one_distance_matrix(rng):
    """88 views, two families, ten widths: 1,760 kernels from 176 distance matrices."""
    X = rng.random((10, 88 * 2))
    sources = {f"v{i}": slice(2 * i, 2 * i + 2) for i in range(88)}
    widths = list(np.logspace(-1, 1.5, 10))
    kernels = KernelSet(sources, [RBF(widths), Chi2(widths)])
    stream = kernels.fit_grams(X)
    assert kernels.n_kernels_ == 1760
    assert kernels.n_base_computations_ == 0
    assert [m for m, _ in stream] == list(range(1760))
    assert kernels.n_base_computations_ == 176


def test_families_on_the_same_distances_share_them(X):
    kernels = KernelSet(families=[RBF([1, 2]), Linear(), Matern(), Polynomial()]).fit(X)
    assert kernels.n_base_computations_ == 2
    assert kernels.names_[3] == "all/matern(nu=1.5, width=1)"


def test_stream_of_fit_equals_the_stream_afterwards(X):
    kernels = KernelSet(families=FAMILIES)
    assert_array_equal(dense(kernels.fit_grams(X)), dense(kernels.grams()))


def test_each_gram_may_be_modified(X):
    kernels = KernelSet(families=FAMILIES, normalize=None)
    expected = dense(kernels.fit_grams(X))
    for _, K in kernels.grams():
        K[:] = np.nan
    assert_array_equal(dense(kernels.grams()), expected)


def test_default_families(X):
    kernels = KernelSet().fit(X)
    assert kernels.names_ == ["all/linear", *(f"all/rbf(width={w})" for w in ("0.25", "1", "4"))]


@pytest.mark.parametrize("normalize", [None, "center", "trace", "cosine", "variance"])
def test_cross_of_the_training_samples_is_the_gram(normalize, X):
    kernels = KernelSet({"a": [0, 1], "b": [2]}, FAMILIES, normalize)
    K = dense(kernels.fit_grams(X))
    assert_allclose(dense(kernels.cross(X)), K, atol=1e-7)
    part = dict(kernels.cross(X[:5], kernels=[3, 7], samples=[1, 4]))
    assert sorted(part) == [3, 7]
    assert_allclose(part[7], K[7, :5][:, [1, 4]], atol=1e-7)
    diag = dense(kernels.diag(X))
    assert_allclose(diag, np.diagonal(K, axis1=1, axis2=2), atol=1e-7)


@pytest.mark.parametrize("zero_sum", [True, False])
@pytest.mark.parametrize("normalize", [None, "center", "trace", "cosine", "variance"])
def test_cross_combine_is_the_dense_sum(normalize, zero_sum, X, rng):
    Z = rng.normal(size=(11, 6))
    kernels = KernelSet({"a": [0, 1], "b": slice(2, None)}, FAMILIES, normalize).fit(X)
    K = dense(kernels.cross(Z))
    d = rng.random(kernels.n_kernels_)
    d[[0, 4, 5]] = 0
    A = rng.normal(size=(30, 2))
    A[7:] = 0
    A[:7] -= A[:7].mean(axis=0) if zero_sum else 0
    parts = np.einsum("m,mqn,nt->qtm", d, K, A)
    assert_allclose(kernels.cross_combine(Z, d, A), parts.sum(axis=2), atol=1e-10)
    assert_allclose(kernels.cross_combine(Z, d, A, block_size=3), parts.sum(axis=2), atol=1e-10)
    contributions = kernels.cross_combine(Z, d, A, contributions=True)
    assert_allclose(contributions, parts, atol=1e-10)
    assert_allclose(kernels.cross_combine(Z, d, A[:, 0]), parts.sum(axis=2)[:, 0], atol=1e-10)

    small = kernels.restrict(*kernels.needed(d, A))
    centred = normalize in ("center", "variance")
    assert len(small.samples_) == (30 if centred and not zero_sum else 7)
    small = pickle.loads(pickle.dumps(small))
    assert_allclose(small.cross_combine(Z, d, A), parts.sum(axis=2), atol=1e-10)
    assert small.table() == kernels.table()


def test_weights_may_differ_between_outputs(X, rng):
    kernels = KernelSet(families=FAMILIES).fit(X)
    Z, A = rng.normal(size=(4, 6)), rng.normal(size=(30, 3))
    D = rng.random((kernels.n_kernels_, 3))
    expected = np.einsum("mt,mqn,nt->qt", D, dense(kernels.cross(Z)), A)
    assert_allclose(kernels.cross_combine(Z, D, A), expected, atol=1e-10)
    with pytest.raises(ValueError, match="weights for 2 outputs do not fit coefficients for 3"):
        kernels.cross_combine(Z, D[:, :2], A)


def test_only_what_is_needed_is_computed(X, rng):
    shapes = []

    def spy(A, B):
        shapes.append((len(A), len(B)))
        return A @ B.T

    kernels = KernelSet({"a": ([0], [FunctionKernel(spy)]), "b": ([1], [FunctionKernel(spy)])})
    kernels.fit(X)
    shapes.clear()
    coef = np.zeros(30)
    coef[[3, 9]] = 1, -1
    kernels.cross_combine(rng.normal(size=(10, 6)), np.array([0.0, 1.0]), coef, block_size=4)
    assert shapes == [(4, 2), (4, 2), (2, 2)]
    shapes.clear()
    assert_array_equal(kernels.cross_combine(X, np.zeros(2), coef), np.zeros(30))
    assert shapes == []


def test_a_restricted_set_is_small_and_says_what_it_lacks(rng):
    X = rng.normal(size=(500, 40))
    kernels = KernelSet({"a": slice(0, 20), "b": slice(20, 40)}, [RBF([1, 2])]).fit(X)
    coef = np.zeros(500)
    coef[:4] = 1, -1, 2, -2
    d = np.array([0.0, 0.0, 0.0, 1.0])
    small = kernels.restrict(*kernels.needed(d, coef))
    assert len(pickle.dumps(small)) < len(pickle.dumps(kernels)) / 10
    assert {key: view.shape for key, view in small.views_.items()} == {("b", "numeric"): (4, 20)}
    with pytest.raises(ValueError, match=r"kernel 'a/rbf\(width=1\)' has a weight but was dropped"):
        small.cross_combine(X, np.ones(4), coef)
    with pytest.raises(ValueError, match=r"choose them with needed\(weights, coef\)"):
        small.cross_combine(X, d, np.ones(500))
    with pytest.raises(ValueError, match="needs all 500 training samples"):
        small.grams()
    with pytest.raises(ValueError, match="expected 4 weights and coefficients of 500"):
        small.cross_combine(X, np.ones(3), coef)
    with pytest.raises(ValueError, match="choose them with needed"):  # the sum is not zero
        small.cross_combine(X, d, np.r_[1.0, np.zeros(499)])


def test_sample_weights_equal_repetition(X, rng):
    repeats = rng.integers(0, 3, 30)
    kernels = KernelSet(families=FAMILIES)
    weighted = dense(kernels.fit_grams(X, sample_weight=repeats))
    repeated = dense(clone(kernels).fit_grams(np.repeat(X, repeats, axis=0)))
    index = np.repeat(np.arange(30), repeats)
    assert_allclose(weighted[:, index][:, :, index], repeated, atol=1e-10)


def test_sparse_tables_and_sources_with_their_own_families(X):
    sources = {"a": ([0, 1], [Cosine()]), "b": ([2, 3, 4], None)}
    kernels = KernelSet(sources, [RBF(), Linear()])
    expected = dense(kernels.fit_grams(X))
    assert kernels.names_ == ["a/cosine", "b/rbf(width=1)", "b/linear"]
    sparse = KernelSet(sources, [RBF(), Linear()])
    assert_allclose(dense(sparse.fit_grams(csr_array(X))), expected, atol=1e-7)
    d, coef = np.ones(3), np.arange(30.0)
    queries = sparse.cross_combine(csr_array(X[:4]), d, coef)
    assert_allclose(queries, kernels.cross_combine(X[:4], d, coef), atol=1e-6)


COLUMNS = ["rna_1", "rna_2", "mri_1", "mri_2", "mri_3", "age"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        (["rna_2", "age"], [1, 5]),
        ("mri_*", [2, 3, 4]),
        ("age", [5]),
        (slice(1, 3), [1, 2]),
        ([4, 0], [4, 0]),
        ([True, False, False, True, False, False], [0, 3]),
        (slice("mri_1", "mri_3"), [2, 3, 4]),
        (lambda table: [c for c in table.columns if c.endswith("1")], [0, 2]),
        (None, [0, 1, 2, 3, 4, 5]),
        (-1, [5]),
    ],
    ids=name_of,
)
def test_columns_of_data_frames(frame, columns, positions, X):
    table = frame(dict(zip(COLUMNS, X.T, strict=True)))
    kernels = KernelSet({"s": columns}, [Linear()])
    expected = KernelSet({"s": positions}, [Linear()])
    assert_allclose(dense(kernels.fit_grams(table)), dense(expected.fit_grams(X)), atol=1e-12)
    values = kernels.cross_combine(table[:5], np.ones(1), np.arange(30.0))
    assert_allclose(values, expected.cross_combine(X[:5], np.ones(1), np.arange(30.0)), atol=1e-9)


def test_column_selector_and_strings_in_one_table(X):
    table = pd.DataFrame(X[:4], columns=COLUMNS).assign(dna=["GATTACA", "TACA", "CATCAT", "GATT"])
    sources = {
        "numbers": make_column_selector(dtype_include=np.number),
        "dna": ("dna", [Spectrum([2, 3])]),
    }
    kernels = KernelSet(sources, [Linear()], normalize=None)
    K = dense(kernels.fit_grams(table))
    assert kernels.names_ == ["numbers/linear", "dna/spectrum(length=2)", "dna/spectrum(length=3)"]
    assert_allclose(K[0], X[:4] @ X[:4].T)
    assert_array_equal(K[1], Spectrum(2).base(list(table["dna"])))
    new = table.iloc[[1]].assign(dna="ATTA")
    d, coef = np.array([0.0, 1.0, 0.0]), np.eye(4)[0]
    assert kernels.cross_combine(new, d, coef) == Spectrum(2).base(["ATTA"], ["GATTACA"])[0]


def test_views_of_a_bundle_are_sources(X):
    bundle = ViewBundle({"a": X[:, :2], "b": csr_array(X[:, 2:]), "s": ["ab", "ba", "aa"] * 10})
    kernels = KernelSet({"a": None, "b": slice(0, 2), "s": (None, Spectrum(1))}, [Linear(), RBF()])
    K = dense(kernels.fit_grams(bundle))
    assert kernels.names_[3:] == ["b/rbf(width=1)", "s/spectrum(length=1)"]
    table = KernelSet({"a": [0, 1], "b": [2, 3]}, [Linear(), RBF()])
    assert_allclose(K[:4], dense(table.fit_grams(X)), atol=1e-7)
    values = kernels.cross_combine(bundle[:3], np.ones(5), np.arange(30.0))
    assert_allclose(values, np.einsum("mqn,n->q", K[:, :3], np.arange(30.0)), atol=1e-5)
    assert KernelSet(families=Cosine()).fit(ViewBundle({"x": X})).names_ == ["x/cosine"]


def test_float32_and_lists_are_read_as_numbers(X):
    expected = dense(KernelSet().fit_grams(X.astype(np.float32).astype(np.float64)))
    for other in (X.astype(np.float32), np.asfortranarray(X.astype(np.float32))):
        K = dense(KernelSet().fit_grams(other))
        assert K.dtype == np.float64
        assert_allclose(K, expected, atol=1e-12)
    assert_allclose(dense(KernelSet().fit_grams(X.tolist())), dense(KernelSet().fit_grams(X)))


def test_training_data_are_not_touched(X):
    X.setflags(write=False)
    kernels = KernelSet(normalize=None).fit(X)
    kernels.cross_combine(X, np.ones(4), np.ones(30))


def test_clone_and_parameters():
    kernels = KernelSet({"a": [0]}, [RBF(2.0)], normalize="trace")
    other = clone(kernels)
    assert other.get_params()["normalize"] == "trace"
    assert other.families[0] is not kernels.families[0]


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        (KernelSet({"a": []}), ValueError, r"Source 'a' selects no columns"),
        (KernelSet({"a": [9]}), ValueError, r"Source 'a' asks for column 9, but there are 6"),
        (KernelSet({"a": ["x"]}), ValueError, r"selects columns by name, but the table has no"),
        (KernelSet({"a": [True]}), ValueError, r"the mask has 1 entries for 6 columns"),
        (KernelSet({}), TypeError, r"sources must map names to columns"),
        (KernelSet(families=[]), ValueError, r"families is empty"),
        (KernelSet(families="gauss"), ValueError, r"family='gauss' is not known"),
        (KernelSet(families=[3]), TypeError, r"must be a name or a KernelFamily instance, got int"),
        (KernelSet(normalize="unit"), ValueError, r"normalize='unit' is not known"),
        (KernelSet(families=Chi2()), ValueError, r"needs non-negative features, but source 'all'"),
        (KernelSet(families=Spectrum()), TypeError, r"must be one column of strings"),
        (
            KernelSet(families=FunctionKernel(lambda A, B: -A @ B.T, label="minus")),
            ValueError,
            r"'all/minus' must be positive semi-definite; its smallest eigenvalue is -",
        ),
        (
            KernelSet(families=FunctionKernel(lambda A, B: A[:, [0]] + 0 * B[:, 0], label="f")),
            ValueError,
            r"'all/f' must be symmetric",
        ),
    ],
    ids=name_of,
)
def test_bad_sets_are_refused(kernels, error, message, X):
    with pytest.raises(error, match=message):
        kernels.fit(X)


def test_bad_tables_are_refused(X):
    with pytest.raises(ValueError, match=r"source 'all' contains NaN"):
        KernelSet().fit(np.where(X > 1, np.nan, X))
    with pytest.raises(TypeError, match=r"Chi2 does not accept sparse input \(source 'all'\)"):
        KernelSet(families=Chi2()).fit(csr_array(np.abs(X)))
    with pytest.raises(TypeError, match=r"Source 's' holds strings, which Linear cannot read"):
        KernelSet().fit(ViewBundle({"s": ["a", "b"]}))
    with pytest.raises(ValueError, match=r"Source 'z' is not a view of the bundle; it has: a"):
        KernelSet({"z": None}).fit(ViewBundle({"a": X}))
    with pytest.raises(TypeError, match=r"kernels='precomputed'"):
        KernelSet().fit(KernelBundle({"a": np.eye(3)}))
    with pytest.raises(TypeError, match=r"Use ViewBundle"):
        KernelSet().fit([X, X])
    with pytest.raises(TypeError, match=r"ViewBundle\(blocks\) for features"):
        KernelSet().fit({"a": X})


def test_queries_of_another_form_are_refused(X):
    kernels = KernelSet({"a": [0, 1]}).fit(X)
    with pytest.raises(ValueError, match=r"fitted on tables of 6 columns, got shape \(30, 5\)"):
        kernels.cross_combine(X[:, :5], np.ones(4), np.ones(30))
    table = pd.DataFrame(X, columns=COLUMNS)
    kernels = KernelSet({"a": ["age"]}).fit(table)
    with pytest.raises(ValueError, match=r"found 'rna_2' where 'rna_1' was expected"):
        kernels.cross_combine(table[COLUMNS[1:] + COLUMNS[:1]], np.ones(4), np.ones(30))


def test_blocks_bound_the_memory(rng):
    """20,000 queries against 2,000 samples never meet in one matrix of 320 MB."""
    import tracemalloc

    X, Z = rng.normal(size=(2000, 2)), rng.normal(size=(20000, 2))
    kernels = KernelSet(families=Laplacian(), normalize=None)
    kernels.fit(X)
    tracemalloc.start()
    values = kernels.cross_combine(Z, np.ones(1), np.ones(2000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2e8
    assert_allclose(values[:2], kernels.cross_combine(Z[:2], np.ones(1), np.ones(2000)))


def test_rbf_of_the_set_is_scikit_learns_after_normalisation(X, rng):
    """An independent route: raw kernel, centred and scaled with the means of training."""
    Z = rng.normal(size=(5, 6))
    kernels = KernelSet(families=RBF(3.0, scale=None)).fit(X)
    K, Kz = rbf_kernel(X, gamma=1 / 3), rbf_kernel(Z, X, gamma=1 / 3)
    H = np.eye(30) - 1 / 30
    expected = (Kz - np.ones((5, 30)) @ K / 30) @ H / (np.trace(H @ K @ H) / 30)
    assert_allclose(dense(kernels.cross(Z))[0], expected, atol=1e-10)


def test_raw_rows_reach_a_function_as_given(X):
    words = np.array(["a", "bb", "cc", "d"], dtype=object)

    def same_length(A, B):
        return np.array([[float(len(a) == len(b)) for b in B] for a in A])

    for normalize in (None, "cosine"):
        kernels = KernelSet(families=FunctionKernel(same_length, raw=True), normalize=normalize)
        K = dense(kernels.fit_grams(ViewBundle({"words": words})))
        assert kernels.names_ == ["words/same_length"]
        assert_array_equal(K[0], [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
        queries = ViewBundle({"words": ["ee", "f"]})
        values = kernels.cross_combine(queries, np.ones(1), np.array([1.0, 2.0, 4.0, 8.0]))
        assert_array_equal(values, [6, 9])


@pytest.mark.parametrize("normalize", [None, "center", "trace", "cosine", "variance"])
@pytest.mark.parametrize("weighted", [False, True])
def test_factors_of_linear_kernels_are_their_grams(normalize, weighted, rng):
    X = rng.normal(size=(80, 5)) + 1.0
    weight = rng.integers(1, 4, size=80) if weighted else None
    kernels = KernelSet({"a": slice(0, 2), "b": slice(1, 5)}, "linear", normalize)
    grams = dict(kernels.fit_grams(X, sample_weight=weight))
    by_gram = kernels.cross_combine(X[:7] + 1, np.ones(2), np.arange(80.0))
    factors = kernels.fit_factors(X, sample_weight=weight)
    for m, Z in enumerate(factors):
        assert_allclose(Z @ Z.T, grams[m], atol=1e-10 * np.abs(grams[m]).max())
    by_factor = kernels.cross_combine(X[:7] + 1, np.ones(2), np.arange(80.0))
    assert_allclose(by_factor, by_gram, rtol=1e-9)


def test_no_factors_where_they_do_not_pay(rng):
    X = rng.normal(size=(80, 20))
    assert KernelSet(families="linear").fit_factors(X) is None
    assert KernelSet({"a": slice(0, 2)}, ["linear", "rbf"]).fit_factors(X) is None


def test_text_columns_are_named(rng):
    X = pd.DataFrame({"age": rng.normal(size=8), "sex": list("mfmfmfmf")})
    with pytest.raises(ValueError, match=r"Source 'clin': column 'sex' holds text \('m'\)"):
        KernelSet({"clin": ["age", "sex"]}).fit(X)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, csr_array], ids=name_of)
def test_values_whose_products_overflow_are_named(rng, make):
    X = rng.normal(size=(8, 3))
    kernels = KernelSet(families=["linear", "rbf"]).fit(ViewBundle({"a": make(X), "b": X}))
    X[5, 2] = -1e200
    told = r"Source 'a', column 2: the value -1e\+200 is too large for kernels, .* rescale"
    huge = ViewBundle({"a": make(X), "b": np.eye(8)})
    with pytest.raises(ValueError, match=told):
        KernelSet(families=["linear", "rbf"]).fit(huge)
    with pytest.raises(ValueError, match=told):  # as queries, too
        kernels.cross_combine(huge, np.ones(4), np.ones(8))


def test_values_whose_products_are_numbers_pass(rng):
    """As large as they may be: the kernels are those of other units."""
    X = rng.normal(size=(8, 3))
    unit = 1e150 / np.abs(X).max()
    small, large = (dict(KernelSet(families=["linear", "rbf"]).fit_grams(Z)) for Z in (X, unit * X))
    for m, K in small.items():
        assert_allclose(large[m], K, atol=1e-12)


DAYS = pd.date_range("2020-01-01", periods=8)


@pytest.mark.parametrize(
    "column",
    [DAYS, DAYS.tz_localize("UTC"), DAYS - DAYS[0], DAYS.date],
    ids=["date", "zone", "duration", "object"],
)
def test_columns_of_dates_are_named(rng, column):
    X = pd.DataFrame({"age": rng.normal(size=8), "born": column})
    for table in (X, X[["born"]], pl.DataFrame({c: X[c].to_list() for c in X})):
        with pytest.raises(ValueError, match="Source 'clin': column 'born' holds dates or times"):
            KernelSet().fit(ViewBundle({"clin": table}))


def test_an_array_of_dates_is_refused():
    with pytest.raises(ValueError, match="Source 'clin' holds dates or times"):
        KernelSet().fit(ViewBundle({"clin": DAYS.to_numpy()[:, None]}))


def test_functions_are_kernels(rng):
    X = rng.normal(size=(9, 2))
    given = dict(KernelSet(families=[linear_product], normalize=None).fit_grams(X))
    assert_allclose(given[0], X @ X.T)


def linear_product(A, B):
    return A @ B.T


def test_kernels_in_the_place_of_columns_are_refused():
    X = np.zeros((4, 2))
    with pytest.raises(TypeError, match=r"Source 'a' must map to columns.*\(None, RBF\(\)\)"):
        KernelSet({"a": RBF()}).fit(X)
    with pytest.raises(TypeError, match=r"sources=\{name: \(columns, families\)\}"):
        KernelSet(families={"a": "linear"}).fit(X)
