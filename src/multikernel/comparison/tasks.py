"""One task of a comparison: one model on one fold, from fitting to what is kept of it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer

from .._component import Array
from .._warnings import listening
from .folds import Fold
from .inputs import select_sources
from .insides import (
    describe_certificate,
    describe_weights,
    permuted_drops,
    source_contributions,
    trace_shares,
)
from .scoring import score_or_none


@dataclass(frozen=True)
class Data:
    """What all tasks of a comparison share.

    Attributes
    ----------
    X : ViewBundle or KernelBundle
    y : array of shape (n_samples,)
    groups : array of shape (n_samples,) or None
    folds : list of (train, test)
    scoring : str
    """

    X: Any
    y: Array
    groups: Array | None
    folds: list[Fold]
    scoring: str

    def shuffled(self, seed: int) -> Any:
        """The sources with their samples permuted, within groups where there are any.

        To permute the targets would be the same, but for the classes in the folds, which stay in
        proportion this way.
        """
        rng, n = np.random.default_rng(seed), len(self.y)
        if self.groups is None:
            return self.X[rng.permutation(n)]
        target = np.argsort(self.groups, kind="stable")
        origin = np.lexsort((rng.random(n), self.groups))
        order = np.empty(n, dtype=np.intp)
        order[target] = origin
        return self.X[order]


@dataclass(frozen=True)
class Task:
    """A model, the sources it may see, and the fold it is judged on.

    Attributes
    ----------
    model : str
        Name in the tables.
    estimator : estimator
        Not yet fitted.
    fold : int
        Number of the outer fold.
    role : {"model", "alone", "without", "permutation"}
        Whether it sees all sources, one alone, all without one, or sources of other samples.
    source : str or None
        Which one, for "alone" and "without".
    sources : tuple of str or None
        The sources it sees; None for all.
    seed : int or None
        Permutes samples, for the test of no relation at all.
    explained : bool
        Whether to keep what every source contributes, what is lost where its rows are permuted,
        and its share in the trace of the combined kernel.
    """

    model: str
    estimator: Any
    fold: int
    role: str = "model"
    source: str | None = None
    sources: tuple[str, ...] | None = None
    seed: int | None = None
    explained: bool = False

    @property
    def key(self) -> str:
        """What the result is stored under."""
        return json.dumps([self.role, self.model, self.source, self.fold, self.seed])

    @property
    def label(self) -> str:
        """What people read while it runs."""
        return self.model

    def run(self, data: Data) -> dict[str, Any]:
        """Fit, score and predict; all that is returned can be written as JSON."""
        X = data.X if self.seed is None else data.shuffled(self.seed)
        train, test = data.folds[self.fold]
        sizes = {"n_train": len(train), "n_test": len(test)}
        if self.role == "alone":  # of the others a source says nothing
            test = test[X[test].has(self.source)]
        given = X if self.sources is None else select_sources(X, list(self.sources))
        with listening() as heard:
            began = time.perf_counter()
            model = clone(self.estimator).fit(given[train], data.y[train])
            seconds = time.perf_counter() - began
            judged = self._judge(model, given[test], data.y[test], data.scoring)
            compared = self.role in ("model", "alone")
            having = _scores_having(model, X, given, test, data) if compared else {}
            trace = trace_shares(model, given[train]) if self.explained else None
        return {
            "model": self.model,
            "role": self.role,
            "source": self.source,
            "fold": self.fold,
            "seed": self.seed,
            "seconds": seconds,
            **sizes,
            "test": test.tolist(),
            **judged,
            "scores_having": having,
            "warnings": sorted({str(w.message).splitlines()[0] for w in heard}),
            **describe_weights(model),
            "trace": trace,
            **describe_certificate(model),
        }

    def _judge(self, model: Any, X: Any, y: Array, scoring: str) -> dict[str, Any]:
        """Score and predictions and, if asked for, what every source does for them."""
        score = self._score(model, X, y, scoring)
        return {
            "score": score,
            "predictions": np.asarray(model.predict(X)).tolist() if len(y) else [],
            "confidence": _confidence(model, X) if len(y) else None,
            "permuted": permuted_drops(model, X, y, scoring, score, self.fold)
            if self.explained and score is not None
            else None,
            "contributions": source_contributions(model, X) if self.explained else None,
        }

    def _score(self, model: Any, X: Any, y: Array, scoring: str) -> float | None:
        """The score; that of a source alone may be None, if too few test samples have it."""
        if self.role == "alone":
            return score_or_none(model, X, y, scoring)
        score = float(get_scorer(scoring)(model, X, y))
        if not np.isfinite(score):
            raise ValueError(f"its {scoring} is {score}.")
        return score


def _scores_having(
    model: Any, X: Any, given: Any, test: Array, data: Data
) -> dict[str, float | None]:
    """Scores on the test samples that have a source, for every source that some samples lack."""
    scores = {}
    for source in X.names:
        if not X.has(source).all():
            having = test[X[test].has(source)]
            scores[source] = score_or_none(model, given[having], data.y[having], data.scoring)
    return scores


def describe_failure(task: Any, error: Exception) -> dict[str, Any]:
    """Which model failed on which fold, None for all samples, and why, in one line."""
    message = ": ".join(filter(None, [type(error).__name__, " ".join(str(error).split())]))
    return {"model": task.model, "fold": task.fold, "error": message}


def _confidence(model: Any, X: Any) -> list[Any] | None:
    """Probabilities of all classes, where a classifier has them."""
    if not is_classifier(model) or not hasattr(model, "predict_proba"):
        return None
    p: list[Any] = np.asarray(model.predict_proba(X)).tolist()
    return p
