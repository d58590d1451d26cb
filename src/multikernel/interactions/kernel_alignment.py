"""Centred alignment between kernels: how much two of them say the same, whatever the targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ..banks import Bank
from ..banks.base import Index
from ..solvers import Problem
from ._moments import symmetrized
from .base import Interaction

_BATCH_BYTES = 256 << 20  # two batches of centred kernels are held at a time
_CONSTANT = 1e-12  # a centred kernel this small, relative to the kernel, is rounding


@dataclass(repr=False, eq=False)
class KernelAlignment(Interaction):
    r"""Discourage kernels that are alike as similarities between samples.

    Use it when targets are few or noisy: it asks the kernels only, costs no training, and is
    between 0 (independent) and 1 (equal up to scale and offset). :class:`GraphLaplacian` of it
    ties kernels that are alike instead.

    See Also
    --------
    DualCovariance : Compares kernels by what machines make of them.

    Notes
    -----
    With :math:`H = I - \tfrac1n \mathbf{1}\mathbf{1}^\top`,

    .. math:: Q_{kl} = \frac{\langle H K_k H, H K_l H \rangle_F}
              {\|H K_k H\|_F \, \|H K_l H\|_F} .

    A sample of weight s counts as s samples. A constant kernel is aligned with no other. Kernels
    are taken in batches, so that beside the bank there are two batches of 256 MB at most (or two
    kernels), and products of batches are matrix products.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> bank = PackedBank.from_grams([np.outer(x, x), 5 + 2 * np.outer(x, x), np.eye(3)])
    >>> KernelAlignment().matrix(Problem(bank, x[:, None], Squared(), Uniform()), "aab").round(3)
    array([[1.   , 1.   , 0.707],
           [1.   , 1.   , 0.707],
           [0.707, 0.707, 1.   ]])
    """

    examples: ClassVar = ({},)

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The alignment of every pair of kernels, of unit diagonal."""
        bank, s = problem.bank, problem.cost[:, 0]
        Q = np.empty((bank.n_kernels, bank.n_kernels))
        batches = list(_batches(bank))
        for i, rows in enumerate(batches):
            B = _directions(bank, rows, s)
            Q[np.ix_(rows, rows)] = symmetrized(B @ B.T)
            for columns in batches[i + 1 :]:
                block = B @ _directions(bank, columns, s).T
                Q[np.ix_(rows, columns)], Q[np.ix_(columns, rows)] = block, block.T
        np.fill_diagonal(Q, 1.0)
        return Q


def _batches(bank: Bank) -> Iterator[Index]:
    """Runs of kernels whose upper triangles fit into one batch."""
    n_bytes = 4 * bank.n_samples * (bank.n_samples + 1)  # 8 bytes for half of the entries
    size = max(1, _BATCH_BYTES // n_bytes)
    for start in range(0, bank.n_kernels, size):
        yield np.arange(start, min(start + size, bank.n_kernels))


def _directions(bank: Bank, kernels: Index, s: Array) -> Array:
    r"""Centred kernels of unit norm, as upper triangles with :math:`\sqrt 2` off the diagonal."""
    n, p = bank.n_samples, s / s.sum()
    upper = np.flatnonzero(np.triu(np.ones((n, n), dtype=bool)))
    factor = np.outer(np.sqrt(p), np.sqrt(p)) * (np.sqrt(2.0) + (1 - np.sqrt(2.0)) * np.eye(n))
    out, unit = np.empty((len(kernels), len(upper))), np.zeros(bank.n_kernels)
    for row, m in zip(out, kernels, strict=True):
        unit[m] = 1.0
        _centred_triangle(bank.combine(unit), p, factor, upper, out=row)
        unit[m] = 0.0
    return out


def _centred_triangle(K: Array, p: Array, factor: Array, upper: Index, out: Array) -> None:
    largest = float(np.abs(K).max()) or 1.0
    K /= largest  # no under- or overflow of squares
    mean = K @ p
    size = float(np.sqrt(p @ K**2 @ p))
    K -= mean[:, np.newaxis]  # (I − 1pᵀ) K (I − p1ᵀ)
    K -= mean - p @ mean
    K *= factor
    np.take(K.ravel(), upper, out=out)
    norm = float(np.linalg.norm(out))
    out /= norm if norm > _CONSTANT * size else np.inf  # a constant kernel has no direction
