"""FoldWeightsDisplay: shares by fold, summed up where there are many, losing nothing."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from multikernel.displays import FoldWeightsDisplay

HOSTILE = "a$b$c_<script>"


class Outcome:
    """What a display asks of a comparison."""

    headline = "m"

    def shares(self, model=None):
        assert model in (None, "m")
        return pd.DataFrame({"fold 0": [0.75, 0.25], "fold 1": [1.0, 0.0]}, index=["x", "y"])

    def weights(self, model=None):
        kernels = ["x/linear", "x/rbf(width=1)", "y/rbf(width=1)"]
        return pd.DataFrame({"fold 0": [0.5, 0.25, 0.25], "fold 1": [0.0, 1.0, 0.0]}, index=kernels)


@pytest.fixture
def comparison():
    return Outcome()


@pytest.mark.parametrize("by", ["source", "kernel"])
def test_numbers_are_those_of_the_comparison(comparison, by):
    display = FoldWeightsDisplay.from_comparison(comparison, "m", by=by)
    table = comparison.shares() if by == "source" else comparison.weights()
    frame = display.frame()
    assert_allclose(frame.iloc[:, :2], table)
    assert_allclose(frame["mean"], table.mean(axis=1))
    assert_allclose(frame["sd"], np.std(table.to_numpy(), axis=1, ddof=1))
    assert_allclose(frame["selected"], (table > 0).mean(axis=1))
    assert "m" in display.ax_.get_title(loc="left")
    assert display.ax_.get_xlabel() == "fold"


def test_by_must_be_known(comparison):
    with pytest.raises(ValueError, match="by must be 'source' or 'kernel'"):
        FoldWeightsDisplay.from_comparison(comparison, by="family")


def test_rows_are_drawn_heaviest_first():
    weights = pd.DataFrame([[1.0, 2.0], [3.0, 8.0]], index=["light", "heavy"])
    display = FoldWeightsDisplay(weights).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["heavy", "light"]
    assert_allclose(display.mesh_.get_array(), [[0.75, 0.8], [0.25, 0.2]])
    assert_allclose([bar.get_width() for bar in display.bars_], [0.775, 0.225])


def test_many_kernels_are_summed_up_by_group(rng):
    names = [f"s{i}/rbf(width={k})" for i in range(88) for k in range(20)]
    weights = pd.DataFrame(rng.exponential(size=(1760, 5)), index=names)
    groups = [name.partition("(")[0] for name in names]
    display = FoldWeightsDisplay(weights, groups=groups).plot()
    cells = np.asarray(display.mesh_.get_array())
    assert cells.shape == (30, 5)
    assert_allclose(cells.sum(axis=0), 1.0)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[-1] == "59 others together"
    sums = (weights / weights.sum()).groupby(groups).sum().mean(axis=1).sort_values()
    assert labels[0] == f"{sums.index[-1]} (20)"
    assert_allclose(cells[0].mean(), sums.iloc[-1])
    assert len(display.frame()) == 1760


def test_without_groups_the_heaviest_rows_are_named(rng):
    weights = pd.DataFrame(rng.exponential(size=(100, 3)), index=["same name"] * 100)
    cells = np.asarray(FoldWeightsDisplay.from_frame(weights).mesh_.get_array())
    assert cells.shape == (30, 3)
    assert_allclose(cells.sum(axis=0), 1.0)


def test_folds_without_weights_and_single_folds(tmp_path):
    weights = pd.DataFrame({"fold 0": [0.0, np.nan]}, index=["a", "b"])
    display = FoldWeightsDisplay(weights).plot()
    display.figure_.savefig(tmp_path / "x.png")
    assert display.frame()[["mean", "sd", "selected"]].to_numpy().tolist() == [[0.0] * 3] * 2
    with pytest.raises(ValueError, match="no weights to draw"):
        FoldWeightsDisplay(pd.DataFrame()).plot()


@pytest.mark.parametrize("own", [True, False])
def test_names_are_written_as_given(own, tmp_path):
    ax = None if own else plt.subplots()[1]
    weights = pd.DataFrame({HOSTILE: [1.0, 2.0]}, index=[HOSTILE, "$\\bad{"])
    display = FoldWeightsDisplay(weights, name="$\\bad{").plot(ax=ax)
    display.figure_.savefig(tmp_path / "x.svg")
    assert HOSTILE in [text.get_text() for text in display.ax_.get_yticklabels()]
    assert own or display.ax_ is ax
