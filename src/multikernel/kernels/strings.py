"""Kernel families on strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from .._component import Array
from .family import KernelFamily, dense_product, row_squares


@dataclass(repr=False)
class Spectrum(KernelFamily):
    r"""Common substrings of a given length, for sequences and text.

    Parameters
    ----------
    length : int or list of int, default=3
        Length of the substrings; each gives one kernel.

    Notes
    -----
    .. math:: k(x, z) = \sum_{|u| = \ell} \#_u(x)\, \#_u(z),

    where :math:`\#_u(x)` counts the occurrences of the substring u in x.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Spectrum
    >>> Spectrum(length=2).base(np.array(["GATTA", "TTATTA"], dtype=object))
    array([[4., 5.],
           [5., 9.]])
    """

    length: int | Sequence[int] = 3
    swept: ClassVar[tuple[str, ...]] = ("length",)
    kind: ClassVar[str] = "strings"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"length": 1}, {"length": [2, 4]})

    def _check_parameter(self, name: str, value: Any) -> None:
        super()._check_parameter(name, value)
        if value != int(value):
            raise ValueError(f"Spectrum: length must be an integer, got {value!r}.")

    def split(self) -> list[KernelFamily]:
        """One family per length, since each counts other substrings."""
        return [replace(self, length=int(p["length"])) for p in self.parameters()]

    def base(self, X: Any, Z: Any = None) -> Array:
        """Inner products of substring counts."""
        if Z is None:
            C = self._counts(X)
            return dense_product(C, C)
        C = self._counts([*X, *Z])
        return dense_product(C[: len(X)], C[len(X) :])

    def base_diag(self, X: Any) -> Array:
        """Squared norms of the substring counts."""
        return row_squares(self._counts(X))

    def _counts(self, strings: Sequence[str]) -> csr_array:
        """Number of occurrences of every substring in every string."""
        size = int(np.max(self.length))
        parts = [[s[i : i + size] for i in range(len(s) - size + 1)] for s in strings]
        rows = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
        substrings = [u for p in parts for u in p]
        unique = {u: code for code, u in enumerate(dict.fromkeys(substrings))}
        columns = np.array([unique[u] for u in substrings], dtype=np.intp)
        shape = (len(parts), max(len(unique), 1))
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
