r"""Posterior: mean and covariance of the latent function and of its components at new samples.

Every inference ends in a Gaussian model of pseudo-targets, of covariance
:math:`C = K(d) + \Gamma`, so one Cholesky factor per distinct :math:`\Gamma` answers all questions
about new samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import gen_batches

from .._component import Array
from .._memory import check_memory
from ..banks import Bank
from ..bayes import Inference, Marginal
from ..kernels import Kernels

_BLOCK_ENTRIES = 1 << 22  # entries of one query-by-training matrix held at a time


@dataclass(frozen=True)
class Spread:
    r"""What the covariance of the targets takes away from the prior variance of some outputs.

    Attributes
    ----------
    factor : array of shape (n, n)
        The lower Cholesky factor L of C; what is above the diagonal has no meaning.
    ones : array of shape (n,) or None
        The vector :math:`C^{-1} \mathbf 1`; None without an intercept.
    """

    factor: Array
    ones: Array | None

    def whiten(self, K: Array) -> Array:
        r"""The columns :math:`L^{-1} k_*` for kernels K of shape (n_queries, n)."""
        return np.asarray(solve_triangular(self.factor, K.T, lower=True, check_finite=False))

    def explained(self, K: Array) -> Array:
        r"""The forms :math:`k_*^\top P k_*`, shape (n_queries,)."""
        forms = np.sum(self.whiten(K) ** 2, axis=0)
        if self.ones is not None:
            forms -= (K @ self.ones) ** 2 / self.ones.sum()
        return np.asarray(forms)

    def variance(self, K: Array, prior: Array) -> Array:
        r"""The latent variances :math:`k_{**} - k_*^\top C^{-1} k_*` plus that of the constant."""
        left = prior - np.sum(self.whiten(K) ** 2, axis=0)
        if self.ones is not None:  # (1 − 1ᵀC⁻¹k*)² / 1ᵀC⁻¹1
            left += (1 - K @ self.ones) ** 2 / self.ones.sum()
        return np.maximum(left, 0.0)

    def covariance(self, K: Array, prior: Array) -> Array:
        """The latent covariance of queries whose prior covariance is given."""
        V = self.whiten(K)
        left = prior - V.T @ V
        if self.ones is not None:
            rest = 1 - K @ self.ones
            left += np.outer(rest, rest / self.ones.sum())
        return np.asarray((left + left.T) / 2)


@dataclass(frozen=True)
class Posterior:
    """The outputs of one inference: weights of kernels, coefficients, and spreads.

    There is one spread for all outputs where they have the same noise, else one for each.
    """

    weights: Array
    dual_coef: Array
    spreads: list[Spread]

    @classmethod
    def from_inference(cls, bank: Bank, inference: Inference, fit_intercept: bool) -> Posterior:
        """Factorise the covariances of the targets at the weights inferred."""
        gamma = inference.site_var
        alike = bool(np.all(gamma[:, :1] == gamma))
        columns = gamma[:, :1].T if alike else gamma.T
        n = len(gamma)
        check_memory(8.0 * n**2 * (1 + len(columns)), f"{len(columns)} posterior covariances")
        K = bank.combine(inference.weights)
        spreads = [_spread(K.copy(), column, fit_intercept) for column in columns]
        return cls(inference.weights, inference.dual_coef, spreads)


def _spread(K: Array, site_var: Array, fit_intercept: bool) -> Spread:
    marginal = Marginal(K, site_var, np.zeros((len(K), 1)), fit_intercept)
    return Spread(marginal.factor, marginal.ones if fit_intercept else None)


def latent_variance(posteriors: list[Posterior], kernels: Kernels, X: Any) -> Array:
    """Posterior variances of the latent function, shape (n_queries, n_outputs)."""
    out = np.zeros((X.shape[0], _n_outputs(posteriors)))
    active, weights = _active(posteriors)
    for rows, Z in _batches(kernels, X):
        Ks = _weighted_sums(kernels.cross(Z, active), weights, (Z.shape[0], kernels.n_samples_))
        priors = _weighted_sums(kernels.diag(Z, active), weights, (Z.shape[0],))
        for j, spread, outputs in _spreads(posteriors):
            out[rows][:, outputs] = spread.variance(Ks[j], priors[j])[:, np.newaxis]
    return out


def latent_covariance(posteriors: list[Posterior], kernels: Kernels, X: Any) -> Array:
    """Posterior covariances between all queries, shape (n_queries, n_queries, n_outputs)."""
    n, n_outputs = X.shape[0], _n_outputs(posteriors)
    active, weights = _active(posteriors)
    width = n_outputs * n + len(posteriors) * (n + kernels.n_samples_) + 2 * kernels.n_samples_
    check_memory(8.0 * n * width, f"covariances between {n:,} queries")
    Ks = _weighted_sums(kernels.cross(X, active), weights, (n, kernels.n_samples_))
    priors = _weighted_sums(kernels.among(X, active), weights, (n, n))
    out = np.zeros((n, n, n_outputs))
    for j, spread, outputs in _spreads(posteriors):
        out[:, :, outputs] = spread.covariance(Ks[j], priors[j])[:, :, np.newaxis]
    return out


def component_moments(posteriors: list[Posterior], kernels: Kernels, X: Any) -> tuple[Array, Array]:
    r"""Means and variances of the components, each of shape (n_queries, n_kernels, n_outputs).

    Notes
    -----
    .. math:: \mathbb E f_m = d_m k_{m*}^\top P y, \qquad
              \operatorname{var} f_m = d_m k_{m**} - d_m^2\, k_{m*}^\top P k_{m*}
    """
    shape = (X.shape[0], kernels.n_kernels_, _n_outputs(posteriors))
    check_memory(16.0 * np.prod(shape, dtype=float), "posterior components")
    mean, var = np.zeros(shape), np.zeros(shape)
    active, weights = _active(posteriors)
    for rows, Z in _batches(kernels, X):
        for m, diag in kernels.diag(Z, active):
            for j, _, outputs in _spreads(posteriors):
                var[rows, m][:, outputs] = weights[j, m] * diag[:, np.newaxis]
        for m, K in kernels.cross(Z, active):
            mean[rows, m] = np.hstack([p.weights[m] * (K @ p.dual_coef) for p in posteriors])
            for j, spread, outputs in _spreads(posteriors):
                if weights[j, m]:
                    explained = weights[j, m] ** 2 * spread.explained(K)
                    var[rows, m][:, outputs] -= explained[:, np.newaxis]
    return mean, np.maximum(var, 0.0)


def _weighted_sums(
    stream: Iterator[tuple[int, Array]], weights: Array, shape: tuple[int, ...]
) -> Array:
    """The sums over kernels of weights times what the stream brings, one per posterior."""
    sums = np.zeros((len(weights), *shape))
    for m, part in stream:
        for total, d in zip(sums, weights[:, m], strict=True):
            total += d * part  # K(d) = Σ d_m K_m
    return sums


def _spreads(posteriors: list[Posterior]) -> Iterator[tuple[int, Spread, list[int]]]:
    """Every distinct spread with the number of its posterior and the outputs that share it."""
    first = 0
    for j, posterior in enumerate(posteriors):
        outputs = list(range(first, first + posterior.dual_coef.shape[1]))
        if len(posterior.spreads) == 1:
            yield j, posterior.spreads[0], outputs
        else:
            yield from ((j, s, [o]) for s, o in zip(posterior.spreads, outputs, strict=True))
        first += len(outputs)


def _n_outputs(posteriors: list[Posterior]) -> int:
    return sum(posterior.dual_coef.shape[1] for posterior in posteriors)


def _active(posteriors: list[Posterior]) -> tuple[list[int], Array]:
    """The kernels that any output uses, and the weights, shape (n_posteriors, n_kernels)."""
    weights = np.stack([posterior.weights for posterior in posteriors])
    return np.flatnonzero(weights.any(axis=0)).tolist(), weights


def _batches(kernels: Kernels, X: Any) -> Iterator[tuple[slice, Any]]:
    """Checked samples in batches of rows, whatever their form."""
    size = max(1, _BLOCK_ENTRIES // kernels.n_samples_)
    if X.shape[0] <= size:
        yield slice(0, X.shape[0]), X
        return
    rows_of = X.iloc if hasattr(X, "iloc") else X
    for rows in gen_batches(X.shape[0], size):
        yield rows, rows_of[rows]
