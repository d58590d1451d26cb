"""Hinge loss: the loss of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from .base import PiecewiseLinearLoss


@dataclass(repr=False)
class Hinge(PiecewiseLinearLoss):
    r"""Hinge loss for labels in {-1, +1}: zero once the margin reaches one.

    Notes
    -----
    .. math:: \ell(y, f) = \max(0, 1 - y f), \qquad \ell^*(y, u) = y u, \quad -y u \in [0, 1]

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import Hinge
    >>> Hinge().value(np.array([1.0, -1.0]), np.array([0.5, -3.0]))
    array([0.5, 0. ])
    """

    y_domain: ClassVar[str] = "sign"

    def value(self, y: Array, f: Array) -> Array:
        """The part of the margin that is missing to one."""
        return np.maximum(0.0, 1.0 - y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        """A subgradient in f: -y below the margin, 0 from the kink on."""
        return np.where(y * f < 1.0, -y, 0.0)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, linear on its interval."""
        return self._where_feasible(y, u, y * u)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move by at most step towards the margin."""
        return v + y * np.clip(1.0 - y * v, 0.0, step)

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The interval between 0 and -y."""
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def kinks(self, y: Array) -> Array:
        """The kink at y f = 1, which is f = y."""
        return y[None]
