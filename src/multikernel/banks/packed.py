"""Packed bank: dense Gram matrices stored once per symmetric pair, swept at memory speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import get_blas_funcs

from .._component import Array
from .._gram_stack import GramStack
from .._linalg import Matrix, SingleMatrix
from .._memory import advise_on_grams, available_memory, check_memory
from ._tiles import (
    WIDEST,
    as_slice,
    chunk_size,
    chunks,
    fill,
    forms,
    pieces,
    run_edges,
    runs_of,
    times,
    transposed_times,
)
from .base import Bank, Index
from .shared import SharedSweeps

_MAX_PARTS = 32  # and tiles of 528 pairs
_MIN_TILE = 1 << 16  # entries, below which tiles cost more than copies of some samples
_DECADES = 12  # from one to the mean diagonals of kernels that single precision can hold
_MOST = 0.7  # share of kernels above which it costs less to sweep over all


class PackedBank(Bank):
    r"""Symmetric Gram matrices kept as tiles, those on and above the diagonal.

    Parameters
    ----------
    n_samples, n_kernels : int
        Size of the bank, whose entries start uninitialised: see :meth:`set_kernels`.
    dtype : {float64, float32}, default=float64
        Storage; every sum is accumulated in float64, except on a :meth:`rough` copy.
    parts : sequence of arrays of int, optional
        Samples that belong together, as the folds of a cross-validation do, each in one part. Then
        :meth:`take` copies nothing where parts are in it, or left out, as a whole. Parts that are
        too many or too small to be worth it are ignored.

    Notes
    -----
    Samples, in the order of their parts, are cut into runs. The entries of all kernels between two
    runs form one array of shape (M, rows, columns), so with eight runs a bank takes 56 % of the
    square matrices, and ``combine`` and ``traces`` are one matrix-vector product per tile.
    ``apply`` uses each tile twice, as it stands and transposed, while it is in cache.

    Examples
    --------
    >>> import numpy as np
    >>> bank = PackedBank.from_grams([np.eye(3), np.ones((3, 3))])
    >>> bank.combine(np.array([1.0, 0.5]))
    array([[1.5, 0.5, 0.5],
           [0.5, 1.5, 0.5],
           [0.5, 0.5, 1.5]])
    >>> bank.quadratic(np.array([[1.0], [2.0], [0.0]]))
    array([5., 9.])
    """

    _tiles: list[Array]
    _sums: DTypeLike = np.float64  # in which the entries of a tile are added up

    def __init__(
        self,
        n_samples: int,
        n_kernels: int,
        dtype: DTypeLike = np.float64,
        parts: Sequence[Index] | None = None,
    ) -> None:
        parts = [part for part in parts or () if len(part)]
        tile = n_kernels * (n_samples / len(parts)) ** 2 if parts else 0
        if not parts or len(parts) > _MAX_PARTS or tile < _MIN_TILE:
            parts = [np.arange(n_samples)]
        self._allocate(run_edges(parts), n_kernels, np.dtype(dtype))
        self._arrange(np.concatenate(parts))

    def _allocate(self, edges: list[int], n_kernels: int, dtype: np.dtype[Any]) -> None:
        n_samples = edges[-1]
        pairs = combinations_with_replacement(np.diff(edges).tolist(), 2)
        shapes = [(n_kernels, rows, columns) for rows, columns in pairs]
        n_bytes = dtype.itemsize * sum(int(np.prod(shape)) for shape in shapes)
        check_memory(
            n_bytes,
            f"{n_kernels:,} kernels × {n_samples:,}² × {dtype.itemsize} B, packed symmetric,",
            advise_on_grams(n_samples, n_kernels, dtype.itemsize),
        )
        self.dtype, self._edges = dtype, edges
        entries = np.empty(n_bytes // dtype.itemsize, dtype)  # one array, which has large pages
        self._tiles = _cut(entries, shapes)

    def __getstate__(self) -> dict[str, Any]:
        """Tiles of one array as that array, which workers may map instead of copying it."""
        entries = self._tiles[0].base
        if entries is None or entries.nbytes != self.nbytes:
            return self.__dict__
        return self.__dict__ | {"_tiles": entries, "_shapes": [t.shape for t in self._tiles]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if shapes := state.pop("_shapes", None):
            state["_tiles"] = _cut(state["_tiles"], shapes)
        self.__dict__ = state

    def _arrange(self, order: Index) -> None:
        """Remember which sample every row of the tiles stands for, unless that is its number."""
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self._place = None if self._order is None else np.argsort(order)

    @classmethod
    def from_grams(cls, grams: Iterable[Array], dtype: DTypeLike = np.float64) -> PackedBank:
        """Pack an array of shape (n_kernels, n, n) or a sequence of (n, n) matrices."""
        matrices = list(grams)
        bank = cls(len(matrices[0]), len(matrices), dtype)
        bank.set_kernels(GramStack(np.array([m]), K[np.newaxis]) for m, K in enumerate(matrices))
        return bank

    @property
    def n_kernels(self) -> int:
        """Number of kernels, M."""
        return len(self._tiles[0])

    @property
    def n_samples(self) -> int:
        """Number of samples, n."""
        return self._edges[-1]

    @property
    def nbytes(self) -> int:
        """Bytes of storage."""
        return sum(tile.nbytes for tile in self._tiles)

    def set_kernel(self, m: int, K: Array) -> None:
        """Store the symmetric matrix K of shape (n, n) as kernel m."""
        self.set_kernels([GramStack(np.array([m]), K[np.newaxis])])

    def set_kernels(self, stacks: Iterable[GramStack]) -> None:
        """Store Gram matrices of some kernels at a time, shifted and scaled in float64."""
        tiles = [(*tile, self._entries(*tile[1:])) for tile in self._each_tile()]
        for stack in stacks:
            where, count = as_slice(stack.kernels), len(stack.Ks)
            stack = stack if self._order is None else stack.reordered(self._order)
            for tile, rows, columns, entries in tiles:
                direct = isinstance(where, slice) and tile.dtype == stack.Ks.dtype == np.float64
                out = tile[where] if direct else np.empty((count, *tile.shape[1:]))
                if entries is None:
                    out[:] = stack.Ks[:, rows, columns]
                elif direct:
                    flat = stack.Ks.reshape(count, -1)
                    flat.take(entries, axis=1, out=out.reshape(count, -1), mode="clip")
                else:
                    out[:] = stack.Ks.reshape(count, -1)[:, entries].reshape(out.shape)
                stack.normalize(out, rows, columns)
                if not direct:
                    _store(tile, where, out, stack.kernels)

    def _entries(self, rows: slice, columns: slice) -> Index | None:
        """Where the entries of a tile are in a matrix laid out in rows; None in their place."""
        if self._order is None:
            return None
        return np.add.outer(self._order[rows] * self.n_samples, self._order[columns]).ravel()

    def gram(self, m: int) -> Array:
        """Kernel m as a square float64 matrix."""
        K = np.empty((self.n_samples, self.n_samples))
        for tile, rows, columns in self._each_tile():
            fill(K, tile[m], rows, columns)
        return self._by_sample(K)

    def combine(self, d: Array) -> Array:
        r"""The combined matrix :math:`\sum_m d_m K_m`; long runs of weight zero are not read."""
        return self._combine(d, np.float64)

    def combine_roughly(self, d: Array) -> Matrix:
        """The combined matrix, in single precision where the sums of the bank are and it fits."""
        size = float(np.abs(d).max(initial=0.0))
        if self._sums == np.float64 or not 1 / WIDEST <= size <= WIDEST:
            return self.combine(d)
        return SingleMatrix(self._combine(d, np.float32))

    def _combine(self, d: Array, dtype: DTypeLike) -> Array:
        runs = runs_of(np.flatnonzero(d), self._tiles[0])
        self._passes += sum(len(run) for run in runs) / self.n_kernels
        K = np.empty((self.n_samples, self.n_samples), dtype)
        (gemv,) = get_blas_funcs(("gemv",), dtype=self._sums)
        d, size = self._fitting(d)
        for tile, rows, columns in self._each_tile():
            total = np.zeros(tile[0].size, self._sums)
            for index, flat in pieces(tile, runs, self._sums):
                if flat.flags.c_contiguous:
                    total = gemv(1.0, flat.T, d[index], beta=1.0, y=total, overwrite_y=True)
                else:  # every so many kernels of a bank
                    total += d[index] @ flat
            fill(K, total.reshape(tile[0].shape), rows, columns)
        K = K if size == 1 else np.multiply(K, size, out=K)
        return self._by_sample(K)

    def apply(self, A: Array, kernels: Index | None = None) -> Array:
        r"""The products :math:`K_m A`, shape (n_kernels, n, T)."""
        return self._apply(A, kernels, None)

    def apply_at(self, samples: Index, A: Array, kernels: Index) -> Array:
        r"""The products :math:`K_m A` at some of the samples; tiles of others are not read."""
        return self._apply(A, kernels, samples)

    def _apply(self, A: Array, kernels: Index | None, samples: Index | None) -> Array:
        kernels = (
            np.arange(self.n_kernels) if kernels is None else np.asarray(kernels, dtype=np.intp)
        )
        samples = np.arange(self.n_samples) if samples is None else samples
        if len(kernels) > _MOST * self.n_kernels and not isinstance(as_slice(kernels), slice):
            return self._apply(A, None, samples)[kernels]
        places = samples if self._place is None else self._place[samples]
        wanted = np.zeros(self.n_samples, dtype=bool)
        wanted[places] = True
        A, size = self._fitting(self._by_row(A))
        out = np.zeros((len(kernels), *A.shape))
        parts = chunks(kernels, chunk_size(*self._tiles))
        for tile, rows, columns in self._each_tile():
            right = wanted[rows].any() and A[columns].any()
            down = rows != columns and wanted[columns].any() and A[rows].any()
            if not right and not down:
                continue
            self._passes += tile[0].size * len(kernels) / (self.n_kernels * self._n_entries)
            for part, chosen in parts:
                chunk = tile[chosen].astype(self._sums, copy=False)
                if right:
                    out[part, rows] += times(chunk, A[columns])
                if down:
                    out[part, columns] += transposed_times(chunk, A[rows])
        out = out if size == 1 else np.multiply(out, size, out=out)
        return out if np.array_equal(places, np.arange(len(A))) else out[:, places]

    def weighted_apply(self, V: Array) -> Array:
        r"""The sum :math:`\sum_m K_m V_m` for V of shape (M, n, T): shape (n, T)."""
        self._passes += 1.0
        V = V if self._order is None else V[:, self._order]
        out = np.zeros(V.shape[1:])
        parts = chunks(np.arange(self.n_kernels), chunk_size(*self._tiles))
        for tile, rows, columns in self._each_tile():
            for part, chosen in parts:
                chunk = tile[chosen].astype(self._sums, copy=False)
                out[rows] += np.matmul(chunk, V[part, columns]).sum(axis=0)
                if rows != columns:
                    out[columns] += np.matmul(chunk.transpose(0, 2, 1), V[part, rows]).sum(axis=0)
        return out if self._place is None else out[self._place]

    def traces(self, S: Array) -> Array:
        r"""The traces :math:`\operatorname{tr}(S K_m)`; a stack of S gives one row each."""
        if S.ndim == 3:
            return np.stack([self.traces(part) for part in S])
        S = S if self._order is None else S[np.ix_(self._order, self._order)]
        return self._inner_products(lambda rows, columns: S[rows, columns])

    def quadratic(self, A: Array) -> Array:
        r"""The quadratic forms :math:`\operatorname{tr}(A^\top K_m A)`, shape (M,)."""
        A = self._by_row(A)
        if A.shape[1] > 1:
            return np.maximum(self._inner_products(lambda i, j: A[i] @ A[j].T), 0.0)
        self._passes += 1.0
        a, size = self._fitting(A[:, 0])
        out = np.zeros(self.n_kernels)
        for tile, rows, columns in self._each_tile():
            twice = 1.0 if rows == columns else 2.0  # a tile off the diagonal stands for two
            for index, flat in pieces(tile, [range(self.n_kernels)], self._sums):
                out[index] += twice * forms(flat, a[rows], a[columns])
        return np.maximum(size * size * out, 0.0)

    def _inner_products(self, between: Callable[[slice, slice], Array]) -> Array:
        """Frobenius products of every kernel with one symmetric matrix, given by its tiles."""
        self._passes += 1.0
        out = np.zeros(self.n_kernels)
        for tile, rows, columns in self._each_tile():
            S, size = self._fitting(between(rows, columns).ravel())
            twice = 1.0 if rows == columns else 2.0  # a tile off the diagonal stands for two
            for index, flat in pieces(tile, [range(self.n_kernels)], self._sums):
                out[index] += twice * size * (flat @ S).astype(np.float64, copy=False)
        return out

    def square_norms(self, s: Array) -> Array:
        r"""The squared norms :math:`\sum_{ij} s_i^2 s_j^2 K_{m,ij}^2`, shape (M,)."""
        self._passes += 1.0
        s, squares = self._by_row(s), np.zeros(self.n_kernels)
        for tile, rows, columns in self._each_tile():
            factor = np.outer(s[rows] ** 2, s[columns] ** 2).ravel()
            twice = 1.0 if rows == columns else 2.0  # a tile off the diagonal stands for two
            for index, flat in pieces(tile, [range(self.n_kernels)], self._sums):
                squares[index] += twice * np.einsum("mi,mi,i->m", flat, flat, factor)
        return squares

    def mean_diagonals(self) -> Array:
        """The mean diagonal of every kernel, shape (M,); no sweep."""
        tiles = [tile for tile, rows, columns in self._each_tile() if rows == columns]
        total = sum(np.einsum("mii->m", tile, dtype=np.float64) for tile in tiles)
        return np.asarray(total / self.n_samples)

    def eigenvalue_bounds(self) -> Array:
        """Upper bounds of the largest eigenvalues: Frobenius norms, which lie below the traces."""
        return np.sqrt(self.square_norms(np.ones(self.n_samples)))

    def select(self, kernels: Index | Sequence[int]) -> PackedBank:
        """The bank of some of the kernels: a view where they are evenly spaced, else a copy."""
        chosen = as_slice(np.asarray(kernels, dtype=np.intp))
        return self._view(self._edges, [tile[chosen] for tile in self._tiles], self._order)

    def take(self, samples: Index) -> PackedBank:
        """The bank of the same kernels on some of the samples.

        A view where every part of the bank is in it, or left out, as a whole; else a copy.
        """
        places = samples if self._place is None else self._place[samples]
        order = np.argsort(places, kind="stable")
        places = places[order]
        cuts = np.searchsorted(places, self._edges)  # every tile is cut out of one of ours
        sizes, edges = np.diff(cuts), np.unique(cuts).tolist()
        pairs = zip(self._tiles, self._pairs(), strict=True)
        kept = [(tile, i, j) for tile, (i, j) in pairs if sizes[i] and sizes[j]]
        if np.all(np.diff(places) > 0) and self._has_whole_runs(places):
            return self._view(edges, [tile for tile, _, _ in kept], order)
        part = object.__new__(PackedBank)
        part._allocate(edges, self.n_kernels, self.dtype)
        part._sums, part.rounding = self._sums, self.rounding
        part._arrange(order)
        for (tile, i, j), out in zip(kept, part._tiles, strict=True):
            rows = places[cuts[i] : cuts[i + 1]] - self._edges[i]
            columns = places[cuts[j] : cuts[j + 1]] - self._edges[j]
            entries = np.add.outer(rows * tile.shape[2], columns).ravel()
            flat, out_flat = (array.reshape(self.n_kernels, -1) for array in (tile, out))
            np.take(flat, entries, axis=1, out=out_flat, mode="clip")
        return part

    def shared(self, sets: Sequence[Index]) -> SharedSweeps | None:
        """Sweeps for several sets of samples at once, where all are made of whole runs.

        The samples of a set are those of :meth:`best_order`.
        """
        places = [s if self._place is None else self._place[s] for s in sets]
        whole = all(np.all(np.diff(p) > 0) and self._has_whole_runs(p) for p in places)
        return SharedSweeps(list(self._each_tile()), self._sums, places) if whole else None

    def _has_whole_runs(self, places: Index) -> bool:
        """Whether increasing places are those of whole runs."""
        sizes, full = np.diff(np.searchsorted(places, self._edges)), np.diff(self._edges)
        return np.array_equal(sizes[sizes > 0], full[sizes > 0])

    def rough(self) -> PackedBank:
        """A copy in single precision whose sums are too, where memory is free for it.

        Its sweeps take half the time, and their sums are right to six digits or so.
        """
        entries, diagonals = self._tiles[0].base, self.mean_diagonals()
        if entries is None or entries.nbytes != self.nbytes or self.dtype != np.float64:
            return self
        sizes = diagonals[diagonals > 0]
        if np.any(np.abs(np.log10(sizes)) > _DECADES) or available_memory() < self.nbytes:
            return self
        tiles = _cut(entries.astype(np.float32), [tile.shape for tile in self._tiles])
        copy = self._view(self._edges, tiles, self._order)
        copy.dtype, copy._sums = np.dtype(np.float32), np.float32
        copy.rounding = float(np.finfo(np.float32).eps)
        return copy

    def best_order(self, samples: Index) -> Index:
        """Some samples in the order of the tiles."""
        return samples if self._place is None else samples[np.argsort(self._place[samples])]

    def _view(self, edges: list[int], tiles: list[Array], order: Index | None) -> PackedBank:
        """A bank of tiles that exist."""
        bank = object.__new__(PackedBank)
        bank.dtype, bank._sums, bank.rounding = self.dtype, self._sums, self.rounding
        bank._edges, bank._tiles = edges, tiles
        bank._arrange(np.arange(edges[-1]) if order is None else order)
        return bank

    def _by_row(self, A: Array) -> Array:
        """An array over samples in the order of the tiles."""
        return A if self._order is None else A[self._order]

    def _by_sample(self, K: Array) -> Array:
        """A square matrix in the order of the samples."""
        return K if self._place is None else K[np.ix_(self._place, self._place)]

    def _fitting(self, A: Array) -> tuple[Array, float]:
        """An array in the type of the sums, and the number it was divided by to fit into it."""
        if self._sums == np.float64:
            return A, 1.0
        size = float(np.abs(A).max(initial=0.0)) or 1.0
        return (A / size).astype(self._sums), size

    @property
    def _n_entries(self) -> int:
        """Entries stored per kernel."""
        return sum(tile[0].size for tile in self._tiles)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """The runs between which the tiles lie."""
        return combinations_with_replacement(range(len(self._edges) - 1), 2)

    def _each_tile(self) -> Iterator[tuple[Array, slice, slice]]:
        runs = [slice(start, stop) for start, stop in pairwise(self._edges)]
        for tile, (i, j) in zip(self._tiles, self._pairs(), strict=True):
            yield tile, runs[i], runs[j]


def _store(tile: Array, where: Any, entries: Array, kernels: Index) -> None:
    try:
        with np.errstate(over="raise"):
            tile[where] = entries
    except FloatingPointError:
        largest = np.abs(entries).max(axis=(1, 2))
        m, limit = np.argmax(largest), float(np.finfo(tile.dtype).max)
        raise ValueError(
            f"Kernel {kernels[m]} has an entry of size {largest[m]:.3g}, but dtype='{tile.dtype}' "
            f"holds numbers up to {limit:.3g}; use dtype='float64', or normalize the kernels."
        ) from None


def _cut(entries: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Arrays of these shapes, one after the other in one array."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(entries, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
