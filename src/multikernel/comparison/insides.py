"""What is kept of a fitted model: weights, certificate, and what each source does in the test part.

All of it can be written as JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline

from .._component import Array
from ..kernels import KernelBundle, ViewBundle
from ..kernels.rows import take_rows
from .saving import as_json

ACTIVE = 1e-6  # of the largest weight, from which on a kernel is in use
_N_SHUFFLES = 5  # of the rows of a source
_DIGITS = 6  # of contributions, which are many


def describe_weights(model: Any) -> dict[str, Any]:
    """Weights by kernel and source, and what was chosen, where there are any."""
    chosen, last = chosen_parameters(model), _last(model)
    if not _has_weights(last):
        nothing = dict.fromkeys(("weights", "class_weights", "kernels", "shares", "n_active"))
        return nothing | {"chosen": chosen}
    table = last.kernels_.table()
    by_class = np.abs(np.atleast_2d(last.weights_))
    weights = by_class.mean(axis=0)
    share = _normalized(weights)
    source = np.array([row["source"] for row in table], dtype=object)
    return {
        "weights": share.tolist(),
        "class_weights": list(map(_normalized_list, by_class)) if len(by_class) > 1 else None,
        "kernels": [row["kernel"] for row in table],
        "shares": {name: float(share[source == name].sum()) for name in dict.fromkeys(source)},
        "n_active": int(np.count_nonzero(weights > ACTIVE * weights.max())),
        "chosen": chosen,
    }


def describe_certificate(model: Any) -> dict[str, Any]:
    """How a fit ended: solver or method, relative duality gap, iterations, whether it converged."""
    last = _last(model)
    solution = getattr(last, "solution_", None)
    first = solution[0] if isinstance(solution, list) else solution
    gap, converged = getattr(last, "gap_", None), getattr(last, "converged_", None)
    n_iter = getattr(last, "n_iter_", None)
    return {
        "solver": getattr(first, "solver", None),
        "gap": None if gap is None or not np.isfinite(gap) else float(gap),
        "converged": None if converged is None else bool(converged),
        "n_iter": None if n_iter is None else int(np.max(n_iter)),
    }


def source_contributions(model: Any, X: Any) -> dict[str, Any] | None:
    """What each source adds to the decision about every sample: of the class that is predicted.

    Of two classes, and of a number to predict, there is one decision.
    """
    last, prepared = opened(model, X)
    if not hasattr(last, "decision_contributions"):
        return None
    values = np.asarray(last.decision_contributions(prepared, by="source"))
    classes = None
    if is_classifier(last):
        labels = np.asarray(last.classes_)
        predicted = np.asarray(last.predict(prepared))
        classes = (predicted if values.ndim == 3 else np.full(len(values), labels[-1])).tolist()
        if values.ndim == 3:
            column = np.searchsorted(labels, predicted)
            values = values[np.arange(len(values)), :, column]
    elif values.ndim == 3:
        return None
    rounded = [[float(f"{v:.{_DIGITS}g}") for v in row] for row in values.tolist()]
    return {"sources": [str(name) for name in last.sources_], "classes": classes, "values": rounded}


def permuted_drops(
    model: Any, X: Any, y: Array, scoring: str, score: float, seed: int
) -> dict[str, float]:
    """What the score loses if the rows of a source are permuted among the samples that have it."""
    scorer, rng = get_scorer(scoring), np.random.default_rng(seed)
    drops = {}
    for name in X.names:
        shuffled = [_permute_rows(X, name, rng) for _ in range(_N_SHUFFLES)]
        drops[name] = score - float(np.mean([scorer(model, Z, y) for Z in shuffled]))
    return drops


def opened(model: Any, X: Any) -> tuple[Any, Any]:
    """The estimator inside pipelines and searches, and the samples as it gets them."""
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        if isinstance(model, Pipeline):
            model, X = model[-1], model[:-1].transform(X)
        else:
            model = model.best_estimator_
    return model, X


def chosen_parameters(model: Any) -> dict[str, Any]:
    """The parameters that a search inside the model settled on."""
    while isinstance(model, Pipeline):
        model = model[-1]
    return {name: as_json(value) for name, value in getattr(model, "best_params_", {}).items()}


def _permute_rows(X: Any, name: str, rng: np.random.Generator) -> Any:
    """The same samples with the rows of one source in another order."""
    order, has = np.arange(len(X)), np.flatnonzero(X.has(name))
    order[has] = rng.permutation(has)
    blocks = {other: X.block(other) for other in X.names}
    present = {other: X.has(other) for other in X.names}
    if isinstance(X, ViewBundle):
        moved = take_rows(blocks[name], order)
        if hasattr(moved, "iloc"):
            moved = moved.set_axis(blocks[name].index, axis=0)
        return ViewBundle(blocks | {name: moved}, present, X.ids)
    blocks[name] = blocks[name][order]
    return KernelBundle(blocks, X.ids, X.column_ids, X.kind, present)


def _last(model: Any) -> Any:
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        model = model[-1] if isinstance(model, Pipeline) else model.best_estimator_
    return model


def _has_weights(estimator: Any) -> bool:
    return hasattr(estimator, "weights_") and hasattr(estimator, "kernels_")


def _normalized(weights: Array) -> Array:
    return np.asarray(weights / (weights.sum() or 1.0))


def _normalized_list(weights: Array) -> list[float]:
    return list(_normalized(weights).tolist())
