"""GramStack: several Gram matrices on their way into a bank, which normalises them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._component import Array

Index = NDArray[np.intp]


class GramStack(NamedTuple):
    r"""Gram matrices :math:`K_i` and how to normalise them.

    .. math:: f_i\; u_i u_i^\top \circ (K_i - s_i \mathbf 1^\top - \mathbf 1 s_i^\top)

    They are formed where they are stored, entry by entry, so that no copy of :math:`K_i` is made.

    Attributes
    ----------
    kernels : array of int, shape (k,)
        Which kernels of the bank.
    Ks : array of shape (k, n, n)
        Symmetric, and never written to.
    shifts : array of shape (k, n), optional
        The shifts :math:`s_i`; zero by default.
    scales : array of shape (k, n), optional
        The scales of samples :math:`u_i`; one by default.
    factors : array of shape (k,), optional
        The factors :math:`f_i`; one by default.

    Examples
    --------
    >>> import numpy as np
    >>> stack = GramStack(np.array([0]), np.ones((1, 2, 2)), np.full((1, 2), 0.25))
    >>> stack._replace(factors=np.array([4.0])).formed()
    array([[[2., 2.],
            [2., 2.]]])
    """

    kernels: Index
    Ks: Array
    shifts: Array | None = None
    scales: Array | None = None
    factors: Array | None = None

    def take(self, samples: Index) -> GramStack:
        """The same kernels between some of the samples."""
        Ks = self.Ks[:, samples[:, np.newaxis], samples]
        return self.reordered(samples)._replace(Ks=Ks)

    def reordered(self, samples: Index) -> GramStack:
        """What is to be done with the same matrices, whose samples come in another order."""
        shifts = None if self.shifts is None else self.shifts[:, samples]
        scales = None if self.scales is None else self.scales[:, samples]
        return self._replace(shifts=shifts, scales=scales)

    def normalize(self, entries: Array, rows: slice, columns: slice) -> None:
        """Shift and scale entries of shape (k, n_rows, n_columns), taken from Ks, in place."""
        if self.shifts is not None:
            entries -= self.shifts[:, rows, np.newaxis]
            entries -= self.shifts[:, np.newaxis, columns]
        if self.scales is not None:
            entries *= self.scales[:, rows, np.newaxis]
            entries *= self.scales[:, np.newaxis, columns]
        if self.factors is not None:
            entries *= self.factors[:, np.newaxis, np.newaxis]

    def formed(self) -> Array:
        """The matrices themselves, in a new array."""
        Ks = np.array(self.Ks, dtype=np.float64)
        self.normalize(Ks, slice(None), slice(None))
        return Ks
