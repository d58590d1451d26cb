"""Virtual kernels: the combinations of kernels along the eigenvectors of a penalty matrix.

Notation: β in [H12] is ``d`` here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from ..banks import Bank
from ._spectrum import positive_spectrum

_ZERO = 1e-12  # entries of a unit vector, and weights relative to the largest, below this are zero


@dataclass(frozen=True, eq=False)
class VirtualKernels:
    r"""The kernels whose plain 2-norm is the Q-norm of the weights.

    Made by :func:`virtual_kernels`. There are as many as Q has positive eigenvalues, r of M.

    Attributes
    ----------
    eigenvalues : array of shape (r,)
        The positive eigenvalues of Q, smallest (least penalised) first.
    eigenvectors : array of shape (n_kernels, r)
        Their unit eigenvectors, each with the sign that makes its trace positive. Those of equal
        eigenvalues may be any basis of their space.
    traces : array of shape (r,)
        The traces of the virtual kernels.

    Notes
    -----
    With :math:`Q = V \Lambda V^\top` ([H12]_, Section 3.1, corrected)

    .. math:: \tilde K_i = \lambda_i^{-1/2} \sum_m V_{mi} K_m, \quad \mu = \Lambda^{1/2} V^\top d,
              \quad \sum_m d_m K_m = \sum_i \mu_i \tilde K_i, \quad d^\top Q d = \|\mu\|^2,

    with :math:`\operatorname{tr} \tilde K_i = v_i^\top u / \sqrt{\lambda_i}` for
    :math:`u_m = \operatorname{tr} K_m`, so :math:`\sum_i (\operatorname{tr} \tilde K_i)^2 = u^\top
    Q^{-1} u`. A virtual kernel may be indefinite. MKL with the Q-norm is MKL with the 2-norm of
    :math:`\mu` under the constraint :math:`V \Lambda^{-1/2} \mu \ge 0` (Theorem 3), which is
    :math:`d \ge 0`. It is *not* the 2-norm MKL with :math:`\mu \ge 0`, even if all virtual kernels
    are positive semi-definite (Lemma 1 as printed): the two have the same solution where
    the solution of each is feasible for the other, and whatever the kernels only where Q is
    diagonal and definite, see :attr:`two_norm`.

    Where Q is singular, directions of eigenvalue zero cost nothing and have no virtual kernel:
    weights and their combination are then known from :math:`\mu` only up to these directions.
    """

    eigenvalues: Array
    eigenvectors: Array
    traces: Array

    @property
    def positive_share(self) -> Array:
        """The share of positive ones among the non-zero entries of each eigenvector, shape (r,)."""
        nonzero = np.abs(self.eigenvectors) > _ZERO
        positive = self.eigenvectors > _ZERO
        return np.asarray(positive.sum(axis=0) / nonzero.sum(axis=0))

    @property
    def psd(self) -> NDArray[np.bool_]:
        """Which virtual kernels are positive semi-definite for all kernels: those of one sign."""
        return np.asarray(self.positive_share == 1)

    @property
    def two_norm(self) -> bool:
        r"""Whether Q-norm MKL is 2-norm MKL on the virtual kernels, whatever the kernels.

        Notes
        -----
        The feasible sets :math:`\mu \ge 0` and :math:`V \Lambda^{-1/2} \mu \ge 0` agree if and only
        if the orthogonal matrix V has no negative entry and so is a permutation: if Q is diagonal.
        """
        n_kernels, rank = self.eigenvectors.shape
        return n_kernels == rank and bool(self.psd.all())

    def to_virtual(self, d: Array) -> Array:
        """The weights of virtual kernels, shape (..., r), of kernel weights (..., n_kernels)."""
        return np.asarray(np.sqrt(self.eigenvalues) * (np.asarray(d) @ self.eigenvectors))

    def to_weights(self, mu: Array) -> Array:
        """The kernel weights, shape (..., n_kernels), of weights of virtual kernels (..., r).

        Where Q is singular, the smallest of the weights with this Q-norm part.
        """
        return np.asarray((np.asarray(mu) / np.sqrt(self.eigenvalues)) @ self.eigenvectors.T)

    def feasible(self, mu: Array) -> bool:
        r"""Whether the kernel weights :math:`V \Lambda^{-1/2} \mu` are nonnegative, to rounding."""
        d = self.to_weights(mu)
        return bool(d.min() >= -_ZERO * np.abs(d).max())

    def combine(self, bank: Bank, i: int) -> Array:
        """The Gram matrix of virtual kernel i, shape (n, n), perhaps indefinite."""
        mu = np.eye(len(self.eigenvalues))[i]
        return bank.combine(self.to_weights(mu))  # K̃_i = λ_i^(-1/2) Σ_m V_mi K_m


def virtual_kernels(Q: Any, traces: Any = None) -> VirtualKernels:
    r"""Find the virtual kernels of a penalty matrix.

    Parameters
    ----------
    Q : array-like of shape (n_kernels, n_kernels)
        Symmetric positive semi-definite matrix; only its positive eigenvalues give virtual kernels.
    traces : array-like of shape (n_kernels,), default=None
        Traces of the kernels, ``bank.traces(np.eye(bank.n_samples))``; ones by default.

    Returns
    -------
    virtual : VirtualKernels

    Examples
    --------
    >>> import numpy as np
    >>> virtual = virtual_kernels([[2.0, 1.0], [1.0, 2.0]])
    >>> virtual.eigenvalues
    array([1., 3.])
    >>> virtual.psd
    array([False,  True])
    >>> d = np.array([0.5, 0.1])
    >>> mu = virtual.to_virtual(d)
    >>> round(float(mu @ mu), 6)
    0.62
    >>> virtual.feasible(mu), virtual.feasible(np.array([1.0, 0.0]))
    (True, False)
    """
    eigenvalues, V = positive_spectrum(Q)
    u = np.ones(len(V)) if traces is None else np.asarray(traces, dtype=np.float64)
    if u.shape != (len(V),):
        raise ValueError(
            f"traces must hold one number for each of the {len(V)} kernels, got shape {u.shape}."
        )
    V = V * _signs(V, u)
    return VirtualKernels(eigenvalues, V, V.T @ u / np.sqrt(eigenvalues))  # v_iᵀu / √λ_i


def _signs(V: Array, u: Array) -> Array:
    """The signs that make traces positive; where a trace is zero, the largest entry instead."""
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    traces = V.T @ u
    decided = np.abs(traces) > _ZERO * np.linalg.norm(u)
    return np.where(np.where(decided, traces, largest) < 0, -1.0, 1.0)
