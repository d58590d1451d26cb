"""The target: classes and their sizes against the folds, and groups."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._errors import count, listing
from ._finding import Finding
from .dataset import Dataset

_DEFAULT_FOLDS = 5
_UNBALANCED = 10  # times as many members of the largest class as of the smallest
_TINY_GROUP = 2


def target_findings(dataset: Dataset) -> Iterator[Finding]:
    """Balance, variation and groups."""
    if dataset.y is None:
        yield Finding("warning", "target", "There is no target: name it as 'file:column'.")
        return
    folds = int(dataset.options.get("cv", _DEFAULT_FOLDS))
    if dataset.y.nunique() < 2:
        only = dataset.y.iloc[0] if len(dataset.y) else None
        yield Finding("problem", "target", f"All values are {only!r}: nothing can be learned.")
    elif dataset.task == "classification":
        yield from _balance(dataset, folds)
        yield from _alike(dataset)
    else:
        y = dataset.y
        yield Finding(
            "ok", "target", f"{count(len(y), 'number')} from {y.min():.4g} to {y.max():.4g}."
        )
    yield from _groups(dataset, folds)


def _balance(dataset: Dataset, folds: int) -> Iterator[Finding]:
    assert dataset.y is not None
    counts = dataset.y.value_counts()
    smallest, n_smallest, n_largest = counts.index[-1], int(counts.iloc[-1]), int(counts.iloc[0])
    sizes = f"{count(len(counts), 'class')}, the smallest, class {smallest}, of {n_smallest}"
    if n_smallest < folds:
        few = "problem" if n_smallest == 1 else "warning"
        advice = "join it with another" if n_smallest == 1 else f"use cv = {n_smallest} or join it"
        yield Finding(
            few,  # type: ignore[arg-type]
            "target",
            f"{sizes}: fewer than the {folds} folds; {advice}.",
        )
    elif n_largest > _UNBALANCED * n_smallest:
        yield Finding(
            "warning",
            "target",
            f"{sizes}, the largest of {n_largest}: judge by balanced accuracy or AUC, not by "
            "accuracy.",
        )
    else:
        yield Finding("ok", "target", f"{sizes}, the largest of {n_largest}.")


def _alike(dataset: Dataset) -> Iterator[Finding]:
    """Classes that would be the same if they were written alike."""
    assert dataset.y is not None
    sizes = dataset.y.value_counts()
    spellings: dict[str, list[str]] = {}
    for label, size in sizes.items():
        key = re.sub(r"\s+", "", str(label)).casefold()
        spellings.setdefault(key, []).append(f"{label!r} ({count(int(size), 'sample')})")
    for same in spellings.values():
        if len(same) > 1:
            yield Finding(
                "warning",
                "target",
                f"The classes {listing(same)} differ only in case or spaces, but count as "
                "different ones: write them alike.",
            )


def _groups(dataset: Dataset, folds: int) -> Iterator[Finding]:
    if dataset.groups is None:
        return
    n_groups = dataset.groups.nunique()
    if n_groups < folds:
        yield Finding(
            "warning" if n_groups >= _TINY_GROUP else "problem",
            "groups",
            f"{count(n_groups, 'group')} for {folds} folds: use at most as many folds as groups.",
        )
    else:
        yield Finding("ok", "groups", f"{count(n_groups, 'group')}, kept together in the folds.")
    if dataset.y is not None and dataset.task == "classification":
        both = dataset.groups.to_frame("group").join(dataset.y.rename("y"), how="inner")
        if n_groups > 1 and both.groupby("group")["y"].nunique().max() == 1:
            yield Finding(
                "warning",
                "groups",
                "Every group has one class only: a model may learn the groups instead of the "
                "classes.",
            )
