"""Row containers: what scikit-learn's splitters need to cut several blocks at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.intp]


class RowContainer(ABC):
    """Samples whose numbers live in shared storage; indexing composes row positions.

    It behaves as a one-dimensional sequence of samples towards scikit-learn: splitting, searching
    and calibrating keep whole samples and never copy the storage. Pickling a slice copies only
    its own rows.
    """

    _rows: Index

    @property
    def shape(self) -> tuple[int, ...]:
        """One entry: the number of samples."""
        return (len(self._rows),)

    @property
    def ndim(self) -> int:
        """One: a sequence of samples."""
        return 1

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The common type of the numbers held."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the blocks."""

    @abstractmethod
    def _with_rows(self, rows: Index) -> Self:
        """The same storage seen through other rows."""

    @abstractmethod
    def _compact(self) -> dict[str, Any]:
        """The state to pickle: storage cut down to the rows at hand."""

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Self:
        if isinstance(key, tuple):
            key = _first_axis(key, type(self).__name__)
        if isinstance(key, str):
            raise TypeError(f"{type(self).__name__} is indexed by samples; use .block({key!r}).")
        return self._with_rows(np.atleast_1d(self._rows[key]))

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} holds {len(self.names)} blocks and is not one array; take "
            f"one with .block(name), from: {', '.join(self.names)}."
        )

    def __sklearn_clone__(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self._compact()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} samples: {', '.join(self.names)})"


def _first_axis(key: tuple[Any, ...], owner: str) -> Any:
    """The index of the samples from an index with an ellipsis or full slices after it."""
    head, *rest = key
    if any(part is not Ellipsis and not _is_full_slice(part) for part in rest):
        raise IndexError(f"{owner} has one axis, the samples; got the index {key!r}.")
    return slice(None) if head is Ellipsis else head


def _is_full_slice(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def plain(identity: Any) -> Any:
    """A sample id as people write it, without its numpy type."""
    return identity.item() if isinstance(identity, np.generic) else identity


def take_rows(block: Any, rows: Any) -> Any:
    """Rows of an array, sparse matrix, pandas or polars table."""
    if hasattr(block, "iloc"):
        return block.iloc[rows]
    return block[rows]
