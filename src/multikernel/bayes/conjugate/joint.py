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
raises the bound, converged or not, so that factors of several outputs may be in single precision.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.linalg.blas import dsyrk

from ..._component import Array
from .design import Design
from .model import Factors, Model
from .updates import intermediate_covariance, update_G, update_spread

_MAX_STEPS = 6
_PATIENCE = 2  # steps beyond which a preconditioner is old
_REDUCTION = 0.2  # of the residual, in one solve
_MAX_DIRECTIONS = 4
_LARGE = 0.05  # of the largest curvature: directions with a product of their own


class Preconditioner:
    """Cholesky factors that approximate the systems of all outputs, in arrays used again.

    Rows and columns are scaled to a diagonal of one, because precisions of sample weights may
    differ by many orders.

    Attributes
    ----------
    factors : list of arrays of shape (D, D)
        Lower factors in column order: float64 for one output, else float32.
    scales : array of shape (La, D)
        The roots of the diagonals.
    n_steps : int
        Steps that the last solve took.
    """

    def __init__(self, n_sets: int, size: int) -> None:
        dtype = np.float64 if n_sets == 1 else np.float32
        self.factors = [np.empty((size, size), dtype, order="F") for _ in range(n_sets)]
        self.scales = np.ones((n_sets, size))
        self.n_steps = 0
        self._potrf = get_lapack_funcs("potrf", dtype=dtype)
        self._trsv = get_blas_funcs("trsv", dtype=dtype)

    def renew(self, lam: Array, mu: Array, V: Array, design: Design) -> None:
        r"""Factor :math:`\Lambda + \bar\mu Q + \sum_r (\mu_r - \bar\mu) K_{(r)} K_{(r)}^\top`.

        The sum runs over the few directions of large curvature, the mean over all others.
        """
        largest = mu.max(axis=0)
        order = np.argsort(largest)[::-1][:_MAX_DIRECTIONS]
        large = order[largest[order] > _LARGE * largest.max()]
        small = np.setdiff1d(np.arange(len(V)), large)
        level = mu[:, small].mean(axis=1) if len(small) else np.zeros(len(mu))
        with np.errstate(over="ignore", invalid="ignore"):  # then the factor fails, and one serves
            for A, c in zip(self.factors, level, strict=True):
                np.multiply(design.Q, c, out=A.T, casting="same_kind")  # symmetric
            for r in large:
                self._add_square(mu[:, r] - level, design.combine(V[:, r]))
            for o, A in enumerate(self.factors):
                self._factor(o, A, lam[o])

    def _add_square(self, curvature: Array, K: Array) -> None:
        r"""Add multiples of :math:`K K^\top`, which all outputs share, to the lower triangles."""
        square = dsyrk(1.0, K.T, trans=1, lower=1).T
        scaled = np.empty_like(square)
        for A, c in zip(self.factors, curvature, strict=True):
            np.multiply(square, c, out=scaled)
            np.add(A.T, scaled, out=A.T, casting="same_kind")

    def _factor(self, o: int, A: Array, lam: Array) -> None:
        """Scale the matrix of an output and overwrite it by its factor; by one if that fails."""
        diagonal = np.diag_indices_from(A)
        self.scales[o] = np.sqrt(np.minimum(A[diagonal], np.finfo(A.dtype).max) + lam)
        inverse = (1 / self.scales[o]).astype(A.dtype)
        A *= inverse
        A.T[...] *= inverse
        A[diagonal] = 1 + 4 * np.sqrt(len(A)) * np.finfo(A.dtype).eps  # rounding of the rest
        _, failed = self._potrf(A, lower=True, clean=False, overwrite_a=True)
        if failed or not np.all(np.isfinite(A[diagonal])):
            A[...] = np.eye(len(A))

    def solve(self, B: Array) -> Array:
        """Approximate solutions for right-hand sides B of shape (La, D)."""
        X = np.empty(B.shape)
        for o, A in enumerate(self.factors):
            b = (B[o] / self.scales[o]).astype(A.dtype)
            b = self._trsv(A, b, lower=1, overwrite_x=True)
            X[o] = self._trsv(A, b, lower=1, trans=1, overwrite_x=True) / self.scales[o]
        return X


def update_a_and_G(
    q: Factors, model: Model, design: Design, P: Preconditioner | None, slack: float = 0.0
) -> tuple[Factors, Preconditioner]:
    """Covariances of sample weights, old ones where they cost little, then both means together."""
    a = update_spread(q, model, design, slack)
    V, spectrum = intermediate_covariance(q, model)
    ups = q.ups.mean[:, np.newaxis]
    mu = ups - ups**2 * spectrum
    if P is None or P.n_steps > _PATIENCE:
        P = P or Preconditioner(*q.a.mean.shape)
        P.renew(q.lam.mean, mu, V, design)
    mean, Ka, P.n_steps = _conjugate_gradients(q, model, design, (V, mu), P)
    q = replace(q, a=replace(a, mean=mean, Ka=Ka))
    return replace(q, G=update_G(q, model)), P


def _conjugate_gradients(
    q: Factors, model: Model, design: Design, curvature: tuple[Array, Array], P: Preconditioner
) -> tuple[Array, Array, int]:
    """Means of sample weights, their products with all kernels, and the number of steps."""
    V, mu = curvature[0], curvature[1][:, :, np.newaxis]
    lam, ups = q.lam.mean, q.ups.mean[:, np.newaxis]
    gap = update_G(q, model).mean
    gap -= q.a.Ka
    r = ups * design.collect(gap) - lam * q.a.mean  # υΣ K_m(g̃ − K_m a) − Λa
    a, Ka = q.a.mean, q.a.Ka.copy()
    del gap
    z = P.solve(r)
    p, rz = z, np.sum(r * z, axis=1)
    goal = _REDUCTION**2 * rz
    n_steps = 0
    while n_steps < _MAX_STEPS:
        n_steps += 1
        Kp = design.apply(p)
        curved = V.T @ Kp
        curved *= mu
        Hp = lam * p + design.collect(V @ curved)  # (Λ + Σ μ_r K_(r)K_(r)ᵀ) p
        pHp = np.sum(p * Hp, axis=1)
        step = np.divide(rz, pHp, out=np.zeros_like(rz), where=pHp > 0)
        a = a + step[:, np.newaxis] * p
        Kp *= step[:, np.newaxis, np.newaxis]
        Ka += Kp
        r = r - step[:, np.newaxis] * Hp
        z = P.solve(r)
        rz, before = np.sum(r * z, axis=1), rz
        if np.all(rz <= goal):
            break
        p = z + np.divide(rz, before, out=np.zeros_like(rz), where=before > 0)[:, np.newaxis] * p
    return a, Ka, n_steps
