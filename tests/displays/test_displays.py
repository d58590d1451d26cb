"""Displays: numbers apart from pictures, readable from 3 to 1,760 kernels, any text as a name."""

import itertools

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from multikernel.datasets import load_demo, make_multiview_classification
from multikernel.displays import ConvergenceDisplay, PredictiveDisplay, WeightsDisplay
from multikernel.estimators import (
    BayesianMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    ProbabilisticMKLRegressor,
)

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    X, y = load_demo(return_X_y=True)
    return MKLClassifier(loss="logistic", regularizer="elasticnet").fit(X[:80], y[:80])


def kernel_table(n_sources, families, rng):
    settings = [(f, p) for f, parameters in families.items() for p in parameters]
    rows = list(itertools.product([f"source {i}" for i in range(n_sources)], settings))
    return {
        "source": [source for source, _ in rows],
        "family": [family for _, (family, _) in rows],
        "parameter": [parameter for _, (_, parameter) in rows],
        "weight": rng.exponential(size=len(rows)),
    }


FAMILIES = {"chi2": list(range(10)), "rbf": [2.0**k for k in range(10)]}


def test_weights_from_estimator(model):
    display = WeightsDisplay.from_estimator(model)
    assert display.figure_ is display.ax_.figure
    assert_allclose(display.frame()["weight"], model.weights_)
    assert_allclose(sorted(bar.get_width() for bar in display.artists_), np.sort(model.weights_))


def test_weights_of_several_classes_are_averaged():
    X, y = make_multiview_classification(60, n_classes=3, random_state=0)
    model = MKLClassifier(weights="per_class").fit(X, y)
    assert_allclose(WeightsDisplay.from_estimator(model).weights, model.weights_.mean(axis=0))
    worst = max(solution.gap for solution in model.solution_)
    assert ConvergenceDisplay.from_estimator(model).gap[-1] == worst


def test_convergence_from_estimator(model):
    display = ConvergenceDisplay.from_estimator(model)
    assert_allclose(display.frame()["gap"].iloc[-1], model.gap_)
    assert_allclose(display.line_.get_xdata(), model.solution_.history["n_passes"])
    assert display.ax_.get_yscale() == "log"


def test_unfitted_estimators_are_refused():
    for display in (WeightsDisplay, ConvergenceDisplay):
        with pytest.raises(ValueError, match="not fitted"):
            display.from_estimator(MKLClassifier())


def test_drawing_uses_the_axes_given(rng):
    _, ax = plt.subplots()
    display = WeightsDisplay.from_table(kernel_table(3, {"rbf": [1.0]}, rng)).plot(ax=ax)
    assert display.ax_ is ax
    assert ConvergenceDisplay([0.1, 0.01]).plot(ax=ax, name="mine").ax_ is ax


def test_shares_sum_to_one_and_follow_sources():
    display = WeightsDisplay([1.0, 2.0, 1.0], sources=["a", "b", "a"], families=["x", "x", "y"])
    assert display.shares() == {"a": 0.5, "b": 0.5}
    assert WeightsDisplay([0.0], sources=["a"], families=["x"]).shares() == {"a": 0.0}


def test_bars_are_grouped_by_source_and_coloured_alike():
    display = WeightsDisplay([1, 2, 3], sources=["a", "b", "a"], families=["x", "x", "y"]).plot()
    assert [bar.get_width() for bar in display.artists_] == [1, 3, 2]
    first, second, third = (bar.get_facecolor() for bar in display.artists_)
    assert first == second != third


@pytest.mark.parametrize(("n_sources", "n_rows"), [(5, 5), (88, 30)])
def test_many_kernels_become_a_heat_map_that_loses_nothing(n_sources, n_rows, rng):
    table = kernel_table(n_sources, FAMILIES, rng)
    display = WeightsDisplay.from_table(table).plot()
    cells = np.ma.filled(display.artists_.get_array(), 0.0)
    assert cells.shape == (n_rows, 20)
    assert_allclose(cells.sum(), np.sum(table["weight"]))
    assert len(display.frame()) == len(table["weight"])


def test_parameters_of_their_own_in_every_source_are_shown_by_rank(rng):
    table = kernel_table(30, {"rbf": range(10)}, rng)
    table["parameter"] = list(rng.permutation(300) + 0.5)
    display = WeightsDisplay.from_table(table).plot()
    assert display.artists_.get_array().shape == (30, 10)
    assert [text.get_text() for text in display.ax_.get_xticklabels()][:2] == ["#01", "#02"]


@pytest.mark.parametrize("repeat", [1, 60])
def test_any_text_may_be_a_name(repeat, tmp_path):
    names = ["$\\bad{", "a\nb", "<b>", "ж", "x" * 300] * repeat
    table = WeightsDisplay([1.0] * len(names), sources=names, families=names, parameters=names)
    table.plot().figure_.savefig(tmp_path / "x.svg")


def test_pandas_tables_and_missing_parameters(model):
    display = WeightsDisplay.from_table(model.kernel_table_)
    assert "nan" not in [label.get_text() for label in display.plot().ax_.get_yticklabels()]


def test_zero_and_infinite_gaps_can_be_drawn(tmp_path):
    display = ConvergenceDisplay([np.inf, 1e-3, 0.0], tol=1e-4).plot()
    display.figure_.savefig(tmp_path / "x.png")
    assert display.ax_.get_xlabel() == "iteration"
    assert display.frame()["gap"].tolist() == [np.inf, 1e-3, 0.0]


def test_named_parameters_are_ordered_by_their_numbers(rng):
    table = kernel_table(5, {"rbf": [f"width={2.0**k:g}" for k in range(10, -1, -1)]}, rng)
    display = WeightsDisplay.from_table(table).plot()
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert ticks == [f"{2.0**k:.3g}" for k in range(11)]


def test_columns_of_bayesian_tables_do_not_tell_sets_apart(rng):
    X = rng.normal(size=(40, 2))
    Y = np.c_[X[:, 0], X[:, 1]] + 0.1 * rng.normal(size=(40, 2))
    model = BayesianMKLRegressor({"a": [0], "b": [1]}, tol=1e-2)
    one = model.fit(X, Y[:, 0])
    assert_allclose(WeightsDisplay.from_estimator(one).weights, one.weights_)
    assert len(one.weights_) == 8
    both = model.set_params(outputs="shared_samples").fit(X, Y)
    display = WeightsDisplay.from_table(both.kernel_table_)
    assert_allclose(display.weights, both.weights_.mean(axis=0))
    assert display.sources == ["a"] * 4 + ["b"] * 4


@pytest.mark.parametrize("repeat", [1, 30])
def test_negative_weights_are_seen_and_count(repeat):
    display = WeightsDisplay(
        [-3.0, 1.0] * repeat, sources=["a", "b"] * repeat, families=["x", "x"] * repeat
    ).plot()
    assert display.shares() == {"a": 0.75, "b": 0.25}
    if repeat == 1:
        low, high = display.ax_.get_xlim()
        assert low < -3.0
        assert high > 1.0
    else:
        low, high = display.artists_.get_clim()
        assert (low, high) == (-90.0, 90.0)
        side = display.ax_.child_axes[0]
        assert_allclose([bar.get_width() for bar in side.patches], [0.75, 0.25])


def test_estimators_without_what_is_drawn_are_refused():
    X = np.linspace(0, 1, 12)[:, np.newaxis]
    y = np.sin(3 * X[:, 0])
    with pytest.raises(TypeError, match=r"no duality gap to draw; see its history_"):
        ConvergenceDisplay.from_estimator(
            ProbabilisticMKLRegressor().fit(X, y + 0.1 * (X[:, 0] > 0.5))
        )
    with pytest.raises(TypeError, match="no predictive standard deviations"):
        PredictiveDisplay.from_estimator(MKLRegressor().fit(X, y), X, y)
