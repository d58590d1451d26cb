"""The Gaussian marginal of targets: what evidence, bounds and weight updates are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .._component import Array
from .._linalg import mirror


@dataclass(frozen=True)
class Marginal:
    r"""The Gaussian :math:`N(b \mathbf 1, C)`, :math:`C = K + \mathrm{diag}(\gamma)`, of targets.

    Parameters
    ----------
    K : array of shape (n, n)
        The combined kernel; overwritten.
    site_var : array of shape (n,)
        The noise variance of every target.
    targets : array of shape (n, n_outputs)
        Outputs that share the covariance.
    fit_intercept : bool
        Whether a constant b with a flat prior is integrated out, separately for every output.

    Notes
    -----
    With an intercept :math:`C^{-1}` is replaced by its projection

    .. math:: P = C^{-1} - \frac{C^{-1} \mathbf{11}^\top C^{-1}}{\mathbf 1^\top C^{-1} \mathbf 1},

    and :math:`\ln|C|` grows by :math:`\ln(\mathbf 1^\top C^{-1} \mathbf 1) - \ln n`: the likelihood
    of contrasts (REML).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.bayes import Marginal
    >>> marginal = Marginal(np.eye(2), np.ones(2), np.array([[1.0], [3.0]]), fit_intercept=True)
    >>> marginal.intercept, marginal.alpha.ravel(), round(marginal.quadratic, 6)
    (array([2.]), array([-0.5,  0.5]), 1.0)
    """

    K: Array
    site_var: Array
    targets: Array
    fit_intercept: bool

    @cached_property
    def factor(self) -> Array:
        """The lower Cholesky factor of C, in column order."""
        C = self.K.T  # symmetric, so that the transpose is the same matrix in column order
        C[np.diag_indices_from(C)] += self.site_var
        L, failed = dpotrf(C, lower=True, clean=False, overwrite_a=True)
        if failed:
            raise LinAlgError(
                "the covariance K(d) + noise is not positive definite in the precision of the "
                "kernels; store them with dtype='float64', or give a larger noise variance or "
                "jitter."
            )
        return np.asarray(L)

    def solve(self, B: Array) -> Array:
        r"""The product :math:`C^{-1} B`."""
        return np.asarray(dpotrs(self.factor, B, lower=True)[0])

    @cached_property
    def ones(self) -> Array:
        r"""The vector :math:`C^{-1} \mathbf 1`."""
        return self.solve(np.ones((len(self.site_var), 1)))[:, 0]

    @cached_property
    def precision_of_constant(self) -> float:
        r"""The inverse variance :math:`\mathbf 1^\top C^{-1} \mathbf 1` of the intercept."""
        return float(self.ones.sum())

    @cached_property
    def intercept(self) -> Array:
        """The posterior means of the intercepts, shape (n_outputs,)."""
        if not self.fit_intercept:
            return np.zeros(self.targets.shape[1])
        return np.asarray(self.ones @ self.targets / self.precision_of_constant)

    @cached_property
    def alpha(self) -> Array:
        r"""The coefficients :math:`P y`, shape (n, n_outputs)."""
        return self.solve(self.targets - self.intercept)

    @cached_property
    def quadratic(self) -> float:
        r"""The form :math:`y^\top P y`, summed over outputs."""
        return float(np.sum(self.targets * self.alpha))

    @cached_property
    def log_det(self) -> float:
        r"""The logarithm of the determinant, of one output."""
        log_det = 2 * float(np.sum(np.log(np.diag(self.factor))))
        if self.fit_intercept:
            log_det += float(np.log(self.precision_of_constant / len(self.site_var)))
        return log_det

    @cached_property
    def P(self) -> Array:
        """The inverse or projected inverse, shape (n, n)."""
        P: Array = mirror(dpotri(self.factor, lower=True)[0])
        if self.fit_intercept:
            v = self.ones / np.sqrt(self.precision_of_constant)
            dger(-1.0, v, v, a=P, overwrite_a=True)  # P − C⁻¹11ᵀC⁻¹ / 1ᵀC⁻¹1
        return P
