"""Task bank: every kernel of another bank within each task, and shared by all tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._component import Array
from .base import Bank, Index


class TaskBank(Bank):
    r"""The kernels :math:`K_p \odot [\mathrm{task}_i = \mathrm{task}_j = t]` and then :math:`K_p`.

    The task kernels are zero outside one diagonal block, and only that block is kept: T tasks of
    equal size cost 1 + 1/T times the memory of the bank below, not 1 + T times.

    Parameters
    ----------
    bank : Bank
        The P base kernels on all samples.
    codes : array of shape (n,)
        The task of every sample, 0 to n_tasks - 1.
    n_tasks : int
        Number of tasks, T.

    Notes
    -----
    Kernel :math:`p (T + 1) + t` is base kernel p within task t, kernel :math:`p (T + 1) + T` is
    base kernel p itself.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> bank = TaskBank(PackedBank.from_grams([np.ones((3, 3))]), np.array([0, 0, 1]), 2)
    >>> bank.combine(np.array([2.0, 3.0, 0.5]))
    array([[2.5, 2.5, 0.5],
           [2.5, 2.5, 0.5],
           [0.5, 0.5, 3.5]])
    """

    def __init__(
        self, bank: Bank, codes: Index, n_tasks: int, kernels: Index | None = None
    ) -> None:
        self.bank = bank
        self.codes = codes
        self.n_tasks = n_tasks
        everything = np.arange(bank.n_kernels * (n_tasks + 1))
        self._kernels = everything if kernels is None else kernels
        present = {int(t): np.flatnonzero(codes == t) for t in np.unique(codes)}
        self._tasks = [(t, rows, bank.take(rows)) for t, rows in present.items()]

    @property
    def n_kernels(self) -> int:
        """Number of kernels, P (T + 1) unless some were selected."""
        return len(self._kernels)

    @property
    def n_samples(self) -> int:
        """Number of samples, n."""
        return self.bank.n_samples

    @property
    def n_passes(self) -> float:
        """Passes over the shared kernels; those over the smaller task kernels keep step."""
        return self.bank.n_passes

    def combine(self, d: Array) -> Array:
        r"""The combined matrix: the shared kernels, and those of each task on its own block."""
        D = np.zeros((self.bank.n_kernels, self.n_tasks + 1))
        D.ravel()[self._kernels] = d
        K = self.bank.combine(D[:, -1])
        for t, rows, part in self._tasks:
            K[np.ix_(rows, rows)] += part.combine(D[:, t])
        return K

    def apply(self, A: Array, kernels: Index | None = None) -> Array:
        r"""The products :math:`K_m A`, shape (n_kernels, n, T)."""
        wanted = self._kernels if kernels is None else self._kernels[kernels]
        base, task = np.divmod(wanted, self.n_tasks + 1)
        out = np.zeros((len(wanted), *A.shape))
        shared = np.flatnonzero(task == self.n_tasks)
        out[shared] = self.bank.apply(A, base[shared])
        for t, rows, part in self._tasks:
            own = np.flatnonzero(task == t)
            out[np.ix_(own, rows)] = part.apply(A[rows], base[own])
        return out

    def traces(self, S: Array) -> Array:
        r"""The traces :math:`\operatorname{tr}(S K_m)`; a stack of S gives one row each."""
        grid = np.zeros((*S.shape[:-2], self.bank.n_kernels, self.n_tasks + 1))
        grid[..., -1] = self.bank.traces(S)
        for t, rows, part in self._tasks:
            grid[..., t] = part.traces(S[..., rows[:, np.newaxis], rows])
        return grid.reshape(*S.shape[:-2], -1)[..., self._kernels]

    def select(self, kernels: Index | Sequence[int]) -> TaskBank:
        """The bank of some of the kernels; it shares all memory."""
        part = object.__new__(TaskBank)
        part.__dict__.update(self.__dict__)
        part._kernels = self._kernels[np.asarray(kernels, dtype=np.intp)]
        return part

    def take(self, samples: Index) -> TaskBank:
        """The same kernels on some of the samples."""
        return TaskBank(self.bank.take(samples), self.codes[samples], self.n_tasks, self._kernels)
