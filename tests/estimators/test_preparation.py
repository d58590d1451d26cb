"""SourcePreparation learns from training samples that have a source, and from nothing else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)

from multikernel import MKLRegressor, SourcePreparation, ViewBundle
from multikernel.estimators.preparation import reads_targets

DAYS = pd.date_range("2020-01-01", periods=3)


@pytest.fixture
def holed(rng):
    """Two sources with single values missing, of which the second is lacking for some samples."""
    A, B = rng.normal(3, 2, size=(20, 3)), rng.normal(size=(20, 2))
    A[2, 0] = A[5, 1] = B[7, 1] = np.nan
    has = np.arange(20) % 3 > 0
    B[~has] = 1e6  # must never be read
    return ViewBundle({"a": A, "b": B}, present={"b": has})


def test_columns_are_filled_and_scaled_by_the_samples_that_have_them(holed):
    out = SourcePreparation().fit_transform(holed)
    A, has = holed.block("a"), holed.has("b")
    assert_allclose(out.block("a").mean(axis=0), 0, atol=1e-12)
    assert_allclose(out.block("a").std(axis=0), 1)
    filled = np.where(np.isnan(A), np.nanmean(A, axis=0), A)
    assert_allclose(out.block("a"), (filled - filled.mean(axis=0)) / filled.std(axis=0))
    assert_allclose(out.block("b")[has].mean(axis=0), 0, atol=1e-12)
    assert_array_equal(out.block("b")[~has], 0)


def test_masks_and_ids_are_kept(holed):
    out = SourcePreparation().fit_transform(holed)
    assert_array_equal(out.present, holed.present)
    assert_array_equal(out.ids, holed.ids)


def test_missing_values_are_counted_where_the_source_is(holed):
    assert SourcePreparation().fit(holed).n_missing_ == {"a": 2, "b": 1}


def test_nothing_leaks_from_held_out_samples(holed, rng):
    """Other held-out samples, and other numbers in rows never read: the same on training."""
    train, test = np.arange(12), np.arange(12, 20)
    other = {name: holed.block(name).copy() for name in holed.names}
    other["a"][test], other["b"][test] = rng.normal(50, 9, (8, 3)), np.nan
    other["b"][~holed.has("b")] = -7.0
    changed = ViewBundle(other, {"b": holed.has("b")})
    first = SourcePreparation().fit(holed[train])
    second = SourcePreparation().fit(changed[train])
    for name in holed.names:
        assert_array_equal(
            first.transform(holed[train]).block(name), second.transform(changed[train]).block(name)
        )
        assert_array_equal(
            first.transform(holed[test]).block(name), second.transform(holed[test]).block(name)
        )


def test_queries_without_a_source_get_rows_of_the_right_width(holed):
    prepared = SourcePreparation({"b": PCA(1)})
    full = holed[np.flatnonzero(holed.has("b") & (np.arange(20) != 7))]
    prepared.fit(full)
    out = prepared.transform(holed[np.flatnonzero(~holed.has("b"))])
    assert out.block("b").shape == (7, 1)
    assert not out.has("b").any()


def test_pipelines_of_your_own(rng):
    table = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0], "sex": ["f", "m", "f", None]})
    encode = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    X = ViewBundle({"clinic": table, "raw": rng.normal(9, 3, (4, 2)), "note": list("abca")})
    words = CountVectorizer(analyzer="char")
    pipelines = {"clinic": encode, "raw": "passthrough", "note": words}
    prepared = SourcePreparation(pipelines).fit(X)
    out = prepared.transform(X)
    assert out.block("clinic").shape == (4, 4)
    assert_array_equal(out.block("raw"), X.block("raw"))
    assert_array_equal(out.block("note").toarray()[:, 0], [1, 0, 0, 1])
    assert prepared.n_missing_ == {"clinic": 1, "raw": 0, "note": 0}
    assert not hasattr(words, "vocabulary_")  # a copy was fitted
    assert clone(prepared).pipelines.keys() == pipelines.keys()


def test_sparse_results_of_samples_that_lack_a_source(rng):
    X = ViewBundle({"note": list("abcab")}, present={"note": np.array([1, 1, 1, 0, 1], dtype=bool)})
    out = SourcePreparation({"note": CountVectorizer(analyzer="char")}).fit_transform(X)
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert_array_equal(out.block("note").toarray(), expected)


def test_sparse_results_stay_sparse_where_training_and_queries_lack_different_samples(rng):
    """A kernel that is learned from sparse rows gets sparse ones, however many are there."""
    words = np.array(["ab", "bc", "ca", "aab", "bbc", "cca"] * 4, dtype=object)
    y = np.array([w.count("a") for w in words], dtype=float)
    has = np.arange(24) < 12
    X = ViewBundle({"note": words.tolist(), "x": rng.normal(size=(24, 2))}, present={"note": has})
    prepared = SourcePreparation({"note": CountVectorizer(analyzer="char")}).fit(X[:12])
    for rows in (np.arange(12), np.arange(6, 18), np.arange(12, 24)):
        block = prepared.transform(X[rows]).block("note")
        assert issparse(block)
        assert block.shape == (12, 3)
        assert block[~has[rows]].nnz == 0
    model = make_pipeline(prepared, MKLRegressor(["linear", "rbf"])).fit(X[:12], y[:12])
    both = model.predict(X[6:18])
    assert_allclose(both[:6], model.predict(X[6:12]))
    assert_allclose(both[6:], model.predict(X[12:18]))


def test_results_without_columns_are_kept():
    def clean(texts):
        return np.array([t.upper() for t in texts], dtype=object)

    X = ViewBundle({"dna": ["gat", "tac", "cat"]}, present={"dna": np.array([True, False, True])})
    prepared = SourcePreparation({"dna": FunctionTransformer(clean)}).fit(X)
    assert prepared.transform(X).block("dna").tolist() == ["GAT", "", "CAT"]
    assert prepared.transform(X[[1]]).block("dna").tolist() == [""]


class Unsaid(TransformerMixin, BaseEstimator):
    """Of another library, which does not say whether it reads targets."""

    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize(
    ("transformer", "reads"),
    [
        ("passthrough", False),
        (PCA(1), False),
        (make_pipeline(StandardScaler(), PCA(1)), False),
        (FunctionTransformer(np.log1p), False),
        (SelectKBest(k=1), True),
        (make_pipeline(StandardScaler(), SelectKBest(k=1)), True),
        (make_column_transformer((SelectKBest(k=1), [0, 1])), True),
        (SelectFromModel(LogisticRegression()), True),
        (TargetEncoder(), True),
        (Unsaid(), True),
    ],
)
def test_what_reads_targets(transformer, reads):
    assert reads_targets(transformer) is reads


def test_sparse_sources_and_strings_pass_through(rng):
    X = ViewBundle({"counts": csr_array(np.eye(3)), "dna": ["GAT", "TAC", "CAT"]})
    out = SourcePreparation().fit_transform(X)
    assert out.block("counts") is X.block("counts")
    assert_array_equal(out.block("dna"), X.block("dna"))


def test_nullable_numbers_are_numbers():
    table = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64"), "z": [0.5, 1.5, 2.5]})
    prepared = SourcePreparation().fit(ViewBundle({"a": table}))
    assert prepared.n_missing_ == {"a": 1}
    assert prepared.transform(ViewBundle({"a": table})).block("a")[1, 0] == 0


def test_a_column_without_any_value_becomes_zero():
    X = ViewBundle({"a": np.array([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]])})
    assert_array_equal(SourcePreparation().fit_transform(X).block("a")[:, 1], 0)


@pytest.mark.parametrize(
    ("blocks", "pipelines", "message"),
    [
        ({"a": np.eye(3)}, {"b": PCA(1)}, "pipelines names the sources 'b', which are not there"),
        ({"a": np.eye(3)}, {"a": "none"}, "must be a transformer, got 'none'; use 'passthrough'"),
        ({"a": np.eye(3)}, {"a": None}, "must be a transformer, got None; use 'passthrough'"),
        (
            {"a": pd.DataFrame({"x": [1, 2, 3], "sex": list("fmf")})},
            None,
            r"Source 'a' has columns that are not numbers: 'sex'. Encode them with pipelines",
        ),
        ({"a": np.array([["1", "x"], ["2", "y"]])}, None, "not numbers: 1"),
        (
            {"a": pd.DataFrame({"x": [1.0, np.nan, 1e200]})},
            None,
            r"Source 'a', column 'x': the value 1e\+200 is too large .* rescale the columns",
        ),
        ({"a": pd.DataFrame({"t": DAYS})}, None, "Source 'a' has columns .* not numbers: 't'"),
        ({"a": DAYS.to_numpy()[:, None]}, None, "Source 'a' has columns .* not numbers: 0"),
        (
            {"a": pl.DataFrame({"x": [1.0, 2, 3], "t": DAYS.to_list()})},
            None,
            "Source 'a' has columns .* not numbers: 't'",
        ),
    ],
)
def test_mistakes_get_a_sentence(blocks, pipelines, message):
    with pytest.raises(ValueError, match=message):
        SourcePreparation(pipelines).fit(ViewBundle(blocks))


def test_pipelines_that_are_no_mapping_are_refused():
    with pytest.raises(TypeError, match=r"must map names of sources to transformers, .* got 3"):
        SourcePreparation(3).fit(ViewBundle({"a": np.eye(3)}))


def test_a_source_that_no_training_sample_has_is_refused():
    X = ViewBundle({"a": np.eye(3)}, present={"a": np.zeros(3, dtype=bool)})
    with pytest.raises(ValueError, match="'a' is present in none of the training samples"):
        SourcePreparation().fit(X)
