"""Covariances and correlations that stay finite where nothing varies."""

from __future__ import annotations

import numpy as np

from .._component import Array

_CONSTANT = 1e-12  # deviations this small, relative to the values, are rounding


def covariance(V: Array, s: Array) -> Array:
    """The covariance of the rows of V under sample weights s, scaled to unit mean diagonal.

    A row that does not vary gets the mean variance of the others and no covariance with them.
    """
    B = _deviations(V, s)
    Q = B @ B.T
    variances = np.diagonal(Q).copy()
    still = variances == 0
    mean = 1.0 if still.all() else float(variances[~still].mean())
    Q[still, still] = mean
    return symmetrized(Q / mean)


def correlation(V: Array, s: Array) -> Array:
    """The correlation of the rows of V under sample weights s; a constant row has none."""
    return gram_of_directions(_deviations(V, s))


def gram_of_directions(B: Array) -> Array:
    """The cosines between the rows of B, with ones on the diagonal also for rows of zeros."""
    size = np.linalg.norm(B, axis=1, keepdims=True)
    B = np.divide(B, size, out=np.zeros_like(B), where=size > 0)
    Q = symmetrized(B @ B.T)
    np.fill_diagonal(Q, 1.0)
    return Q


def unit_diagonal(Q: Array) -> Array:
    """The matrix of the cosines that a Gram matrix holds; zero where its diagonal is."""
    scale = np.sqrt(np.maximum(np.diagonal(Q), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    return np.asarray(Q * np.outer(inverse, inverse))


def symmetrized(Q: Array) -> Array:
    """The symmetric part, equal to its transpose to the last bit."""
    return (Q + Q.T) / 2


def _deviations(V: Array, s: Array) -> Array:
    """Rows minus their weighted means, times the roots of the weights; a constant row is zero."""
    p = s / s.sum()
    largest = np.abs(V).max(axis=1, keepdims=True)
    V = np.divide(V, largest, out=np.zeros_like(V), where=largest > 0)  # no under- or overflow
    centred = V - (V @ p)[:, np.newaxis]
    varies = np.abs(centred).max(axis=1, keepdims=True) > _CONSTANT
    scale = largest / (largest.max() or 1.0)
    return np.asarray(np.where(varies, scale * centred * np.sqrt(p), 0.0))
