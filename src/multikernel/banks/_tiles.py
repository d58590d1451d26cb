"""Tiles of a packed bank: runs of samples, and pieces of many kernels that stay in cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._component import Array
from .base import Index

WIDEST = 1e20  # weight whose products with kernels single precision can hold, or its inverse
_CACHE_BYTES = 4 << 20  # a chunk of this size is still in cache when it is read the second time
_MAX_RUNS = 8  # of all parts together, unless they are more
_MIN_RUN = 32  # samples, unless a part has fewer
_BRIDGED_BYTES = 1 << 17  # of kernels that are read though they are not asked for
_NARROW = 64  # columns, from which a product with each of them costs less than with all entries
_TINY = 32  # columns, up to which BLAS is fast on one vector
_SHORT = 512  # columns, from which it is again
_BATCH = 20  # small matrices that BLAS multiplies in place, with no copy
_PIECE = 1 / 8  # of a chunk: neighbours that fill less are gathered into one


def run_edges(parts: Sequence[Index]) -> list[int]:
    """Where runs of samples end that make up the parts."""
    edges, most = [0], max(1, _MAX_RUNS // len(parts))
    for part in parts:
        n_runs = int(np.clip(len(part) // _MIN_RUN, 1, most))
        edges += [edges[-1] + round(i * len(part) / n_runs) for i in range(1, n_runs + 1)]
    return edges


def chunk_size(*tiles: Array) -> int:
    """The number of kernels of which each tile stays in cache."""
    return max(1, _CACHE_BYTES // (8 * max(int(tile[0].size) for tile in tiles)))


def chunks(kernels: Index, size: int) -> list[tuple[slice, Any]]:
    """Up to so many kernels at a time: where they are among all, and what takes them from a tile.

    That is a slice, which makes a view, where they are evenly spaced or have enough neighbours.
    """
    parts = [slice(i, min(i + size, len(kernels))) for i in range(0, len(kernels), size)]
    run = as_slice(kernels)
    if isinstance(run, slice):
        every = range(run.start, run.stop, run.step)
        return [(p, slice(every[p.start], every[p.stop - 1] + 1, run.step)) for p in parts]
    breaks = (np.flatnonzero(np.diff(kernels) != 1) + 1).tolist()
    if _PIECE * size * (len(breaks) + 1) >= len(kernels):  # few neighbours
        return [(part, kernels[part]) for part in parts]
    found = []
    for first, last in pairwise([0, *breaks, len(kernels)]):
        for start in range(first, last, size):
            stop, k = min(start + size, last), int(kernels[start])
            found.append((slice(start, stop), slice(k, k + stop - start)))
    return found


def times(chunk: Array, A: Array) -> Array:
    """The products of every matrix of a chunk with A."""
    if A.shape[1] == 1 and _TINY < len(A) < _SHORT:
        return np.asarray(np.einsum("mij,j->mi", chunk, A[:, 0])[:, :, np.newaxis])
    if A.shape[1] == 1 and len(A) >= _SHORT:
        product: Array = chunk.reshape(-1, chunk.shape[2]) @ A
        return product.reshape(*chunk.shape[:2], -1)
    return np.asarray(np.matmul(chunk, A))


def transposed_times(chunk: Array, A: Array) -> Array:
    """The products of the transpose of every matrix of a chunk, by now in cache, with A."""
    if A.shape[1] == 1:
        return np.asarray(np.matmul(A[:, 0], chunk)[:, :, np.newaxis])
    return np.asarray(np.matmul(chunk.transpose(0, 2, 1), A))


def forms(flat: Array, a: Array, b: Array) -> Array:
    """The forms aᵀ T b of every matrix T, given as a row."""
    return np.asarray(flat @ np.outer(a, b).ravel())


def paired_forms(chunk: Array, A: Array, B: Array) -> Array:
    """The forms aᵀ T b of every matrix T of a chunk with matching columns of A and B, shape (m, k).

    Small matrices are multiplied with all of a bᵀ, several at a time, which BLAS does in place.
    """
    m, k = len(chunk), A.shape[1]
    if len(B) >= _NARROW:
        product = times(chunk, B)
        return np.stack([product[:, :, t] @ A[:, t] for t in range(k)], axis=1)
    flat, outer = chunk.reshape(m, -1), (A[:, np.newaxis] * B).reshape(-1, k)
    whole = m - m % _BATCH
    batches = np.matmul(flat[:whole].reshape(-1, _BATCH, flat.shape[1]), outer)
    return np.concatenate([batches.reshape(whole, k), flat[whole:] @ outer])


def fill(K: Array, entries: Array, rows: slice, columns: slice) -> None:
    """Entries of a symmetric matrix and their mirror images."""
    K[rows, columns] = entries
    if rows != columns:
        K[columns, rows] = entries.T


def runs_of(kernels: Index, tile: Array) -> list[range]:
    """Ranges of consecutive kernels; gaps too small to be worth skipping are bridged."""
    if not len(kernels):
        return []
    bridged = _BRIDGED_BYTES // (tile.itemsize * int(tile[0].size))
    breaks = np.flatnonzero(np.diff(kernels) > 1 + bridged) + 1
    parts = np.split(kernels, breaks)
    return [range(int(part[0]), int(part[-1]) + 1) for part in parts]


def pieces(tile: Array, runs: list[range], sums: DTypeLike) -> Iterator[tuple[slice, Array]]:
    """Runs of kernels as rows: in place, or converted to another type in cache-sized pieces."""
    size = len(tile) if tile.dtype == sums else chunk_size(tile)
    for run in runs:
        for start in range(run.start, run.stop, size):
            index = slice(start, min(start + size, run.stop))
            piece = tile[index].astype(sums, copy=False)
            yield index, piece.reshape(len(piece), -1)


def combinations(chunk: Array, D: Array) -> Array:
    """Several sums of the matrices of a chunk, with weights D of shape (m, k): (rows, k, columns).

    Row by row, since BLAS is slow on the product of a few rows with long ones.
    """
    return np.asarray(np.matmul(D.T, chunk.transpose(1, 0, 2)))


def as_slice(index: Index) -> Any:
    """The slice equal to an evenly spaced increasing index, so that numpy makes a view."""
    steps = np.diff(index)
    if len(index) and np.all(steps == (steps[0] if len(steps) else 1)) and np.all(steps > 0):
        return slice(int(index[0]), int(index[-1]) + 1, int(steps[0]) if len(steps) else 1)
    return index
