"""Folds: where models are judged, and inside these where they choose their parameters."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from .._component import Array
from .._warnings import unsaid
from ..files._errors import count, reason
from .scoring import COMMON_SCORES

Fold = tuple[Array, Array]


def make_folds(
    y: Array, groups: Array | None, cv: Any, repeats: int, task: str, random_state: int
) -> list[Fold]:
    """Training and test samples of every outer fold."""
    labels = task == "classification"
    if isinstance(cv, Integral):
        _check_number(y, groups, int(cv), labels)
        seeds = range(random_state, random_state + repeats)
        splitters = [make_splitter(int(cv), labels, groups is not None, seed) for seed in seeds]
    elif repeats > 1:
        raise ValueError("repeats is for a number of folds; give the splitter repeats of its own.")
    else:
        splitters = [check_cv(cv, y, classifier=labels)]
    rows = np.zeros(len(y))
    folds = [
        (np.sort(train), np.sort(test))
        for splitter in splitters
        for train, test in splitter.split(rows, y, groups)
    ]
    if len(folds) < 2:
        raise ValueError("A comparison needs at least 2 folds.")
    return folds


def make_splitter(n_folds: int, labels: bool, grouped: bool, random_state: int) -> Any:
    """Shuffled folds, with classes in proportion and groups together."""
    kinds: dict[tuple[bool, bool], Any] = {
        (True, True): StratifiedGroupKFold,
        (True, False): StratifiedKFold,
        (False, True): GroupKFold,
        (False, False): KFold,
    }
    return kinds[labels, grouped](n_folds, shuffle=True, random_state=random_state)


def inner_folds(
    n_folds: int, y: Array, groups: Array | None, train: Any, task: str, random_state: int
) -> Any:
    """How the training part of a fold is split to choose parameters: what estimators take as cv.

    There are no more folds than samples of the rarest class, pairs of samples with numbers to
    predict, or groups.
    """
    labels = task == "classification"
    most = np.unique(y[train], return_counts=True)[1].min() if labels else len(train) // 2
    n_folds = min(n_folds, max(2, int(most)))
    if groups is None:
        return make_splitter(n_folds, labels, False, random_state)
    own = groups[train]
    if len(np.unique(own)) < 2:
        raise ValueError(
            "The training part of an outer fold has samples of one group only, which cannot be "
            "split to choose parameters: compare needs two groups in every training part. Use "
            "more outer folds or finer groups."
        )
    splitter = make_splitter(min(n_folds, len(np.unique(own))), labels, True, random_state)
    return list(splitter.split(np.zeros(len(train)), y[train], own))


def constant_scores(folds: list[Fold], y: Array, task: str, scoring: str) -> list[float]:
    """What a constant, the most frequent class or the mean of training, scores on every fold.

    Folds in which a model could not be fitted, or the score not be computed, are refused.
    """
    classifying = task == "classification"
    dummy = DummyClassifier(strategy="prior") if classifying else DummyRegressor()
    scores = []
    for k, (train, test) in enumerate(folds):
        if classifying:
            _check_classes(k, y, train)
        model = dummy.fit(np.zeros((len(train), 1)), y[train])
        with unsaid(Warning):  # the message below says it
            score = _try_score(scoring, model, y[test], task)
        if not np.isfinite(score):
            raise ValueError(
                f"The score {scoring!r} is not defined on fold {k}, with "
                f"{_describe(y[test], classifying)} to test; use larger folds or another scoring."
            )
        scores.append(score)
    return scores


def _try_score(scoring: str, model: Any, y: Array, task: str) -> float:
    try:
        return float(get_scorer(scoring)(model, np.zeros((len(y), 1)), y))
    except ValueError as error:
        if len(np.unique(y)) < 2:
            return np.nan
        raise ValueError(
            f"The score {scoring!r} does not fit the targets ({reason(error)}). Common "
            f"ones for {task}: {COMMON_SCORES[task]}."
        ) from error


def _describe(y: Array, classifying: bool) -> str:
    samples = f"{len(y)} sample{'s' if len(y) > 1 else ''}"
    one_class = classifying and len(np.unique(y)) == 1
    return f"{samples} of one class" if one_class else samples


def _check_classes(k: int, y: Array, train: Array) -> None:
    for label in np.unique(y):
        if (n := int(np.sum(y[train] == label))) < 2:
            raise ValueError(
                f"The training part of fold {k} has {count(n, 'sample')} of the class "
                f"{label.item()!r}, "
                "too few to learn it; use a splitter with classes in proportion, such as "
                "StratifiedKFold or StratifiedGroupKFold, or leave the class out."
            )


def _check_number(y: Array, groups: Array | None, n_folds: int, labels: bool) -> None:
    if not 2 <= n_folds <= len(y):
        raise ValueError(f"cv must be from 2 to {len(y)}, the number of samples; got {n_folds}.")
    if groups is not None and len(np.unique(groups)) < n_folds:
        raise ValueError(f"There are {len(np.unique(groups))} groups for {n_folds} folds.")
    values, counts = np.unique(y, return_counts=True)
    if labels and counts.min() < n_folds:
        raise ValueError(
            f"The class {values[counts.argmin()].item()!r} has {count(int(counts.min()), 'sample')}"
            f", fewer than the {n_folds} folds; use fewer folds, leave the class out, or say "
            "task='regression' if y is a quantity."
        )
