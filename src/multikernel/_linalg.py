"""Linear algebra that more than one part needs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, get_blas_funcs, solve_triangular
from scipy.optimize import nnls

from ._component import Array

Cholesky: TypeAlias = tuple[Array, bool]
_FIRST_JITTER = 1e-14  # relative to the mean diagonal; rounding of a positive semi-definite matrix
_CORRECTED = 0.1  # of a right-hand side: what a rough solution may leave to be corrected
_SETTLED = 1e-5  # and what it may leave for good
_SMALL = 64  # rows below which single precision saves nothing
_BLOCK = 256  # rows of a matrix that are mirrored at a time
_MAX_EXCHANGES = 60
_CHANCES = 3  # exchanges of all indices at once that may fail to make fewer of them wrong
_PULL = 1e-12  # a gradient smaller than this, relative to q, is rounding


def cholesky(A: Array, diagonal: Array | float = 0.0) -> Cholesky:
    """The Cholesky factor of A + diag(diagonal), symmetric, for ``scipy.linalg.cho_solve``.

    Where rounding has made the matrix indefinite the diagonal is raised, by as little as helps.
    """
    jitter = 0.0
    for _ in range(12):
        raised = A.T.copy(order="F")  # LAPACK works in place on column order
        raised[np.diag_indices_from(raised)] += diagonal + jitter
        try:
            factor: Cholesky = cho_factor(raised, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            jitter = max(10 * jitter, _FIRST_JITTER * float(np.mean(np.diag(A))))
        else:
            return factor
    raise np.linalg.LinAlgError(
        "the combined kernel is not positive semi-definite; check the kernels."
    )


class SingleMatrix:
    """A matrix in single precision, whose products are computed in it and given in double.

    Parameters
    ----------
    entries : array of shape (n, m), float32
    """

    def __init__(self, entries: NDArray[np.float32]) -> None:
        self.entries = entries

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of the matrix."""
        return self.entries.shape

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> SingleMatrix:
        return SingleMatrix(self.entries[index])

    def __matmul__(self, A: Array) -> Array:
        """The product with A, right to six digits or so."""
        size = column_sizes(A)
        return np.asarray(size * (self.entries @ (A / size).astype(np.float32)))


Matrix: TypeAlias = Array | SingleMatrix


class DefiniteSystem:
    """Linear systems with the matrix A + diag(diagonal), symmetric and positive definite.

    Parameters
    ----------
    A : array of shape (n, n), or SingleMatrix
    diagonal : array of shape (n,)
        Positive.
    rough : bool, default=False
        Factorise in single precision, at half the cost, for residuals of five digits; those of
        fewer are corrected once or, below one digit, the factor is made anew.
    """

    def __init__(self, A: Matrix, diagonal: Array, rough: bool = False) -> None:
        self.A, self.diagonal = A, diagonal
        self.scale = 1 / np.sqrt(diagonal)[:, np.newaxis]
        self._single = self._single_cholesky() if rough and len(A) >= _SMALL else None
        self._factor = self._exact_cholesky() if self._single is None else None

    def solve(self, r: Array) -> Array:
        """The solutions for right-hand sides of shape (n, k)."""
        if self._single is not None:
            x = self._roughly(r)
            rest = r - self.A @ x - self.diagonal[:, np.newaxis] * x
            left, whole = (np.linalg.norm(self.scale * part, axis=0) for part in (rest, r))
            if np.all(left <= _SETTLED * whole):
                return x
            if np.all(left <= _CORRECTED * whole):
                return x + self._roughly(rest)
            self._single, self._factor = None, self._exact_cholesky()
        solution: Array = cho_solve(self._factor, r, check_finite=False)
        return solution

    @property
    def _entries(self) -> Array:
        return self.A.entries if isinstance(self.A, SingleMatrix) else self.A

    def _exact_cholesky(self) -> Cholesky:
        return cholesky(np.asarray(self._entries, dtype=np.float64), self.diagonal)

    def _single_cholesky(self) -> Cholesky | None:
        r"""The factor of :math:`I + D^{-1/2} A D^{-1/2}`, None where its digits are too few."""
        scale = self.scale.astype(np.float32)
        raised = np.multiply(self._entries.T, scale, dtype=np.float32, casting="same_kind")
        raised *= scale.T
        raised.ravel(order="K")[:: len(raised) + 1] += 1.0
        try:
            factor: Cholesky = cho_factor(raised, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        return factor

    def _roughly(self, r: Array) -> Array:
        scaled = self.scale * r  # D^-½ r
        size = column_sizes(scaled)
        x: Array = cho_solve(self._single, (scaled / size).astype(np.float32), check_finite=False)
        return np.asarray(size * self.scale * x)


def column_sizes(A: Array) -> Array:
    """The numbers by which to divide columns so that they fit into single precision."""
    size = np.abs(A).max(axis=0, initial=0.0)
    return np.where(size == 0, 1.0, size)


def add_low_rank(K: Matrix, V: Array, scales: Array) -> Matrix:
    r"""The matrix :math:`K + V^\top \mathrm{diag}(s) V`; K is overwritten."""
    entries = K.entries if isinstance(K, SingleMatrix) else K
    (gemm,) = get_blas_funcs(("gemm",), (entries,))
    total = gemm(1.0, V.T * scales, V.T, beta=1.0, c=entries.T, trans_b=True, overwrite_c=True).T
    return SingleMatrix(total) if isinstance(K, SingleMatrix) else total


def mirror(A: Array) -> Array:
    """The symmetric matrix whose lower triangle is that of A, in place and block by block."""
    for start in range(0, len(A), _BLOCK):
        inside, below = slice(start, start + _BLOCK), slice(start + _BLOCK, None)
        A[inside, below] = A[below, inside].T
        block = A[inside, inside]
        block[:] = np.tril(block) + np.tril(block, -1).T
    return A


def nonnegative_minimiser(Q: Array, q: Array, guess: NDArray[np.bool_]) -> Array:
    r"""The minimiser of :math:`\tfrac12 x^\top Q x - q^\top x` over :math:`x \ge 0`.

    Active sets are exchanged all at once, and one at a time where that does not help (block
    principal pivoting); where even this cycles, nonnegative least squares finds the same point.
    """
    x = np.zeros_like(q)
    free, fewest, chances = guess, len(q) + 1, _CHANCES
    for _ in range(_MAX_EXCHANGES):
        x[:] = 0.0
        x[free] = cho_solve(cholesky(Q[np.ix_(free, free)]), q[free], check_finite=False)
        pull = q - Q @ x  # minus the gradient
        wrong = np.where(free, x <= 0, pull > _PULL * np.abs(q).max())
        n_wrong = int(np.count_nonzero(wrong))
        if not n_wrong:
            return x
        chances = _CHANCES if n_wrong < fewest else chances - 1
        fewest = min(fewest, n_wrong)
        if chances < 0:
            wrong = np.arange(len(q)) == np.flatnonzero(wrong)[-1]
        free = free ^ wrong
    R = np.tril(cholesky(Q)[0]).T  # Q = RᵀR, so the model is ½‖R x − r‖²
    r = solve_triangular(R, q, trans="T")
    solution: Array = nnls(R, r, maxiter=30 * len(q))[0]
    return solution
