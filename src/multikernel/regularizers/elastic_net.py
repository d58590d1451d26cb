"""The elastic net: between sparse kernel selection and the plain sum of kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ._powers import FEASIBLE, SLACK, TINY, divide, nonnegative, total
from .base import Curvature, Regularizer, available_when


@dataclass(repr=False)
class ElasticNet(Regularizer):
    r"""Mix the sparse block 1-norm and the uniform sum of kernels.

    Parameters
    ----------
    l1_ratio : float in [0, 1], default=0.5
        Share of the sparse part, as in scikit-learn: 1 is ``LpNorm(p=1)``, 0 is ``Uniform()``.

    Notes
    -----
    With :math:`\lambda = 1 - \mathtt{l1\_ratio}` and :math:`t_m = \|f_m\|` ([TS10]_, Corollary 8,
    with the domain :math:`d_m < 1/\lambda` that it omits)

    .. math:: h(d) = \sum_m \frac{(1-\lambda)^2 d_m}{1 - \lambda d_m}, \quad
              g(x) = \sum_m (1-\lambda) t_m + \tfrac\lambda2 x_m, \quad
              d_m = \frac{t_m}{(1-\lambda) + \lambda t_m}, \quad
              \Omega(G) = \tfrac1\lambda \sum_m \big(\sqrt{G_m} - (1-\lambda)\big)_+^2 .

    Examples
    --------
    >>> import numpy as np
    >>> ElasticNet(l1_ratio=0.5).optimal_weights(np.array([9.0, 0.0, 1.0]))
    array([1.5, 0. , 1. ])
    """

    l1_ratio: float = 0.5

    examples: ClassVar = (
        {"l1_ratio": 0.5},
        {"l1_ratio": 0.1},
        {"l1_ratio": 0.0},
        {"l1_ratio": 1.0},
    )

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"ElasticNet: l1_ratio must lie in [0, 1], got {self.l1_ratio}.")

    @property
    def separable(self) -> bool:
        """Whether h and g are sums of one term per kernel."""
        return True

    @property
    def upper_bound(self) -> float:
        """The supremum of a weight where h is finite."""
        return 1 / self._lam if self._lam > 0 else np.inf

    @property
    def active_threshold(self) -> float:
        """The value of √G_m below which a weight is zero at the optimum."""
        return self.l1_ratio

    @property
    def _lam(self) -> float:
        return 1 - self.l1_ratio

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        if np.any(d < 0):
            return np.inf
        if self.l1_ratio == 0:  # the indicator of [0, 1]
            return 0.0 if np.max(d) <= 1 + FEASIBLE else np.inf
        room = 1 - self._lam * d
        if np.any(room <= 0):
            return np.inf
        return total(self.l1_ratio**2 * d / room)

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        t = np.sqrt(nonnegative(sq_norms))
        if self.l1_ratio == 0:
            return np.ones_like(t)
        return np.asarray(t / (self.l1_ratio + self._lam * t))

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        x = nonnegative(sq_norms)
        return self.l1_ratio * total(np.sqrt(x)) + self._lam / 2 * total(x)

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        G = nonnegative(G)
        if self._lam == 0:
            return 0.0 if np.max(G) <= 1 + SLACK else np.inf
        excess = np.maximum(np.sqrt(G) - self.l1_ratio, 0.0)
        return total(excess**2) / self._lam

    def dual_ray(self, G: Array) -> Callable[[float], float]:
        r"""The function :math:`c \mapsto \Omega(c^2 G)`, for c up to 1 of few kernels."""
        if self._lam == 0:
            return super().dual_ray(G)
        roots = np.sqrt(nonnegative(G))
        some = roots[roots > self.l1_ratio]  # c√G > 1-λ asks for √G > 1-λ

        def ray(c: float) -> float:
            excess = np.maximum(c * (some if c <= 1 else roots) - self.l1_ratio, 0.0)
            return total(excess**2) / self._lam

        return ray

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        if self._lam > 0:
            return 1.0
        return float(1 / max(1.0, np.sqrt(np.max(nonnegative(G)))))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        largest = float(np.max(nonnegative(G)))
        return self.l1_ratio / float(np.sqrt(largest)) if largest > 0 else np.inf

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return self.optimal_weights(np.full(n_kernels, float(n_kernels) ** -2))

    @available_when(lambda self: self.l1_ratio > 0)
    def gradient(self, d: Array) -> Array:
        """The gradient of h."""
        room = np.maximum(1 - self._lam * d, TINY)
        return np.asarray(self.l1_ratio**2 / room**2)

    @available_when(lambda self: self.l1_ratio > 0)
    def hessian(self, d: Array) -> Array:
        """The diagonal of the Hessian of h."""
        room = np.maximum(1 - self._lam * d, TINY)
        return np.asarray(2 * self._lam * self.l1_ratio**2 / room**3)

    @available_when(lambda self: self.l1_ratio < 1)
    def dual_weights(self, G: Array) -> Array:
        r"""The weights that attain :math:`\Omega(G)`, which are its gradient."""
        if self.l1_ratio == 0:
            return np.ones(np.shape(G))
        s = np.sqrt(nonnegative(G))
        return divide(np.maximum(s - self.l1_ratio, 0.0), self._lam * s)  # (1 - (1-λ)/√G)₊ / λ

    @available_when(lambda self: self.l1_ratio < 1)
    def dual_curvature(self, G: Array) -> Curvature:
        """The Jacobian of ``dual_weights``, a diagonal."""
        s = np.sqrt(nonnegative(G))
        active = (s > self.l1_ratio) & (self.l1_ratio > 0)
        D = np.zeros_like(s)
        D[active] = self.l1_ratio / (2 * self._lam) * s[active] ** -3.0  # (1-λ)/2λ · G^(-3/2)
        return Curvature(D, np.zeros((len(s), 0)), np.zeros(0))

    def prox(self, r: Array, step: Array | float) -> Array:
        r"""The minimiser over :math:`t \ge 0` of :math:`\tfrac12\|t-r\|^2 + \gamma g(t^2)`."""
        return np.asarray(np.maximum(r - step * self.l1_ratio, 0.0) / (1 + step * self._lam))

    def prox_derivative(self, r: Array, step: Array | float) -> Array:
        """The elementwise derivative of ``prox`` in r."""
        return np.asarray((r > step * self.l1_ratio) / (1 + step * self._lam))
