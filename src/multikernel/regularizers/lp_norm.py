"""The power regularizer: from sparse (p = 1) to nearly uniform (large p) weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from .._component import Array
from ._powers import (
    FEASIBLE,
    HUGE,
    SLACK,
    TINY,
    conjugate_order,
    divide,
    nonnegative,
    p_norm,
    power,
    power_prox,
    total,
)
from .base import Curvature, Regularizer, available_when


def check_form(form: str, owner: str) -> None:
    """Raise ValueError unless the form is one of the two known ones."""
    if form not in ("tikhonov", "ivanov"):
        raise ValueError(f"{owner}: form must be 'tikhonov' or 'ivanov', got {form!r}.")


@dataclass(repr=False)
class LpNorm(Regularizer):
    r"""Penalise the p-th power of the weights or bound their p-norm: sparse at p = 1, then even.

    Parameters
    ----------
    p : float, default=1.0
        Order of the norm, at least 1. The default is the block 1-norm (group lasso over kernels).
    form : {"tikhonov", "ivanov"}, default="tikhonov"
        Whether the norm is added to the objective or bounded by one.

    Notes
    -----
    With :math:`x_m = \|f_m\|^2 = t_m^2`, :math:`q = 2p/(1+p)` and :math:`p^* = p/(p-1)`, the
    Tikhonov form ([TS10]_, Corollary 3) is

    .. math:: h(d) = \tfrac1p \sum_m d_m^p, \quad g(x) = \tfrac1q \sum_m t_m^q, \quad
              d_m = x_m^{1/(1+p)}, \quad \Omega(G) = \tfrac1{p^*} \sum_m G_m^{p^*}

    (for p = 1 the indicator of :math:`G_m \le 1`), and the Ivanov form is

    .. math:: h(d) = \iota(\|d\|_p \le 1), \quad g(x) = \tfrac12 \|t\|_q^2, \quad
              d \propto x^{1/(1+p)}, \quad \Omega(G) = \|G\|_{p^*}.

    Examples
    --------
    >>> import numpy as np
    >>> LpNorm(p=1.0).optimal_weights(np.array([4.0, 0.0, 9.0]))
    array([2., 0., 3.])
    >>> LpNorm(p=1.0, form="ivanov").optimal_weights(np.array([4.0, 0.0, 9.0]))
    array([0.4, 0. , 0.6])
    """

    p: float = 1.0
    form: str = "tikhonov"

    examples: ClassVar = (
        {"p": 1.0},
        {"p": 1.5},
        {"p": 2.0},
        {"p": 3.0},
        {"p": 4.0},
        {"p": 1.0, "form": "ivanov"},
        {"p": 1.25, "form": "ivanov"},
        {"p": 2.0, "form": "ivanov"},
        {"p": 4.0, "form": "ivanov"},
    )

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        check_form(self.form, "LpNorm")
        if not 1 <= self.p < np.inf:
            raise ValueError(
                f"LpNorm: p must be finite and at least 1, got {self.p}; for p = inf use Uniform()."
            )

    @property
    def separable(self) -> bool:
        """Whether h and g are sums of one term per kernel."""
        return not self._bounded

    @property
    def active_threshold(self) -> float:
        """The value of √G_m below which a weight is zero at the optimum."""
        return 1.0 if self._block_one else 0.0

    @property
    def _bounded(self) -> bool:
        return self.form == "ivanov"

    @property
    def _block_one(self) -> bool:
        return self.p == 1 and not self._bounded

    @property
    def _degree(self) -> float:
        """The degree of homogeneity of the penalty."""
        return self.p

    @property
    def _penalty_scale(self) -> float:
        """The penalty where the norm is one."""
        return 1 / self.p

    @property
    def _q(self) -> float:
        """The order of the block norm."""
        return 2 * self.p / (1 + self.p)

    def _gauge(self, d: Array) -> float:
        """The norm whose power is the penalty and whose unit ball is the constraint."""
        return p_norm(nonnegative(d), self.p)

    @available_when(lambda self: self._bounded)
    def norm(self, d: Array) -> float:
        """The norm of the weights, which the constraint keeps at most 1."""
        return self._gauge(d)

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        if np.any(d < 0):
            return np.inf
        if self._bounded:
            return 0.0 if self._gauge(d) <= 1 + FEASIBLE else np.inf
        return total(power(d, self.p)) / self.p

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        d = nonnegative(sq_norms) ** (1 / (1 + self.p))  # x^(1/(1+p))
        return divide(d, self._gauge(d)) if self._bounded else d

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        x = nonnegative(sq_norms)
        if self._bounded:
            return p_norm(x, self._q / 2) / 2  # ½ ‖t‖_q² = ½ ‖x‖_{q/2}
        return total(power(x, self._q / 2)) / self._q  # (1/q) Σ t^q

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        G = nonnegative(G)
        if self._block_one:
            return 0.0 if np.max(G) <= 1 + SLACK else np.inf
        order = conjugate_order(self.p)
        if self._bounded:
            return p_norm(G, order)
        return total(power(G, order)) / order

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        largest = float(np.max(nonnegative(G)))
        if self._bounded or largest == 0:
            return 1.0
        order = conjugate_order(self.p)  # (c² G)^p* must stay below the largest float
        return min(1.0, float(np.sqrt((1e300 / np.size(G)) ** (1 / order) / largest)))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        largest = float(np.max(nonnegative(G)))
        if largest == 0:
            return np.inf
        return 1 / float(np.sqrt(largest)) if self._block_one else 0.0

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return np.full(n_kernels, n_kernels ** (-1 / self.p))  # on the unit sphere

    def gradient(self, d: Array) -> Array:
        r"""The gradient of :math:`\sum_m d_m^p / p`."""
        return power(nonnegative(d), self.p - 1)

    def hessian(self, d: Array) -> Array:
        r"""The diagonal of the Hessian of :math:`\sum_m d_m^p / p`, kept finite at zero."""
        if self.p == 1:
            return np.zeros(np.shape(d))
        return (self.p - 1) * power(np.maximum(d, TINY), self.p - 2)

    @available_when(lambda self: self.p > 1)
    def dual_weights(self, G: Array) -> Array:
        r"""The weights that attain :math:`\Omega(G)`, which are its gradient."""
        G = nonnegative(G)
        if self._bounded:
            G = divide(G, p_norm(G, conjugate_order(self.p)))
        return np.minimum(power(G, 1 / (self.p - 1)), HUGE)  # d = G^(1/(p-1))

    @available_when(lambda self: self.p > 1)
    def dual_curvature(self, G: Array) -> Curvature:
        r"""The Jacobian of ``dual_weights``; a kernel with :math:`G_m = 0` has no curvature."""
        G, d, a = nonnegative(G), self.dual_weights(G), 1 / (self.p - 1)
        D = a * np.minimum(divide(d, G), HUGE)  # a d/G
        if not self._bounded:
            return Curvature(D, np.zeros((len(d), 0)), np.zeros(0))
        N = p_norm(G, conjugate_order(self.p))
        return Curvature(D, d[:, None], -divide(a, np.array([N])))  # − (a/N) d dᵀ

    def prox(self, r: Array, step: Array | float) -> Array:
        r"""The minimiser over :math:`t \ge 0` of :math:`\tfrac12\|t-r\|^2 + \gamma g(t^2)`."""
        r = nonnegative(r)
        if self._bounded:
            return self._bounded_prox(r, float(step))
        if self.p == 1:
            return np.asarray(np.maximum(r - step, 0.0))  # soft threshold
        return power_prox(r, step, self._q)

    @available_when(lambda self: not self._bounded)
    def prox_derivative(self, r: Array, step: Array | float) -> Array:
        """The elementwise derivative of ``prox`` in r."""
        if self.p == 1:
            return np.where(nonnegative(r) > step, 1.0, 0.0)
        q, t = self._q, self.prox(r, step)
        bend = t ** (2 - q)
        return np.asarray(bend / (bend + step * (q - 1)))  # 1 / (1 + γ (q-1) t^(q-2))

    def _bounded_prox(self, r: Array, step: float) -> Array:
        if self.p == 1:
            ordered = np.sort(r)[::-1]
            k = np.arange(1, len(r) + 1)
            threshold = np.max(step * np.cumsum(ordered) / (1 + step * k))  # τ_k, largest at its k
            return np.asarray(np.maximum(r - threshold, 0.0))
        q, largest = self._q, p_norm(r, self._q)
        if largest == 0:
            return np.zeros_like(r)

        def candidate(N: float) -> Array:
            return power_prox(r, step * N ** (2 - q), q)  # t + γ N^(2-q) t^(q-1) = r

        def defect(N: float) -> float:
            return p_norm(candidate(N), q) - N

        lowest = TINY * largest
        return candidate(
            float(brentq(defect, lowest, largest, xtol=1e-300, rtol=1e-14, maxiter=999))
        )
