"""The kernels of the experiment: every descriptor, region, family and width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._component import Array

LEVELS = (1, 2, 4)  # cells along a side: the whole image, quarters, sixteenths
GAUSSIAN, CHI2 = "Gaussian", "χ²"
FAMILIES = (GAUSSIAN, CHI2)
RANGES = {GAUSSIAN: (0.1, 5.0), CHI2: (0.1, 10.0)}  # of γ


@dataclass(frozen=True)
class Arrangement:
    """Kernels in the order of their four axes, of which the last varies fastest.

    Parameters
    ----------
    descriptors : tuple of str
    levels : tuple of int
        Cells along a side; all cells of all levels are regions, and so is their pyramid.
    n_widths : int
        Widths of every family, evenly spaced in the range of the paper.
    """

    descriptors: tuple[str, ...]
    levels: tuple[int, ...] = LEVELS
    n_widths: int = 10

    @property
    def n_cells(self) -> int:
        """Cells of all levels."""
        return sum(level**2 for level in self.levels)

    @property
    def regions(self) -> tuple[str, ...]:
        """Cells of the coarsest level first, row by row; the pyramid last."""
        cells = [
            "whole" if level == 1 else f"{level}×{level} ({row + 1}, {column + 1})"
            for level in self.levels
            for row in range(level)
            for column in range(level)
        ]
        return (*cells, "pyramid")

    def widths(self, family: str) -> Array:
        """The parameters γ of a family."""
        low, high = RANGES[family]
        return np.linspace(low, high, self.n_widths)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Numbers of descriptors, regions, families and widths."""
        return len(self.descriptors), len(self.regions), len(FAMILIES), self.n_widths

    @property
    def n_kernels(self) -> int:
        """Number of kernels, 1,760 in the paper."""
        return int(np.prod(self.shape))

    def names(self) -> Iterator[tuple[str, str, str, float]]:
        """Descriptor, region, family and width of every kernel."""
        for descriptor in self.descriptors:
            for region in self.regions:
                for family in FAMILIES:
                    for width in self.widths(family):
                        yield descriptor, region, family, float(width)

    def level_shares(self) -> Array:
        """The weight of every cell in the pyramid: halved with every coarser level, sum one."""
        last = len(self.levels) - 1
        by_level = [2.0 ** (max(k, 1) - last - 1) for k in range(len(self.levels))]
        counts = [level**2 for level in self.levels]
        return np.repeat(np.divide(by_level, counts), counts) / sum(by_level)
