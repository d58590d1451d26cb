"""The headline model fitted to all samples: what folds cannot show."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from .._component import Array
from ..displays import RedundancyDisplay
from ..kernels import ViewBundle
from ..kernels.align import blank
from .insides import chosen_parameters, opened
from .models import HEADLINE
from .tasks import Data

_MOST_COLUMNS = 20_000  # of a source, beyond which its coefficients are not computed
_KEPT = 50  # coefficients of every source


@dataclass(frozen=True)
class WholeFit:
    """A model on all samples.

    Its weights belong to no test, so its score is not kept: only the course of its fit, which
    kernels say the same, and the columns that its linear kernels go by.

    Attributes
    ----------
    estimator : estimator
        Not yet fitted.
    """

    estimator: Any
    key = "whole"
    label = f"{HEADLINE} on all samples"

    def run(self, data: Data) -> dict[str, Any]:
        """Fit and look inside; all that is returned can be written as JSON."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the folds are kept
            began = time.perf_counter()
            model = clone(self.estimator).fit(data.X, data.y)
            seconds = time.perf_counter() - began
            last, X = opened(model, data.X)
            return {
                "seconds": seconds,
                "chosen": chosen_parameters(model),
                "tol": float(last.tol),
                "history": _history(last),
                "redundancy": _redundancy(last, X, data.y),
                "features": _features(last, X, data.X),
            }


def _history(model: Any) -> dict[str, list[float]]:
    """The course of the fit; of several solutions that of the least certain."""
    solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
    history = max(solutions, key=lambda solution: solution.gap).history
    return {name: np.asarray(values, dtype=float).tolist() for name, values in history.items()}


def _redundancy(model: Any, X: Any, y: Array) -> dict[str, Any]:
    """Alignments of kernels with each other and with the targets."""
    found = RedundancyDisplay.measure(
        model.kernels, X, y, normalize=model.normalize, classification=is_classifier(model)
    )
    return {
        "alignment": np.round(found.alignment, 4).tolist(),
        "names": [str(name) for name in found.names],
        "target": np.round(np.asarray(found.target), 4).tolist(),
        "note": found.note,
    }


def _features(model: Any, X: Any, original: Any) -> dict[str, list[dict[str, Any]]]:
    """The largest coefficients of the columns of every source with a linear kernel in use."""
    if not isinstance(X, ViewBundle):
        return {}
    used = np.abs(np.atleast_2d(model.weights_)).sum(axis=0) > 0
    found = {}
    for source in X.names:
        linear = [
            m
            for m, row in enumerate(model.kernels_.table())
            if row["source"] == source and row["family"] == "linear" and used[m]
        ]
        block = X.block(source)
        if linear and len(block.shape) == 2 and block.shape[1] <= _MOST_COLUMNS:
            w = _coefficients(model, X, source, linear)
            names = _column_names(original.block(source), len(w))
            order = np.argsort(-np.abs(w), kind="stable")[:_KEPT]
            found[source] = [{"name": names[j], "coefficient": float(w[j])} for j in order]
    return found


def _coefficients(model: Any, X: ViewBundle, source: str, linear: Sequence[int]) -> Array:
    r"""What a unit of each column adds to the decision: :math:`f(e_j) - f(0)` of linear kernels.

    Of several outputs, the root of the mean square.
    """
    n = X.block(source).shape[1]
    rows = np.vstack([np.zeros((1, n)), np.eye(n)])
    blocks = {name: blank(X.block(name), n + 1) for name in X.names} | {source: rows}
    present = {name: np.full(n + 1, name == source) for name in X.names}
    f = np.asarray(model.decision_contributions(ViewBundle(blocks, present)))[:, linear].sum(axis=1)
    w = f[1:] - f[0]
    return w if w.ndim == 1 else np.sqrt(np.mean(w**2, axis=1))


def _column_names(block: Any, n_columns: int) -> list[str]:
    """Names of the columns as the user gave them, numbers where a preparation made new ones."""
    names = getattr(block, "columns", None)
    if names is None or len(names) != n_columns:
        return [f"column {j}" for j in range(n_columns)]
    return [str(name) for name in names]
