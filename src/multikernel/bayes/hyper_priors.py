"""Hyper-priors on kernel weights: the remedy for evidence that keeps too few kernels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from .._component import Array, Component

_HUGE = 1e150


@dataclass(repr=False)
class HyperPrior(Component):
    r"""A prior on every weight, as the penalty :math:`-2 \ln p(d)` up to a constant.

    Notes
    -----
    Evidence and variational bounds lie below :math:`\sum_m A_m/d_m + B_m d_m` plus a constant,
    where :math:`A_m = d_m^2 q_m` and :math:`B_m = t_m` are taken at the present weights. The
    minimiser of that bound plus the penalty is a monotone step.
    """

    keeps_zeros: ClassVar[bool] = True  # whether a weight may be exactly zero

    def check(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        return None

    @abstractmethod
    def in_units(self, unit: float) -> Self:
        """The prior of weights that are counted in multiples of a unit."""

    @abstractmethod
    def value(self, d: Array) -> float:
        """The sum of the penalties."""

    @abstractmethod
    def gradient(self, d: Array) -> Array:
        """Their derivatives; finite at zero where zeros are kept."""

    @abstractmethod
    def hessian(self, d: Array) -> Array:
        """Their second derivatives."""

    @abstractmethod
    def minimiser(self, A: Array, B: Array) -> Array:
        r"""The weights that minimise :math:`A/d + B d` plus the penalty, elementwise."""

    def em_minimiser(self, A: Array, r: Array) -> Array:
        r"""The weights that minimise :math:`A/d + r \ln d` plus the penalty, elementwise.

        It is the step of expectation maximisation, which not every prior has in closed form.
        """
        raise TypeError(
            f"ExpectationMaximization has no closed form under {self!r}; use a Gamma or inverse "
            "Gamma prior, or method='newton' or 'mackay'."
        )


@dataclass(repr=False)
class FlatPrior(HyperPrior):
    """No preference among weights: type-II maximum likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> FlatPrior().minimiser(np.array([4.0, 0.0]), np.array([1.0, 1.0]))
    array([2., 0.])
    """

    def in_units(self, unit: float) -> Self:
        """The same: it prefers no weight."""
        return self

    def value(self, d: Array) -> float:
        """Zero."""
        return 0.0

    def gradient(self, d: Array) -> Array:
        """Zero."""
        return np.zeros(np.shape(d))

    def hessian(self, d: Array) -> Array:
        """Zero."""
        return np.zeros(np.shape(d))

    def minimiser(self, A: Array, B: Array) -> Array:
        """The root of A/d² = B."""
        return np.sqrt(np.divide(A, B, out=np.zeros_like(A), where=B > 0))

    def em_minimiser(self, A: Array, r: Array) -> Array:
        """The ratio A/r."""
        return np.divide(A, r, out=np.zeros_like(A), where=r > 0)


@dataclass(repr=False)
class GammaPrior(HyperPrior):
    r"""A Gamma distribution: shape 1 favours few kernels, larger shapes keep all of them.

    Parameters
    ----------
    shape : float, default=2.0
        At least 1. Above 1 no weight can be zero.
    rate : float, default=1.0
        Inverse scale, not negative. Kernels of unit mean diagonal and a target of unit variance
        have weights between 0 and 1; estimators count weights in units of the variance of y.

    Notes
    -----
    .. math:: -2 \ln p(d) = -2 (a - 1) \ln d + 2 b d, \qquad
              d = \frac{(a-1) + \sqrt{(a-1)^2 + A (B + 2b)}}{B + 2b}

    Examples
    --------
    >>> import numpy as np
    >>> GammaPrior(shape=2.0, rate=1.0).minimiser(np.array([0.0]), np.array([2.0]))
    array([0.5])
    """

    shape: float = 2.0
    rate: float = 1.0

    examples: ClassVar = ({}, {"shape": 1.0, "rate": 0.5}, {"shape": 1.5, "rate": 3.0})

    def check(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        if not 1 <= self.shape < np.inf:
            raise ValueError(
                f"GammaPrior: shape must be finite and at least 1 (below it the density is "
                f"unbounded at zero), got {self.shape}."
            )
        if not 0 <= self.rate < np.inf:
            raise ValueError(f"GammaPrior: rate must be finite and not negative, got {self.rate}.")

    @property
    def keeps_zeros(self) -> bool:  # type: ignore[override]
        """Whether a weight may be exactly zero."""
        return self.shape == 1

    def in_units(self, unit: float) -> Self:
        """The prior of weights that are counted in multiples of a unit."""
        return replace(self, rate=self.rate / unit)

    def value(self, d: Array) -> float:
        """The sum of the penalties."""
        linear = 2 * self.rate * float(np.sum(d))
        if self.keeps_zeros:
            return linear
        return (
            np.inf if np.any(d <= 0) else linear - 2 * (self.shape - 1) * float(np.sum(np.log(d)))
        )

    def gradient(self, d: Array) -> Array:
        """The derivatives 2b − 2(a−1)/d."""
        pull = 0.0 if self.keeps_zeros else 2 * (self.shape - 1) / np.maximum(d, 1 / _HUGE)
        return np.asarray(2 * self.rate - pull + np.zeros(np.shape(d)))

    def hessian(self, d: Array) -> Array:
        """The second derivatives 2(a−1)/d²."""
        return np.asarray(2 * (self.shape - 1) / np.maximum(d, 1 / _HUGE**0.5) ** 2)

    def minimiser(self, A: Array, B: Array) -> Array:
        """The root of −A/d² + B − 2(a−1)/d + 2b = 0."""
        a, slope = self.shape - 1, B + 2 * self.rate
        top = a + np.sqrt(a**2 + A * slope)
        return np.asarray(np.divide(top, slope, out=np.zeros_like(A), where=slope > 0))

    def em_minimiser(self, A: Array, r: Array) -> Array:
        """The positive root of 2b d² + (r − 2(a−1)) d − A = 0."""
        r = r - 2 * (self.shape - 1)
        if self.rate == 0:
            if np.any(r < 0 if self.keeps_zeros else r <= 0):
                raise ValueError(
                    f"ExpectationMaximization: under {self!r} the weight of a kernel of rank at "
                    "most 2 (shape - 1) has no best value; give a rate > 0."
                )
            return np.divide(A, r, out=np.zeros_like(A), where=r > 0)
        root = np.sqrt(r**2 + 8 * self.rate * A)
        small = 2 * A / np.where(r > 0, r + root, 1.0)  # the same root, free of cancellation
        return np.asarray(np.where(r > 0, small, (root - r) / (4 * self.rate)))


@dataclass(repr=False)
class InverseGammaPrior(HyperPrior):
    r"""An inverse Gamma distribution: every kernel keeps a weight, none grows without need.

    Parameters
    ----------
    shape, scale : float, default=1.0
        Positive.

    Notes
    -----
    .. math:: -2 \ln p(d) = 2 (a + 1) \ln d + 2 b / d, \qquad
              d = \frac{-(a+1) + \sqrt{(a+1)^2 + B (A + 2b)}}{B}

    Examples
    --------
    >>> import numpy as np
    >>> InverseGammaPrior(shape=1.0, scale=1.0).minimiser(np.array([3.0]), np.array([1.0]))
    array([1.])
    """

    shape: float = 1.0
    scale: float = 1.0

    keeps_zeros: ClassVar[bool] = False
    examples: ClassVar = ({}, {"shape": 0.5, "scale": 0.2}, {"shape": 3.0, "scale": 2.0})

    def check(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        for name in ("shape", "scale"):
            if not 0 < getattr(self, name) < np.inf:
                given = getattr(self, name)
                raise ValueError(f"InverseGammaPrior: {name} must be positive, got {given}.")

    def in_units(self, unit: float) -> Self:
        """The prior of weights that are counted in multiples of a unit."""
        return replace(self, scale=self.scale * unit)

    def value(self, d: Array) -> float:
        """The sum of the penalties."""
        if np.any(d <= 0):
            return np.inf
        return float(np.sum(2 * (self.shape + 1) * np.log(d) + 2 * self.scale / d))

    def gradient(self, d: Array) -> Array:
        """The derivatives 2(a+1)/d − 2b/d²."""
        d = np.maximum(d, 1 / _HUGE**0.5)
        return np.asarray(2 * (self.shape + 1) / d - 2 * self.scale / d**2)

    def hessian(self, d: Array) -> Array:
        """The second derivatives −2(a+1)/d² + 4b/d³."""
        d = np.maximum(d, 1 / _HUGE**0.5)
        return np.asarray(-2 * (self.shape + 1) / d**2 + 4 * self.scale / d**3)

    def minimiser(self, A: Array, B: Array) -> Array:
        """The root of −(A + 2b)/d² + B + 2(a+1)/d = 0, free of cancellation."""
        a, pull = self.shape + 1, A + 2 * self.scale
        return np.asarray(pull / (a + np.sqrt(a**2 + B * pull)))

    def em_minimiser(self, A: Array, r: Array) -> Array:
        """The root of −(A + 2b)/d² + (r + 2(a+1))/d = 0."""
        return np.asarray((A + 2 * self.scale) / (r + 2 * (self.shape + 1)))


@dataclass(repr=False)
class PowerPrior(HyperPrior):
    r"""The prior :math:`p(d) \propto e^{-w d^p / 2}` of an lp-norm penalty.

    Parameters
    ----------
    strength : float, default=1.0
        The factor w, not negative.
    p : float, default=2.0
        Order, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> PowerPrior(strength=1.0, p=2.0).minimiser(np.array([2.0]), np.array([0.0]))
    array([1.])
    """

    strength: float = 1.0
    p: float = 2.0

    examples: ClassVar = ({}, {"strength": 0.5, "p": 1.0}, {"strength": 3.0, "p": 1.5})

    def check(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        if not 0 <= self.strength < np.inf:
            raise ValueError(f"PowerPrior: strength must not be negative, got {self.strength}.")
        if not 1 <= self.p < np.inf:
            raise ValueError(f"PowerPrior: p must be finite and at least 1, got {self.p}.")

    def in_units(self, unit: float) -> Self:
        """The prior of weights that are counted in multiples of a unit."""
        return replace(self, strength=self.strength / unit**self.p)

    def value(self, d: Array) -> float:
        """The sum of the penalties."""
        return self.strength * float(np.sum(d**self.p))

    def gradient(self, d: Array) -> Array:
        """The derivatives w p d^(p−1)."""
        return np.asarray(self.strength * self.p * d ** (self.p - 1))

    def hessian(self, d: Array) -> Array:
        """The second derivatives w p (p−1) d^(p−2)."""
        bend = self.strength * self.p * (self.p - 1)
        return np.asarray(bend * np.maximum(d, 1 / _HUGE) ** (self.p - 2))

    def minimiser(self, A: Array, B: Array) -> Array:
        """The root of −A/d² + B + w p d^(p−1) = 0, by Newton steps from its right."""
        if self.p == 1:
            slope = B + self.strength
            return np.asarray(np.sqrt(np.divide(A, slope, out=np.zeros_like(A), where=slope > 0)))
        k, w = self.p + 1, self.strength * self.p
        with np.errstate(divide="ignore", invalid="ignore"):  # B d² + w d^(p+1) = A, convex
            d = np.fmin(np.sqrt(A / B), (A / w) ** (1 / k))
        d = np.where(A > 0, d, 0.0)
        for _ in range(60):
            slope = 2 * B * d + w * k * d ** (k - 1)
            excess = B * d**2 + w * d**k - A
            step = np.divide(excess, slope, out=np.zeros_like(d), where=slope > 0)
            d = d - np.maximum(step, 0.0)
            if np.all(step <= 1e-15 * d):
                break
        return np.asarray(d)


HYPER_PRIORS: dict[str, type[HyperPrior]] = {
    "flat": FlatPrior,
    "gamma": GammaPrior,
    "inverse_gamma": InverseGammaPrior,
    "power": PowerPrior,
}
