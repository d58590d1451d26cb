"""Factored bank: kernels of low rank kept as their factors, never as square matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._component import Array
from .._memory import check_memory
from .base import Bank, Index


class FactoredBank(Bank):
    r"""Kernels :math:`K_m = Z_m Z_m^\top` given by factors of shape (n, r_m).

    Linear kernels are exactly of this form; Nyström maps and random features approximate others.

    Parameters
    ----------
    factors : sequence of arrays of shape (n, r_m)
        Ranks may differ; factors of equal rank are swept together.

    Examples
    --------
    >>> import numpy as np
    >>> bank = FactoredBank([np.array([[1.0], [2.0]]), np.eye(2)])
    >>> bank.combine(np.array([1.0, 1.0]))
    array([[2., 2.],
           [2., 5.]])
    """

    rounding = 1e-26  # a quadratic form is a squared norm here

    def __init__(self, factors: Sequence[Array]) -> None:
        ranks = np.array([Z.shape[1] for Z in factors])
        n_bytes = 8.0 * len(factors[0]) * float(ranks.sum())
        check_memory(n_bytes, f"factors of {len(factors):,} kernels × {len(factors[0]):,} × 8 B")
        members = [np.flatnonzero(ranks == r).tolist() for r in np.unique(ranks)]
        self._groups = [
            (np.array(index), np.stack([factors[m] for m in index], dtype=np.float64))
            for index in members
        ]
        self.factors: list[Array] = [np.empty(0)] * len(factors)
        for index, stack in self._groups:
            for m, Z in zip(index.tolist(), stack, strict=True):
                self.factors[m] = Z  # a view of the stack

    @property
    def n_kernels(self) -> int:
        """Number of kernels, M."""
        return len(self.factors)

    @property
    def n_samples(self) -> int:
        """Number of samples, n."""
        return len(self.factors[0])

    @property
    def nbytes(self) -> int:
        """Bytes of storage."""
        return sum(Z.nbytes for _, Z in self._groups)

    def combine(self, d: Array) -> Array:
        r"""The combined matrix :math:`\sum_m d_m Z_m Z_m^\top`."""
        active = np.flatnonzero(d)
        self._passes += len(active) / self.n_kernels
        if not len(active):
            return np.zeros((self.n_samples, self.n_samples))
        Z = np.hstack([self.factors[m] for m in active])
        scaled = Z * np.repeat(d[active], [self.factors[m].shape[1] for m in active])
        return scaled @ Z.T

    def apply(self, A: Array, kernels: Index | None = None) -> Array:
        r"""The products :math:`Z_m (Z_m^\top A)`."""
        wanted = np.ones(self.n_kernels, dtype=bool)
        if kernels is not None:
            wanted = np.isin(np.arange(self.n_kernels), kernels)
        self._passes += wanted.mean()
        out = np.zeros((self.n_kernels, *A.shape))
        for index, Z in self._groups:
            keep = wanted[index]
            out[index[keep]] = Z[keep] @ (Z[keep].transpose(0, 2, 1) @ A)
        return out if kernels is None else out[kernels]

    def weighted_apply(self, V: Array) -> Array:
        r"""The sum :math:`\sum_m Z_m (Z_m^\top V_m)`."""
        self._passes += 1.0
        out = np.zeros(V.shape[1:])
        for index, Z in self._groups:
            inner = Z.transpose(0, 2, 1) @ V[index]
            out += np.einsum("mir,mrt->it", Z, inner, optimize=True)
        return out

    def square_sum(self, kernels: Index | None = None) -> Array:
        r"""The matrix :math:`\sum_m Z_m (Z_m^\top Z_m) Z_m^\top`."""
        chosen = range(self.n_kernels) if kernels is None else kernels
        self._passes += len(chosen) / self.n_kernels
        Q = np.zeros((self.n_samples, self.n_samples))
        for m in chosen:
            Z = self.factors[m]
            Q += (Z @ (Z.T @ Z)) @ Z.T
        return (Q + Q.T) / 2

    def traces(self, S: Array) -> Array:
        r"""The traces :math:`\operatorname{tr}(Z_m^\top S Z_m)`."""
        self._passes += 1.0
        out = np.zeros((*S.shape[:-2], self.n_kernels))
        for index, Z in self._groups:
            out[..., index] = np.sum(Z * (S[..., np.newaxis, :, :] @ Z), axis=(-2, -1))
        return out

    def quadratic(self, A: Array) -> Array:
        r"""The quadratic forms :math:`\|Z_m^\top A\|^2`."""
        self._passes += 1.0
        out = np.zeros(self.n_kernels)
        for index, Z in self._groups:
            out[index] = np.sum((Z.transpose(0, 2, 1) @ A) ** 2, axis=(-2, -1))
        return out

    def square_norms(self, s: Array) -> Array:
        r"""The squared norms :math:`\|Z_m^\top \mathrm{diag}(s^2) Z_m\|^2`, shape (M,)."""
        self._passes += 1.0
        weighted = [s[:, np.newaxis] * Z for Z in self.factors]
        return np.array([np.sum((Z.T @ Z) ** 2) for Z in weighted])

    def mean_diagonals(self) -> Array:
        """The mean diagonal of every kernel, from the squared norms of factors, shape (M,)."""
        return np.array([np.sum(Z**2) for Z in self.factors]) / self.n_samples

    def select(self, kernels: Index | Sequence[int]) -> FactoredBank:
        """The bank of some of the kernels."""
        return FactoredBank([self.factors[m] for m in kernels])

    def take(self, samples: Index) -> FactoredBank:
        """The same kernels on some of the samples."""
        return FactoredBank([Z[samples] for Z in self.factors])
