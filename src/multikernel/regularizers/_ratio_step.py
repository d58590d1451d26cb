"""The weight step of Q-norm regularizers: weights that minimise ratios plus a quadratic form."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from .._component import Array
from .._linalg import nonnegative_minimiser

_NEGLIGIBLE = 1e-26  # a squared norm this small beside the largest weighs nothing
_WARM_UP = 4
_LIFT = 1e-3  # of the mean: a squared norm to start from where there is none
_MAX_NEWTON = 100
_KEEP = 0.1  # share of a weight that one step must leave
_ARMIJO = 1e-4
_BLIND = 1e-13  # of the value: a decrease that rounding may hide, so that steps are taken whole
_ACCURACY = 1e-15


def ratio_minimiser(x: Array, Q: Array) -> Array:
    r"""The minimiser over :math:`d \ge 0` of :math:`F(d) = \sum_m x_m/d_m + d^\top Q d`.

    Parameters
    ----------
    x : array of shape (M,)
        Nonnegative, with 0/0 read as 0.
    Q : array of shape (M, M)
        Symmetric, positive semi-definite, and positive on every :math:`d \ge 0` but 0.

    Notes
    -----
    Damped Newton steps with

    .. math:: \nabla F = 2 Q d - x/d^2, \qquad \nabla^2 F = 2 Q + 2\,\mathrm{diag}(x/d^3),

    each the minimiser of the model over weights that keep a share of what they were, so that they
    stay positive where :math:`x_m > 0` and may reach zero elsewhere. F is homogeneous: it is
    minimised at unit scale.
    """
    largest, size = float(np.max(x)), float(np.max(np.diag(Q)))
    if largest == 0 or size == 0:
        return np.zeros(len(x))
    x, Q = x / largest, Q / size
    on = x > _NEGLIGIBLE
    attracted = np.any(Q < 0, axis=1)  # may have a weight without a norm
    shapes = (_warm_up(np.where(on, x, _LIFT * np.mean(x)), Q), np.ones(len(x)))
    starts = [_rescale(x, Q, np.where(on | attracted, d, 0.0), on) for d in shapes]
    d = min(starts, key=lambda d: _value(x, Q, d, on))
    for _ in range(_MAX_NEWTON):
        step, slope = _newton_step(x, Q, d, on)
        value = _value(x, Q, d, on)
        rate = 1.0
        least = 1e-10 if -slope > _BLIND * value else 1.0
        while rate > least and _value(x, Q, d + rate * step, on) > value + _ARMIJO * rate * slope:
            rate *= 0.5
        d = d + rate * step
        if -slope <= _ACCURACY * value:
            break
    pull = 2 * Q @ d
    tiny = ~on & (d == 0) & (pull > 0)
    d[tiny] = np.sqrt(x[tiny] / pull[tiny])  # x/d² = 2 (Qd)
    return np.asarray(np.cbrt(largest) / np.cbrt(size) * d)


def _value(x: Array, Q: Array, d: Array, on: NDArray[np.bool_]) -> float:
    return float(np.sum(x[on] / d[on]) + d @ Q @ d)


def _rescale(x: Array, Q: Array, d: Array, on: NDArray[np.bool_]) -> Array:
    """The best point on the ray through d, where A/c + c² B is least."""
    A, B = np.sum(x[on] / d[on]), d @ Q @ d
    return np.asarray(np.cbrt(A / (2 * B)) * d)


def _newton_step(x: Array, Q: Array, d: Array, on: NDArray[np.bool_]) -> tuple[Array, float]:
    """The step to the minimiser of the quadratic model, and the slope of F along it."""
    gradient, H = 2 * Q @ d, 2 * Q
    gradient[on] -= x[on] / d[on] ** 2
    H[on, on] += 2 * x[on] / d[on] ** 3
    floor = np.where(on, _KEEP * d, 0.0)
    unit = 1 / np.sqrt(np.diag(H))  # in these units the model has a unit diagonal
    q = unit * (H @ (d - floor) - gradient)
    free = on | (d > 0) | (gradient < 0)
    step = floor + unit * nonnegative_minimiser(unit[:, None] * H * unit, q, free) - d
    return step, float(gradient @ step)


def _warm_up(x: Array, Q: Array) -> Array:
    r"""A few steps of a separable upper bound of F, from the minimiser without coupling.

    Notes
    -----
    With :math:`a = (Q_+ d)/d` and :math:`c = (Q_- d)\,d` for the positive and negative parts of Q,

    .. math:: \sum_m x_m/t_m + a_m t_m^2 - 2 c_m \log t_m

    touches F at d, up to a constant, and is least at the root of :math:`2 a t^3 = 2 c t + x`.
    """
    positive, negative = np.maximum(Q, 0.0), np.maximum(-Q, 0.0)
    d = np.cbrt(x / (2 * np.diag(Q)))
    for _ in range(_WARM_UP):
        a, c = (positive @ d) / d, (negative @ d) * d
        p, r = c / a, x / (2 * a)
        t = np.sqrt(p) + np.cbrt(r)  # right of the root of t³ = p t + r, where it is convex
        for _ in range(6):
            t = t - (t**3 - p * t - r) / (3 * t**2 - p)
        d = t
    return d


def conic_ratio_minimiser(x: Array, Q: Array) -> Array:
    """The weights of ``ratio_minimiser`` by a general conic solver, for reference."""
    try:
        cp: Any = import_module("cvxpy")
    except ImportError as error:
        raise ImportError(
            "QNorm(method='socp') needs cvxpy: pip install cvxpy clarabel."
        ) from error
    largest, size = float(np.max(x)), float(np.max(np.diag(Q)))
    if largest == 0:
        return np.zeros(len(x))
    eigenvalues, V = eigh(Q / size)
    R = V * np.sqrt(np.maximum(eigenvalues, 0.0))  # Q = R Rᵀ
    d, ratio = cp.Variable(len(x)), cp.Variable(len(x))
    roots = np.sqrt(x / largest)
    cones = [  # d · ratio ≥ x
        cp.SOC(ratio[m] + d[m], cp.hstack([2 * roots[m], ratio[m] - d[m]])) for m in range(len(x))
    ]
    program = cp.Problem(cp.Minimize(cp.sum(ratio) + cp.sum_squares(R.T @ d)), cones)
    program.solve(solver=cp.CLARABEL)
    return np.asarray(np.cbrt(largest) / np.cbrt(size) * np.maximum(d.value, 0.0))
