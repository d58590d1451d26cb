"""Atom bank: nonnegative mixtures of another bank's kernels, never formed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._component import Array
from .base import Bank, Index


class AtomBank(Bank):
    r"""Mixtures :math:`\tilde K_j = \sum_m T_{jm} K_m` of a bank, T of shape (n_atoms, n_kernels).

    Wedge, group and task-coupling penalties are simple penalties on such mixtures; every sweep is
    one sweep of the bank below and a product with T.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> below = PackedBank.from_grams([np.eye(2), np.ones((2, 2))])
    >>> AtomBank(below, np.array([[1.0, 1.0]])).combine(np.array([2.0]))
    array([[4., 2.],
           [2., 4.]])
    """

    def __init__(self, bank: Bank, T: Array) -> None:
        self.bank = bank
        self.T = T
        self.rounding = bank.rounding

    @property
    def n_kernels(self) -> int:
        """Number of atoms."""
        return len(self.T)

    @property
    def n_samples(self) -> int:
        """Number of samples, n."""
        return self.bank.n_samples

    @property
    def n_passes(self) -> float:
        """Passes over the bank below."""
        return self.bank.n_passes

    def combine(self, d: Array) -> Array:
        r"""The combined matrix :math:`\sum_m (T^\top \tilde d)_m K_m`."""
        return self.bank.combine(self.T.T @ d)

    def apply(self, A: Array, kernels: Index | None = None) -> Array:
        r"""The products :math:`\tilde K_j A`."""
        T = self.T if kernels is None else self.T[kernels]
        needed = np.flatnonzero(T.any(axis=0))
        return np.tensordot(T[:, needed], self.bank.apply(A, needed), axes=1)

    def apply_at(self, samples: Index, A: Array, kernels: Index) -> Array:
        r"""The products :math:`\tilde K_j A` at some of the samples."""
        T = self.T[kernels]
        needed = np.flatnonzero(T.any(axis=0))
        return np.tensordot(T[:, needed], self.bank.apply_at(samples, A, needed), axes=1)

    def mean_diagonals(self) -> Array:
        """The mean diagonal of every atom, shape (n_atoms,)."""
        return np.asarray(self.T @ self.bank.mean_diagonals())

    def traces(self, S: Array) -> Array:
        r"""The traces :math:`\operatorname{tr}(S \tilde K_j)`."""
        return self.bank.traces(S) @ self.T.T

    def select(self, kernels: Index | Sequence[int]) -> AtomBank:
        """The bank of some of the atoms."""
        return AtomBank(self.bank, self.T[np.asarray(kernels, dtype=np.intp)])

    def best_order(self, samples: Index) -> Index:
        """As the bank below likes them."""
        return self.bank.best_order(samples)

    def take(self, samples: Index) -> AtomBank:
        """The same atoms on some of the samples."""
        return AtomBank(self.bank.take(samples), self.T)
