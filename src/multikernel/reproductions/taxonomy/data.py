"""The data of the taxonomy, and their kernels, scaled on training samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from ...datasets import load_motorcycle
from ...kernels import KernelBundle
from .. import _origins
from ..base import DataFile

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Bandwidths of SimpleMKL, exp(−‖x − z‖²/2σ²) on standardised variables, and fewer of our own
_MANY = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
_FEW = (0.1, 0.3, 1.0, 3.0, 10.0)
_FINE = tuple(np.geomspace(0.03, 3.0, 10).tolist())

FILES = {
    "ionosphere": DataFile(
        "ionosphere/ionosphere.data", "351 radar returns, label last", _origins.IONOSPHERE
    ),
    "sonar": DataFile("sonar/sonar.csv", "208 sonar returns, label last", _origins.SONAR),
    "pima": DataFile("pima/pima-indians-diabetes.data", "768 people, label last", _origins.PIMA),
    "concrete": DataFile(
        "concrete/concrete.csv", "1,030 mixtures, strength last", _origins.CONCRETE
    ),
    "energy_efficiency": DataFile(
        "energy_efficiency/energy.csv",
        "768 buildings, heating and cooling load last",
        _origins.ENERGY,
    ),
}
_POSITIVE: dict[str, Any] = {"ionosphere": "g", "sonar": "M", "pima": 1}


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

    def thinned(self, n: int) -> Data:
        """At most some n of the samples, evenly from their order."""
        step = -(-len(self.X) // n)
        return replace(self, X=self.X[::step], y=self.y[::step])

    def divide(self, n_train: int, seed: int) -> tuple[Index, Index]:
        """Training and test samples, classes in proportion."""
        kind = StratifiedShuffleSplit if self.labels else ShuffleSplit
        splitter = kind(n_splits=1, train_size=n_train, random_state=seed)
        train, test = next(splitter.split(self.X, self.y if self.labels else None))
        return train, test


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
        names = self.train.names
        mean = [np.mean([b.block(m) for m in names], axis=0) for b in (self.train, self.test)]
        return self._with({"mean": np.vstack(mean)})

    def select(self, names: tuple[str, ...]) -> Split:
        """The same with some of the kernels."""
        both = (self.train, self.test)
        return self._with({name: np.vstack([b.block(name) for b in both]) for name in names})

    def _with(self, grams: dict[str, Array]) -> Split:
        n = len(self.y_train)
        bundle = KernelBundle(grams)
        rows = np.arange(len(bundle))
        return Split(bundle[rows[:n]], bundle[rows[n:]], self.y_train, self.y_test)


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


def load_data(folder: Path) -> dict[str, Data]:
    """All data sets, from the folder that holds them."""
    import pandas as pd

    sets = {}
    for name, positive in _POSITIVE.items():
        table = pd.read_csv(folder / FILES[name].path, header=None).to_numpy()
        y = np.where(table[:, -1] == positive, 1.0, -1.0)
        sets[name] = Data(table[:, :-1].astype(float), y, _MANY, (1, 2, 3))
    X, y = load_motorcycle(return_X_y=True)
    sets["motorcycle"] = Data(X, y, _FINE, (1,))
    concrete = pd.read_csv(folder / FILES["concrete"].path).to_numpy(float)
    sets["concrete"] = Data(concrete[:, :8], concrete[:, 8], _FEW, (1,))
    energy = pd.read_csv(folder / FILES["energy_efficiency"].path).to_numpy(float)
    sets["energy_efficiency"] = Data(energy[:, :8], energy[:, 8:10], _FEW, (1,))
    return sets


def draw_data(n: int = 120) -> dict[str, Data]:
    """Labels that depend on two of six variables, and numbers that depend on one."""
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(n, 6)), rng.uniform(-2.0, 2.0, size=(n, 1))
    f = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    labels = Data(X, np.where(f > 0, 1.0, -1.0), _FEW, (1,))
    numbers = Data(t, np.sin(3 * t[:, 0]) + 0.3 * rng.normal(size=n), _FINE, (1,))
    return {"drawn labels": labels, "drawn numbers": numbers}
