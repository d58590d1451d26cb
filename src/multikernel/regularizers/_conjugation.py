"""Numerical conjugation: slopes, roots and minima of functions that a user wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize

from .._component import Array

Terms: TypeAlias = Callable[[Array], Any]

LOWEST, HIGHEST = 1e-150, 1e150  # the range of the search; beyond it a root counts as 0 or inf
FARTHEST = 1e7  # where a maximiser at infinity is cut off: beyond it differences cancel
SLOPE_ERROR = 1e-8  # relative accuracy of a slope found by differences
_LOG_RANGE = np.log([LOWEST, HIGHEST])


def evaluate(function: Terms, v: Array) -> Array:
    """The values of a user's function, with nan read as inf and without warnings."""
    with np.errstate(all="ignore"):
        values = np.asarray(function(v), dtype=np.float64)
    return np.where(np.isnan(values), np.inf, values)


def slopes(function: Terms, derivative: Terms | None, v: Array, floor: float = 0.0) -> Array:
    """The elementwise derivative, given or by differences that stay where the function is finite.

    The step is relative to v, or to ``floor`` where v is smaller.
    """
    if derivative is not None:
        return evaluate(derivative, v)
    step = 3e-6 * np.maximum(v, floor)
    here, up, down = v, v + step, np.maximum(v - step, 0.0)
    up = np.where(np.isfinite(evaluate(function, up)), up, here)
    down = np.where(np.isfinite(evaluate(function, down)), down, here)
    return difference_quotient(function, down, up)


def difference_quotient(function: Terms, low: Array, high: Array) -> Array:
    """The elementwise slope between two points; inf where the function is not finite."""
    with np.errstate(all="ignore"):
        rise = (evaluate(function, high) - evaluate(function, low)) / (high - low)
    return np.where(np.isnan(rise), np.inf, rise)


def increasing_zero(function: Callable[[Array], Array], n: int) -> Array:
    """Where n increasing functions change sign on (0, inf), by bisection of the logarithm.

    A function that is nowhere negative gives 0, one that is negative everywhere gives inf.
    """
    low, high = np.full(n, _LOG_RANGE[0]), np.full(n, _LOG_RANGE[1])
    for _ in range(64):
        middle = (low + high) / 2
        with np.errstate(all="ignore"):
            below = function(np.exp(middle)) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    root = np.where(high == _LOG_RANGE[1], np.inf, np.exp(low))
    return np.where(low == _LOG_RANGE[0], 0.0, root)


def full_gradient(function: Terms, derivative: Terms | None, v: Array) -> Array:
    """The gradient of a function of all weights, given or by differences."""
    if derivative is not None:
        return evaluate(derivative, v)
    ups = v + np.diag(1e-6 * (1 + v))
    downs = np.maximum(v - np.diag(1e-6 * (1 + v)), 0.0)
    rises = [
        float(evaluate(function, u) - evaluate(function, w))
        for u, w in zip(ups, downs, strict=True)
    ]
    return np.asarray(rises / np.diag(ups - downs))


def minimize_from(
    function: Callable[[Array], tuple[float, Array]], start: Array, lower: Array
) -> Array:
    """The minimiser of a smooth function of several variables above lower bounds."""
    options = {"maxiter": 5000, "maxfun": 50000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    bounds = [(low, FARTHEST) for low in lower]
    solver: Any = minimize  # its stubs do not know this option
    with np.errstate(all="ignore"):
        result = solver(
            function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    return np.asarray(result.x)


def check_convex(values: Callable[[Array], Array], pairs: tuple[Array, Array], what: str) -> None:
    """Raise ValueError where a midpoint lies above its chord."""
    a, b = pairs
    middle, left, right = values((a + b) / 2), values(a), values(b)
    chord = (left + right) / 2
    finite = np.isfinite(chord)
    if np.any(np.isneginf(left)) or not np.any(finite):
        raise ValueError(f"{what} must be finite at some positive weights and nowhere -inf.")
    slack = 1e-9 * (1 + np.abs(left[finite]) + np.abs(right[finite]))
    if np.any(middle[finite] > chord[finite] + slack):
        raise ValueError(
            f"{what} must be convex, but at sampled points its midpoint lies above its chord; "
            "no certificate exists for it, choose a convex one."
        )


def all_finite(v: Array) -> bool:
    return bool(np.all(np.isfinite(v)))


def search(objective: Callable[[Array], tuple[float, Array]], start: Array, lower: Array) -> Array:
    """The minimiser of a smooth function above lower bounds, polished by a restart."""
    return minimize_from(objective, minimize_from(objective, start, lower), lower)


def supremum(negative: Callable[[Array], tuple[float, Array]], start: Array) -> float:
    """The supremum over nonnegative vectors of a concave function, given by its negative."""
    v = search(negative, start, np.zeros(len(start)))
    with np.errstate(all="ignore"):
        near, far = negative(v)[0], negative(1e6 * (1 + v))[0]
    return -near if far >= near else np.inf  # unbounded if it still falls far away


def largest_scale(value: Callable[[float], float]) -> float:
    """The largest c in (0, 1] at which a function is finite, by bisection."""
    if np.isfinite(value(1.0)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if np.isfinite(value(middle)) else (low, middle)
    return low


def all_pairs(grid: Array) -> tuple[Array, Array]:
    """All pairs of grid points."""
    a, b = np.triu_indices(len(grid), k=1)
    return grid[a], grid[b]


def random_pairs(n_kernels: int) -> tuple[Array, Array]:
    """Pairs of random positive vectors over several scales."""
    rng = np.random.default_rng(0)
    a, b = np.exp(rng.uniform(-6, 4, size=(2, 200, n_kernels)))
    return a, b


def row_by_row(function: Terms) -> Callable[[Array], Array]:
    """A function of one vector, applied to the rows of a matrix."""
    return lambda V: np.array([float(evaluate(function, v)) for v in V])


def describe(owner: object, function: Terms, separable: bool) -> str:
    """A representation of a user's part that does not depend on addresses in memory."""
    name = getattr(function, "__name__", type(function).__name__)
    return f"{type(owner).__name__}({name}{'' if separable else ', separable=False'})"
