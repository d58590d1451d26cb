"""Row containers: what scikit-learn's splitters need to cut several blocks at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from .presence import Mask, PresenceSummary, summarize

Index = NDArray[np.intp]


class RowContainer(ABC):
    """Samples whose numbers live in shared storage; indexing composes row positions.

    It behaves as a one-dimensional sequence of samples towards scikit-learn: splitting, searching
    and calibrating keep whole samples and never copy the storage. Pickling a slice copies only
    its own rows.
    """

    _rows: Index
    _present: dict[str, Mask]  # of the blocks that some samples lack, for all samples in storage
    named: bool  # whether samples have identities of their own, other than their positions

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

    @property
    def present(self) -> Mask:
        """Who has what: booleans of shape (n_samples, n_blocks), columns in the order of names."""
        return np.column_stack([self.has(name) for name in self.names])

    def has(self, name: str) -> Mask:
        """Which of the samples at hand have a block."""
        if name in self._present:
            return np.asarray(self._present[name][self._rows])
        return np.ones(len(self), dtype=bool)

    def summary(self) -> PresenceSummary:
        """How many samples have each block, and how many have all of them."""
        return summarize(self.present, self.names)

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
        counts = {name: int(self.has(name).sum()) for name in self.names}
        parts = [n if c == len(self) else f"{n} ({c} of {len(self)})" for n, c in counts.items()]
        return f"{type(self).__name__}({len(self)} samples: {', '.join(parts)})"


def _first_axis(key: tuple[Any, ...], owner: str) -> Any:
    """The index of the samples from an index with an ellipsis or full slices after it."""
    head, *rest = key
    if any(part is not Ellipsis and not _is_full_slice(part) for part in rest):
        raise IndexError(f"{owner} has one axis, the samples; got the index {key!r}.")
    return slice(None) if head is Ellipsis else head


def _is_full_slice(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def presence(X: Any, name: str) -> Mask | None:
    """Which samples have a block, None where all have it; a table lacks nothing."""
    if not isinstance(X, RowContainer) or name not in X._present:
        return None
    has = X.has(name)
    return None if has.all() else has


def plain(identity: Any) -> Any:
    """A sample id as people write it, without its numpy type."""
    return identity.item() if isinstance(identity, np.generic) else identity


def are_named(ids: Any) -> bool:
    """Whether ids say more than the positions of the samples."""
    return not np.array_equal(ids, np.arange(len(ids)))


def take_rows(block: Any, rows: Any) -> Any:
    """Rows of an array, sparse matrix, pandas or polars table."""
    if hasattr(block, "iloc"):
        return block.iloc[rows]
    return block[rows]
