"""The mistakes that newcomers make: what is said must name the thing and what to type."""

import re

import numpy as np
import pandas as pd
import pytest

import multikernel as mk
from multikernel import _memory
from multikernel.cli._study import concerns
from multikernel.files import Dataset

N, M = 120, 3
TRAIN, TEST = np.arange(90), np.arange(90, N)


@pytest.fixture(scope="module")
def Z():
    return np.random.default_rng(0).normal(size=(N, M))


@pytest.fixture(scope="module")
def grams(Z):
    return [Z[:, [m]] @ Z[:, [m]].T for m in range(M)]


@pytest.fixture(scope="module")
def y(Z):
    return np.where(Z[:, 0] > 0, 1, -1)


def precomputed():
    return mk.MKLClassifier(kernels="precomputed", normalize=None)


def said(error, call):
    """What a call that must fail says."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


LIST = (
    "Got a list of 3 arrays of shape (120, 120). scikit-learn would read this as 3 samples. "
    "Use KernelBundle.from_list(kernels)."
)


@pytest.mark.parametrize("estimator", [precomputed(), mk.MKLClassifier(), mk.MKLRegressor()])
def test_a_list_of_kernels(estimator, grams, y):
    assert said(TypeError, lambda: estimator.fit(grams, y)) == LIST


def test_a_list_of_kernels_to_compare(grams, y):
    assert said(TypeError, lambda: mk.compare(grams, y)) == LIST


def test_what_is_suggested_for_a_list_works(grams, y):
    model = mk.MKLClassifier().fit(mk.KernelBundle.from_list(grams), y)
    assert len(model.weights_) == M


MODELS = [
    mk.MKLClassifier(),
    mk.MKLClassifierCV(),
    mk.MKLRegressor(),
    mk.MultiTaskMKLClassifier(),
    mk.ProbabilisticMKLClassifier(),
    mk.BayesianMKLClassifier(),
]


@pytest.mark.parametrize("estimator", MODELS, ids=lambda model: type(model).__name__)
def test_no_samples(estimator, Z):
    table = pd.DataFrame(Z)[:0]
    for X in (mk.ViewBundle({"a": Z, "b": Z})[:0], table):
        message = said(ValueError, lambda X=X: estimator.fit(X, []))
        assert message.startswith(f"Found a {type(X).__name__} with 0 sample(s)")
        assert "there are no samples to learn from" in message


def test_no_samples_to_compare(Z):
    message = said(ValueError, lambda: mk.compare({"a": Z[:0], "b": Z[:0]}, []))
    assert message.startswith("There are no samples to compare models on")


STACK = (
    "Got an array of shape (3, 120, 120), kernels first. scikit-learn would read this as 3 "
    "samples. Use np.moveaxis(K, 0, 2), of shape (n, n, n_kernels)."
)


def test_kernels_along_the_first_axis(grams, y):
    K = np.stack(grams)
    assert said(ValueError, lambda: precomputed().fit(K, y)) == STACK
    assert said(ValueError, lambda: mk.KernelBundle.from_array(K)) == STACK
    message = said(ValueError, lambda: mk.MKLClassifier().fit(K, y))
    assert "use kernels='precomputed' and pass np.moveaxis(K, 0, 2)." in message


def test_what_is_suggested_for_the_first_axis_works(grams, y):
    K = np.moveaxis(np.stack(grams), 0, 2)
    assert len(precomputed().fit(K, y).weights_) == M
    assert mk.KernelBundle.from_array(K).shape == (N, N)


def test_as_many_kernels_as_training_samples_against_few_queries_are_no_mistake():
    K = mk.KernelBundle.from_array(np.ones((2, 5, 5)), ids=["a", "b"], column_ids=range(5))
    assert len(K) == 2
    assert len(K.names) == 5


@pytest.fixture(scope="module")
def tables(grams):
    ids = [f"s{i}" for i in range(N)]
    first = pd.DataFrame(grams[0], index=ids, columns=ids)
    order = np.random.default_rng(1).permutation(N)
    return first, first.iloc[order, order]


def test_tables_of_kernels_in_another_order_are_reordered_by_ids(tables):
    first, second = tables
    bundle = mk.KernelBundle({"first": first, "second": second})
    np.testing.assert_array_equal(bundle.block("first"), bundle.block("second"))
    rows_only = mk.KernelBundle({"first": first, "second": second[first.columns]})
    np.testing.assert_array_equal(rows_only.block("first"), rows_only.block("second"))


def test_tables_of_kernels_of_other_samples_name_the_first_mismatch(tables):
    first, second = tables
    other = second.rename(index={"s7": "x7"}, columns={"s7": "x7"})
    message = said(ValueError, lambda: mk.KernelBundle({"rna": first, "mri": other}))
    assert "'mri'" in message
    assert "'s7'" in message


def test_queries_of_the_wrong_width(grams, y):
    K = np.stack(grams, axis=2)
    model = precomputed().fit(K[np.ix_(TRAIN, TRAIN)], y[TRAIN])
    message = said(ValueError, lambda: model.predict(K[TEST]))
    assert "120" in message
    assert "kernels against the 90 training samples" in message
    assert "Pass K[:, train]" in message
    assert len(model.predict(K[np.ix_(TEST, TRAIN)])) == len(TEST)


def test_queries_without_the_training_samples(tables, y):
    bundle = mk.KernelBundle({"rna": tables[0]})
    model = precomputed().fit(bundle[TRAIN], y[TRAIN])
    alone = mk.KernelBundle({"rna": tables[0].iloc[TEST, TEST]})
    message = said(ValueError, lambda: model.predict(alone))
    assert "expected kernels against the 90 training samples" in message
    assert "first 's0'" in message
    assert len(model.predict(bundle[TEST])) == len(TEST)


def test_a_kernel_that_is_not_positive_semidefinite(grams, y):
    K = mk.KernelBundle({"rna": grams[0] - np.eye(N), "mri": grams[1]})
    message = said(ValueError, lambda: precomputed().fit(K, y))
    assert "'rna' must be positive semi-definite" in message
    assert "smallest eigenvalue is -1.0e+00" in message
    for repair in ("clip", "flip", "shift"):
        assert f"'{repair}'" in message
        repaired = mk.nearest_psd(grams[0] - np.eye(N), method=repair)
        assert np.linalg.eigvalsh(repaired)[0] > -1e-8 * np.linalg.norm(repaired)


@pytest.fixture(scope="module")
def many_kernels():
    rng = np.random.default_rng(0)
    ids = [f"s{i}" for i in range(30)]
    tables = {
        f"region {m}": pd.DataFrame(rng.normal(size=(30, 2)), index=ids, columns=["a", "b"])
        for m in range(50)
    }
    y = pd.Series(["ill", "well"] * 15, index=ids, name="outcome")
    return Dataset(tables, y=y, task="classification")


def test_more_kernels_than_samples(many_kernels):
    (warning,) = (
        finding.sentence
        for finding in mk.check_sources(many_kernels).findings
        if finding.severity == "warning" and finding.subject == "kernels"
    )
    assert "30 samples, 200 kernels" in warning
    assert "not identifiable" in warning
    assert "group" in warning
    assert "uniform sum" in warning


def test_more_kernels_than_samples_are_noted_before_a_comparison(many_kernels):
    assert any("30 samples, 200 kernels" in note for note in concerns(many_kernels))


def test_not_enough_memory(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 16e9)
    message = said(MemoryError, lambda: mk.PackedBank(50_000, 20))
    assert "20 kernels × 50,000² × 8 B" in message
    needed = float(re.search(r"need (\d+) GB", message).group(1))
    assert needed == pytest.approx(20 * 50_000**2 * 8 / 2 / 1e9, rel=0.2)  # one triangle, in panels
    assert "but 16 GB are free" in message
    assert "dtype='float32', which takes half of it" in message
    assert "a Nystroem map in a SourcePreparation (100 for each kernel take 800 MB)" in message
    single = said(MemoryError, lambda: mk.PackedBank(50_000, 20, np.float32))
    assert "float32" not in single
    assert "SourcePreparation" in single


@pytest.mark.parametrize(("n_samples", "named"), [(1999, False), (2000, True)])
def test_a_nystroem_map_is_named_where_its_columns_would_be_kept(n_samples, named, monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 1e6)
    message = said(MemoryError, lambda: mk.PackedBank(n_samples, 3))
    assert ("Nystroem" in message) == named
