"""Presence: which samples have which source, and how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._component import Array

Mask = NDArray[np.bool_]
MIN_PRESENT = 3  # samples from which a mean and a width can be learned


@dataclass(frozen=True)
class PresenceSummary:
    """How many samples have each source, and how many have all of them.

    Attributes
    ----------
    n_samples : int
    n_present : dict of str to int
        Samples that have each source.
    n_complete, n_empty : int
        Samples that have all of the sources, and none of them.
    patterns : dict of tuple of str to int
        Samples that have exactly these sources, most frequent first.
    """

    n_samples: int
    n_present: dict[str, int]
    n_complete: int
    n_empty: int
    patterns: dict[tuple[str, ...], int] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = self.n_present | {"all of them": self.n_complete}
        if self.n_empty:
            counts |= {"none of them": self.n_empty}
        width, digits = max(map(len, counts)), len(str(self.n_samples))
        lines = [f"{n:<{width}}  {c:>{digits}} of {self.n_samples}" for n, c in counts.items()]
        return "\n".join(lines)

    __repr__ = __str__


def summarize(present: Mask, names: Sequence[str]) -> PresenceSummary:
    """Count the samples of every source in a mask of shape (n, n_sources)."""
    rows, counts = np.unique(present, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return PresenceSummary(
        n_samples=len(present),
        n_present=dict(zip(names, present.sum(axis=0).tolist(), strict=True)),
        n_complete=int(present.all(axis=1).sum()),
        n_empty=int((~present.any(axis=1)).sum()),
        patterns={
            tuple(name for name, has in zip(names, rows[k], strict=True) if has): int(counts[k])
            for k in order
        },
    )


def check_masks(present: Any, names: Sequence[str], n_samples: int) -> dict[str, Mask]:
    """The masks of the sources that some samples lack, from a mapping or an array."""
    if present is None:
        return {}
    if not isinstance(present, Mapping):
        table = np.asarray(present)
        if table.shape != (n_samples, len(names)):
            raise ValueError(
                f"present must map names to masks or have shape ({n_samples}, {len(names)}), one "
                f"row per sample and one column per source; got shape {table.shape}."
            )
        present = dict(zip(names, table.T, strict=True))
    masks = {str(name): _as_mask(mask, name, n_samples) for name, mask in present.items()}
    if strangers := [name for name in masks if name not in names]:
        raise ValueError(f"present names {strangers[0]!r}, but the sources are {', '.join(names)}.")
    return {name: mask for name, mask in masks.items() if not mask.all()}


def _as_mask(given: Any, name: Any, n_samples: int) -> Mask:
    mask: Mask = np.array(given)
    if mask.shape != (n_samples,) or mask.dtype != bool:
        raise ValueError(
            f"present[{str(name)!r}] must be {n_samples} booleans, True where a sample has the "
            f"source; got shape {mask.shape} of type {mask.dtype}."
        )
    return mask


def check_enough(masks: Mapping[str, Mask], share: Array) -> None:
    """Refuse to learn a kernel from a source that hardly any training sample has."""
    for source, mask in masks.items():
        count = int(np.count_nonzero(mask & (share > 0)))
        if count < MIN_PRESENT:
            raise ValueError(
                f"Source {source!r} is present in {count} of {len(mask)} training samples, too few "
                f"to learn a kernel from (at least {MIN_PRESENT}). Leave the source out, or, in "
                "cross-validation, choose folds that keep samples with it in training."
            )
