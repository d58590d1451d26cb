"""ViewBundle: several views of the same samples, and the choice of columns from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Self

import numpy as np
from scipy.sparse import vstack

from .rows import Index, RowContainer, take_rows


class ViewBundle(RowContainer):
    """Several views of the same samples: arrays, sparse matrices, DataFrames, lists of strings.

    Parameters
    ----------
    blocks : mapping from str to block
        Blocks with equal numbers of rows, in equal order; row labels of pandas tables must agree.
        They are not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import ViewBundle
    >>> X = ViewBundle({"mri": np.zeros((4, 100)), "dna": ["GAT", "TAC", "CAT", "TAG"]})
    >>> X
    ViewBundle(4 samples: mri, dna)
    >>> X[np.array([0, 2])].block("dna")
    array(['GAT', 'CAT'], dtype=object)
    """

    def __init__(self, blocks: Mapping[str, Any]) -> None:
        if not isinstance(blocks, Mapping) or not blocks:
            raise TypeError(
                "ViewBundle needs a non-empty mapping from names to blocks of rows, such as "
                "ViewBundle({'rna': A, 'mri': B})."
            )
        self._blocks = {str(name): _as_block(block, name) for name, block in blocks.items()}
        sizes = {name: block.shape[0] for name, block in self._blocks.items()}
        first = next(iter(sizes))
        for name, size in sizes.items():
            if size != sizes[first]:
                raise ValueError(
                    f"All views must hold the same samples: {first!r} has {sizes[first]} rows, "
                    f"{name!r} has {size}."
                )
        _check_row_labels(self._blocks)
        self._rows = np.arange(sizes[first])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Object: views may differ."""
        return np.dtype(object)

    @property
    def names(self) -> list[str]:
        """The names of the views."""
        return list(self._blocks)

    @property
    def n_features(self) -> int:
        """The number of columns of all views together; a view of strings counts as one."""
        return sum(1 if len(b.shape) == 1 else b.shape[1] for b in self._blocks.values())

    def block(self, name: str) -> Any:
        """The rows at hand of one view."""
        block = self._blocks[name]
        whole = len(self) == block.shape[0] and np.array_equal(self._rows, np.arange(len(self)))
        return block if whole else take_rows(block, self._rows)

    def append(self, other: ViewBundle) -> ViewBundle:
        """The samples of this bundle followed by those of another with the same views."""
        if set(other.names) != set(self.names):
            raise ValueError(f"The views differ: {self.names} and {other.names}.")
        return ViewBundle({n: _stack(self.block(n), other.block(n)) for n in self.names})

    def _with_rows(self, rows: Index) -> Self:
        other = object.__new__(type(self))
        other._blocks, other._rows = self._blocks, rows
        return other

    def _compact(self) -> dict[str, Any]:
        blocks = {name: self.block(name) for name in self.names}
        return {"_blocks": blocks, "_rows": np.arange(len(self))}


def _check_row_labels(blocks: Mapping[str, Any]) -> None:
    """Refuse tables whose rows are labelled as other samples, or as the same in another order."""
    labels = {name: np.asarray(b.index) for name, b in blocks.items() if hasattr(b, "iloc")}
    named = {n: ids for n, ids in labels.items() if not np.array_equal(ids, np.arange(len(ids)))}
    first = next(iter(named), None)
    for name, ids in named.items():
        if first is not None and not np.array_equal(ids, named[first]):
            raise ValueError(
                f"Views {first!r} and {name!r} have different row labels: reorder one by the "
                f"labels of the other ({name}.loc[{first}.index]), or pass {name}.to_numpy() if "
                "the rows are the same samples."
            )


def _as_block(block: Any, name: str) -> Any:
    """A block with a shape: lists of strings become object arrays."""
    if isinstance(block, list | tuple) and all(isinstance(row, str) for row in block):
        return np.array(block, dtype=object)
    if hasattr(block, "tocsr"):
        return block.tocsr()
    if not hasattr(block, "shape"):
        block = np.asarray(block)
    if len(block.shape) not in (1, 2):
        raise ValueError(
            f"View {name!r} must have rows and columns, or be a list of strings; got an array of "
            f"shape {block.shape}."
        )
    return block


def _stack(top: Any, bottom: Any) -> Any:
    """Two blocks of one kind, one above the other."""
    if hasattr(top, "tocsr"):
        return vstack([top, bottom]).tocsr()
    if hasattr(top, "iloc"):
        import pandas as pd

        return pd.concat([top, bottom], ignore_index=True)
    if hasattr(top, "vstack"):
        return top.vstack(bottom)
    return np.concatenate([top, bottom])


def resolve_columns(X: Any, columns: Any, source: str) -> Any:
    """Turn a choice of columns into a slice or an array of positions.

    Parameters
    ----------
    X : table
        Array, sparse matrix, pandas or polars DataFrame.
    columns : None, slice, int, list of int, mask, name, list of names, pattern or callable
        None stands for all columns; a pattern such as ``"rna_*"`` for the names it matches; a
        callable, such as :func:`sklearn.compose.make_column_selector`, gets the table.
    source : str
        How messages call the choice.
    """
    columns = slice(None) if columns is None else columns
    columns = columns(X) if callable(columns) else columns
    names = feature_names(X)
    if isinstance(columns, slice) and all(
        end is None or isinstance(end, int | np.integer) for end in (columns.start, columns.stop)
    ):
        chosen: Any = range(X.shape[1])[columns]
    elif isinstance(columns, str | slice) or _holds_names(columns):
        chosen = _positions_of_names(columns, names, source)
    else:
        chosen = _positions(columns, X.shape[1], source)
    if len(chosen) == 0:
        raise ValueError(f"Source {source!r} selects no columns ({columns!r}).")
    return columns if isinstance(columns, slice) and names is None else np.asarray(chosen, np.intp)


def feature_names(X: Any) -> list[str] | None:
    """The column names of a table, None for arrays."""
    return list(X.columns) if hasattr(X, "columns") else None


def take_columns(X: Any, columns: Any) -> Any:
    """Columns of an array, sparse matrix, pandas or polars table, by position."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "columns"):
        return X.select([X.columns[i] for i in columns])
    return X[:, columns]


def _holds_names(columns: Any) -> bool:
    return not np.isscalar(columns) and any(isinstance(c, str) for c in columns)


def _positions(columns: Any, n_columns: int, source: str) -> Index:
    chosen = np.atleast_1d(np.asarray(columns))
    if chosen.dtype == bool:
        if len(chosen) != n_columns:
            raise ValueError(
                f"Source {source!r}: the mask has {len(chosen)} entries for {n_columns} columns."
            )
        return np.flatnonzero(chosen)
    chosen = chosen.astype(np.intp)
    if np.any((chosen < -n_columns) | (chosen >= n_columns)):
        raise ValueError(
            f"Source {source!r} asks for column {chosen.max()}, but there are {n_columns}."
        )
    return chosen


def _positions_of_names(columns: Any, names: Sequence[str] | None, source: str) -> list[int]:
    if names is None:
        raise ValueError(
            f"Source {source!r} selects columns by name, but the table has no names; pass a "
            "DataFrame, or select by position."
        )
    position = {name: i for i, name in enumerate(names)}
    if isinstance(columns, slice):  # by name, both ends included
        start = 0 if columns.start is None else position[columns.start]
        stop = len(names) if columns.stop is None else position[columns.stop] + 1
        return list(range(start, stop))
    if isinstance(columns, str):
        matches = [columns] if columns in position else [n for n in names if _match(n, columns)]
        return [position[name] for name in matches]
    for name in columns:
        if name not in position:
            raise ValueError(f"Source {source!r}: the table has no column {name!r}.")
    return [position[name] for name in columns]


def _match(name: Any, pattern: str) -> bool:
    return isinstance(name, str) and fnmatchcase(name, pattern)
