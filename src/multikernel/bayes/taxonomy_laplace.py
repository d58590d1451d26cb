"""The Laplace approximation of the evidence, with a gradient that follows the mode."""

from __future__ import annotations

import numpy as np

from .._component import Array
from ..banks import Bank
from ..likelihoods import Likelihood
from .base import BayesProblem
from .latent_mode import Mode, latent_mode
from .taxonomy_objectives import Objective, as_columns, mode_value

_LOG_2PI = float(np.log(2 * np.pi))
_STEP = 1e-4  # of the differences that give third derivatives of a likelihood


def phi_laplace(
    bank: Bank, y: Array, likelihood: Likelihood, d: Array, *, fit_intercept: bool = False
) -> Objective:
    r"""The Laplace approximation of the evidence, exact for Gaussian noise and a bound of nothing.

    Notes
    -----
    At the mode, with :math:`\ell = -2 \ln P(y|u)` and :math:`W = \operatorname{diag} \ell''`,

    .. math:: \phi_{LA}(d) = \hat u^\top K^{-1} \hat u + \ell(\hat u) + \ln|I + \tfrac12 W K| .

    The gradient follows the mode, which takes third derivatives of the likelihood; they are
    differences of second ones. A likelihood with a kink, such as ``Laplace``, has none.
    """
    Y, K = as_columns(y), bank.combine(np.asarray(d, dtype=float))
    mode = latent_mode(BayesProblem(bank, Y, likelihood, fit_intercept), K)
    _check_curvature(likelihood, Y, mode)
    value, gradient = mode_value(mode, Y, likelihood), -bank.quadratic(mode.alpha)
    for o in range(Y.shape[1]):
        W, bend = _curvatures(likelihood, Y[:, o], mode.z[:, o])
        volume = _Volume(K, W, fit_intercept)
        moved = bank.apply(mode.alpha[:, o : o + 1])[:, :, 0].T  # K_m α, shape (n, M)
        value += volume.log_det
        # ∂ ln|·| = tr(P K_m) + Σ_i ½ V_ii ℓ'''_i ∂u_i
        gradient = (
            gradient
            + bank.traces(volume.P)
            + 0.5 * volume.variances * bend @ (volume.response(moved))
        )
    return Objective(value, gradient)


class _Volume:
    r"""The determinant of the Laplace approximation, and what its derivatives are made of.

    With :math:`M = \tfrac12 (I + \tfrac12 W K)^{-1} W`, which is :math:`(K + 2 W^{-1})^{-1}` and
    exists for W of either sign.
    """

    def __init__(self, K: Array, W: Array, fit_intercept: bool) -> None:
        B = np.eye(len(K)) + 0.5 * W[:, np.newaxis] * K
        self.log_det = float(np.linalg.slogdet(B)[1])
        M = np.linalg.solve(B, 0.5 * np.diag(W))
        self.M = 0.5 * (M + M.T)
        self.ones = self.M.sum(axis=1) if fit_intercept else np.zeros(len(K))  # M1
        self.total = float(self.ones.sum()) if fit_intercept else 1.0  # 1ᵀM1
        if fit_intercept:
            self.log_det += float(np.log(self.total / len(K))) - _LOG_2PI
        self.K, self.fit_intercept = K, fit_intercept

    @property
    def P(self) -> Array:
        """M, or its projection."""
        return np.asarray(self.M - np.outer(self.ones, self.ones / self.total))

    @property
    def variances(self) -> Array:
        """The posterior variances, those of the intercept included."""
        V = np.diag(self.K) - np.einsum("ij,jk,ki->i", self.K, self.M, self.K, optimize=True)
        if self.fit_intercept:
            V = V + (1 - self.K @ self.ones) ** 2 / self.total
        return np.asarray(V)

    def response(self, moved: Array) -> Array:
        r"""How the mode follows a change of :math:`K \alpha`, columns of shape (n, M)."""
        if self.fit_intercept:
            moved = moved - self.ones @ moved / self.total  # the intercept follows, too
        return np.asarray(moved - self.K @ (self.M @ moved))  # (I + ½KW)⁻¹


def _check_curvature(likelihood: Likelihood, Y: Array, mode: Mode) -> None:
    if likelihood.log_concave and not np.all(likelihood.hessian(Y, mode.z) > 0):
        raise TypeError(
            f"phi_laplace needs a likelihood with a second derivative, got {likelihood!r}; "
            "use phi_vb."
        )


def _curvatures(likelihood: Likelihood, y: Array, u: Array) -> tuple[Array, Array]:
    """Second and third derivatives of the loss, the latter by differences of fourth order."""
    W = likelihood.hessian(y, u)
    step = _STEP * (1 + np.abs(u))
    near = likelihood.hessian(y, u + step) - likelihood.hessian(y, u - step)
    far = likelihood.hessian(y, u + 2 * step) - likelihood.hessian(y, u - 2 * step)
    return W, (8 * near - far) / (12 * step)
