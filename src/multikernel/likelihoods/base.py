"""Likelihood: a normalised loss, its Gaussian scale bound and its predictive distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtri

from .._component import Array, Component
from ..losses import Loss
from ..losses._root import increasing_root
from ._quadrature import log_expectation

_TINY = float(np.finfo(float).tiny)
_LOOSE = 100.0  # quantiles are found to 1e-13, the accuracy of the distribution functions


@dataclass(repr=False)
class Likelihood(Component, ABC):
    r"""The probability of a target given the latent function, with everything inference asks of it.

    All methods are elementwise: arrays ``y`` (targets), ``u`` (latent values), ``x``, ``gamma``,
    ``z``, ``mean``, ``var`` have one shape or broadcast to it, and so has the result. Values are on
    the :math:`-2\ln` scale, constants included.

    Attributes
    ----------
    y_domain : {"real", "sign"}
        What targets may be; validation and tests read it.
    log_concave : bool
        Whether :math:`-2 \ln P(y|u)` is convex in u. If it is, so is ``h``, and ``convex_loss`` and
        ``conjugate`` exist.
    is_gaussian : bool
        Whether the likelihood is its own Gaussian bound, of variance ``noise_var``, so that the
        variational bound is the evidence itself.

    Notes
    -----
    With a centre c, a slope :math:`\beta` and :math:`\rho` concave increasing, every likelihood is

    .. math:: \ln P(y|u) = \beta s - \tfrac12 \rho(s^2), \qquad s = u - c,

    hence a maximum of Gaussians over their variances :math:`\gamma` ([NS11]_, Section 2.3), the
    best of them being :math:`\hat\gamma(s^2) = 1/\rho'(s^2)`:

    .. math:: P(y|u) = \max_{\gamma > 0} \exp\big(\beta s - \tfrac{s^2}{2 \gamma}
              - \tfrac12 h(\gamma)\big), \qquad
              h(\gamma) = \max_{x \ge 0} \rho(x) - x / \gamma .
    """

    y_domain: ClassVar[str] = "real"
    log_concave: ClassVar[bool] = True
    is_gaussian: ClassVar[bool] = False

    def check(self) -> None:
        """Raise ValueError where a parameter is out of range; estimators call it in ``fit``."""
        return None

    def _check_positive(self, name: str, advice: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, Real) or not 0 < float(value) < np.inf:
            what = f"{type(self).__name__}.{name} must be a finite number > 0"
            raise ValueError(f"{what}, got {value!r}; {advice}.")

    # The representation ln P = βs − ½ρ(s²), s = u − c

    @abstractmethod
    def center(self, y: Array) -> Array:
        r"""The centre c of the bounds."""

    @abstractmethod
    def slope(self, y: Array) -> Array:
        r"""The slope :math:`\beta`."""

    @abstractmethod
    def rho(self, x: Array) -> Array:
        r"""The concave increasing function :math:`\rho(x)`, :math:`x \ge 0`."""

    @abstractmethod
    def rho_prime(self, x: Array) -> Array:
        r"""The derivative :math:`\rho'(x)`."""

    @abstractmethod
    def rho_second(self, x: Array) -> Array:
        r"""The second derivative :math:`\rho''(x) \le 0`."""

    def value(self, y: Array, u: Array) -> Array:
        r"""The loss :math:`-2 \ln P(y|u)`, with all constants."""
        return self.smoothed_value(y, u, np.zeros(()))

    def gradient(self, y: Array, u: Array) -> Array:
        """The derivative of the value in u; 0 at a kink."""
        return self.smoothed_gradient(y, u, np.zeros(()))

    def hessian(self, y: Array, u: Array) -> Array:
        """The second derivative of the value in u; 0 at a kink."""
        return self.smoothed_hessian(y, u, np.zeros(()))

    # The Gaussian scale bound

    @abstractmethod
    def x_hat(self, gamma: Array) -> Array:
        """The s² at which the Gaussian of variance gamma touches: ``site_var`` inverted, or 0."""

    def site_var(self, x: Array) -> Array:
        r"""The variance :math:`1/\rho'(x)` of the Gaussian that touches at s² = x."""
        return np.asarray(1.0 / self.rho_prime(x))

    def h(self, gamma: Array) -> Array:
        r"""Minus twice the log-height of the bound, :math:`h(\gamma)`."""
        x = self.x_hat(gamma)
        return self.rho(x) - x / gamma

    def h_prime(self, gamma: Array) -> Array:
        r"""The derivative :math:`h'(\gamma) = \hat x(\gamma)/\gamma^2`."""
        return np.asarray(self.x_hat(gamma) / gamma**2)

    def h_second(self, gamma: Array) -> Array:
        r"""The second derivative of h; 0 for variances below the range of ``site_var``."""
        x = self.x_hat(gamma)
        curvature = np.where(x > 0, self.rho_second(x), -1.0)
        # h'' = −1/(γ⁴ρ''(x̂)) − 2x̂/γ³
        return np.where(x > 0, -1.0 / (gamma**4 * curvature) - 2 * x / gamma**3, 0.0)

    # The smoothed loss min over γ of (s² + z)/γ + h(γ) − 2βs = ρ(s² + z) − 2βs

    def _residual(self, y: Array, u: Array) -> Array:
        return np.asarray(u - self.center(y))

    def smoothed_value(self, y: Array, u: Array, z: Array) -> Array:
        r"""The value smoothed by a variance z, :math:`\rho(s^2 + z) - 2 \beta s`."""
        s = self._residual(y, u)
        return self.rho(s**2 + z) - 2 * self.slope(y) * s

    def smoothed_gradient(self, y: Array, u: Array, z: Array) -> Array:
        """The derivative of the smoothed value in u."""
        s = self._residual(y, u)
        return 2 * s * self.rho_prime(s**2 + z) - 2 * self.slope(y)

    def smoothed_hessian(self, y: Array, u: Array, z: Array) -> Array:
        """The second derivative of the smoothed value in u."""
        s = self._residual(y, u)
        x = s**2 + z
        return 2 * self.rho_prime(x) + 4 * s**2 * self.rho_second(x)

    def smoothed_slope(self, y: Array, u: Array, z: Array) -> Array:
        """The derivative of the smoothed value in z."""
        return self.rho_prime(self._residual(y, u) ** 2 + z)

    # Prediction with a latent value u ~ N(mean, var)

    def log_predictive(self, y: Array, mean: Array, var: Array) -> Array:
        r"""The log-density (or log-probability) :math:`\ln \int P(y|u)\, N(u|\mu, v)\, du`."""
        return log_expectation(
            lambda y, u: -self.value(y, u) / 2, y, self.center(np.asarray(y)), mean, var
        )

    @abstractmethod
    def predictive_mean(self, mean: Array, var: Array) -> Array:
        """The expected target."""

    @abstractmethod
    def predictive_var(self, mean: Array, var: Array) -> Array:
        """The variance of the target."""

    @abstractmethod
    def sample(self, u: Array, rng: np.random.Generator) -> Array:
        """Targets drawn given latent values u, of the same shape."""

    # Learning, and the way to the convex solvers

    @abstractmethod
    def learned(self, x: Array) -> Self:
        r"""The likelihood with parameters that fit second moments of the residuals better.

        Parameters
        ----------
        x : array
            :math:`x_i = s_i^2 + V_{ii}`: squared residuals plus posterior variances.

        Returns
        -------
        likelihood : Likelihood
            Its :math:`\sum_i \rho(x_i)` is never above that of the present one.
        """

    @property
    def latent_scale(self) -> float:
        """The factor by which ``convex_loss`` scales the latent values."""
        return 1.0

    def convex_loss(self) -> tuple[Loss, float]:
        r"""A loss and a factor that express the value for the convex solvers.

        Returns
        -------
        loss : Loss
            The loss :math:`\ell`.
        factor : float
            The factor F.

        Notes
        -----
        .. math:: -2 \ln P(y|u) = F\, \ell(y, a u) + \mathrm{constant}(y)

        with :math:`a` = ``latent_scale``, 1 for all but the logistic likelihood. Where a is not 1,
        work with :math:`f = a u`, whose kernels are the given ones times :math:`a^2`.
        """
        raise TypeError(
            f"{type(self).__name__} has no convex loss; "
            "use objective='vb', or a log-concave likelihood such as Laplace."
        )

    def constant(self, y: Array) -> Array:
        r"""What ``convex_loss`` leaves out of the value."""
        return np.zeros_like(y, dtype=float)

    def conjugate(self, y: Array, alpha: Array) -> Array:
        r"""The dual value :math:`\min_u -2 \ln P(y|u) + 2 \alpha u`; -inf outside its domain.

        Notes
        -----
        With :math:`\ell_P = -2 \ln P` this is :math:`-\ell_P^*(-2\alpha)`, attained where
        :math:`\alpha = -\tfrac12 \ell_P'(u)`.
        """
        loss, factor = self.convex_loss()
        dual = np.asarray(-2 * alpha / (factor * self.latent_scale))
        return self.constant(y) - factor * loss.conjugate(y, dual)


@dataclass(repr=False)
class RegressionLikelihood(Likelihood, ABC):
    """A target that is the latent value plus an independent error, symmetric about 0."""

    @property
    @abstractmethod
    def residual_var(self) -> float:
        """The variance of the error, ``inf`` where it has none."""

    @abstractmethod
    def residual_cdf(self, residual: Array) -> Array:
        """The probability that the error is at most this."""

    @abstractmethod
    def residual_quantile(self, q: Array) -> Array:
        """The inverse of ``residual_cdf``."""

    def center(self, y: Array) -> Array:
        """The target itself."""
        return np.asarray(y, dtype=float)

    def slope(self, y: Array) -> Array:
        """Zero: the error is symmetric."""
        return np.zeros_like(y, dtype=float)

    def predictive_mean(self, mean: Array, var: Array) -> Array:
        """The expected target, the latent mean (the median where the error has no mean)."""
        return np.broadcast_arrays(np.asarray(mean, dtype=float), var)[0].copy()

    def predictive_var(self, mean: Array, var: Array) -> Array:
        """The variance of the target: that of the latent value plus that of the error."""
        return np.broadcast_arrays(np.asarray(var, dtype=float), mean)[0] + self.residual_var

    def predictive_cdf(self, y: Array, mean: Array, var: Array) -> Array:
        """The probability of a target at most y."""

        def log_cdf(y: Array, u: Array) -> Array:
            with np.errstate(divide="ignore"):  # ln 0 = −inf adds nothing
                return np.asarray(np.log(self.residual_cdf(y - u)))

        return np.asarray(np.exp(log_expectation(log_cdf, y, y, mean, var)))

    def predictive_quantile(self, q: Array, mean: Array, var: Array) -> Array:
        r"""The target below which the probability is q, for q from 0 to 1.

        Notes
        -----
        By symmetry only the lower tail is solved, :math:`\ln F(\mu - t) = \ln q` for t, by Newton
        steps. With :math:`u` Gaussian and the error independent, t lies between the larger of their
        quantiles at 2q and the sum of their quantiles at q/2.
        """
        q, mean, var = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (q, mean, var)))
        tail = np.minimum(q, 1.0 - q)
        inside = np.where(tail > 0, tail, 0.25)

        def alone(p: Array) -> tuple[Array, Array]:  # minus the quantiles of both parts
            return -np.sqrt(var) * ndtri(p), -self.residual_quantile(p)

        def evaluate(t: Array) -> tuple[Array, Array]:
            cdf = np.maximum(self.predictive_cdf(-t, np.zeros_like(t), var), _TINY)
            density = np.exp(self.log_predictive(-t, np.zeros_like(t), var))
            return np.log(inside / cdf), density / cdf  # increasing in t

        lower, upper = np.maximum(*alone(np.minimum(2 * inside, 0.5))), np.add(*alone(inside / 2))
        start = np.hypot(*alone(inside))  # exact for Gaussian errors
        t = increasing_root(evaluate, lower, upper, start, scale=_LOOSE * upper)
        return np.asarray(mean + np.sign(q - 0.5) * np.where(tail > 0, t, np.inf))
