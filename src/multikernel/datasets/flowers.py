"""The Oxford flowers: the distance matrices and splits of their authors, from the original files.

Both data sets are at https://www.robots.ox.ac.uk/~vgg/data/flowers; nothing is downloaded here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.io.matlab import MatReadError
from sklearn.utils import Bunch

from .._component import Array

Index = NDArray[np.intp]

FLOWERS17_NAMES = (
    "daffodil", "snowdrop", "lily valley", "bluebell", "crocus", "iris", "tigerlily", "tulip",
    "fritillary", "sunflower", "daisy", "colts foot", "dandelion", "cowslip", "buttercup",
    "windflower", "pansy",
)  # fmt: skip
_FILES17 = {
    "distancematrices17gcfeat06.mat": ("D_colourgc", "D_shapegc", "D_texturegc"),
    "distancematrices17itfeat08.mat": ("D_hsv", "D_hog", "D_siftint", "D_siftbdy"),
}
_VARIABLES102 = ("Dhsv", "Dhog", "Dsiftint", "Dsiftbdy")
_WHERE = "https://www.robots.ox.ac.uk/~vgg/data/flowers"


def load_flowers17(folder: Any) -> Bunch:
    """Read the seven distance matrices of the 17 flowers and their three splits.

    Parameters
    ----------
    folder : str or Path
        Where ``distancematrices17gcfeat06.mat``, ``distancematrices17itfeat08.mat`` and
        ``datasplits.mat`` lie, as they come from the authors.

    Returns
    -------
    data : Bunch
        ``distances`` (a dict from ``colourgc``, ``shapegc``, ``texturegc``, ``hsv``, ``hog``,
        ``siftint`` and ``siftbdy`` to arrays of shape (1360, 1360)), ``y`` (classes from 0),
        ``target_names``, and ``splits``: three times ``train``, ``validation`` and ``test``,
        positions from 0.
    """
    folder = Path(folder)
    distances: dict[str, Array] = {}
    for file, variables in _FILES17.items():
        distances |= _read_distances(folder / file, variables)
    n = _common_size(distances, folder)
    n_classes = len(FLOWERS17_NAMES)
    if n % n_classes:
        raise ValueError(
            f"the distance matrices in {folder} must have as many rows for each of {n_classes} "
            f"classes, 1360 in the original; got {n}."
        )
    names = [f"{part}{k}" for k in (1, 2, 3) for part in ("trn", "val", "tst")]
    parts = _read(folder / "datasplits.mat", names)
    splits = [
        _split({part: parts[f"{part}{k}"] for part in ("trn", "val", "tst")}, n, f"split {k}")
        for k in (1, 2, 3)
    ]
    return Bunch(
        distances=distances,
        y=np.arange(n) // (n // n_classes),  # images are in the order of classes
        target_names=list(FLOWERS17_NAMES),
        splits=splits,
    )


def load_flowers102(folder: Any) -> Bunch:
    """Read the four distance matrices of the 102 flowers, their classes and their split.

    Parameters
    ----------
    folder : str or Path
        Where ``distancematrices102.mat``, ``imagelabels.mat`` and ``setid.mat`` lie, as they come
        from the authors.

    Returns
    -------
    data : Bunch
        ``distances`` (a dict from ``hsv``, ``hog``, ``siftint`` and ``siftbdy`` to arrays of
        shape (8189, 8189), half a gigabyte each), ``y`` (classes from 0) and ``splits``: once
        ``train``, ``validation`` and ``test``, positions from 0.
    """
    folder = Path(folder)
    distances = _read_distances(folder / "distancematrices102.mat", _VARIABLES102)
    n = _common_size(distances, folder)
    y, splits = read_flowers102_split(folder)
    if len(y) != n:
        raise ValueError(
            f"imagelabels.mat in {folder} has {len(y)} labels for {n} rows of distances; "
            "take all files of one data set."
        )
    return Bunch(distances=distances, y=y, splits=splits)


def read_flowers102_split(folder: Any) -> tuple[Index, list[Bunch]]:
    """The classes of the 102 flowers and their split, which need no distances.

    Parameters
    ----------
    folder : str or Path
        Where ``imagelabels.mat`` and ``setid.mat`` lie.

    Returns
    -------
    y : array of int of shape (n,)
        Classes from 0.
    splits : list of one Bunch
        ``train``, ``validation`` and ``test``, positions from 0.
    """
    folder = Path(folder)
    labels = _read(folder / "imagelabels.mat", ["labels"])["labels"]
    y = labels.ravel().astype(np.intp) - 1
    ids = _read(folder / "setid.mat", ["trnid", "valid", "tstid"])
    parts = {"trn": ids["trnid"], "val": ids["valid"], "tst": ids["tstid"]}
    return y, [_split(parts, len(y), "setid.mat")]


def mean_distance_grams(
    distances: Mapping[str, Array] | Sequence[Array], rows: Any, train: Any
) -> Array:
    r"""Kernels from distances, with the mean distance of training pairs as the scale.

    Parameters
    ----------
    distances : dict or sequence of arrays of shape (n, n)
    rows : array of int
        Samples to compare with the training samples.
    train : array of int
        Training samples.

    Returns
    -------
    K : array of shape (len(rows), len(train), n_kernels)
        The form that estimators with ``kernels="precomputed"`` read.

    Notes
    -----
    .. math:: k(x, z) = \exp\big(-D(x, z) / \bar D\big)

    where :math:`\bar D` is the mean over pairs of distinct training samples ([G12]_, Section 5.2).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.datasets import mean_distance_grams
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> mean_distance_grams([D], [2], [0, 1])[:, :, 0].round(3)
    array([[0.05 , 0.135]])
    """
    rows, train = np.asarray(rows), np.asarray(train)
    matrices = list(distances.values()) if isinstance(distances, Mapping) else list(distances)
    n = len(train)
    if n < 2:
        raise ValueError(f"a mean distance needs two training samples, got {n}.")
    K = np.empty((len(rows), n, len(matrices)))
    for m, D in enumerate(matrices):
        scale = D[np.ix_(train, train)].sum() / (n * (n - 1))
        if not scale > 0:
            raise ValueError(
                f"distance matrix {m} must have a positive mean over training pairs, got {scale}."
            )
        K[:, :, m] = np.exp(-D[np.ix_(rows, train)] / scale)  # exp(-D / mean D)
    return K


def _read_distances(path: Path, variables: Sequence[str]) -> dict[str, Array]:
    """Square matrices by names without their ``D`` or ``D_``."""
    found = _read(path, variables)
    named: dict[str, Array] = {}
    for name, D in found.items():
        if D.ndim != 2 or D.shape[0] != D.shape[1]:
            raise ValueError(f"{name} in {path} must be a square matrix, got shape {D.shape}.")
        named[name.removeprefix("D").removeprefix("_")] = np.asarray(D, dtype=np.float64)
    return named


def _common_size(distances: Mapping[str, Array], folder: Path) -> int:
    sizes = {len(D) for D in distances.values()}
    if len(sizes) > 1:
        raise ValueError(f"distance matrices in {folder} differ in size: {sorted(sizes)}.")
    return sizes.pop()


def _split(parts: Mapping[str, Any], n: int, name: str) -> Bunch:
    """Positions from 0, once they are known to be distinct and in range."""
    found = {key: np.ravel(ids).astype(np.intp) - 1 for key, ids in parts.items()}
    together = np.concatenate(list(found.values()))
    if together.size and (together.min() < 0 or together.max() >= n):
        raise ValueError(f"{name} must hold numbers of images from 1 to {n}.")
    if len(np.unique(together)) < len(together):
        raise ValueError(f"an image occurs twice in {name}; parts must not overlap.")
    return Bunch(train=found["trn"], validation=found["val"], test=found["tst"])


def _read(path: Path, variables: Sequence[str]) -> dict[str, Any]:
    """Variables of a MATLAB file; reading one cannot run code."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing; it is one of the authors' files, see {_WHERE}."
        )
    try:
        found = loadmat(path, variable_names=list(variables))
    except NotImplementedError:
        found = _read_hdf5(path, variables)
    except (MatReadError, ValueError) as error:
        raise ValueError(f"{path} is not a MATLAB file ({error}); get it again.") from error
    missing = [name for name in variables if name not in found]
    if missing:
        raise ValueError(f"{path} lacks {missing}; is it the authors' file? See {_WHERE}.")
    return {name: found[name] for name in variables}


def _read_hdf5(path: Path, variables: Sequence[str]) -> dict[str, Any]:
    """Variables of a MATLAB 7.3 file, which stores arrays transposed."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f"{path} was saved as MATLAB 7.3 (HDF5), which needs h5py: pip install h5py, or save "
            "it again in MATLAB with -v7."
        ) from error
    with h5py.File(path, "r") as file:
        return {name: np.asarray(file[name]).T for name in variables if name in file}
