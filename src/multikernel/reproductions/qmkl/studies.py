"""The data of the Q-MKL experiment, and kernels that are made inside a training fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import StandardScaler

from ...banks import PackedBank
from ...datasets import TopVoxels, make_neuroimaging, neuroimaging_kernels
from ...kernels import RBF, KernelSet, Linear, ViewBundle

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_MOLECULES = ("mrna", "mirna", "protein")
_DESCRIPTIONS = ("fac", "fou", "kar", "mor", "pix", "zer")


@dataclass(frozen=True)
class Study:
    """Views of some samples, their classes, and how kernels are made from training samples.

    Parameters
    ----------
    X : ViewBundle
    y : array of int of shape (n,)
        Classes from zero; with two of them, one is the positive class.
    prepare : transformer from ViewBundle to ViewBundle
    kernels : KernelSet
    """

    X: ViewBundle
    y: Index
    prepare: Any
    kernels: KernelSet

    @property
    def targets(self) -> Array:
        """Signs of shape (n, n_outputs): one output for two classes, else one for each class."""
        if self.y.max() == 1:
            return np.where(self.y[:, None] == 1, 1.0, -1.0)
        return np.where(self.y[:, None] == np.arange(self.y.max() + 1), 1.0, -1.0)


@dataclass(frozen=True)
class FoldKernels:
    """Kernels between training samples, and between test and training samples."""

    bank: PackedBank
    cross: Array  # (n_kernels, n_test, n_train)
    sources: list[str]


def fold_kernels(study: Study, train: Index, test: Index) -> FoldKernels:
    """Make all kernels; whatever is learned for them is learned from training samples."""
    prepare, kernels = clone(study.prepare), clone(study.kernels)
    X = prepare.fit(study.X[train], study.y[train]).transform(study.X[train])
    stacks = kernels.fit_stacks(X)
    bank = PackedBank(kernels.n_samples_, kernels.n_kernels_)
    bank.set_kernels(stacks)
    cross = np.empty((kernels.n_kernels_, len(test), len(train)))
    for m, K in kernels.cross(prepare.transform(study.X[test])):
        cross[m] = K
    return FoldKernels(bank, cross, [row["source"].partition("/")[0] for row in kernels.table()])


class ScaledViews(TransformerMixin, BaseEstimator):
    """Every column of every view with zero mean and unit variance on the training samples."""

    def fit(self, X: ViewBundle, y: Any = None) -> Self:
        """Learn means and variances."""
        self.scalers_ = {name: StandardScaler().fit(X.block(name)) for name in X.names}
        return self

    def transform(self, X: ViewBundle) -> ViewBundle:
        """Scale all views."""
        return ViewBundle({name: s.transform(X.block(name)) for name, s in self.scalers_.items()})


@dataclass(frozen=True)
class Archive:
    """Where studies come from: a folder of data sets, or a drawing hand.

    Attributes
    ----------
    folder : Path or None
        With ``breast_tcga`` and ``mfeat``; None draws studies of their form.
    quick : bool
        Smaller studies.
    """

    folder: Path | None
    quick: bool

    def study(self, name: str, draw: int) -> Study:
        """One study, kept until several others were asked for."""
        return _study(self, name, draw)


@lru_cache(maxsize=4)
def _study(archive: Archive, name: str, draw: int) -> Study:
    return STUDIES[name](archive, draw)


def neuroimaging(archive: Archive, draw: int) -> Study:
    """The simulated study: 4 modalities × 8 numbers of voxels × 3 kernels."""
    if archive.quick:
        data = make_neuroimaging(60, 26, n_voxels=300, random_state=draw)
        prepare = TopVoxels((0.1, 1.0))
    else:
        data, prepare = make_neuroimaging(random_state=draw), TopVoxels()
    y = (data.y == "patient").astype(np.intp)
    return Study(data.X, y, prepare, neuroimaging_kernels())


def tcga(archive: Archive, draw: int) -> Study:
    """Three kinds of molecules of 150 tumours of three subtypes: 3 × (linear + 9 widths)."""
    families = [Linear(), RBF([1.0] if archive.quick else [2.0**k for k in range(-4, 5)])]
    if archive.folder is None:
        return _drawn(_MOLECULES, 3, 14 if archive.quick else 50, families, draw)
    import pandas as pd

    folder = archive.folder / "breast_tcga"
    tables = [pd.read_csv(folder / f"train_{name}.csv", index_col=0) for name in _MOLECULES]
    views = {name: t.to_numpy(np.float64) for name, t in zip(_MOLECULES, tables, strict=True)}
    subtypes = pd.read_csv(folder / "train_subtype.csv")["subtype"].to_numpy()
    y = np.unique(subtypes, return_inverse=True)[1]
    rows = np.arange(len(y))[:: 3 if archive.quick else 1]
    bundle = ViewBundle({name: view[rows] for name, view in views.items()})
    return Study(bundle, y[rows], ScaledViews(), KernelSet(families=families))


def mfeat(archive: Archive, draw: int) -> Study:
    """Six descriptions of 300 handwritten digits, drawn from 2,000: 6 × (linear + 5 widths)."""
    families = [Linear(), RBF([1.0] if archive.quick else [0.25, 0.5, 1.0, 2.0, 4.0])]
    if archive.folder is None:
        return _drawn(_DESCRIPTIONS, 4, 10 if archive.quick else 30, families, draw)
    from scipy.io import loadmat

    stored = loadmat(archive.folder / "mfeat" / "HW.mat")
    rng, size = np.random.default_rng(draw), 8 if archive.quick else 30
    y = stored["Y"].ravel().astype(np.intp) - 1
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:size] for c in range(10)])
    views = {name: stored[f"X{i}"][rows].astype(float) for i, name in enumerate(_DESCRIPTIONS, 1)}
    return Study(ViewBundle(views), y[rows], ScaledViews(), KernelSet(families=families))


def _drawn(
    names: tuple[str, ...], n_classes: int, n_each: int, families: list[Any], draw: int
) -> Study:
    """Views of several columns, in each of which the classes differ a little."""
    rng = np.random.default_rng(draw)
    y = np.repeat(np.arange(n_classes), n_each)
    views = {}
    for name in names:
        centres = 0.3 * rng.normal(size=(n_classes, 12))
        views[name] = centres[y] + rng.normal(size=(len(y), 12))
    return Study(ViewBundle(views), y, ScaledViews(), KernelSet(families=families))


STUDIES: dict[str, Callable[[Archive, int], Study]] = {
    "neuroimaging": neuroimaging,
    "tcga": tcga,
    "mfeat": mfeat,
}
