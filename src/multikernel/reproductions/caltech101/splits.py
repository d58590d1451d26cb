"""Who trains and who tests: everything random follows from the name of a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..._component import Array

Index = NDArray[np.intp]
PROBLEMS = (("cannon", "cup"), ("cannon", "ant"), ("cup", "ant"))


class Task(NamedTuple):
    """Two classes, training images of each, and the number of the split."""

    first: str
    second: str
    size: int
    split: int

    @property
    def key(self) -> str:
        """The name, from which :func:`read_task` gets it back."""
        return f"{self.first} vs {self.second}, {self.size} per class, split {self.split}"

    @property
    def problem(self) -> str:
        """The two classes."""
        return f"{self.first} vs {self.second}"


def read_task(key: str) -> Task:
    """A task from its name.

    Examples
    --------
    >>> from multikernel.reproductions.caltech101.splits import read_task
    >>> read_task("cannon vs cup, 10 per class, split 3")
    Task(first='cannon', second='cup', size=10, split=3)
    """
    problem, size, split = key.split(", ")
    first, second = problem.split(" vs ")
    return Task(first, second, int(size.split()[0]), int(split.split()[1]))


def train_and_test(task: Task, labels: NDArray[np.str_]) -> tuple[Index, Index]:
    """Training images, equally many of both classes, and all the others of these classes.

    Smaller training sets of a split are part of the larger ones.
    """
    rng = np.random.default_rng(crc32(f"{task.problem} {task.split}".encode()))
    orders = [rng.permutation(np.flatnonzero(labels == c)) for c in (task.first, task.second)]
    train = np.concatenate([order[: task.size] for order in orders])
    test = np.concatenate([order[task.size :] for order in orders])
    return np.sort(train), np.sort(test)


def balanced_folds(
    y: Array, n_folds: int, n_repeats: int, seed: int
) -> Iterator[tuple[Index, Index]]:
    """Samples to fit and to hold out, repeatedly, as many of one sign as of the other in both.

    Folds in which one class is held out more often than the other are unfair to methods whose
    functions are small beside the intercept: it favours the class that is left, which is the one
    that is held out less.
    """
    rng = np.random.default_rng(seed)
    for _ in range(n_repeats):
        orders = [rng.permutation(np.flatnonzero(y == sign)) for sign in (-1, 1)]
        parts = [np.array_split(order, n_folds) for order in orders]
        for both in zip(*parts, strict=True):
            held = np.sort(np.concatenate(both))
            yield np.setdiff1d(np.arange(len(y)), held), held
