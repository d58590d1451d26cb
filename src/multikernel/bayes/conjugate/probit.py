r"""Labels behind latent scores :math:`f = e^\top g + b + N(0, 1)`: moments and probabilities.

A label -1 or +1 says on which side of the margin its score lies; a class says that its score is
the largest. Products over classes are integrated by 80 nodes of Gauss-Hermite quadrature, in logs.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp

from ..._component import Array

_N_NODES = 80
_LOG_2PI = float(np.log(2 * np.pi))


def score_mean(m: Array, y: Array, targets: str, margin: float = 0.0) -> Array:
    """Means of the scores given the labels, for predictor means m of shape (L, n)."""
    return _onehot_mean(m, y) if targets == "onehot" else _sign_mean(m, y, margin)


def log_mass(m: Array, y: Array, targets: str, margin: float = 0.0) -> Array:
    """Log-probabilities of the labels given predictor means m of shape (L, n)."""
    return _onehot_mass(m, y) if targets == "onehot" else np.asarray(log_ndtr(y * m - margin))


def _sign_mean(m: Array, y: Array, margin: float) -> Array:
    t = y * m - margin
    r = np.exp(-(t**2) / 2 - _LOG_2PI / 2 - log_ndtr(t))  # φ(t)/Φ(t)
    return np.asarray(m + y * r)


def _nodes() -> tuple[Array, Array]:
    """Nodes and log-weights of the expectation under a standard normal."""
    t, w = np.polynomial.hermite_e.hermegauss(_N_NODES)
    return t, np.log(w) - _LOG_2PI / 2


def _gaps(m: Array, y: Array) -> tuple[Array, Array]:
    """Distances w + m_k - m_j at all nodes, shape (nodes, L, n), and the log-weights."""
    t, log_w = _nodes()
    best = np.sum(m * y, axis=0)  # m_k of the class of every sample
    return t[:, np.newaxis, np.newaxis] + best - m, log_w


def _onehot_mass(m: Array, y: Array) -> Array:
    gaps, log_w = _gaps(m, y)
    logs = np.sum(np.where(y > 0, 0.0, log_ndtr(gaps)), axis=1)  # over the other classes
    return np.asarray(logsumexp(logs + log_w[:, np.newaxis], axis=0))


def _onehot_mean(m: Array, y: Array) -> Array:
    gaps, log_w = _gaps(m, y)
    log_Phi = np.where(y > 0, 0.0, log_ndtr(gaps))
    logs = np.sum(log_Phi, axis=1, keepdims=True) + log_w[:, np.newaxis, np.newaxis]
    log_Z = logsumexp(logs, axis=0)
    log_phi = -(gaps**2) / 2 - _LOG_2PI / 2
    fall = np.exp(logsumexp(logs - log_Phi + log_phi, axis=0) - log_Z)
    fall = np.where(y > 0, 0.0, fall)  # how far the scores of the other classes are pushed down
    return np.asarray(m - fall + y * fall.sum(axis=0))


def sign_probability(mean: Array, var: Array, margin: float = 0.0) -> Array:
    """Probabilities of +1 for predictors with these means and variances."""
    s = np.sqrt(1 + var)
    up, down = log_ndtr((mean - margin) / s), log_ndtr((-mean - margin) / s)
    return np.asarray(np.exp(up - np.logaddexp(up, down)))


def largest_probability(mean: Array, var: Array) -> Array:
    """Probabilities that each of several independent Gaussians is the largest.

    Parameters
    ----------
    mean, var : array of shape (n, L)

    Returns
    -------
    p : array of shape (n, L)
        Rows sum to one.
    """
    t, log_w = _nodes()
    s, n_classes = np.sqrt(var), mean.shape[1]
    logs = np.empty(mean.shape)
    for k in range(n_classes):
        others = np.arange(n_classes) != k
        at = mean[:, k] + s[:, k] * t[:, np.newaxis]  # shape (nodes, n)
        z = (at[:, :, np.newaxis] - mean[:, others]) / s[:, others]
        logs[:, k] = logsumexp(log_ndtr(z).sum(axis=2) + log_w[:, np.newaxis], axis=0)
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))
