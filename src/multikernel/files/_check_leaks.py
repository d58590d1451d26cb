"""Smells of a leak: columns that are the target, or are named after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._component import Array
from ._errors import listing
from ._finding import Finding
from ._join import common_ids, rows_of
from ._numbers import standardise
from ._table import is_sparse
from ._types import Series
from .dataset import Dataset

_CORRELATED = 0.999
_FEWEST = 10  # samples below which a coincidence is no smell


def leak_findings(dataset: Dataset) -> Iterator[Finding]:
    """Copies of the target among the columns of every source of features."""
    if dataset.y is None or not len(dataset.y):
        return
    for name, table in dataset.tables.items():
        if dataset.kind(name) != "features":
            continue
        yield from _names(name, table.columns, dataset.y)
        ids = common_ids({name: table}, dataset.y)
        if len(ids) < _FEWEST or is_sparse(table):
            continue
        X = rows_of(table, ids).to_numpy(dtype=np.float64)
        y = rows_of(dataset.y.to_frame(), ids).iloc[:, 0]
        yield from _copies(name, X, np.asarray(table.columns, dtype=object), y, dataset.task)


def _copies(name: str, X: Array, columns: Any, y: Series, task: str | None) -> Iterator[Finding]:
    X = np.where(np.isfinite(X), X, np.nan)
    numeric = y.dtype.kind in "iuf"
    equal = (
        np.all(np.equal(X, np.asarray(y, dtype=float)[:, None]), axis=0)
        if numeric
        else np.zeros(X.shape[1], bool)
    )
    tied = _one_to_one(X, y) & ~equal if task == "classification" else np.zeros_like(equal)
    close = (_correlation(X, y, task) > _CORRELATED) & ~equal & ~tied
    told = f"the target {y.name!r}"
    advice = "drop it (in a TOML file), or the model just copies it."
    if equal.any():
        yield Finding("problem", name, f"{_columns(columns[equal])} equals {told}: {advice}")
    if tied.any():
        sentence = f"{_columns(columns[tied])} tells {told} exactly, one value per class: {advice}"
        yield Finding("problem", name, sentence)
    if close.any():
        yield Finding(
            "warning",
            name,
            f"{_columns(columns[close])} correlates with {told} by more than {_CORRELATED}: make "
            "sure that it is known before the target is.",
        )


def _columns(names: Any) -> str:
    if len(names) == 1:
        return f"Column {names[0]!r}"
    return f"Each of {listing(map(repr, names), 3)}"


def _one_to_one(X: Array, y: Series) -> Array:
    """Columns with one value in each class, and different ones in different classes."""
    codes = np.unique(np.asarray(y.astype(str)), return_inverse=True)[1].ravel()
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    low = np.fmin.reduceat(X[order], starts, axis=0)
    high = np.fmax.reduceat(X[order], starts, axis=0)
    values = np.sort(low, axis=0)
    distinct = np.all(np.diff(values, axis=0) > 0, axis=0)
    return np.asarray(np.all(low == high, axis=0) & distinct & (len(starts) > 1))


def _correlation(X: Array, y: Series, task: str | None) -> Array:
    """The largest absolute correlation of every column with the target or with a class."""
    if task == "classification":
        labels = np.asarray(y.astype(str))
        targets = (labels[:, None] == np.unique(labels)).astype(np.float64)
    else:
        targets = np.asarray(y, dtype=np.float64)[:, None]
    correlations = standardise(X).T @ standardise(targets) / len(X)
    return np.asarray(np.max(np.abs(correlations), axis=1))


def _names(source: str, columns: Any, y: Series) -> Iterator[Finding]:
    """Columns, or a source, that carry the name of the target as a word."""
    words = _words(str(y.name))
    if not words:
        return
    alike = [str(column) for column in columns if _contains(_words(str(column)), words)]
    if alike:
        verb = "has" if len(alike) == 1 else "have"
        yield Finding(
            "warning",
            source,
            f"{listing(map(repr, alike), 3)} {verb} the name of the target ({y.name!r}): make sure "
            "that it is known before the target is.",
        )
    elif _contains(_words(source), words):
        yield Finding(
            "warning",
            source,
            f"The source has the name of the target ({y.name!r}): make sure that it is no copy.",
        )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _contains(words: list[str], wanted: list[str]) -> bool:
    n = len(wanted)
    return any(words[i : i + n] == wanted for i in range(len(words) - n + 1))
