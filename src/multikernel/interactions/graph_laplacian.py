"""Graph Laplacian: pull kernels that are alike towards equal weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ..solvers import Problem
from ._moments import unit_diagonal
from .base import Interaction
from .kernel_alignment import KernelAlignment


@dataclass(repr=False, eq=False)
class GraphLaplacian(Interaction):
    r"""Tie the weights of kernels that are alike: the opposite of penalising their likeness.

    Use it when likeness means reliability, for example when many views of one organ agree and
    should be averaged rather than played off against each other.

    Parameters
    ----------
    of : Interaction
        What likeness means, such as :class:`DualCovariance` or :class:`KernelAlignment`. Its
        matrix is scaled to unit diagonal, and negative entries count as no likeness.
    ridge : float, default=0.0
        Share of the mean diagonal that is added to the diagonal.

    Notes
    -----
    With :math:`W = \max(\operatorname{corr}, 0)`, zero on its diagonal,

    .. math:: Q = \operatorname{diag}(W \mathbf 1) - W, \qquad
              d^\top Q d = \tfrac12 \sum_{kl} W_{kl} (d_k - d_l)^2 .

    Equal weights cost nothing, so that Q alone bounds no weight and :class:`QNorm` refuses it: give
    a ridge, or add a term that charges all weights such as :class:`SourceBlocks`, as in [H12]_. In
    a graph without edges the ridge is that many times the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> from multikernel.interactions import Fixed
    >>> bank = PackedBank.from_grams([np.eye(3), np.eye(3), np.eye(3)])
    >>> problem = Problem(bank, np.zeros((3, 1)), Squared(), Uniform())
    >>> likeness = np.array([[4.0, 2.0, 0.0], [2.0, 4.0, -1.0], [0.0, -1.0, 1.0]])
    >>> GraphLaplacian(Fixed(likeness)).matrix(problem, "aab")
    array([[ 0.5, -0.5,  0. ],
           [-0.5,  0.5,  0. ],
           [ 0. ,  0. ,  0. ]])
    """

    of: Interaction
    ridge: float = 0.0

    examples: ClassVar = (
        {"of": KernelAlignment()},
        {"of": KernelAlignment(), "ridge": 0.1},
    )

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The Laplacian of the graph whose edges are the positive likenesses."""
        if not 0 <= self.ridge < np.inf:
            raise ValueError(
                f"GraphLaplacian: ridge must be finite and not negative, got {self.ridge}."
            )
        W = np.maximum(unit_diagonal(self.of.matrix(problem, sources)), 0.0)
        np.fill_diagonal(W, 0.0)
        degrees = W.sum(axis=1)
        scale = float(degrees.mean()) or 1.0
        return np.diag(degrees + self.ridge * scale) - W  # diag(W1) − W
