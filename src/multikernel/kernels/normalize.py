"""Normalisations: learned on a training Gram matrix, replayed on queries by the same object."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._component import Array, Component
from .._gram_stack import GramStack
from .family import row_squares

_ROUNDING = 1e-12  # of a variance, relative to the mean diagonal


@dataclass(repr=False)
class Unnormalized(Component):
    """The kernel as it is; the base class of all normalisations.

    A normalisation turns a raw kernel into ``row(x) * (k(x, x_j) + ...)`` in a way that an
    expansion in normalised kernels is an expansion in raw kernels with other coefficients.
    """

    needs_diag: ClassVar[bool] = False  # of the queries
    needs_all: ClassVar[bool] = False  # training samples, unless coefficients sum to zero
    factor_ = 1.0

    def fit_transform(self, K: Array, share: Array) -> Array:
        """Learn from a square training Gram matrix and normalise it in place."""
        Ks = K[np.newaxis]
        stack = self.learn([self], GramStack(np.zeros(1, np.intp), Ks), share)
        stack.normalize(Ks, slice(None), slice(None))
        return K

    @staticmethod
    def learn(normalizers: Sequence[Any], stack: GramStack, share: Array) -> GramStack:
        """Let normalisations of one kind learn from raw matrices, each its own, and say what to do.

        Returns
        -------
        stack : GramStack
            The same kernels, normalised once it is formed.
        """
        return stack

    def fit_factor(self, Z: Array, share: Array) -> Array:
        r"""Learn from a factor of the training Gram matrix :math:`Z Z^\top` and normalise it."""
        return Z

    def transform(self, K: Array, share: Array, diag: Array | None = None) -> Array:
        """Normalise in place the kernel between queries and all training samples."""
        return K

    def transform_among(self, K: Array, means: Array | None) -> Array:
        """Normalise a kernel between queries, given their means of k(z, x_j) over training."""
        return K * self.factor_ if self.factor_ != 1 else K

    def expand(self, A: Array, share: Array) -> tuple[Array, Array]:
        """Coefficients and offset of the raw kernel that replace those of the normalised one."""
        return A, np.zeros(A.shape[1])

    def finish(self, F: Array, diag: Array | None) -> Array:
        """The last touch on an expansion of shape (n_queries, T)."""
        return F

    def self_similarity(self, diag: Array, means: Array | None) -> Array:
        """Normalised k(z, z) from raw k(z, z) and the mean of k(z, x_j) over training samples."""
        return diag

    def take(self, samples: NDArray[np.intp]) -> Self:
        """The same normalisation for expansions in some of the training samples."""
        return self


@dataclass(repr=False)
class Trace(Unnormalized):
    r"""Unit mean diagonal: :math:`k / s` with :math:`s` the mean of :math:`k(x_i, x_i)`."""

    @staticmethod
    def learn(normalizers: Sequence[Any], stack: GramStack, share: Array) -> GramStack:
        """Learn the mean diagonals, of all matrices at once."""
        factors = [_safe_inverse(power) for power in (_diagonals(stack.Ks) @ share).tolist()]
        for normalizer, factor in zip(normalizers, factors, strict=True):
            normalizer.factor_ = factor
        return stack._replace(factors=np.array(factors))

    def fit_factor(self, Z: Array, share: Array) -> Array:
        """Learn the mean squared norm of the rows and divide by its root."""
        self.factor_ = _safe_inverse(float(share @ row_squares(Z)))
        return np.asarray(Z * np.sqrt(self.factor_))

    def transform(self, K: Array, share: Array, diag: Array | None = None) -> Array:
        """Divide by the mean diagonal of training."""
        return np.multiply(K, self.factor_, out=K)

    def expand(self, A: Array, share: Array) -> tuple[Array, Array]:
        """Scaled coefficients."""
        return A * self.factor_, np.zeros(A.shape[1])

    def self_similarity(self, diag: Array, means: Array | None) -> Array:
        """Scaled self-similarities."""
        return diag * self.factor_


@dataclass(repr=False)
class UnitDiagonal(Unnormalized):
    r"""Unit diagonal: :math:`k(x, z) / \sqrt{k(x, x)\, k(z, z)}`, zero where a diagonal is zero."""

    needs_diag: ClassVar[bool] = True

    @staticmethod
    def learn(normalizers: Sequence[Any], stack: GramStack, share: Array) -> GramStack:
        """Learn the diagonals, by whose roots rows and columns are divided."""
        inverse_norms = _inverse_root(_diagonals(stack.Ks).astype(np.float64))
        for normalizer, own in zip(normalizers, inverse_norms, strict=True):
            normalizer.inverse_norms_ = own
        return stack._replace(scales=inverse_norms)

    def fit_factor(self, Z: Array, share: Array) -> Array:
        """Learn the norms of the rows and divide by them."""
        self.inverse_norms_ = _inverse_root(row_squares(Z))
        return Z * self.inverse_norms_[:, None]

    def transform(self, K: Array, share: Array, diag: Array | None = None) -> Array:
        """Divide columns by the training norms and rows by the norms of the queries."""
        K *= self.inverse_norms_
        return self.finish(K, diag)

    def transform_among(self, K: Array, means: Array | None) -> Array:
        """Divide rows and columns by the norms of the queries."""
        scale = _inverse_root(np.diagonal(K))
        return K * scale * scale[:, None]

    def expand(self, A: Array, share: Array) -> tuple[Array, Array]:
        """Coefficients divided by the training norms."""
        return A * self.inverse_norms_[:, None], np.zeros(A.shape[1])

    def finish(self, F: Array, diag: Array | None) -> Array:
        """Divide by the norms of the queries."""
        return F * _inverse_root(np.asarray(diag))[:, None]

    def self_similarity(self, diag: Array, means: Array | None) -> Array:
        """One, or zero for a zero sample."""
        return (diag > 0).astype(np.float64)

    def take(self, samples: NDArray[np.intp]) -> Self:
        """Keep the norms of some training samples."""
        other = copy(self)
        other.inverse_norms_ = self.inverse_norms_[samples]
        return other


@dataclass(repr=False)
class Center(Unnormalized):
    r"""Zero mean in feature space.

    Notes
    -----
    With :math:`\mu(x) = \sum_j p_j k(x, x_j)` for sample shares p (one over n, unless samples are
    weighted) and :math:`\mu_0 = \sum_j p_j \mu(x_j)`,

    .. math:: k_c(x, z) = k(x, z) - \mu(x) - \mu(z) + \mu_0, \qquad
              \sum_j a_j k_c(x, x_j) = \sum_j \tilde a_j\, \big(k(x, x_j) - \mu(x_j)\big), \quad
              \tilde a = a - \big(\textstyle\sum_j a_j\big)\, p,

    so coefficients that sum to zero, as they do with an intercept, need only their own support.
    """

    needs_all: ClassVar[bool] = True

    @staticmethod
    def learn(normalizers: Sequence[Any], stack: GramStack, share: Array) -> GramStack:
        """Learn the means, of all matrices at once."""
        means = stack.Ks @ share
        mean, power = means @ share, _diagonals(stack.Ks) @ share
        learned = zip(normalizers, power.tolist(), means, mean.tolist(), strict=True)
        for normalizer, *moments in learned:
            normalizer._learn(*moments)
        factors = np.array([normalizer.factor_ for normalizer in normalizers])
        return stack._replace(shifts=means - mean[:, np.newaxis] / 2, factors=factors)

    def fit_factor(self, Z: Array, share: Array) -> Array:
        """Learn the means, and subtract that of the rows."""
        mean = share @ Z
        means = Z @ mean
        self._learn(float(share @ row_squares(Z)), means, float(share @ means))
        return np.asarray((Z - mean) * np.sqrt(self.factor_))

    def _learn(self, power: float, means: Array, mean: float) -> None:
        """Learn from the mean diagonal of the training Gram matrix, its row means and its mean."""
        self.means_, self.mean_ = means, mean

    def transform(self, K: Array, share: Array, diag: Array | None = None) -> Array:
        """Subtract the means of training and of the queries against training."""
        row_means = K @ share
        K -= self.means_ - self.mean_
        K -= row_means[:, None]
        return np.multiply(K, self.factor_, out=K)

    def transform_among(self, K: Array, means: Array | None) -> Array:
        """Subtract the means of the queries against training: k − μ(z) − μ(z′) + μ₀."""
        shift = np.asarray(means) - self.mean_ / 2
        return np.asarray((K - shift - shift[:, None]) * self.factor_)

    def expand(self, A: Array, share: Array) -> tuple[Array, Array]:
        """Coefficients of zero sum, and the offset left by the training means."""
        A = (A - np.outer(share, coefficient_sums(A))) * self.factor_  # ã = a − (Σ a) p
        return A, -(self.means_ @ A)

    def self_similarity(self, diag: Array, means: Array | None) -> Array:
        """Squared distances of the queries to the training mean, in feature space."""
        return np.asarray((diag - 2 * np.asarray(means) + self.mean_) * self.factor_)

    def take(self, samples: NDArray[np.intp]) -> Self:
        """Keep the means of some training samples."""
        other = copy(self)
        other.means_ = self.means_[samples]
        return other


@dataclass(repr=False)
class Variance(Center):
    r"""Zero mean and unit variance in feature space: centre, then unit mean diagonal.

    A kernel that is constant on the training samples becomes the zero kernel (factor zero).
    """

    def _learn(self, power: float, means: Array, mean: float) -> None:
        super()._learn(power, means, mean)
        self.factor_ = _safe_inverse(feature_variance(power, mean))


NORMALIZERS: dict[str, type[Unnormalized]] = {
    "none": Unnormalized,
    "center": Center,
    "trace": Trace,
    "cosine": UnitDiagonal,
    "variance": Variance,
}


def make_normalizer(normalize: str | None) -> Unnormalized:
    """A fresh normalisation for one kernel from its name."""
    name = "none" if normalize is None else normalize
    if name not in NORMALIZERS:
        known = ", ".join(map(repr, NORMALIZERS))
        raise ValueError(f"normalize={normalize!r} is not known; choose None or one of: {known}.")
    return NORMALIZERS[name]()


def feature_variance(power: float, mean: float) -> float:
    """The mean diagonal of a centred Gram matrix, from that of the matrix and from its mean.

    Zero where it is nothing but rounding.
    """
    variance = power - mean
    return variance if variance > _ROUNDING * abs(power) else 0.0


def coefficient_sums(A: Array) -> Array:
    """Column sums, with sums at rounding level set to exactly zero."""
    sums = A.sum(axis=0)
    return np.where(np.abs(sums) > 1e-10 * np.abs(A).sum(axis=0), sums, 0.0)


def sample_shares(sample_weight: Any, n_samples: int) -> Array:
    """Sample weights that sum to one; equal shares for None."""
    if sample_weight is None:
        return np.full(n_samples, 1.0 / n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,) or not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError(
            f"sample_weight must be {n_samples} non-negative numbers, got shape {weight.shape}."
        )
    if not weight.any():
        raise ValueError("sample_weight must not be zero for all samples.")
    return np.asarray(weight / weight.sum())


def _diagonals(Ks: Array) -> Array:
    """The diagonals of a stack of matrices, shape (k, n)."""
    return np.diagonal(Ks, axis1=1, axis2=2)


def _safe_inverse(scale: float) -> float:
    """One over a positive scale; zero, not infinity, for a kernel without variation."""
    return 1.0 / scale if scale > 0 else 0.0


def _inverse_root(diag: Array) -> Array:
    """One over the root of a diagonal, zero where it is not positive."""
    roots = np.sqrt(np.maximum(diag, 0.0))
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
