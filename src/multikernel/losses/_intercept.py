"""Best intercepts: one-dimensional convex minimisation over a constant, exact to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._component import Array
from ._root import increasing_root, newton_root

_REACH = 50.0  # at this margin a logistic loss is below 1e-21


def smooth_intercept(
    gradient: Callable[[Array, Array], Array],
    hessian: Callable[[Array, Array], Array],
    y: Array,
    f: Array,
    cost: Array,
) -> Array:
    """The root in b of the weighted sum of gradients at f + b, one per output."""

    def slope(b: Array) -> tuple[Array, Array]:
        z = f + b
        return (cost * gradient(y, z)).sum(axis=0), (cost * hessian(y, z)).sum(axis=0)

    shifts = y - f
    scale = np.abs(shifts).max(axis=0)
    start = np.zeros(y.shape[1])
    near = newton_root(slope, start, scale)
    if near is not None:
        return near
    lower, upper = shifts.min(axis=0) - _REACH, shifts.max(axis=0) + _REACH
    return increasing_root(slope, lower, upper, start, scale)


def piecewise_linear_intercept(kinks: Array, slopes: Array) -> Array:
    """The midpoint of the minimisers of a sum of convex piecewise linear functions, one per output.

    Parameters
    ----------
    kinks : array of shape (k, n, n_outputs)
        Where the n functions bend.
    slopes : array of shape (k + 1, n, n_outputs)
        Their slopes before, between and after the kinks.
    """
    n_outputs = kinks.shape[-1]
    positions = kinks.reshape(-1, n_outputs)
    jumps = np.diff(slopes, axis=0).reshape(-1, n_outputs)
    order = np.argsort(positions, axis=0)
    positions = np.take_along_axis(positions, order, axis=0)
    start = slopes[0].sum(axis=0)  # slope of the sum at minus infinity
    after = start + np.cumsum(np.take_along_axis(jumps, order, axis=0), axis=0)
    rounding = len(positions) * np.finfo(float).eps * np.abs(slopes).max(axis=0).sum(axis=0)

    falls, rises = start < -rounding, after[-1] > rounding
    left = _first(positions, after >= -rounding)  # the sum has stopped falling
    right = _first(positions, after > rounding)  # the sum begins to rise
    left, right = np.where(falls, left, right), np.where(rises, right, left)
    return np.where(falls | rises, left + (right - left) / 2, 0.0)


def _first(positions: Array, condition: np.ndarray) -> Array:
    """The first position, in each column, where the condition holds."""
    index = np.argmax(condition, axis=0)[None]
    first: Array = np.take_along_axis(positions, index, axis=0)[0]
    return first
