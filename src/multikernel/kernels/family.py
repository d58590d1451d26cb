"""KernelFamily: one formula, several parameters, one shared base computation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from .._component import Array, Component

Sweep = float | Sequence[float]  # a parameter, or several of them


class KernelFamily(Component, ABC):
    r"""Kernels that differ only in parameters and share the expensive part of their computation.

    A family computes a *base* between two views (squared distances, inner products, ...) once, and
    each of its kernels is an elementwise function of it. Families with the same ``base_key`` share
    the base as well. A parameter named in ``swept`` may be a number or a sequence of numbers: the
    family then stands for one kernel per combination.

    Notes
    -----
    .. math:: k_\theta(x, z) = \varphi_\theta\big(b(x, z) / s\big),

    with the base :math:`b` and a scale :math:`s` learned from the training base.
    """

    swept: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str] = "numeric"  # what the family reads: "numeric", "strings" or "raw" blocks
    accepts_sparse: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = False
    trusted: ClassVar[bool] = True  # symmetric and positive semi-definite by construction

    @property
    def name(self) -> str:
        """The name of the family in tables."""
        return type(self).__name__.lower()

    def kernel_name(self, source: str, parameters: str) -> str:
        """The name of one kernel of the family on a source."""
        return f"{source}/{self.name}" + (f"({parameters})" if parameters else "")

    @property
    def base_key(self) -> Hashable:
        """Families with equal keys share one base computation on the same view."""
        return id(self)

    def split(self) -> list[KernelFamily]:
        """The families with one base each that this one stands for."""
        return [self]

    def parameters(self) -> list[dict[str, Any]]:
        """The parameters of every kernel of the family, as a list of dicts."""
        grids = [np.atleast_1d(getattr(self, name)).tolist() for name in self.swept]
        combinations = [dict(zip(self.swept, values, strict=True)) for values in product(*grids)]
        if not combinations:
            raise ValueError(f"{type(self).__name__} has an empty list of parameters.")
        for parameters in combinations:
            for name, value in parameters.items():
                self._check_parameter(name, value)
        return combinations

    def _check_parameter(self, name: str, value: Any) -> None:
        """Refuse a parameter outside its domain; positive numbers unless overridden."""
        if not np.isreal(value) or not 0 < value < np.inf:
            raise ValueError(
                f"{type(self).__name__}: {name} must be a positive number or a list of them, "
                f"got {value!r}."
            )

    @abstractmethod
    def base(self, X: Any, Z: Any = None) -> Array:
        """The shared computation between the rows of X and Z (X itself if None)."""

    def base_diag(self, X: Any) -> Array:
        """The base of every row of X with itself, shape (len(X),)."""
        starts = range(0, X.shape[0], 64)
        return np.concatenate([np.diagonal(self.base(X[i : i + 64])) for i in starts])

    def fit_scale(self, base: Array, share: Array | None = None) -> float:
        """Learn the scale of the base from its training values; one unless overridden.

        Parameters
        ----------
        base : array of shape (n, n)
            The base between all training samples.
        share : array of shape (n,), optional
            Sample weights that sum to one.
        """
        return 1.0

    def gram(self, base: Array, scale: float = 1.0, **parameters: Any) -> Array:
        """One kernel of the family from the base, elementwise, as a new array."""
        return np.array(base, dtype=np.float64)


def median_scale(base: Array, share: Array | None = None) -> float:
    """Median of the distances between distinct training points (weighted by pairs of shares).

    Pairs at distance zero do not count, so that repeating samples equals weighting them. With no
    two distinct points the scale is one.
    """
    pairs = np.tri(len(base), k=-1, dtype=bool)
    distances = base[pairs]
    distinct = distances > 1e-12 * np.max(distances, initial=0.0)
    if share is not None:
        return _weighted_median(distances[distinct], np.outer(share, share)[pairs][distinct])
    return float(np.median(distances[distinct])) if distinct.any() else 1.0


def _weighted_median(values: Array, weights: Array) -> float:
    """The median of the values repeated in proportion to their weights."""
    if not np.any(weights > 0):
        return 1.0
    order = np.argsort(values)
    values, cumulated = values[order], np.cumsum(weights[order])
    half = cumulated[-1] / 2
    slack = 1e-12 * cumulated[-1]
    lower = values[np.searchsorted(cumulated, half - slack)]
    upper = values[min(np.searchsorted(cumulated, half + slack), len(values) - 1)]
    return float((lower + upper) / 2)


def row_squares(X: Any) -> Array:
    """Squared Euclidean norm of every row, dense or sparse."""
    sparse = hasattr(X, "multiply")
    squares = X.multiply(X).sum(axis=1) if sparse else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=np.float64).ravel()


def dense_product(X: Any, Z: Any) -> Array:
    """Inner products between rows as a dense array, for dense or sparse rows."""
    P = X @ Z.T
    return np.asarray(P.toarray() if hasattr(P, "toarray") else P)


def cityblock(X: Any, Z: Any) -> Array:
    """City-block distances between dense or sparse rows."""
    return np.asarray(manhattan_distances(X, Z) if issparse(X) else cdist(X, Z, "cityblock"))
