"""A penalty on the weights given by the user, conjugated numerically."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ._conjugation import (
    FARTHEST,
    HIGHEST,
    LOWEST,
    SLOPE_ERROR,
    Terms,
    all_pairs,
    check_convex,
    describe,
    difference_quotient,
    evaluate,
    full_gradient,
    increasing_zero,
    largest_scale,
    random_pairs,
    row_by_row,
    search,
    slopes,
    supremum,
)
from ._powers import HUGE, divide, nonnegative, total
from .base import Regularizer


def _linear_quadratic(d: Array) -> Array:
    """The penalty d + d²/2, sparse and strongly convex."""
    return np.asarray(d + d**2 / 2)


def _linear_quadratic_slope(d: Array) -> Array:
    """The derivative of ``_linear_quadratic``."""
    return np.asarray(1 + d)


def _exponential(d: Array) -> Array:
    """The penalty exp(d) - 1, sparse and steep."""
    return np.asarray(np.expm1(d))


def _mean_square(d: Array) -> float:
    """The penalty (Σd)²/2 + Σd²/4, which couples all weights."""
    return float(np.sum(d) ** 2 / 2 + np.sum(d**2) / 4)


def _mean_square_slope(d: Array) -> Array:
    """The gradient of ``_mean_square``."""
    return np.asarray(np.sum(d) + d / 2)


@dataclass(repr=False)
class WeightPenalty(Regularizer):
    r"""A penalty h on the weights that the user wrote, conjugated numerically.

    Made by :func:`from_weight_penalty`, which explains the parameters.

    Notes
    -----
    In the separable case :math:`d_m` solves :math:`h'(d) = x_m / d^2`, and
    :math:`\Omega(G) = \sum_m \sup_d d G_m - h(d)` is attained at :math:`h'(d) = G_m`; both roots
    are bracketed in :math:`\log d`. Otherwise both are found by L-BFGS ([TS10]_, Theorem 1).

    Examples
    --------
    >>> import numpy as np
    >>> reg = WeightPenalty(np.expm1, np.exp)
    >>> round(reg.dual_value(np.array([np.e])), 6)  # G log G - G + 1
    1.0
    """

    penalty: Terms
    derivative: Terms | None = None
    separable: bool = True

    examples: ClassVar = (
        {"penalty": _linear_quadratic},
        {"penalty": _linear_quadratic, "derivative": _linear_quadratic_slope},
        {"penalty": _exponential, "derivative": np.exp},
        {"penalty": _mean_square, "derivative": _mean_square_slope, "separable": False},
    )

    def __repr__(self) -> str:
        return describe(self, self.penalty, self.separable)

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        if self.separable:
            grid = np.logspace(-6, 4, 101)
            values = evaluate(self.penalty, grid)
            if values.shape != grid.shape:
                raise ValueError(
                    "h must return one term per weight; for a penalty that couples the weights "
                    "pass separable=False."
                )
            check_convex(lambda d: evaluate(self.penalty, d), all_pairs(grid), "h")

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
        if not self.separable:
            check_convex(row_by_row(self.penalty), random_pairs(n_kernels), "h")

    @property
    def upper_bound(self) -> float:
        """The supremum of a weight where h is finite."""
        end = self._end() if self.separable else np.inf
        return end if end < HUGE else np.inf  # beyond it terms overflow

    def _end(self) -> float:
        """The supremum of a weight where its term is finite."""
        anchor = self._anchor(1)

        def outside(d: Array) -> Array:
            infinite = ~np.isfinite(evaluate(self.penalty, d))
            return np.where(infinite & (d > anchor), 1.0, -1.0)

        return float(increasing_zero(outside, 1)[0])

    def _anchor(self, n: int) -> float:
        """A weight at which the penalty is finite."""
        for d in sorted(np.logspace(-12, 12, 49), key=lambda d: abs(np.log(d))):
            if np.all(np.isfinite(evaluate(self.penalty, np.full(n, d)))):
                return float(d)
        raise ValueError("h must be finite at some positive weights.")

    def _slope(self, d: Array, anchor: float) -> Array:
        """The derivative of the terms, infinite outside of their domain."""
        inside = np.isfinite(evaluate(self.penalty, d))
        beyond = np.where(d > anchor, np.inf, -np.inf)
        return np.where(inside, slopes(self.penalty, self.derivative, d), beyond)

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        if np.any(d < 0):
            return np.inf
        return total(evaluate(self.penalty, np.maximum(d, LOWEST)))

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        x = nonnegative(sq_norms)
        anchor = self._anchor(len(x))
        if self.separable:  # h'(d) = x / d²
            return increasing_zero(lambda d: self._slope(d, anchor) - x / d**2, len(x))
        return self._coupled_weights(x, anchor)

    def _coupled_weights(self, x: Array, anchor: float) -> Array:
        used = x > 0  # these weights are positive and searched by their logarithm

        def weights(u: Array) -> Array:
            return np.where(used, np.exp(np.where(used, u, 0.0)), np.maximum(u, 0.0))

        def objective(u: Array) -> tuple[float, Array]:
            d = weights(u)
            slope = full_gradient(self.penalty, self.derivative, d) - divide(x, d**2)
            return float(np.sum(divide(x, d))) + self.value(d), np.where(used, d, 1.0) * slope

        start = np.where(used, np.log(anchor), anchor)
        return weights(search(objective, start, np.where(used, -200.0, 0.0)))

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        x = nonnegative(sq_norms)
        d = self.optimal_weights(x)
        return (total(divide(x, d)) + self.value(d)) / 2

    def _last_slope(self, n: int) -> Array:
        """The slopes at infinity: Ω is infinite beyond them."""
        return self._slope(np.full(n, HIGHEST), self._anchor(n))

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        G = nonnegative(G)
        if not self.separable:
            return self._coupled_dual(G)
        if np.any(self._last_slope(len(G)) * (1 + SLOPE_ERROR) < G):
            return np.inf
        anchor = self._anchor(len(G))
        d = increasing_zero(lambda d: self._slope(d, anchor) - G, len(G))  # h'(d) = G
        d = np.clip(d, LOWEST, FARTHEST)  # at the border the supremum is a limit at infinity
        at_zero = evaluate(self.penalty, np.full(len(G), LOWEST))
        return total(np.maximum(d * G - evaluate(self.penalty, d), -at_zero))

    def _coupled_dual(self, G: Array) -> float:
        def objective(d: Array) -> tuple[float, Array]:
            return self.value(d) - float(d @ G), full_gradient(self.penalty, self.derivative, d) - G

        return supremum(objective, np.full(len(G), self._anchor(len(G))))

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        G = nonnegative(G)
        if not self.separable:
            return largest_scale(lambda c: self.dual_value(c**2 * G))
        last = self._last_slope(len(G))
        border = float(np.sqrt(np.min(np.where(G > 0, divide(last, G), np.inf))))
        return min(1.0, (1 - SLOPE_ERROR) * border)  # safely inside

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0; a lower bound, 0, where h couples the weights."""
        G = nonnegative(G)
        if not np.any(G > 0):
            return np.inf
        if not self.separable or abs(self.value(np.zeros(len(G)))) > 1e-12:
            return 0.0
        first = nonnegative(slopes(self.penalty, self.derivative, np.full(len(G), LOWEST)))
        return float(np.sqrt(np.min(np.where(G > 0, divide(first, G), np.inf))))

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return self.optimal_weights(np.full(n_kernels, float(n_kernels) ** -2))

    def gradient(self, d: Array) -> Array:
        """The gradient of h."""
        if self.separable:
            return slopes(self.penalty, self.derivative, nonnegative(d), floor=1e-2)
        return full_gradient(self.penalty, self.derivative, nonnegative(d))

    def hessian(self, d: Array) -> Array:
        """The Hessian of h, by differences: its diagonal if separable."""
        d = nonnegative(d)
        step = 1e-4 * (1 + d)
        if self.separable:
            low = np.maximum(d - step, 0.0)
            return difference_quotient(self.gradient, low, d + step)
        rows = [self.gradient(d + s) - self.gradient(d) for s in np.diag(step)]
        H = np.array(rows) / step[:, None]
        return np.asarray((H + H.T) / 2)
