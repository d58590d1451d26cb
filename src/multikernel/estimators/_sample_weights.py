"""Sample weights and class weights, as factors on C."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from .._component import Array


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array | None:
    """Sample weights as an array, or None; not all of them may be zero."""
    if sample_weight is None:
        return None
    s = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if s.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must hold one number for each of the {n_samples} samples, got shape "
            f"{s.shape}."
        )
    if s.min() < 0:
        raise ValueError(f"sample_weight must not be negative, got {s.min():.3g}.")
    if not s.any():
        raise ValueError("sample_weight must not be zero for all samples.")
    return np.asarray(s)


def class_factors(class_weight: Any, classes: Array, codes: Array, cost: Array) -> Array:
    """The factor of every class; "balanced" gives all classes the same total cost.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : array of shape (n_classes,)
        Labels.
    codes : array of shape (n_samples,)
        The position in ``classes`` of the label of every sample.
    cost : array of shape (n_samples,)
        Sample weights.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights=cost)  # a weight of 2 counts as two samples
        return np.asarray(totals.sum() / (len(totals) * totals))
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[codes]))
