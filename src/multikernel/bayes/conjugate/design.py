r"""Design: the kernels as the conjugate model sees them, with what is computed once.

Notation: Q is :math:`\sum_m K_m K_m^\top`, restricted to the samples that carry weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ..._component import Array
from ...banks import Bank
from ...banks.base import Index


@dataclass(frozen=True)
class Design:
    """A bank, the samples whose weights may differ from zero, and the matrix Q.

    Attributes
    ----------
    bank : Bank
        M kernels on n samples.
    samples : array of shape (D,)
        The samples that carry weights; all of them unless some were pruned.
    Q : array of shape (D, D)
    kernels : array of shape (M,)
        Which kernels of the original bank these are.
    """

    bank: Bank
    samples: Index
    Q: Array
    kernels: Index

    @classmethod
    def from_bank(cls, bank: Bank) -> Self:
        """The design of all kernels and samples of a bank."""
        return cls(bank, np.arange(bank.n_samples), bank.square_sum(), np.arange(bank.n_kernels))

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of Q; negative rounding is cut off."""
        values, vectors = np.linalg.eigh(self.Q)
        return np.maximum(values, 0.0), vectors

    def apply(self, a: Array) -> Array:
        """The products of all kernels with sample weights, (La, D) to (La, M, n): one pass."""
        A = np.zeros((self.bank.n_samples, len(a)))
        A[self.samples] = a.T
        return np.ascontiguousarray(self.bank.apply(A).transpose(2, 0, 1))

    def collect(self, G: Array) -> Array:
        r"""The sums :math:`\sum_m K_m g^m`, (La, M, n) to (La, D): one pass."""
        sums = self.bank.weighted_apply(np.ascontiguousarray(G.transpose(1, 2, 0)))
        return np.ascontiguousarray(sums[self.samples].T)

    def combine(self, d: Array) -> Array:
        r"""The rows of :math:`\sum_m d_m K_m` that belong to samples with weights: shape (D, n)."""
        K = self.bank.combine(d)
        return K if len(self.samples) == len(K) else K[self.samples]

    def keep_samples(self, kept: Index) -> Design:
        """The design where only some of the samples, by position, carry weights."""
        return replace(self, samples=self.samples[kept], Q=self.Q[np.ix_(kept, kept)])

    def keep_kernels(self, kept: Index) -> Design:
        """The design of some of its kernels, by position."""
        bank = self.bank.select(kept)
        dropped = np.setdiff1d(np.arange(self.bank.n_kernels), kept)
        rows = np.ix_(self.samples, self.samples)
        if len(dropped) < len(kept):
            Q: Array = self.Q - self.bank.square_sum(dropped)[rows]
        else:
            Q = bank.square_sum()[rows]
        return Design(bank, self.samples, Q, self.kernels[kept])
