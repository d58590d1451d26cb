"""Bank: the numbers behind M kernels on n samples, and the four sweeps a solver may ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from .._component import Array
from .._linalg import Matrix

if TYPE_CHECKING:
    from .shared import SharedSweeps

Index = NDArray[np.intp]


class Bank(ABC):
    r"""M symmetric positive semi-definite matrices :math:`K_m` of size n, seen through four sweeps.

    Solvers use nothing else, so a bank may hold packed matrices, factors, files or remote blocks.
    One sweep over all entries of all kernels is a *bank pass*; ``n_passes`` counts them.
    """

    rounding: float = 1e-15  # of a quadratic form, relative to the largest it could be
    _passes: float = 0.0

    @property
    def n_passes(self) -> float:
        """Sweeps over all kernels so far; a sweep over some of them counts as their share."""
        return self._passes

    @property
    @abstractmethod
    def n_kernels(self) -> int:
        """Number of kernels, M."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples, n."""

    @abstractmethod
    def combine(self, d: Array) -> Array:
        r"""The matrix :math:`\sum_m d_m K_m`, shape (n, n); weights of zero are not read."""

    def combine_roughly(self, d: Array) -> Matrix:
        """The same matrix, with no more digits than the bank has."""
        return self.combine(d)

    @abstractmethod
    def apply(self, A: Array, kernels: Index | None = None) -> Array:
        r"""The products :math:`K_m A` for A of shape (n, T): shape (n_kernels, n, T)."""

    @abstractmethod
    def traces(self, S: Array) -> Array:
        r"""The traces :math:`\operatorname{tr}(S K_m)` for symmetric S of shape (n, n): shape (M,).

        A stack of shape (k, n, n) gives (k, M).
        """

    def apply_at(self, samples: Index, A: Array, kernels: Index) -> Array:
        r"""The products :math:`K_m A` at some of the samples: shape (n_kernels, n_samples, T)."""
        return self.apply(A, kernels)[:, samples]

    def quadratic(self, A: Array) -> Array:
        r"""The forms :math:`\operatorname{tr}(A^\top K_m A)` for A of shape (n, T): shape (M,)."""
        return np.maximum(self.traces(A @ A.T), 0.0)

    def weighted_apply(self, V: Array) -> Array:
        r"""The sum :math:`\sum_m K_m V_m` for V of shape (M, n, T), a matrix per kernel: (n, T)."""
        out = np.zeros(V.shape[1:])
        for m, part in enumerate(V):
            out += self.apply(part, np.array([m]))[0]
        return out

    def square_sum(self, kernels: Index | None = None) -> Array:
        r"""The matrix :math:`\sum_m K_m K_m`, of all or some of the kernels, shape (n, n)."""
        chosen = np.arange(self.n_kernels) if kernels is None else np.asarray(kernels, np.intp)
        Q = np.zeros((self.n_samples, self.n_samples), order="F")
        unit = np.zeros(self.n_kernels)
        for m in chosen:
            unit[m] = 1.0
            Q = dsyrk(1.0, self.combine(unit), beta=1.0, c=Q, lower=1, overwrite_c=True)
            unit[m] = 0.0
        return np.ascontiguousarray(np.tril(Q) + np.tril(Q, -1).T)

    def square_norms(self, s: Array) -> Array:
        r"""The squared norms :math:`\sum_{ij} s_i^2 s_j^2 K_{m,ij}^2` for s of shape (n,): (M,)."""
        out, unit = np.empty(self.n_kernels), np.zeros(self.n_kernels)
        for m in range(self.n_kernels):
            unit[m] = 1.0
            out[m] = np.sum((s[:, np.newaxis] * self.combine(unit) * s) ** 2)
            unit[m] = 0.0
        return out

    def mean_diagonals(self) -> Array:
        """The mean diagonal of every kernel, shape (M,)."""
        return self.traces(np.eye(self.n_samples)) / self.n_samples

    def eigenvalue_bounds(self) -> Array:
        """Upper bounds of the largest eigenvalue of every kernel: here the traces, shape (M,)."""
        return self.n_samples * self.mean_diagonals()

    @abstractmethod
    def select(self, kernels: Index | Sequence[int]) -> Bank:
        """The bank of some of the kernels; shares memory where it can."""

    def rough(self) -> Bank:
        """The same kernels for sweeps that may be less exact where that is faster."""
        return self

    def best_order(self, samples: Index) -> Index:
        """Some samples in the order in which :meth:`take` makes the fastest bank of them."""
        return samples

    def shared(self, sets: Sequence[Index]) -> SharedSweeps | None:
        """Sweeps for several sets of samples at once; None where they would save nothing."""
        return None

    @abstractmethod
    def take(self, samples: Index) -> Bank:
        """The bank of the same kernels on some of the samples; shares memory where it can."""
