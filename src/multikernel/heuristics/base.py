"""WeightRule: nonnegative kernel weights from training kernels and targets, in closed form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from .._component import Array, Component
from ..solvers import Problem


@dataclass(repr=False, eq=False)
class WeightRule(Component):
    """A way to weigh kernels without solving for the weights; use it as ``FixedWeights(rule)``."""

    @abstractmethod
    def weights(self, problem: Problem, sources: Sequence[str]) -> Array:
        """Nonnegative weights of mean one over the kernels.

        Parameters
        ----------
        problem : Problem
            Training kernels and targets; its regularizer and C are not used.
        sources : sequence of str
            Where each kernel comes from.
        """


def of_mean_one(d: Array) -> Array:
    """Weights scaled to mean one, like those of the uniform sum; all one where there are none."""
    mean = float(d.mean())
    return d / mean if mean > 0 else d + 1.0
