"""Displays of Bayesian inference: the numbers are those of the fits, whatever is drawn."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from multikernel import ProbabilisticMKLRegressor
from multikernel.banks import PackedBank
from multikernel.bayes import BayesProblem, InformationNewton, MacKay
from multikernel.bayes.taxonomy import phi_map, phi_mkl, phi_vb, taxonomy
from multikernel.displays import (
    EvidenceDisplay,
    MethodWeightsDisplay,
    ObjectiveContourDisplay,
    PredictiveDisplay,
    TaxonomyDisplay,
)
from multikernel.likelihoods import Gaussian, LogisticLikelihood


def wave(n=25, widths=(0.3, 1.0), likelihood=None):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2, 2, n))
    bank = PackedBank.from_grams([np.exp(-((x[:, None] - x) ** 2) / w**2) for w in widths])
    y = np.sin(3 * x) + 0.2 * rng.normal(size=n)
    likelihood = likelihood or Gaussian(0.1)
    if likelihood.y_domain == "sign":
        y = np.where(y > 0, 1.0, -1.0)
    return x, y, BayesProblem(bank, y[:, None], likelihood, fit_intercept=False)


@pytest.fixture(scope="module")
def model():
    x, y, _ = wave()
    return ProbabilisticMKLRegressor().fit(x[:, None], y)


@pytest.fixture(scope="module")
def fits():
    _, _, problem = wave(widths=(0.2, 0.5, 1.0, 3.0))
    return {"newton": InformationNewton().infer(problem), "mackay": MacKay().infer(problem)}


# Taxonomy


def test_taxonomy_shows_every_objective(model):
    table = taxonomy(model)
    display = TaxonomyDisplay.from_estimator(model)
    assert_allclose(display.frame()["value"], [row.value for row in table.rows])
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == list(table.frame().index)
    exact = np.asarray(display.artists_["exact"].get_offsets())
    assert_allclose(exact[:, 0], table["MLM"].value)
    assert set(display.artists_) == {"exact", "no"}
    assert display.ax_.lines[0].get_xdata()[0] == table["MLM"].value


def test_taxonomy_draws_what_is_known_and_says_what_is_not(tmp_path):
    display = TaxonomyDisplay(
        ["MLM", "VB", "x$\\bad{"], [np.nan, 3.0, -4.0], bounds=["exact", "upper", "no"]
    ).plot()
    display.figure_.savefig(tmp_path / "x.png")
    assert [t.get_text() for t in display.ax_.texts] == ["not available", "3.00", "−4.00"]
    assert not display.ax_.lines  # no evidence, no line
    assert set(display.artists_) == {"upper", "no"}


def test_taxonomy_uses_the_axes_and_settings_given():
    _, _, problem = wave(likelihood=LogisticLikelihood())
    _, ax = plt.subplots()
    display = TaxonomyDisplay.from_estimator(problem, ax=ax, jitter=0.3)
    assert display.ax_ is ax
    d = taxonomy(problem).weights
    expected = phi_map(problem.bank, problem.y, problem.likelihood, d, jitter=0.3).value
    assert_allclose(display.frame()["value"]["MAP"], expected)


# Evidence against work


@pytest.mark.parametrize("against", ["iteration", "seconds", "n_passes"])
def test_evidence_is_drawn_above_the_best(fits, against, tmp_path):
    display = EvidenceDisplay.from_fits(fits, against=against)
    best = min(fit.history["objective"].min() for fit in fits.values())
    assert display.best() == best
    for name, fit in fits.items():
        drawn = display.lines_[name].get_ydata()
        assert_allclose(drawn, np.maximum(fit.history["objective"] - best, 1e-8))
        if against != "iteration":
            assert_allclose(display.lines_[name].get_xdata(), fit.history[against])
    display.figure_.savefig(tmp_path / "x.png")
    assert display.ax_.get_yscale() == "log"


def test_evidence_frame_and_estimators(model, fits):
    display = EvidenceDisplay.from_fits({"model": model, **fits})
    frame = display.frame()
    assert frame["method"].unique().tolist() == ["model", "newton", "mackay"]
    assert frame["above_best"].min() == 0
    ours = frame[frame["method"] == "model"]
    assert_allclose(ours["objective"], model.history_["objective"])
    assert ours["iteration"].tolist() == list(range(1, len(ours) + 1))


def test_long_and_short_runs_share_a_logarithmic_axis():
    histories = {"a": {"objective": [1.0, 0.5]}, "b": {"objective": np.linspace(1, 0.6, 500)}}
    assert EvidenceDisplay(histories).plot().ax_.get_xscale() == "log"


def test_evidence_refuses_nothing_and_unknown_axes(fits):
    with pytest.raises(ValueError, match="no histories to draw"):
        EvidenceDisplay({}).plot()
    with pytest.raises(ValueError, match=r"against must be one of .*'iteration'.*, got 'hours'"):
        EvidenceDisplay.from_fits(fits, against="hours")


# Weights by method


def test_weights_by_method(fits):
    display = MethodWeightsDisplay.from_fits(fits, kernels=["a", "b", "c", "d"])
    weights = np.stack([fit.weights for fit in fits.values()], axis=1)
    assert_allclose(display.frame().to_numpy(), weights / weights.sum(axis=0))
    assert list(display.frame().index) == ["a", "b", "c", "d"]
    drawn = display.mesh_.get_array()
    assert_allclose(drawn.filled(0.0), weights / weights.sum(axis=0))
    assert np.array_equal(np.ma.getmaskarray(drawn), weights == 0)
    ticks = [t.get_text() for t in display.ax_.get_xticklabels()]
    assert ticks == [f"{k}\n{n} of 4" for k, n in display.used().items()]


def test_weights_of_estimators_are_named_by_their_kernels(model):
    display = MethodWeightsDisplay.from_fits({"evidence": model, "again": model})
    assert list(display.frame().index) == ["linear", "rbf  0.25", "rbf  1", "rbf  4"]
    assert_allclose(display.frame()["again"], model.weights_ / model.weights_.sum())


def test_many_kernels_and_no_weight_can_be_drawn(rng, tmp_path):
    weights = {"x$\\bad{": rng.random(200), "none": np.zeros(200)}
    display = MethodWeightsDisplay(weights).plot()
    display.figure_.savefig(tmp_path / "x.png")
    assert display.used() == {"x$\\bad{": 200, "none": 0}
    assert not display.ax_.texts
    with pytest.raises(ValueError, match=r"the same kernels, got \[2, 3\]"):
        MethodWeightsDisplay({"a": [1, 2], "b": [1, 2, 3]}).plot()


# Predictions


def test_predictions_with_bands_and_data(model):
    x, y, _ = wave()
    display = PredictiveDisplay.from_estimator(model, x[:, None], y, n_points=50)
    mean, std = model.predict(np.asarray(display.x)[:, None], return_std=True)
    assert_allclose(display.line_.get_ydata(), mean)
    frame = display.frame()
    assert_allclose(frame["upper"] - frame["lower"], 4 * std)
    assert_allclose(display.points_.get_xydata(), np.column_stack([x, y]))
    wide, narrow = (band.get_paths()[0].vertices for band in display.bands_)
    assert wide[:, 1].max() > narrow[:, 1].max()
    assert frame["x"].iloc[0] < x.min() < x.max() < frame["x"].iloc[-1]


def test_predictions_of_a_table_keep_its_names():
    x, y, _ = wave()
    X, y = pd.DataFrame({"time": x}), pd.Series(y, name="speed")
    model = ProbabilisticMKLRegressor().fit(X, y)
    display = PredictiveDisplay.from_estimator(model, X, y, latent=True)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("time", "speed")
    _, std = model.predict_latent(pd.DataFrame({"time": display.x}), return_std=True)
    assert_allclose(display.std, std)


def test_two_curves_share_the_data(model):
    x, y, _ = wave()
    first = PredictiveDisplay.from_estimator(model, x[:, None], y, name="one")
    second = PredictiveDisplay.from_estimator(model, x[:, None], y, name="two", ax=first.ax_)
    assert second.points_ is None
    labels = [t.get_text() for t in first.ax_.get_legend().get_texts()]
    assert labels == ["one", "± 1 and ± 2 std", "data", "two"]


def test_predictions_without_data_or_with_endless_bands(tmp_path):
    display = PredictiveDisplay([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [np.inf, 0.1, 0.2]).plot()
    display.figure_.savefig(tmp_path / "x.png")
    assert display.points_ is None


def test_predictions_need_one_variable(model):
    with pytest.raises(ValueError, match=r"X must have shape \(n_samples, 1\), got \(5, 2\)"):
        PredictiveDisplay.from_estimator(model, np.zeros((5, 2)))
    with pytest.raises(ValueError, match="not fitted"):
        PredictiveDisplay.from_estimator(ProbabilisticMKLRegressor(), np.zeros((5, 1)))


# Contours


@pytest.fixture(scope="module")
def contours():
    _, _, problem = wave(12)
    display = ObjectiveContourDisplay.from_problem(problem, n_grid=9, lam=20.0, jitter=0.05)
    return problem, display


def test_contours_show_the_objectives(contours):
    problem, display = contours
    data = (problem.bank, problem.y, problem.likelihood)
    frame = display.frame()
    assert list(frame.columns) == ["d1", "d2", "MKL", "MAP", "VB"]
    for row in frame.iloc[[0, 5, 30, 80]].itertuples():
        d = np.array([row.d1, row.d2])
        assert_allclose(row.MKL, phi_mkl(*data, d, lam=20.0).value)
        assert_allclose(row.MAP, phi_map(*data, d, jitter=0.05).value)
        assert_allclose(row.VB, phi_vb(*data, d).value, atol=1e-6)


def test_minima_are_stationary_and_the_lowest_is_first(contours):
    problem, display = contours
    data = (problem.bank, problem.y, problem.likelihood)
    functions = {
        "MKL": lambda d: phi_mkl(*data, d, lam=20.0),
        "MAP": lambda d: phi_map(*data, d, jitter=0.05),
        "VB": lambda d: phi_vb(*data, d),
    }
    assert len(display.minima["MKL"]) == 1  # convex
    for name, function in functions.items():
        points = [np.array(point) for point in display.minima[name]]
        values = [function(point).value for point in points]
        assert values == sorted(values)
        assert values[0] <= np.min(display.surfaces[name])
        for point in points:
            g = function(point).gradient
            assert np.all(np.where(point > 0, np.abs(g) < 1e-2, g > -1e-3))


def test_one_panel_for_each_objective(contours, tmp_path):
    _, display = contours
    display.plot()
    titles = [ax.get_title().split("\n")[0] for ax in display.axes_]
    assert titles == ["MKL", "joint MAP", "variational bound"]
    _, axes = plt.subplots(1, 3)
    display.plot(axes=axes).figure_.savefig(tmp_path / "x.png")
    assert display.axes_[2] is axes[2]
    with pytest.raises(ValueError, match="axes must hold 3 Axes, one per objective, got 2"):
        display.plot(axes=axes[:2])


def test_contours_of_other_likelihoods_with_an_intercept():
    _, _, problem = wave(10, likelihood=LogisticLikelihood())
    problem = BayesProblem(problem.bank, problem.y, problem.likelihood)
    display = ObjectiveContourDisplay.from_problem(problem, limits=(4.0, 2.0), n_grid=5)
    assert (display.d1[-1], display.d2[-1]) == (4.0, 2.0)
    for row in display.frame().itertuples():
        d = np.array([row.d1, row.d2])
        bound = phi_vb(problem.bank, problem.y, problem.likelihood, d, fit_intercept=True)
        assert_allclose(row.VB, bound.value, atol=1e-6)


def test_contours_of_an_estimator():
    x, y, _ = wave(15)
    grams = np.stack([np.exp(-((x[:, None] - x) ** 2) / w**2) for w in (0.5, 2.0)], axis=2)
    model = ProbabilisticMKLRegressor("precomputed", normalize=None).fit(grams, y)
    display = ObjectiveContourDisplay.from_estimator(model, n_grid=7)
    assert_allclose(display.minima["VB"][0], model.weights_, rtol=1e-2, atol=1e-2)


def test_minima_beyond_the_view_are_not_claimed(contours):
    problem, _ = contours
    display = ObjectiveContourDisplay.from_problem(problem, limits=(0.01, 0.01), n_grid=4)
    assert display.minima["VB"] == []
    assert display.axes_[2].get_title().endswith("no minimum in view")


def test_contours_need_two_kernels():
    _, _, problem = wave(widths=(0.3, 1.0, 2.0))
    with pytest.raises(ValueError, match=r"two kernels, got 3; choose two with bank\.select"):
        ObjectiveContourDisplay.from_problem(problem)
