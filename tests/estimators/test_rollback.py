"""A fit that fails leaves the model as it was."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

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
)

MODELS = [  # and what they call last
    (MKLClassifier(), "_publish"),
    (MKLRegressor(), "_publish"),
    (MKLClassifierCV(Cs=[1.0]), "_publish"),
    (MKLRegressorCV(Cs=[1.0]), "_publish"),
    (MultiTaskMKLClassifier(), "_publish"),
    (MultiTaskMKLRegressor(), "_publish"),
    (ProbabilisticMKLClassifier(max_iter=3), "_publish_posterior"),
    (ProbabilisticMKLRegressor(max_iter=3), "_publish_posterior"),
    (BayesianMKLClassifier(max_iter=3), "_publish_factors"),
    (BayesianMKLRegressor(max_iter=3), "_publish_factors"),
    (QSVC(), "_publish"),
    (QSVR(), "_publish"),
]


@pytest.fixture
def data(rng):
    X = np.c_[rng.normal(size=(30, 3)), np.arange(30) % 3]  # the last column may name tasks
    return X, np.arange(30) % 2


@pytest.mark.parametrize(("model", "last"), MODELS, ids=lambda part: type(part).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_fails_leaves_the_model_as_it_was(model, last, data, monkeypatch):
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
