"""Arrays: npy, npz, MATLAB and sparse files, none of which may run code or lie about its size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from zipfile import ZipFile

import numpy as np
from scipy.io import loadmat, mmread
from scipy.sparse import load_npz

from .._memory import check_memory
from ._errors import InputError, listing, reason
from ._table import Table, frame_of_array

_IDS = "ids"  # the array of sample ids in npz and mat files
_SPARSE_KEYS = {"format", "shape", "data"}
Result = TypeVar("Result")


def read_npy(path: Path) -> list[Table]:
    """The array of an npy file."""
    with path.open("rb") as stream:
        _check_header(stream, path.stat().st_size, path.name)
    array = _opened(path, lambda: np.load(path, allow_pickle=False))
    return [Table(path, frame_of_array(array, path.stem, path.name))]


def read_npz(path: Path) -> list[Table]:
    """The arrays of an npz file, or the sparse matrix that scipy saved in it."""
    with _opened(path, lambda: ZipFile(path)) as archive:
        names = [info.filename.removesuffix(".npy") for info in archive.infolist()]
        check_memory(sum(info.file_size for info in archive.infolist()), f"the arrays of {path}")
        for info in archive.infolist():
            with _opened(path, lambda info=info: archive.open(info)) as stream:  # type: ignore[misc]
                _check_header(stream, info.file_size, f"{path.name}:{info.filename}")
    if set(names) >= _SPARSE_KEYS:
        matrix = _opened(path, lambda: load_npz(path))
        return [Table(path, frame_of_array(_checked(matrix, path), path.stem, path.name))]
    arrays = _opened(path, lambda: dict(np.load(path, allow_pickle=False)))
    return _tables(path, arrays)


def read_mat(path: Path) -> list[Table]:
    """The arrays of a MATLAB file up to version 7."""
    with path.open("rb") as stream:
        banner = stream.read(128)
    if b"MATLAB 7.3" in banner:
        raise InputError(
            f"{path.name} is a MATLAB file of version 7.3; expected version 7 or older: save it "
            "in MATLAB with save(name, '-v7')."
        )
    stored = _opened(path, lambda: loadmat(path))
    arrays = {k: _checked(v, path) for k, v in stored.items() if not k.startswith("__")}
    ids = arrays.pop(_IDS, None)
    plain = {
        key: array.T if array.ndim == 2 and array.shape[0] == 1 else array
        for key, array in arrays.items()
        if getattr(array, "size", 0) > 1 and array.dtype.kind in "biufU"
    }
    tables = _tables(path, plain if ids is None else {**plain, _IDS: ids})
    if skipped := sorted(arrays.keys() - plain.keys()):
        tables[0].notes.append(
            f"{path.name}: {listing(skipped)} hold no table of numbers and were not read."
        )
    return tables


def read_mtx(path: Path) -> list[Table]:
    """The matrix of a Matrix Market file."""
    matrix = _opened(path, lambda: mmread(path))
    return [Table(path, frame_of_array(_checked(matrix, path), path.stem, path.name))]


def _tables(path: Path, arrays: dict[str, Any]) -> list[Table]:
    """One table for every array, with the ids of the file if it has as many of them as rows."""
    ids = arrays.pop(_IDS, None)
    if not arrays:
        raise InputError(f"{path.name} holds no table of numbers; expected samples in rows.")
    labels = None if ids is None else _labels(ids)
    tables = []
    for key, array in arrays.items():
        only = len(arrays) == 1
        name = path.name if only else f"{path.name}:{key}"
        frame = frame_of_array(array, key, name)
        if labels is not None and len(labels) != len(frame):
            raise InputError(
                f"{name} has {len(frame)} rows, but {path.name} holds {len(labels)} ids; expected "
                "one id per row."
            )
        tables.append(Table(path, frame, None if only else key, labels))
    return tables


def _labels(ids: Any) -> list[str]:
    """Ids as text, from an array of text or numbers or a cell array of MATLAB."""
    flat = np.asarray(ids).ravel()
    cells = [np.asarray(cell).ravel() for cell in flat] if flat.dtype == object else flat
    return [
        str(cell[0]) if isinstance(cell, np.ndarray) and cell.size else str(cell) for cell in cells
    ]


def _check_header(stream: BinaryIO | Any, n_bytes: int, where: str) -> None:
    """Refuse pickled objects, and arrays that claim to be larger than their file."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0
        shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(
            stream
        )
    except Exception:  # whatever damaged bytes lead to
        raise InputError(
            f"{where} is not an array of numpy, or damaged; save it again with numpy.save."
        ) from None
    if dtype.hasobject:
        raise InputError(
            f"{where} holds Python objects, which could run code and are never opened; save plain "
            "numbers or text, such as numpy.asarray(values, dtype=float)."
        )
    if int(np.prod(shape, dtype=object)) * dtype.itemsize > n_bytes:
        raise InputError(
            f"{where} claims shape {shape} but holds {n_bytes} bytes: it is damaged; copy or save "
            "it again."
        )


def _checked(matrix: Any, path: Path) -> Any:
    """A sparse matrix whose indices lie inside of it, in rows; anything else as it is."""
    if not hasattr(matrix, "tocsr"):
        return matrix
    check_memory(16.0 * (matrix.shape[0] + matrix.nnz), f"the rows of {path.name}")
    if hasattr(matrix, "check_format"):
        _opened(path, lambda: matrix.check_format(full_check=True))
    return _opened(path, matrix.tocsr)


def _opened(path: Path, read: Callable[[], Result]) -> Result:
    """What a reader returns, or one sentence for whatever a damaged file makes it raise."""
    try:
        return read()
    except Exception as error:  # readers of binary formats raise nearly anything
        raise InputError(
            f"{path.name} cannot be read as {path.suffix} ({reason(error)}); it is damaged or of "
            "another kind: save it again."
        ) from None
