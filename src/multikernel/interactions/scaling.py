"""Scaling and repair of matrices Q, as functions and as steps of a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import eigvalsh

from .._component import Array
from .._validation import check_square, check_symmetric
from ..kernels import nearest_psd
from ..solvers import Problem
from ._moments import symmetrized
from .base import Fixed, Interaction

_SINGULAR = 1e-12  # smallest eigenvalue, relative to the largest, that can be scaled to one
_INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])


def unit_trace(Q: Array) -> Array:
    """Scale a matrix to a mean diagonal of one, which only rescales C.

    Parameters
    ----------
    Q : array of shape (n_kernels, n_kernels)

    Returns
    -------
    array of shape (n_kernels, n_kernels)

    Examples
    --------
    >>> import numpy as np
    >>> unit_trace(np.diag([1.0, 3.0]))
    array([[0.5, 0. ],
           [0. , 1.5]])
    """
    Q = _checked(Q)
    trace = float(np.trace(Q))
    if trace <= 0:
        raise ValueError(
            f"unit_trace: Q must have a positive trace, got {trace:.3g}; a matrix of zeros has no "
            "scale."
        )
    return Q * (len(Q) / trace)


def unit_inverse_spectrum(Q: Array, how: Literal["scale", "shift"] = "scale") -> Array:
    r"""Scale or shift a matrix so that the eigenvalues of its inverse lie in (0, 1].

    The bounds on Rademacher complexity in [H12]_ compare matrices under this condition.

    Parameters
    ----------
    Q : array of shape (n_kernels, n_kernels)
        Symmetric; positive definite for ``how="scale"``.
    how : {"scale", "shift"}, default="scale"
        Divide by the smallest eigenvalue, which keeps the proportions of Q, or add a multiple of
        the identity, which also takes a singular or indefinite Q and keeps its interactions.

    Returns
    -------
    array of shape (n_kernels, n_kernels)
        Its smallest eigenvalue is one.

    Examples
    --------
    >>> import numpy as np
    >>> unit_inverse_spectrum(np.array([[2.0, 1.5], [1.5, 2.0]]))
    array([[4., 3.],
           [3., 4.]])
    >>> unit_inverse_spectrum(np.ones((2, 2)), how="shift")
    array([[2., 1.],
           [1., 2.]])
    """
    if how not in ("scale", "shift"):
        raise ValueError(f"unit_inverse_spectrum: how must be 'scale' or 'shift', got {how!r}.")
    Q = _checked(Q)
    eigenvalues = eigvalsh(Q)
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    if how == "shift":
        return Q + (1 - smallest) * np.eye(len(Q))
    if smallest <= _SINGULAR * max(largest, 0.0):
        raise ValueError(
            f"unit_inverse_spectrum: Q must be positive definite to be scaled; its smallest "
            f"eigenvalue is {smallest:.1e} (largest {largest:.1e}). Use how='shift', or add a "
            "multiple of the identity."
        )
    return Q / smallest


@dataclass(repr=False, eq=False)
class Normalized(Interaction):
    """An interaction on a scale of its own, so that strengths and C compare between recipes.

    Parameters
    ----------
    of : Interaction
    how : {"trace", "scale", "shift"}, default="trace"
        :func:`unit_trace`, or :func:`unit_inverse_spectrum` by scaling or by shifting.

    Examples
    --------
    >>> from multikernel import DualCovariance, GraphLaplacian
    >>> Normalized(GraphLaplacian(DualCovariance()), how="shift")
    Normalized(how='shift', of=GraphLaplacian(of=DualCovariance()))
    """

    of: Interaction
    how: str = "trace"

    examples: ClassVar = (
        {"of": Fixed(3 * np.ones((6, 6)))},
        {"of": Fixed(np.eye(6) + np.ones((6, 6))), "how": "scale"},
        {"of": Fixed(3 * np.ones((6, 6))), "how": "shift"},
    )

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The matrix on the scale asked for."""
        if self.how not in ("trace", "scale", "shift"):
            raise ValueError(
                f"Normalized: how must be 'trace', 'scale' or 'shift', got {self.how!r}."
            )
        Q = self.of.matrix(problem, sources)
        if self.how == "trace":
            return unit_trace(Q)
        return unit_inverse_spectrum(Q, "scale" if self.how == "scale" else "shift")


@dataclass(repr=False, eq=False)
class Repaired(Interaction):
    """An interaction whose matrix, perhaps indefinite, is made positive semi-definite.

    Parameters
    ----------
    of : Interaction
        Usually a :class:`Fixed` matrix of similarities or a sum with one.
    method : {"clip", "flip", "shift"}, default="clip"
        What becomes of negative eigenvalues: see :func:`multikernel.nearest_psd`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank, Problem, Squared, Uniform
    >>> bank = PackedBank.from_grams([np.eye(2), np.eye(2)])
    >>> problem = Problem(bank, np.zeros((2, 1)), Squared(), Uniform())
    >>> likeness = Fixed(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> Repaired(likeness, method="shift").matrix(problem, "ab")
    array([[2., 2.],
           [2., 2.]])
    """

    of: Interaction
    method: str = "clip"

    examples: ClassVar = tuple(
        {"of": Fixed(np.kron(np.eye(3), _INDEFINITE)), "method": method}
        for method in ("clip", "flip", "shift")
    )

    def matrix(self, problem: Problem, sources: Sequence[str]) -> Array:
        """The repaired matrix."""
        if self.method not in ("clip", "flip", "shift"):
            raise ValueError(
                f"Repaired: method must be 'clip', 'flip' or 'shift', got {self.method!r}."
            )
        return nearest_psd(self.of.matrix(problem, sources), self.method)  # type: ignore[arg-type]


def _checked(Q: Array) -> Array:
    """A finite, square and symmetric matrix, symmetric to the last bit."""
    Q = np.asarray(Q, dtype=np.float64)
    check_square(Q, "Q")
    check_symmetric(Q, "Q")
    return symmetrized(Q)
