"""ContributionsDisplay: exact sums, and samples worth looking at."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from multikernel.datasets import load_demo, make_multiview_classification
from multikernel.displays import ContributionsDisplay
from multikernel.estimators import BayesianMKLRegressor, MKLClassifier, MKLRegressor

HOSTILE = "a$b$c_<script>"


@pytest.fixture(scope="module")
def binary():
    X, y = load_demo(return_X_y=True)
    return MKLClassifier(tol=1e-4).fit(X[:60], y[:60]), X[60:100], y[60:100]


def test_bars_add_up_to_the_decision(binary):
    model, X, _ = binary
    display = ContributionsDisplay.from_estimator(model, X, samples=[3, 7])
    frame = display.frame()
    assert_allclose(frame["decision"], model.decision_function(X)[[3, 7]])
    assert_allclose(frame["constant"], model.intercept_[0])
    assert list(frame.columns[:-2]) == model.sources_
    assert_allclose(display.totals_.get_xdata(), frame["decision"])
    for source in model.sources_:
        assert_allclose([bar.get_width() for bar in display.bars_[source]], frame[source])
    assert all(str(label) in display.ax_.get_xlabel() for label in model.classes_)
    assert display.ax_.get_title(loc="left")


def test_best_worst_and_unsure_samples(binary):
    model, X, y = binary
    samples = ContributionsDisplay.from_estimator(model, X, y).samples
    f = model.decision_function(X)
    margin = np.where(y == model.classes_[1], f, -f)
    ids = np.asarray(X.ids)
    assert samples[0] == f"best: {ids[margin.argmax()]}"
    assert samples[2] == f"worst: {ids[margin.argmin()]}"
    assert samples[4] == f"unsure: {ids[np.abs(f).argmin()]}"
    blind = ContributionsDisplay.from_estimator(model, X).samples
    assert blind[0] == f"highest: {ids[f.argmax()]}"
    assert blind[2] == f"lowest: {ids[f.argmin()]}"


def test_of_few_samples_all_are_shown_and_none_is_called_best(binary):
    model, X, y = binary
    names = [str(name) for name in X.ids[:5]]
    assert ContributionsDisplay.from_estimator(model, X[:5], y[:5]).samples == names
    assert ContributionsDisplay.from_estimator(model, X[:5]).samples == names
    kinds = [
        name.split(":")[0]
        for name in ContributionsDisplay.from_estimator(model, X[:6], y[:6]).samples
    ]
    assert kinds == ["best"] * 2 + ["worst"] * 2 + ["unsure"] * 2


def test_more_classes_are_set_against_the_strongest_other():
    X, y = make_multiview_classification(60, n_classes=3, random_state=0)
    model = MKLClassifier(tol=1e-4).fit(X, y)
    F = model.decision_function(X)
    frame = ContributionsDisplay.from_estimator(model, X, y, samples=range(60)).frame()
    codes = np.searchsorted(model.classes_, y)
    own = F[np.arange(60), codes]
    rest = np.where(np.arange(3) == codes[:, None], -np.inf, F).max(axis=1)
    assert_allclose(frame["decision"], own - rest)
    frame = ContributionsDisplay.from_estimator(model, X, samples=range(60)).frame()
    top = np.sort(F, axis=1)
    assert_allclose(frame["decision"], top[:, -1] - top[:, -2])


def test_regressors(rng):
    names = [f"s{i}" for i in range(40)]
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["u", "v"], index=names)
    y = X["u"] ** 2 + 0.1 * rng.normal(size=40)
    sources = {"u": ["u"], HOSTILE: ["v"]}
    model = MKLRegressor(sources, tol=1e-3).fit(X, y)
    display = ContributionsDisplay.from_estimator(model, X, y)
    assert_allclose(
        display.frame()["decision"],
        model.predict(X.loc[[name.split(": ")[1] for name in display.samples]]),
    )
    assert display.samples[0] == f"best: s{np.abs(y - model.predict(X)).to_numpy().argmin()}"
    assert not any(name.startswith("unsure") for name in display.samples)
    bayesian = BayesianMKLRegressor(sources, tol=1e-2).fit(X, y)
    display = ContributionsDisplay.from_estimator(bayesian, X, y)
    std = bayesian.predict(X, return_std=True)[1]
    shown = [name.split(": s")[1] for name in display.samples[:4]]
    left = [i for i in np.argsort(-std) if str(i) not in shown]
    assert display.samples[4] == f"unsure: s{left[0]}"
    both = MKLRegressor(sources, tol=1e-2).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="draws one target"):
        ContributionsDisplay.from_estimator(both, X)


def test_many_sources_and_any_names(rng, tmp_path):
    names = [HOSTILE, "$\\bad{", "_hidden", *(f"source {i}" for i in range(85))]
    c = rng.normal(size=(4, 88))
    c[:, :3] *= 9
    display = ContributionsDisplay(
        c, names, samples=["$\\bad{", "a\nb", "", "x"], meaning="$\\bad{"
    )
    display.plot().figure_.savefig(tmp_path / "x.svg")
    widths = np.array([[bar.get_width() for bar in bars] for bars in display.bars_.values()])
    assert len(widths) == 8  # seven sources and the others; there is no constant
    assert_allclose(widths.sum(axis=0), c.sum(axis=1))


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="1 to 60 samples, got 61"):
        ContributionsDisplay(np.zeros((61, 1)), ["a"]).plot()
    with pytest.raises(ValueError, match="a column per source"):
        ContributionsDisplay(np.zeros((2, 3)), ["a"]).plot()
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="no decision_contributions"):
        ContributionsDisplay.from_estimator(model, [[0.0]])
