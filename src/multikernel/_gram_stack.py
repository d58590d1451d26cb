"""GramStack: several Gram matrices on their way into a bank, which centres and scales them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._component import Array

Index = NDArray[np.intp]


class GramStack(NamedTuple):
    r"""The matrices :math:`f_i\,(K_i - s_i \mathbf 1^\top - \mathbf 1 s_i^\top)` of some kernels.

    They are formed where they are stored, entry by entry, so that no copy of :math:`K_i` is made.

    Attributes
    ----------
    kernels : array of int, shape (k,)
        Which kernels of the bank.
    Ks : array of shape (k, n, n)
        Symmetric, and never written to.
    shifts : array of shape (k, n), optional
        The shifts :math:`s_i`; zero by default.
    factors : array of shape (k,), optional
        The factors :math:`f_i`; one by default.

    Examples
    --------
    >>> import numpy as np
    >>> stack = GramStack(np.array([0]), np.ones((1, 2, 2)), np.full((1, 2), 0.25), np.array([4.0]))
    >>> stack.formed()
    array([[[2., 2.],
            [2., 2.]]])
    """

    kernels: Index
    Ks: Array
    shifts: Array | None = None
    factors: Array | None = None

    def take(self, samples: Index) -> GramStack:
        """The same kernels between some of the samples."""
        shifts = None if self.shifts is None else self.shifts[:, samples]
        return self._replace(Ks=self.Ks[:, samples[:, np.newaxis], samples], shifts=shifts)

    def shift_and_scale(self, entries: Array, rows: slice, columns: slice) -> None:
        """Shift and scale entries of shape (k, n_rows, n_columns), taken from Ks, in place."""
        if self.shifts is not None:
            entries -= self.shifts[:, rows, np.newaxis]
            entries -= self.shifts[:, np.newaxis, columns]
        if self.factors is not None:
            entries *= self.factors[:, np.newaxis, np.newaxis]

    def formed(self) -> Array:
        """The matrices themselves, in a new array."""
        Ks = np.array(self.Ks, dtype=np.float64)
        self.shift_and_scale(Ks, slice(None), slice(None))
        return Ks
