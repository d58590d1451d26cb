"""One kernel alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ..solvers import Problem
from .base import WeightRule, of_mean_one


@dataclass(repr=False, eq=False)
class OneKernel(WeightRule):
    """Use one kernel, chosen by its position; a grid over it finds the best by cross-validation.

    Parameters
    ----------
    kernel : int, default=0
        Position of the kernel in ``weights_``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> problem = Problem(PackedBank.from_grams([np.eye(2)] * 3), np.eye(2), Squared(), Uniform())
    >>> OneKernel(1).weights(problem, "abc")
    array([0., 3., 0.])
    """

    kernel: int = 0
    examples: ClassVar = ({}, {"kernel": 1})

    def weights(self, problem: Problem, sources: Sequence[str]) -> Array:
        """All weight on that kernel."""
        if not 0 <= self.kernel < problem.bank.n_kernels:
            raise ValueError(
                f"OneKernel: kernel must be one of the {problem.bank.n_kernels} kernels, counted "
                f"from 0; got {self.kernel}."
            )
        return of_mean_one((np.arange(problem.bank.n_kernels) == self.kernel).astype(np.float64))
