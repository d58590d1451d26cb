"""KernelBundle: precomputed Gram or distance matrices that remember their samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from .._component import Array
from .._validation import as_real, refuse_kernels_first
from .presence import check_masks
from .rows import Index, RowContainer, are_named, plain

Kind = Literal["gram", "distance"]


class KernelBundle(RowContainer):
    """Precomputed kernels between samples that keep their identities when they are split.

    However scikit-learn cuts a bundle, by rows or by rows and columns, the rows are taken and the
    columns stay, so that ``fit`` finds the kernels among the training samples and ``predict`` those
    between queries and training.

    Parameters
    ----------
    kernels : mapping from str to array or DataFrame of shape (n_rows, n_columns)
        Gram matrices (or distances), square over all samples unless ``column_ids`` says otherwise.
        DataFrames bring ids in their index and columns and are reordered by them.
    ids : sequence, optional
        Identity of every row; those of the DataFrames by default, or positions. Beside DataFrames
        arrays need it, which are taken in its order.
    column_ids : sequence, optional
        Identity of every column; those of the rows by default.
    kind : {"gram", "distance"}, default="gram"
    present : mapping from str to array of bool, or array of shape (n_rows, n_kernels), optional
        True where a sample has the source of a kernel; entries of samples that lack it are never
        read. Kernels not named are there for all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import KernelBundle
    >>> K = KernelBundle({"rna": np.eye(4), "mri": np.ones((4, 4))}, ids=list("abcd"))
    >>> K[[0, 2]]
    KernelBundle(2 samples: rna, mri)
    >>> K[[0, 2]].ids
    array(['a', 'c'], dtype='<U1')
    """

    _array: Array | None = None  # all matrices, kernels first, where they are parts of one array

    def __init__(
        self,
        kernels: Mapping[str, Any],
        ids: Any = None,
        column_ids: Any = None,
        kind: Kind = "gram",
        present: Any = None,
    ) -> None:
        if not isinstance(kernels, Mapping) or not kernels:
            raise TypeError(
                "KernelBundle needs a non-empty mapping from names to matrices; for a list use "
                "KernelBundle.from_list, for an array KernelBundle.from_array."
            )
        if kind not in ("gram", "distance"):
            raise ValueError(f"kind must be 'gram' or 'distance', got {kind!r}.")
        self.kind = kind
        self._ids, self.column_ids = _find_ids(kernels, ids, column_ids)
        self.named = are_named(self._ids)
        shape = (len(self._ids), len(self.column_ids))
        self._matrices = {
            str(name): _as_matrix(K, str(name), self._ids, self.column_ids, shape)
            for name, K in kernels.items()
        }
        self._present = check_masks(present, self.names, shape[0])
        self._rows = np.arange(shape[0])

    @classmethod
    def from_list(
        cls, kernels: Sequence[Any], names: Sequence[str] | None = None, **options: Any
    ) -> Self:
        """A bundle from a list of matrices, named ``k0``, ``k1``, ... by default."""
        names = [f"k{m}" for m in range(len(kernels))] if names is None else list(names)
        if len(names) != len(kernels):
            raise ValueError(f"Got {len(names)} names for {len(kernels)} kernels.")
        texts = [str(name) for name in names]
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise ValueError(f"Two kernels are named {twice!r}; give every kernel its own name.")
        return cls(dict(zip(names, kernels, strict=True)), **options)

    @classmethod
    def from_array(cls, K: Array, names: Sequence[str] | None = None, **options: Any) -> Self:
        """A bundle from an array of shape (n_rows, n_columns, n_kernels), named as in from_list."""
        K = np.asarray(K)
        if K.ndim != 3:
            raise ValueError(f"expected shape (n_rows, n_columns, n_kernels), got {K.shape}.")
        if "column_ids" not in options:
            refuse_kernels_first(K)
        K = as_real(K, "The array")
        bundle = cls.from_list([K[:, :, m] for m in range(K.shape[2])], names, **options)
        bundle._array = np.moveaxis(K, 2, 0)
        return bundle

    @classmethod
    def from_distances(cls, distances: Any, **options: Any) -> Self:
        """A bundle of distance matrices from a mapping, a list, or an array as in from_array."""
        options["kind"] = "distance"
        if isinstance(distances, Mapping):
            return cls(distances, **options)
        if isinstance(distances, np.ndarray) and distances.ndim == 3:
            return cls.from_array(distances, **options)
        return cls.from_list(distances, **options)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of samples, twice: rows by the same samples, which are found by their ids."""
        return (len(self._rows), len(self._rows))

    @property
    def ndim(self) -> int:
        """Two, as scikit-learn expects of kernels."""
        return 2

    def __getitem__(self, key: Any) -> Self:
        if isinstance(key, tuple) and len(key) == 2 and all(np.ndim(part) == 2 for part in key):
            key = np.ravel(key[0])  # np.ix_(rows, columns): columns are found by their ids
        return super().__getitem__(key)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The common type of the matrices."""
        return np.result_type(*self._matrices.values())

    @property
    def names(self) -> list[str]:
        """The names of the kernels."""
        return list(self._matrices)

    @property
    def ids(self) -> Any:
        """The identities of the rows at hand."""
        return self._ids[self._rows]

    def block(self, name: str, columns: Index | None = None, rows: Any = slice(None)) -> Array:
        """The rows at hand of one kernel, against all or some positions of columns.

        Where rows and columns are consecutive, a view of the matrix that cannot be written to.
        """
        window = self._window(columns, rows)
        block: Array = self._matrices[name][window]
        if isinstance(window[0], slice):
            block.flags.writeable = False
        return block

    def stack(self, kernels: slice, columns: Index) -> Array:
        """The rows at hand of some kernels, by position, as an array laid out in rows.

        It cannot be written to, and is a view where the matrices are laid out so already.
        """
        window = self._window(columns, slice(None))
        if self._array is not None:
            stack = np.ascontiguousarray(self._array[kernels][:, *window])
        else:
            first, *others = [self._matrices[name][window] for name in self.names[kernels]]
            alone = np.ascontiguousarray(first)[np.newaxis]
            stack = np.stack([first, *others]) if others else alone
        stack.flags.writeable = False
        return stack

    def _window(self, columns: Index | None, rows: Any) -> tuple[Any, ...]:
        """Rows at hand and positions of columns, as slices where they are consecutive."""
        columns = np.arange(len(self.column_ids)) if columns is None else columns
        chosen = self._rows[rows]
        if _is_range(chosen) and _is_range(columns):
            return slice(chosen[0], chosen[-1] + 1), slice(columns[0], columns[-1] + 1)
        return np.ix_(chosen, columns)

    def columns_of(self, ids: Any) -> Index:
        """The positions of samples among the columns, -1 for those that are missing."""
        position = {identity: j for j, identity in enumerate(self.column_ids.tolist())}
        return np.array([position.get(i, -1) for i in np.asarray(ids).tolist()], dtype=np.intp)

    def with_absent(self, names: str | Sequence[str]) -> Self:
        """The same samples, said to lack some sources, which need not be among those at hand."""
        names = [names] if isinstance(names, str) else list(names)
        shape = (len(self._ids), len(self.column_ids))
        nothing = {n: np.broadcast_to(0.0, shape) for n in names if n not in self._matrices}
        absent = {n: np.zeros(shape[0], dtype=bool) for n in names}
        other = self._with_rows(self._rows)
        other._matrices, other._present = self._matrices | nothing, self._present | absent
        other._array = None
        return other

    def append(self, other: KernelBundle) -> KernelBundle:
        """The rows of this bundle followed by those of another against the same columns."""
        same_columns = np.array_equal(self.column_ids, other.column_ids)
        if self.names != other.names or self.kind != other.kind or not same_columns:
            raise ValueError(
                "Only bundles with the same kernels, kind and column ids can be appended."
            )
        stacked = {n: np.concatenate([self.block(n), other.block(n)]) for n in self.names}
        ids = np.concatenate([self.ids, other.ids])
        present = np.concatenate([self.present, other.present])
        both = KernelBundle(stacked, ids, self.column_ids, self.kind, present)
        both.named = self.named or other.named
        return both

    def _with_rows(self, rows: Index) -> Self:
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {"_rows": rows}
        return other

    def _compact(self) -> dict[str, Any]:
        if np.array_equal(self._rows, np.arange(len(self._ids))):
            return self.__dict__ | {"_array": None}
        matrices = {name: K[self._rows] for name, K in self._matrices.items()}
        present = {name: self.has(name) for name in self._present}
        own = {"_matrices": matrices, "_ids": self.ids, "_present": present}
        return self.__dict__ | own | {"_rows": np.arange(len(self)), "_array": None}


def _is_range(index: Index) -> bool:
    """Whether positions are consecutive, so that a slice says the same."""
    return len(index) > 0 and bool((index[1:] - index[:-1] == 1).all())


def _is_labelled(K: Any) -> bool:
    return hasattr(K, "iloc")


def _find_ids(kernels: Mapping[str, Any], ids: Any, column_ids: Any) -> tuple[Any, Any]:
    """Identities of rows and columns: given, from the first DataFrame, or positions."""
    first = next((K for K in kernels.values() if _is_labelled(K)), next(iter(kernels.values())))
    n_rows, n_columns = np.shape(first)[:2] if np.ndim(first) == 2 else (0, 0)
    if ids is None:
        ids = first.index if _is_labelled(first) else np.arange(n_rows)
        _refuse_nameless(kernels, ids)
    ids = np.asarray(ids)
    if column_ids is None:
        same = n_rows == n_columns and (not _is_labelled(first) or set(first.columns) == set(ids))
        column_ids = ids if same or not _is_labelled(first) else first.columns
    column_ids = np.asarray(column_ids)
    _refuse_twins(column_ids)
    return ids, column_ids


def _refuse_twins(column_ids: Any) -> None:
    """Refuse two columns of one id, which rows could not tell apart."""
    labels, counts = np.unique(column_ids, return_counts=True)
    if len(labels) < len(column_ids):
        k = int(np.argmax(counts))
        raise ValueError(
            f"The ids of the columns must be unique; {plain(labels[k])!r} stands for {counts[k]} "
            f"of {len(column_ids)} columns: give every sample an id of its own."
        )


def _refuse_nameless(kernels: Mapping[str, Any], ids: Any) -> None:
    """Refuse arrays beside tables with sample ids, whose order may not be theirs."""
    nameless = [name for name, K in kernels.items() if not _is_labelled(K)]
    if are_named(ids) and nameless:
        named = next(name for name in kernels if name not in nameless)
        raise ValueError(
            f"Kernel {nameless[0]!r} is an array without sample ids, {named!r} a DataFrame with "
            "them: pass ids, in the order of the rows of the arrays, or DataFrames only."
        )


def _as_matrix(K: Any, name: str, ids: Any, column_ids: Any, shape: tuple[int, int]) -> Array:
    """A matrix in the order of the ids, as floating point numbers."""
    if type(K) is np.ndarray and K.shape == shape and K.dtype.kind == "f":
        return K
    if _is_labelled(K):
        for axis, labels, wanted in (("row", K.index, ids), ("column", K.columns, column_ids)):
            missing = [i for i in np.asarray(wanted).tolist() if i not in labels]
            if missing:
                first = plain(missing[0])
                raise ValueError(f"Kernel {name!r} has no {axis} for the sample id {first!r}.")
        K = K.loc[list(ids), list(column_ids)]
    K = np.asarray(K)
    if K.ndim != 2:
        raise ValueError(
            f"Kernel {name!r} must be a matrix, got an array of shape {K.shape}; for an array of "
            "several kernels use KernelBundle.from_array."
        )
    if K.shape[0] != K.shape[1] and shape[0] == shape[1]:
        raise ValueError(
            f"Kernel {name!r} of shape {K.shape} is not square: pass column_ids, the ids of the "
            "samples that its columns stand for."
        )
    if K.shape != shape:
        raise ValueError(
            f"Kernel {name!r} must have shape {shape}, one row per id and one column per column "
            f"id, got {K.shape}."
        )
    return as_real(K, f"Kernel {name!r}")
