r"""The mode of the latent values for fixed weights: the inner minimum of joint MAP and MKL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array
from .._warnings import warn
from ..likelihoods import Likelihood
from ..regularizers import Uniform
from ..solvers import Problem
from ..solvers.fixed_weights import Start, fit_fixed_weights
from .base import BayesProblem
from .marginal import Marginal

_GAP = 1e-14
_SETTLED = 1e-13  # change of the latent values, relative to them and the targets
_MAX_ITER = 5000


class Mode(NamedTuple):
    r"""Latent values :math:`z = K \alpha + b \mathbf 1` that minimise, and what they are made of.

    W is half the second derivatives of :math:`-2 \ln P` at the mode, or those of the quadratic
    above it where they may be negative.
    """

    z: Array  # (n, n_outputs), as are alpha and W
    alpha: Array
    b: Array  # (n_outputs,)
    W: Array

    @property
    def norm(self) -> float:
        r"""The form :math:`\alpha^\top K \alpha`, summed over outputs."""
        return float(np.sum(self.alpha * (self.z - self.b)))


def latent_mode(problem: BayesProblem, K: Array, start: Start | None = None) -> Mode:
    r"""The minimiser of :math:`\alpha^\top K \alpha - 2 \ln P(y | K \alpha + b)`.

    Parameters
    ----------
    problem : BayesProblem
        Of its parts, targets, likelihood and intercept.
    K : array of shape (n, n)
        The combined kernel, which may be singular.
    start : Start, optional
        Coefficients and intercepts to start from.

    Notes
    -----
    The global minimiser of a log-concave likelihood, by the convex solvers. Of others a local one,
    by Newton steps where they lower the value and reweighted least squares, which always do,
    where not; by default from the fit with all weights equal.
    """
    if problem.likelihood.log_concave:
        return _convex_mode(problem, K, start)
    output = partial(_Output, K=K, likelihood=problem.likelihood, intercept=problem.fit_intercept)
    if start is None:
        firsts = [np.zeros_like(y) for y in problem.y.T]  # s² = 0: all weights equal
    else:
        residuals = K @ start.alpha + start.b - problem.likelihood.center(problem.y)
        firsts = [*(residuals**2).T]
    modes = [output(y=y).minimise(x) for y, x in zip(problem.y.T, firsts, strict=True)]
    return Mode(*(np.stack(part, axis=-1) for part in zip(*modes, strict=True)))


def _convex_mode(problem: BayesProblem, K: Array, start: Start | None) -> Mode:
    loss, factor = problem.likelihood.convex_loss()
    a = problem.likelihood.latent_scale  # the loss sees f = a u, with kernel a² K
    convex = Problem(problem.bank, problem.y, loss, Uniform(), factor / 2, problem.fit_intercept)
    scaled = None if start is None else Start(start.alpha / a, start.b * a)
    machine = fit_fixed_weights(convex, a**2 * K, _GAP, scaled)
    W = machine.curvature.times(np.ones((*problem.y.shape, 1)))[:, :, 0]
    return Mode((machine.f + machine.b) / a, a * machine.alpha, machine.b / a, a**2 * W)


@dataclass(frozen=True)
class _Output:
    """The problem of one output under a likelihood that is not log-concave."""

    K: Array
    y: Array
    likelihood: Likelihood
    intercept: bool

    def value(self, mode: Mode) -> float:
        return mode.norm + float(np.sum(self.likelihood.value(self.y, mode.z)))

    def minimise(self, x: Array) -> Mode:
        """A local minimiser, from squared residuals x."""
        mode = self._reweighted(x)
        for _ in range(_MAX_ITER):
            new = self._newton(mode)
            if not self.value(new) < self.value(mode):
                new = self._reweighted((mode.z - self.likelihood.center(self.y)) ** 2)
            step, mode = float(np.max(np.abs(new.z - mode.z))), new
            if step <= _SETTLED * float(np.max(np.abs(mode.z)) + np.max(np.abs(self.y))):
                return mode
        warn(
            f"the mode under {self.likelihood!r} had not settled after {_MAX_ITER} steps; the last "
            f"moved a latent value by {step:.1e}.",
            ConvergenceWarning,
        )
        return mode

    def _reweighted(self, x: Array) -> Mode:
        """One step of reweighted least squares, from squared residuals x."""
        gamma = np.asarray(self.likelihood.site_var(x))  # γ = 1/ρ'(s²)
        targets = self.likelihood.center(self.y) + gamma * self.likelihood.slope(
            self.y
        )  # ŷ = c + Γβ
        marginal = Marginal(self.K.copy(), gamma, targets[:, np.newaxis], self.intercept)
        alpha = marginal.alpha[:, 0]
        return Mode(targets - gamma * alpha, alpha, marginal.intercept[0], 1 / gamma)  # z = ŷ − Γα

    def _newton(self, at: Mode) -> Mode:
        """One Newton step for α = −½ℓ'(Kα + b), with curvatures of either sign."""
        W, n = 0.5 * self.likelihood.hessian(self.y, at.z), len(self.y)
        A = np.eye(n + self.intercept)
        A[:n, :n] += W[:, np.newaxis] * self.K  # (I + WK) α + W1b = Wz − ½ℓ'
        right = np.zeros(len(A))
        right[:n] = W * at.z - 0.5 * self.likelihood.gradient(self.y, at.z)
        if self.intercept:
            A[:n, n], A[n, :n], A[n, n] = W, 1.0, 0.0  # 1ᵀα = 0
        try:
            solution = np.linalg.solve(A, right)
        except np.linalg.LinAlgError:
            return at
        alpha, b = solution[:n], solution[n] if self.intercept else at.b
        z = self.K @ alpha + b
        return Mode(z, alpha, b, self._above(z))

    def _above(self, z: Array) -> Array:
        """Half the curvatures 2/γ of the quadratics that touch at z."""
        return np.asarray(self.likelihood.rho_prime((z - self.likelihood.center(self.y)) ** 2))
