"""The unit of the targets: what standardising leaves as it is, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV

from multikernel import (
    BayesianMKLRegressor,
    MKLRegressor,
    MKLRegressorCV,
    MultiTaskMKLRegressor,
    ProbabilisticMKLRegressor,
    compare,
)
from multikernel.estimators._targets import target_scales

SOURCES = {"used": slice(0, 3), "unused": slice(3, 6)}
CS = [0.1, 1.0, 10.0]


@pytest.fixture
def table(rng):
    X = np.c_[rng.normal(size=(60, 6)), np.arange(60) % 2]
    Y = X[:, :2] @ [[1.0, 0.5], [2.0, -1.0]] + 0.3 * rng.normal(size=(60, 2)) + [3.0, -1.0]
    return X, Y


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize(
    "model",
    [
        MKLRegressor(SOURCES, tol=1e-10),
        MKLRegressor(SOURCES, loss="huber", fit_intercept=False, tol=1e-10),
        MKLRegressorCV(SOURCES, Cs=CS, tol=1e-10),
        MultiTaskMKLRegressor(SOURCES, task=6, regularizer="lp", tol=1e-10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_unit_of_standardised_targets_does_not_matter(model, unit, table):
    X, Y = table
    model.set_params(standardize=True)
    plain = model.fit(X, Y)
    expected, weights, b = plain.predict(X), plain.weights_, plain.intercept_
    other = model.fit(X, Y * [unit, 1.0])  # every output has its own
    assert np.any(weights > 0)
    assert_allclose(other.weights_, weights, rtol=1e-6, atol=1e-9)
    assert_allclose(other.predict(X) / [unit, 1.0], expected, rtol=1e-6)
    assert_allclose(other.intercept_ / [unit, 1.0], b, rtol=1e-6, atol=1e-9)
    shares = other.decision_contributions(X)
    assert_allclose(shares.sum(axis=1) + other.intercept_, other.predict(X), rtol=1e-9)


def test_standardised_is_fitted_to_divided_targets(table):
    X, Y = table
    s = np.arange(60) % 3.0
    scale = np.std(np.repeat(Y[:, 0], s.astype(int)))
    ours = MKLRegressor(SOURCES, standardize=True, tol=1e-10).fit(X, Y[:, 0], s)
    theirs = MKLRegressor(SOURCES, tol=1e-10).fit(X, Y[:, 0] / scale, s)
    assert_allclose(ours.weights_, theirs.weights_)
    assert_allclose(ours.predict(X), scale * theirs.predict(X))
    assert ours.objective_ == theirs.objective_
    assert not np.allclose(ours.weights_, MKLRegressor(SOURCES).fit(X, Y[:, 0], s).weights_, 0.01)


def test_scores_are_in_the_units_of_the_targets(table):
    X, Y = table
    parameters = {"scoring": "neg_mean_squared_error", "cv": 3}
    model = MKLRegressorCV(SOURCES, Cs=CS, cv_tol=1e-8, standardize=True, **parameters)
    ours = model.fit(X, 1e3 * Y).cv_results_["mean_test_score"]
    plain = MKLRegressor(SOURCES, standardize=True)
    theirs = GridSearchCV(plain, {"C": CS}, **parameters).fit(X, 1e3 * Y)
    # folds of a grid search have scales of their own, which differ by a few per cent
    assert_allclose(ours, theirs.cv_results_["mean_test_score"], rtol=0.1)


def test_comparisons_do_not_depend_on_the_unit(table):
    X, Y = table
    both = [
        compare(
            {"used": X[:, :3], "unused": X[:, 3:6]}, unit * Y[:, 0],
            models=["MKL, elastic net", "uniform sum"], cv=3, importance=False,
        )
        for unit in (1.0, 1e-6)
    ]  # fmt: skip
    assert_allclose(both[1].frame()["score"], both[0].frame()["score"], rtol=1e-6)
    assert_allclose(both[1].shares(), both[0].shares(), rtol=1e-6)


def test_grids_at_which_no_kernel_gets_a_weight_are_pointed_out(table):
    X, Y = table
    advice = "at any C up to 10, so that predictions are constant; give larger Cs"
    with pytest.warns(UserWarning, match=f"{advice}, or set standardize=True") as caught:
        model = MKLRegressorCV(SOURCES, Cs=CS).fit(X, 1e-6 * Y[:, 0])
    assert caught[0].filename == __file__
    assert not model.weights_.any()
    constant = MKLRegressorCV(SOURCES, Cs=CS).fit(X, np.ones(60))  # where no C would help
    assert not constant.weights_.any()


@pytest.mark.parametrize(
    "model", [MKLRegressor(), ProbabilisticMKLRegressor(), BayesianMKLRegressor()]
)
def test_targets_without_squares_are_refused(model, table):
    X, Y = table
    Y[3, 1] = -1e200
    with pytest.raises(ValueError, match=rf"{type(model).__name__}: .* target is 1\.0e\+200"):
        model.fit(X, Y)


def test_scales_of_targets():
    Y = np.array([[1.0, 5.0, 1e8], [3.0, 5.0, 1e8], [3.0, 5.0, 1e8 + 1e-8]])
    assert_allclose(target_scales(Y), [np.std(Y[:, 0]), 1.0, 1.0])
    assert_allclose(target_scales(Y, np.array([1.0, 1.0, 0.0]))[0], 1.0)
