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
from ..estimators._inputs import make_kernels
from ..kernels import KernelBundle, ViewBundle
from ..kernels.rows import take_rows
from .saving import as_json

ACTIVE = 1e-6  # of the largest weight, from which on a kernel is in use
_FLAT = 1.5  # largest weight over the smallest, up to which weights are nearly uniform
_N_SHUFFLES = 5  # of the rows of a source
_DIGITS = 6  # of contributions, which are many
_UNIT_TRACE = ("variance", "trace")  # normalisations that give all samples the same mean diagonal


def describe_weights(model: Any) -> dict[str, Any]:
    """Weights by kernel and source, and what was chosen, where there are any."""
    chosen, (_, last) = chosen_parameters(model), taken_apart(model)
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


def trace_shares(model: Any, X: Any) -> dict[str, Any] | None:
    r"""Shares of kernels and sources in the trace of :math:`\sum_m d_m K_m` on training samples X.

    None for models without weights.
    """
    last, prepared = opened(model, X)
    if not _has_weights(last):
        return None
    source = np.array([row["source"] for row in last.kernels_.table()], dtype=object)
    weights = np.abs(np.atleast_2d(last.weights_)).mean(axis=0)
    share = _normalized(weights * _traces(last, prepared))  # d_m tr K_m
    return {
        "weights": share.tolist(),
        "shares": {name: float(share[source == name].sum()) for name in dict.fromkeys(source)},
    }


def nearly_uniform(weights: Any) -> bool:
    """Whether several weights, for every class if there are classes, hardly differ."""
    d = np.abs(np.atleast_2d(weights))
    return d.shape[1] > 1 and bool(np.all(d.max(axis=1) <= _FLAT * d.min(axis=1)) and d.min() > 0)


def describe_certificate(model: Any) -> dict[str, Any]:
    """How a fit ended: solver or method and why, relative duality gap, iterations, convergence."""
    _, last = taken_apart(model)
    solution = getattr(last, "solution_", None)
    first = solution[0] if isinstance(solution, list) else solution
    gap, converged = getattr(last, "gap_", None), getattr(last, "converged_", None)
    n_iter = getattr(last, "n_iter_", None)
    return {
        "solver": getattr(first, "solver", None),
        "reason": getattr(first, "reason", ""),
        "gap": None if gap is None or not np.isfinite(gap) else float(gap),
        "converged": None if converged is None else bool(converged),
        "n_iter": None if n_iter is None else int(np.max(n_iter)),
    }


def source_contributions(model: Any, X: Any) -> dict[str, Any] | None:
    """What each source, and the intercept, adds to the decision about every sample.

    It is the decision for the class that is predicted; of two classes, and of a number to predict,
    there is one decision.
    """
    last, prepared = opened(model, X)
    if not hasattr(last, "decision_contributions"):
        return None
    values = np.asarray(last.decision_contributions(prepared, by="source"))
    constant = np.broadcast_to(np.ravel(last.intercept_)[:1], len(values))
    classes = None
    if is_classifier(last):
        labels = np.asarray(last.classes_)
        predicted = np.asarray(last.predict(prepared))
        classes = (predicted if values.ndim == 3 else np.full(len(values), labels[-1])).tolist()
        if values.ndim == 3:
            column = np.searchsorted(labels, predicted)
            values = values[np.arange(len(values)), :, column]
            constant = np.asarray(last.intercept_)[column]
    elif values.ndim == 3:
        return None
    return {
        "sources": [str(name) for name in last.sources_],
        "classes": classes,
        "values": [_rounded(row) for row in values],
        "constant": _rounded(constant),
    }


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
    before, last = taken_apart(model)
    for transformer in before:
        X = transformer.transform(X)
    return last, X


def taken_apart(model: Any) -> tuple[list[Any], Any]:
    """The transformers of all pipelines and searches around an estimator, and the estimator."""
    before: list[Any] = []
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        if isinstance(model, Pipeline):
            before += [step for _, step in model.steps[:-1]]
            model = model[-1]
        else:
            model = model.best_estimator_
    return before, model


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


def _has_weights(estimator: Any) -> bool:
    return hasattr(estimator, "weights_") and hasattr(estimator, "kernels_")


def _traces(estimator: Any, X: Any) -> Array:
    """The traces of the training kernels, up to a common factor."""
    fitted = estimator.kernels_
    if fitted.normalize in _UNIT_TRACE:  # tr K_m is the number of samples that have the source
        every = np.ones(fitted.n_samples_)
        return np.array([fitted.present_.get(r["source"], every).sum() for r in fitted.table()])
    kernels = make_kernels(estimator.kernels, estimator.normalize, X)
    if (factors := kernels.fit_factors(X)) is not None:
        return np.array([np.sum(Z**2) for Z in factors])  # tr Z Zᵀ
    traces = np.zeros(fitted.n_kernels_)
    for m, K in kernels.fit_grams(X):
        traces[m] = np.trace(K)
    return traces


def _rounded(values: Array) -> list[float]:
    return [float(f"{v:.{_DIGITS}g}") for v in values.tolist()]


def _normalized(weights: Array) -> Array:
    return np.asarray(weights / (weights.sum() or 1.0))


def _normalized_list(weights: Array) -> list[float]:
    return list(_normalized(weights).tolist())
