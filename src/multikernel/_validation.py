"""Checks at the border: Gram matrices, distances, and stacks of them."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpotrf, spotrf

from ._component import Array

_BLOCK = 256  # rows and columns compared at a time with their mirror images, which fit in cache
_TOLERANCE = {4: 1e-5, 8: 1e-8}  # relative, by bytes per number: what rounding may explain
_SHOWN = 1e-3  # of the tolerance: how much of it a product with a random vector may show
_LARGE = 512  # samples from which a factor in single precision is tried first
_FEW = 64  # samples up to which all are looked at
_MANY = 256  # the most samples that are
_WIDEST = 1e15  # diagonal entry whose products are numbers in single precision, or its inverse
_ROUNDED = 1e-4  # of the largest eigenvalue, which a few decimals explain
_SINGLE = 1e-6  # its rounding, relative to the diagonal and the root of the number of samples
_SEED = 0x6B65726E656C  # of the vector; data drawn with a seed of 0 would depend on one of its own


def check_square(K: Array, name: str) -> None:
    """Refuse a matrix that is not square, empty or not finite."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{name!r} must be a square matrix, got shape {K.shape}.")
    if K.size == 0:
        raise ValueError(f"{name!r} is empty: it holds no samples.")
    check_finite(K, name)


def check_finite(K: Array, name: str) -> None:
    """Refuse NaN and infinite entries, naming the first."""
    with np.errstate(all="ignore"):
        sums = K @ np.ones(K.shape[1], dtype=K.dtype)  # neither leaves a sum again
    if not np.isfinite(sums).all() and not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(
            f"{name!r} contains NaN or infinity, first at row {i}, column {j} (from 0). Every "
            "entry must be a finite number: mend the data from which the matrix was computed."
        )


def check_symmetric(K: Array, name: str) -> None:
    """Refuse a matrix that differs from its transpose by more than rounding."""
    runs = [slice(start, start + _BLOCK) for start in range(0, len(K), _BLOCK)]
    blocks = [(K[p, q], K[q, p].T) for p, q in combinations_with_replacement(runs, 2)]
    if all(np.array_equal(block, mirror) for block, mirror in blocks):
        return
    asymmetry = max(float(np.max(np.abs(block - mirror))) for block, mirror in blocks)
    if asymmetry > _tolerance(K) * max(float(K.max()), -float(K.min())):
        i, j = np.argwhere(np.abs(K - K.T) == asymmetry)[0]
        raise ValueError(
            f"{name!r} must be symmetric; entries differ from their mirror images by up to "
            f"{asymmetry:.1e}, at row {i}, column {j} (from 0). If only rounding is to blame, pass "
            "(K + K.T) / 2; else compute the matrix anew."
        )


def check_gram(K: Array, name: str, *, definite: bool = True) -> None:
    r"""Refuse a training Gram matrix that no kernel can have.

    Parameters
    ----------
    K : array of shape (n, n)
    name : str
        How messages call the matrix.
    definite : bool, default=True
        Also check that K is positive semi-definite: one Cholesky factorisation, of a large K in
        single precision, which can tell eigenvalues below :math:`-10^{-6} \sqrt n \max_i K_{ii}`.
    """
    square = K.ndim == 2 and 0 < K.shape[0] == K.shape[1]
    if not square or not _surely_symmetric(K, *_products(K, _random_vector(K))):
        check_square(K, name)
        check_symmetric(K, name)
    if definite:
        check_semidefinite(K, name)


def check_semidefinite(K: Array, name: str) -> None:
    """The second half of :func:`check_gram`, of a symmetric matrix."""
    largest = _largest_diagonal(K)
    in_single = len(K) >= _LARGE and 1 / _WIDEST <= largest <= _WIDEST
    slack = _SINGLE * np.sqrt(len(K)) * largest if in_single else 0.0
    if not in_single or not has_cholesky(K, slack, np.float32):
        check_definite(K, name, slack)


def look_like_grams(K: Array, *, definite: bool = True) -> bool:
    """Whether a stack of matrices is symmetric and, as far as a look can tell, semi-definite.

    False where in doubt. All entries are looked at through products with one vector, and some
    evenly spaced samples, see :func:`looked_at`, in full.
    """
    v = _random_vector(K)
    Kv, Ktv = _products(K, v)
    if not _surely_symmetric(K, Kv, Ktv) and not (np.isfinite(K).all() and _are_symmetric(K)):
        return False
    some = looked_at(K.shape[-1])
    return not definite or (_keep_schwarz(K, v, Kv) and _have_choleskys(K[:, some, some]))


def looked_at(n: int) -> slice:
    """The samples on which a matrix is first tested: all of a few, a third, or 256 of many."""
    return slice(None, None, 1 if n <= _FEW else max(3, -(-n // _MANY)))


def _random_vector(K: Array) -> Array:
    """Normal numbers, the same for all matrices of a size, by a seed from which no data come."""
    return np.asarray(_normal_numbers(K.shape[-1]), np.result_type(K.dtype, np.float16))


@lru_cache(maxsize=1)
def _normal_numbers(n: int) -> Array:
    v = np.random.default_rng(_SEED).normal(size=n)
    v.setflags(write=False)
    return v


def _products(K: Array, v: Array) -> tuple[Array, Array]:
    r"""The products :math:`K v` and :math:`K^\top v` of square matrices, read from memory once."""
    Kv, Ktv = np.zeros((2, *K.shape[:-1]), v.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, K.shape[-1], _BLOCK):  # rows that are in cache for the second product
            rows = slice(start, start + _BLOCK)
            Kv[..., rows] = _times(K[..., rows, :], v)
            Ktv += np.matmul(v[rows], K[..., rows, :])
    return Kv, Ktv


def _surely_symmetric(K: Array, Kv: Array, Ktv: Array) -> bool:
    r"""Whether K, a matrix or a stack of them, is finite and symmetric; False where in doubt.

    Notes
    -----
    Freivalds' test: for a vector v of normal numbers, :math:`(K v - K^\top v)_i` is normal with
    at least the size of the largest entry of :math:`K - K^\top` in row i, and each entry is in two
    rows. So entries that differ by as much as is tolerated, of which the product may show one in
    thousand, pass unnoticed with a probability of :math:`6 \cdot 10^{-7}`.
    """
    with np.errstate(all="ignore"):
        difference = np.abs(Kv - Ktv)
    largest = np.abs(np.diagonal(K, axis1=-2, axis2=-1)).max(axis=-1, keepdims=True)
    return bool(np.all(difference <= _SHOWN * _tolerance(K) * largest))  # NaN and infinity fail


def _keep_schwarz(K: Array, v: Array, Kv: Array) -> bool:
    r"""Whether a stack of matrices keeps an inequality of semi-definite ones, but for rounding.

    Notes
    -----
    Schwarz's :math:`(K v)_i^2 \le K_{ii} \, v^\top K v`, for K in units of its largest diagonal
    entry and with the tolerance δ on its diagonal; at rank one both sides are equal. Over random v,
    an entry of :math:`\sqrt n` times the diagonal breaks it about every other time, one of
    :math:`5 \sqrt n` times in 19 of 20 cases. A zero matrix, which has no unit, fails.
    """
    diagonals = np.diagonal(K, axis1=-2, axis2=-1).astype(np.float64)
    size = diagonals.max(axis=-1, keepdims=True)
    delta = _tolerance(K)
    with np.errstate(all="ignore"):
        w = Kv / size + delta * v  # (K + δI) v; K v alone may be rounding, and its form negative
        form = (w @ v)[..., np.newaxis]  # vᵀ (K + δI) v
        kept = w**2 <= (1 + delta) * (diagonals / size + delta) * form
    return bool(np.all(kept))


def _times(K: Array, v: Array) -> Array:
    """The products with v of matrices read from memory, where BLAS is slow on small ones."""
    return K @ v if len(v) >= _LARGE else np.einsum("...ij,j->...i", K, v)


def _are_symmetric(K: Array) -> bool:
    """Whether a stack of matrices is symmetric but for rounding."""
    mirror = K.transpose(0, 2, 1)
    if np.array_equal(K, mirror):
        return True
    asymmetry, size = (np.abs(part).max(axis=(1, 2)) for part in (K - mirror, K))
    return bool(np.all(asymmetry <= _tolerance(K) * size))


def _have_choleskys(K: Array) -> bool:
    """Whether a stack of matrices is positive definite but for rounding."""
    shifted = np.array(K, dtype=np.float64, order="C")
    diagonals = shifted.reshape(len(K), -1)[:, :: K.shape[-1] + 1]
    diagonals += _tolerance(K) * np.maximum(diagonals.max(axis=1, keepdims=True), 0.0)
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def check_definite(K: Array, name: str, slack: float = 0.0) -> None:
    r"""Refuse a matrix with an eigenvalue below :math:`-10^{-8} \lambda_{\max}` and minus slack."""
    tolerance = _tolerance(K)
    bounds = (_largest_diagonal, _largest_eigenvalue)
    if any(has_cholesky(K, max(slack, tolerance * bound(K))) for bound in bounds):  # cheap first
        return
    eigenvalues = eigvalsh(np.asarray(K, dtype=np.float64))
    bound = -max(slack, tolerance * eigenvalues[-1])
    if eigenvalues[0] < bound:
        rounded = -eigenvalues[0] <= _ROUNDED * eigenvalues[-1]
        cause = ", which rounding to a few decimals can cause" if rounded else ""
        raise ValueError(
            f"{name!r} must be positive semi-definite; its smallest eigenvalue is "
            f"{eigenvalues[0]:.1e} (tolerance {bound:.0e}){cause}. {_advice(K)}"
        )


def _advice(K: Array) -> str:
    """What to do with an indefinite matrix: one that looks like distances is no Gram matrix."""
    if not np.diagonal(K).any() and K.min() >= 0:
        return "Its diagonal is zero, as that of distances: use KernelBundle.from_distances."
    return "Repair it with multikernel.kernels.nearest_psd(K, method='clip'), or 'flip' or 'shift'."


def check_distances(D: Array, name: str) -> None:
    """Refuse a training matrix that is negative, asymmetric or not zero on its diagonal."""
    check_square(D, name)
    check_symmetric(D, name)
    slack = _tolerance(D) * np.max(np.abs(D))
    if D.min() < -slack:
        raise ValueError(f"{name!r} holds distances and must not be negative, got {D.min():.1e}.")
    if np.max(np.abs(np.diagonal(D))) > slack:
        raise ValueError(
            f"{name!r} holds distances and must be zero on its diagonal; for a Gram matrix use "
            "kind='gram'."
        )


def refuse_collection(X: Any) -> None:
    """Refuse lists and dicts of kernels or views with the conversion to type."""
    if isinstance(X, dict):
        raise TypeError(
            f"Got a dict of {len(X)} blocks. scikit-learn would read this as {len(X)} samples. Use "
            "KernelBundle(kernels) for Gram matrices or ViewBundle(blocks) for features."
        )
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        square = all(np.ndim(K) == 2 and np.shape(K)[0] == np.shape(K)[1] for K in X)
        use = "KernelBundle.from_list(kernels)" if square else "ViewBundle({name: block, ...})"
        raise TypeError(
            f"Got a {type(X).__name__} of {len(X)} arrays of shape {np.shape(X[0])}. scikit-learn "
            f"would read this as {len(X)} samples. Use {use}."
        )


def refuse_stack(X: Any) -> None:
    """Refuse an array of Gram matrices where features are expected, with what to type."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        first = X.shape[1] == X.shape[2] != X.shape[0]
        K = "np.moveaxis(K, 0, 2)" if first else "K"
        raise ValueError(
            f"Found array with dim 3, of shape {X.shape}, where a table of features is expected. "
            f"For Gram matrices of shape (n, n, n_kernels) use kernels='precomputed' and pass {K}."
        )


def refuse_kernels_first(K: Array) -> None:
    """Refuse an array of shape (n_kernels, n, n), with the axis to move."""
    if K.ndim == 3 and K.shape[1] == K.shape[2] != K.shape[0]:
        raise ValueError(
            f"Got an array of shape {K.shape}, kernels first. scikit-learn would read this as "
            f"{K.shape[0]} samples. Use np.moveaxis(K, 0, 2), of shape (n, n, n_kernels)."
        )


def check_stack(K: Any) -> Array:
    """Training Gram matrices as an array of shape (n, n, n_kernels), or the conversion to type."""
    refuse_collection(K)
    K = as_real(np.asarray(K), "The array of kernels")
    K = K[:, :, None] if K.ndim == 2 else K
    refuse_kernels_first(K)
    if K.ndim != 3 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"expected Gram matrices of shape (n, n, n_kernels), got an array of shape {K.shape}."
        )
    if 0 in K.shape:
        raise ValueError(f"expected at least one kernel and one sample, got shape {K.shape}.")
    return np.asarray(K)


def _tolerance(K: Array) -> float:
    return _TOLERANCE.get(K.dtype.itemsize, 1e-8)


def _largest_diagonal(K: Array) -> float:
    return max(float(np.max(np.diagonal(K))), 0.0)


def _largest_eigenvalue(K: Array) -> float:
    """A lower bound of the largest eigenvalue, by a few power iterations."""
    v = np.ones(len(K)) / np.sqrt(len(K))
    estimate = float(np.max(np.diagonal(K)))
    for _ in range(5):
        w = K @ v
        estimate = max(estimate, float(v @ w))
        norm = float(np.linalg.norm(w))
        if norm == 0:
            break
        v = w / norm
    return max(estimate, 0.0)


def has_cholesky(K: Array, shift: float, dtype: DTypeLike = np.float64) -> bool:
    """Whether K plus a multiple of the identity is positive definite, as a precision sees it."""
    with np.errstate(all="ignore"):  # entries far above the diagonal may not fit: then K has none
        shifted = np.array(K.T, dtype=dtype, order="F")
    shifted.ravel(order="K")[:: len(K) + 1] += shift
    return _factorise(shifted.T)


def _factorise(K: Array) -> bool:
    """Whether a symmetric matrix laid out in rows, which is overwritten, has a Cholesky factor."""
    potrf = spotrf if K.dtype == np.float32 else dpotrf
    _, failure = potrf(K.T, lower=1, clean=0, overwrite_a=1)
    return not failure


def as_real(K: Array, what: str) -> Array:
    """An array as floating point numbers; complex numbers and text are refused."""
    if np.issubdtype(K.dtype, np.floating):
        return K
    if K.dtype.kind in "biu" or (K.dtype.kind == "O" and as_numbers(K) is not None):
        return K.astype(np.float64)
    kind = {"c": "complex numbers", "U": "text", "S": "text"}.get(K.dtype.kind, f"type {K.dtype}")
    raise TypeError(f"{what} must hold real numbers, got {kind}; convert them first.")


def as_numbers(block: Any) -> Array | None:
    """A block or column as floating point numbers, None if it holds something else."""
    try:
        numbers = np.asarray(block, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return None if holds_times(block) else numbers


def holds_times(block: Any) -> bool:
    """Whether a block or column holds dates or durations, of which numpy would make numbers."""
    if hasattr(block, "get_columns"):  # of polars, which makes numbers of them beside numbers, too
        return any(map(holds_times, block.get_columns()))
    first = np.asarray(block[:1])
    return first.dtype.kind in "mM" or any(isinstance(v, date | timedelta) for v in first.ravel())


def is_missing(value: Any) -> bool:
    """None, NaN, or pandas' NA, which does not say whether it differs from itself."""
    return value is None or type(value).__name__ == "NAType" or value != value
