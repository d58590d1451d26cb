"""Kernel families on similarities of rows: inner products, cosines, shared mass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity

from .._component import Array
from .family import KernelFamily, Sweep, cityblock, dense_product, row_squares


class _InnerProduct(KernelFamily):
    """Families that are functions of inner products."""

    accepts_sparse: ClassVar[bool] = True

    @property
    def base_key(self) -> Hashable:
        """All of them share one matrix of inner products."""
        return "inner"

    def base(self, X: Any, Z: Any = None) -> Array:
        """Inner products between rows."""
        return dense_product(X, X if Z is None else Z)

    def base_diag(self, X: Any) -> Array:
        """Squared norms of the rows."""
        return row_squares(X)


@dataclass(repr=False)
class Linear(_InnerProduct):
    r"""The inner product of the features.

    Notes
    -----
    .. math:: k(x, z) = x^\top z

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Linear
    >>> Linear().base(np.array([[1.0, 2.0]]))
    array([[5.]])
    """

    def factor(self, X: Any) -> Array:
        """The features themselves, whose inner products are the kernel."""
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


@dataclass(repr=False)
class Polynomial(_InnerProduct):
    r"""Products of up to ``degree`` features.

    Parameters
    ----------
    degree : int or list of int, default=2
    gamma : float or list of float, default=1.0
        Factor of the inner product.
    coef0 : float or list of float, default=1.0
        Non-negative constant; zero keeps only the products of exactly ``degree`` features.
    scale : {"mean", None}, default="mean"
        Divide inner products by the mean squared norm of the training samples, or by nothing.

    Notes
    -----
    .. math:: k(x, z) = (\gamma\, x^\top z / s + c_0)^q

    Examples
    --------
    >>> from multikernel.kernels import Polynomial
    >>> Polynomial(degree=[2, 3]).parameters()
    [{'degree': 2, 'gamma': 1.0, 'coef0': 1.0}, {'degree': 3, 'gamma': 1.0, 'coef0': 1.0}]
    """

    degree: int | Sequence[int] = 2
    gamma: Sweep = 1.0
    coef0: Sweep = 1.0
    scale: str | None = "mean"
    swept: ClassVar[tuple[str, ...]] = ("degree", "gamma", "coef0")
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"degree": [2, 3], "coef0": [0.0, 1.0]},
        {"degree": 3, "gamma": 0.5, "scale": None},
    )

    def _check_parameter(self, name: str, value: Any) -> None:
        if name == "degree" and (value != int(value) or value < 1):
            raise ValueError(f"Polynomial: degree must be a positive integer, got {value!r}.")
        if not (name == "coef0" and value == 0):
            super()._check_parameter(name, value)

    def fit_scale(self, base: Array, share: Array | None = None) -> float:
        """The mean squared norm of the training samples, or one for ``scale=None``."""
        if self.scale not in ("mean", None):
            raise ValueError(f"Polynomial: scale must be 'mean' or None, got {self.scale!r}.")
        mean = np.average(np.diagonal(base), weights=share)
        return float(mean) if self.scale and mean > 0 else 1.0

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from inner products."""
        gamma, coef0, degree = parameters["gamma"], parameters["coef0"], parameters["degree"]
        K: Array = (gamma / scale * base + coef0) ** int(degree)  # (γ x·z / s + c₀)^q
        return K


@dataclass(repr=False)
class HistogramIntersection(KernelFamily):
    r"""The mass that two histograms share.

    Notes
    -----
    .. math:: k(x, z) = \sum_i \min(x_i, z_i)
                      = \tfrac12 \big(\|x\|_1 + \|z\|_1 - \|x - z\|_1\big), \qquad x, z \ge 0

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import HistogramIntersection
    >>> HistogramIntersection().base(np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    nonnegative: ClassVar[bool] = True
    accepts_sparse: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """A short name."""
        return "intersection"

    @property
    def base_key(self) -> Hashable:
        """One matrix of intersections per view."""
        return "intersection"

    def base(self, X: Any, Z: Any = None) -> Array:
        """Sums of elementwise minima between rows."""
        Z = X if Z is None else Z
        sums = self.base_diag(X)[:, None] + self.base_diag(Z)
        return (sums - cityblock(X, Z)) / 2  # min(a, b) = (a + b − |a − b|) / 2

    def base_diag(self, X: Any) -> Array:
        """The mass of every row."""
        return np.asarray(X.sum(axis=1), dtype=np.float64).ravel()


@dataclass(repr=False)
class Cosine(KernelFamily):
    r"""The cosine of the angle between two samples; zero samples are similar to nothing.

    Notes
    -----
    .. math:: k(x, z) = x^\top z / (\|x\| \|z\|)

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Cosine
    >>> Cosine().base(np.array([[2.0, 0.0]]), np.array([[0.0, 1.0], [3.0, 0.0]]))
    array([[0., 1.]])
    """

    accepts_sparse: ClassVar[bool] = True

    @property
    def base_key(self) -> Hashable:
        """One matrix of cosines per view."""
        return "cosine"

    def base(self, X: Any, Z: Any = None) -> Array:
        """Cosines between rows."""
        return np.asarray(cosine_similarity(X, Z))

    def base_diag(self, X: Any) -> Array:
        """One, or zero for a zero row."""
        return (row_squares(X) > 0).astype(np.float64)


@dataclass(repr=False)
class Tanimoto(KernelFamily):
    r"""The share of common features, for chemical fingerprints and other counts.

    Notes
    -----
    .. math:: k(x, z) = \frac{x^\top z}{\|x\|^2 + \|z\|^2 - x^\top z},

    with value one between two zero samples.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Tanimoto
    >>> Tanimoto().base(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]))
    array([[0.5]])
    """

    accepts_sparse: ClassVar[bool] = True

    @property
    def base_key(self) -> Hashable:
        """One matrix of similarities per view."""
        return "tanimoto"

    def base(self, X: Any, Z: Any = None) -> Array:
        """Tanimoto similarities between rows."""
        Z = X if Z is None else Z
        both = dense_product(X, Z)
        either = row_squares(X)[:, None] + row_squares(Z) - both
        return np.divide(both, either, out=np.ones_like(both), where=either > 0)

    def base_diag(self, X: Any) -> Array:
        """One."""
        return np.ones(X.shape[0])
