"""The values of C that a path or a search goes through, as users give them."""

from __future__ import annotations

from collections.abc import Sized
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._component import Array


def check_Cs(Cs: Any) -> None:
    """Refuse what is neither a number of values nor values."""
    if not (int(Cs) >= 1 if isinstance(Cs, Integral) else _are_values(Cs)):
        raise ValueError(
            "Cs must be a number of values or positive values, such as 6 or [0.1, 1, 10]; "
            f"got {Cs!r}."
        )


def as_Cs(Cs: Any, low: float, high: float) -> Array:
    """Increasing values: those given, or as many as asked for from 10**low to 10**high."""
    if isinstance(Cs, Integral):
        return np.logspace(low, high, int(Cs))
    return np.unique(np.array(list(Cs), dtype=np.float64))


def _are_values(Cs: Any) -> bool:
    """Whether these are numbers one by one: rows of a table and text are not."""
    if not isinstance(Cs, Sized) or not np.iterable(Cs) or not len(Cs):
        return False
    return all(isinstance(C, Real) and 0 < float(C) < np.inf for C in Cs)
