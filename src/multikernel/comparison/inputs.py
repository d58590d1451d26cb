"""What compare is given: sources, targets and groups, checked once at the border."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import type_of_target

from .._component import Array
from .._validation import as_numbers, is_missing, refuse_collection
from ..kernels import KernelBundle, KernelSet, ViewBundle
from ..kernels.align import match_ids
from ..kernels.magnitude import LARGEST, magnitude
from .saving import as_json

TASKS = {"classification": "accuracy", "regression": "r2"}  # and their default scores
_MANY_VALUES = 20  # whole numbers beyond which a target is taken for a quantity


def check_sources(X: Any, kernels: Any) -> Any:
    """A row container with the sources that have kernels."""
    if isinstance(X, Mapping):
        X = ViewBundle(X)
    if not isinstance(X, ViewBundle | KernelBundle):
        refuse_collection(X)
        raise TypeError(
            "compare needs to know the sources: pass {name: block}, a ViewBundle or a "
            f"KernelBundle; got {type(X).__name__}. For a table with columns of several sources "
            "pass {name: table[columns], ...}."
        )
    named = _named_sources(kernels)
    X = X if named is None else select_sources(X, list(named))
    if isinstance(X, ViewBundle):
        for name in X.names:
            refuse_infinite(X[np.flatnonzero(X.has(name))].block(name), name)
    return X


def refuse_infinite(block: Any, name: str) -> None:
    """Refuse a source with a value that is infinite, or so large that products of it are.

    By its column and sample where they have names.
    """
    held = block.sparse.to_coo() if hasattr(block, "sparse") else block  # a frame may be sparse
    numbers = as_numbers(held.data if issparse(held) else held)
    if numbers is None or magnitude(numbers) <= LARGEST:
        return
    infinite = np.isinf(numbers)
    wrong = infinite if infinite.any() else np.abs(numbers) > LARGEST
    first = np.argwhere(wrong)[0]
    what, them = "an infinite value", "infinite values"
    if not infinite.any():
        what = f"the value {numbers[tuple(first)]:.3g}, whose products with others overflow"
        them = f"values such as {numbers[tuple(first)]:.3g}, whose products overflow"
    if hasattr(block, "iloc") and wrong.ndim == 2:
        label, sample = str(block.columns[first[1]]), as_json(block.index[first[0]])
        raise ValueError(
            f"Source {name!r}, column {label!r}: sample {sample!r} has {what}; replace it by a "
            "number, or leave it empty if it is missing."
        )
    raise ValueError(f"Source {name!r} holds {them}; replace them, by NaN if they are unknown.")


def select_sources(X: Any, names: list[str]) -> Any:
    """The same samples with some of the sources."""
    if isinstance(X, ViewBundle):
        return X.select(names)
    blocks = {name: X.block(name) for name in names}
    present = {name: X.has(name) for name in names}
    return KernelBundle(blocks, X.ids, X.column_ids, X.kind, present)


def select_kernels(kernels: Any, names: tuple[str, ...]) -> Any:
    """What to compute on some of the sources."""
    named = _named_sources(kernels)
    if named is None:
        return kernels
    own = {name: named[name] for name in names}
    return KernelSet(own, kernels.families, kernels.normalize) if kernels is not named else own


def _named_sources(kernels: Any) -> Mapping[str, Any] | None:
    """The choice of columns and families by source, where there is one."""
    if isinstance(kernels, KernelSet):
        return kernels.sources
    return kernels if isinstance(kernels, Mapping) else None


def check_targets(y: Any, X: Any) -> Array:
    """One label or number per sample, in the order of the samples."""
    if hasattr(y, "reindex"):
        y = match_ids(y, X.ids, "y")
    values: Array = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"y must hold one target per sample, got shape {values.shape}; compare the columns one "
            "after the other."
        )
    if len(values) != len(X):
        raise ValueError(f"There are {len(X)} samples in the sources but {len(values)} targets.")
    if not len(values):
        raise ValueError("There are no samples to compare models on; look at how they were chosen.")
    if n_missing := sum(map(is_missing, values.tolist())):
        raise ValueError(
            f"{n_missing} of {len(values)} targets are missing; leave these samples out."
        )
    return _of_one_type(values) if values.dtype == object else values


def _of_one_type(values: Array) -> Array:
    """Objects as strings or numbers."""
    if all(isinstance(value, str) for value in values):
        return values.astype(str)
    try:
        return np.array(values.tolist(), dtype=np.float64)
    except (TypeError, ValueError):
        kinds = sorted({type(value).__name__ for value in values})
        raise ValueError(
            f"y must hold labels or numbers; it mixes {' and '.join(kinds)}."
        ) from None


def check_groups(groups: Any, X: Any) -> Array | None:
    """The group of every sample, as numbers, in the order of the samples."""
    if groups is None:
        return None
    if hasattr(groups, "reindex"):
        groups = match_ids(groups, X.ids, "groups")
    if len(groups) != len(X):
        raise ValueError(f"There are {len(X)} samples but {len(groups)} groups.")
    values = np.asarray(groups)
    if n_missing := sum(map(is_missing, values.tolist())):
        raise ValueError(
            f"{n_missing} of {len(values)} samples have no group; add it, or leave them out."
        )
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def check_task(task: str | None, y: Array) -> str:
    """The task asked for, or that which the targets suggest."""
    if task is None:
        return _guess_task(y)
    if task not in TASKS:
        raise ValueError(f"task must be 'classification' or 'regression', got {task!r}.")
    if task == "regression" and y.dtype.kind in "US":
        raise ValueError(f"task='regression' needs numbers; y holds labels such as {str(y[0])!r}.")
    if task == "classification" and type_of_target(y) == "continuous":
        raise ValueError("task='classification' needs labels; y holds fractional numbers.")
    return task


def _guess_task(y: Array) -> str:
    kind = type_of_target(y)
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"y must hold labels or numbers, one per sample; it is {kind!r}.")
    n_values = len(np.unique(y))
    if n_values < 2:
        raise ValueError("All targets are the same; there is nothing to predict.")
    labels = y.dtype.kind in "USb" or n_values <= _MANY_VALUES
    return "classification" if labels and kind != "continuous" else "regression"
