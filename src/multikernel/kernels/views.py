"""ViewBundle: several views of the same samples, and the choice of columns from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import vstack

from .align import align_tables, as_ids, blank
from .presence import Mask, check_masks
from .rows import Index, RowContainer, are_named, take_rows


class ViewBundle(RowContainer):
    """Several views of the same samples: arrays, sparse matrices, DataFrames, lists of strings.

    Samples may lack whole views. Kernels on a view are learned from the samples that have it, and
    to the others it contributes nothing, in training as in prediction.

    Parameters
    ----------
    blocks : mapping from str to block
        Blocks with equal numbers of rows, in equal order; row labels of pandas tables must agree.
        They are not copied. To join tables of different samples use :meth:`align`.
    present : mapping from str to array of bool, or array of shape (n, n_views), optional
        True where a sample has the view; the row of a sample that lacks it is never read. Views
        not named are there for all samples.
    ids : sequence, optional
        Identity of every sample; by default the row labels of the first table, or positions.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import ViewBundle
    >>> X = ViewBundle({"mri": np.zeros((4, 100)), "dna": ["GAT", "TAC", "CAT", "TAG"]})
    >>> X
    ViewBundle(4 samples: mri, dna)
    >>> X[np.array([0, 2])].block("dna")
    array(['GAT', 'CAT'], dtype=object)
    >>> X = ViewBundle({"mri": np.eye(4), "pet": np.eye(4)}, present={"pet": np.arange(4) > 0})
    >>> X
    ViewBundle(4 samples: mri, pet (3 of 4))
    >>> X.summary()
    mri          4 of 4
    pet          3 of 4
    all of them  3 of 4
    """

    def __init__(self, blocks: Mapping[str, Any], present: Any = None, ids: Any = None) -> None:
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
                    f"{name!r} has {size}. Tables of different samples are joined by their ids "
                    "with ViewBundle.align."
                )
        _check_row_labels(self._blocks)
        self._ids = _find_ids(self._blocks, ids, sizes[first])
        self.named = are_named(self._ids)
        self._present = check_masks(present, self.names, sizes[first])
        self._rows = np.arange(sizes[first])

    @classmethod
    def align(cls, tables: Mapping[str, Any], how: Literal["outer", "inner"] = "outer") -> Self:
        """Join tables of different samples by their sample ids.

        Parameters
        ----------
        tables : mapping from str to DataFrame or (ids, block)
            pandas tables indexed by sample ids, or any block with the ids of its rows.
        how : {"outer", "inner"}, default="outer"
            Keep every sample that some table has, in the order in which ids are first seen, and
            mark it as absent where a table lacks it; or keep the samples that all tables have.

        Examples
        --------
        >>> import numpy as np
        >>> from multikernel.kernels import ViewBundle
        >>> tables = {"rna": (["a", "b", "c"], np.eye(3)), "mri": (["c", "d"], np.eye(2))}
        >>> X = ViewBundle.align(tables)
        >>> X.ids
        array(['a', 'b', 'c', 'd'], dtype='<U1')
        >>> X.has("mri")
        array([False, False,  True,  True])
        >>> ViewBundle.align(tables, how="inner").ids
        array(['c'], dtype='<U1')
        """
        blocks, present, ids = align_tables(tables, how, _as_block)
        return cls(blocks, present, ids)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Object: views may differ."""
        return np.dtype(object)

    @property
    def names(self) -> list[str]:
        """The names of the views."""
        return list(self._blocks)

    @property
    def ids(self) -> Any:
        """The identities of the samples at hand."""
        return self._ids[self._rows]

    @property
    def n_features(self) -> int:
        """The number of columns of all views together; a view of strings counts as one."""
        return sum(1 if len(b.shape) == 1 else b.shape[1] for b in self._blocks.values())

    def block(self, name: str) -> Any:
        """The rows at hand of one view."""
        block = self._blocks[name]
        whole = len(self) == block.shape[0] and np.array_equal(self._rows, np.arange(len(self)))
        return block if whole else take_rows(block, self._rows)

    def select(self, names: Sequence[str]) -> Self:
        """The same samples with some of the views."""
        for name in names:
            if name not in self._blocks:
                raise ValueError(f"There is no view {name!r}; there are: {', '.join(self.names)}.")
        present = {name: mask for name, mask in self._present.items() if name in names}
        return self._like({name: self._blocks[name] for name in names}, present)

    def with_absent(self, names: str | Sequence[str]) -> Self:
        """The same samples, said to lack some views, which need not be among those at hand.

        Examples
        --------
        >>> import numpy as np
        >>> from multikernel.kernels import ViewBundle
        >>> ViewBundle({"rna": np.eye(2)}).with_absent("mri")
        ViewBundle(2 samples: rna, mri (0 of 2))
        """
        names = [names] if isinstance(names, str) else list(names)
        n_stored = len(self._ids)
        nothing = {name: np.zeros((n_stored, 0)) for name in names if name not in self._blocks}
        absent = {name: np.zeros(n_stored, dtype=bool) for name in names}
        return self._like(self._blocks | nothing, self._present | absent)

    def append(self, other: ViewBundle) -> ViewBundle:
        """The samples of this bundle followed by those of another with the same views."""
        if set(other.names) != set(self.names):
            raise ValueError(
                f"The views differ: {self.names} and {other.names}; name those that samples lack "
                "with with_absent."
            )
        both = ViewBundle(
            {n: _stack(*_match_kinds(self.block(n), other.block(n))) for n in self.names},
            {n: np.concatenate([self.has(n), other.has(n)]) for n in self.names},
            as_ids([*self.ids.tolist(), *other.ids.tolist()]),
        )
        both.named = self.named or other.named
        return both

    def _like(self, blocks: dict[str, Any], present: dict[str, Mask]) -> Self:
        """The same rows of the same samples with other views."""
        other = self._with_rows(self._rows)
        other._blocks, other._present = blocks, present
        return other

    def _with_rows(self, rows: Index) -> Self:
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {"_rows": rows}
        return other

    def _compact(self) -> dict[str, Any]:
        return {
            "_blocks": {name: self.block(name) for name in self.names},
            "_present": {name: self.has(name) for name in self._present},
            "_ids": self.ids,
            "_rows": np.arange(len(self)),
            "named": self.named,
        }


def _find_ids(blocks: Mapping[str, Any], ids: Any, n_samples: int) -> Any:
    """Identities given, those of the first labelled table, or positions."""
    if ids is None:
        first = next((block for block in blocks.values() if hasattr(block, "iloc")), None)
        return np.arange(n_samples) if first is None else as_ids(first.index.tolist())
    ids = as_ids(list(ids))
    if len(ids) != n_samples:
        raise ValueError(f"Got {len(ids)} ids for {n_samples} samples.")
    return ids


def _check_row_labels(blocks: Mapping[str, Any]) -> None:
    """Refuse tables whose rows are labelled as other samples, or as the same in another order."""
    labels = {name: np.asarray(b.index) for name, b in blocks.items() if hasattr(b, "iloc")}
    named = {n: ids for n, ids in labels.items() if are_named(ids)}
    first = next(iter(named), None)
    for name, ids in named.items():
        if first is not None and not np.array_equal(ids, named[first]):
            raise ValueError(
                f"Views {first!r} and {name!r} have different row labels: reorder one by the "
                f"labels of the other ({name}.loc[{first}.index]), pass {name}.to_numpy() if the "
                "rows are the same samples, or join the tables with ViewBundle.align."
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


def _match_kinds(top: Any, bottom: Any) -> tuple[Any, Any]:
    """Two blocks of one kind, where one of them may be the empty stand-in of an absent view."""
    if _is_nothing(top) and not _is_nothing(bottom):
        return blank(bottom, top.shape[0]), bottom
    if _is_nothing(bottom) and not _is_nothing(top):
        return top, blank(top, bottom.shape[0])
    return top, bottom


def _is_nothing(block: Any) -> bool:
    return len(block.shape) == 2 and block.shape[1] == 0


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
