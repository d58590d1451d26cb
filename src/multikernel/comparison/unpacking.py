"""A Dataset as compare takes it: sources, target, groups, kernels and task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ..files import Dataset


class Study(NamedTuple):
    """What to compare models on."""

    X: Any
    y: Any
    groups: Any
    kernels: Any
    task: str | None


def unpack(X: Any, y: Any, groups: Any, kernels: Any, task: str | None) -> Study:
    """What was given and, where that is a Dataset, what it holds; arguments win over it."""
    if not isinstance(X, Dataset):
        if y is None:
            raise TypeError("compare needs y, one target per sample.")
        return Study(X, y, groups, kernels, task)
    if y is None and X.y is None:
        raise ValueError("The Dataset has no target: name one in read_sources, or pass y.")
    bundle, own_y, own_groups = (X if y is None else replace(X, y=None)).align()
    return Study(
        bundle,
        own_y if y is None else y,
        own_groups if groups is None else groups,
        X.kernel_choice() if kernels is None else kernels,
        X.task if task is None and y is None else task,
    )
