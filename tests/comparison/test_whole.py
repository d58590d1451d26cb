"""The headline model on all samples: its course, its redundancies, and what columns it goes by."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import multikernel as mk
from multikernel.comparison import whole as whole_module
from multikernel.comparison.tasks import Data
from multikernel.comparison.whole import WholeFit

N = 60


@pytest.fixture
def tables(rng):
    a = pd.DataFrame(rng.normal(size=(N, 3)), columns=["one", "two", "three"])
    b = pd.DataFrame(rng.normal(size=(N, 2)))
    y = np.where(2 * a["two"] - a["three"] + 0.1 * b[0] > 0, "u", "v")
    return mk.ViewBundle({"a": a, "b": b}), y


def whole(X, y, model):
    return WholeFit(model).run(Data(X, y, None, [], "accuracy"))


def test_coefficients_are_those_of_the_linear_part(tables):
    X, y = tables
    model = mk.MKLClassifier("linear", regularizer="uniform", normalize=None, C=1.0, tol=1e-10)
    found = whole(X, y, model)["features"]
    table = np.hstack([X.block("a"), X.block("b")])
    known = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(table, y).coef_[0]
    ours = {f["name"]: f["coefficient"] for source in found.values() for f in source}
    assert_allclose([ours[n] for n in ("one", "two", "three", "0", "1")], known, rtol=1e-4)
    assert [f["name"] for f in found["a"]][:2] == ["two", "three"]


def test_several_classes_have_one_size_each(tables, rng):
    X, _ = tables
    y = rng.choice(["u", "v", "w"], size=N)
    found = whole(X, y, mk.MKLClassifier("linear"))["features"]
    assert all(f["coefficient"] >= 0 for source in found.values() for f in source)


def test_what_is_stored_of_an_infinite_gap_is_json(tables, tmp_path, monkeypatch):
    endless = {"gap": [np.inf, 1e-5], "n_passes": [1.0, 2.0]}
    monkeypatch.setattr(whole_module, "_history", lambda model: endless)
    for _ in range(2):  # the second time from the store
        result = mk.compare(*tables, models=[], kernels="linear", cv=2, store=tmp_path / "fits")
        assert result.whole["history"] == endless
    stored = [json.loads(p.read_text(), parse_constant=pytest.fail) for p in tmp_path.rglob("*.*")]
    assert len(stored) == 10  # the plan, two models and two sources on two folds, and the whole


def test_it_is_kept_by_compare_and_read_again(tables, tmp_path):
    X, y = tables
    kept = y.copy()
    result = mk.compare(X, y, models=[], cv=2)
    assert (y == kept).all()
    assert result.whole["history"]["gap"][-1] <= result.whole["tol"]
    names = result.whole["redundancy"]["names"]
    assert len(names) == len(result.whole["redundancy"]["target"]) == 8
    assert json.loads(json.dumps(result.whole)) == result.whole
    assert mk.Comparison.load(result.save(tmp_path / "c.json")).whole == result.whole


@pytest.mark.parametrize(
    ("settings", "solver", "reason"),
    [
        ({}, "DualNewton", "the dual of the regularizer is smooth"),
        ({"kernels": None}, "DualNewton", "the dual of the regularizer is smooth"),
        ({"loss": "hinge"}, "NewtonWeights", "the loss has kinks"),
        ({"regularizer": "lp"}, "NewtonWeights", "able dual (DualNewton)"),
        ({"solver": "alternating"}, "Alternating", ""),
    ],
)
def test_the_solver_has_the_reason_for_its_choice(tables, settings, solver, reason):
    found = whole(*tables, mk.MKLClassifier(**{"kernels": "linear", "tol": 1e-3} | settings))
    assert found["solver"] == solver
    assert reason in found["reason"]
    assert bool(found["reason"]) == bool(reason)


def test_kernels_have_no_features_but_redundancies(tables):
    X, y = tables
    grams = {name: np.asarray(X.block(name) @ X.block(name).T) for name in X.names}
    found = whole(mk.KernelBundle(grams), y, mk.MKLClassifier())
    assert found["features"] == {}
    assert found["redundancy"]["names"] == ["a", "b"]
    assert found["prepared"] is None


@pytest.mark.parametrize(
    ("own", "names", "said"),
    [
        (None, {"one", "two", "three"}, "default"),
        ("passthrough", {"one", "two", "three"}, "passthrough"),
        (StandardScaler(), {"one", "two", "three"}, "StandardScaler()"),
        (PCA(3), {"pca0", "pca1", "pca2"}, "PCA(n_components=3)"),
        (
            FunctionTransformer(np.negative),
            {f"column {j}" for j in range(3)},
            "FunctionTransformer(",
        ),
    ],
)
def test_columns_have_the_names_of_what_kernels_see(tables, own, names, said):
    X, y = tables
    preparation = mk.SourcePreparation({} if own is None else {"a": own})
    found = whole(X, y, make_pipeline(preparation, mk.MKLClassifier("linear", normalize=None)))
    assert {feature["name"] for feature in found["features"]["a"]} == names
    assert found["prepared"]["a"].startswith(said)
    assert found["prepared"]["b"] == "default"


def test_columns_go_in_batches(tables, monkeypatch):
    X, y = tables
    model = mk.MKLClassifier("linear")
    known = whole(X, y, model)["features"]
    monkeypatch.setattr(whole_module, "_AT_ONCE", 2)
    found = whole(X, y, model)["features"]
    assert known.keys() == found.keys()
    for source in known:
        assert [f["name"] for f in found[source]] == [f["name"] for f in known[source]]
        ours, theirs = ([f["coefficient"] for f in part[source]] for part in (found, known))
        assert_allclose(ours, theirs, rtol=1e-9)


def test_a_fit_to_all_samples_that_fails_is_told(tables, tmp_path, monkeypatch):
    def fail(*args):
        raise MemoryError("no room for columns")

    monkeypatch.setattr(whole_module, "_features", fail)
    result = mk.compare(*tables, kernels="linear", models=[], cv=2)
    assert result.whole is None
    assert result.complete
    label = "MKL, elastic net on all samples"
    message = "MemoryError: no room for columns"
    assert result.failures == [{"model": label, "fold": None, "error": message}]
    sentence = f"{label} failed: {message}"
    assert sentence in result.verdict
    assert mk.Comparison.load(result.save(tmp_path / "c.json")).failures == result.failures
    page = mk.save_report(tmp_path / "r.html", result).read_text("utf-8")
    assert f"{sentence} Redundancy of kernels, features" in page
