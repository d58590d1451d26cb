r"""The mode of the latent values for fixed weights: the inner minimum of joint MAP and MKL."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array
from ..banks import PackedBank
from ..likelihoods import Likelihood
from ..regularizers import Uniform
from ..solvers import Problem
from ..solvers.fixed_weights import fit_fixed_weights
from .marginal import Marginal

_GAP = 1e-14
_SETTLED = 1e-13  # change of the latent values, relative to them and the targets
_MAX_ITER = 5000


class Mode(NamedTuple):
    r"""Latent values :math:`u = K \alpha + b \mathbf 1` that minimise, and their coefficients."""

    u: Array
    alpha: Array

    @property
    def norm(self) -> float:
        r"""The form :math:`\alpha^\top K \alpha`, as :math:`\mathbf 1^\top \alpha = 0` or b = 0."""
        return float(np.sum(self.alpha * self.u))


def posterior_mode(K: Array, y: Array, likelihood: Likelihood, fit_intercept: bool) -> Mode:
    r"""The minimiser of :math:`\alpha^\top K \alpha - 2 \ln P(y | K \alpha + b)`.

    Parameters
    ----------
    K : array of shape (n, n)
        The combined kernel, which may be singular.
    y : array of shape (n, n_outputs)
    likelihood : Likelihood
    fit_intercept : bool
        Whether every output has a free constant b.

    Notes
    -----
    The global minimiser of a log-concave likelihood, by the convex solvers. Of others a local one,
    by Newton steps where they lower the value and reweighted least squares, which always do,
    where not, from the fit with all weights equal.
    """
    if likelihood.log_concave:
        return _convex_mode(K, y, likelihood, fit_intercept)
    modes = [_local_mode(K, t, likelihood, fit_intercept) for t in y.T]
    return Mode(*(np.column_stack(part) for part in zip(*modes, strict=True)))


def _convex_mode(K: Array, y: Array, likelihood: Likelihood, fit_intercept: bool) -> Mode:
    loss, factor = likelihood.convex_loss()
    a = likelihood.latent_scale  # the loss sees f = a u, with kernel a² K
    bank = PackedBank.from_grams([K])
    problem = Problem(bank, y, loss, Uniform(), factor / 2, fit_intercept)
    machine = fit_fixed_weights(problem, a**2 * K, _GAP)
    return Mode((machine.f + machine.b) / a, a * machine.alpha)


def _local_mode(K: Array, y: Array, likelihood: Likelihood, fit_intercept: bool) -> Mode:
    def value(mode: Mode) -> float:
        return mode.norm + float(np.sum(likelihood.value(y, mode.u)))

    mode = _reweighted(K, y, likelihood, fit_intercept, np.zeros_like(y))
    best = value(mode)
    for _ in range(_MAX_ITER):
        new = _newton(K, y, likelihood, fit_intercept, mode)
        if not value(new) < best:
            x = (mode.u - likelihood.center(y)) ** 2
            new = _reweighted(K, y, likelihood, fit_intercept, x)
        step = float(np.max(np.abs(new.u - mode.u)))
        mode, best = new, value(new)
        if step <= _SETTLED * float(np.max(np.abs(mode.u)) + np.max(np.abs(y))):
            return mode
    warnings.warn(
        f"the mode under {likelihood!r} had not settled after {_MAX_ITER} steps; the last moved "
        f"a latent value by {step:.1e}.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return mode


def _reweighted(K: Array, y: Array, likelihood: Likelihood, fit_intercept: bool, x: Array) -> Mode:
    """One step of reweighted least squares, from squared residuals x."""
    gamma = np.asarray(likelihood.site_var(x))  # γ = 1/ρ'(s²)
    targets = likelihood.center(y) + gamma * likelihood.slope(y)  # ŷ = c + Γβ
    alpha = Marginal(K.copy(), gamma, targets[:, np.newaxis], fit_intercept).alpha[:, 0]
    return Mode(targets - gamma * alpha, alpha)  # u = ŷ − Γα


def _newton(K: Array, y: Array, likelihood: Likelihood, fit_intercept: bool, at: Mode) -> Mode:
    """One Newton step for α = −½ℓ'(Kα + b), with curvatures of either sign."""
    W, n = likelihood.hessian(y, at.u), len(y)
    A = np.eye(n + fit_intercept)
    A[:n, :n] += 0.5 * W[:, np.newaxis] * K  # (I + ½WK) α + ½W1b = ½(Wu − ℓ')
    right = np.zeros(len(A))
    right[:n] = 0.5 * (W * at.u - likelihood.gradient(y, at.u))
    if fit_intercept:
        A[:n, n], A[n, :n], A[n, n] = 0.5 * W, 1.0, 0.0  # 1ᵀα = 0
    try:
        solution = np.linalg.solve(A, right)
    except np.linalg.LinAlgError:
        return at
    alpha = solution[:n]
    return Mode(K @ alpha + (solution[n] if fit_intercept else 0.0), alpha)
