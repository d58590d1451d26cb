r"""Weights by centred alignment: how much the similarities of a kernel are those of the targets.

Notation: with centred targets Y of shape (n, n_outputs) and centred kernels,
:math:`a_m = \langle K_m, YY^\top\rangle / \|K_m\|_F`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from .._linalg import nonnegative_minimiser
from ..interactions import KernelAlignment
from ..solvers import Problem
from .base import WeightRule, of_mean_one

_RIDGE = 1e-8  # of the matrix of alignments, whose kernels may be the same twice


@dataclass(repr=False, eq=False)
class Alignment(WeightRule):
    r"""Weigh each kernel by its own alignment with the targets.

    Notes
    -----
    .. math:: d_m \propto \max(a_m, 0) / \|K_m\|_F

    for kernels centred in feature space: the kernels of unit norm are summed in proportion to
    their alignments. Kernels do not know of each other, so what is there twice counts twice.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> bank = PackedBank.from_grams([x @ x.T, 5 + 2 * x @ x.T, 2 * np.eye(3)])
    >>> Alignment().weights(Problem(bank, x, Squared(), Uniform()), "abc").round(3)
    array([1.5 , 0.75, 0.75])
    """

    examples: ClassVar = ({},)

    def weights(self, problem: Problem, sources: Sequence[str]) -> Array:
        """Alignments over norms, of mean one."""
        a, norms = alignments(problem)
        return of_mean_one(np.divide(a, norms, out=np.zeros_like(a), where=norms > 0))


@dataclass(repr=False, eq=False)
class AlignmentQP(WeightRule):
    r"""Weigh all kernels together so that their combination is best aligned with the targets.

    Known as ALIGNF. A kernel gets little where another says the same.

    Notes
    -----
    With :math:`v_m = d_m \|K_m\|_F` and the matrix Q of alignments between kernels,

    .. math:: \min_{v \ge 0}\; \tfrac12 v^\top Q v - a^\top v .

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> bank = PackedBank.from_grams([x @ x.T, np.eye(3)])
    >>> AlignmentQP().weights(Problem(bank, x, Squared(), Uniform()), "ab").round(3)
    array([2., 0.])
    """

    examples: ClassVar = ({},)

    def weights(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The weights of the best combination, of mean one."""
        a, norms = alignments(problem)
        Q = KernelAlignment().matrix(problem, sources)
        Q[np.diag_indices_from(Q)] += _RIDGE
        v = nonnegative_minimiser(Q, a, a > 0) if np.any(a > 0) else np.zeros_like(a)
        return of_mean_one(np.divide(v, norms, out=np.zeros_like(v), where=norms > 0))


@dataclass(repr=False, eq=False)
class BestAligned(WeightRule):
    """Take the one kernel that is best aligned with the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> bank = PackedBank.from_grams([np.eye(3), x @ x.T])
    >>> BestAligned().weights(Problem(bank, x, Squared(), Uniform()), "ab")
    array([0., 2.])
    """

    examples: ClassVar = ({},)

    def weights(self, problem: Problem, sources: Sequence[str]) -> Array:
        """All weight on one kernel."""
        a, _ = alignments(problem)
        return of_mean_one((np.arange(len(a)) == np.argmax(a)).astype(np.float64))


def alignments(problem: Problem) -> tuple[Array, Array]:
    r"""Alignments with the targets, zero where negative, and norms of the centred kernels.

    Notes
    -----
    With :math:`p` the share of every sample, :math:`\mu = K p` and :math:`H = I - \mathbf 1p^\top`,

    .. math:: \|H K H^\top\|^2 = \|K\|^2 - 2\|\mu\|^2 + (p^\top\mu)^2

    in the inner product weighted by p. A kernel whose centred norm is rounding is aligned with
    nothing.
    """
    bank, s = problem.bank, problem.cost[:, 0]
    p = s / s.sum()
    Y = p[:, np.newaxis] * (problem.y - p @ problem.y)
    inner = bank.quadratic(Y)  # ⟨K, YYᵀ⟩ in the weighted product; centred Y centres K
    squares = bank.square_norms(np.sqrt(p))
    mu = bank.apply(p[:, np.newaxis])[:, :, 0]
    centred = squares - 2 * mu**2 @ p + (mu @ p) ** 2
    norms = np.sqrt(np.where(centred > 1e-12 * squares, centred, 0.0))
    size = (
        float(np.linalg.norm(np.sqrt(p)[:, np.newaxis] * (problem.y - p @ problem.y)) ** 2) or 1.0
    )
    a = np.divide(inner, norms * size, out=np.zeros_like(inner), where=norms > 0)
    return np.maximum(a, 0.0), norms
