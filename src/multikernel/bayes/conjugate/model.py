r"""The conjugate model: its hyper-parameters, and the factors of the approximate posterior.

Notation: ``lam``, ``ups``, ``gam``, ``omega`` and ``eps`` are the precisions λ, υ, γ, ω and ε of
[G12]_; a, G, b and e are its sample weights, intermediate outputs, biases and kernel weights.
Gamma distributions have a shape and a *scale*, as in [G12]_.

Arrays carry three leading axes that broadcast against each other: ``L`` outputs, ``La`` sets of
sample weights and ``Le`` sets of kernel weights. Outputs that share kernel weights have La = L and
Le = 1; outputs that share sample weights have La = 1 and Le = L.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, Self

import numpy as np
from scipy.special import digamma

from ..._component import Array

Outputs = Literal["shared_weights", "shared_samples"]
Targets = Literal["real", "sign", "onehot"]
SPARSITIES = ("none", "kernels", "samples", "both")
OUTPUTS = ("shared_weights", "shared_samples")
_SPARSE = (1e-10, 1e10)  # shape and scale that let most weights vanish


@dataclass(frozen=True)
class Priors:
    r"""Shapes (alpha) and scales (beta) of the Gamma priors on all precisions, as in [G12]_.

    Parameters
    ----------
    alpha_lambda, beta_lambda : float, default=1
        Precisions of the sample weights; (1e-10, 1e10) lets most of them vanish.
    alpha_upsilon, beta_upsilon : float, default=1
        Precision of the intermediate outputs.
    alpha_gamma, beta_gamma : float, default=1
        Precisions of the biases.
    alpha_omega, beta_omega : float, default=1
        Precisions of the kernel weights; (1e-10, 1e10) lets most of them vanish.
    alpha_epsilon, beta_epsilon : float, default=1
        Precisions of the targets: inverse noise variances.

    Notes
    -----
    The mean of a precision is alpha times beta. Marginally a kernel weight has a Student
    distribution, :math:`p(e) \propto (1/\beta + e^2/2)^{-(\alpha + 1/2)}`, which tends to
    :math:`1/|e|` as :math:`\alpha \to 0`.

    Examples
    --------
    >>> Priors.for_sparsity("kernels").alpha_omega
    1e-10
    """

    alpha_lambda: float = 1.0
    beta_lambda: float = 1.0
    alpha_upsilon: float = 1.0
    beta_upsilon: float = 1.0
    alpha_gamma: float = 1.0
    beta_gamma: float = 1.0
    alpha_omega: float = 1.0
    beta_omega: float = 1.0
    alpha_epsilon: float = 1.0
    beta_epsilon: float = 1.0

    @classmethod
    def for_sparsity(cls, sparsity: str, **given: float) -> Self:
        """The priors behind a word: "none", "kernels", "samples" or "both"; given values win."""
        if sparsity not in SPARSITIES:
            raise ValueError(f"sparsity must be one of {SPARSITIES}, got {sparsity!r}.")
        chosen: dict[str, float] = {}
        if sparsity in ("samples", "both"):
            chosen["alpha_lambda"], chosen["beta_lambda"] = _SPARSE
        if sparsity in ("kernels", "both"):
            chosen["alpha_omega"], chosen["beta_omega"] = _SPARSE
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(given) - set(known)):
            raise ValueError(f"priors has no {unknown[0]!r}; it has: {', '.join(known)}.")
        return cls(**(chosen | given))

    def check(self) -> None:
        """Refuse shapes and scales that are not positive and finite."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not (np.isreal(value) and np.isfinite(value) and value > 0):
                raise ValueError(
                    f"priors: {field.name} must be a positive number, got {value!r}; use 1e-10 "
                    "for a shape near zero."
                )


@dataclass(frozen=True)
class Model:
    """What is assumed, besides the kernels and the targets.

    Parameters
    ----------
    priors : Priors
    outputs : {"shared_weights", "shared_samples"}
        Whether outputs share kernel weights, or sample weights and intermediate outputs.
    targets : {"real", "sign", "onehot"}
        Numbers with Gaussian noise; labels -1 and +1 per output with a probit likelihood; one
        class per sample with the multinomial probit likelihood.
    tied : bool
        One precision for all sample weights of an output instead of one each.
    structured : bool
        Keep the dependence between sample weights and intermediate outputs in the posterior.
    margin : float
        Of the probit likelihood: scores between -margin and +margin belong to no class.
    """

    priors: Priors = Priors()
    outputs: Outputs = "shared_weights"
    targets: Targets = "real"
    tied: bool = False
    structured: bool = False
    margin: float = 0.0


@dataclass(frozen=True)
class Gamma:
    """Independent Gamma factors of the same kind, by shape and scale."""

    shape: Array
    scale: Array

    @property
    def mean(self) -> Array:
        r"""The expectation :math:`\alpha \beta`."""
        return np.asarray(self.shape * self.scale)

    @property
    def log_mean(self) -> Array:
        r"""The expectation of the logarithm, :math:`\psi(\alpha) + \ln \beta`."""
        return np.asarray(digamma(self.shape) + np.log(self.scale))

    @property
    def inverse_mean(self) -> Array:
        r"""The expectation of the inverse, :math:`1 / (\beta (\alpha - 1))`."""
        excess = self.shape - 1
        infinite = np.full(excess.shape, np.inf)
        return np.asarray(np.divide(1.0, self.scale * excess, out=infinite, where=excess > 0))


@dataclass(frozen=True)
class SampleWeights:
    r"""The factor of the sample weights, :math:`q(a_o) = N(\tilde a_o, \Sigma_o)`.

    Attributes
    ----------
    mean : array of shape (La, D)
    var : array of shape (La, D) or (La, 1)
        The diagonals of the covariances; where precisions are tied, their sums.
    log_det : array of shape (La,)
        Of the covariances.
    trace_q : array of shape (La,)
        The traces of the covariances times Q.
    Ka : array of shape (La, M, n)
        The products of all kernels with the mean.
    X : array of shape (La, M, M) or None
        The traces :math:`\operatorname{tr}(K_m^\top \Sigma_o K_l)`, for the structured family.
    made_with : pair of arrays or None
        The precisions :math:`\lambda` and :math:`\upsilon` that the covariances were made with,
        where these may be older than the factors of the precisions.
    """

    mean: Array
    var: Array
    log_det: Array
    trace_q: Array
    Ka: Array
    X: Array | None = None
    made_with: tuple[Array, Array] | None = None

    @property
    def second(self) -> Array:
        """Expected squares of the weights, or their sums where precisions are tied."""
        if self.var.shape[1] < self.mean.shape[1]:
            return np.asarray(np.sum(self.mean**2, axis=1, keepdims=True) + self.var)
        return np.asarray(self.mean**2 + self.var)


@dataclass(frozen=True)
class Intermediate:
    r"""The factor of the intermediate outputs; all samples share one covariance.

    Attributes
    ----------
    mean : array of shape (La, M, n)
    basis : array of shape (M, M)
        Eigenvectors V of all covariances :math:`V \operatorname{diag}(s_o) V^\top`.
    spectrum : array of shape (La, M)
        Their eigenvalues :math:`s_o`, those of the covariance *given a* in the structured family.
    gain : array of shape (La, M) or None
        Eigenvalues of the matrix that leads from :math:`K_i^\top a` to the mean given a, in the
        structured family.
    shared : array of shape (La, M, M) or None
        What the uncertainty of a then adds to the sum over samples of the covariances.
    """

    mean: Array
    basis: Array
    spectrum: Array
    gain: Array | None = None
    shared: Array | None = None

    @property
    def log_det(self) -> Array:
        """Of the covariance of one sample, shape (La,)."""
        return np.asarray(np.sum(np.log(self.spectrum), axis=1))

    def spread(self) -> Array:
        """The traces of the covariances, summed over samples, shape (La,)."""
        spread = self.mean.shape[2] * self.spectrum.sum(axis=1)
        if self.shared is not None:
            spread = spread + np.trace(self.shared, axis1=1, axis2=2)
        return np.asarray(spread)

    def norms(self) -> Array:
        """The expected squared norms of all rows, shape (La, M)."""
        norms = np.sum(self.mean**2, axis=2) + self.mean.shape[2] * (
            self.spectrum @ self.basis.T**2
        )
        if self.shared is not None:
            norms = norms + np.diagonal(self.shared, axis1=1, axis2=2)
        return np.asarray(norms)

    def covariance_sum(self, weights: Array) -> Array:
        """The weighted sum over outputs of the covariances summed over samples, shape (M, M)."""
        s = self.mean.shape[2] * (weights @ self.spectrum)
        total = (self.basis * s) @ self.basis.T
        if self.shared is not None:
            total = total + np.tensordot(weights, self.shared, axes=1)
        return np.asarray(total)

    def inner(self, C: Array) -> Array:
        """The traces of C, shape (Le, M, M), times the summed covariances: shape (L,)."""
        rotated = np.sum(self.basis * (C @ self.basis), axis=1)  # diagonals of VᵀCV
        forms = self.mean.shape[2] * np.sum(rotated * self.spectrum, axis=1)
        if self.shared is not None:
            forms = forms + np.sum(C * self.shared, axis=(1, 2))
        return np.asarray(forms)


@dataclass(frozen=True)
class Weights:
    """The joint Gaussian factor of biases and kernel weights.

    Attributes
    ----------
    mean : array of shape (Le, M)
        Means of the kernel weights.
    cov : array of shape (Le, M, M)
    bias, bias_var : array of shape (L,)
    bias_cov : array of shape (L, M)
        Covariances of every bias with the kernel weights of its output.
    log_det : float
        Of the whole covariance.
    """

    mean: Array
    cov: Array
    bias: Array
    bias_var: Array
    bias_cov: Array
    log_det: float

    @property
    def second(self) -> Array:
        """The expected products of kernel weights, shape (Le, M, M)."""
        return self.mean[:, :, np.newaxis] * self.mean[:, np.newaxis, :] + self.cov

    @property
    def squares(self) -> Array:
        """The expected squares of kernel weights, shape (Le, M)."""
        return self.mean**2 + np.diagonal(self.cov, axis1=1, axis2=2)

    @property
    def bias_second(self) -> Array:
        """The expected squares of the biases, shape (L,)."""
        return self.bias**2 + self.bias_var

    @property
    def cross(self) -> Array:
        """The expected products of biases with kernel weights, shape (L, M)."""
        return self.bias[:, np.newaxis] * self.mean + self.bias_cov


@dataclass(frozen=True)
class Factors:
    """All factors of the approximate posterior.

    ``f`` holds the means of the latent scores behind labels, shape (L, n), or the targets where
    these are numbers; their factor follows from the others.
    """

    lam: Gamma
    ups: Gamma
    gam: Gamma
    omega: Gamma
    eps: Gamma
    a: SampleWeights
    G: Intermediate
    be: Weights
    f: Array

    @property
    def fitted(self) -> Array:
        """Posterior means of the predictor at the training samples, shape (L, n)."""
        Ge = (self.be.mean[:, np.newaxis, :] @ self.G.mean)[:, 0]
        return np.asarray(Ge + self.be.bias[:, np.newaxis])
