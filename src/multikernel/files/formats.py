"""Formats: which files are read, and by what."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ._array_files import read_mat, read_mtx, read_npy, read_npz
from ._errors import InputError, reason
from ._table import Table, need_pandas
from ._text_files import read_text

_SAFE_PYARROW = (14, 0, 1)  # earlier ones could run code from a file


def read_parquet(path: Path) -> list[Table]:
    """The table of a Parquet file, by polars or pyarrow."""
    pd = need_pandas()
    if find_spec("polars") is not None:
        frame = _read_by_polars(path)
    elif find_spec("pyarrow") is not None:
        frame = _read_by_pyarrow(path)
    else:
        raise ImportError(
            f"{path.name}: reading Parquet needs polars or pyarrow: pip install polars."
        )
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    if 0 in frame.shape:
        raise InputError(f"{path.name} is empty (shape {frame.shape}); expected samples in rows.")
    frame.columns = [str(column) for column in frame.columns]
    return [Table(path, frame, named_columns=True)]


def _read_by_polars(path: Path) -> Any:
    import polars

    pd = need_pandas()
    try:
        columns = {series.name: series.to_numpy() for series in polars.read_parquet(path)}
        return pd.DataFrame(columns)
    except Exception as error:  # polars raises errors of many kinds for damaged files
        raise _damaged(path, error) from None


def _read_by_pyarrow(path: Path) -> Any:
    import pyarrow

    if tuple(int(part) for part in pyarrow.__version__.split(".")[:3]) < _SAFE_PYARROW:
        raise ImportError(
            f"{path.name}: pyarrow {pyarrow.__version__} can run code from a Parquet file; install "
            "pyarrow>=14.0.1 or polars."
        )
    pd = need_pandas()
    try:
        return pd.read_parquet(path, engine="pyarrow")
    except Exception as error:  # pyarrow raises errors of many kinds for damaged files
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path.name} cannot be read as Parquet ({reason(error)}); save it again.")


READERS: dict[str, Callable[[Path], list[Table]]] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".txt": read_text,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npy": read_npy,
    ".npz": read_npz,
    ".mat": read_mat,
    ".mtx": read_mtx,
}
IN_FOLDERS = tuple(suffix for suffix in READERS if suffix != ".txt")  # may well be prose
_PICKLES = (".pkl", ".pickle", ".joblib")
_ELSEWHERE = {
    ".xlsx": "save each sheet as CSV UTF-8",
    ".xls": "save each sheet as CSV UTF-8",
    ".rda": "write.csv each table in R",
    ".rds": "write.csv each table in R",
    ".h5": "save each array as npy",
    ".txt": "rename tables to .csv",
    ".skops": "it is a model, for multikernel predict",
}


def read_file(path: Path) -> list[Table]:
    """The tables of one file: one, or one per array for npz and mat files."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    if path.suffix.lower() not in READERS:
        raise InputError(
            f"{path.name} cannot be read: {why_not(path)}; expected one of {', '.join(READERS)}."
        )
    return READERS[path.suffix.lower()](path)


def why_not(path: Path) -> str:
    """Why a file is of no use here, and what to do."""
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        return "pickles can run code and are never opened; save the table as CSV or npy"
    advice = f"; {_ELSEWHERE[suffix]}" if suffix in _ELSEWHERE else ""
    return f"{suffix or 'a name without ending'} is no format of tables here{advice}"
