"""Expectations under many Gaussians at once, by trapezoid rules that gather their nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from .._component import Array

LogIntegrand: TypeAlias = Callable[[Array, Array], Array]

_CHUNK = 1024  # samples at a time: nodes by samples stay in the cache, and memory stays bounded
_STEP = 1 / 8
_INNER = np.arange(-50.0, 50.0, _STEP)  # ln of the distances to the two ends, down to e⁻⁵⁰
_GOLDEN = (np.sqrt(5.0) - 1) / 2
_N_GOLDEN = 75  # shrinks an interval to rounding
_OUTER = np.arange(-50.0, np.log(40.0), _STEP)  # ln of the distance in standard deviations


def by_chunks(function: Callable[..., Array], *arrays: Array | float) -> Array:
    """Apply a function of arrays of shape (k,) to chunks of arrays that broadcast to one shape."""
    full = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays))
    flat = [a.ravel() for a in full]
    out = np.empty(flat[0].size)
    for start in range(0, out.size, _CHUNK):
        rows = slice(start, start + _CHUNK)
        out[rows] = function(*(a[rows] for a in flat))
    return out.reshape(full[0].shape)


def log_expectation(
    log_factor: Callable[[Array, Array], Array],
    y: Array | float,
    center: Array | float,
    mean: Array | float,
    var: Array | float,
) -> Array:
    r"""The logarithm of :math:`\mathbb E\, e^{g(y, u)}` under :math:`u \sim N(\mu, v)`.

    Parameters
    ----------
    log_factor : callable
        Maps y and u to :math:`g(y, u)`, elementwise; smooth in u but for a kink at ``center``.
    y, center, mean, var : arrays that broadcast to one shape
        Targets, kinks c, and moments of u; ``var`` may be 0.

    Notes
    -----
    The line is cut at c, at :math:`\mu` and at the mode of the integrand between them. From one cut
    a to the next b, :math:`u = a + (b - a)\,\sigma(t)`; beyond the outer cuts the distance to the
    nearest is :math:`\sqrt v\, e^t`. So nodes gather at all cuts on a logarithmic scale: a kink, a
    likelihood much narrower than the Gaussian, a Gaussian much narrower than the likelihood, and a
    narrow product of their tails are all resolved.
    """

    def rows(y: Array, center: Array, mean: Array, var: Array) -> Array:
        y, center, mean, var = (a[:, None] for a in (y, center, mean, var))
        sd = np.sqrt(np.where(var > 0, var, 1.0))

        def log_integrand(u: Array, deviation: Array) -> Array:
            return log_factor(y, u) - (deviation / sd) ** 2 / 2 - np.log(2 * np.pi * sd**2) / 2

        gap = mean - center
        share = _mode(lambda t: log_integrand(center + t * gap, (t - 1) * gap), gap.shape)
        middle, outward = share * gap, np.where(gap >= 0, sd, -sd) * np.exp(_OUTER)
        pieces = [
            _piece(log_integrand, center, -gap, middle),
            _piece(log_integrand, center + middle, middle - gap, gap - middle),
            log_integrand(mean + outward, outward) + np.log(sd) + _OUTER,
            log_integrand(center - outward, -gap - outward) + np.log(sd) + _OUTER,
        ]
        integral = logsumexp(np.hstack(pieces), axis=1) + np.log(_STEP)
        return np.where(var[:, 0] > 0, integral, log_factor(y, mean)[:, 0])

    return by_chunks(rows, y, center, mean, var)


def _piece(log_integrand: LogIntegrand, start: Array, deviation: Array, length: Array) -> Array:
    """The logarithms of the terms of the rule on an interval, given by its start and length.

    ``deviation`` is the start minus the mean, known more exactly than its difference.
    """
    near, far = expit(_INNER), expit(-_INNER)
    end = deviation + length
    from_mean = np.where(_INNER < 0, deviation + length * near, end - length * far)
    with np.errstate(divide="ignore"):  # an interval without length adds nothing
        log_weight = np.log(np.abs(length)) + log_expit(_INNER) + log_expit(-_INNER)
    return np.asarray(log_integrand(start + length * near, from_mean) + log_weight)


def _mode(function: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
    """A maximiser of each function on [0, 1] by golden sections."""
    left, right = np.zeros(shape), np.ones(shape)
    for _ in range(_N_GOLDEN):
        width = _GOLDEN * (right - left)
        low, high = right - width, left + width
        rising = function(low) < function(high)
        left, right = np.where(rising, low, left), np.where(rising, right, high)
    return (left + right) / 2
