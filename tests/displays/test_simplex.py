"""SimplexDisplay: shares of three, and the objective over them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from multikernel.displays import SimplexDisplay
from multikernel.estimators import MKLClassifier, MKLClassifierCV
from multikernel.regularizers import FixedWeights

HOSTILE = "a$b$c_<script>"
SOURCES = {HOSTILE: ([0], "linear"), "b": ([1], "linear"), "c": ([2], "linear")}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, np.sign(X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=40))


def test_objective_is_the_least_of_fits_with_fixed_shares(data):
    model = MKLClassifier(SOURCES, regularizer="lp").fit(*data)
    display = SimplexDisplay.from_estimator(model, *data, n_grid=4)
    frame = display.frame()
    names = list(frame.columns[1:4])
    assert names[0].startswith(HOSTILE)
    learned, grid = frame.iloc[0], frame[frame["kind"] == "grid"]
    assert_allclose(learned[names].astype(float), model.weights_ / model.weights_.sum())
    assert len(grid) == 15
    assert grid["objective"].min() >= model.objective_ * (1 - 1e-4)
    point = grid.iloc[7]
    share = point[names].to_numpy(dtype=float)

    def objective(total):
        fixed = MKLClassifier(SOURCES, regularizer=FixedWeights(total * share)).fit(*data)
        return fixed.objective_ + 0.5 * total  # the regularizer is half the sum

    best = minimize_scalar(objective, bounds=(0.1, 30.0), method="bounded").fun
    assert_allclose(point["objective"], best, rtol=1e-3)


def test_sources_of_several_kernels(data):
    model = MKLClassifierCV({"a": [0], "b": [1], "c": [2]}, Cs=2, cv=2, tol=1e-4).fit(*data)
    display = SimplexDisplay.from_estimator(model, *data, n_grid=2)
    table = model.kernel_table_.groupby("source")["weight"].sum()
    assert display.frame().columns.tolist() == ["kind", "a", "b", "c", "objective"]
    assert_allclose(display.frame().iloc[0, 1:4].astype(float), table / table.sum())
    assert np.nanmin(display.values) >= model.objective_ * (1 - 1e-3)


def test_points_are_drawn_in_the_triangle(tmp_path):
    weights = pd.DataFrame(np.eye(3) * 2, columns=["$\\bad{", HOSTILE, "_c"])
    display = SimplexDisplay.from_weights(weights)
    height = np.sqrt(0.75)
    assert_allclose(display.points_.get_xdata(), [0.0, 1.0, 0.5])
    assert_allclose(display.points_.get_ydata(), [0.0, 0.0, height])
    display.figure_.savefig(tmp_path / "x.svg")
    assert display.ax_.get_title(loc="left") == "Shares of the weight"
    assert {"$\\bad{", HOSTILE, "_c"} <= {text.get_text() for text in display.ax_.texts}


def test_flat_and_forbidden_values_can_be_drawn(tmp_path):
    grid = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0.5, 0.5]])
    flat = SimplexDisplay([[1, 1, 1]], grid=grid, values=np.ones(5)).plot()
    flat.figure_.savefig(tmp_path / "x.png")
    SimplexDisplay([[1, 1, 1]], grid=grid, values=[1.0, 2.0, np.inf, 1.5, 3.0]).plot()


def test_what_cannot_be_drawn_is_refused(data):
    with pytest.raises(ValueError, match="three kernels or sources, got 2 weights"):
        SimplexDisplay.from_weights(np.ones((4, 2)))
    model = MKLClassifier({"a": [0], "b": [1, 2]}, tol=1e-2).fit(*data)
    with pytest.raises(ValueError, match="8 kernels of 2 sources"):
        SimplexDisplay.from_estimator(model, *data)
