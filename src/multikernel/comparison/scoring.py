"""Scores: their names, what they need of a model, and scores of some of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from .._component import Array
from .._warnings import unsaid
from ..files._errors import did_you_mean

COMMON_SCORES = {
    "classification": "accuracy, balanced_accuracy, f1_macro, roc_auc, roc_auc_ovr, "
    "average_precision, matthews_corrcoef, neg_log_loss, neg_brier_score",
    "regression": "r2, explained_variance, neg_mean_squared_error, neg_root_mean_squared_error, "
    "neg_mean_absolute_error, neg_median_absolute_error",
}
_METHODS = {"predict_proba": "probabilities", "decision_function": "decisions"}


def check_scoring(scoring: Any, task: str) -> str:
    """The name of a score of scikit-learn; those that are common for the task are suggested."""
    if not isinstance(scoring, str):
        raise TypeError(
            "scoring must be the name of a score of scikit-learn, such as 'accuracy' or 'r2'; got "
            f"{scoring!r}."
        )
    if scoring not in get_scorer_names():
        hint = did_you_mean(scoring, get_scorer_names()) or "."
        raise ValueError(
            f"There is no score {scoring!r}{hint} Common ones for {task}: {COMMON_SCORES[task]}."
        )
    return scoring


def check_scorable(name: str, estimator: Any, scoring: str) -> None:
    """Refuse a model without the probabilities or decisions that the score is made of."""
    asked = getattr(get_scorer(scoring), "_response_method", "predict")
    methods = [asked] if isinstance(asked, str) else list(asked)
    if "predict" in methods or any(hasattr(estimator, method) for method in methods):
        return
    needs = " or ".join(_METHODS.get(method, method) for method in methods)
    raise TypeError(
        f"The score {scoring!r} needs {needs}, which model {name!r} does not give. For an "
        "MKLClassifier use loss='logistic' or calibrate=True; or choose another scoring."
    )


def score_or_none(model: Any, X: Any, y: Array, scoring: str) -> float | None:
    """The score, None where it is not defined: too few samples, or of one class."""
    if not len(y):
        return None
    with unsaid(Warning):  # that it is not defined
        try:
            score = float(get_scorer(scoring)(model, X, y))
        except ValueError:
            return None
    return score if np.isfinite(score) else None
