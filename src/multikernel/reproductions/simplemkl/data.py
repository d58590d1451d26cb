"""The five data sets of the table, from their files and as stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._component import Array
from .. import _origins
from ..base import DataFile

FILES = (
    DataFile("liver_bupa/bupa.data", "BUPA liver disorders, 345 rows", _origins.LIVER),
    DataFile("pima/pima-indians-diabetes.data", "Pima Indians diabetes, 768 rows", _origins.PIMA),
    DataFile("ionosphere/ionosphere.data", "radar returns, 351 rows", _origins.IONOSPHERE),
    DataFile("wpbc/wpbc.data", "Wisconsin prognostic breast cancer, 198 rows", _origins.WPBC),
    DataFile("sonar/sonar.csv", "sonar echoes of mines and rocks, 208 rows", _origins.SONAR),
)
STAND_IN = "Gaussian clouds in place of the five data sets"
_SHAPES = ((345, 6), (768, 8), (351, 33), (194, 33), (208, 60), (194, 32))  # of what clouds replace
_TIME = 0  # column of WPBC that was known only after the outcome


@dataclass(frozen=True)
class Study:
    """Samples of two classes.

    Attributes
    ----------
    X : array of shape (n, n_features)
    y : array of bool of shape (n,)
    """

    X: Array
    y: NDArray[np.bool_]


def load_studies(folder: Path) -> dict[str, Study]:
    """The data sets by name, and WPBC also without the column that tells its outcome."""
    studies = {name: read(folder / file.path) for (name, read), file in _READERS}
    wpbc = studies["WPBC"]
    return {**studies, "WPBC without time": Study(np.delete(wpbc.X, _TIME, axis=1), wpbc.y)}


def make_studies(scale: float) -> dict[str, Study]:
    """Two overlapping Gaussian clouds for each data set, of which few variables differ."""
    return {f"clouds {k}": _draw(k, round(scale * n), p) for k, (n, p) in enumerate(_SHAPES, 1)}


def thin(study: Study, n: int) -> Study:
    """Some samples of a data set, evenly spaced, and at most a dozen of its variables."""
    rows = np.unique(np.linspace(0, len(study.y) - 1, n).astype(int))
    return Study(study.X[rows, :12], study.y[rows])


def _draw(seed: int, n: int, n_features: int) -> Study:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, n_features))
    X[:, :3] += np.where(y, 0.7, -0.3)[:, None]
    return Study(X, y)


def _frame(path: Path, **options: Any) -> Any:
    import pandas as pd

    return pd.read_csv(path, header=None, **options)


def _liver(path: Path) -> Study:
    table = _frame(path)
    return Study(table.iloc[:, :6].to_numpy(float), (table[6] == 2).to_numpy())


def _pima(path: Path) -> Study:
    table = _frame(path)
    return Study(table.iloc[:, :8].to_numpy(float), (table[8] == 1).to_numpy())


def _ionosphere(path: Path) -> Study:
    table = _frame(path)
    X = table.iloc[:, :34].to_numpy(float)
    return Study(X[:, np.ptp(X, axis=0) > 0], (table[34] == "g").to_numpy())


def _wpbc(path: Path) -> Study:
    table = _frame(path, na_values="?").dropna()
    return Study(table.iloc[:, 2:].to_numpy(float), (table[1] == "R").to_numpy())


def _sonar(path: Path) -> Study:
    table = _frame(path)
    return Study(table.iloc[:, :60].to_numpy(float), (table[60] == "M").to_numpy())


_Reader = tuple[str, Callable[[Path], Study]]
_READERS: tuple[tuple[_Reader, DataFile], ...] = tuple(
    zip(
        (
            ("Liver", _liver),
            ("Pima", _pima),
            ("Ionosphere", _ionosphere),
            ("WPBC", _wpbc),
            ("Sonar", _sonar),
        ),
        FILES,
        strict=True,
    )
)
