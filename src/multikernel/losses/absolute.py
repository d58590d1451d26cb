"""Absolute loss: regression to the median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._component import Array
from .base import PiecewiseLinearLoss


@dataclass(repr=False)
class Absolute(PiecewiseLinearLoss):
    r"""The absolute residual, which fits medians and resists outliers.

    Notes
    -----
    .. math:: \ell(y, f) = |y - f|, \qquad \ell^*(y, u) = y u, \quad |u| \le 1

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import Absolute
    >>> y, f = np.array([[1.0], [2.0], [9.0]]), np.zeros((3, 1))
    >>> Absolute().best_intercept(y, f, np.ones((3, 1)))
    array([2.])
    """

    def value(self, y: Array, f: Array) -> Array:
        """The absolute residual."""
        return np.abs(y - f)

    def gradient(self, y: Array, f: Array) -> Array:
        """A subgradient in f: the sign of f - y, 0 at the kink."""
        return np.sign(f - y)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, linear on its interval."""
        return self._where_feasible(y, u, y * u)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move by at most step towards y."""
        return v + np.clip(y - v, -np.asarray(step), step)

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The interval from -1 to 1."""
        return np.full(y.shape, -1.0), np.full(y.shape, 1.0)

    def kinks(self, y: Array) -> Array:
        """The kink at f = y."""
        return y[None]
