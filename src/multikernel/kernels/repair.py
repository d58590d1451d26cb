"""Repair of matrices that are almost kernels."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.linalg import eigh

from .._component import Array


def nearest_psd(K: Array, method: Literal["clip", "flip", "shift"] = "clip") -> Array:
    r"""A positive semi-definite matrix near a symmetric one that is not.

    Parameters
    ----------
    K : array of shape (n, n)
        A matrix to symmetrise and repair.
    method : {"clip", "flip", "shift"}, default="clip"
        Set negative eigenvalues to zero (nearest in Frobenius norm), to their absolute value, or
        add a multiple of the identity (keeps all off-diagonal similarities).

    Returns
    -------
    array of shape (n, n)

    Notes
    -----
    Clip and flip change the similarities between training samples only. Queries then see the raw
    kernel, so repair a full matrix over training and test samples, before splitting.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import nearest_psd
    >>> nearest_psd(np.array([[1.0, 2.0], [2.0, 1.0]]), method="shift")
    array([[2., 2.],
           [2., 2.]])
    """
    K = (np.asarray(K, dtype=np.float64) + np.asarray(K, dtype=np.float64).T) / 2
    eigenvalues, U = eigh(K)
    if method == "shift":
        return np.asarray(K + max(-eigenvalues[0], 0.0) * np.eye(len(K)))
    if method == "clip":
        repaired = np.maximum(eigenvalues, 0.0)
    elif method == "flip":
        repaired = np.abs(eigenvalues)
    else:
        raise ValueError(f"method must be 'clip', 'flip' or 'shift', got {method!r}.")
    K = (U * repaired) @ U.T
    return (K + K.T) / 2
