"""Relative margin loss: a hinge whose predictions must stay within a band."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from .base import PiecewiseLinearLoss

_FORGIVEN = 1e-9  # share of the bound by which rounding may carry a prediction beyond it


@dataclass(repr=False)
class RelativeMargin(PiecewiseLinearLoss):
    r"""Hinge loss for labels in {-1, +1} that lets no prediction exceed a bound.

    The margin is large relative to the spread of the predictions: directions in which the data
    vary much, but not by class, are not used even where they would widen the margin.

    Parameters
    ----------
    bound : float, default=2.0
        Largest size of a prediction on the training samples, at least 1; large bounds give the
        hinge loss.

    Notes
    -----
    With :math:`s = -y u`,

    .. math:: \ell(y, f) = \max(0, 1 - y f) + \iota(|f| \le B), \qquad
              \ell^*(y, u) = -\min\{B s,\; s,\; 1 + B - B s\}

    (relative margin machines, [SJ10]_). Predictions on the bound are sums over samples and kernels,
    so that rounding carries some of them across. ``value`` therefore forgives a share of 1e-9 of
    the bound, which changes an objective by about as much: far below any tolerance of a
    certificate, and far above the rounding of the sums.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import RelativeMargin
    >>> RelativeMargin(bound=2.0).value(np.array([1.0, -1.0, -1.0]), np.array([0.5, -2.0, -2.1]))
    array([0.5, 0. , inf])
    """

    bound: float = 2.0
    y_domain: ClassVar[str] = "sign"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"bound": 2.0}, {"bound": 1.0})

    @property
    def reach(self) -> float:
        """The bound."""
        return self.bound

    def check(self) -> None:
        """Raise ValueError unless the bound is a finite number >= 1."""
        if not isinstance(self.bound, Real) or not 1 <= self.bound < np.inf:
            raise ValueError(
                f"RelativeMargin.bound must be a finite number >= 1, got {self.bound!r}; "
                "predictions must be able to reach the margin, so give a bound such as 2.0."
            )

    def value(self, y: Array, f: Array) -> Array:
        """The part of the margin that is missing to one; inf beyond the bound."""
        inside = np.abs(f) <= self.bound * (1 + _FORGIVEN)
        return np.where(inside, np.maximum(0.0, 1.0 - y * f), np.inf)

    def gradient(self, y: Array, f: Array) -> Array:
        """A subgradient in f where there is one, within the bound: that of the hinge loss."""
        return np.where(y * f < 1.0, -y, 0.0)

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, of three straight pieces and finite everywhere."""
        s, B = -y * u, self.bound
        return -np.minimum(np.minimum(B * s, s), 1.0 + B - B * s)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        """Move by at most step towards the margin, then back within the bound."""
        return np.clip(v + y * np.clip(1.0 - y * v, 0.0, step), -self.bound, self.bound)

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The whole line: on the bound every slope outwards is a subgradient."""
        return np.full(y.shape, -np.inf), np.full(y.shape, np.inf)

    def kinks(self, y: Array) -> Array:
        """The walls at both ends of the band, and the kink at f = y between them."""
        wall = np.full(y.shape, self.bound)
        return np.stack([-wall, y, wall])
