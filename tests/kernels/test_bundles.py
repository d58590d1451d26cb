"""Row containers inside scikit-learn, and precomputed kernels against computed ones."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import name_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)

from multikernel import MKLClassifier, _validation, load_model, save_model
from multikernel._validation import check_gram, check_stack, look_like_grams
from multikernel.kernels import (
    RBF,
    ExpDistance,
    KernelBundle,
    KernelSet,
    Linear,
    PrecomputedKernels,
    ViewBundle,
)

IDS = np.array([f"s{i}" for i in range(24)])


class Ridge(RegressorMixin, BaseEstimator):
    """Ridge regression on the uniform sum of kernels; pairwise if asked."""

    def __init__(self, kernels=None, alpha=1.0, pairwise=False):
        self.kernels = kernels
        self.alpha = alpha
        self.pairwise = pairwise

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.pairwise
        return tags

    def fit(self, X, y):
        self.kernels_ = clone(self.kernels)
        K = sum(K for _, K in self.kernels_.fit_grams(X))
        self.mean_ = np.mean(y)
        self.coef_ = np.linalg.solve(K + self.alpha * np.eye(len(K)), y - self.mean_)
        return self

    def predict(self, X):
        d = np.ones(self.kernels_.n_kernels_)
        return self.kernels_.cross_combine(X, d, self.coef_) + self.mean_


@pytest.fixture(name="X")
def table(rng):
    return rng.normal(size=(24, 5))


@pytest.fixture
def y(X):
    return np.sin(X[:, 0]) + X[:, 3]


@pytest.fixture
def stack(X):
    return np.stack([X[:, :2] @ X[:, :2].T, np.exp(-pairwise_distances(X[:, 2:]))], axis=2)


def dense(stream):
    grams = dict(stream)
    return np.stack([grams[m] for m in sorted(grams)])


def views(X):
    return ViewBundle({"a": X[:, :2], "b": csr_array(X[:, 2:])})


def bundle(stack, **options):
    return KernelBundle.from_array(stack, names=["lin", "exp"], **options)


@pytest.mark.parametrize("make", ["views", "kernels"])
@pytest.mark.parametrize(
    "index",
    [
        np.array([3, 1, 1, 20]),
        [3, 1],
        slice(2, 9, 3),
        np.arange(24) % 3 == 0,
        (np.array([5, 2]), Ellipsis),
        (slice(None), Ellipsis),
        7,
        (Ellipsis,),
    ],
    ids=name_of,
)
def test_indexing_composes_rows_and_shares_the_storage(make, index, X, stack):
    rows = views(X) if make == "views" else bundle(stack, ids=IDS)
    name = rows.names[0]
    head = index[0] if isinstance(index, tuple) else index
    positions = np.atleast_1d(np.arange(24)[head])
    part = rows[index]
    assert part.shape[0] == len(positions) == len(part)
    assert part.ndim == len(part.shape)
    assert_array_equal(part.block(name), rows.block(name)[positions])
    again = part[::-1][[0]]
    assert_array_equal(again.block(name), rows.block(name)[positions[::-1][:1]])
    if make == "kernels":
        assert_array_equal(part.ids, IDS[positions])
        assert part._matrices is rows._matrices
        assert part.dtype == np.float64
    else:
        assert part._blocks is rows._blocks


@pytest.mark.parametrize("make", ["views", "kernels"])
def test_row_containers_are_no_arrays_and_clone_to_themselves(make, X, stack):
    rows = views(X) if make == "views" else bundle(stack)
    with pytest.raises(TypeError, match=r"holds 2 blocks and is not one array; take one with"):
        np.asarray(rows)
    with pytest.raises(IndexError, match="has one axis, the samples"):
        rows[[1], [2]]
    with pytest.raises(IndexError):
        rows[99]
    with pytest.raises(TypeError, match=r"use \.block\('a'\)"):
        rows["a"]
    assert clone(rows, safe=False) is rows
    assert len(list(rows)) == 24


@pytest.mark.parametrize("make", ["views", "kernels"])
def test_slices_pickle_small_and_equal(make, rng):
    X = rng.normal(size=(300, 300))
    rows = ViewBundle({"a": X}) if make == "views" else KernelBundle({"a": X @ X.T})
    part = rows[[5, 2, 250]]
    text = pickle.dumps(part)
    assert len(text) < 30 * 300 * 8
    again = pickle.loads(text)
    assert_array_equal(again.block("a"), part.block("a"))
    assert_array_equal(again[[1]].block("a"), part[[1]].block("a"))
    if make == "kernels":
        assert_array_equal(again.ids, [5, 2, 250])
        assert_array_equal(again.columns_of([250, 1000]), [250, -1])


def test_scikit_learn_gives_equal_predictions_for_every_form_of_input(X, y, stack):
    raw = {"normalize": "variance"}
    table = KernelSet({"a": [0, 1], "b": [2, 3, 4]}, [Linear()], **raw)
    grams = np.stack([X[:, :2] @ X[:, :2].T, X[:, 2:] @ X[:, 2:].T], axis=2)
    inputs = [
        (Ridge(table), X),
        (Ridge(table), pd.DataFrame(X)),
        (Ridge(KernelSet(families=[Linear()])), views(X)),
        (Ridge(PrecomputedKernels()), bundle(grams, ids=IDS)),
        (Ridge(PrecomputedKernels(), pairwise=True), grams),
    ]
    reference = cross_val_predict(*inputs[0], y, cv=4)
    for model, rows in inputs[1:]:
        assert_allclose(cross_val_predict(model, rows, y, cv=4), reference, atol=1e-8)
        search = GridSearchCV(model, {"alpha": [0.1, 10.0]}, cv=3).fit(rows, y)
        expected = GridSearchCV(inputs[0][0], {"alpha": [0.1, 10.0]}, cv=3).fit(X, y)
        assert_allclose(search.predict(rows), expected.predict(X), atol=1e-8)


@pytest.mark.parametrize("make", ["views", "kernels"])
def test_train_test_split_and_parallel_workers(make, X, y, stack):
    rows = views(X) if make == "views" else bundle(stack)
    kernels = KernelSet(families=[Linear(), RBF()]) if make == "views" else PrecomputedKernels()
    train, test, y_train, _ = train_test_split(rows, y, random_state=0)
    assert Ridge(kernels).fit(train, y_train).predict(test).shape == (6,)
    one, two = (cross_val_score(Ridge(kernels), rows, y, cv=3, n_jobs=n) for n in (1, 2))
    assert_allclose(one, two)


def test_blocks_of_consecutive_samples_are_views_to_read(stack):
    bundle = KernelBundle.from_array(stack)
    name, columns = bundle.names[0], np.arange(2, 7)
    block = bundle[3:8].block(name, columns)
    assert_array_equal(block, stack[3:8, 2:7, 0])
    assert np.shares_memory(block, stack)
    with pytest.raises(ValueError, match="read-only"):
        block[:] = 0.0
    assert_array_equal(bundle[3:8].block(name, columns[::-1]), stack[3:8, 2:7, 0][:, ::-1])
    assert bundle[:0].block(name).shape == (0, stack.shape[1])


def test_repeated_samples_are_allowed(stack, y):
    rows = bundle(stack, ids=IDS)[[0, 0, 3, 7, 9]]
    (_, K), _ = PrecomputedKernels(normalize=None).fit_grams(rows)
    assert_array_equal(K, stack[np.ix_([0, 0, 3, 7, 9], [0, 0, 3, 7, 9])][:, :, 0])


@pytest.mark.parametrize("normalize", [None, "center", "trace", "cosine", "variance"])
def test_precomputed_equals_computed(normalize, X, rng):
    train, test = np.arange(16), np.arange(16, 24)
    sources = {"a": [0, 1], "b": [2, 3, 4]}
    computed = KernelSet(sources, [Linear()], normalize)
    expected = dense(computed.fit_grams(X[train]))
    full = KernelBundle({s: X[:, c] @ X[:, c].T for s, c in sources.items()}, ids=IDS)
    kernels = PrecomputedKernels(normalize=normalize)
    assert_allclose(dense(kernels.fit_grams(full[train])), expected, atol=1e-12)
    assert_allclose(dense(kernels.grams()), expected, atol=1e-12)
    d, A = rng.random(2), rng.normal(size=(16, 2))
    A[9:] = 0
    A[:9] -= A[:9].mean(axis=0)
    values = computed.cross_combine(X[test], d, A)
    assert_allclose(kernels.cross_combine(full[test], d, A), values, atol=1e-10)
    small = pickle.loads(pickle.dumps(kernels.restrict(*kernels.needed(d, A))))
    assert len(small.samples_) == 9
    assert_allclose(small.cross_combine(full[test], d, A, block_size=3), values, atol=1e-10)
    diag = dense(kernels.diag(full[test]))
    assert_allclose(diag, dense(computed.diag(X[test])), atol=1e-10)


def test_queries_need_only_the_columns_of_the_support(stack, rng):
    full = bundle(stack, ids=IDS)
    kernels = PrecomputedKernels().fit(full[:16])
    coef = np.zeros(16)
    coef[[2, 5]] = 1, -1
    small = kernels.restrict(*kernels.needed(np.ones(2), coef))
    few = KernelBundle(
        {n: full.block(n)[16:][:, [5, 2]] for n in full.names},
        ids=IDS[16:],
        column_ids=IDS[[5, 2]],
    )
    expected = kernels.cross_combine(full[16:], np.ones(2), coef)
    assert_allclose(small.cross_combine(few, np.ones(2), coef), expected, atol=1e-12)
    with pytest.raises(ValueError, match="needs all 16 training samples"):
        list(small.grams())


def test_arrays_for_queries(stack, rng):
    full = bundle(stack)
    arrays, rows = PrecomputedKernels().fit(stack[:16, :16]), PrecomputedKernels().fit(full[:16])
    d, coef = rng.random(2), rng.normal(size=16)
    expected = rows.cross_combine(full[16:], d, coef)
    assert_allclose(arrays.cross_combine(stack[16:, :16], d, coef), expected, atol=1e-12)
    one = PrecomputedKernels().fit(stack[:16, :16, 0])
    assert_allclose(
        one.cross_combine(stack[16:, :16, 0], d[:1], coef),
        arrays.cross_combine(stack[16:, :16], d * [1, 0], coef),
        atol=1e-12,
    )


def test_distances_serve_several_widths(X, rng):
    D = {"a": pairwise_distances(X[:, :2]), "b": pairwise_distances(X[:, 2:])}
    rows = KernelBundle.from_distances(D, ids=IDS)
    families = ExpDistance([0.5, 2.0])
    kernels = PrecomputedKernels(families)
    K = dense(kernels.fit_grams(rows[:16]))
    assert kernels.n_base_computations_ == 2
    assert kernels.names_[:2] == ["a/expdistance(width=0.5)", "a/expdistance(width=2)"]
    computed = KernelSet({"a": [0, 1], "b": [2, 3, 4]}, ExpDistance([0.5, 2.0], metric="euclidean"))
    assert_allclose(K, dense(computed.fit_grams(X[:16])), atol=1e-10)
    d, coef = rng.random(4), rng.normal(size=16)
    expected = computed.cross_combine(X[16:], d, coef)
    assert_allclose(kernels.cross_combine(rows[16:], d, coef), expected, atol=1e-9)
    assert PrecomputedKernels().fit(rows[:16]).n_kernels_ == 6
    for other in (list(D.values()), np.stack(list(D.values()), axis=2)):
        assert KernelBundle.from_distances(other).kind == "distance"


def test_data_frames_are_aligned_by_their_ids(stack):
    labels = list(IDS)
    first = pd.DataFrame(stack[:, :, 0], index=labels, columns=labels)
    shuffled = pd.DataFrame(stack[:, :, 1], index=labels, columns=labels).loc[
        labels[::-1], labels[5:] + labels[:5]
    ]
    rows = KernelBundle({"lin": first, "exp": shuffled})
    assert_array_equal(rows.ids, IDS)
    assert_array_equal(rows.block("exp"), stack[:, :, 1])
    permuted = KernelBundle({"lin": first[labels[::-1]]})
    assert_array_equal(permuted.block("lin"), stack[:, :, 0])
    renamed = first.rename(columns={"s3": "s33"})
    with pytest.raises(ValueError, match=r"Kernel 'exp' has no column for the sample id 's3'"):
        KernelBundle({"lin": first, "exp": renamed})
    with pytest.raises(ValueError, match=r"no column for the training sample .*s3"):
        PrecomputedKernels().fit(KernelBundle({"exp": renamed}))


def test_rows_may_differ_from_columns(stack):
    part = KernelBundle({"lin": stack[16:, :16, 0]}, ids=IDS[16:], column_ids=IDS[:16])
    head = KernelBundle({"lin": stack[:16, :16, 0]}, ids=IDS[:16])
    both = head.append(part)
    assert len(both) == 24
    assert_array_equal(both[16:].block("lin"), stack[16:, :16, 0])
    kernels = PrecomputedKernels(normalize=None).fit(both[:16])
    assert_allclose(kernels.cross_combine(part, [1.0], np.eye(16)), stack[16:, :16, 0])
    with pytest.raises(ValueError, match="same kernels, kind and column ids"):
        head.append(KernelBundle({"lin": np.eye(3)}))


@pytest.mark.parametrize(
    "block",
    [
        np.arange(6.0).reshape(3, 2),
        csr_array(np.arange(6.0).reshape(3, 2)),
        pd.DataFrame({"u": [0.0, 2.0, 4.0], "v": [1.0, 3.0, 5.0]}),
        pl.DataFrame({"u": [0.0, 2.0, 4.0], "v": [1.0, 3.0, 5.0]}),
    ],
    ids=lambda block: type(block).__module__.split(".")[0],
)
def test_view_blocks_of_every_kind(block):
    rows = ViewBundle({"x": block, "s": ["a", "b", "c"]})
    assert rows.n_features == 3
    twice = rows[[2, 0]].append(rows[[1]])
    values = twice.block("x")
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    assert_array_equal(values, [[4, 5], [0, 1], [2, 3]])
    assert_array_equal(twice.block("s"), ["c", "a", "b"])
    assert pickle.loads(pickle.dumps(rows[[1]])).block("s").tolist() == ["b"]


def test_bad_views_are_refused(X):
    with pytest.raises(ValueError, match=r"'a' has 24 rows, 'b' has 23"):
        ViewBundle({"a": X, "b": X[1:]})
    with pytest.raises(TypeError, match="non-empty mapping"):
        ViewBundle([X])
    with pytest.raises(ValueError, match=r"View 'a' must have rows and columns"):
        ViewBundle({"a": np.zeros((3, 3, 3))})
    with pytest.raises(ValueError, match="The views differ"):
        ViewBundle({"a": X}).append(ViewBundle({"b": X}))


def test_bad_bundles_are_refused(stack):
    with pytest.raises(TypeError, match=r"for a list use KernelBundle\.from_list"):
        KernelBundle([np.eye(3)])
    with pytest.raises(ValueError, match=r"Kernel 'b' must have shape \(3, 3\)"):
        KernelBundle({"a": np.eye(3), "b": np.eye(4)})
    with pytest.raises(ValueError, match=r"'a' must be a matrix, got .* \(4, 4, 2\); .*from_array"):
        KernelBundle({"a": np.ones((4, 4, 2))})
    with pytest.raises(ValueError, match=r"of shape \(2, 3\) is not square: pass column_ids"):
        KernelBundle({"a": np.ones((2, 3))})
    with pytest.raises(ValueError, match=r"must be unique; 'x' stands for 2 of 3 columns"):
        KernelBundle({"a": np.eye(3)}, ids=["a", "x", "x"])
    with pytest.raises(ValueError, match="kind must be 'gram' or 'distance'"):
        KernelBundle({"a": np.eye(2)}, kind="kernel")
    with pytest.raises(ValueError, match="Got 1 names for 2 kernels"):
        KernelBundle.from_list([np.eye(2)] * 2, names=["a"])
    with pytest.raises(ValueError, match=r"expected shape \(n_rows, n_columns, n_kernels\)"):
        KernelBundle.from_array(np.eye(2))


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (np.eye(3) * 1j, "complex numbers"),
        (np.eye(3).astype(str), "text"),
        (pd.DataFrame(np.eye(3)).astype(object).replace(0.0, "none"), "type object"),
        (np.eye(3).astype("datetime64[s]"), r"type datetime64\[s\]"),
    ],
)
def test_matrices_that_hold_no_real_numbers_are_refused(wrong, got):
    with pytest.raises(TypeError, match=f"Kernel 'a' must hold real numbers, got {got}"):
        KernelBundle({"a": wrong})
    stack = np.asarray(wrong)[:, :, None]
    for make in (KernelBundle.from_array, check_stack):
        with pytest.raises(TypeError, match=f"must hold real numbers, got {got}"):
            make(stack)
    assert KernelBundle({"a": np.eye(3, dtype=bool).astype(object)}).dtype == np.float64


def test_arrays_beside_labelled_tables_need_ids():
    A = np.random.default_rng(0).normal(size=(4, 2))
    ids = list("badc")
    frame = pd.DataFrame(A @ A.T, index=ids, columns=ids)
    with pytest.raises(ValueError, match="Kernel 'x' is an array without sample ids, 'f' a Data"):
        KernelBundle({"f": frame, "x": np.eye(4)})
    K = KernelBundle({"f": frame, "x": np.diag([1.0, 2, 3, 4])}, ids=list("abcd"))
    assert_array_equal(K.block("f"), frame.loc[list("abcd"), list("abcd")])
    assert_array_equal(K.block("x").diagonal(), [1, 2, 3, 4])
    numbered = KernelBundle({"f": pd.DataFrame(A @ A.T), "x": np.eye(4)})
    assert not numbered.named


def not_psd(stack):
    K = stack.copy()
    K[:, :, 1] -= 2 * np.eye(24)
    return K


REFUSED = {
    "list": (
        lambda K: [K[:, :, 0], K[:, :, 1]],
        TypeError,
        r"Got a list of 2 arrays of shape \(24, 24\)\. scikit-learn would read this as 2 samples\. "
        r"Use KernelBundle\.from_list\(kernels\)\.",
    ),
    "dict": (lambda K: {"a": K[:, :, 0]}, TypeError, r"Use KernelBundle\(kernels\)"),
    "kernels first": (
        lambda K: np.moveaxis(K, 2, 0),
        ValueError,
        r"shape \(2, 24, 24\).*Use np\.moveaxis\(K, 0, 2\)",
    ),
    "not square": (lambda K: K[:5], ValueError, r"expected Gram matrices of shape \(n, n, n_ker"),
    "no kernel": (lambda K: K[:, :, :0], ValueError, r"at least one kernel and one sample"),
    "no sample": (lambda K: bundle(K)[:0], ValueError, r"empty: it holds no samples"),
    "nan": (
        lambda K: np.where(K[3, 4, 0] == K, np.nan, K),
        ValueError,
        r"'k0' contains NaN or infinity, first at row 3, column 4",
    ),
    "asymmetric": (
        lambda K: bundle(K + np.arange(24.0)[:, None, None] * [1, 0]),
        ValueError,
        r"'lin' must be symmetric; entries differ from their mirror images by up to 2\.3e\+01"
        r", at row 0, column 23 \(from 0\)\. If only rounding is to blame",
    ),
    "indefinite": (
        lambda K: bundle(not_psd(K)),
        ValueError,
        r"'exp' must be positive semi-definite; its smallest eigenvalue is -.*\(tolerance -.*\)"
        r"\. Repair it with multikernel\.kernels\.nearest_psd",
    ),
    "distances": (
        lambda K: KernelBundle({"d": 1 - np.eye(3)}),
        ValueError,
        r"'d' must be .* Its diagonal is zero, as that of distances: use KernelBundle\.from_dist",
    ),
    "negative distance": (
        lambda K: KernelBundle.from_distances([np.eye(3) - 1]),
        ValueError,
        r"must not be negative",
    ),
    "distance diagonal": (
        lambda K: KernelBundle.from_distances([np.eye(3)]),
        ValueError,
        r"must be zero on its diagonal",
    ),
}


def test_one_bad_matrix_among_small_ones_is_refused_by_name(stack):
    good = {f"k{m}": stack[:, :, 0] + m for m in range(4)}
    assert look_like_grams(np.stack(list(good.values())))
    PrecomputedKernels().fit(KernelBundle(good))
    bad = not_psd(stack)[:, :, 1]
    assert not look_like_grams(np.stack([*good.values(), bad]))
    assert look_like_grams(np.stack([*good.values(), bad]), definite=False)
    assert not look_like_grams(np.stack([*good.values(), np.tril(bad)]), definite=False)
    with pytest.raises(ValueError, match="'bad' must be positive semi-definite"):
        PrecomputedKernels().fit(KernelBundle(good | {"bad": bad, "z": stack[:, :, 0]}))
    unlike = {name: np.eye(24) for name in "abc"}  # good kernels and bad distances
    with pytest.raises(ValueError, match="must be zero on its diagonal"):
        PrecomputedKernels().fit(KernelBundle.from_distances(unlike))
    wide = {name: (np.eye(24) + 1).astype(np.longdouble) for name in "abc"}
    PrecomputedKernels().fit(KernelBundle(wide))


def test_arrays_with_nan_say_which_kernel_and_sample(stack):
    K = stack.copy()
    K[5, :, 1] = K[:, 5, 1] = np.nan
    y = np.arange(24) % 2
    with pytest.raises(ValueError, match="'k1' contains NaN only for 1 of 24 samples, first 5"):
        MKLClassifier("precomputed").fit(K, y)
    model = MKLClassifier("precomputed", C=10.0).fit(stack, y)
    assert model.weights_.all()
    with pytest.raises(ValueError, match="'k1' contains NaN"):
        model.predict(K)


@pytest.mark.parametrize("case", REFUSED)
def test_bad_precomputed_kernels_are_refused(case, stack):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        PrecomputedKernels().fit(make(stack))


def test_indefinite_kernels_pass_if_asked(stack):
    PrecomputedKernels(check_psd=False).fit(not_psd(stack))


def test_families_on_gram_matrices_are_refused(stack):
    with pytest.raises(ValueError, match="families turn distances into kernels"):
        PrecomputedKernels(ExpDistance()).fit(stack)


def test_bad_queries_are_refused(stack):
    full = bundle(stack, ids=IDS)
    arrays, rows = PrecomputedKernels().fit(stack[:16, :16]), PrecomputedKernels().fit(full[:16])
    d, coef = np.ones(2), np.arange(16.0)
    message = (
        r"expected kernels against the 16 training samples, got 24 columns: pass K\[:, train\] or "
        r"give the full bundle"
    )
    with pytest.raises(ValueError, match=message):
        arrays.cross_combine(stack[16:], d, coef)
    with pytest.raises(ValueError, match=r"expected 2 kernels in an array of shape"):
        arrays.cross_combine(stack[16:, :16, :1], d, coef)
    with pytest.raises(TypeError, match=r"fitted on an array, so queries must be one too"):
        arrays.cross_combine(full[16:], d, coef)
    with pytest.raises(ValueError, match="'k1' contains NaN"):
        arrays.cross_combine(stack[16:, :16] * [1, np.nan], d, coef)
    few = KernelBundle({n: full.block(n)[:, 1:] for n in full.names}, ids=IDS, column_ids=IDS[1:])
    with pytest.raises(ValueError, match=r"against the 16 training samples, but 1 of them .*s0"):
        rows.cross_combine(few, d, coef)
    with pytest.raises(ValueError, match=r"expected gram matrices named lin, exp; got"):
        rows.cross_combine(KernelBundle({"lin": np.eye(24)}, ids=IDS), d, coef)
    cosine = PrecomputedKernels(normalize="cosine").fit(stack[:16, :16])
    with pytest.raises(ValueError, match="self-similarities of the queries are needed"):
        cosine.cross_combine(stack[16:, :16], d, coef)


def test_classifiers_split_bundles_by_class(stack, y):
    class Sign(ClassifierMixin, Ridge):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return super().fit(X, 2.0 * y - 1)

        def predict(self, X):
            return (super().predict(X) > 0).astype(int)

    scores = cross_val_score(Sign(PrecomputedKernels()), bundle(stack), (y > 0).astype(int), cv=3)
    assert scores.mean() > 0.6


def test_tables_of_differently_labelled_rows_are_refused(rng):
    ids = [f"s{i}" for i in range(6)]
    a, b = pd.DataFrame(rng.normal(size=(6, 2)), ids), pd.DataFrame(rng.normal(size=(6, 3)), ids)
    ViewBundle({"a": a, "b": b, "c": rng.normal(size=(6, 1)), "d": b.reset_index(drop=True)})
    with pytest.raises(ValueError, match=r"different row labels.*b\.loc\[a\.index"):
        ViewBundle({"a": a, "b": b.iloc[::-1]})


@pytest.mark.parametrize("normalize", ["variance", "center", "trace", "cosine", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_small_kernels_are_normalised_together_as_one_by_one(normalize, weighted, rng):
    Z = rng.normal(size=(60, 9, 4))
    grams = {f"k{m}": (Z[m] @ Z[m].T).astype("f4" if m % 2 else "f8") for m in range(59)}
    K = KernelBundle(grams | {"constant": np.ones((9, 9))})
    weight = rng.integers(1, 4, 9) if weighted else None
    single, together = (PrecomputedKernels(normalize=normalize) for _ in range(2))
    expected = dense(single.fit_grams(K, sample_weight=weight))
    stacks = list(together.fit_stacks(K, sample_weight=weight))
    assert len(stacks) == 1
    assert stacks[0].kernels.tolist() == list(range(60))
    assert_allclose(stacks[0].formed(), expected, atol=1e-12)
    assert together.n_base_computations_ == single.n_base_computations_
    A, d = rng.normal(size=9), rng.random(60)
    assert_allclose(together.cross_combine(K, d, A), single.cross_combine(K, d, A), atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [slice(None), slice(2, 7), [5, 1, 3]])
def test_kernels_of_one_array_are_stacked_without_a_copy_where_they_can(order, rows, rng):
    K = rng.normal(size=(8, 8, 6))
    given = np.asfortranarray(K) if order == "F" else K
    bundle = KernelBundle.from_array(given.transpose(1, 0, 2))[rows]
    columns = bundle.columns_of(bundle.ids)
    stack = bundle.stack(slice(1, 4), columns)
    blocks = [bundle.block(name, columns) for name in bundle.names[1:4]]
    assert_allclose(stack, blocks, rtol=0)
    assert stack.flags.c_contiguous
    whole = isinstance(rows, slice)
    assert np.shares_memory(stack, given) == (order == "F" and rows == slice(None))
    assert all(np.shares_memory(block, given) == whole for block in blocks)
    for shown in (stack, *blocks) if whole else (stack,):
        with pytest.raises(ValueError, match="read-only"):
            shown[0] = 0.0


def test_matrices_that_have_nothing_in_common_are_stacked(rng):
    K = {name: rng.normal(size=(5, 5)) for name in "abc"}
    bundle, columns = KernelBundle(K), np.arange(5)
    assert_allclose(bundle.stack(slice(1, 3), columns), [K["b"], K["c"]], rtol=0)
    one = bundle.stack(slice(1, 2), columns)
    assert_allclose(one, K["b"][None], rtol=0)
    assert np.shares_memory(one, K["b"])
    assert not one.flags.writeable
    assert K["b"].flags.writeable


@pytest.mark.parametrize("names", [["a", "b", "a"], [1, "x", "1"]])
def test_kernels_of_one_name_are_refused(names, rng):
    K = rng.normal(size=(5, 5, 3))
    with pytest.raises(ValueError, match="Two kernels are named"):
        KernelBundle.from_array(K, names)


def test_a_bundle_of_one_array_is_pickled_once(rng):
    bundle = KernelBundle.from_array(rng.normal(size=(30, 30, 5)))
    copy = pickle.loads(pickle.dumps(bundle))
    assert len(pickle.dumps(bundle)) < 1.3 * 8 * 30 * 30 * 5
    assert len(pickle.dumps(bundle[:10])) < 1.3 * 8 * 10 * 30 * 5
    columns = np.arange(30)
    assert_allclose(copy.stack(slice(0, 5), columns), bundle.stack(slice(0, 5), columns), rtol=0)
    absent = bundle.with_absent(["k1", "new"])
    assert absent.stack(slice(5, 6), columns).tolist() == np.zeros((1, 30, 30)).tolist()


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("n", [2, 7, 120])
@pytest.mark.parametrize("change", [1e-7, 1e-3, -1.0, np.nan, np.inf, -np.inf])
def test_one_entry_that_differs_from_its_mirror_image_is_found(change, n, size, rng):
    Z = rng.normal(size=(n, n))
    K = size * (Z @ Z.T + np.eye(n))
    K = (K + K.T) / 2
    check_gram(K, "good")
    assert look_like_grams(np.stack([K, K]))
    near = K * (1 + 1e-13 * rng.normal(size=(n, n)))  # as rounding makes it
    check_gram(near, "near")
    assert look_like_grams(np.stack([near, K]))
    for i, j in itertools.islice(itertools.permutations(range(n), 2), 0, None, max(1, n - 1)):
        wrong = K.copy()
        wrong[i, j] += change * np.max(np.abs(K))
        with pytest.raises(ValueError, match=r"must be symmetric|NaN or infinity"):
            check_gram(wrong, "wrong", definite=False)
        assert not look_like_grams(np.stack([K, wrong, K]), definite=False)


def test_differences_that_cancel_in_sums_are_found(rng):
    K = np.eye(9) + 1e-3 * (np.roll(np.eye(9), 1, axis=0) - np.roll(np.eye(9), 1, axis=1))
    with pytest.raises(ValueError, match="must be symmetric"):
        check_gram(K, "wrong", definite=False)
    assert not look_like_grams(np.stack([np.eye(9), K]), definite=False)


def test_asymmetry_just_above_the_tolerance_is_found(rng):
    for _ in range(300):
        wrong = np.eye(3)
        wrong[0, 1] = 1.1e-8
        P = rng.permutation(30)
        K = np.eye(30)
        K[:3, :3] = wrong
        with pytest.raises(ValueError, match="must be symmetric"):
            check_gram(K[np.ix_(P, P)], "wrong", definite=False)


def test_one_large_matrix_among_others_is_refused_by_name(rng):
    Z = rng.normal(size=(400, 3))
    good = Z @ Z.T
    for flaw, said in ((-5 * np.eye(400), "semi-definite"), (np.eye(400, k=1), "symmetric")):
        K = KernelBundle({"one": good, "two": good + flaw})
        with pytest.raises(ValueError, match=f"'two' must be .*{said}"):
            PrecomputedKernels().fit(K)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32"])
def test_asymmetry_is_found_in_numbers_of_any_type(dtype):
    K = np.eye(6, dtype=dtype)
    check_gram(K, "good")
    for i, j in itertools.permutations(range(6), 2):
        wrong = K.copy()
        wrong[i, j] = 1
        with pytest.raises(ValueError, match="must be symmetric"):
            check_gram(wrong, "wrong", definite=False)
        assert not look_like_grams(np.stack([K, wrong]), definite=False)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_entries_that_are_no_numbers_are_found_on_both_sides(value):
    K = np.eye(4)
    K[1, 2] = K[2, 1] = value
    assert not look_like_grams(np.stack([np.eye(4), K]), definite=False)
    with pytest.raises(ValueError, match="NaN or infinity, first at row 1, column 2"):
        check_gram(K, "K", definite=False)


def test_large_matrices_are_tested_in_single_precision(rng, monkeypatch):
    Z = rng.normal(size=(520, 3))
    seen = []
    monkeypatch.setattr(_validation, "check_definite", lambda K, name, slack: seen.append(name))
    for bad, scale in itertools.product((-1e-7, -1e-3), (1.0, 1e-60, 1e60)):
        K = scale * (Z @ Z.T / np.max(np.sum(Z**2, axis=1)) + bad * np.eye(520))
        check_gram(K, f"{bad:g}, {scale:g}")
    assert seen == ["-1e-07, 1e-60", "-1e-07, 1e+60", "-0.001, 1", "-0.001, 1e-60", "-0.001, 1e+60"]


def test_small_kernels_that_some_samples_lack_are_stacked_one_by_one(rng):
    Z = rng.normal(size=(3, 12, 4))
    grams = {name: z @ z.T for name, z in zip("abc", Z, strict=True)}
    K = KernelBundle(grams, present={"b": np.arange(12) > 3})
    expected = dense(PrecomputedKernels().fit_grams(K))
    stacks = list(PrecomputedKernels().fit_stacks(K))
    assert [stack.kernels.tolist() for stack in stacks] == [[0], [1], [2]]
    assert_allclose(np.concatenate([stack.formed() for stack in stacks]), expected)


def test_the_tolerance_of_large_matrices_is_the_one_in_the_message(rng):
    Z = rng.normal(size=(520, 600))
    K = Z @ Z.T / np.max(np.sum(Z**2, axis=1))
    K -= np.linalg.eigvalsh(K)[0] * np.eye(520)
    K /= np.max(np.diagonal(K))
    check_gram(K - 2.0e-5 * np.eye(520), "good")  # the limit is 1e-6 √520 = 2.3e-5
    with pytest.raises(ValueError, match=r"eigenvalue is -2.6e-05 \(tolerance -2e-05\)"):
        check_gram(K - 2.6e-5 * np.eye(520), "bad")


def test_what_was_glanced_at_is_vouched_for_once_and_then_forgotten(rng, tmp_path):
    Z = rng.normal(size=(3, 90, 90))
    K = KernelBundle(dict(zip("abc", Z @ Z.transpose(0, 2, 1), strict=True)))
    kernels = PrecomputedKernels()
    list(kernels.fit_stacks(K))
    assert kernels.glanced_ == ["a", "b", "c"]
    kernels.vouch([0])
    assert kernels.glanced_ == ["b", "c"]
    assert kernels.restrict(np.arange(9)).glanced_ == []
    assert kernels.glanced_ == ["b", "c"]  # a restricted copy leaves the whole as it is
    kernels.vouch()
    assert kernels.glanced_ == []
    assert PrecomputedKernels().fit(K).glanced_ == []
    model = MKLClassifier("precomputed", regularizer="lp", C=1e-3).fit(K, np.arange(90) % 2)
    assert not model.weights_.all()  # so that not all kernels are vouched for
    save_model(model, tmp_path / "model")
    for fitted in (model, load_model(tmp_path / "model")):
        assert fitted.kernels_.glanced_ == []
