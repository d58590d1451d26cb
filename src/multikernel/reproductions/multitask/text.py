"""What predictions of the examples are judged by."""

from __future__ import annotations

import numpy as np

from ..._component import Array


def explained(y: Array, prediction: Array) -> float:
    """The share of the variance of y that predictions explain; negative if they do harm."""
    return float(1 - np.mean((y - prediction) ** 2) / np.var(y))
