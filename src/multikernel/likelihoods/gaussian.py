"""Gaussian likelihood: regression with normal errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri

from .._component import Array
from ..losses import Loss, Squared
from .base import RegressionLikelihood


@dataclass(repr=False)
class Gaussian(RegressionLikelihood):
    r"""Normal errors of one variance, the only likelihood for which everything is exact.

    Parameters
    ----------
    noise_var : float, default=1.0
        Variance :math:`\sigma^2` of the errors.

    Notes
    -----
    .. math:: P(y|u) = N(y | u, \sigma^2), \qquad \rho(x) = x/\sigma^2 + \ln 2 \pi \sigma^2

    The best bound has :math:`\gamma = \sigma^2` whatever x. Wider ones do not exist:
    :math:`h(\gamma) = \infty` for :math:`\gamma > \sigma^2`, and it is constant below.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.likelihoods import Gaussian
    >>> Gaussian(noise_var=0.5).predictive_var(np.array([0.0, 3.0]), np.array([0.0, 2.0]))
    array([0.5, 2.5])
    """

    noise_var: float = 1.0
    is_gaussian: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"noise_var": 0.3}, {"noise_var": 6.0})

    def check(self) -> None:
        """Raise ValueError unless noise_var is a finite number > 0."""
        self._check_positive("noise_var", "give the variance of the errors")

    @property
    def _log_norm(self) -> float:
        return float(np.log(2 * np.pi * self.noise_var))

    def rho(self, x: Array) -> Array:
        """The concave function of the representation, a straight line."""
        return x / self.noise_var + self._log_norm

    def rho_prime(self, x: Array) -> Array:
        """The precision of the errors."""
        return np.full(np.shape(x), 1.0 / self.noise_var)

    def rho_second(self, x: Array) -> Array:
        """Zero."""
        return np.zeros(np.shape(x))

    def x_hat(self, gamma: Array) -> Array:
        """Zero, as the bound of variance noise_var touches everywhere and narrower ones at 0."""
        return np.zeros(np.shape(gamma))

    def site_var(self, x: Array) -> Array:
        """The variance of the errors."""
        return np.full(np.shape(x), float(self.noise_var))

    def h(self, gamma: Array) -> Array:
        """A constant up to noise_var, infinite beyond."""
        return np.where(np.asarray(gamma) <= self.noise_var, self._log_norm, np.inf)

    def log_predictive(self, y: Array, mean: Array, var: Array) -> Array:
        """The log-density of a normal target."""
        total = var + self.noise_var
        return np.asarray(-((y - mean) ** 2) / (2 * total) - np.log(2 * np.pi * total) / 2)

    @property
    def residual_var(self) -> float:
        """The variance of the errors."""
        return float(self.noise_var)

    def residual_cdf(self, residual: Array) -> Array:
        """The normal distribution function."""
        return np.asarray(ndtr(residual / np.sqrt(self.noise_var)))

    def residual_quantile(self, q: Array) -> Array:
        """The normal quantile."""
        return np.asarray(np.sqrt(self.noise_var) * ndtri(q))

    def predictive_cdf(self, y: Array, mean: Array, var: Array) -> Array:
        """The probability of a target at most y."""
        return np.asarray(ndtr((y - mean) / np.sqrt(var + self.noise_var)))

    def predictive_quantile(self, q: Array, mean: Array, var: Array) -> Array:
        """The target below which the probability is q."""
        return np.asarray(mean + np.sqrt(var + self.noise_var) * ndtri(q))

    def sample(self, u: Array, rng: np.random.Generator) -> Array:
        """Targets drawn given latent values u."""
        return rng.normal(u, np.sqrt(self.noise_var))

    def learned(self, x: Array) -> Self:
        """The likelihood whose noise_var is the mean of x; itself where x is 0."""
        noise_var = float(np.mean(x))  # σ² = Σx/n minimises Σρ(x)
        return replace(self, noise_var=noise_var) if noise_var > 0 else self

    def convex_loss(self) -> tuple[Loss, float]:
        r"""The squared loss and :math:`2/\sigma^2`."""
        return Squared(), 2.0 / self.noise_var

    def constant(self, y: Array) -> Array:
        r"""The constant :math:`\ln 2 \pi \sigma^2`."""
        return np.full(np.shape(y), self._log_norm)
