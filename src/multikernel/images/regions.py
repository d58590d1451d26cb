"""Histograms of words over an image and over its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Points

Array = NDArray[np.float64]
LEVELS = (1, 2, 4)


def histogram(words: NDArray[np.intp], n_words: int) -> Array:
    """How often every word occurs, as shares that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.images import histogram
    >>> histogram(np.array([0, 2, 2, 2]), 4)
    array([0.25, 0.  , 0.75, 0.  ])
    """
    return normalize_counts(np.bincount(words, minlength=n_words))


def normalize_counts(counts: Any) -> Array:
    """Counts as shares that sum to one along the last axis; those of nothing stay zero."""
    counts = np.asarray(counts, dtype=np.float64)
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0))


def region_counts(
    words: NDArray[np.intp],
    points: Points,
    shape: tuple[int, ...],
    n_words: int,
    levels: Sequence[int] = LEVELS,
) -> Array:
    """How often every word occurs in every cell of coarse and fine grids.

    Parameters
    ----------
    words : array of int of shape (n_points,)
    points : array of int of shape (n_points, 2)
        Columns x and y.
    shape : tuple
        Height and width of the image.
    n_words : int
    levels : sequence of int, default=(1, 2, 4)
        Cells along a side: the whole image, quarters, sixteenths.

    Returns
    -------
    counts : array of shape (sum of levels ** 2, n_words)
        Cells of the first level first, row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.images import region_counts
    >>> words, points = np.array([0, 1]), np.array([[0, 0], [9, 9]])
    >>> region_counts(words, points, (10, 10), 2, levels=(1, 2))
    array([[1., 1.],
           [1., 0.],
           [0., 0.],
           [0., 0.],
           [0., 1.]])
    """
    x, y = points.T
    parts = []
    for level in levels:
        cell = (y * level // shape[0]) * level + x * level // shape[1]
        flat = np.bincount(cell * n_words + words, minlength=level**2 * n_words)
        parts.append(flat.reshape(level**2, n_words))
    return np.concatenate(parts).astype(np.float64)


def pyramid(counts: Any, levels: Sequence[int] = LEVELS) -> Array:
    r"""All cells as one long histogram in which finer levels count more.

    Parameters
    ----------
    counts : array of shape (..., sum of levels ** 2, n_words)
        Counts or shares of words in the cells of :func:`region_counts`.
    levels : sequence of int, default=(1, 2, 4)

    Returns
    -------
    histogram : array of shape (..., sum of levels ** 2 * n_words)

    Notes
    -----
    Level l of L + 1 gets the weight :math:`2^{-L}` for l = 0 and :math:`2^{l - L - 1}` above, as
    in the spatial pyramid of Lazebnik et al. (2006).
    """
    counts = np.asarray(counts, dtype=np.float64)
    n_cells = [level**2 for level in levels]
    if counts.shape[-2] != sum(n_cells):
        raise ValueError(
            f"levels {tuple(levels)} have {sum(n_cells)} cells, got counts of {counts.shape[-2]}."
        )
    last = len(levels) - 1
    by_level = [2.0 ** (max(position, 1) - last - 1) for position in range(len(levels))]
    weighted = counts * np.repeat(by_level, n_cells)[:, np.newaxis]
    return np.asarray(weighted.reshape(*counts.shape[:-2], -1))
