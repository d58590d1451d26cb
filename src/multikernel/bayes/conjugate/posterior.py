r"""The posterior that inference returns: moments of all weights, and of targets at new samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from ..._component import Array
from ...banks.base import Index
from .design import Design
from .elbo import elbo
from .model import Factors, Model
from .structured import structured_factor, update_a_structured
from .updates import intermediate_covariance, precision_factor, update_a, update_G


@dataclass(frozen=True)
class ConjugatePosterior:
    """Factors of the approximate posterior and what they were found with.

    Attributes
    ----------
    factors : Factors
        Of the kernels and samples that were not pruned.
    precision_factors : list of arrays of shape (D, D)
        Lower Cholesky factors of the precisions of sample weights, one per set of them.
    kernels, samples : array of int
        The kernels and samples that were not pruned.
    model : Model
    elbo : float
        Lower bound of the log evidence, all constants included.
    history : dict of arrays
        ``elbo``, ``prediction_change``, ``n_kernels``, ``n_samples``, ``n_passes`` and
        ``seconds`` after every iteration. The bound never falls unless the model got smaller.
    converged : bool
    """

    factors: Factors
    precision_factors: list[Array]
    kernels: Index
    samples: Index
    model: Model
    elbo: float
    history: dict[str, Array]
    converged: bool

    @property
    def n_iter(self) -> int:
        """Iterations used."""
        return len(self.history["elbo"])

    def sample_squares(self) -> Array:
        """The expected squares of sample weights, shape (La, D)."""
        q = self.factors
        if not self.model.tied:
            return q.a.second
        var = [np.sum(dtrtri(L, lower=True)[0] ** 2, axis=0) for L in self.precision_factors]
        return np.asarray(q.a.mean**2 + np.stack(var))

    def predictor_moments(self, Ks: Array, full: bool = True) -> tuple[Array, Array]:
        r"""Means and variances of :math:`e^\top g_* + b` at new samples, shape (n_queries, L) each.

        Parameters
        ----------
        Ks : array of shape (M, n_queries, D)
            Kernels between queries and the samples that carry weights.
        full : bool, default=True
            Whether the variance includes that of the intermediate outputs; [G12]_ leaves it out.

        Notes
        -----
        The intermediate outputs of a query have the mean :math:`\tilde g_* = K_*^\top \tilde a`
        and, since all kernels share a, the full covariance
        :math:`K_*^\top \Sigma_a K_* + E[1/\upsilon] I`; then

        .. math:: \operatorname{Var} = [1; \tilde g_*]^\top \Sigma_{(b, e)} [1; \tilde g_*]
                  + \operatorname{tr}\big(E[e e^\top] \operatorname{Cov} g_*\big)
        """
        q = self.factors
        g = np.moveaxis(Ks @ q.a.mean.T, 2, 0)  # shape (La, M, n_queries)
        mean = (q.be.mean[:, np.newaxis] @ g)[:, 0] + q.be.bias[:, np.newaxis]
        var = np.sum((q.be.cov @ g) * g, axis=1)  # g̃ᵀ Cov[e] g̃
        var = var + 2 * (q.be.bias_cov[:, np.newaxis] @ g)[:, 0] + q.be.bias_var[:, np.newaxis]
        if full:
            var = var + self._intermediate_part(Ks)
        return mean.T, np.maximum(var, 0.0).T

    def _intermediate_part(self, Ks: Array) -> Array:
        r"""The traces of :math:`E[e e^\top]` times the covariance of :math:`g_*`."""
        q = self.factors
        M, n_queries, D = Ks.shape
        seconds = q.be.second
        parts = []
        for o in range(len(q.be.bias)):
            if o < len(seconds):
                s, V = np.linalg.eigh(seconds[o])
                R = np.sqrt(np.maximum(s, 0.0)) * V  # E[eeᵀ] = RRᵀ
                rotated = np.tensordot(R.T, Ks, axes=1).reshape(M * n_queries, D)
            L = self.precision_factors[min(o, len(self.precision_factors) - 1)]
            W = solve_triangular(L, rotated.T, lower=True, check_finite=False)
            scatter = q.ups.inverse_mean[min(o, len(q.ups.scale) - 1)] * np.sum(s)
            parts.append(np.sum(W**2, axis=0).reshape(M, n_queries).sum(axis=0) + scatter)
        return np.stack(parts)


def conclude(
    q: Factors,
    model: Model,
    design: Design,
    y: Array,
    history: dict[str, Array],
    converged: bool,
) -> ConjugatePosterior:
    """One last update of the sample weights, whose precisions are kept as Cholesky factors."""
    lam, ups = q.lam.mean, q.ups.mean
    if model.structured:
        V, spectrum = intermediate_covariance(q, model)
        mu = ups[:, np.newaxis] - ups[:, np.newaxis] ** 2 * spectrum
        q = replace(q, a=update_a_structured(q, model, design))
        q = replace(q, G=update_G(q, model))
        bound = elbo(q, model, y)
        factors = [structured_factor(lam[o], mu[o], V, design) for o in range(len(ups))]
    else:
        q = replace(q, a=update_a(q, model, design))
        bound = elbo(q, model, y)
        factors = [precision_factor(lam[o], ups[o], design) for o in range(len(ups))]
    return ConjugatePosterior(
        q, factors, design.kernels, design.samples, model, bound, history, converged
    )
