"""The matrix of a quadratic penalty on coefficients: checked, factorised, solved with."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigvalsh, solve_triangular
from scipy.sparse import csc_array, eye_array, issparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, SuperLU, eigsh, splu
from sklearn.utils import check_array

from .._component import Array
from .._memory import check_memory

_SYMMETRIC = 1e-10  # relative to the largest entry: what rounding may explain
_SINGULAR = 1e-12  # an eigenvalue this small, relative to the largest diagonal entry, is zero
_MODERATE = 2000  # size up to which the eigenvalues of a sparse matrix are found densely


class Penalty(Protocol):
    """A positive definite matrix Q that systems can be solved with."""

    def solve(self, B: Array) -> Array:
        """The product of the inverse of Q with B of shape (p, k)."""


class WhiteningPenalty(Penalty, Protocol):
    r"""A positive definite matrix with a factor, :math:`Q = LL^\top`."""

    def whiten(self, B: Array) -> Array:
        r"""The product :math:`L^{-1} B`, for B of shape (p, k)."""

    def unwhiten(self, V: Array) -> Array:
        r"""The product :math:`L^{-\top} V`: coefficients from those of whitened features."""


def check_penalty_matrix(Q: Any, n_features: int) -> Any:
    """A symmetric finite matrix of the right size, dense or sparse, or None for the identity."""
    if Q is None:
        return None
    if callable(Q) or isinstance(Q, str):
        raise TypeError(
            f"Q must be None or a matrix of shape (n_features, n_features), got {Q!r}; call the "
            "function yourself and pass what it returns, such as spatial_laplacian(coordinates)."
        )
    Q = check_array(
        Q, accept_sparse="csc", dtype=np.float64, ensure_all_finite=False, input_name="Q"
    )
    if Q.shape != (n_features, n_features):
        raise ValueError(
            f"Q must have one row and one column per feature, shape {(n_features, n_features)}, "
            f"got {Q.shape}."
        )
    if not np.all(np.isfinite(Q.data if issparse(Q) else Q)):
        raise ValueError(
            "Q contains NaN or infinity; where features are not tied to each other, use 0."
        )
    asymmetry, largest = float(abs(Q - Q.T).max()), float(abs(Q).max())
    if asymmetry > _SYMMETRIC * largest:
        raise ValueError(
            f"Q must be symmetric; entries differ from their mirror images by up to "
            f"{asymmetry:.1e}. If that is meant, pass (Q + Q.T) / 2, which has the same wᵀQw."
        )
    return Q


def make_penalty(Q: Any, ridge: float) -> Penalty:
    """A checked Q with its ridge, factorised; sparse matrices stay sparse."""
    if Q is not None and issparse(Q):
        return _Sparse(_with_ridge(Q, ridge))
    return make_whitening(Q, ridge)


def make_whitening(Q: Any, ridge: float) -> WhiteningPenalty:
    """A checked Q with its ridge and a triangular factor, which is dense."""
    if Q is None:
        return _Multiple(1.0 + ridge)
    check_memory(16.0 * Q.shape[0] ** 2, f"the factor of a dense Q of size {Q.shape[0]:,}")
    Q = _with_ridge(Q, ridge)
    return _Dense(Q.toarray() if issparse(Q) else Q)


def _with_ridge(Q: Any, ridge: float) -> Any:
    """Q plus the ridge times its mean diagonal on the diagonal."""
    shift = ridge * float(np.mean(Q.diagonal()))
    p = Q.shape[0]
    return (
        csc_array(Q) + shift * eye_array(p, format="csc") if issparse(Q) else Q + shift * np.eye(p)
    )


class _Multiple:
    """A multiple of the identity."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def solve(self, B: Array) -> Array:
        return B / self.scale

    def whiten(self, B: Array) -> Array:
        return B / np.sqrt(self.scale)

    unwhiten = whiten


class _Dense:
    """A dense matrix and its Cholesky factor."""

    def __init__(self, Q: Array) -> None:
        try:
            self.L = cholesky(Q, lower=True, check_finite=False)
        except LinAlgError:
            raise _not_definite(Q, _smallest_eigenvalue(Q)) from None
        _refuse_singular(Q, self.solve)

    def solve(self, B: Array) -> Array:
        return cho_solve((self.L, True), B, check_finite=False)

    def whiten(self, B: Array) -> Array:
        return solve_triangular(self.L, B, lower=True, check_finite=False)

    def unwhiten(self, V: Array) -> Array:
        return solve_triangular(self.L, V, lower=True, trans="T", check_finite=False)


class _Sparse:
    """A sparse matrix and its factors, permuted so that few entries fill in."""

    def __init__(self, Q: csc_array) -> None:
        check_memory(_fill_bytes(Q), f"factors of a sparse Q of size {Q.shape[0]:,}")
        factors = _symmetric_factors(Q)
        if factors is None:
            raise _not_definite(Q, _smallest_eigenvalue(Q))
        _refuse_singular(Q, factors.solve)
        self.solve = partial(_solve_dense, factors)


def _solve_dense(factors: SuperLU, B: Array) -> Array:
    return np.asarray(factors.solve(np.asarray(B)))


def _symmetric_factors(Q: csc_array) -> SuperLU | None:
    """The factors of a positive definite matrix with pivots from its diagonal, else None."""
    try:
        factors = splu(
            Q,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # an exact zero among the pivots
        return None
    on_diagonal = np.array_equal(factors.perm_r, factors.perm_c)
    return factors if on_diagonal and factors.U.diagonal().min() > 0 else None


def _fill_bytes(Q: csc_array) -> float:
    """A bound of the memory of both factors: those within the profile of a banded ordering."""
    order = reverse_cuthill_mckee(Q, symmetric_mode=True)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows, columns = Q.nonzero()
    first = np.arange(len(order))
    np.minimum.at(first, place[rows], place[columns])
    profile = float(np.sum(np.arange(len(order)) - first + 1))
    return 2 * 12 * profile  # a number and an index per entry


def _refuse_singular(Q: Any, solve: Any) -> None:
    smallest = _inverse_iterations(Q, solve)
    if not smallest > _SINGULAR * float(Q.diagonal().max()):
        raise _not_definite(Q, smallest)


def _inverse_iterations(Q: Any, solve: Any) -> float:
    """The smallest eigenvalue of a positive definite matrix, to its order of magnitude."""
    v = np.random.default_rng(0).normal(size=(Q.shape[0], 1))
    for _ in range(3):
        v = solve(v / np.linalg.norm(v))
    return 1.0 / float(np.linalg.norm(v))


def _not_definite(Q: Any, smallest: float) -> ValueError:
    """The error that names the smallest eigenvalue and the ridge that repairs it."""
    mean = float(np.mean(Q.diagonal()))
    message = f"Q must be positive definite, but its smallest eigenvalue is {smallest:.1e}"
    if mean <= 0:
        return ValueError(f"{message} and its mean diagonal {mean:.1e}; no ridge can repair that.")
    if smallest < -10 * _SINGULAR * mean:
        return ValueError(
            f"{message}. Repair it with multikernel.nearest_psd(Q) and a small ridge, or raise "
            "ridge, which adds ridge × mean(diag Q) to the diagonal, until that is larger by "
            f"{-smallest:.2g} or more."
        )
    return ValueError(
        f"{message}, zero up to rounding: some coefficients would cost nothing, as with a bare "
        "graph Laplacian. Pass ridge=0.01, or any ridge > 0, which adds ridge × mean(diag Q) to "
        "the diagonal."
    )


def _smallest_eigenvalue(Q: Any) -> float:
    """The smallest eigenvalue, or for a large sparse matrix its order of magnitude."""
    if not issparse(Q) or Q.shape[0] <= _MODERATE:
        dense = Q.toarray() if issparse(Q) else Q
        return float(eigvalsh(dense, subset_by_index=[0, 0])[0])
    shift = 10 * _SINGULAR * float(abs(Q.diagonal()).max())
    raised = csc_array(Q + shift * eye_array(Q.shape[0]))
    if (factors := _symmetric_factors(raised)) is not None:  # semi-definite
        return _inverse_iterations(Q, factors.solve) - shift
    v = np.random.default_rng(0).normal(size=Q.shape[0])
    try:
        return float(eigsh(Q, k=1, which="SA", v0=v, tol=1e-3, return_eigenvectors=False)[0])
    except ArpackNoConvergence as error:
        return float(min(error.eigenvalues, default=-shift))
