"""Student-t likelihood: regression with errors of heavy tails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln, log_ndtr, logsumexp, stdtr, stdtrit

from .._component import Array
from ._quadrature import by_chunks
from .base import RegressionLikelihood

_LOG_LOST = 45.0  # tails of the integrand below e⁻⁴⁵ are cut
_LOWEST = -700.0  # exp of its negative is still finite
_NU_GRID = np.log(np.geomspace(0.5, 1e3, 13))


@dataclass(repr=False)
class StudentT(RegressionLikelihood):
    r"""Errors with heavy tails: far outliers lose their influence altogether.

    Parameters
    ----------
    nu : float, default=4.0
        Degrees of freedom :math:`\nu`; the errors have a variance for more than 2.
    scale_var : float, default=1.0
        Squared scale :math:`\sigma^2`.
    learn_nu : bool, default=False
        Whether ``learned`` also chooses nu, between 0.5 and 1000.

    Notes
    -----
    .. math:: P(y|u) = e^\kappa \Big(1 + \frac{(y-u)^2}{\nu \sigma^2}\Big)^{-(\nu+1)/2}, \qquad
              \kappa = \ln \Gamma(\tfrac{\nu+1}2) - \ln \Gamma(\tfrac\nu2)
              - \tfrac12 \ln \pi \nu \sigma^2, \qquad
              \rho(x) = (\nu+1) \ln\Big(1 + \frac x{\nu\sigma^2}\Big) - 2 \kappa

    It is not log-concave. Predictions average Gaussians of variance :math:`v + \sigma^2/w` over
    :math:`w \sim \mathrm{Gamma}(\nu/2, \text{rate } \nu/2)` by the trapezoid rule in :math:`\ln w`,
    accurate in the logarithm for :math:`\nu \ge 0.1`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.likelihoods import StudentT
    >>> StudentT(nu=3.0).gradient(np.zeros(3), np.array([1.0, 10.0, 1000.0])).round(3)
    array([2.   , 0.777, 0.008])
    """

    nu: float = 4.0
    scale_var: float = 1.0
    learn_nu: bool = False
    log_concave: ClassVar[bool] = False
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"nu": 1.5, "scale_var": 0.3},
        {"nu": 30.0, "scale_var": 5.0, "learn_nu": True},
    )

    def check(self) -> None:
        """Raise ValueError unless nu and scale_var are finite numbers > 0."""
        self._check_positive("nu", "use Gaussian() for errors without heavy tails")
        self._check_positive("scale_var", "give the squared scale of the errors")

    @property
    def _width(self) -> float:
        return float(self.nu * self.scale_var)

    @property
    def _log_norm(self) -> float:
        gammas = gammaln((self.nu + 1) / 2) - gammaln(self.nu / 2)
        return float(np.log(np.pi * self._width) - 2 * gammas)

    def rho(self, x: Array) -> Array:
        """The concave function of the representation."""
        return np.asarray((self.nu + 1) * np.log1p(x / self._width) + self._log_norm)

    def rho_prime(self, x: Array) -> Array:
        """Its derivative."""
        return np.asarray((self.nu + 1) / (self._width + x))

    def rho_second(self, x: Array) -> Array:
        """Its second derivative."""
        return np.asarray(-(self.nu + 1) / (self._width + x) / (self._width + x))

    def x_hat(self, gamma: Array) -> Array:
        """The squared distance at which the Gaussian of variance gamma touches."""
        return np.asarray(np.maximum((self.nu + 1) * gamma - self._width, 0.0))

    @property
    def residual_var(self) -> float:
        """The variance of the errors, infinite up to 2 degrees of freedom."""
        return float(self._width / (self.nu - 2)) if self.nu > 2 else np.inf

    def residual_cdf(self, residual: Array) -> Array:
        """The distribution function of the errors."""
        return np.asarray(stdtr(self.nu, residual / np.sqrt(self.scale_var)))

    def residual_quantile(self, q: Array) -> Array:
        """The quantile of the errors."""
        return np.asarray(np.sqrt(self.scale_var) * stdtrit(self.nu, q))

    def _log_mixture(
        self, log_factor: Callable[[Array, Array], Array], d: Array, var: Array
    ) -> Array:
        """The logarithm of the mean of a factor of d and the variance v + σ²/w, over w."""
        a = self.nu / 2
        cut = np.sqrt(2 * _LOG_LOST / a) + _LOG_LOST / a
        step = min(0.25, 0.45 / np.sqrt(a + 0.5))
        log_norm = a * np.log(a) - gammaln(a) + np.log(step)

        def rows(d: Array, var: Array) -> Array:
            peak = np.log((self.nu + 1) * self.scale_var / (self._width + np.max(d**2)))
            lower = max(min(peak, 0.0) - cut, _LOWEST)
            x = np.arange(lower, np.log1p(4 / 3 * cut), step)  # ln w
            total = var[:, None] + self.scale_var * np.exp(-x)
            log_terms = log_factor(d[:, None], total) + a * (x - np.exp(x))
            return np.asarray(logsumexp(log_terms, axis=1) + log_norm)

        with np.errstate(over="ignore", divide="ignore"):  # terms that vanish
            return by_chunks(rows, d, var)

    def log_predictive(self, y: Array, mean: Array, var: Array) -> Array:
        """The log-density of the target."""

        def log_normal(d: Array, total: Array) -> Array:
            return np.asarray(-(d**2 / total + np.log(2 * np.pi * total)) / 2)

        return self._log_mixture(log_normal, y - mean, var)

    def predictive_cdf(self, y: Array, mean: Array, var: Array) -> Array:
        """The probability of a target at most y."""

        def log_tail(d: Array, total: Array) -> Array:
            return np.asarray(log_ndtr(-np.abs(d) / np.sqrt(total)))

        d = np.asarray(y - mean)
        tail = np.exp(self._log_mixture(log_tail, d, var))
        return np.where(d < 0, tail, 1.0 - tail)

    def sample(self, u: Array, rng: np.random.Generator) -> Array:
        """Targets drawn given latent values u."""
        return np.asarray(u + np.sqrt(self.scale_var) * rng.standard_t(self.nu, np.shape(u)))

    def learned(self, x: Array) -> Self:
        """The likelihood whose scale_var, and nu if ``learn_nu``, minimise the sum of rho(x)."""
        x = np.ravel(x)
        if not np.any(x > 0):
            return self
        candidates = [self, self._with_best_scale(x, self.nu)]
        if self.learn_nu:
            candidates.append(self._with_best_nu(x))
        return min(candidates, key=lambda part: float(np.sum(part.rho(x))))

    def _with_best_scale(self, x: Array, nu: float) -> Self:
        """The best scale_var for a nu: the sum is convex in its logarithm, with one minimum."""

        def slope(log_var: float) -> float:  # of Σρ(x)/n in ln σ²
            return float(1 - (nu + 1) * np.mean(x / (nu * np.exp(log_var) + x)))

        largest = np.max(x)
        lower, upper = np.log(max(np.min(x), 1e-12 * largest)), np.log(largest)
        if slope(lower) >= 0:
            best = lower
        elif slope(upper) <= 0:
            best = upper
        else:
            best = brentq(slope, lower, upper)
        return replace(self, nu=nu, scale_var=float(np.exp(best)))

    def _with_best_nu(self, x: Array) -> Self:
        """The best pair of nu and scale_var, by a grid and a search around its best point."""

        def profile(log_nu: float) -> float:
            return float(np.sum(self._with_best_scale(x, float(np.exp(log_nu))).rho(x)))

        best = int(np.argmin([profile(log_nu) for log_nu in _NU_GRID]))
        around = _NU_GRID[max(best - 1, 0)], _NU_GRID[min(best + 1, len(_NU_GRID) - 1)]
        search = minimize_scalar(profile, bounds=around, method="bounded", options={"xatol": 1e-6})
        return self._with_best_scale(x, float(np.exp(search.x)))
