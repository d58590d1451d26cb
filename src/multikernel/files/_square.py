"""Square sources: kernel and distance matrices between the samples."""

from __future__ import annotations

import numpy as np

from .._component import Array
from ._errors import InputError
from ._types import DataFrame
from .dataset import Kind

_SMALLEST = 3  # samples from which a symmetric matrix is taken for a kernel


def guess_kind(frame: DataFrame) -> Kind:
    """Kernel or distance for a symmetric matrix, or where columns are samples; else features."""
    n = len(frame)
    if frame.shape != (n, n) or n < _SMALLEST:
        return "features"
    if between := set(frame.columns) == set(frame.index) and frame.columns.is_unique:
        frame = frame[list(frame.index)]
    K = frame.to_numpy()
    named = between and not all(str(name).isdigit() for name in frame.columns)
    if not named and (mirrored_share(K) < 1 or np.ptp(K) == 0):
        return "features"
    zero_diagonal = np.allclose(np.diagonal(K), 0.0) and np.nanmin(K) >= 0 and np.ptp(K) > 0
    return "distance" if zero_diagonal else "kernel"


def mirrored_share(K: Array) -> float:
    """The share of entries of a square matrix that equal their mirror images but for rounding."""
    return float(np.mean(np.isclose(K, K.T, equal_nan=True)))


def as_square(frame: DataFrame, where: str, kind: Kind) -> DataFrame:
    """A square matrix with the sample ids in its columns, in the order of its rows."""
    n, width = frame.shape
    if n != width:
        raise InputError(
            f"{where} is to hold a {kind} matrix but has {n} rows and {width} columns; expected a "
            "square one over all samples.",
            key="kind",
        )
    ids = list(frame.index)
    if set(frame.columns) == set(ids):
        return frame[ids]
    return frame.set_axis(ids, axis=1)
