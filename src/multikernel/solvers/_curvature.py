"""Second derivatives of the data term, and the linear system of one Newton step on them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve

from .._component import Array
from .._linalg import cholesky

_NEGLIGIBLE = 1e-200  # curvature below this is treated as none


class Curvature(Protocol):
    r"""The matrix W of second derivatives; arrays V, r have shape (n, n_outputs, k)."""

    def times(self, V: Array) -> Array:
        """The product W V."""

    def system(self, K: Array, fit_intercept: bool) -> NewtonSystem:
        """The Newton system with the combined kernel K, factorised."""


class NewtonSystem(Protocol):
    r"""The system :math:`(I + WK)\,\alpha + W \mathbf 1 b = r`, :math:`\mathbf 1^\top\alpha = 0`.

    Without an intercept b = 0 and the sum of alpha is free.
    """

    def solve(self, r: Array) -> tuple[Array, Array]:
        """The pair alpha of shape (n, n_outputs, k), b of shape (n_outputs, k)."""


class DiagonalCurvature:
    """Second derivatives of a loss that treats outputs by themselves, shape (n, n_outputs)."""

    def __init__(self, W: Array) -> None:
        self.W = W

    def times(self, V: Array) -> Array:
        """The product W V."""
        return self.W[:, :, np.newaxis] * V

    def system(self, K: Array, fit_intercept: bool) -> NewtonSystem:
        """One factor per output, or one for all where their curvatures agree."""
        if np.all(self.W[:, :1] == self.W):
            return _Separate([_Output(K, self.W[:, 0], fit_intercept)] * self.W.shape[1])
        return _Separate([_Output(K, w, fit_intercept) for w in self.W.T])


class _Separate:
    def __init__(self, outputs: list[_Output]) -> None:
        self.outputs = outputs

    def solve(self, r: Array) -> tuple[Array, Array]:
        pairs = [output.solve(r[:, t]) for t, output in enumerate(self.outputs)]
        return np.stack([alpha for alpha, _ in pairs], axis=1), np.stack([b for _, b in pairs])


class _Output:
    """The system of one output, on the samples where the loss is curved."""

    def __init__(self, K: Array, w: Array, fit_intercept: bool) -> None:
        self.curved = np.flatnonzero(w > _NEGLIGIBLE)
        self.flat = np.flatnonzero(w <= _NEGLIGIBLE)
        self.w = w[self.curved]
        self.fit_intercept = fit_intercept and len(self.curved) > 0
        self.K_flat = K[np.ix_(self.curved, self.flat)]
        K_curved = K[np.ix_(self.curved, self.curved)] if len(self.flat) else K
        self.factor = cholesky(K_curved, 1 / self.w)  # A = K_SS + W_S⁻¹
        self.ones = cho_solve(self.factor, np.ones(len(self.w)), check_finite=False)

    def solve(self, r: Array) -> tuple[Array, Array]:
        alpha = r.copy()  # α = r where W = 0
        rhs = r[self.curved] / self.w[:, np.newaxis] - self.K_flat @ r[self.flat]
        u = cho_solve(self.factor, rhs, check_finite=False)
        b = np.zeros(r.shape[1])
        if self.fit_intercept:
            b = (u.sum(axis=0) + r[self.flat].sum(axis=0)) / self.ones.sum()  # 1ᵀα = 0
            u -= self.ones[:, np.newaxis] * b  # α = A⁻¹ (rhs − 1 b)
        alpha[self.curved] = u
        return alpha, b


class SoftmaxCurvature:
    r"""Second derivatives of the softmax loss.

    Parameters
    ----------
    D : array of shape (n, n_classes)
        Class probabilities times the cost c of shape (n, 1).

    Notes
    -----
    Sample i has :math:`W_i = \mathrm{diag}(D_i) - D_i D_i^\top / c_i`.
    """

    def __init__(self, D: Array, cost: Array) -> None:
        self.D, self.cost = D, cost

    def times(self, V: Array) -> Array:
        """The product W V."""
        D = self.D[:, :, np.newaxis]
        common = np.sum(D * V, axis=1, keepdims=True) / self.cost[:, :, np.newaxis]
        product: Array = D * (V - common)
        return product

    def system(self, K: Array, fit_intercept: bool) -> NewtonSystem:
        """One factor per class and one for their sum."""
        return _Softmax(K, self, fit_intercept)


class _Softmax:
    r"""The softmax system, in time of n_classes + 1 factorisations of size n.

    Notes
    -----
    With :math:`E_t = (D_t^{-1} + K)^{-1}` and :math:`P = E - E (\sum_t E_t)^{-1} E`, the solution
    without intercept is :math:`\alpha = r - P K r`.
    """

    def __init__(self, K: Array, curvature: SoftmaxCurvature, fit_intercept: bool) -> None:
        self.K, self.fit_intercept = K, fit_intercept
        roots = np.sqrt(curvature.D.T)
        eye = np.eye(len(K))
        factors = [cholesky(s[:, np.newaxis] * K * s, 1.0) for s in roots]  # I + √D K √D
        inverses = [cho_solve(factor, eye, check_finite=False) for factor in factors]
        self.E = np.stack([s[:, np.newaxis] * B * s for s, B in zip(roots, inverses, strict=True)])
        self.factor = cholesky(self.E.sum(axis=0))
        if fit_intercept:
            n, n_classes = curvature.D.shape
            constants = np.broadcast_to(np.eye(n_classes), (n, n_classes, n_classes))
            self.response = self._without_intercept(curvature.times(constants))  # −∂α/∂b

    def _without_intercept(self, r: Array) -> Array:
        c = np.einsum("tij,jtk->itk", self.E, np.tensordot(self.K, r, axes=1))  # E_t K r_t
        common = cho_solve(self.factor, c.sum(axis=1), check_finite=False)
        shared = np.einsum("tij,jk->itk", self.E, common)
        alpha: Array = r - c + shared
        return alpha

    def solve(self, r: Array) -> tuple[Array, Array]:
        alpha = self._without_intercept(r)
        b = np.zeros(r.shape[1:])
        if self.fit_intercept:
            slope = self.response.sum(axis=0)  # 1ᵀα falls by slope · b
            b = np.linalg.lstsq(slope, alpha.sum(axis=0), rcond=1e-10)[0]
            alpha = alpha - np.tensordot(self.response, b, axes=1)
        return alpha, b
