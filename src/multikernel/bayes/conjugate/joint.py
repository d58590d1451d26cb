r"""The means of sample weights and intermediate outputs together, by conjugate gradients.

Alternating between the two is slow where the intermediate outputs follow the sample weights
closely. The bound is a quadratic in both means, and without the intermediate outputs it leaves
the system

.. math:: \big(\Lambda + \textstyle\sum_r \mu_r K_{(r)} K_{(r)}^\top\big) \tilde a
          = \upsilon \textstyle\sum_i K_i \Sigma_g l_i, \qquad
          \sum_r \mu_r v_r v_r^\top = \upsilon I - \upsilon^2 \Sigma_g, \quad
          K_{(r)} = \textstyle\sum_m v_{rm} K_m .

One or two of the :math:`\mu_r`, those along the kernel weights, are large. With the others at
their mean the matrix costs one product of square matrices, and its Cholesky factor, kept over many
iterations, brings the residual down by the factor asked for in one to three steps. Every step
raises the bound, converged or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrs

from ..._component import Array
from .design import Design
from .model import Factors, Model, SampleWeights
from .updates import factorize, intermediate_covariance, trace_q, update_G, weight_moments

_MAX_STEPS = 6
_PATIENCE = 2  # steps beyond which a preconditioner is old
_REDUCTION = 0.2  # of the residual, in one solve
_MAX_DIRECTIONS = 4
_LARGE = 0.05  # of the largest curvature: directions with a product of their own


@dataclass(frozen=True)
class Preconditioner:
    """Cholesky factors that approximate the systems of all outputs.

    Attributes
    ----------
    factors : sequence of arrays of shape (D, D)
        Lower factors in column order.
    n_steps : int
        Steps that the last solve with them took.
    """

    factors: Sequence[Array]
    n_steps: int = 0

    def solve(self, B: Array) -> Array:
        """Approximate solutions for right-hand sides B of shape (La, D)."""
        pairs = zip(self.factors, B, strict=True)
        return np.stack([dpotrs(L, b, lower=True)[0] for L, b in pairs])


def update_a_and_G(
    q: Factors, model: Model, design: Design, old: Preconditioner | None
) -> tuple[Factors, Preconditioner]:
    """Covariances of sample weights, then both means together."""
    _, var, log_det = weight_moments(np.zeros(q.a.mean.shape), q, model, design)
    V, spectrum = intermediate_covariance(q, model)
    ups = q.ups.mean[:, np.newaxis]
    mu = ups - ups**2 * spectrum
    if old is None or old.n_steps > _PATIENCE:
        old = Preconditioner(_approximate_factors(q.lam.mean, mu, V, design))
    mean, Ka, n_steps = _conjugate_gradients(q, model, design, (V, mu), old)
    q = replace(q, a=SampleWeights(mean, var, log_det, trace_q(var, q), Ka))
    return replace(q, G=update_G(q, model)), replace(old, n_steps=n_steps)


def _approximate_factors(lam: Array, mu: Array, V: Array, design: Design) -> list[Array]:
    r"""Factors of :math:`\Lambda + \bar\mu Q + \sum_r (\mu_r - \bar\mu) K_{(r)} K_{(r)}^\top`.

    The sum runs over the few directions of large curvature, the mean over all others.
    """
    largest = mu.max(axis=0)
    order = np.argsort(largest)[::-1][:_MAX_DIRECTIONS]
    large = order[largest[order] > _LARGE * largest.max()]
    small = np.setdiff1d(np.arange(len(V)), large)
    level = mu[:, small].mean(axis=1) if len(small) else np.zeros(len(mu))
    factors = [(c * design.Q).T for c in level]  # symmetric, so that this is column order
    for r in large:
        K = design.bank.combine(V[:, r])[design.samples]
        square = dsyrk(1.0, K.T, trans=1, lower=1)  # shared by all outputs
        for o, A in enumerate(factors):
            A += (mu[o, r] - level[o]) * square
    for A, diagonal in zip(factors, np.broadcast_to(lam, (len(lam), len(design.Q))), strict=True):
        A[np.diag_indices_from(A)] += diagonal
    return [factorize(A) for A in factors]


def _conjugate_gradients(
    q: Factors, model: Model, design: Design, curvature: tuple[Array, Array], P: Preconditioner
) -> tuple[Array, Array, int]:
    """Means of sample weights, their products with all kernels, and the number of steps."""
    V, mu = curvature[0], curvature[1][:, :, np.newaxis]
    lam, ups = q.lam.mean, q.ups.mean[:, np.newaxis]
    a, Ka = q.a.mean, q.a.Ka
    r = ups * design.collect(update_G(q, model).mean - Ka) - lam * a  # υΣ K_m(g̃ − K_m a) − Λa
    z = P.solve(r)
    p, rz = z, np.sum(r * z, axis=1)
    goal = _REDUCTION**2 * rz
    n_steps = 0
    while n_steps < _MAX_STEPS:
        n_steps += 1
        Kp = design.apply(p)
        Hp = lam * p + design.collect(V @ (mu * (V.T @ Kp)))  # (Λ + Σ μ_r K_(r)K_(r)ᵀ) p
        pHp = np.sum(p * Hp, axis=1)
        step = np.divide(rz, pHp, out=np.zeros_like(rz), where=pHp > 0)
        a = a + step[:, np.newaxis] * p
        Ka = Ka + step[:, np.newaxis, np.newaxis] * Kp
        r = r - step[:, np.newaxis] * Hp
        z = P.solve(r)
        rz, before = np.sum(r * z, axis=1), rz
        if np.all(rz <= goal):
            break
        p = z + np.divide(rz, before, out=np.zeros_like(rz), where=before > 0)[:, np.newaxis] * p
    return a, Ka, n_steps
