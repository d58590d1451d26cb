"""Table: what one file, or one array of it, holds before anyone knows what its columns mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import InputError
from ._types import DataFrame

WIDEST_DENSE = 20_000_000  # numbers of a sparse file up to which it is held as a dense table


@dataclass
class Table:
    """Rows and columns as they stand in a file.

    Parameters
    ----------
    path : Path
    frame : DataFrame
        Column names are strings.
    key : str, optional
        The array of the file, where it can hold several.
    ids : list of str, optional
        One per row, where they are known.
    named_columns : bool, default=False
        Whether the columns have names in the file, so that one of them may hold ids.
    as_text : callable, optional
        Gives a column exactly as it is written, leading zeros included.
    notes, warnings : list of str
        What was assumed, and what to read before anything is fitted, in sentences.
    doubt : str, optional
        Why its rows must not be joined by position: a column may hold ids.
    stacked : tuple of str, optional
        Names of the tables that it was stacked from.
    sizes : tuple of int, optional
        Their numbers of rows.
    """

    path: Path
    frame: DataFrame
    key: str | None = None
    ids: list[str] | None = None
    named_columns: bool = False
    as_text: Callable[[str], list[str]] | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    doubt: str | None = None
    stacked: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """How messages call the table."""
        if self.stacked:
            return " + ".join(self.stacked)
        return self.path.name if self.key is None else f"{self.path.name}:{self.key}"

    @property
    def source_name(self) -> str:
        """How the source is called where nobody gave it a name."""
        return self.path.stem if self.key is None else f"{self.path.stem}.{self.key}"

    def keep_rows(self, kept: npt.NDArray[np.bool_]) -> None:
        """Leave out the other rows, of columns as they are written, too."""
        self.frame = self.frame[kept].reset_index(drop=True)
        if (read := self.as_text) is not None:
            self.as_text = lambda column: list(compress(read(column), kept))


def need_pandas() -> Any:
    """Pandas, or one sentence on how to get it."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "Reading tables from files needs pandas: pip install 'multikernel[table]'."
        ) from None
    return pandas


def is_sparse(frame: DataFrame) -> bool:
    """Whether a table is held sparse: too wide to be dense."""
    return isinstance(frame.dtypes.iloc[0], need_pandas().SparseDtype)


def frame_of_array(array: Any, name: str, where: str) -> DataFrame:
    """A table from an array of one or two dimensions, or from records.

    Parameters
    ----------
    array : array or sparse matrix
    name : str
        Of the column, or of the columns with their numbers.
    where : str
        How messages call the array.
    """
    pd = need_pandas()
    if hasattr(array, "tocsr"):
        return _frame_of_sparse(array, name, where)
    if array.dtype.names is not None:
        array = np.atleast_1d(array)
        columns = {str(field): array[field] for field in array.dtype.names}
        if array.ndim != 1 or any(c.ndim != 1 or c.dtype.kind in "OV" for c in columns.values()):
            raise InputError(f"{where} holds nested records; save a plain table of numbers.")
        return pd.DataFrame(columns)
    if array.dtype.kind in "OVcmM":
        raise InputError(
            f"{where} holds values of type {array.dtype}; expected numbers: convert them "
            "before saving."
        )
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise InputError(
            f"{where} has shape {array.shape}; expected samples in rows and features in columns: "
            "flatten each sample, or save each matrix as a file of its own."
        )
    _refuse_empty(array.shape, where)
    frame = pd.DataFrame(np.array(array))
    frame.columns = _column_names(name, array.shape[1])
    return frame


def _frame_of_sparse(matrix: Any, name: str, where: str) -> DataFrame:
    pd = need_pandas()
    _refuse_empty(matrix.shape, where)
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{where} holds values of type {matrix.dtype}; expected numbers.")
    if matrix.shape[0] * matrix.shape[1] <= WIDEST_DENSE:
        frame = pd.DataFrame(matrix.toarray())
    else:
        frame = pd.DataFrame.sparse.from_spmatrix(matrix.tocsc())
    frame.columns = _column_names(name, matrix.shape[1])
    return frame


def _refuse_empty(shape: tuple[int, ...], where: str) -> None:
    if 0 in shape:
        raise InputError(f"{where} is empty (shape {shape}); expected samples in rows.")


def _column_names(name: str, n_columns: int) -> list[str]:
    return [name] if n_columns == 1 else [f"{name}_{j}" for j in range(1, n_columns + 1)]
