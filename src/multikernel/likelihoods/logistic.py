"""Logistic likelihood: binary classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, log_ndtr

from .._component import Array
from ..losses import Logistic, Loss
from ._quadrature import by_chunks
from .base import Likelihood

_EPS = float(np.finfo(float).eps)
_MAX_ITER = 60
# Taylor coefficients of a·coth(a) − 1 in powers of a², from the first, and of its derivative in a²
_SERIES = np.array([1 / 3, -1 / 45, 2 / 945, -1 / 4725, 2 / 93555])
_SERIES_PRIME = _SERIES * np.arange(1, 6)
_SMALL = 0.02  # below this a² the series is exact to rounding

# Trapezoid rules. Their errors, e^(−2π·distance of the nearest pole / step), are below 1e-17.
_STEP_T, _STEP_L = 1 / 8, 3 / 8
_T = np.arange(-10.0, 12.0, _STEP_T)
_T_WEIGHT = _STEP_T * np.exp(-(_T**2) / 2) / np.sqrt(2 * np.pi)
_L = np.arange(-40.0, 84.0, _STEP_L)
_L_WEIGHT = _STEP_L * expit(_L) * expit(-_L)
_WIDE = 4.0  # standard deviations of the log-odds from which the second rule serves


def _coth_excess(a2: Array) -> tuple[Array, Array]:
    """The function a·coth(a) − 1 of a² and its derivative in a²."""
    small = a2 < _SMALL
    near = np.where(small, a2, 0.0)
    series = near * np.polynomial.polynomial.polyval(near, _SERIES)
    series_prime = np.polynomial.polynomial.polyval(near, _SERIES_PRIME)
    a = np.sqrt(np.where(small, 1.0, a2))
    decay = np.exp(-2 * a)
    coth = (1 + decay) / (1 - decay)
    prime = (coth - 4 * a * decay / (1 - decay) ** 2) / (2 * a)  # (coth a − a/sinh²a)/2a
    return np.where(small, series, a * coth - 1), np.where(small, series_prime, prime)


def _log_positive(m: Array, r: Array) -> Array:
    """The logarithm of E σ(m + r t), t ~ N(0, 1), for arrays of shape (k,) with r >= 0."""
    # σ(x) = eˣσ(−x) gives p(m) = exp(m + r²/2) p(−m − r²): the tail becomes the body
    reflect = m < -(r**2) / 2
    body = np.where(reflect, -m - r**2, m)
    wide = r >= _WIDE
    out = np.empty_like(m)
    out[~wide] = _log_narrow(body[~wide, None], r[~wide, None])
    out[wide] = _log_wide(body[wide, None], r[wide, None])
    return np.minimum(out + np.where(reflect, m + r**2 / 2, 0.0), 0.0)


def _log_narrow(m: Array, r: Array) -> Array:
    return np.asarray(np.log(expit(m + r * _T) @ _T_WEIGHT))  # ∫ σ(m + rt) φ(t) dt


def _log_wide(m: Array, r: Array) -> Array:
    top = log_ndtr(m / r)
    ratio = np.exp(log_ndtr((m + _L) / r) - top)
    return np.asarray(top[:, 0] + np.log(ratio @ _L_WEIGHT))  # ∫ Φ((m + L)/r) σ(L) σ(−L) dL


@dataclass(repr=False)
class LogisticLikelihood(Likelihood):
    r"""The probability of a label in {-1, +1} whose log-odds are tau times the latent value.

    Parameters
    ----------
    tau : float, default=1.0
        Steepness :math:`\tau`. It is redundant where the scale of the kernels is free, as
        :math:`\tau` with kernels :math:`K_m` is 1 with kernels :math:`\tau^2 K_m`; not learned.

    Notes
    -----
    .. math:: P(y|u) = \sigma(\tau y u), \qquad \beta = \tfrac{\tau y}2, \qquad
              \rho(x) = 2 \ln\big(2 \cosh a\big), \quad
              \tfrac1{\rho'(x)} = \tfrac4{\tau^2}\, a \coth a, \qquad a = \tfrac{\tau \sqrt x}2

    and :math:`\hat x(\gamma)` solves :math:`a \coth a = \tau^2 \gamma / 4` by Newton steps in
    :math:`a^2`, which rise to the root as the left side is concave in :math:`a^2`. The predictive
    probability comes from two trapezoid rules (of :math:`\sigma` against the normal density where
    that is narrow, of the normal distribution function against :math:`\sigma'` where it is wide),
    accurate in the logarithm for all means and variances.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.likelihoods import LogisticLikelihood
    >>> y, mean, var = np.ones(3), np.full(3, 2.0), np.array([0.0, 4.0, 100.0])
    >>> np.exp(LogisticLikelihood().log_predictive(y, mean, var)).round(3)
    array([0.881, 0.775, 0.578])
    """

    tau: float = 1.0
    y_domain: ClassVar[str] = "sign"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"tau": 0.4}, {"tau": 3.0})

    def check(self) -> None:
        """Raise ValueError unless tau is a finite number > 0."""
        self._check_positive("tau", "keep 1.0 where the weights of the kernels are learned")

    def center(self, y: Array) -> Array:
        """Zero: even odds."""
        return np.zeros_like(y, dtype=float)

    def slope(self, y: Array) -> Array:
        r"""The slope :math:`\beta = \tau y / 2`."""
        return np.asarray(self.tau * y / 2)

    def rho(self, x: Array) -> Array:
        """The concave function of the representation."""
        odds = self.tau * np.sqrt(x)
        return np.asarray(odds + 2 * np.log1p(np.exp(-odds)))

    def rho_prime(self, x: Array) -> Array:
        """Its derivative."""
        quarter = self.tau**2 / 4
        return quarter / (1 + _coth_excess(quarter * np.asarray(x))[0])

    def rho_second(self, x: Array) -> Array:
        """Its second derivative."""
        quarter = self.tau**2 / 4
        excess, prime = _coth_excess(quarter * np.asarray(x))
        return -(quarter**2) * prime / (1 + excess) ** 2

    def x_hat(self, gamma: Array) -> Array:
        """The squared distance at which the Gaussian of variance gamma touches."""
        quarter = self.tau**2 / 4
        target = np.maximum(quarter * np.asarray(gamma) - 1.0, 0.0)
        # from below: a·coth(a) − 1 ≤ a²/3, and a·coth(a) ≤ √(1 + a²)
        a2 = np.maximum(3 * target, (2 + target) * target)
        for _ in range(_MAX_ITER):
            excess, prime = _coth_excess(a2)
            step = (target - excess) / prime
            a2 = np.maximum(a2 + step, 0.0)
            if np.all(step <= 8 * _EPS * (1 + a2)):  # the rounding of target; a² only grows
                break
        return np.asarray(a2 / quarter)

    def h_second(self, gamma: Array) -> Array:
        """The second derivative of h; 0 for variances below the range of ``site_var``."""
        a2 = self.tau**2 / 4 * self.x_hat(gamma)
        twice = np.where(a2 > 0, 2 * np.sqrt(a2), 1.0)
        ratio = 2 * twice * np.exp(-twice) / -np.expm1(-2 * twice)  # 2a/sinh 2a
        return np.where(a2 > 0, ratio / (_coth_excess(a2)[1] * gamma**2), 0.0)

    def _sizes(self, u: Array, z: Array) -> tuple[Array, Array, Array, Array]:
        """|s|, √(s² + z), the share |s|/√(s² + z), and 1 minus it without cancellation."""
        size, total = np.broadcast_arrays(np.abs(u), np.hypot(u, np.sqrt(z)))
        divisor = np.where(total > 0, total, 1.0)
        return size, total, size / divisor, z / divisor / (divisor + size)

    def smoothed_value(self, y: Array, u: Array, z: Array) -> Array:
        r"""The value smoothed by a variance z, :math:`\rho(u^2 + z) - \tau y u`."""
        size, total, _, rest = self._sizes(u, z)
        odds = self.tau * (total * rest + (size - y * u))  # τ(√(u² + z) − yu)
        return np.asarray(odds + 2 * np.log1p(np.exp(-self.tau * total)))

    def smoothed_gradient(self, y: Array, u: Array, z: Array) -> Array:
        """The derivative of the smoothed value in u."""
        _, total, share, rest = self._sizes(u, z)
        odds = self.tau * total
        agree = 2 * expit(-odds) + np.tanh(odds / 2) * rest  # 1 − share·tanh
        differ = 1 + share * np.tanh(odds / 2)
        return -self.tau * y * np.where(y * u >= 0, agree, differ)

    def smoothed_hessian(self, y: Array, u: Array, z: Array) -> Array:
        """The second derivative of the smoothed value in u."""
        _, total, share, _ = self._sizes(u, z)
        odds = self.tau * total
        flat = 4 * expit(odds) * expit(-odds)  # sech²a
        # ½τ² [z/x · tanh(a)/a + u²/x · sech²a]
        mixed = (1 - share**2) * 4 / self.tau**2 * self.rho_prime(total**2) + share**2 * flat
        return np.asarray(self.tau**2 / 2 * np.where(total > 0, mixed, 1.0))

    def log_predictive(self, y: Array, mean: Array, var: Array) -> Array:
        """The log-probability of the label y."""
        return by_chunks(_log_positive, self.tau * y * mean, self.tau * np.sqrt(var))

    def predictive_mean(self, mean: Array, var: Array) -> Array:
        """The expected label: the probability of +1 minus that of -1."""
        ones = np.ones(())
        positive, negative = (np.exp(self.log_predictive(y, mean, var)) for y in (ones, -ones))
        return np.asarray(positive - negative)

    def predictive_var(self, mean: Array, var: Array) -> Array:
        """The variance of the label: four times the product of both probabilities."""
        ones = np.ones(())
        logs = self.log_predictive(ones, mean, var) + self.log_predictive(-ones, mean, var)
        return np.asarray(4 * np.exp(logs))

    def sample(self, u: Array, rng: np.random.Generator) -> Array:
        """Labels drawn given latent values u."""
        return np.where(rng.random(np.shape(u)) < expit(self.tau * u), 1.0, -1.0)

    def learned(self, x: Array) -> Self:
        """Itself: the scale of the kernels does what tau would do."""
        return self

    @property
    def latent_scale(self) -> float:
        """The steepness: the logistic loss is that of the log-odds, tau times the latent value."""
        return float(self.tau)

    def convex_loss(self) -> tuple[Loss, float]:
        """The logistic loss of tau times the latent value, and 2."""
        return Logistic(), 2.0
