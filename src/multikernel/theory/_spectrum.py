"""The eigenvalues and eigenvectors of a penalty matrix over kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._component import Array
from .._validation import check_gram


class Spectrum(NamedTuple):
    r"""The part :math:`V \Lambda V^\top = Q` with positive eigenvalues, smallest first."""

    eigenvalues: Array
    eigenvectors: Array


def positive_spectrum(Q: Any) -> Spectrum:
    """Decompose a symmetric positive semi-definite matrix; what is zero up to rounding is left out.

    Raises ValueError where the matrix is not square, finite, symmetric, positive semi-definite.
    """
    Q = np.asarray(Q, dtype=np.float64)
    check_gram(Q, "Q")
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    kept = values > len(Q) * np.finfo(float).eps * values[-1]
    return Spectrum(values[kept], vectors[:, kept])


def definite_spectrum(Q: Any, owner: str) -> Spectrum:
    """Decompose a matrix that must have an inverse."""
    spectrum = positive_spectrum(Q)
    n_zero = len(Q) - len(spectrum.eigenvalues)
    if n_zero:
        raise ValueError(
            f"{owner}: Q must be positive definite, but {n_zero} of its {len(Q)} eigenvalues are "
            "zero; add a ridge, as in Q + 0.01 * np.eye(len(Q))."
        )
    return spectrum
