"""A fit that fails leaves the model as it was."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from multikernel import (
    QSVC,
    QSVR,
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MultiTaskMKLClassifier,
    MultiTaskMKLRegressor,
    ProbabilisticMKLClassifier,
    ProbabilisticMKLRegressor,
    SourcePreparation,
    ViewBundle,
)
from multikernel.estimators._rollback import all_or_nothing

MODELS = [  # and what they call last
    (MKLClassifier(), "_publish"),
    (MKLRegressor(), "_publish"),
    (MKLClassifierCV(Cs=[1.0]), "_publish"),
    (MKLRegressorCV(Cs=[1.0]), "_publish"),
    (MultiTaskMKLClassifier(task=3), "_publish"),
    (MultiTaskMKLRegressor(task=3), "_publish"),
    (ProbabilisticMKLClassifier(max_iter=3), "_publish_posterior"),
    (ProbabilisticMKLRegressor(max_iter=3), "_publish_posterior"),
    (BayesianMKLClassifier(max_iter=3), "_publish_factors"),
    (BayesianMKLRegressor(max_iter=3), "_publish_factors"),
    (QSVC(), "_publish"),
    (QSVR(), "_publish"),
]


@pytest.fixture
def data(rng):
    X = np.c_[rng.normal(size=(30, 3)), np.arange(30) % 3]  # the last column names tasks
    return X, np.arange(30) % 2


@pytest.mark.parametrize(("given", "last"), MODELS, ids=lambda part: type(part).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_fails_leaves_the_model_as_it_was(given, last, data, monkeypatch):
    model = clone(given)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(model), last, interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(*data)
    assert vars(model) == model.get_params(deep=False)

    before = model.fit(*data).predict(data[0])
    learned = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 7), np.nan), np.arange(20) % 4)
    assert vars(model) == learned
    assert_array_equal(model.predict(data[0]), before)


def test_a_preparation_that_fails_stays_as_it_was(rng):
    X = ViewBundle({"rna": rng.normal(size=(6, 2)), "mri": rng.normal(size=(6, 3))})
    text = ViewBundle({"rna": rng.normal(size=(6, 4)), "mri": np.full((6, 1), "text", object)})
    model = SourcePreparation()
    with pytest.raises(ValueError, match="'mri' has columns that are not numbers"):
        model.fit(text)
    assert vars(model) == model.get_params(deep=False)
    before = model.fit(X).transform(X)
    with pytest.raises(ValueError, match="'mri' has columns that are not numbers"):
        model.fit(text)
    for name in X.names:
        assert_array_equal(model.transform(X).block(name), before.block(name))


class _Interrupted(dict):
    """Attributes whose removal is interrupted, as by Ctrl-C pressed twice."""

    def clear(self):
        super().clear()
        raise KeyboardInterrupt

    def __delitem__(self, name):
        raise KeyboardInterrupt


class _Model:
    @all_or_nothing
    def fit(self):
        self.learned_ = "half"
        self.new_ = "half"
        raise KeyboardInterrupt


def test_a_second_interrupt_loses_nothing_from_before():
    model = _Model()
    model.__dict__ = _Interrupted(C=1.0, learned_="earlier")
    with pytest.raises(KeyboardInterrupt):
        model.fit()
    assert (model.C, model.learned_) == (1.0, "earlier")
