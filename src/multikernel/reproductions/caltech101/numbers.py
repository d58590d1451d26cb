"""The numbers of all tasks as arrays, in the order of problems, sizes and splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._component import Array
from .arrangement import CHI2, FAMILIES, Arrangement
from .models import METHODS
from .splits import Task

SMALL, LARGE = 20, 30  # the paper says "smaller than 20" and "above 30" images per class


@dataclass(frozen=True)
class Numbers:
    """What tasks found, by method.

    Attributes
    ----------
    arrangement : Arrangement
    problems : tuple of str
    sizes : tuple of int
    n_splits : int
    accuracy : dict of arrays of shape (n_problems, n_sizes, n_splits)
    selected : dict of arrays of shape (n_problems, n_sizes, n_splits, n_families, n_widths)
        Kernels with weight.
    weights : dict of arrays of shape (n_problems, n_splits, n_kernels)
        Of the largest training sets.
    n_test : array of shape (n_problems, n_sizes)
    """

    arrangement: Arrangement
    problems: tuple[str, ...]
    sizes: tuple[int, ...]
    n_splits: int
    accuracy: dict[str, Array]
    selected: dict[str, Array]
    weights: dict[str, Array]
    n_test: Array

    @property
    def small(self) -> list[int]:
        """Positions of the sizes that the paper calls small."""
        return [k for k, size in enumerate(self.sizes) if size < SMALL]

    @property
    def large(self) -> list[int]:
        """Positions of the sizes that it calls large, or of the largest there is."""
        return [k for k, size in enumerate(self.sizes) if size >= LARGE] or [len(self.sizes) - 1]

    def mean_weights(self, method: str, problem: int) -> Array:
        """Mean shares of the weights in their sum, in the shape of the arrangement."""
        d = self.weights[method][problem]
        d = d[d.sum(axis=1) > 0]  # where nothing beats a constant, there are none
        shares = d / d.sum(axis=1, keepdims=True)
        mean = np.sum(shares, axis=0) / max(len(d), 1)
        return np.asarray(mean.reshape(self.arrangement.shape))

    def n_selected(self, method: str, problem: int) -> Array:
        """Kernels with weight by split and family, for the largest training sets."""
        return np.asarray(self.selected[method][problem, -1].sum(axis=-1))

    def by_width(self, method: str, problem: int, family: str = CHI2) -> Array:
        """Kernels with weight by split and width, for the largest training sets."""
        return np.asarray(self.selected[method][problem, -1, :, FAMILIES.index(family)])


def collect(results: Mapping[Task, Mapping[str, Any]], arrangement: Arrangement) -> Numbers:
    """Arrays of the results of all tasks."""
    problems = tuple(dict.fromkeys(task.problem for task in results))
    sizes = tuple(sorted({task.size for task in results}))
    n_splits = 1 + max(task.split for task in results)
    by_place = {(task.problem, task.size, task.split): r for task, r in results.items()}

    def stack(method: str, what: str) -> Array:
        return np.array(
            [
                [
                    [by_place[problem, size, k]["methods"][method][what] for k in range(n_splits)]
                    for size in sizes
                ]
                for problem in problems
            ]
        )

    def weights(method: str) -> Array:
        return np.array(
            [
                [
                    by_place[problem, sizes[-1], k]["methods"][method]["weights"]
                    for k in range(n_splits)
                ]
                for problem in problems
            ]
        )

    return Numbers(
        arrangement,
        problems,
        sizes,
        n_splits,
        {method: stack(method, "accuracy") for method in METHODS},
        {method: stack(method, "n_selected") for method in METHODS},
        {method: weights(method) for method in METHODS},
        np.array(
            [[by_place[problem, size, 0]["n_test"] for size in sizes] for problem in problems]
        ),
    )


def mean_and_error(values: Array) -> tuple[float, float]:
    """The mean over splits, which are the last axis, and its standard error."""
    by_split = values.reshape(-1, values.shape[-1]).mean(axis=0)
    return float(by_split.mean()), float(by_split.std(ddof=1) / np.sqrt(len(by_split)))
