"""Caltech101: 1,760 kernels on images of cannons, cups and ants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..base import DataFile, Experiment, Summary
from .arrangement import Arrangement
from .comparison import N_FOLDS, N_REPEATS, compare
from .features import DESCRIPTORS, distances
from .splits import PROBLEMS, Task, read_task
from .sums import compare_sums, is_sum_key, sum_key

CLASSES = ("ant", "cannon", "cup")
_FOLDER = "caltech101_3class"
_SEED = 0  # of the words
_QUICK_IMAGES = 30  # of every class


@dataclass(frozen=True)
class Images:
    """What all tasks share: classes, and distances of both families in every cell."""

    labels: NDArray[np.str_]
    distances: NDArray[np.float32]


class Caltech101(Experiment):
    """Uniform, sparse and elastic combinations of 1,760 kernels on three pairs of classes."""

    name: ClassVar[str] = "caltech101"
    title: ClassVar[str] = "Does it pay to learn the weights of 1,760 kernels on images?"
    paper: ClassVar[str] = (
        "Tomioka and Suzuki (2010), Regularization strategies and empirical Bayesian learning for "
        "MKL, arXiv:1011.3090, Section 4 and Figures 1-3."
    )
    needs: ClassVar[tuple[DataFile, ...]] = (
        DataFile(
            _FOLDER,
            "the folders ant, cannon and cup of Caltech-101 with their JPEG files",
            "https://data.caltech.edu/records/mzrjq-6wc02",
        ),
    )
    stand_in_name: ClassVar[str] = "drawings of ants, cannons and cups"

    @property
    def arrangement(self) -> Arrangement:
        """The kernels."""
        if self.quick:
            return Arrangement(("SIFT, adaptive", "SIFT, 8 px"), levels=(1, 2), n_widths=3)
        return Arrangement(tuple(DESCRIPTORS))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Training images of each class."""
        return (10, 20) if self.quick else (10, 15, 20, 30, 40)

    @property
    def n_splits(self) -> int:
        """Random splits of every problem and size."""
        return 2 if self.quick else 20

    @property
    def settings(self) -> dict[str, Any]:
        """What a run must have in common with the one that goes on with it."""
        return {
            "kernels": list(self.arrangement.shape),
            "sizes": list(self.sizes),
            "folds": f"{N_REPEATS} x {N_FOLDS}, balanced",
        }

    def load(self, folder: Path) -> Images:
        """Read the images, and compute distances between their histograms of words."""
        from ...images import read_image

        files = {name: sorted((folder / _FOLDER / name).glob("*.jpg")) for name in CLASSES}
        for name, found in files.items():
            if len(found) <= max(self.sizes):
                raise ValueError(
                    f"{folder / _FOLDER / name} holds {len(found)} JPEG files; more than "
                    f"{max(self.sizes)} are needed, of which some are for testing."
                )
        return self._prepared(
            {
                name: [read_image(path) for path in self._some(found)]
                for name, found in files.items()
            }
        )

    def stand_in(self) -> Images:
        """Drawings with the names and numbers of the original images."""
        from .drawings import draw

        counts = dict(zip(CLASSES, (42, 43, 57), strict=True))
        return self._prepared(
            {name: [draw(name, k) for k in self._some(range(counts[name]))] for name in CLASSES}
        )

    def _some(self, items: Any) -> Any:
        return items[:_QUICK_IMAGES] if self.quick else items

    def _prepared(self, images: Mapping[str, list[Any]]) -> Images:
        labels = np.repeat(list(images), [len(part) for part in images.values()])
        together = [image for part in images.values() for image in part]
        return Images(labels, distances(together, self.arrangement, _SEED))

    def tasks(self, data: Images) -> list[str]:
        """All pairs of classes and sizes of the first split, then those of the next; then sums."""
        comparisons = [
            Task(*problem, size, split).key
            for split in range(self.n_splits)
            for problem in PROBLEMS
            for size in self.sizes
        ]
        return [*comparisons, *(sum_key(split) for split in range(self.n_splits))]

    def run(self, task: str, data: Images) -> dict[str, Any]:
        """All methods on one training set; weights are kept for the largest."""
        if is_sum_key(task):
            return compare_sums(task, data.distances, data.labels, self.arrangement, self.sizes)
        parsed = read_task(task)
        largest = parsed.size == max(self.sizes)
        return compare(parsed, data.distances, data.labels, self.arrangement, largest)

    def summarize(self, results: Mapping[str, dict[str, Any]], data: Images) -> Summary:
        """Accuracies, weights and counts of kernels beside what the paper says."""
        from .summary import summarize

        by_task = {read_task(key): r for key, r in results.items() if not is_sum_key(key)}
        sums = [result for key, result in results.items() if is_sum_key(key)]
        return summarize(by_task, sums, self.arrangement, data.distances)
