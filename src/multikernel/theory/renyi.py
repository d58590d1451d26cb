"""The quadratic Rényi entropy that the inverse of a penalty matrix gives the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._spectrum import definite_spectrum


def renyi_entropy(Q: Any) -> float:
    r"""Measure how much of the common weight of all kernels a penalty matrix leaves.

    Parameters
    ----------
    Q : array-like of shape (n_kernels, n_kernels)
        Positive definite penalty matrix.

    Returns
    -------
    entropy : float
        :math:`\log M` for the identity; it may be negative, as no density is normalised.

    Notes
    -----
    If :math:`Q^{-1}` is read as a kernel density estimate over M kernels, its quadratic Rényi
    entropy is

    .. math:: H_2 = -\log\big(\mathbf 1^\top Q^{-1} \mathbf 1 / M^2\big).

    For kernels of unit trace :math:`\mathbf 1^\top Q^{-1} \mathbf 1` is the sum of the squared
    traces of the virtual kernels. Where it falls, the bounds of the Rademacher complexity built on
    it fall and the entropy *rises*: the two move in opposite directions, and among the matrices
    with eigenvalues of at least one the identity has the *smallest* entropy ([H12]_, Section 3.1,
    prints both the other way round). The identity is not the only such matrix: one plus any graph
    Laplacian has the same entropy. The number describes Q alone. It knows neither the kernels
    nor the targets, it changes with the scale of Q, and no optimality follows from it.

    Examples
    --------
    >>> import numpy as np
    >>> round(renyi_entropy(np.eye(4)), 4)  # log 4
    1.3863
    >>> round(renyi_entropy(np.eye(4) + np.ones((4, 4))), 4)  # log 4 + log 5
    2.9957
    """
    eigenvalues, eigenvectors = definite_spectrum(Q, "renyi_entropy")
    total = float(np.sum(eigenvectors.sum(axis=0) ** 2 / eigenvalues))  # 1ᵀQ⁻¹1
    return float(2 * np.log(len(eigenvalues)) - np.log(total))
