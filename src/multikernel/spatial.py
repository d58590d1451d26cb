"""Penalties that know where features lie in space."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.spatial import cKDTree
from sklearn.utils import check_array, check_scalar

from ._component import Array
from ._memory import check_memory

_BYTES_PER_PAIR = 100.0  # of neighbours, in the tree's answer and the matrices made of it


def spatial_laplacian(
    coordinates: Any, *, n_neighbors: int = 26, radius: float | None = None, power: float = 1.0
) -> csr_array:
    r"""A penalty matrix that asks features that lie close together for similar coefficients.

    Use it as the ``Q`` of :class:`QSVC` or :class:`QSVR` when features are measurements at known
    places, such as voxels, pixels, electrodes or stations, and the pattern is expected to be
    smooth. It says nothing about the level of the pattern, which costs nothing here: add a
    ``ridge`` to the estimator.

    Parameters
    ----------
    coordinates : array of shape (n_features, n_dimensions)
        The place of every feature.
    n_neighbors : int, default=26
        Features are tied to this many nearest ones: 26 are the voxels that touch one in a cube, 8
        the pixels that touch one in an image. Those at a border get as many, farther away. Two
        features are tied as soon as one of them is among the nearest of the other.
    radius : float, default=None
        Tie features up to this distance instead, however many; a feature with none within reach is
        tied to nothing. On a regular grid this is the faster choice: no far ties at the border.
    power : float, default=1.0
        Ties have the strength ``1 / distance ** power``; 0 makes all of them equal.

    Returns
    -------
    L : sparse array of shape (n_features, n_features)
        Symmetric and positive semi-definite, with rows that sum to zero.

    See Also
    --------
    QSVC : Classification with this penalty.

    Notes
    -----
    With strengths :math:`a_{jk} = \|c_j - c_k\|^{-\mathrm{power}}` among neighbours,

    .. math:: L = \operatorname{diag}(A \mathbf 1) - A, \qquad
              w^\top L w = \sum_{j < k} a_{jk} (w_j - w_k)^2 .

    [H12]_, Section 5.1, uses it on the voxels of brain images.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import spatial_laplacian
    >>> spatial_laplacian(np.array([[0.0], [1.0], [3.0]]), radius=2.0).toarray()
    array([[ 1. , -1. ,  0. ],
           [-1. ,  1.5, -0.5],
           [ 0. , -0.5,  0.5]])
    """
    check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1)
    check_scalar(power, "power", Real, min_val=0, max_val=np.inf, include_boundaries="left")
    c = check_array(coordinates, dtype=np.float64, ensure_min_samples=2, input_name="coordinates")
    tree = cKDTree(c)
    if radius is None:
        pairs = _nearest_pairs(tree, n_neighbors)
    else:
        check_scalar(radius, "radius", Real, min_val=0, include_boundaries="neither")
        pairs = _pairs_within(tree, float(radius))
    distances = np.linalg.norm(c[pairs[:, 0]] - c[pairs[:, 1]], axis=1)
    _refuse_coincident(pairs, distances)
    return _laplacian(pairs, distances**-power, len(c))


def _nearest_pairs(tree: cKDTree, n_neighbors: int) -> Array:
    """Pairs (j, k), j < k, of which one is among the nearest of the other, each once."""
    k = min(n_neighbors, tree.n - 1)
    check_memory(_BYTES_PER_PAIR * tree.n * k, f"{tree.n:,} features × {k:,} neighbours")
    nearest = tree.query(tree.data, k=k + 1)[1]  # with the feature itself
    pairs = np.stack([np.repeat(np.arange(tree.n), k + 1), nearest.ravel()], axis=1)
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)


def _pairs_within(tree: cKDTree, radius: float) -> Array:
    """Pairs (j, k), j < k, at most a distance apart."""
    n_pairs = (float(tree.count_neighbors(tree, radius)) - tree.n) / 2
    check_memory(_BYTES_PER_PAIR * n_pairs, f"{n_pairs:,.0f} pairs within radius={radius:g}")
    pairs: Array = tree.query_pairs(radius, output_type="ndarray")
    return pairs


def _refuse_coincident(pairs: Array, distances: Array) -> None:
    if np.any(distances == 0):
        j, k = pairs[np.argmin(distances)]
        raise ValueError(
            f"coordinates must all differ, but rows {j} and {k} are the same place; leave one of "
            "these features out, or average them."
        )


def _laplacian(pairs: Array, strengths: Array, n_features: int) -> csr_array:
    """The graph Laplacian of ties of given strengths."""
    upper = coo_array((strengths, (pairs[:, 0], pairs[:, 1])), shape=(n_features, n_features))
    A = csr_array(upper + upper.T)
    return csr_array(diags_array(A.sum(axis=1)) - A)  # L = diag(A 1) − A
