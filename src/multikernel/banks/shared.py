"""Shared sweeps: one reading of a packed bank answers for several sets of its samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from .._component import Array
from .._linalg import Matrix, SingleMatrix, column_sizes
from .._memory import available_memory
from ._tiles import (
    WIDEST,
    chunk_size,
    chunks,
    combinations,
    fill,
    paired_forms,
    pieces,
    runs_of,
    times,
    transposed_times,
)
from .base import Index

_HELD = 6  # products of all kernels, or multiples of them, that who asks may hold at a time

Tile = tuple[Array, slice, slice]  # entries of all kernels, and the rows and columns they are of


class _Place(NamedTuple):
    """Where the samples of a set are among those of the tiles, and its runs among its own."""

    samples: Index
    starts: dict[int, int]

    @classmethod
    def of(cls, samples: Index, tiles: Sequence[Tile]) -> _Place:
        """The place of a set made of whole runs."""
        runs = np.intersect1d([rows.start for _, rows, _ in tiles], samples)
        places = np.searchsorted(samples, runs)
        return cls(samples, dict(zip(runs.tolist(), places.tolist(), strict=True)))

    def holds(self, run: slice) -> bool:
        """Whether a run is in the set."""
        return run.start in self.starts

    def inside(self, run: slice) -> slice:
        """The positions of a run in the set."""
        at = self.starts[run.start]
        return slice(at, at + run.stop - run.start)


class SharedSweeps:
    r"""Sweeps over the tiles of a packed bank for several sets of samples at once.

    A sweep takes as long as entries take from memory to the processor; what else is done with an
    entry while it is there costs little. The sets are the folds of a cross-validation, say; one of
    them may ask several questions at a time, next to each other. All that is asked and answered is
    in the order of the samples of the set.

    Parameters
    ----------
    tiles : sequence of (array of shape (n_kernels, n_rows, n_columns), rows, columns)
    sums : {float64, float32}
        In which the entries of a tile are added up.
    sets : sequence of arrays of int
        Positions in the order of the tiles, increasing, whole runs each.

    Attributes
    ----------
    n_passes : float
        Sweeps over all kernels so far.
    """

    def __init__(self, tiles: Sequence[Tile], sums: DTypeLike, sets: Sequence[Index]) -> None:
        self._tiles, self._sums = tiles, sums
        self._places = [_Place.of(samples, tiles) for samples in sets]
        self._n_kernels, self._n_samples = len(tiles[0][0]), tiles[-1][2].stop
        self._chunk = chunk_size(*(tile for tile, _, _ in tiles))
        self.n_passes = 0.0

    def most(self, n_outputs: int, n_workers: int = 1) -> int:
        """How many questions to ask at a time, so that answers take no more memory than the tiles.

        0 where so much is not free for each of several workers: then folds are asked alone.
        """
        n, M = self._n_samples, self._n_kernels
        one = 8 * (n * n + _HELD * M * n * n_outputs)  # bytes of a combined kernel, and of products
        ours = sum(tile.nbytes for tile, _, _ in self._tiles)
        return ours // one if n_workers * ours <= available_memory() else 0

    def combine(self, sets: Sequence[int], ds: Sequence[Array], roughly: bool) -> list[Matrix]:
        r"""The matrix :math:`\sum_m d_m K_m` on every set."""
        places = [self._places[k] for k in sets]
        D, sizes = self._fitting(np.array(ds).T)
        single = self._sums == np.float32
        narrow = bool(np.all((sizes >= 1 / WIDEST) & (sizes <= WIDEST)))
        dtype: DTypeLike = np.float32 if single and roughly and narrow else np.float64
        Ks = [np.empty((len(place.samples),) * 2, dtype) for place in places]
        runs = runs_of(np.flatnonzero(D.any(axis=1)), self._tiles[0][0])
        self.n_passes += sum(len(run) for run in runs) / self._n_kernels
        for tile, rows, columns, asking in self._tiles_of(places):
            chosen = slice(asking[0], asking[-1] + 1)
            total = np.zeros((tile.shape[1], chosen.stop - chosen.start, tile.shape[2]), D.dtype)
            for index, piece in pieces(tile, runs, self._sums):
                total += combinations(piece.reshape(-1, *tile.shape[1:]), D[index, chosen])
            for k in asking:
                own = places[k].inside(rows), places[k].inside(columns)
                fill(Ks[k], total[:, k - chosen.start], *own)
        for K, size in zip(Ks, sizes, strict=True):
            K *= size
        return [SingleMatrix(K) if dtype == np.float32 else K for K in Ks]

    def apply(
        self, sets: Sequence[int], As: Sequence[Array], kernels: Index | None = None
    ) -> list[Array]:
        r"""The products :math:`K_m A` on every set, of all kernels or some: (n_kernels, n, T)."""
        kernels = np.arange(self._n_kernels) if kernels is None else kernels
        self.n_passes += len(kernels) / self._n_kernels
        places = [self._places[k] for k in sets]
        A, ends = self._side_by_side(places, As)
        A, sizes = self._fitting(A)
        out = np.zeros((len(kernels), A.shape[1], self._n_samples))
        parts = chunks(kernels, self._chunk)
        for tile, rows, columns, asking in self._tiles_of(places):
            own = slice(ends[asking[0]], ends[asking[-1] + 1])
            for part, chosen in parts:
                chunk = tile[chosen].astype(self._sums, copy=False)
                out[part, own, rows] += times(chunk, A[columns, own]).transpose(0, 2, 1)
                if rows != columns:
                    down = transposed_times(chunk, A[rows, own])
                    out[part, own, columns] += down.transpose(0, 2, 1)
        out *= sizes[:, np.newaxis]
        spans = zip(places, pairwise(ends), strict=True)
        return [
            np.moveaxis(out[:, start:end, place.samples], 1, 2) for place, (start, end) in spans
        ]

    def quadratic(self, sets: Sequence[int], As: Sequence[Array]) -> list[Array]:
        r"""The quadratic forms :math:`\operatorname{tr}(A^\top K_m A)` on every set, (M,)."""
        self.n_passes += 1.0
        places = [self._places[k] for k in sets]
        A, ends = self._side_by_side(places, As)
        A, sizes = self._fitting(A)
        out = np.zeros((self._n_kernels, A.shape[1]))
        parts = chunks(np.arange(self._n_kernels), self._chunk)
        for tile, rows, columns, asking in self._tiles_of(places):
            twice = 1.0 if rows == columns else 2.0  # a tile off the diagonal stands for two
            own = slice(ends[asking[0]], ends[asking[-1] + 1])
            for part, chosen in parts:
                chunk = tile[chosen].astype(self._sums, copy=False)
                out[part, own] += twice * paired_forms(chunk, A[rows, own], A[columns, own])
        out *= sizes**2
        return [np.maximum(out[:, a:b].sum(axis=1), 0.0) for a, b in pairwise(ends)]

    def _tiles_of(self, places: list[_Place]) -> Iterator[tuple[Array, slice, slice, list[int]]]:
        """Tiles with their rows and columns, and the numbers of the places that hold both."""
        for tile, rows, columns in self._tiles:
            asking = [
                k for k, place in enumerate(places) if place.holds(rows) and place.holds(columns)
            ]
            if asking:
                yield tile, rows, columns, asking

    def _side_by_side(self, places: list[_Place], As: Sequence[Array]) -> tuple[Array, list[int]]:
        """Arrays on sets as columns over all samples, zero elsewhere, and where each set ends."""
        ends = np.cumsum([0, *(A.shape[1] for A in As)]).tolist()
        out = np.zeros((self._n_samples, ends[-1]))
        for place, A, (start, end) in zip(places, As, pairwise(ends), strict=True):
            out[place.samples, start:end] = A
        return out, ends

    def _fitting(self, A: Array) -> tuple[Array, Array]:
        """Columns in the type of the sums, and the numbers they were divided by to fit into it."""
        if self._sums == np.float64:
            return A, np.ones(A.shape[1])
        sizes = column_sizes(A)
        return (A / sizes).astype(self._sums), sizes
