"""The headline model on all samples: its course, its redundancies, and what columns it goes by."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import multikernel as mk
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


def test_kernels_have_no_features_but_redundancies(tables):
    X, y = tables
    grams = {name: np.asarray(X.block(name) @ X.block(name).T) for name in X.names}
    found = whole(mk.KernelBundle(grams), y, mk.MKLClassifier())
    assert found["features"] == {}
    assert found["redundancy"]["names"] == ["a", "b"]
