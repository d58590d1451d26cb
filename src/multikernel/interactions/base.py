"""Interaction: how kernels should go together, as a matrix Q over them, and sums of such matrices.

The penalty :math:`d^\\top Q d` charges every pair of kernels its entry times both weights.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._component import Array, Component
from .._validation import check_square, check_symmetric
from ..solvers import Problem


@dataclass(repr=False, eq=False)
class Interaction(Component):
    r"""A recipe for the matrix Q of :class:`QNorm`, computed from the training data of each fit.

    Entries :math:`Q_{kl} > 0` discourage two kernels from being used together, entries below zero
    tie their weights to each other. Recipes combine: ``a + b``, ``0.1 * a`` and ``a + matrix`` are
    recipes as well, whose parameters a grid search reaches by name, as in
    ``regularizer__Q__left__ridge``.
    """

    __array_ufunc__: ClassVar[None] = None  # so that matrix + recipe is a recipe, not an array

    @abstractmethod
    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The matrix Q for a training problem.

        Parameters
        ----------
        problem : Problem
            Kernels, targets, loss and C of the training samples.
        sources : sequence of str
            Name of the data source of every kernel.

        Returns
        -------
        array of shape (n_kernels, n_kernels)
            Symmetric and positive semi-definite.
        """

    def __add__(self, other: Any) -> Sum:
        part = _as_interaction(other)
        return NotImplemented if part is None else Sum(self, part)

    def __radd__(self, other: Any) -> Sum:
        part = _as_interaction(other)
        return NotImplemented if part is None else Sum(part, self)

    def __mul__(self, factor: Any) -> Scaled:
        return Scaled(self, float(factor)) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__


@dataclass(repr=False, eq=False)
class Fixed(Interaction):
    """A matrix of your own, for example from domain knowledge, as a term of a sum.

    Parameters
    ----------
    Q : array of shape (n_kernels, n_kernels)
        Symmetric. It may be indefinite as long as the sum that it enters, or its repair by
        :class:`Repaired`, is not.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import SourceBlocks
    >>> SourceBlocks() + np.eye(2)
    Sum(left=SourceBlocks(), right=Fixed(Q=array([[1., 0.],
           [0., 1.]])))
    """

    Q: Any

    examples: ClassVar = ({"Q": np.eye(6)}, {"Q": np.ones((6, 6))})

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The matrix as given, once it is seen to fit the kernels."""
        Q = np.array(self.Q, dtype=np.float64)
        check_square(Q, "Fixed.Q")
        check_symmetric(Q, "Fixed.Q")
        if len(Q) != problem.bank.n_kernels:
            raise ValueError(
                f"Fixed: Q must have one row per kernel; it has {len(Q)} for "
                f"{problem.bank.n_kernels} kernels."
            )
        return (Q + Q.T) / 2


@dataclass(repr=False, eq=False)
class Sum(Interaction):
    """Two interactions at once; what ``left + right`` makes.

    Parameters
    ----------
    left, right : Interaction

    Examples
    --------
    >>> from multikernel import GraphLaplacian, KernelAlignment, SourceBlocks
    >>> both = GraphLaplacian(KernelAlignment()) + SourceBlocks()
    >>> both.set_params(left__ridge=0.1)
    Sum(left=GraphLaplacian(of=KernelAlignment(), ridge=0.1), right=SourceBlocks())
    """

    left: Interaction
    right: Interaction

    examples: ClassVar = ({"left": Fixed(np.eye(6)), "right": Fixed(np.ones((6, 6)))},)

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The sum of both matrices."""
        return self.left.matrix(problem, sources) + self.right.matrix(problem, sources)


@dataclass(repr=False, eq=False)
class Scaled(Interaction):
    """An interaction with a strength to tune; what ``factor * of`` makes.

    Parameters
    ----------
    of : Interaction
    factor : float, default=1.0
        Zero switches the interaction off.

    Examples
    --------
    >>> from multikernel import SourceBlocks
    >>> 0.5 * SourceBlocks()
    Scaled(factor=0.5, of=SourceBlocks())
    """

    of: Interaction
    factor: float = 1.0

    examples: ClassVar = ({"of": Fixed(np.ones((6, 6))), "factor": 2.0},)

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The matrix times the factor."""
        if not 0 <= self.factor < np.inf:
            raise ValueError(
                f"Scaled: factor must be finite and not negative, got {self.factor}; a negative "
                "multiple is not positive semi-definite."
            )
        return self.factor * self.of.matrix(problem, sources)


def _as_interaction(part: Any) -> Interaction | None:
    """An interaction as it is, a matrix as a fixed one, None for anything else."""
    if isinstance(part, Interaction):
        return part
    return Fixed(part) if np.ndim(part) == 2 else None
