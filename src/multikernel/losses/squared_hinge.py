"""Squared hinge loss: a smooth large-margin loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from .base import SmoothLoss


@dataclass(repr=False)
class SquaredHinge(SmoothLoss):
    r"""Squared hinge loss for labels in {-1, +1}, without a factor one half.

    Notes
    -----
    .. math:: \ell(y, f) = \max(0, 1 - y f)^2, \qquad
              \ell^*(y, u) = y u + u^2 / 4, \quad -y u \ge 0

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([1.0, -1.0]), np.array([0.5, -3.0]))
    array([0.25, 0.  ])
    """

    y_domain: ClassVar[str] = "sign"
    curvature_bound: ClassVar[float] = 2.0

    def value(self, y: Array, f: Array) -> Array:
        """The square of the part of the margin that is missing to one."""
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        """The derivative in f."""
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def hessian(self, y: Array, f: Array) -> Array:
        """The second derivative in f: 2 below the margin, 0 beyond."""
        return np.where(y * f < 1.0, 2.0, 0.0)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, quadratic on its half-line."""
        return self._where_feasible(y, u, y * u + u**2 / 4)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move towards the margin by a fixed share of what is missing."""
        share = 2.0 * np.asarray(step) / (1.0 + 2.0 * np.asarray(step))
        return v + y * share * np.maximum(0.0, 1.0 - y * v)

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The half-line of u with -y u >= 0."""
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)
