"""A block norm given by the user, conjugated numerically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from ._conjugation import (
    FARTHEST,
    HIGHEST,
    LOWEST,
    SLOPE_ERROR,
    Terms,
    all_finite,
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
    slopes,
    supremum,
)
from ._powers import divide, nonnegative, total
from .base import Regularizer, available_when


def _smoothed_root(x: Array | np.floating[Any]) -> Array:
    """The block norm √(x + ¼) - ½, smooth at zero."""
    return np.asarray(x / (np.sqrt(x + 0.25) + 0.5))


def _smoothed_root_slope(x: Array | np.floating[Any]) -> Array:
    """The derivative of ``_smoothed_root``."""
    return np.asarray(0.5 / np.sqrt(x + 0.25))


def _joint_root(x: Array) -> float:
    """The block norm √(Σx + ¼) - ½ + Σx/2, which couples all kernels."""
    return float(_smoothed_root(np.sum(x)) + np.sum(x) / 2)


def _joint_root_slope(x: Array) -> Array:
    """The gradient of ``_joint_root``."""
    return np.full(np.shape(x), float(_smoothed_root_slope(np.sum(x))) + 0.5)


@dataclass(repr=False)
class BlockPenalty(Regularizer):
    r"""A block norm g on the squared norms that the user wrote, conjugated numerically.

    Made by :func:`from_block_norm`, which explains the parameters.

    Notes
    -----
    With :math:`x_m = t_m^2 = \|f_m\|^2` ([TS10]_, Theorem 7)

    .. math:: d_m = \frac1{2\,\partial_m g(x)}, \quad h(d) = \sup_{x \ge 0} 2 g(x) - \sum_m x_m/d_m,
              \quad \tfrac12 \Omega(G) = \sup_{t \ge 0} t^\top \sqrt G - g(t^2).

    Examples
    --------
    >>> import numpy as np
    >>> reg = BlockPenalty(np.sqrt, lambda x: 0.5 / np.sqrt(x))
    >>> float(reg.value(np.array([2.0, 3.0])))
    5.0
    """

    norm_terms: Terms
    derivative: Terms | None = None
    separable: bool = True

    examples: ClassVar = (
        {"norm_terms": _smoothed_root},
        {"norm_terms": _smoothed_root, "derivative": _smoothed_root_slope},
        {"norm_terms": _joint_root, "derivative": _joint_root_slope, "separable": False},
    )

    def __repr__(self) -> str:
        return describe(self, self.norm_terms, self.separable)

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        if self.separable:
            grid = np.append(0.0, np.logspace(-5, 3, 100))
            values = evaluate(self.norm_terms, grid)
            if values.shape != grid.shape:
                raise ValueError(
                    "g must return one term per kernel; for a norm that couples the kernels pass "
                    "separable=False."
                )
            _check_block_norm(lambda x: evaluate(self.norm_terms, x), all_pairs(grid))

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
        if not self.separable:
            _check_block_norm(row_by_row(self.norm_terms), random_pairs(n_kernels))

    def _slope(self, x: Array) -> Array:
        """The partial derivatives of g."""
        if not self.separable:
            return full_gradient(self.norm_terms, self.derivative, x)
        if self.derivative is not None:
            return evaluate(self.derivative, x)
        return np.where(x > 1e-6, slopes(self.norm_terms, None, x), self._first_slope(x))

    def _first_slope(self, x: Array) -> Array:
        """The slopes near zero by forward differences; inf where they grow without bound."""
        coarse, fine = (
            (evaluate(self.norm_terms, x + step) - evaluate(self.norm_terms, x)) / step
            for step in (1e-9, 1e-13)
        )
        return np.where((x == 0) & (fine > 2 * coarse), np.inf, coarse)

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        if np.any(d < 0):
            return np.inf
        d = np.maximum(d, LOWEST)
        if self.separable:  # 2 g'(x) = 1/d
            x = increasing_zero(lambda x: 1 / d - 2 * self._slope(x), len(d))
            return total(2 * evaluate(self.norm_terms, x) - x / d) if all_finite(x) else np.inf

        def objective(x: Array) -> tuple[float, Array]:
            return float(np.sum(x / d)) - 2 * self.block_norm(x), 1 / d - 2 * self._slope(x)

        return supremum(objective, np.ones(len(d)))

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        with np.errstate(divide="ignore"):
            return np.asarray(0.5 / self._slope(nonnegative(sq_norms)))  # d = 1 / (2 ∂g)

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        return total(evaluate(self.norm_terms, nonnegative(sq_norms)))

    def _norm_slope(self, t: Array) -> Array:
        """The gradient of g(t²) in t."""
        return 2 * t * self._slope(t**2)

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        s = np.sqrt(nonnegative(G))
        if not self.separable:
            return self._coupled_dual(s)
        if np.any(s > self._last_slope(len(s)) * (1 + SLOPE_ERROR)):
            return np.inf
        t = increasing_zero(lambda t: self._norm_slope(t) - s, len(s))  # ψ'(t) = √G
        t = np.minimum(t, FARTHEST)  # at the border the supremum is a limit at infinity
        at_zero = evaluate(self.norm_terms, np.zeros(len(s)))
        return 2 * total(np.maximum(t * s - evaluate(self.norm_terms, t**2), -at_zero))

    def _coupled_dual(self, s: Array) -> float:
        def objective(t: Array) -> tuple[float, Array]:
            return self.block_norm(t**2) - float(t @ s), self._norm_slope(t) - s

        return 2 * supremum(objective, np.ones(len(s)))

    def _last_slope(self, n: int) -> Array:
        """The slopes of g(t²) at infinity: Ω is infinite beyond their squares."""
        return self._norm_slope(np.full(n, np.sqrt(HIGHEST)))

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        G = nonnegative(G)
        if not self.separable:
            return largest_scale(lambda c: self.dual_value(c**2 * G))
        last = self._last_slope(len(G))
        border = float(np.min(np.where(G > 0, divide(last, np.sqrt(G)), np.inf)))
        return min(1.0, (1 - SLOPE_ERROR) * border)  # safely inside

    def zero_scale(self, G: Array) -> float:
        """Zero unless G vanishes, a bound that holds for every g."""
        return 0.0 if np.max(G) > 0 else np.inf

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return self.optimal_weights(np.full(n_kernels, float(n_kernels) ** -2))

    @available_when(lambda self: self.separable)
    def gradient(self, d: Array) -> Array:
        """The gradient of h, the maximising x over d²."""
        d = np.maximum(d, 1e-30)
        x = increasing_zero(lambda x: 1 / d - 2 * self._slope(x), len(d))  # 2 g'(x) = 1/d
        return np.asarray(x / d / d)

    @available_when(lambda self: self.separable)
    def hessian(self, d: Array) -> Array:
        """The diagonal of the Hessian of h, by differences."""
        d = nonnegative(d)
        step = 1e-5 * (1e-3 + d)
        low = np.maximum(d - step, 0.0)
        return difference_quotient(self.gradient, low, d + step)


def _check_block_norm(g: Callable[[Array], Array], pairs: tuple[Any, Any]) -> None:
    """Raise ValueError unless g is concave and increasing in x and convex in √x."""
    a, b = pairs
    if not all_finite(g(a)) or not all_finite(g(b)):
        raise ValueError("g must be finite at all nonnegative squared norms.")
    if np.any(g(np.maximum(a, b)) < g(a) - 1e-9 * (1 + np.abs(g(a)))):
        raise ValueError("g must not decrease when a squared norm grows.")
    check_convex(lambda x: -g(x), pairs, "-g(x) (g must be concave in the squared norms x)")
    check_convex(lambda t: g(t**2), pairs, "g(t²) as a function of the norms t")
