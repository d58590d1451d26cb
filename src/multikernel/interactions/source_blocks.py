"""Blocks of ones over groups of kernels, such as those of one data source."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ..solvers import Problem
from .base import Interaction


@dataclass(repr=False, eq=False)
class SourceBlocks(Interaction):
    r"""Let kernels of one source compete with each other, but not with those of other sources.

    Use it alone to choose few kernels within every source and keep all sources, or add it to a
    :class:`GraphLaplacian`, which bounds no weight by itself.

    Parameters
    ----------
    groups : "source" or sequence of labels, one per kernel, default="source"
        Kernels with equal labels form a block; by default those of one data source.

    See Also
    --------
    GroupNorm : Norms over groups, also those that choose few groups.

    Notes
    -----
    .. math:: Q = \sum_c \mathbf 1_c \mathbf 1_c^\top, \qquad
              d^\top Q d = \sum_c \Big(\sum_{m \in c} d_m\Big)^2 :

    a 1-norm inside blocks and a 2-norm across them.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> bank = PackedBank.from_grams([np.eye(2), np.eye(2), np.eye(2)])
    >>> problem = Problem(bank, np.zeros((2, 1)), Squared(), Uniform())
    >>> SourceBlocks().matrix(problem, ["scan", "genes", "scan"])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """

    groups: str | Sequence[Hashable] = "source"

    examples: ClassVar = ({}, {"groups": [0, 0, 1, 1, 1, 2]})

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The matrix that is one where two kernels share a label."""
        by_source = isinstance(self.groups, str) and self.groups == "source"
        labels = list(sources if by_source else self.groups)
        if len(labels) != problem.bank.n_kernels:
            raise ValueError(
                f"SourceBlocks: groups must be 'source' or hold one label per kernel; it has "
                f"{len(labels)} labels for {problem.bank.n_kernels} kernels."
            )
        number = {label: c for c, label in enumerate(dict.fromkeys(labels))}
        index = np.array([number[label] for label in labels])
        return np.array(index[:, np.newaxis] == index, dtype=np.float64)
