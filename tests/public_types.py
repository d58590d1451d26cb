"""What users' type checkers see, read by mypy with the package and never run."""

from typing import Any, assert_type

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


def fits_return_the_model(X: Any, y: Any, views: ViewBundle) -> None:
    assert_type(MKLClassifier().fit(X, y), MKLClassifier)
    assert_type(MKLRegressor().fit(X, y), MKLRegressor)
    assert_type(MKLClassifierCV().fit(X, y), MKLClassifierCV)
    assert_type(MKLRegressorCV().fit(X, y), MKLRegressorCV)
    assert_type(MultiTaskMKLClassifier().fit(X, y), MultiTaskMKLClassifier)
    assert_type(MultiTaskMKLRegressor().fit(X, y), MultiTaskMKLRegressor)
    assert_type(ProbabilisticMKLClassifier().fit(X, y), ProbabilisticMKLClassifier)
    assert_type(ProbabilisticMKLRegressor().fit(X, y), ProbabilisticMKLRegressor)
    assert_type(BayesianMKLClassifier().fit(X, y), BayesianMKLClassifier)
    assert_type(BayesianMKLRegressor().fit(X, y), BayesianMKLRegressor)
    assert_type(QSVC().fit(X, y), QSVC)
    assert_type(QSVR().fit(X, y), QSVR)
    assert_type(SourcePreparation().fit(views), SourcePreparation)
