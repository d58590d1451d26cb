"""Presence: whether having a source tells the class, which a model would learn instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from ._errors import listing
from ._finding import Finding
from .dataset import Dataset

_FEWEST = 20  # samples of a class, below which shares differ by chance
_APART = 0.5  # of shares that differ


def presence_findings(dataset: Dataset) -> Iterator[Finding]:
    """Sources that samples of some classes have and those of others lack."""
    if dataset.y is None or dataset.task != "classification":
        return
    y = dataset.y[~dataset.y.index.duplicated()]
    classes, codes = np.unique(np.asarray(y.astype(str)), return_inverse=True)
    sizes = np.bincount(codes)
    for name, table in dataset.tables.items():
        having = np.bincount(codes, weights=y.index.isin(table.index))
        if told := _told(classes, sizes, having / np.maximum(sizes, 1)):
            yield Finding(
                "warning",
                name,
                f"{told}: that a sample has the source tells its class, which a model may learn "
                "instead. Leave the source out, or keep only samples that have it.",
            )


def _told(classes: NDArray[Any], sizes: NDArray[np.intp], shares: Array) -> str:
    """How having a source goes with the class, empty where it does not."""
    if len(classes) < 2 or not shares.any():
        return ""
    if np.count_nonzero(shares) == 1:
        return f"Only samples of class {str(classes[shares.argmax()])!r} have it"
    if not shares.all():
        lacking = listing((repr(str(label)) for label in classes[shares == 0]), 3)
        return f"No sample of class {lacking} has it"
    known = np.flatnonzero(sizes >= _FEWEST)
    if not len(known) or np.ptp(shares[known]) < _APART:
        return ""
    low, high = known[shares[known].argmin()], known[shares[known].argmax()]
    return (
        f"{shares[high]:.0%} of the samples of class {str(classes[high])!r} have it, but "
        f"{shares[low]:.0%} of class {str(classes[low])!r}"
    )
