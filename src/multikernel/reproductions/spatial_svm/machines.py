"""The plain machine and the spatial one on maps of grey matter, with C chosen on inner folds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from ..._warnings import unsaid
from ...datasets import make_neuroimaging
from ...estimators import QSVC
from ...spatial import spatial_laplacian

Array = NDArray[np.float64]

MODALITY = "gm"
_REACH = 1.75  # voxels up to which two are neighbours: those that share a face, edge or corner


@dataclass(frozen=True)
class Maps:
    """Grey matter of some people, where its voxels lie, and what the disease changes.

    Attributes
    ----------
    X : array of shape (n, n_voxels)
    y : array of bool of shape (n,)
        Whether a person is a patient.
    coordinates : array of shape (n_voxels, 3)
    truth : array of shape (n_voxels,)
        Change by the disease.
    laplacian : sparse array of shape (n_voxels, n_voxels)
    """

    X: Array
    y: NDArray[np.bool_]
    coordinates: Array
    truth: Array
    laplacian: Any

    def roughness(self, w: Array) -> float:
        r"""How much neighbours differ, :math:`w^\top L w / (\bar L\, w^\top w)`."""
        L = self.laplacian
        return float(w @ (L @ w) / (L.diagonal().mean() * (w @ w)))


@lru_cache(maxsize=2)
def simulate(draw: int, n_voxels: int) -> Maps:
    """The grey matter of one simulated study."""
    data = make_neuroimaging(n_voxels=n_voxels, random_state=draw)
    places = data.coordinates
    step = np.diff(np.unique(places[:, 0])).min()
    return Maps(
        data.X.block(MODALITY),
        data.y == "patient",
        places,
        data.truth.effects[MODALITY].sum(axis=0),
        spatial_laplacian(places, radius=_REACH * step),
    )


def machines(maps: Maps, Cs: tuple[float, ...], ridges: tuple[float, ...], n_inner: int) -> Any:
    """Both machines by name; the scale of Q is that of the identity, so one grid of C serves."""
    Q = maps.laplacian / maps.laplacian.diagonal().mean()
    folds = StratifiedKFold(n_inner, shuffle=True, random_state=0)
    grids = {"SVM": (QSVC(), {"C": Cs}), "Q-SVM": (QSVC(Q), {"C": Cs, "ridge": ridges})}
    return {name: GridSearchCV(model, grid, cv=folds) for name, (model, grid) in grids.items()}


def fitted(search: Any, X: Array, y: Any) -> Any:
    """The machine with the best C (and ridge), fitted again on all samples given."""
    with unsaid(ConvergenceWarning):  # its gap is reported
        return search.fit(X, y).best_estimator_
