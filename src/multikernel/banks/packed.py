"""Packed bank: dense Gram matrices stored once per symmetric pair, swept at memory speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg.blas import dgemv

from .._component import Array
from .._memory import check_memory
from .base import Bank, Index

_CACHE_BYTES = 2 << 20  # a chunk of this size is still in cache when it is read the second time
_MAX_PANELS = 8
_BRIDGED_GAP = 2
_SHORT = 512
_MIN_PANEL_ROWS = 32


def _panel_edges(n_samples: int) -> list[int]:
    n_panels = int(np.clip(n_samples // _MIN_PANEL_ROWS, 1, _MAX_PANELS))
    return [round(i * n_samples / n_panels) for i in range(n_panels + 1)]


class PackedBank(Bank):
    r"""Symmetric Gram matrices kept as panels of rows, from the diagonal block to the right edge.

    Parameters
    ----------
    n_samples, n_kernels : int
        Size of the bank, whose entries start uninitialised: see :meth:`set_kernel`.
    dtype : {float64, float32}, default=float64
        Storage; every sum is accumulated in float64.

    Notes
    -----
    Rows :math:`[s, e)` of all kernels form one array of shape (M, e - s, n - s), so with eight
    panels a bank takes 56 % of the square matrices, and ``combine`` and ``traces`` are one
    matrix-vector product per panel. ``apply`` uses each panel twice, as it stands and transposed,
    while it is in cache.

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

    def __init__(self, n_samples: int, n_kernels: int, dtype: DTypeLike = np.float64) -> None:
        self._allocate(_panel_edges(n_samples), n_kernels, np.dtype(dtype))

    def _allocate(self, edges: list[int], n_kernels: int, dtype: np.dtype[Any]) -> None:
        n_samples = edges[-1]
        shapes = [(n_kernels, e - s, n_samples - s) for s, e in pairwise(edges)]
        n_bytes = dtype.itemsize * sum(int(np.prod(shape)) for shape in shapes)
        check_memory(
            n_bytes,
            f"{n_kernels:,} kernels × {n_samples:,}² × {dtype.itemsize} B, packed symmetric,",
        )
        self.dtype, self._edges = dtype, edges
        self._panels: list[Array] = [np.empty(shape, dtype) for shape in shapes]

    @classmethod
    def _with_edges(cls, edges: list[int], n_kernels: int, dtype: np.dtype[Any]) -> PackedBank:
        """A bank, not yet filled, whose panels end at the rows given."""
        bank = object.__new__(cls)
        bank._allocate(edges, n_kernels, dtype)
        return bank

    @classmethod
    def from_grams(cls, grams: Iterable[Array], dtype: DTypeLike = np.float64) -> PackedBank:
        """Pack an array of shape (n_kernels, n, n) or a sequence of (n, n) matrices."""
        matrices = list(grams)
        bank = cls(len(matrices[0]), len(matrices), dtype)
        for m, K in enumerate(matrices):
            bank.set_kernel(m, K)
        return bank

    @property
    def n_kernels(self) -> int:
        """Number of kernels, M."""
        return len(self._panels[0])

    @property
    def n_samples(self) -> int:
        """Number of samples, n."""
        return self._edges[-1]

    @property
    def nbytes(self) -> int:
        """Bytes of storage."""
        return sum(panel.nbytes for panel in self._panels)

    def set_kernel(self, m: int, K: Array) -> None:
        """Store the symmetric matrix K of shape (n, n) as kernel m."""
        for panel, s, e in self._each_panel():
            panel[m] = K[s:e, s:]

    def gram(self, m: int) -> Array:
        """Kernel m as a square float64 matrix."""
        K = np.empty((self.n_samples, self.n_samples))
        for panel, s, e in self._each_panel():
            _fill(K, panel[m], s, e)
        return K

    def combine(self, d: Array) -> Array:
        r"""The combined matrix :math:`\sum_m d_m K_m`; long runs of weight zero are not read."""
        runs = _runs(np.flatnonzero(d))
        self._passes += sum(len(run) for run in runs) / self.n_kernels
        K = np.zeros((self.n_samples, self.n_samples))
        for panel, s, e in self._each_panel():
            rows = np.zeros(panel[0].size)
            for index, flat in self._pieces(panel, runs):
                if flat.flags.c_contiguous:
                    rows = dgemv(1.0, flat.T, d[index], beta=1.0, y=rows, overwrite_y=True)
                else:  # every so many kernels of a bank
                    rows += d[index] @ flat
            _fill(K, rows.reshape(panel[0].shape), s, e)
        return K

    def apply(self, A: Array, kernels: Index | None = None) -> Array:
        r"""The products :math:`K_m A`, shape (n_kernels, n, T)."""
        kernels = (
            np.arange(self.n_kernels) if kernels is None else np.asarray(kernels, dtype=np.intp)
        )
        self._passes += len(kernels) / self.n_kernels
        out = np.zeros((len(kernels), *A.shape))
        run = _as_slice(kernels)
        for panel, s, e in self._each_panel():
            size = max(1, _CACHE_BYTES // (8 * panel[0].size))
            chosen = panel[run] if isinstance(run, slice) else None  # a view, where it is one
            for start in range(0, len(kernels), size):
                part = slice(start, start + size)
                chunk = panel[kernels[part]] if chosen is None else chosen[part]
                chunk = chunk.astype(np.float64, copy=False)
                V = out[part]
                V[:, s:e] += _rows_times(chunk, A[s:])
                V[:, e:] += _columns_times(chunk[:, :, e - s :], A[s:e])
        return out

    def weighted_apply(self, V: Array) -> Array:
        r"""The sum :math:`\sum_m K_m V_m` for V of shape (M, n, T): shape (n, T)."""
        self._passes += 1.0
        out = np.zeros(V.shape[1:])
        for panel, s, e in self._each_panel():
            size = max(1, _CACHE_BYTES // (8 * panel[0].size))
            for start in range(0, self.n_kernels, size):
                chunk = panel[start : start + size].astype(np.float64, copy=False)
                part = V[start : start + size]
                out[s:e] += np.matmul(chunk, part[:, s:]).sum(axis=0)
                right = chunk[:, :, e - s :].transpose(0, 2, 1)
                out[e:] += np.matmul(right, part[:, s:e]).sum(axis=0)
        return out

    def traces(self, S: Array) -> Array:
        r"""The traces :math:`\operatorname{tr}(S K_m)`; a stack of S gives one row each."""
        if S.ndim == 3:
            return np.stack([self.traces(part) for part in S])
        return self._inner_products(lambda s, e: S[s:e, s:].copy())

    def quadratic(self, A: Array) -> Array:
        r"""The quadratic forms :math:`\operatorname{tr}(A^\top K_m A)`, shape (M,)."""
        return np.maximum(self._inner_products(lambda s, e: A[s:e] @ A[s:].T), 0.0)

    def _inner_products(self, rows: Callable[[int, int], Array]) -> Array:
        """Frobenius products of every kernel with one symmetric matrix, given by its panels."""
        self._passes += 1.0
        out = np.zeros(self.n_kernels)
        for panel, s, e in self._each_panel():
            S = rows(s, e)
            S[:, e - s :] *= 2.0  # an entry right of the diagonal block stands for two
            for index, flat in self._pieces(panel, [range(self.n_kernels)]):
                out[index] += flat @ S.ravel()
        return out

    def square_norms(self, s: Array) -> Array:
        r"""The squared norms :math:`\sum_{ij} s_i^2 s_j^2 K_{m,ij}^2`, shape (M,)."""
        self._passes += 1.0
        squares = np.zeros(self.n_kernels)
        for panel, start, stop in self._each_panel():
            factor = np.outer(s[start:stop] ** 2, s[start:] ** 2)
            factor[:, stop - start :] *= 2.0  # an entry right of the diagonal block stands for two
            for index, flat in self._pieces(panel, [range(self.n_kernels)]):
                squares[index] += np.einsum("mi,mi,i->m", flat, flat, factor.ravel())
        return squares

    def eigenvalue_bounds(self) -> Array:
        """Upper bounds of the largest eigenvalues: Frobenius norms, which lie below the traces."""
        return np.sqrt(self.square_norms(np.ones(self.n_samples)))

    def select(self, kernels: Index | Sequence[int]) -> PackedBank:
        """The bank of some of the kernels: a view where they are evenly spaced, else a copy."""
        index = np.asarray(kernels, dtype=np.intp)
        part = object.__new__(PackedBank)
        part.dtype, part._edges = self.dtype, self._edges
        part._panels = [panel[_as_slice(index)] for panel in self._panels]
        return part

    def take(self, samples: Index) -> PackedBank:
        """The bank of the same kernels on some of the samples (a copy); fastest in their order."""
        if np.any(np.diff(samples) <= 0):
            part = PackedBank(len(samples), self.n_kernels, self.dtype)
            for m in range(self.n_kernels):
                part.set_kernel(m, self.gram(m)[np.ix_(samples, samples)])
            return part
        edges = np.searchsorted(samples, self._edges)  # every panel is cut out of one of ours
        part = PackedBank._with_edges(np.unique(edges).tolist(), self.n_kernels, self.dtype)
        panels = iter(part._panels)
        for (panel, s, _), start, stop in zip(self._each_panel(), edges, edges[1:], strict=False):
            if start < stop:
                rows, columns = samples[start:stop] - s, samples[start:] - s
                entries = np.add.outer(rows * panel.shape[2], columns).ravel()
                out = next(panels).reshape(self.n_kernels, -1)
                np.take(panel.reshape(self.n_kernels, -1), entries, axis=1, out=out, mode="clip")
        return part

    def _each_panel(self) -> Iterator[tuple[Array, int, int]]:
        yield from zip(self._panels, self._edges[:-1], self._edges[1:], strict=True)

    def _pieces(self, panel: Array, runs: list[range]) -> Iterator[tuple[slice, Array]]:
        """Runs of kernels as float64 rows: in place, or converted in cache-sized pieces."""
        size = (
            len(panel) if panel.dtype == np.float64 else max(1, _CACHE_BYTES // (8 * panel[0].size))
        )
        for run in runs:
            for start in range(run.start, run.stop, size):
                index = slice(start, min(start + size, run.stop))
                piece = panel[index].astype(np.float64, copy=False)
                yield index, piece.reshape(len(piece), -1)


def _rows_times(chunk: Array, A: Array) -> Array:
    """The products of every matrix of a chunk with A; BLAS is slow on one vector of short rows."""
    if A.shape[1] == 1 and len(A) < _SHORT:
        return np.asarray(np.einsum("mij,j->mi", chunk, A[:, 0])[:, :, np.newaxis])
    if A.shape[1] == 1:
        product: Array = chunk.reshape(-1, chunk.shape[2]) @ A
        return product.reshape(*chunk.shape[:2], -1)
    return np.asarray(np.matmul(chunk, A))


def _columns_times(chunk: Array, A: Array) -> Array:
    """The products of the transpose of every matrix of a chunk with A."""
    if A.shape[1] == 1 and chunk.shape[2] < _SHORT:
        return np.asarray(np.einsum("mij,i->mj", chunk, A[:, 0])[:, :, np.newaxis])
    return np.asarray(np.matmul(chunk.transpose(0, 2, 1), A))


def _fill(K: Array, rows: Array, s: int, e: int) -> None:
    K[s:e, s:] = rows
    K[e:, s:e] = rows[:, e - s :].T


def _runs(kernels: Index) -> list[range]:
    """Ranges of consecutive kernels; gaps too small to be worth skipping are bridged."""
    if not len(kernels):
        return []
    breaks = np.flatnonzero(np.diff(kernels) > _BRIDGED_GAP) + 1
    parts = np.split(kernels, breaks)
    return [range(int(part[0]), int(part[-1]) + 1) for part in parts]


def _as_slice(index: Index) -> Any:
    """The slice equal to an evenly spaced increasing index, so that numpy makes a view."""
    steps = np.diff(index)
    if len(index) and np.all(steps == (steps[0] if len(steps) else 1)) and np.all(steps > 0):
        return slice(int(index[0]), int(index[-1]) + 1, int(steps[0]) if len(steps) else 1)
    return index
