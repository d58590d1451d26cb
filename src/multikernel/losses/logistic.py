"""Logistic loss: the negative log-likelihood of a binary label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from .._component import Array
from ._root import increasing_root
from .base import SLACK, SmoothLoss


@dataclass(repr=False)
class Logistic(SmoothLoss):
    r"""Logistic loss for labels in {-1, +1}.

    Notes
    -----
    .. math:: \ell(y, f) = \log(1 + e^{-y f}), \qquad
              \ell^*(y, u) = s \log s + (1 - s) \log(1 - s), \quad s = -y u \in [0, 1]

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import Logistic
    >>> Logistic().value(np.array([1.0]), np.array([-1e4]))
    array([10000.])
    """

    y_domain: ClassVar[str] = "sign"
    likelihood: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 0.25

    def value(self, y: Array, f: Array) -> Array:
        """Minus the log-probability of y at log-odds f."""
        return np.logaddexp(0.0, -y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        """The derivative in f."""
        return np.asarray(-y * expit(-y * f))

    def hessian(self, y: Array, f: Array) -> Array:
        """The second derivative in f."""
        return np.asarray(expit(y * f) * expit(-y * f))

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, a negative entropy on its interval."""
        s = -y * u
        inside = np.abs(s - 0.5) <= 0.5 + SLACK  # asked for often, so not by the general test
        s = np.clip(s, 0.0, 1.0)
        return np.where(inside, xlogy(s, s) + xlog1py(1.0 - s, -s), np.inf)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        r"""Move to the margin :math:`t = y f` with :math:`t = y v + \mathrm{step} / (1 + e^t)`."""
        margin, step = np.broadcast_arrays(y * v, np.asarray(step, dtype=float))

        def residual(t: Array) -> tuple[Array, Array]:
            return t - margin - step * expit(-t), 1.0 + step * expit(t) * expit(-t)

        upper, scale = margin + step, 1.0 + np.abs(margin)
        return y * increasing_root(residual, margin, upper, start=margin, scale=scale)

    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The interval between 0 and -y."""
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)
