"""Displays: numbers apart from pictures, readable from 3 to 1,760 kernels, any text as a name."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib import rc_context
from numpy.testing import assert_allclose

from multikernel.datasets import load_demo, make_multiview_classification
from multikernel.displays import (
    ComparisonDisplay,
    ContributionsDisplay,
    ConvergenceDisplay,
    EvidenceDisplay,
    FoldWeightsDisplay,
    MethodWeightsDisplay,
    PathDisplay,
    PredictiveDisplay,
    RedundancyDisplay,
    SelectionDisplay,
    SimplexDisplay,
    WeightsDisplay,
)
from multikernel.displays._style import INK
from multikernel.estimators import (
    BayesianMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    ProbabilisticMKLRegressor,
)


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


DESCRIPTORS, REGIONS = ("hsvsift", "sift", "sift4px", "sift8px"), range(22)


def image_table(rng):
    table = kernel_table(88, FAMILIES, rng)
    names = [f"{descriptor} r{region}" for descriptor in DESCRIPTORS for region in REGIONS]
    return table | {"source": [name for name in names for _ in range(20)]}


def test_sources_of_two_parts_are_shown_in_panels(rng):
    table = image_table(rng)
    display = WeightsDisplay.from_table(table).plot()
    cells = np.asarray(display.artists_.get_array())
    w = np.reshape(table["weight"], (4, 22, 20))  # descriptor, region, family and width
    assert_allclose(cells, np.hstack(list(w)))
    assert [text.get_text() for text in display.ax_.get_yticklabels()][:2] == ["r0", "r1"]
    share = w.sum(axis=(1, 2)) / w.sum()
    texts = {text.get_text() for text in display.ax_.texts}
    assert {f"{name} {s:.0%}" for name, s in zip(DESCRIPTORS, share, strict=True)} <= texts
    side = display.ax_.child_axes[0]
    assert_allclose([bar.get_width() for bar in side.patches], w.sum(axis=(0, 2)) / w.sum())


def test_panels_may_be_given(rng, tmp_path):
    table = kernel_table(6, {"rbf": list(range(10))}, rng)
    panels = [f"$\\bad{{{source[-1] in '024'}" for source in table["source"]]
    display = WeightsDisplay(
        table["weight"],
        sources=table["source"],
        families=table["family"],
        parameters=table["parameter"],
        panels=panels,
    ).plot()
    display.figure_.savefig(tmp_path / "x.svg")
    cells = np.ma.filled(display.artists_.get_array(), np.nan)
    assert cells.shape == (6, 20)
    assert np.isnan(cells).sum() == 60  # a source belongs to one panel
    assert_allclose(np.nansum(cells), np.sum(table["weight"]))


def test_names_that_are_not_all_pairs_have_no_panels(rng):
    table = image_table(rng)
    cut = {name: list(values)[:-20] for name, values in table.items()}
    assert WeightsDisplay.from_table(cut).plot().artists_.get_array().shape == (30, 20)


def test_gap_against_time(model):
    history = model.solution_.history
    display = ConvergenceDisplay.from_estimator(model, against="seconds")
    assert_allclose(display.line_.get_xdata(), history["seconds"])
    assert display.ax_.get_xlabel() == "seconds"
    assert_allclose(display.frame()["seconds"], history["seconds"])
    counted = ConvergenceDisplay([0.1, 0.01], seconds=[1.0, 2.0], against="iteration").plot()
    assert counted.line_.get_xdata().tolist() == [1.0, 2.0]
    assert ConvergenceDisplay([0.1], seconds=[3.0]).plot().ax_.get_xlabel() == "seconds"
    with pytest.raises(ValueError, match=r"one of \['iteration'\], .* got 'seconds'"):
        ConvergenceDisplay([0.1], against="seconds").plot()


HOSTILE = ["a$b$c_<script>", "$\\bad{", "_hidden"]


@pytest.mark.parametrize("name", HOSTILE)
def test_entries_of_legends_are_written_as_given(name, tmp_path):
    displays = [
        ConvergenceDisplay([0.1, 0.01], name=name).plot(),
        PredictiveDisplay([0.0, 1.0], [0.0, 1.0], [1.0, 1.0], name=name, x_label=name).plot(),
        EvidenceDisplay({name: {"objective": [2.0, 1.0]}}).plot(),
    ]
    for i, display in enumerate(displays):
        display.figure_.savefig(tmp_path / f"{i}.svg")
        entries = [text.get_text().strip() for text in display.ax_.get_legend().get_texts()]
        assert name in entries
        assert not display.ax_.get_legend().get_texts()[0].get_parse_math()


@pytest.mark.parametrize("latent", [False, True])
def test_bands_of_one_of_several_targets(latent, rng):
    X = np.sort(rng.uniform(size=(30, 1)), axis=0)
    Y = pd.DataFrame(
        np.c_[np.sin(5 * X), 10 * X] + 0.1 * rng.normal(size=(30, 2)), columns=["p", "q"]
    )
    model = BayesianMKLRegressor(tol=1e-2, outputs="shared_samples").fit(X, Y.to_numpy())
    display = PredictiveDisplay.from_estimator(model, X, Y, output=1, n_points=20, latent=latent)
    grid = np.asarray(display.x)[:, None]
    mean, std = (model.predict_latent if latent else model.predict)(grid, return_std=True)
    frame = display.frame()
    assert_allclose(frame["mean"], mean[:, 1])
    assert_allclose(frame["upper"] - frame["lower"], 4 * std[:, 1])
    assert_allclose(display.y_data, Y["q"])
    assert display.ax_.get_ylabel() == "q"


def test_lines_and_letters_take_the_colour_of_the_page(rng, tmp_path):
    """A report replaces the colour of ink, so that pictures are read on dark pages too."""
    figures = [
        WeightsDisplay.from_table(image_table(rng)).plot().figure_,
        MethodWeightsDisplay({"a": [0.1, 0.9], "b": [1.0, 0.0]}).plot().figure_,
        FoldWeightsDisplay(rng.exponential(size=(3, 4))).plot().figure_,
        PathDisplay([0.1, 1.0], [[1.0, 0.0], [3.0, 1.0]], ["a", "b"]).plot().figure_,
        SelectionDisplay([0.1, 1.0], [[0.6, 0.8], [0.9, 0.9]], 1).plot().figure_,
        RedundancyDisplay(np.eye(3), list("abc"), target=[0.1, 0.2, 0.3]).plot().figure_,
        ContributionsDisplay([[1.0, -0.5]], ["a", "b"]).plot().figure_,
        ComparisonDisplay({"a": [1.0, 2.0]}, differences={"a": (0.0, -1.0, 1.0)}).plot().figure_,
        SimplexDisplay([[1.0, 2.0, 3.0]]).plot().figure_,
    ]
    for figure in figures:
        with rc_context({"svg.fonttype": "none"}):
            figure.savefig(tmp_path / "x.svg", transparent=True)
        svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
        letters = re.findall(r"<text style[^>]*>", svg)
        assert letters
        assert all(f"fill: {INK}" in text or "fill: #ffffff" in text for text in letters), svg
        assert "stroke: #000000" not in svg
