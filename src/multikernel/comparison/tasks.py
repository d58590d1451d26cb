"""One task of a comparison: one model on one fold, from fitting to what is kept of it."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline

from .._component import Array
from .folds import Fold
from .inputs import select_sources

_ACTIVE = 1e-6  # of the largest weight


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
    """

    model: str
    estimator: Any
    fold: int
    role: str = "model"
    source: str | None = None
    sources: tuple[str, ...] | None = None
    seed: int | None = None

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
        if self.sources is not None:
            X = select_sources(X, list(self.sources))
        train, test = data.folds[self.fold]
        X_test = X[test]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            began = time.perf_counter()
            model = clone(self.estimator).fit(X[train], data.y[train])
            seconds = time.perf_counter() - began
            score = float(get_scorer(data.scoring)(model, X_test, data.y[test]))
            if not np.isfinite(score):
                raise ValueError(f"its {data.scoring} is {score}.")
            predictions = np.asarray(model.predict(X_test)).tolist()
            confidence = _confidence(model, X_test)
        return {
            "model": self.model,
            "role": self.role,
            "source": self.source,
            "fold": self.fold,
            "seed": self.seed,
            "score": score,
            "seconds": seconds,
            "n_train": len(train),
            "n_test": len(test),
            "test": test.tolist(),
            "predictions": predictions,
            "confidence": confidence,
            "warnings": sorted({str(w.message).splitlines()[0] for w in caught}),
            **_inside(model),
        }


def describe_failure(task: Task, error: Exception) -> dict[str, Any]:
    """Which model failed on which fold, and why, in one line."""
    message = " ".join(str(error).split()) or type(error).__name__
    return {"model": task.model, "fold": task.fold, "error": message}


def _confidence(model: Any, X: Any) -> list[Any] | None:
    """Probabilities of all classes, where a classifier has them."""
    if not is_classifier(model) or not hasattr(model, "predict_proba"):
        return None
    p: list[Any] = np.asarray(model.predict_proba(X)).tolist()
    return p


def _inside(model: Any) -> dict[str, Any]:
    """Weights and names of kernels, shares of sources, and what was chosen, where there are any."""
    last = model
    while isinstance(last, Pipeline):
        last = last[-1]
    chosen = {name: _plain(value) for name, value in getattr(last, "best_params_", {}).items()}
    last = getattr(last, "best_estimator_", last)
    nothing = {"weights": None, "kernels": None, "shares": None, "n_active": None}
    if not hasattr(last, "weights_") or not hasattr(last, "kernels_"):  # not one of ours
        return nothing | {"chosen": chosen}
    table = last.kernels_.table()
    share = np.abs(np.atleast_2d(last.weights_)).mean(axis=0)
    n_active = int(np.count_nonzero(share > _ACTIVE * share.max()))
    share = share / (share.sum() or 1.0)
    source = np.array([row["source"] for row in table], dtype=object)
    return {
        "weights": share.tolist(),
        "kernels": [row["kernel"] for row in table],
        "shares": {name: float(share[source == name].sum()) for name in dict.fromkeys(source)},
        "n_active": n_active,
        "chosen": chosen,
    }


def _plain(value: Any) -> Any:
    """A parameter as JSON has it, or as it prints."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | None) else repr(value)
