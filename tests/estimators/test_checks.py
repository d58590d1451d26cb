"""scikit-learn's own battery of checks on every estimator."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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

ESTIMATORS = [
    MKLClassifier(),
    MKLRegressor(),
    MultiTaskMKLClassifier(),
    MultiTaskMKLRegressor(),
    MKLClassifier(loss="hinge", regularizer="lp"),
    MKLClassifier(loss="squared_hinge", weights="per_class"),
    MKLClassifier(kernels="precomputed"),
    MKLClassifierCV(Cs=[0.1, 1.0], cv=2),
    MKLRegressorCV(Cs=2, cv=2),
    MKLRegressor(loss="huber", regularizer="uniform"),
    QSVC(),
    QSVR(),
    QSVC(loss="logistic", form="dual"),
    QSVR(loss="squared", form="primal"),
    ProbabilisticMKLRegressor(),
    ProbabilisticMKLClassifier(max_iter=20),
    ProbabilisticMKLRegressor(likelihood="student", objective="vb", hyper_prior="gamma"),
    ProbabilisticMKLClassifier(weights="per_class", method="mackay", max_iter=20),
    BayesianMKLRegressor(max_iter=15),
    BayesianMKLClassifier(max_iter=15),
    BayesianMKLRegressor(sparsity="both", outputs="shared_samples", prune=True, max_iter=25),
    BayesianMKLClassifier(coding="regression", sample_precision="shared", max_iter=15),
]

NOT_A_KERNEL = "the check passes a matrix that is not positive semi-definite, which is refused"
PRECOMPUTED = {
    "check_positive_only_tag_during_fit": NOT_A_KERNEL,
    "check_estimators_dtypes": NOT_A_KERNEL + ": a kernel rounded to integers",
    "check_decision_proba_consistency": "the check passes features to a pairwise estimator",
}
HINGE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "the gap bounds the objective: decisions "
    "agree to its root, not to the 1e-7 of the check"
    for kind in ("dense", "sparse")
}


def expected_failed_checks(estimator):
    if isinstance(estimator, QSVC | QSVR):
        return {}
    if estimator.kernels == "precomputed":
        return PRECOMPUTED
    return HINGE if getattr(estimator, "loss", None) == "hinge" else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:the kernels explain")  # random labels and sparse priors
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_estimator_passes_the_checks_of_sklearn(estimator, check):
    check(estimator)
