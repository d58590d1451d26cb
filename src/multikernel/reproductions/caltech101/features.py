"""From images to distances between their histograms of visual words, region by region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...images import Sift, Vocabulary, grid_points, normalize_counts, region_counts
from .arrangement import CHI2, FAMILIES, GAUSSIAN, Arrangement

DESCRIPTORS = {
    "hsv-SIFT, adaptive": Sift("hsv", "adaptive"),
    "SIFT, adaptive": Sift("grey", "adaptive"),
    "SIFT, 4 px": Sift("grey", 4.0),
    "SIFT, 8 px": Sift("grey", 8.0),
}
N_WORDS = 200
STEP = 8  # pixels between the points of the grid
_BATCH = 20  # images whose differences are in memory at once


def distances(images: Sequence[Any], arrangement: Arrangement, seed: int) -> NDArray[np.float32]:
    r"""Distances between images, shape (n_descriptors, n_cells, n_families, n, n).

    Notes
    -----
    Words are 200 descriptors drawn at random from all images, whose labels are not known here.
    The histogram q of every cell sums to one. The Gaussian family has
    :math:`\sum_j (q_j - q'_j)^2`, the other :math:`\sum_j (q_j - q'_j)^2 / (q_j + q'_j)`.
    """
    points = [grid_points(image.shape, STEP) for image in images]
    parts = []
    for name in arrangement.descriptors:
        found = [
            DESCRIPTORS[name].describe(image, where)
            for image, where in zip(images, points, strict=True)
        ]
        vocabulary = Vocabulary(N_WORDS, method="random", random_state=seed)
        vocabulary.fit(np.concatenate(found))
        counts = [
            region_counts(vocabulary.assign(X), where, image.shape, N_WORDS, arrangement.levels)
            for X, where, image in zip(found, points, images, strict=True)
        ]
        parts.append(_between(normalize_counts(np.stack(counts, axis=1))))
    return np.stack(parts)


def _between(histograms: NDArray[np.float64]) -> NDArray[np.float32]:
    """Distances of both families in every cell, from shares of shape (n_cells, n, n_words)."""
    n_cells, n, _ = histograms.shape
    out = np.zeros((n_cells, len(FAMILIES), n, n), dtype=np.float32)
    for cell, shares in enumerate(histograms.astype(np.float32)):
        for start in range(0, n, _BATCH):
            rows = shares[start : start + _BATCH, np.newaxis]
            squares, sums = (rows - shares) ** 2, rows + shares
            relative = np.divide(squares, sums, out=np.zeros_like(sums), where=sums > 0)
            part = slice(start, start + _BATCH)
            out[cell, FAMILIES.index(GAUSSIAN), part] = squares.sum(axis=2)
            out[cell, FAMILIES.index(CHI2), part] = relative.sum(axis=2)
    return out


def typical_distances(distances: NDArray[np.float32]) -> dict[str, float]:
    """The median distance of every family between different images, over descriptors and cells."""
    pairs = distances[..., *np.triu_indices(distances.shape[-1], 1)]
    return {family: float(np.median(pairs[:, :, k])) for k, family in enumerate(FAMILIES)}
