"""Choosing parameters when the preparation of sources reads targets: it is learned inside too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from .._component import Array
from ..estimators import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV

_SEARCHES = (MKLClassifierCV, MKLRegressorCV, GridSearchCV)


def _inner_has(method: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        return hasattr(getattr(self, "best_estimator_", self.search), method)

    return check


class NestedSelection(BaseEstimator):
    """A search whose samples are prepared anew in each of its folds, without the test part.

    Parameters
    ----------
    preparation : transformer
        May learn from targets.
    search : MKLClassifierCV, MKLRegressorCV or GridSearchCV
        What to choose, by which score, in which folds.

    Attributes
    ----------
    best_params_ : dict
        The candidate with the best mean score, the first of equals.
    best_estimator_ : Pipeline
        The preparation and the model with these parameters, fitted to all samples.
    scores_ : array of shape (n_candidates, n_folds)
    """

    def __init__(self, preparation: Any, search: Any) -> None:
        self.preparation = preparation
        self.search = search

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.search)

    def fit(self, X: Any, y: Array) -> Self:
        """Choose parameters fold by fold, then fit preparation and model to all samples."""
        splitter = check_cv(self.search.cv, y, classifier=is_classifier(self.search))
        folds = list(splitter.split(np.zeros(len(y)), y))
        tried = [self._try(X, y, *fold) for fold in folds]
        candidates = tried[0][0]
        self.scores_ = np.column_stack([scores for _, scores in tried])
        mean = np.nan_to_num(self.scores_.mean(axis=1), nan=-np.inf)
        self.best_params_ = candidates[int(np.argmax(mean))]
        model = _plain_model(self.search).set_params(**self.best_params_)
        self.best_estimator_ = make_pipeline(clone(self.preparation), model).fit(X, y)
        return self

    def _try(
        self, X: Any, y: Array, train: Array, test: Array
    ) -> tuple[list[dict[str, Any]], Array]:
        """All candidates and their scores on one fold."""
        prepared = clone(self.preparation).fit(X[train], y[train]).transform(X)
        search = clone(self.search).set_params(cv=[(train, test)])
        if isinstance(search, GridSearchCV):
            search.set_params(refit=False).fit(prepared, y)
            return search.cv_results_["params"], search.cv_results_["split0_test_score"]
        search.set_params(tol=search.cv_tol).fit(prepared, y)  # its last fit is not used
        return [candidate.parameters for candidate in search.candidates_], search.scores_[:, 0]

    @property
    def classes_(self) -> Array:
        """Labels, in the order of probabilities."""
        return np.asarray(self.best_estimator_.classes_)

    def predict(self, X: Any) -> Array:
        """Labels or numbers."""
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes."""
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """How far every sample is on the side of every class."""
        return np.asarray(self.best_estimator_.decision_function(X))


def nest_preparation(preparation: Any, estimator: Any) -> Any:
    """The preparation before an estimator, and inside the folds of the search that it ends with.

    Estimators that choose nothing, or choose in a way of their own, come after a preparation that
    is fitted once.
    """
    before, last = [preparation], estimator
    while isinstance(last, Pipeline):
        before += [step for _, step in last.steps[:-1]]
        last = last[-1]
    if not isinstance(last, _SEARCHES):
        return make_pipeline(preparation, estimator)
    _check_choice(last)
    return NestedSelection(before[0] if len(before) == 1 else make_pipeline(*before), last)


def _check_choice(search: Any) -> None:
    if isinstance(search, GridSearchCV):
        plain = search.refit is True and not isinstance(search.scoring, list | tuple | dict | set)
    else:
        plain = search.selection == "best"
    if not plain:
        raise ValueError(
            "With pipelines that read targets, searches take the best mean of one score: use "
            "selection='best', or a GridSearchCV with refit=True and one scoring."
        )


def _plain_model(search: Any) -> Any:
    """The model without its search."""
    if isinstance(search, GridSearchCV):
        return clone(search.estimator)
    kind = MKLClassifier if is_classifier(search) else MKLRegressor
    given = clone(search).get_params(deep=False)
    return kind(**{name: given[name] for name in kind().get_params(deep=False) if name in given})
