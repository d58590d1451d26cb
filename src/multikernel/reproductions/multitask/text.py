"""Numbers of the three examples, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._component import Array


def explained(y: Array, prediction: Array) -> float:
    """The share of the variance of y that predictions explain; negative if they do harm."""
    return float(1 - np.mean((y - prediction) ** 2) / np.var(y))


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Mean and standard deviation over splits.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0])
    '2.0 ± 1.0'
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ± {deviation:.{digits}f}"
