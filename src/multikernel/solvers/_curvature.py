"""Second derivatives of the data term, and the linear system of one Newton step on them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_solve

from .._component import Array
from .._linalg import DefiniteSystem, cholesky

_NEGLIGIBLE = 1e-200  # curvature below this is treated as none
_EXACT = 1e-14  # of the squared gradient that conjugate gradients may leave of a system
_INEXACT = 1e-3  # and of the next step of Newton's method
_CLOSE = 1e-6  # and of the response to columns V, which is exact to second order
_SINGULAR = 1e-10  # relative; a constant added to all classes changes nothing
_LEAST = 1e-3  # of the mean: curvature of a sample in the preconditioner
_FAINT = 1e-8  # and by the trace of the kernel, so that K s = (ρ − s)/w is not all rounding
_MAX_CONJUGATE = 1000


class Kernel(Protocol):
    """A matrix, or what acts like one on coefficients of shape (n, n_outputs)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its size, (n, n)."""

    def __matmul__(self, A: Array, /) -> Array:
        """The product with A."""


class LowRankSum(NamedTuple):
    r"""The matrix :math:`K \otimes I + V^\top \mathrm{diag}(s) V`, which acts on all outputs."""

    K: Array
    V: Array
    scales: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of K."""
        return self.K.shape

    def __matmul__(self, A: Array) -> Array:
        """The product with coefficients of shape (n, n_outputs)."""
        product: Array = (self.scales * (self.V @ A.ravel())) @ self.V
        return self.K @ A + product.reshape(A.shape)


class Curvature(Protocol):
    r"""The matrix W of second derivatives; arrays V, r have shape (n, n_outputs, k)."""

    def times(self, V: Array) -> Array:
        """The product W V."""

    def system(self, K: Any, fit_intercept: bool, rough: bool) -> NewtonSystem:
        """The Newton system with the combined kernel K, to a few digits where rough will do."""


class NewtonSystem(Protocol):
    r"""The system :math:`(I + WK)\,\alpha + W \mathbf 1 b = r`, :math:`\mathbf 1^\top\alpha = 0`.

    Without an intercept b = 0 and the sum of alpha is free.
    """

    error: float

    def solve(self, r: Array, start: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """The pair alpha of shape (n, n_outputs, k), b of shape (n_outputs, k).

        From a start, of shapes (n, n_outputs) and (n_outputs,), the model that Newton's method
        minimises may keep the share ``error`` of what there was to gain.
        """

    def respond(self, V: Array) -> tuple[Array, Array, Array]:
        r"""The triple :math:`V^\top P V` of shape (k, k), and the solution PV, b for r = WV."""


class DiagonalCurvature:
    """Second derivatives of a loss that treats outputs by themselves, shape (n, n_outputs)."""

    def __init__(self, W: Array) -> None:
        self.W = W

    def times(self, V: Array) -> Array:
        """The product W V."""
        return self.W[:, :, np.newaxis] * V

    def system(self, K: Array, fit_intercept: bool, rough: bool = False) -> NewtonSystem:
        """One factor per output, or one for all where their curvatures agree."""
        if np.all(self.W[:, :1] == self.W):
            outputs = [_Output(K, self.W[:, 0], fit_intercept, rough)] * self.W.shape[1]
        else:
            outputs = [_Output(K, w, fit_intercept, rough) for w in self.W.T]
        return _Separate(self, outputs)


class _Separate:
    """Systems with a factor for every output."""

    error = 0.0

    def __init__(self, curvature: DiagonalCurvature, outputs: list[_Output]) -> None:
        self.curvature, self.outputs = curvature, outputs

    def solve(self, r: Array, start: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        pairs = [output.solve(r[:, t]) for t, output in enumerate(self.outputs)]
        return np.stack([alpha for alpha, _ in pairs], axis=1), np.stack([b for _, b in pairs])

    def respond(self, V: Array) -> tuple[Array, Array, Array]:
        PV, b = self.solve(self.curvature.times(V))
        H = _forms(V, PV)
        return 0.5 * (H + H.T), PV, b


class _Output:
    """The system of one output, on the samples where the loss is curved."""

    def __init__(self, K: Array, w: Array, fit_intercept: bool, rough: bool) -> None:
        self.curved = np.flatnonzero(w > _NEGLIGIBLE)
        self.flat = np.flatnonzero(w <= _NEGLIGIBLE)
        self.w = w[self.curved]
        self.fit_intercept = fit_intercept and len(self.curved) > 0
        self.K_flat = K[np.ix_(self.curved, self.flat)]
        K_curved = K[np.ix_(self.curved, self.curved)] if len(self.flat) else K
        self.system = DefiniteSystem(K_curved, 1 / self.w, rough)  # A = K_SS + W_S⁻¹

    def solve(self, r: Array) -> tuple[Array, Array]:
        alpha = r.copy()  # α = r where W = 0
        rhs = r[self.curved] / self.w[:, np.newaxis] - self.K_flat @ r[self.flat]
        solved = self.system.solve(np.column_stack([rhs, np.ones(len(rhs))]))
        u, ones = solved[:, :-1], solved[:, -1:]  # A⁻¹ rhs, A⁻¹ 1
        b = np.zeros(r.shape[1])
        if self.fit_intercept:
            b = (u.sum(axis=0) + r[self.flat].sum(axis=0)) / ones.sum()  # 1ᵀα = 0
            u -= ones * b  # α = A⁻¹ (rhs − 1 b)
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

    def mean(self) -> Array:
        r"""The mean curvature of the classes, :math:`\mathrm{tr}\,W_i` by their number, (n,)."""
        return np.asarray(np.mean(self.D * (1 - self.D / self.cost), axis=1))

    def system(self, K: Kernel, fit_intercept: bool, rough: bool = False) -> NewtonSystem:
        """Conjugate gradients, near to the system of classes that are all alike."""
        return _ConjugateGradients(K, self, fit_intercept)


class _ConjugateGradients:
    r"""A system that couples the outputs, by conjugate gradients.

    Notes
    -----
    The solution minimises, over :math:`z = K\alpha + \mathbf 1 b`,

    .. math:: \tfrac12 z^\top W z - r^\top z + \tfrac12 \alpha^\top K \alpha ,

    whose second derivatives in :math:`\alpha` are :math:`K + K W K`. With the mean curvature of the
    classes, w, for W they are :math:`K (I + w K)`, by which the gradient :math:`-K\rho`,
    :math:`\rho = r - \alpha - W z`, is preconditioned: what is left is how classes differ. For b
    it is :math:`S = \mathbf 1^\top W \mathbf 1`, of the gradient
    :math:`-\beta = -\mathbf 1^\top (r - W z)`.
    """

    error = 0.1  # holds where preconditioning leaves a condition below 100 = error / _INEXACT

    def __init__(self, K: Kernel, curvature: SoftmaxCurvature, fit_intercept: bool) -> None:
        self.K, self.curvature, self.fit_intercept = K, curvature, fit_intercept
        self.near = _MeanSystem(K, curvature.mean())

    def solve(self, r: Array, start: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        return self._descend(r, start, left=_EXACT if start is None else _INEXACT)

    def respond(self, V: Array) -> tuple[Array, Array, Array]:
        r"""Where :math:`(V - z)^\top W (V - z) + \alpha^\top K \alpha`, then the form, is least."""
        alpha, b = self._descend(self.curvature.times(V), None, left=_CLOSE)
        f = self._times_K(alpha)
        rest = V - f - b
        rest -= rest.mean(axis=1, keepdims=True)  # what all classes share bends nothing
        return _forms(rest, self.curvature.times(rest)) + _forms(alpha, f), alpha, b

    def _descend(
        self, r: Array, start: tuple[Array, Array] | None, left: float
    ) -> tuple[Array, Array]:
        alpha, Wz = np.zeros_like(r), np.zeros_like(r)
        b: Array = np.zeros(r.shape[1:])
        if start is not None:
            alpha, b = start[0][:, :, np.newaxis], start[1][:, np.newaxis]
            Wz = self.curvature.times(self._times_K(alpha) + b)
        rho, beta = r - alpha - Wz, np.sum(r - Wz, axis=0)
        scale = self._intercept_scale(r.shape[1])
        (s, K_s), q = self.near.solve(rho), scale @ beta
        size = _form(rho, K_s) + np.sum(beta * q, axis=0)  # squared gradient, per column
        enough = left * size
        p, K_p, p_b = s, K_s, q
        for _ in range(_MAX_CONJUGATE):
            z = K_p + p_b
            Wz = self.curvature.times(z)
            bend = _form(p, K_p) + _form(z, Wz)
            going = (size > enough) & (bend > 0)
            if not going.any():
                break
            rate = np.divide(size, bend, out=np.zeros_like(size), where=going)
            alpha, b = alpha + rate * p, b + rate * p_b
            rho, beta = rho - rate * (p + Wz), beta - rate * Wz.sum(axis=0)
            (s, K_s), q = self.near.solve(rho), scale @ beta
            last, size = size, _form(rho, K_s) + np.sum(beta * q, axis=0)
            turn = np.divide(size, last, out=np.zeros_like(size), where=going)
            p, K_p, p_b = s + turn * p, K_s + turn * K_p, q + turn * p_b
        return alpha, b

    def _times_K(self, V: Array) -> Array:
        product: Array = self.K @ V.reshape(len(V), -1)
        return product.reshape(V.shape)

    def _intercept_scale(self, n_outputs: int) -> Array:
        r"""The pseudo-inverse of S, or zero without an intercept."""
        if not self.fit_intercept:
            return np.zeros((n_outputs, n_outputs))
        constants = np.broadcast_to(np.eye(n_outputs), (self.K.shape[0], n_outputs, n_outputs))
        S = self.curvature.times(constants).sum(axis=0)
        return np.asarray(np.linalg.pinv(S, rcond=_SINGULAR, hermitian=True))


class _MeanSystem:
    r"""The system :math:`(I + wK)\,s = \rho` with one curvature w per sample, all classes alike.

    Notes
    -----
    One factor of :math:`A = I + \sqrt w K \sqrt w` serves all classes:
    :math:`s = \sqrt w A^{-1} \rho / \sqrt w`, and :math:`K s = (\rho - s) / w` is had for nothing.
    A low-rank part :math:`V^\top S V` of K, which couples classes, is added by Woodbury's identity.
    """

    def __init__(self, K: Any, w: Array) -> None:
        base = K.K if isinstance(K, LowRankSum) else K
        least = max(_LEAST * float(w.mean()), _FAINT / (float(np.trace(base)) or 1.0))
        self.w = np.maximum(w, least)[:, np.newaxis, np.newaxis]
        self.root = np.sqrt(self.w)
        root = self.root[:, :, 0]
        self.factor = cholesky(root * base * root.T, 1.0)
        self.low_rank = None
        if isinstance(K, LowRankSum):
            m, n = len(K.V), len(base)
            V = K.V.reshape(m, n, -1)
            H = self._base(np.moveaxis(V, 0, -1) * self.w)  # (I + wK)⁻¹ w Vᵀ, a column per row
            SV = K.scales[:, np.newaxis] * K.V
            inner = np.eye(m) + SV @ H.reshape(-1, m)
            self.low_rank = H, SV, inner

    def solve(self, rho: Array) -> tuple[Array, Array]:
        """The pair s, K s."""
        s = self._base(rho)
        if self.low_rank is not None:
            H, SV, inner = self.low_rank
            c = np.linalg.solve(inner, SV @ s.reshape(-1, s.shape[-1]))
            s = s - H @ c
        return s, (rho - s) / self.w

    def _base(self, rho: Array) -> Array:
        scaled = (rho / self.root).reshape(len(rho), -1)
        solved: Array = cho_solve(self.factor, scaled, check_finite=False).reshape(rho.shape)
        return self.root * solved


def _form(U: Array, V: Array) -> Array:
    """The inner products of matching columns, shape (k,)."""
    return np.asarray(np.einsum("itk,itk->k", U, V))


def _forms(U: Array, V: Array) -> Array:
    """The inner products of all columns, shape (k, k)."""
    return np.tensordot(U, V, axes=([0, 1], [0, 1]))
