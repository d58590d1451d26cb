"""Preparation that reads targets is learned inside the inner folds, with the models' parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import (
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    SourcePreparation,
    ViewBundle,
    compare,
)
from multikernel.comparison.nested import NestedSelection, nest_preparation

CV = KFold(3)


@pytest.fixture(scope="module")
def noise():
    """Nothing but noise in many columns, of which the best look good on the samples they know."""
    rng = np.random.default_rng(0)
    return ViewBundle({"wide": rng.normal(size=(60, 300))}), rng.normal(size=60)


@pytest.fixture
def preparation():
    return SourcePreparation({"wide": SelectKBest(f_regression, k=5)})


def test_the_inner_scores_of_noise_are_not_good(noise, preparation):
    X, y = noise
    search = MKLRegressorCV("linear", Cs=[0.1, 1.0], cv=CV)
    leaking = make_pipeline(preparation, search).fit(X, y)[-1]
    nested = NestedSelection(preparation, search).fit(X, y)
    assert leaking.best_score_ > 0.2
    assert nested.scores_.mean(axis=1).max() < 0.05


def test_scores_are_those_of_pipelines_in_the_same_folds(noise, preparation):
    X, y = noise
    search = MKLRegressorCV("linear", Cs=[0.01, 1.0], cv=CV, tol=1e-8, cv_tol=1e-8, normalize=None)
    nested = NestedSelection(preparation, search).fit(X, y)
    for C, scores in zip([0.01, 1.0], nested.scores_, strict=True):
        one = make_pipeline(preparation, MKLRegressor("linear", C=C, tol=1e-8, normalize=None))
        assert_allclose(scores, cross_val_score(one, X, y, cv=CV, scoring="r2"), atol=1e-4)
    best = nested.best_params_
    again = make_pipeline(preparation, MKLRegressor("linear", normalize=None, tol=1e-8, **best))
    assert_allclose(nested.predict(X), again.fit(X, y).predict(X), atol=1e-6)


def test_a_grid_search_is_nested_too(noise, preparation):
    X, y = noise
    from multikernel.comparison.models import on_columns

    grid = {"alpha": [1.0, 100.0]}
    nested = nest_preparation(preparation, on_columns(GridSearchCV(Ridge(), grid, cv=CV))).fit(X, y)
    whole = make_pipeline(preparation, on_columns(Ridge()))
    oracle = GridSearchCV(whole, {"pipeline__ridge__alpha": [1.0, 100.0]}, cv=CV).fit(X, y)
    assert nested.best_params_ == {"alpha": oracle.best_params_["pipeline__ridge__alpha"]}
    assert_allclose(nested.scores_.mean(axis=1), oracle.cv_results_["mean_test_score"])
    assert_allclose(nested.predict(X), oracle.predict(X))


def test_estimators_without_a_search_come_after_one_preparation(preparation):
    assert isinstance(nest_preparation(preparation, MKLRegressor()), Pipeline)


def test_classes_have_probabilities(noise):
    X, y = noise
    labels = np.where(y > 0, "yes", "no")
    model = NestedSelection(SourcePreparation(), MKLClassifierCV("linear", Cs=[0.1], cv=3))
    assert hasattr(model, "predict_proba")
    model.fit(X, labels)
    assert model.classes_.tolist() == ["no", "yes"]
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert set(model.predict(X)) <= {"no", "yes"}
    hinge = MKLClassifierCV("linear", loss="hinge")
    assert not hasattr(NestedSelection(SourcePreparation(), hinge), "predict_proba")
    assert hasattr(NestedSelection(SourcePreparation(), hinge), "decision_function")


def test_other_ways_to_choose_are_refused(preparation):
    with pytest.raises(ValueError, match="searches take the best mean of one score"):
        nest_preparation(preparation, MKLRegressorCV(selection="one_se"))


class Watching(TransformerMixin, BaseEstimator):
    """Remembers the samples that it was fitted to."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        self.seen.append(set(np.asarray(X)[:, 0].tolist()))
        return self

    def transform(self, X):
        return np.asarray(X)[:, 1:]


def test_compare_fits_what_may_read_targets_in_every_inner_fold():
    rng = np.random.default_rng(1)
    X = {"a": np.c_[np.arange(40), rng.normal(size=(40, 2))], "b": rng.normal(size=(40, 2))}
    y = X["a"][:, 1] + X["b"][:, 0]
    options = {"kernels": "linear", "models": [], "cv": 2, "importance": False}
    Watching.seen.clear()
    result = compare(X, y, pipelines={"a": Watching()}, **options)
    assert not result.failures
    sizes = sorted({len(seen) for seen in Watching.seen})
    assert sizes == [13, 14, 20, 26, 27, 40]  # of inner training parts, outer ones, and all samples
    headline = [r for r in result.results if r["model"] == result.headline]
    assert headline[-1]["chosen"].keys() == {"C", "regularizer__l1_ratio"}
    assert headline[-1]["contributions"] is not None
    plain = compare(X, y, pipelines={"a": StandardScaler()}, **options)
    assert plain.complete
