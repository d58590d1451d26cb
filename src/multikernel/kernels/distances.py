"""Kernel families on distances between rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.special import gamma as gamma_function
from scipy.special import kv
from sklearn.metrics.pairwise import additive_chi2_kernel, euclidean_distances, pairwise_distances

from .._component import Array
from .family import KernelFamily, Sweep, cityblock, median_scale


class _Distance(KernelFamily):
    """Families that are decreasing functions of a distance, in units of its median."""

    scale: str | None

    def base_diag(self, X: Any) -> Array:
        """Zero: nothing is far from itself."""
        return np.zeros(X.shape[0])

    def fit_scale(self, base: Array, share: Array | None = None) -> float:
        """The median training distance, or one for ``scale=None``."""
        if self.scale not in ("median", None):
            raise ValueError(
                f"{type(self).__name__}: scale must be 'median' or None, got {self.scale!r}."
            )
        return median_scale(base, share) if self.scale else 1.0


class _SquaredEuclidean(_Distance):
    """Families that are functions of squared Euclidean distances."""

    accepts_sparse: ClassVar[bool] = True

    @property
    def base_key(self) -> Hashable:
        """All of them share one matrix of squared distances."""
        return "sqeuclidean"

    def base(self, X: Any, Z: Any = None) -> Array:
        """Squared Euclidean distances between rows."""
        if not issparse(X):
            origin = (X if Z is None else Z).mean(axis=0)  # a common shift keeps the digits
            X, Z = X - origin, None if Z is None else Z - origin
        return np.asarray(euclidean_distances(X, Z, squared=True))


@dataclass(repr=False)
class RBF(_SquaredEuclidean):
    r"""The Gaussian kernel, with its width in units of the median squared distance.

    Parameters
    ----------
    width : float or list of float, default=1.0
        Multiples of the scale; each gives one kernel.
    scale : {"median", None}, default="median"
        The median of the squared distances between distinct training samples, or one, which
        makes ``RBF(width=1 / gamma, scale=None)`` scikit-learn's ``rbf_kernel(gamma=gamma)``.

    Notes
    -----
    .. math:: k(x, z) = \exp\big(-\|x - z\|^2 / (w\, s)\big)

    Examples
    --------
    >>> from multikernel.kernels import RBF
    >>> RBF(width=[0.25, 1, 4]).parameters()
    [{'width': 0.25}, {'width': 1.0}, {'width': 4.0}]
    """

    width: Sweep = 1.0
    scale: str | None = "median"
    swept: ClassVar[tuple[str, ...]] = ("width",)
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"width": [0.25, 1.0, 4.0]},
        {"width": 2.0, "scale": None},
    )

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from squared distances."""
        return _exp_decay(base, parameters["width"] * scale)


@dataclass(repr=False)
class Matern(_SquaredEuclidean):
    r"""The Matérn kernel: like the RBF, but of limited smoothness.

    Parameters
    ----------
    nu : float or list of float, default=1.5
        Smoothness; 0.5 is the exponential of the distance, ``inf`` the RBF.
    width : float or list of float, default=1.0
        Length scales, in units of the root of the median squared distance.
    scale : {"median", None}, default="median"
        As for :class:`RBF`; with None the width is the length scale itself.

    Notes
    -----
    .. math:: k(x, z) = \frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t), \qquad
              t = \sqrt{2\nu}\, \frac{\|x - z\|}{w \sqrt{s}}

    Examples
    --------
    >>> from multikernel.kernels import Matern
    >>> len(Matern(nu=[0.5, 1.5], width=[0.5, 1, 2]).parameters())
    6
    """

    nu: Sweep = 1.5
    width: Sweep = 1.0
    scale: str | None = "median"
    swept: ClassVar[tuple[str, ...]] = ("nu", "width")
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"nu": [0.5, 1.5, 2.5, 0.8], "width": [0.5, 2.0]},
        {"nu": float("inf"), "width": 3.0, "scale": None},
    )

    def _check_parameter(self, name: str, value: Any) -> None:
        if not (name == "nu" and value == np.inf):
            super()._check_parameter(name, value)

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from squared distances."""
        nu, width = parameters["nu"], parameters["width"]
        if nu == np.inf:
            return _exp_decay(base, 2 * width**2 * scale)
        t = np.sqrt(base * (2 * nu / (width**2 * scale)))  # t = √(2ν) ‖x − z‖ / (w √s)
        if nu in _MATERN_POLYNOMIALS:
            return np.asarray(np.polyval(_MATERN_POLYNOMIALS[nu], t) * np.exp(-t))
        t = np.maximum(t, np.finfo(np.float64).eps)
        return np.asarray(2 ** (1 - nu) / gamma_function(nu) * t**nu * kv(nu, t))


_MATERN_POLYNOMIALS = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1 / 3, 1.0, 1.0)}


@dataclass(repr=False)
class Laplacian(_Distance):
    r"""The exponential of the city-block distance, for heavy-tailed or discrete features.

    Parameters
    ----------
    width : float or list of float, default=1.0
        Multiples of the scale.
    scale : {"median", None}, default="median"
        The median distance between distinct training samples, or one.

    Notes
    -----
    .. math:: k(x, z) = \exp\big(-\|x - z\|_1 / (w\, s)\big)

    Examples
    --------
    >>> from multikernel.kernels import Laplacian
    >>> Laplacian(width=[1, 2])
    Laplacian(width=[1, 2])
    """

    width: Sweep = 1.0
    scale: str | None = "median"
    swept: ClassVar[tuple[str, ...]] = ("width",)
    accepts_sparse: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"width": [0.5, 2.0], "scale": None})

    @property
    def base_key(self) -> Hashable:
        """One matrix of city-block distances per view."""
        return "cityblock"

    def base(self, X: Any, Z: Any = None) -> Array:
        """City-block distances between rows."""
        return cityblock(X, X if Z is None else Z)

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from city-block distances."""
        return _exp_decay(base, parameters["width"] * scale)


@dataclass(repr=False)
class Chi2(_Distance):
    r"""The exponential of the chi-squared distance, for histograms.

    Parameters
    ----------
    width : float or list of float, default=1.0
        Multiples of the scale.
    scale : {"median", None}, default="median"
        The median distance between distinct training samples, or one.

    Notes
    -----
    .. math:: k(x, z) = \exp\Big(-\frac{1}{w\, s} \sum_i \frac{(x_i - z_i)^2}{x_i + z_i}\Big)

    for non-negative features, with 0/0 = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Chi2
    >>> Chi2().base(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[0., 2.],
           [2., 0.]])
    """

    width: Sweep = 1.0
    scale: str | None = "median"
    swept: ClassVar[tuple[str, ...]] = ("width",)
    nonnegative: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"width": [0.5, 2.0], "scale": None})

    @property
    def base_key(self) -> Hashable:
        """One matrix of chi-squared distances per view."""
        return "chi2"

    def base(self, X: Any, Z: Any = None) -> Array:
        """Chi-squared distances between rows."""
        return np.asarray(np.abs(additive_chi2_kernel(X, Z)))

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from chi-squared distances."""
        return _exp_decay(base, parameters["width"] * scale)


@dataclass(repr=False)
class ExpDistance(_Distance):
    r"""The exponential of a distance of your own.

    Parameters
    ----------
    width : float or list of float, default=1.0
        Multiples of the scale.
    metric : str, default="precomputed"
        A metric of :func:`sklearn.metrics.pairwise_distances` for use on features. The default
        is for distance matrices held by a :class:`KernelBundle` with ``kind="distance"``.
    scale : {"median", None}, default="median"
        The median distance between distinct training samples, or one.

    Notes
    -----
    .. math:: k(x, z) = \exp\big(-D(x, z) / (w\, s)\big)

    This is positive semi-definite only if D is conditionally negative definite, such as a
    Euclidean, squared Euclidean or city-block distance; the Gram matrix is checked.

    Examples
    --------
    >>> from multikernel.kernels import ExpDistance
    >>> ExpDistance(width=[0.5, 1, 2], metric="euclidean").parameters()
    [{'width': 0.5}, {'width': 1.0}, {'width': 2.0}]
    """

    width: Sweep = 1.0
    metric: str = "precomputed"
    scale: str | None = "median"
    swept: ClassVar[tuple[str, ...]] = ("width",)
    trusted: ClassVar[bool] = False
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"metric": "euclidean"},
        {"metric": "cityblock", "width": [0.5, 2.0], "scale": None},
    )

    def base(self, X: Any, Z: Any = None) -> Array:
        """Distances between rows."""
        if self.metric == "precomputed":
            raise TypeError(
                "ExpDistance(metric='precomputed') reads distance matrices, not features: wrap "
                "them in KernelBundle.from_distances, or name a metric such as 'euclidean'."
            )
        return np.asarray(pairwise_distances(X, Z, metric=self.metric))

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from distances."""
        return _exp_decay(base, parameters["width"] * scale)


def _exp_decay(distances: Array, width: float) -> Array:
    """exp(-distances / width), with one temporary array."""
    K = np.multiply(distances, -1.0 / width, dtype=np.float64)
    np.exp(K, out=K)
    return K
