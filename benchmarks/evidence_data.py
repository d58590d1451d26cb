"""Seeded regressions and a classification whose kernels are mostly useless (numpy only)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_NOISE = 0.5


@dataclass(frozen=True)
class Task:
    """Samples, variables, and whether the targets are labels; there are 5 kernels per variable."""

    n_samples: int
    n_variables: int
    labels: bool = False

    @property
    def n_kernels(self) -> int:
        """Number of kernels, M."""
        return 5 * self.n_variables


TASKS = {
    "E0": Task(120, 4),
    "E1": Task(1000, 4),
    "E2": Task(2000, 20),
    "V0": Task(80, 4, labels=True),
    "V1": Task(500, 10, labels=True),
}


def draw(task: Task, seed: int = 0) -> tuple[Array, Array]:
    """Gram matrices of shape (M, N, N) with unit mean diagonal, and centred targets or labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(task.n_samples, task.n_variables))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * np.cos(X[:, 2]) + 0.5 * X[:, 3]
    if task.labels:
        y = np.where(rng.random(len(f)) < 1 / (1 + np.exp(-2 * f)), 1.0, -1.0)
    else:
        y = f + _NOISE * rng.normal(size=len(f))
        y -= y.mean()
    return grams(X), y


def grams(X: Array) -> Array:
    """Gaussian kernels on single and on neighbouring variables, and two linear ones."""
    n, p = X.shape
    K = np.empty((5 * p, n, n))
    columns = [([j], width) for j in range(p) for width in (0.3, 1.0, 3.0)]
    columns += [([j, j + 1], width) for j in range(p - 1) for width in (1.0, 3.0)]
    for m, (index, width) in enumerate(columns):
        part = X[:, index] / width
        squares = (part**2).sum(axis=1)
        np.matmul(part, part.T, out=K[m])
        K[m] *= 2
        K[m] -= squares
        K[m] -= squares[:, np.newaxis]
        np.exp(np.minimum(K[m], 0, out=K[m]) / 2, out=K[m])
    for m, part in enumerate((X, X[:, : p // 2]), start=len(columns)):
        K[m] = part @ part.T
        K[m] *= n / np.trace(K[m])
    return K
