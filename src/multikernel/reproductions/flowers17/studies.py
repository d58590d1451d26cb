"""Distances between flowers, and their splits: our own from images, or those of the authors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import additive_chi2_kernel

from ...datasets import mean_distance_grams
from .albums import Album
from .features import DESCRIPTIONS, descriptors, histograms
from .methods import Kernels

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    n_classes: int = 17
    n_each: int = 80
    parts: tuple[int, int, int] = (40, 20, 20)  # training, validation, test, of every class
    n_splits: int = 3
    Cs: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)
    max_iter: int = 500
    n_sample: int = 60_000  # descriptors from which a vocabulary is learned
    max_words: int = 800


@dataclass(frozen=True)
class Split:
    """Positions of the images of one split."""

    train: Index
    validation: Index
    test: Index


@dataclass(frozen=True)
class Study:
    """Distances between all images for every description, their classes, and a split."""

    distances: dict[str, NDArray[np.float64]]
    y: Index
    split: Split

    def kernels(self, train: Index, query: Index) -> Kernels:
        """Kernels exp(-D / mean D) with the mean over training pairs."""
        K = mean_distance_grams(self.distances, np.concatenate([train, query]), train)
        return Kernels(K[: len(train)], K[len(train) :], list(self.distances))


class Source(Protocol):
    """What has a study for every split."""

    @property
    def origin(self) -> str:
        """What the distances were made of."""

    @property
    def names(self) -> list[str]:
        """The descriptions."""

    def study(self, k: int, sizes: Sizes) -> Study:
        """The study of the k-th split."""


@dataclass(frozen=True)
class FromImages:
    """Images described anew, and splits drawn by seeds."""

    album: Album

    @property
    def origin(self) -> str:
        """What the distances were made of."""
        return "images"

    @property
    def names(self) -> list[str]:
        """The descriptions."""
        return list(DESCRIPTIONS)

    def study(self, k: int, sizes: Sizes) -> Study:
        """The study of the k-th split, kept until another one is asked for."""
        return image_study(self.album, k, sizes)


@dataclass(frozen=True)
class FromAuthors:
    """The authors' distance matrices and splits, as ``load_flowers17`` reads them."""

    data: Any

    @property
    def origin(self) -> str:
        """What the distances were made of."""
        return "the authors' distances"

    @property
    def names(self) -> list[str]:
        """The descriptions."""
        return list(self.data.distances)

    def study(self, k: int, sizes: Sizes) -> Study:
        """The study of the k-th split."""
        return Study(self.data.distances, self.data.y, Split(**self.data.splits[k]))


@lru_cache(maxsize=1)
def image_study(album: Album, k: int, sizes: Sizes) -> Study:
    """Describe the images, learn words without the test images, and compare histograms."""
    split = draw_split(album.y, sizes.parts, seed=k)
    learn = np.concatenate([split.train, split.validation]).tolist()
    distances = {}
    for name, values in descriptors(album).items():
        H = histograms(
            values, name, learn, seed=k, n_sample=sizes.n_sample, max_words=sizes.max_words
        )
        distances[name] = np.asarray(-additive_chi2_kernel(H))
    return Study(distances, album.y, split)


def draw_split(y: Index, parts: tuple[int, int, int], seed: int) -> Split:
    """Equally many images of every class for training, validation and test."""
    rng, cuts = np.random.default_rng(seed), np.cumsum(parts)
    shuffled = [rng.permutation(np.flatnonzero(y == c))[: cuts[-1]] for c in range(y.max() + 1)]
    classes = [np.split(rows, cuts[:-1]) for rows in shuffled]
    joined = [np.sort(np.concatenate(part)) for part in zip(*classes, strict=True)]
    return Split(*joined)
