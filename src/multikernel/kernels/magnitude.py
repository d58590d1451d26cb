"""Magnitude: numbers whose products are numbers, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from .._component import Array

LARGEST = 1e150  # 4 p x², the squared distance of p columns, is below 1.8e308 for ten million


def refuse_huge(X: Any, source: str, names: Sequence[Any] | None = None) -> None:
    """Refuse a table of numbers, some perhaps missing, with one whose square may overflow.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, n_columns)
    source : str
        How messages call the table.
    names : sequence, optional
        Names of the columns, positions by default.
    """
    if magnitude(X) <= LARGEST:
        return
    parts = coo_array(X) if issparse(X) else None
    values = X if parts is None else parts.data
    first = np.argwhere(np.abs(values) > LARGEST)[0]
    column = first[1] if parts is None else parts.coords[1][first[0]]
    label = int(column) if names is None else names[column]
    raise ValueError(
        f"Source {source!r}, column {label!r}: the value {values[tuple(first)]:.3g} is too large "
        f"for kernels, since products of such numbers overflow (up to {LARGEST:.0e} they do not); "
        "correct it, or rescale the columns."
    )


def magnitude(X: Any) -> float:
    """The largest absolute value that is not missing, without a copy of the table."""
    values: Array = X.data if issparse(X) else X
    low, high = (
        reduce(values, axis=None, initial=0.0) for reduce in (np.fmin.reduce, np.fmax.reduce)
    )
    return max(-float(low), float(high))
