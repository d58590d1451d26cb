"""Epsilon-insensitive loss: the loss of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from .base import PiecewiseLinearLoss


@dataclass(repr=False)
class EpsilonInsensitive(PiecewiseLinearLoss):
    r"""The absolute residual beyond a tube of half-width epsilon around the target.

    Parameters
    ----------
    epsilon : float, default=0.1
        Residuals up to this size cost nothing; 0 gives the absolute loss.

    Notes
    -----
    .. math:: \ell(y, f) = \max(0, |y - f| - \varepsilon), \qquad
              \ell^*(y, u) = y u + \varepsilon |u|, \quad |u| \le 1

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(epsilon=0.5).value(np.array([1.0, 2.0]), np.array([0.0, 2.4]))
    array([0.5, 0. ])
    """

    epsilon: float = 0.1
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 0.1}, {"epsilon": 0.5})

    def check(self) -> None:
        """Raise ValueError unless epsilon is a finite number >= 0."""
        if not isinstance(self.epsilon, Real) or not 0 <= self.epsilon < np.inf:
            raise ValueError(
                f"EpsilonInsensitive.epsilon must be a finite number >= 0, got {self.epsilon!r}; "
                "give the size of residual that should cost nothing, such as 0.1."
            )

    def value(self, y: Array, f: Array) -> Array:
        """The part of the residual outside the tube."""
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def gradient(self, y: Array, f: Array) -> Array:
        """A subgradient in f: the sign of f - y outside the tube, 0 within."""
        return np.where(np.abs(f - y) > self.epsilon, np.sign(f - y), 0.0)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate on its interval."""
        return self._where_feasible(y, u, y * u + self.epsilon * np.abs(u))

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move by at most step towards the tube."""
        outside = np.sign(y - v) * self.value(y, v)  # the signed way to the tube
        return v + np.clip(outside, -np.asarray(step), step)

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The interval from -1 to 1."""
        return np.full(y.shape, -1.0), np.full(y.shape, 1.0)

    def kinks(self, y: Array) -> Array:
        """The two borders of the tube."""
        return np.stack([y - self.epsilon, y + self.epsilon])
