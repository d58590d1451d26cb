"""The data of the three examples, from their files and as stand-ins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..._component import Array
from .. import _origins
from ..base import DataFile

FILES = (
    DataFile(
        "school/school.mat",
        "exam scores of 15,362 pupils in 139 schools",
        "https://github.com/jiayuzhou/MALSAR",
    ),
    DataFile("sonar/sonar.csv", "sonar echoes of mines and rocks, 208 rows", _origins.SONAR),
    DataFile("concrete/concrete.csv", "strength of concrete, 1,030 rows", _origins.CONCRETE),
    DataFile("energy_efficiency/energy.csv", "heating load of 768 buildings", _origins.ENERGY),
)
STAND_IN = "synthetic schools, echoes and tables"
N_BANDS = 60


@dataclass(frozen=True)
class School:
    """Pupils of several schools: features, with a constant column, scores, and the school."""

    X: Array
    y: Array
    task: NDArray[np.intp]


@dataclass(frozen=True)
class Table:
    """Features and a target, a number or one of two classes."""

    X: Array
    y: Array


@dataclass(frozen=True)
class Data:
    """What the three examples are about, and whether it was drawn."""

    school: School
    sonar: Table
    tables: Mapping[str, Table]
    drawn: bool = False


def load_data(folder: Path) -> Data:
    """The original data."""
    import pandas as pd

    sonar, concrete, energy = (
        pd.read_csv(folder / file.path, header=header)
        for file, header in zip(FILES[1:], (None, 0, 0), strict=True)
    )
    tables = {
        "concrete": Table(
            concrete.iloc[:, :8].to_numpy(float), concrete.iloc[:, 8].to_numpy(float)
        ),
        "energy": Table(energy.iloc[:, :8].to_numpy(float), energy["Y1"].to_numpy(float)),
    }
    echoes = Table(sonar.iloc[:, :N_BANDS].to_numpy(float), (sonar[N_BANDS] == "M").to_numpy())
    return Data(_read_school(folder / FILES[0].path), echoes, tables)


def make_data() -> Data:
    """Schools that share most of what they are, echoes with two telling bands, cubic tables."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(90, N_BANDS + 4))
    X = np.sum([noise[:, k : k + N_BANDS] for k in range(5)], axis=0)  # neighbours are alike
    y = X[:, 12:20].sum(axis=1) - X[:, 40:46].sum(axis=1) + 6 * rng.normal(size=90) > 0
    return Data(_make_school(rng), Table(X, y), {"cubic": _make_table(rng)}, drawn=True)


def few_schools(school: School, n_schools: int) -> School:
    """The first schools only."""
    rows = school.task < n_schools
    return School(school.X[rows], school.y[rows], school.task[rows])


def _read_school(path: Path) -> School:
    from scipy.io import loadmat

    content = loadmat(path)
    Xs = [np.asarray(X, dtype=float) for X in content["X"].ravel()]
    ys = [np.asarray(y, dtype=float).ravel() for y in content["Y"].ravel()]
    task = np.repeat(np.arange(len(ys)), [len(y) for y in ys])
    return School(np.vstack(Xs), np.concatenate(ys), task)


def _make_school(rng: np.random.Generator, n_schools: int = 12, n_pupils: int = 24) -> School:
    task = np.repeat(np.arange(n_schools), n_pupils)
    X = np.column_stack([rng.normal(size=(len(task), 5)), np.ones(len(task))])
    w = np.array([2.0, -1.0, 1.0, 0.0, 0.0, 0.5]) + 0.5 * rng.normal(size=(n_schools, 6))
    return School(X, np.sum(X * w[task], axis=1) + rng.normal(size=len(task)), task)


def _make_table(rng: np.random.Generator) -> Table:
    X = rng.uniform(-1, 1, size=(160, 4))
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] ** 3 + 0.2 * rng.normal(size=160)
    return Table(X, y)
