"""The headline model fitted to all samples: what folds cannot show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from .._component import Array
from .._warnings import unsaid
from ..displays import RedundancyDisplay
from ..estimators import SourcePreparation
from ..kernels import ViewBundle
from ..kernels.align import blank
from .insides import chosen_parameters, describe_certificate, opened, taken_apart
from .models import HEADLINE
from .saving import without_infinities
from .tasks import Data

_MOST_COLUMNS = 20_000  # of a source, beyond which its coefficients are not computed
_KEPT = 50  # coefficients of every source
_AT_ONCE = 500  # columns whose coefficients are computed together
DEFAULT, AS_GIVEN = "default", "passthrough"  # preparations of sources


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
    fold = None
    model = label = f"{HEADLINE} on all samples"

    def run(self, data: Data) -> dict[str, Any]:
        """Fit and look inside; all that is returned can be written as JSON."""
        with unsaid(Warning):  # those of the folds are kept
            began = time.perf_counter()
            model = clone(self.estimator).fit(data.X, data.y)
            seconds = time.perf_counter() - began
            last, X = opened(model, data.X)
            certificate, preparation = describe_certificate(model), _preparation(model)
            found = {
                "seconds": seconds,
                "solver": certificate["solver"],
                "reason": certificate["reason"],
                "chosen": chosen_parameters(model),
                "prepared": _prepared(preparation, data.X),
                "tol": float(last.tol),
                "history": _history(last),
                "redundancy": _redundancy(last, X, data.y),
                "features": _features(last, X, data.X, preparation),
            }
            return dict(without_infinities(found))


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
        "alignment": np.round(np.asarray(found.alignment), 4).tolist(),
        "names": [str(name) for name in found.names],
        "target": np.round(np.asarray(found.target), 4).tolist(),
        "note": found.note,
    }


def _preparation(model: Any) -> SourcePreparation | None:
    """The preparation of sources inside a fitted model, if it has one."""
    before, _ = taken_apart(model)
    return next((step for step in before if isinstance(step, SourcePreparation)), None)


def _prepared(preparation: SourcePreparation | None, X: Any) -> dict[str, str] | None:
    """How every source was prepared; None for kernels that were given as matrices."""
    if not isinstance(X, ViewBundle):
        return None
    if preparation is None:
        return dict.fromkeys(X.names, AS_GIVEN)
    own = preparation.pipelines or {}
    return {
        name: AS_GIVEN if fitted is None else _in_one_line(own[name]) if name in own else DEFAULT
        for name, fitted in preparation.pipelines_.items()
    }


def _in_one_line(transformer: Any) -> str:
    return " ".join(str(transformer).split())


def _features(
    model: Any, X: Any, original: Any, preparation: SourcePreparation | None
) -> dict[str, list[dict[str, Any]]]:
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
            names = _column_names(original.block(source), len(w), source, preparation)
            order = np.argsort(-np.abs(w), kind="stable")[:_KEPT]
            found[source] = [{"name": names[j], "coefficient": float(w[j])} for j in order]
    return found


def _coefficients(model: Any, X: ViewBundle, source: str, linear: Sequence[int]) -> Array:
    r"""What a unit of each column adds to the decision: :math:`f(e_j) - f(0)` of linear kernels.

    Of several outputs, the root of the mean square.
    """
    n = X.block(source).shape[1]
    at_zero = _linear_part(model, X, source, linear, np.zeros((1, n)))
    parts = []
    for start in range(0, n, _AT_ONCE):
        units = np.eye(min(_AT_ONCE, n - start), n, start)  # e_start, e_(start + 1), ...
        parts.append(_linear_part(model, X, source, linear, units) - at_zero)
    w = np.concatenate(parts)
    return w if w.ndim == 1 else np.sqrt(np.mean(w**2, axis=1))


def _linear_part(
    model: Any, X: ViewBundle, source: str, linear: Sequence[int], rows: Array
) -> Array:
    """What linear kernels say about samples that have but one source."""
    blocks = {name: blank(X.block(name), len(rows)) for name in X.names} | {source: rows}
    present = {name: np.full(len(rows), name == source) for name in X.names}
    f = np.asarray(model.decision_contributions(ViewBundle(blocks, present)))
    return np.asarray(f[:, linear].sum(axis=1))


def _column_names(
    block: Any, n_columns: int, source: str, preparation: SourcePreparation | None
) -> list[str]:
    """Names of the columns that kernels see, numbers where nobody knows them.

    They are those of the user unless a preparation of the source's own makes others.
    """
    given = getattr(block, "columns", range(block.shape[1] if len(block.shape) == 2 else 0))
    names = [f"column {name}" if isinstance(given, range) else str(name) for name in given]
    if preparation is not None and source in (preparation.pipelines or {}):
        fitted = preparation.pipelines_[source]
        names = names if fitted is None else _names_out(fitted, names)
    return names if len(names) == n_columns else [f"column {j}" for j in range(n_columns)]


def _names_out(transformer: Any, names: list[str]) -> list[str]:
    """Names of the columns that a transformer makes, none where it cannot tell."""
    try:
        return [str(name) for name in transformer.get_feature_names_out(names)]
    except Exception:  # whatever a transformer of the user's does
        return []
