"""Targets of regression: what is refused, and the unit in which they are learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from .._component import Array
from ..kernels.magnitude import LARGEST, magnitude

_CONSTANT = 1e-12  # of the largest entry: a spread that is rounding


def check_real_targets(estimator: Any, X: Any, y: Any) -> Array:
    """Targets as numbers, one row for every sample.

    Parameters
    ----------
    estimator : estimator
        Whose name messages begin with.
    X : checked input
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    """
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(X, y)
    if (largest := magnitude(y)) > LARGEST:
        raise ValueError(
            f"{name}: squares of targets must be numbers, but the largest target is {largest:.1e}; "
            "give y in a larger unit."
        )
    return np.asarray(y)


def target_scales(Y: Array, cost: Array | None = None) -> Array:
    """The standard deviation of every output, one where its targets do not vary.

    Parameters
    ----------
    Y : array of shape (n_samples, n_outputs)
    cost : array of shape (n_samples,), optional
        Sample weights; an integer weight equals repetition.
    """
    mean = np.average(Y, axis=0, weights=cost)
    spread = np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=cost))
    return np.where(spread > _CONSTANT * np.abs(Y).max(axis=0), spread, 1.0)
