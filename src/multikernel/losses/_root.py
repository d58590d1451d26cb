"""Roots of many increasing functions at once, by Newton steps, in a bracket where need be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._component import Array

_EPS = float(np.finfo(float).eps)
_MAX_ITER = 200  # bisection alone needs about 60 steps from 1e4 down to rounding
_FEW = 8  # Newton steps, enough from a start that is near


def newton_root(
    evaluate: Callable[[Array], tuple[Array, Array]], start: Array, scale: Array
) -> Array | None:
    """The root of increasing functions by a few Newton steps; None where they do not settle."""
    x = start
    for _ in range(_FEW):
        value, slope = evaluate(x)
        if not slope.all():
            return None
        with np.errstate(over="ignore"):
            step = value / slope
        x = x - step
        if (np.abs(step) <= 4 * _EPS * scale).all():
            return x
    return None


def increasing_root(
    evaluate: Callable[[Array], tuple[Array, Array]],
    lower: Array,
    upper: Array,
    start: Array,
    scale: Array,
) -> Array:
    r"""The root in [lower, upper] of elementwise increasing functions, or the end nearest to it.

    Parameters
    ----------
    evaluate : callable
        Maps x to the function and its slope at x, both of the shape of x.
    lower, upper, start : array
        Bracket and starting point, of one shape.
    scale : array
        Newton steps below rounding at this size end the search.

    Notes
    -----
    A Newton step is taken where it stays strictly inside the bracket and is at most half the last
    step; elsewhere the bracket is halved. Flat functions (slope zero) are therefore harmless.
    """
    x = np.clip(start, lower, upper)
    last = upper - lower
    done = np.zeros(x.shape, dtype=bool)
    for _ in range(_MAX_ITER):
        value, slope = evaluate(x)
        lower = np.where(value <= 0, x, lower)
        upper = np.where(value >= 0, x, upper)
        with np.errstate(over="ignore"):  # an infinite step is refused below
            newton = np.divide(-value, slope, out=np.full_like(x, np.inf), where=slope > 0)
        settled = np.abs(newton) <= 4 * _EPS * scale
        trusted = (np.abs(newton) <= last / 2) & (lower < x + newton) & (x + newton < upper)
        step = np.where(settled | trusted, newton, (upper - lower) / 2 + (lower - x))
        x = np.where(done, x, x + step)
        last = np.abs(step)
        done |= settled | (last <= _EPS * np.abs(x))
        if done.all():
            break
    return x
