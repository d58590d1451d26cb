r"""The structured family: sample weights and intermediate outputs stay dependent.

Given a, the intermediate outputs have their exact conditional distribution; a itself then loses
the false precision that kernels without weight would lend it in the mean-field family. An update
costs a product of square matrices per kernel.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotri, dpotrs

from ..._component import Array
from ..._linalg import mirror
from ...banks import Bank
from .design import Design
from .model import Factors, Model, SampleWeights
from .updates import factorize, intermediate_covariance, pull

_NEGLIGIBLE = 1e-15  # of the largest eigenvalue


def update_a_structured(q: Factors, model: Model, design: Design) -> SampleWeights:
    r"""Sample weights with the intermediate outputs integrated out; to be followed by theirs.

    Notes
    -----
    With :math:`\upsilon I - \upsilon^2 \Sigma_g = \sum_r \mu_r v_r v_r^\top`,
    :math:`K_{(r)} = \sum_m v_{rm} K_m` and the pull l of the targets,

    .. math:: \Sigma = \big(\Lambda + \textstyle\sum_r \mu_r K_{(r)} K_{(r)}^\top\big)^{-1}, \qquad
              \tilde a = \upsilon \Sigma \textstyle\sum_i K_i \Sigma_g l_i
    """
    V, spectrum = intermediate_covariance(q, model)
    ups, lam = q.ups.mean, q.lam.mean
    explained = V @ (spectrum[:, :, np.newaxis] * (V.T @ pull(q, model)))
    S = design.collect(explained)
    mu = ups[:, np.newaxis] - ups[:, np.newaxis] ** 2 * spectrum
    mean, var, log_det = np.empty(S.shape), np.empty(S.shape), np.empty(len(S))
    X = np.empty((len(S), len(V), len(V)))
    for o in range(len(S)):
        L = structured_factor(lam[o], mu[o], V, design)
        mean[o] = ups[o] * dpotrs(L, S[o], lower=True)[0]
        log_det[o] = -2 * np.sum(np.log(np.diagonal(L)))
        cov = mirror(dpotri(L, lower=True, overwrite_c=True)[0])
        var[o] = np.diagonal(cov)
        X[o] = _traces_between(design, cov)
    trace_q = np.trace(X, axis1=1, axis2=2)
    var = var.sum(axis=1, keepdims=True) if model.tied else var
    return SampleWeights(mean, var, log_det, trace_q, design.apply(mean), X)


def structured_factor(lam: Array, mu: Array, V: Array, design: Design) -> Array:
    r"""The lower Cholesky factor of :math:`\Lambda + \sum_r \mu_r K_{(r)} K_{(r)}^\top`."""
    A = np.zeros((len(design.samples),) * 2, order="F")
    for r in np.flatnonzero(mu > _NEGLIGIBLE * mu.max()):
        K = design.combine(V[:, r])
        A = dsyrk(mu[r], K.T, beta=1.0, c=A, trans=1, lower=1, overwrite_c=True)
    A[np.diag_indices_from(A)] += lam
    return factorize(A)


def _traces_between(design: Design, cov: Array) -> Array:
    r"""The traces :math:`\operatorname{tr}(K_m^\top \Sigma K_l)` of all pairs, shape (M, M)."""
    bank: Bank = design.bank
    X = np.empty((bank.n_kernels, bank.n_kernels))
    for k, unit in enumerate(np.eye(bank.n_kernels)):
        P = cov @ design.combine(unit)
        if len(design.samples) < bank.n_samples:
            rows, P = P, np.zeros((bank.n_samples, bank.n_samples))
            P[design.samples] = rows
        X[k] = bank.traces(P + P.T) / 2
    return np.asarray((X + X.T) / 2)
