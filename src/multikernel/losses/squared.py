"""Squared loss: the loss of ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from .base import SmoothLoss


@dataclass(repr=False)
class Squared(SmoothLoss):
    r"""Half the squared residual.

    Notes
    -----
    .. math:: \ell(y, f) = \tfrac12 (y - f)^2, \qquad \ell^*(y, u) = y u + u^2 / 2

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import Squared
    >>> Squared().value(np.array([1.0, 2.0]), np.array([0.0, 5.0]))
    array([0.5, 4.5])
    """

    curvature_bound: ClassVar[float] = 1.0

    def value(self, y: Array, f: Array) -> Array:
        """Half the squared residual."""
        return (y - f) ** 2 / 2

    def gradient(self, y: Array, f: Array) -> Array:
        """The derivative in f."""
        return f - y

    def hessian(self, y: Array, f: Array) -> Array:
        """The second derivative in f: 1 everywhere."""
        return np.ones_like(f)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, finite everywhere."""
        return y * u + u**2 / 2

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move towards y by a fixed share of the residual."""
        return v + (y - v) * (np.asarray(step) / (1.0 + np.asarray(step)))

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The whole line."""
        return np.full(y.shape, -np.inf), np.full(y.shape, np.inf)
