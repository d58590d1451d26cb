"""ComparisonDisplay: scores by fold, best first, and differences with their intervals."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from multikernel.comparison.statistics import corrected_t_test
from multikernel.displays import ComparisonDisplay

HOSTILE = "a$b$c_<script>"


class Outcome:
    """What a display asks of a comparison."""

    scoring, rope = "accuracy", 0.01

    def __init__(self, table):
        self.table, self.models = table, list(table)

    def scores(self, model):
        return self.table[model]

    def test(self, first, second):
        differences = self.scores(first) - self.scores(second)
        return corrected_t_test(differences[np.isfinite(differences)], n_train=80, n_test=20)


@pytest.fixture
def comparison(rng):
    unfinished = 0.8 + 0.05 * rng.random(5)
    unfinished[4] = np.nan
    once = np.array([np.nan, np.nan, 0.6, np.nan, np.nan])
    uniform = 0.7 + 0.05 * rng.random(5)
    return Outcome({"uniform sum": uniform, HOSTILE: unfinished, "once": once})


def test_numbers_are_those_of_the_comparison(comparison):
    display = ComparisonDisplay.from_comparison(comparison)
    frame = display.frame().set_index("model")
    assert frame.index.tolist() == [HOSTILE, "uniform sum", "once"]
    folds = frame[[f"fold {k}" for k in range(5)]]
    assert_allclose(folds.loc[HOSTILE], comparison.scores(HOSTILE))
    test = comparison.test(HOSTILE, "uniform sum")
    interval = frame.loc[HOSTILE, ["difference", "low", "high"]].astype(float)
    assert_allclose(interval, [test.mean, test.low, test.high])
    assert frame.loc[["uniform sum", "once"], "difference"].isna().all()
    assert_allclose(frame["mean"], [np.nanmean(comparison.scores(m)) for m in frame.index])
    assert_allclose(display.dots_[HOSTILE].get_xdata(), comparison.scores(HOSTILE))
    assert display.ax_.get_xlabel() == "accuracy"
    assert display.differences_.get_xlabel() == "difference to uniform sum"


def test_lines_join_the_scores_of_a_fold(comparison):
    display = ComparisonDisplay.from_comparison(comparison, models=["uniform sum", HOSTILE])
    joined = [line.get_xdata() for line in display.ax_.lines if len(line.get_ydata()) == 2][:5]
    expected = np.stack([comparison.scores(HOSTILE), comparison.scores("uniform sum")], axis=1)
    assert_allclose(joined, expected)


def test_axes_given_and_no_baseline(comparison):
    _, ax = plt.subplots()
    assert ComparisonDisplay.from_comparison(comparison, ax=ax).ax_ is ax
    display = ComparisonDisplay.from_comparison(comparison, baseline="none")
    assert display.differences_ is None
    assert display.figure_.axes == [display.ax_]


def test_any_names_and_scores(tmp_path):
    scores = {"$\\bad{": [0.5, 0.6], "a\nb": [np.nan, np.nan]}
    display = ComparisonDisplay(
        scores, differences={"a\nb": (0.0, -1.0, 1.0)}, baseline="$\\bad{", scoring="$\\bad{"
    ).plot()
    display.figure_.savefig(tmp_path / "x.svg")
    assert display.frame()["model"].tolist() == ["$\\bad{", "a\nb"]
    with pytest.raises(ValueError, match="as many folds"):
        ComparisonDisplay({"a": [1.0], "b": [1.0, 2.0]}).plot()
