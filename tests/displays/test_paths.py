"""PathDisplay and SelectionDisplay: weights and scores against C."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV

from multikernel.datasets import load_demo
from multikernel.displays import PathDisplay, SelectionDisplay
from multikernel.estimators import MKLClassifier, MKLClassifierCV, mkl_path

HOSTILE = "a$b$c_<script>"


@pytest.fixture(scope="module")
def data():
    X, y = load_demo(return_X_y=True)
    return X[:60], y[:60]


@pytest.fixture(scope="module")
def path(data):
    return mkl_path(MKLClassifier(regularizer="lp", tol=1e-3), *data, Cs=4)


@pytest.fixture(scope="module")
def search(data):
    grid = {"l1_ratio": [0.2, 0.8]}
    model = MKLClassifierCV(regularizer_grid=grid, Cs=3, cv=3, tol=1e-2, scoring="roc_auc")
    return model.fit(*data)


def test_curves_of_kernels(path):
    display = PathDisplay.from_path(path)
    frame = display.frame()
    assert_allclose(frame["weight"].to_numpy().reshape(4, -1), path.weights)
    for row, line in display.lines_.items():
        assert_allclose(line.get_xdata(), path.Cs)
        assert_allclose(line.get_ydata(), path.weights[:, row])
    assert display.ax_.get_xscale() == "log"
    assert "kernels in use" in display.ax_.get_title(loc="left")
    assert display.ax_.get_ylabel() == "weight"
    counts = [text.get_text() for text in display.ax_.texts]
    assert counts == [str(n) for n in path.n_active]


@pytest.mark.parametrize("quantity", ["weight", "share"])
def test_curves_of_sources(path, quantity):
    display = PathDisplay.from_path(path, by="source", quantity=quantity)
    table = display.frame().pivot(index="C", columns="name", values=quantity)
    sources, total = np.array(path.sources), path.weights.sum(axis=1)
    for name in table:
        expected = path.weights[:, sources == name].sum(axis=1)
        assert_allclose(table[name], expected / (total if quantity == "share" else 1.0))


def test_paths_that_cannot_be_drawn_are_refused(path):
    with pytest.raises(ValueError, match="by must be"):
        PathDisplay.from_path(path, by="family")
    with pytest.raises(ValueError, match="quantity must be one of"):
        PathDisplay([1.0], [[1.0]], ["a"], quantity="norm").plot()
    with pytest.raises(ValueError, match="must have shape"):
        PathDisplay([1.0], [[1.0, 2.0]], ["a"]).plot()


def test_many_kernels_and_any_names(rng, tmp_path):
    names = [HOSTILE, "$\\bad{", "_hidden", *(f"kernel {m}" for m in range(1757))]
    weights = rng.exponential(size=(5, 1760))
    weights[:, :3] += 20.0
    display = PathDisplay(np.logspace(-1, 1, 5), weights, names).plot()
    entries = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {HOSTILE, "$\\bad{", " _hidden", "1,753 others"} <= set(entries)
    assert len(display.others_.get_segments()) == 1753
    display.figure_.savefig(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size < 600_000


def test_candidates_are_those_of_the_search(search):
    display = SelectionDisplay.from_cv(search)
    frame, results = display.frame(), search.cv_results_
    assert_allclose(frame["C"], results["param_C"])
    assert_allclose(frame["mean"], results["mean_test_score"])
    assert_allclose(frame["error"], results["std_test_score"] / np.sqrt(2))  # of three folds
    assert frame["chosen"].tolist() == [i == search.best_index_ for i in range(6)]
    assert set(display.lines_) == {"l1_ratio=0.2", "l1_ratio=0.8"}
    assert_allclose(display.mark_.get_xdata(), search.C_)
    assert display.ax_.get_ylabel().startswith("roc_auc")
    assert f"C = {search.C_:.3g}" in display.ax_.get_title(loc="left")


def test_searches_of_scikit_learn_are_drawn_too(data):
    search = GridSearchCV(MKLClassifier(tol=1e-2), {"C": [0.1, 1.0]}, cv=2).fit(*data)
    frame = SelectionDisplay.from_cv(search).frame()
    assert_allclose(frame["mean"], search.cv_results_["mean_test_score"])


def test_models_that_chose_nothing_are_refused(data):
    with pytest.raises(TypeError, match="has compared nothing"):
        SelectionDisplay.from_cv(MKLClassifier(tol=1e-2).fit(*data))
    search = GridSearchCV(MKLClassifier(tol=1e-2), {"loss": ["logistic"]}, cv=2).fit(*data)
    with pytest.raises(ValueError, match="candidates that differ in C"):
        SelectionDisplay.from_cv(search)


def test_settings_are_written_as_given(tmp_path):
    scores = [[0.5], [0.6]]
    display = SelectionDisplay([1.0, 1.0], scores, 0, settings=[HOSTILE, "$\\bad{"], scoring="$x$")
    display.plot().figure_.savefig(tmp_path / "x.svg")
    assert np.isnan(display.frame()["error"]).all()
