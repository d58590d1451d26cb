"""Numbers of columns that may miss some values."""

from __future__ import annotations

import numpy as np

from .._component import Array
from ..kernels.magnitude import LARGEST


def standardise(X: Array) -> Array:
    """Columns of mean zero and variance one.

    What is missing, infinite or too large to be squared counts as the mean. Columns without
    variation become zero.
    """
    known = np.abs(X) <= LARGEST
    n_known = np.maximum(known.sum(axis=0), 1)
    Z = np.where(known, X, 0.0)
    Z = np.where(known, Z - Z.sum(axis=0) / n_known, 0.0)
    scale = np.sqrt(np.mean(Z**2, axis=0))
    Z /= np.where(scale > 0, scale, 1.0)
    return Z
