"""The data of the probabilistic experiment and their kernels, scaled on training samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from qmkl_data import data_file
from sklearn.metrics.pairwise import euclidean_distances

from multikernel.kernels import KernelBundle

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Bandwidths of SimpleMKL, exp(−‖x − z‖²/2σ²) on standardised variables, and fewer of our own
_MANY = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
_FEW = (0.1, 0.3, 1.0, 3.0, 10.0)
_FINE = tuple(np.geomspace(0.03, 3.0, 10))


@dataclass(frozen=True)
class Data:
    """Samples, their targets (-1 and +1, or numbers), and what kernels are made of.

    Attributes
    ----------
    X : array of shape (n, n_variables)
    y : array of shape (n,) or (n, n_outputs)
    bandwidths : tuple of float
        Of Gaussian kernels, in standard deviations of a variable.
    degrees : tuple of int
        Of polynomial kernels.
    """

    X: Array
    y: Array
    bandwidths: tuple[float, ...]
    degrees: tuple[int, ...]

    @property
    def labels(self) -> bool:
        """Whether this is a classification."""
        return bool(np.all(np.abs(self.y) == 1))


@dataclass(frozen=True)
class Split:
    """Kernels and targets of training and test samples.

    Attributes
    ----------
    train, test : KernelBundle
    y_train, y_test : array
        Numbers in standard deviations of the training targets from their mean.
    """

    train: KernelBundle
    test: KernelBundle
    y_train: Array
    y_test: Array

    def uniform(self) -> Split:
        """The same with one kernel, the mean of all."""
        both = [self.train, self.test]
        mean = [np.mean([b.block(name) for name in b.names], axis=0) for b in both]
        n = len(self.y_train)
        bundle = KernelBundle({"mean": np.vstack(mean)})
        return Split(
            bundle[np.arange(n)], bundle[np.arange(n, len(bundle))], self.y_train, self.y_test
        )


def make_split(data: Data, train: Index, test: Index) -> Split:
    """All kernels; whatever is scaled is scaled by training samples alone."""
    rows, n = np.r_[train, test], len(train)
    X = data.X[rows]
    spread = X[:n].std(axis=0)
    X = ((X - X[:n].mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]
    bundle = KernelBundle(dict(_grams(X, n, data)))
    y = data.y[rows]
    if not data.labels:
        y = (y - y[:n].mean(axis=0)) / y[:n].std(axis=0)
    return Split(bundle[np.arange(n)], bundle[np.arange(n, len(rows))], y[:n], y[n:])


def _grams(X: Array, n: int, data: Data) -> Iterator[tuple[str, Array]]:
    """Kernels on all variables and, unless there is but one, on each; unit mean diagonal."""
    p = X.shape[1]
    blocks = {"all": X} | {f"x{j}": X[:, [j]] for j in range(p) if p > 1}
    for source, Z in blocks.items():
        squares, products = euclidean_distances(Z, squared=True), Z @ Z.T
        for width in data.bandwidths:
            yield f"{source}/rbf({width:.3g})", np.exp(-squares / (2 * width**2))
        for degree in data.degrees:
            K = (products + 1.0) ** degree
            yield f"{source}/poly({degree})", K / np.mean(np.diagonal(K)[:n])


def _table(folder: Path | None, name: str, **options: object) -> Array:
    import pandas as pd

    return pd.read_csv(data_file(folder, name), **options).to_numpy()


def _binary(name: str, positive: object) -> Callable[[Path | None], Data]:
    def load(folder: Path | None) -> Data:
        table = _table(folder, name, header=None)
        y = np.where(table[:, -1] == positive, 1.0, -1.0)
        return Data(table[:, :-1].astype(float), y, _MANY, (1, 2, 3))

    return load


def _motorcycle(folder: Path | None) -> Data:
    table = _table(folder, "motorcycle/mcycle.csv").astype(float)
    return Data(table[:, :1], table[:, 1], _FINE, (1,))


def _concrete(folder: Path | None) -> Data:
    table = _table(folder, "concrete/concrete.csv").astype(float)
    return Data(table[:, :8], table[:, 8], _FEW, (1,))


def _energy(folder: Path | None) -> Data:
    table = _table(folder, "energy_efficiency/energy.csv").astype(float)
    return Data(table[:, :8], table[:, 8:10], _FEW, (1,))


DATA: dict[str, Callable[[Path | None], Data]] = {
    "ionosphere": _binary("ionosphere/ionosphere.data", "g"),
    "sonar": _binary("sonar/sonar.csv", "M"),
    "pima": _binary("pima/pima-indians-diabetes.data", 1),
    "motorcycle": _motorcycle,
    "concrete": _concrete,
    "energy_efficiency": _energy,
}
