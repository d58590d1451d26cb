"""The same predictor from a penalised and from a constrained problem."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._component import Array
from ._powers import divide, nonnegative
from .base import Regularizer


class Equivalent(NamedTuple):
    """A regularizer, its C and its weights that give the same predictor."""

    regularizer: Any
    C: float
    weights: Array


def tikhonov_to_ivanov(regularizer: Regularizer, C: float, weights: Array) -> Equivalent:
    r"""Turn a solved penalised problem into the constrained problem with the same predictor.

    Parameters
    ----------
    regularizer : LpNorm, GroupNorm or QNorm
        The regularizer, with ``form="tikhonov"``.
    C : float
        Its inverse regularization.
    weights : array of shape (n_kernels,)
        Its optimal weights.

    Returns
    -------
    Equivalent
        ``regularizer`` with ``form="ivanov"``, ``C`` and ``weights``.

    Notes
    -----
    With N the norm of the constraint, :math:`d_{Iv} = d / N(d)` and :math:`C_{Iv} = C\, N(d)`. The
    product of C and the weights, hence the functions, stay the same.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.regularizers import LpNorm
    >>> tikhonov_to_ivanov(LpNorm(p=1.0), C=2.0, weights=np.array([3.0, 1.0]))
    Equivalent(regularizer=LpNorm(form='ivanov'), C=8.0, weights=array([0.75, 0.25]))
    """
    _check_supported(regularizer, "tikhonov")
    d = nonnegative(weights)
    N = regularizer._gauge(d)
    if N == 0:
        raise ValueError("weights must not all be zero: no constrained problem has this solution.")
    return Equivalent(clone(regularizer).set_params(form="ivanov"), float(C * N), d / N)


def ivanov_to_tikhonov(
    regularizer: Regularizer, C: float, weights: Array, sq_norms: Array
) -> Equivalent:
    r"""Turn a solved constrained problem into the penalised problem with the same predictor.

    Parameters
    ----------
    regularizer : LpNorm, GroupNorm or QNorm
        The regularizer, with ``form="ivanov"``.
    C : float
        Its inverse regularization.
    weights : array of shape (n_kernels,)
        Its optimal weights.
    sq_norms : array of shape (n_kernels,)
        The squared norms of the functions found with them.

    Returns
    -------
    Equivalent
        ``regularizer`` with ``form="tikhonov"``, ``C`` and ``weights``.

    Notes
    -----
    The penalty is :math:`c N^k` (k is ``p`` of ``LpNorm``, ``across`` of ``GroupNorm``, 2 of
    ``QNorm``; c is 1/k, of ``QNorm`` 1). Along the ray :math:`\sigma d` the terms
    :math:`A/\sigma + c \sigma^k`, :math:`A = \sum_m x_m/d_m`, are least at
    :math:`\sigma = (A/(ck))^{1/(1+k)}`; then :math:`d_{Tik} = \sigma d`,
    :math:`C_{Tik} = C / \sigma`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.regularizers import LpNorm
    >>> d, sq_norms = np.array([0.75, 0.25]), np.array([9.0, 1.0])
    >>> ivanov_to_tikhonov(LpNorm(p=1.0, form="ivanov"), C=8.0, weights=d, sq_norms=sq_norms)
    Equivalent(regularizer=LpNorm(), C=2.0, weights=array([3., 1.]))
    """
    _check_supported(regularizer, "ivanov")
    d = nonnegative(weights)
    A = float(np.sum(divide(nonnegative(sq_norms), d)))
    if A == 0:
        raise ValueError("sq_norms must not all be zero: the predictor is constant for many C.")
    k, c = regularizer._degree, regularizer._penalty_scale
    sigma = (A / (c * k)) ** (1 / (1 + k))
    return Equivalent(clone(regularizer).set_params(form="tikhonov"), float(C / sigma), sigma * d)


def _check_supported(regularizer: Regularizer, form: str) -> None:
    """Raise unless the regularizer is a power of a norm in the form asked for."""
    name = type(regularizer).__name__
    if not hasattr(regularizer, "_degree"):
        raise TypeError(
            f"{name} has no penalised and constrained form of one norm; "
            "the map exists for LpNorm, GroupNorm and QNorm."
        )
    found = getattr(regularizer, "form", None)
    if found != form:
        raise ValueError(f"{name} must have form={form!r} here, got form={found!r}.")
