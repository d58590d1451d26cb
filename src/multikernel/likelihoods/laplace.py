"""Laplace likelihood: regression with errors of exponential tails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from .._component import Array
from ..losses import Absolute, Loss
from .base import RegressionLikelihood


@dataclass(repr=False)
class Laplace(RegressionLikelihood):
    r"""Errors with exponential tails, which resist outliers and keep the problem convex.

    Parameters
    ----------
    tau : float, default=1.0
        Inverse scale :math:`\tau`; the errors have variance :math:`2/\tau^2`.

    Notes
    -----
    .. math:: P(y|u) = \tfrac\tau2 e^{-\tau |y - u|}, \qquad
              \rho(x) = 2 \tau \sqrt x - 2 \ln \tfrac\tau2, \qquad
              h(\gamma) = \tau^2 \gamma - 2 \ln \tfrac\tau2

    With :math:`A(d) = e^{\tau^2 v / 2 - \tau d}\, \Phi((d - \tau v)/\sqrt v)` and
    :math:`d = y - \mu`, the predictive density is :math:`\tfrac\tau2 (A(d) + A(-d))` and its
    distribution function :math:`\Phi(d/\sqrt v) + \tfrac12 (A(-d) - A(d))`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.likelihoods import Laplace
    >>> Laplace(tau=2.0).value(np.array([0.0, 0.0]), np.array([0.0, 10.0]))
    array([ 0., 40.])
    """

    tau: float = 1.0
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"tau": 0.4}, {"tau": 3.0})

    def check(self) -> None:
        """Raise ValueError unless tau is a finite number > 0."""
        self._check_positive("tau", "the errors have variance 2/tau**2")

    @property
    def _log_norm(self) -> float:
        return float(-2 * np.log(self.tau / 2))

    def rho(self, x: Array) -> Array:
        """The concave function of the representation, a square root."""
        return 2 * self.tau * np.sqrt(x) + self._log_norm

    def rho_prime(self, x: Array) -> Array:
        """Its derivative, infinite at 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.tau / np.sqrt(x))

    def rho_second(self, x: Array) -> Array:
        """Its second derivative, minus infinity at 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(-self.tau / (2 * np.sqrt(x)) / x)

    def site_var(self, x: Array) -> Array:
        r"""The variance :math:`\sqrt x / \tau` of the Gaussian that touches at s² = x."""
        return np.asarray(np.sqrt(x) / self.tau)

    def x_hat(self, gamma: Array) -> Array:
        """The squared distance at which the Gaussian of variance gamma touches."""
        return np.asarray((self.tau * gamma) ** 2)

    def h(self, gamma: Array) -> Array:
        """Minus twice the log-height of the bound, a straight line."""
        return self.tau**2 * gamma + self._log_norm

    def h_prime(self, gamma: Array) -> Array:
        """The slope of that line."""
        return np.full(np.shape(gamma), float(self.tau) ** 2)

    def h_second(self, gamma: Array) -> Array:
        """Zero."""
        return np.zeros(np.shape(gamma))

    def smoothed_value(self, y: Array, u: Array, z: Array) -> Array:
        r"""The value smoothed by a variance z, :math:`2 \tau \sqrt{s^2 + z}` and the constant."""
        return np.asarray(2 * self.tau * np.hypot(u - y, np.sqrt(z)) + self._log_norm)

    def smoothed_gradient(self, y: Array, u: Array, z: Array) -> Array:
        """The derivative of the smoothed value in u, 0 at the kink."""
        s, size = np.broadcast_arrays(u - y, np.hypot(u - y, np.sqrt(z)))
        return np.asarray(2 * self.tau * np.divide(s, size, out=np.zeros(s.shape), where=size > 0))

    def smoothed_hessian(self, y: Array, u: Array, z: Array) -> Array:
        """The second derivative of the smoothed value in u, 0 where z is 0."""
        root, size = np.broadcast_arrays(np.sqrt(z), np.hypot(u - y, np.sqrt(z)))
        share = np.divide(root, size, out=np.zeros(size.shape), where=size > 0)
        # 2τ z / (s² + z)^{3/2}
        return np.asarray(2 * self.tau * share**2 / np.where(size > 0, size, 1.0))

    def _log_a(self, d: Array, var: Array) -> Array:
        """The logarithm of A(d); no large terms cancel. Needs var > 0."""
        sd = np.sqrt(var)
        with np.errstate(over="ignore", divide="ignore"):
            below = self.tau * sd - d / sd
            near = -((d / sd) ** 2) / 2 + np.log(erfcx(np.maximum(below, 0) / np.sqrt(2)) / 2)
            far = self.tau * (self.tau * var / 2 - d) + log_ndtr(-below)
        return np.asarray(np.where(below > 0, near, far))

    def log_predictive(self, y: Array, mean: Array, var: Array) -> Array:
        """The log-density of the target."""
        d, v = np.asarray(y - mean), np.where(np.asarray(var) > 0, var, 1.0)
        log_sum = np.logaddexp(self._log_a(d, v), self._log_a(-d, v))
        return np.where(np.asarray(var) > 0, log_sum, -self.tau * np.abs(d)) - self._log_norm / 2

    @property
    def residual_var(self) -> float:
        """The variance of the errors."""
        return 2.0 / self.tau**2

    def residual_cdf(self, residual: Array) -> Array:
        """The distribution function of the errors."""
        half = np.exp(-self.tau * np.abs(residual)) / 2
        return np.where(np.asarray(residual) < 0, half, 1.0 - half)

    def residual_quantile(self, q: Array) -> Array:
        """The quantile of the errors."""
        tail = np.minimum(q, 1.0 - np.asarray(q))
        with np.errstate(divide="ignore"):
            return np.asarray(np.sign(np.asarray(q) - 0.5) * -np.log(2 * tail) / self.tau)

    def predictive_cdf(self, y: Array, mean: Array, var: Array) -> Array:
        """The probability of a target at most y."""
        d, v = np.asarray(y - mean), np.where(np.asarray(var) > 0, var, 1.0)
        size = np.abs(d)
        shift = np.exp(self._log_a(size, v)) - np.exp(self._log_a(-size, v))
        with np.errstate(over="ignore"):
            tail = ndtr(-size / np.sqrt(v)) + shift / 2
        smooth = np.where(d < 0, tail, 1.0 - tail)
        return np.where(np.asarray(var) > 0, smooth, self.residual_cdf(d))

    def sample(self, u: Array, rng: np.random.Generator) -> Array:
        """Targets drawn given latent values u."""
        return np.asarray(rng.laplace(u, 1.0 / self.tau))

    def learned(self, x: Array) -> Self:
        r"""The likelihood whose :math:`1/\tau` is the mean root of x; itself where x is 0."""
        scale = float(np.mean(np.sqrt(x)))  # 1/τ = Σ√x/n minimises Σρ(x)
        return replace(self, tau=1.0 / scale) if scale > 0 else self

    def convex_loss(self) -> tuple[Loss, float]:
        r"""The absolute loss and :math:`2 \tau`."""
        return Absolute(), 2.0 * self.tau

    def constant(self, y: Array) -> Array:
        r"""The constant :math:`-2 \ln(\tau/2)`."""
        return np.full(np.shape(y), self._log_norm)
