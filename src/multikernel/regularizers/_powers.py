"""Powers, norms and roots that neither overflow nor warn."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._component import Array

Index: TypeAlias = NDArray[np.intp]

TINY = 1e-100  # weights and norms are kept above this where a formula divides by them
HUGE = 1e100
SLACK = 1e-12  # relative rounding error forgiven at the border of a dual feasible set
FEASIBLE = 1e-9  # relative violation forgiven in a constraint on the weights


def nonnegative(v: Array) -> Array:
    """The array in double precision with negative rounding errors set to zero."""
    return np.maximum(np.asarray(v, dtype=np.float64), 0.0)


def divide(a: Array | float, b: Array | float) -> Array:
    """The quotient a / b of nonnegative arrays, with 0 wherever b is 0 and inf for an overflow."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    with np.errstate(over="ignore"):
        return np.divide(a, b, out=np.zeros(a.shape), where=b > 0)


def power(v: Array, exponent: float) -> Array:
    """The power of a nonnegative array; inf instead of an overflow or a division by zero."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(v**exponent)


def total(v: Array) -> float:
    """The sum of an array; inf instead of an overflow."""
    with np.errstate(over="ignore"):
        return float(np.sum(v))


def p_norm(v: Array, p: float) -> float:
    """The (quasi-)norm of order p of a nonnegative array, scaled by its maximum."""
    return float(group_norms(v, np.zeros(len(v), dtype=np.intp), 1, p)[0])


def group_norms(v: Array, index: Index, n_groups: int, p: float) -> Array:
    """The (quasi-)norms of order p of the groups of a nonnegative array, scaled by their maxima."""
    scale = np.zeros(n_groups)
    np.maximum.at(scale, index, v)
    if np.isinf(p):
        return scale
    sums = np.bincount(index, power(divide(v, scale[index]), p), minlength=n_groups)
    with np.errstate(over="ignore"):
        return np.asarray(scale * sums ** (1 / p))  # ‖v‖_p = s · ‖v/s‖_p


def conjugate_order(p: float) -> float:
    """The order p* with 1/p + 1/p* = 1."""
    if p == 1:
        return np.inf
    return 1.0 if np.isinf(p) else p / (p - 1)


def increasing_root(a: Array | float, b: Array | float, k: float, r: Array) -> Array:
    """The root v ≥ 0 of a v + b vᵏ = r, elementwise, for a, b > 0, k > 1 and r ≥ 0.

    The left side is convex and increasing: Newton's method started at the right never crosses it.
    """
    v = np.asarray(np.minimum(r / a, (r / b) ** (1 / k)))
    for _ in range(200):
        rest = a * v + b * v**k - r
        step = np.maximum(rest / (a + b * k * v ** (k - 1)), 0.0)
        v = np.maximum(v - step, 0.0)
        if np.all(step <= 1e-16 * v):
            break
    return v


def power_prox(r: Array, step: Array | float, q: float) -> Array:
    """The root t ≥ 0 of t + step · t^(q-1) = r, elementwise, for q > 1."""
    if q == 1.5:  # √t = (-γ + √(γ² + 4r)) / 2, free of cancellation
        return np.asarray((2 * r / (step + np.sqrt(step**2 + 4 * r))) ** 2)
    if q == 3.0:  # t = (-1 + √(1 + 4γr)) / 2γ
        return np.asarray(2 * r / (1 + np.sqrt(1 + 4 * step * r)))
    if np.isclose(q, 4 / 3, rtol=1e-15):  # u³ + γu = r, t = u³
        scale = np.sqrt(step / 3)
        return np.asarray((2 * scale * np.sinh(np.arcsinh(r / (2 * scale**3)) / 3)) ** 3)
    if q < 2:  # u = t^(q-1) gives γu + u^(1/(q-1)) = r
        return np.asarray(increasing_root(step, 1.0, 1 / (q - 1), r) ** (1 / (q - 1)))
    return increasing_root(1.0, step, q - 1, r)
