"""The data of the Q-MKL experiment, and kernels that are made inside a training fold."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import StandardScaler

from multikernel.banks import PackedBank
from multikernel.datasets import TopVoxels, make_neuroimaging, neuroimaging_kernels
from multikernel.kernels import RBF, KernelSet, Linear, ViewBundle

Array = NDArray[np.float64]
Index = NDArray[np.intp]

DATA_DIR = "MULTIKERNEL_DATA"
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


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
    stream = kernels.fit_grams(X)
    bank = PackedBank(kernels.n_samples_, kernels.n_kernels_)
    for m, K in stream:
        bank.set_kernel(m, K)
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


def neuroimaging(draw: int, folder: Path | None, quick: bool) -> Study:
    """The simulated study: 4 modalities × 8 numbers of voxels × 3 kernels."""
    data = make_neuroimaging(n_voxels=500 if quick else 5000, random_state=draw)
    y = (data.y == "patient").astype(np.intp)
    return Study(data.X, y, TopVoxels(), neuroimaging_kernels())


def tcga(draw: int, folder: Path | None, quick: bool) -> Study:
    """Three kinds of molecules of 150 tumours of three subtypes: 3 × (linear + 9 widths)."""
    import pandas as pd

    names = ("mrna", "mirna", "protein")
    paths = [data_file(folder, f"breast_tcga/train_{name}.csv") for name in (*names, "subtype")]
    tables = [pd.read_csv(path, index_col=0) for path in paths[:3]]
    views = {name: t.to_numpy(np.float64) for name, t in zip(names, tables, strict=True)}
    y = np.unique(pd.read_csv(paths[3])["subtype"].to_numpy(), return_inverse=True)[1]
    families = [Linear(), RBF([2.0**k for k in range(-4, 5)])]
    return Study(ViewBundle(views), y, ScaledViews(), KernelSet(families=families))


def mfeat(draw: int, folder: Path | None, quick: bool) -> Study:
    """Six descriptions of 300 handwritten digits, drawn from 2,000: 6 × (linear + 5 widths)."""
    from scipy.io import loadmat

    stored = loadmat(data_file(folder, "mfeat/HW.mat"))
    rng, size = np.random.default_rng(draw), 12 if quick else 30
    y = stored["Y"].ravel().astype(np.intp) - 1
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:size] for c in range(10)])
    names = ("fac", "fou", "kar", "mor", "pix", "zer")
    views = {name: stored[f"X{i}"][rows].astype(float) for i, name in enumerate(names, 1)}
    families = [Linear(), RBF([0.25, 0.5, 1.0, 2.0, 4.0])]
    return Study(ViewBundle(views), y[rows], ScaledViews(), KernelSet(families=families))


STUDIES: dict[str, Callable[[int, Path | None, bool], Study]] = {
    "neuroimaging": neuroimaging,
    "tcga": tcga,
    "mfeat": mfeat,
}


def data_file(folder: Path | None, name: str) -> Path:
    """The path of a stored file, or an error that says what is wanted and where."""
    root = folder or Path(os.environ.get(DATA_DIR, _BESIDE))
    path = root / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing; name the folder that holds {name} with --data-dir or the "
            f"environment variable {DATA_DIR}."
        )
    return path
