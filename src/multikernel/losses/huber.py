"""Huber loss: squared for small residuals, absolute for large ones."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from .base import SmoothLoss


@dataclass(repr=False)
class Huber(SmoothLoss):
    r"""Half the squared residual up to delta, and its tangent beyond: smooth and robust.

    Parameters
    ----------
    delta : float, default=1.0
        Residuals beyond this size count linearly.

    Notes
    -----
    .. math:: \ell(y, f) = \begin{cases} \tfrac12 r^2 & |r| \le \delta \\
              \delta |r| - \tfrac12 \delta^2 & |r| > \delta \end{cases}, \quad r = y - f, \qquad
              \ell^*(y, u) = y u + u^2 / 2, \quad |u| \le \delta

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import Huber
    >>> Huber(delta=1.0).value(np.array([0.0, 0.0]), np.array([0.5, 10.0]))
    array([0.125, 9.5  ])
    """

    delta: float = 1.0
    curvature_bound: ClassVar[float] = 1.0
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"delta": 1.0}, {"delta": 0.3})

    def check(self) -> None:
        """Raise ValueError unless delta is a finite number > 0."""
        if not isinstance(self.delta, Real) or not 0 < self.delta < np.inf:
            raise ValueError(
                f"Huber.delta must be a finite number > 0, got {self.delta!r}; "
                "give the size of residual from which the loss is linear, or use Squared()."
            )

    def value(self, y: Array, f: Array) -> Array:
        """The loss, quadratic in the middle and linear outside."""
        size = np.abs(y - f)
        core = np.minimum(size, self.delta)
        return core * (size - core / 2)

    def gradient(self, y: Array, f: Array) -> Array:
        """The derivative in f: the residual clipped to [-delta, delta]."""
        return np.clip(f - y, -self.delta, self.delta)

    def hessian(self, y: Array, f: Array) -> Array:
        """The second derivative in f: 1 in the middle, 0 outside."""
        return np.where(np.abs(f - y) <= self.delta, 1.0, 0.0)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, quadratic on its interval."""
        return self._where_feasible(y, u, y * u + u**2 / 2)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move towards y, by at most delta times step."""
        slope = np.clip((v - y) / (1.0 + np.asarray(step)), -self.delta, self.delta)
        return v - np.asarray(step) * slope

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The interval from -delta to delta."""
        return np.full(y.shape, -self.delta), np.full(y.shape, self.delta)
