r"""The objectives of probabilistic kernel learning as functions of the weights.

Notation: θ in [NS11] is ``d`` here. All are on the :math:`-2 \ln` scale with all constants, unless
said otherwise, for a latent :math:`u \sim N(b \mathbf 1, K)`, :math:`K = \sum_m d_m K_m`, with
targets of shape (n,) or (n, n_outputs) and without hyper-priors. Where ``fit_intercept`` is true,
b has a flat prior: inverses of a covariance become projections, its :math:`\ln|\cdot|` that of
contrasts (see :class:`~multikernel.bayes.Marginal`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array
from .._warnings import warn
from ..banks import Bank
from ..likelihoods import Likelihood
from .base import BayesProblem, Evaluation, State
from .latent_mode import Mode, latent_mode
from .marginal import Marginal
from .sites import noise_of

_SETTLED = 1e-12  # change of the logarithm of a variance
_MAX_SWEEPS = 20_000
_SINGULAR = 1e-13  # smallest pivot of a nonsingular matrix, relative to its mean diagonal


class Objective(NamedTuple):
    """The value of an objective and its gradient in the weights."""

    value: float
    gradient: Array
    error: float = 0.0  # standard error of the value where it is sampled


def phi_vb(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    fit_intercept: bool = False,
    site_var: Array | None = None,
) -> Objective:
    r"""The variational bound of the evidence, with the best Gaussian bounds of the likelihood.

    Parameters
    ----------
    bank : Bank
    y : array of shape (n,) or (n, n_outputs)
    likelihood : Likelihood
    d : array of shape (n_kernels,)
        Nonnegative weights.
    fit_intercept : bool, default=False
    site_var : array of shape (n, n_outputs), default=None
        Variances of the Gaussian bounds to start from.

    Notes
    -----
    :math:`\phi_{VB}(d) = \min_\gamma \psi_{VB}(d, \gamma) \ge \phi_{MLM}(d)`, by the monotone
    updates :math:`\gamma_i \leftarrow 1/\rho'(s_i^2 + V_{ii})`; at the minimum the gradient in d
    is that of :math:`\psi_{VB}` ([NS11]_, Section 2.3).
    """
    e = best_bounds(bank, y, likelihood, d, fit_intercept=fit_intercept, site_var=site_var)
    return Objective(e.value, e.gradient)


def best_bounds(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    fit_intercept: bool = False,
    site_var: Array | None = None,
    tol: float = _SETTLED,
) -> Evaluation:
    """The evaluation at which the variational bound is smallest for these weights.

    Variances settle to ``tol`` of themselves, and the value to about its square.
    """
    problem = BayesProblem(bank, as_columns(y), likelihood, fit_intercept, learn_likelihood=False)
    d = np.asarray(d, dtype=float)
    if site_var is None:
        x = np.diag(bank.combine(d))[:, np.newaxis] + np.full(problem.y.shape, np.var(problem.y))
        site_var = likelihood.site_var(np.maximum(x, np.finfo(float).tiny))
    e = Evaluation(problem, State(d, likelihood, np.asarray(site_var)))
    for _ in range(_MAX_SWEEPS):
        x = np.maximum(e.second_moments, np.finfo(float).tiny)  # s² + V
        gamma = np.asarray(likelihood.site_var(x))
        change = float(np.max(np.abs(np.log(gamma / e.state.site_var))))
        if change <= tol:
            return e
        e = Evaluation(problem, e.state._replace(site_var=gamma))
    warn(
        f"phi_vb: the bounds had not settled after {_MAX_SWEEPS} sweeps; the last changed a "
        f"variance by {change:.1e} of itself.",
        ConvergenceWarning,
    )
    return e


def phi_map(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    jitter: float,
    fit_intercept: bool = False,
) -> Objective:
    r"""The joint mode of latent values and weights, which bounds nothing and likes to collapse.

    Parameters
    ----------
    bank : Bank
    y : array of shape (n,) or (n, n_outputs)
    likelihood : Likelihood
    d : array of shape (n_kernels,)
        Nonnegative weights.
    jitter : float
        The :math:`\varepsilon` added to the diagonal of the combined kernel: a parameter of the
        model, as :math:`\ln|K|` has no lower bound without it.
    fit_intercept : bool, default=False

    Notes
    -----
    With :math:`K = \varepsilon I + \sum_m d_m K_m`,

    .. math:: \phi_{MAP}(d) = \min_u u^\top K^{-1} u - 2 \ln P(y|u) + \ln|K|

    ([NS11]_, Eq. (4)). For the logistic likelihood without jitter it falls without end as the
    weights shrink together, whatever the data.
    """
    Y = as_columns(y)
    K, prior = prior_marginal(bank, d, jitter, Y, fit_intercept)
    mode = latent_mode(BayesProblem(bank, Y, likelihood, fit_intercept), K)
    gradient = Y.shape[1] * bank.traces(prior.P) - bank.quadratic(mode.alpha)  # t − q
    return Objective(mode_value(mode, Y, likelihood) + Y.shape[1] * prior.log_det, gradient)


def phi_mkl(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    lam: float,
    p: float = 1.0,
    fit_intercept: bool = False,
) -> Objective:
    r"""Penalised multiple kernel learning, convex in the weights for a log-concave likelihood.

    Parameters
    ----------
    bank : Bank
    y : array of shape (n,) or (n, n_outputs)
    likelihood : Likelihood
    d : array of shape (n_kernels,)
        Nonnegative weights.
    lam : float
        Strength :math:`\lambda` of the penalty.
    p : float, default=1.0
        Its power, at least 1.
    fit_intercept : bool, default=False

    Notes
    -----
    .. math:: \phi_{MKL}(d) = \min_u u^\top K^{-1} u - 2 \ln P(y|u) + \lambda \sum_m d_m^p

    ([NS11]_, Eq. (3)), with u in the range of K.
    """
    Y, d = as_columns(y), np.asarray(d, dtype=float)
    mode = latent_mode(BayesProblem(bank, Y, likelihood, fit_intercept), bank.combine(d))
    penalty, slope = _power_penalty(d, lam, p)
    value = mode_value(mode, Y, likelihood) + penalty
    return Objective(value, slope - bank.quadratic(mode.alpha))


def phi_gau(
    bank: Bank, y: Array, likelihood: Likelihood, d: Array, *, fit_intercept: bool = False
) -> Objective:
    r"""The evidence of Gaussian noise without its constant :math:`n \ln 2\pi`.

    Notes
    -----
    With :math:`S = \sigma^2 I + K`: :math:`\phi_{GAU}(d) = y^\top S^{-1} y + \ln|S|`
    ([NS11]_, Eq. (6)).
    """
    S, outputs = _gaussian_marginal("phi_gau", bank, y, likelihood, d, 0.0, fit_intercept)
    gradient = outputs * bank.traces(S.P) - bank.quadratic(S.alpha)  # t − q
    return Objective(S.quadratic + outputs * S.log_det, gradient)


def phi_map_gau(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    jitter: float,
    fit_intercept: bool = False,
) -> Objective:
    r"""Joint MAP of Gaussian noise without its constant :math:`n \ln 2\pi\sigma^2`.

    Notes
    -----
    With :math:`K = \varepsilon I + \sum_m d_m K_m`, :math:`S = \sigma^2 I + K`:
    :math:`\phi_{MAP/GAU}(d) = y^\top S^{-1} y + \ln|K|`.
    """
    S, outputs = _gaussian_marginal("phi_map_gau", bank, y, likelihood, d, jitter, fit_intercept)
    _, prior = prior_marginal(bank, d, jitter, as_columns(y), fit_intercept)
    gradient = outputs * bank.traces(prior.P) - bank.quadratic(S.alpha)
    return Objective(S.quadratic + outputs * prior.log_det, gradient)


def phi_rr(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    lam: float,
    p: float = 1.0,
    fit_intercept: bool = False,
) -> Objective:
    r"""Penalised kernel ridge regression: MKL of Gaussian noise without :math:`n \ln 2\pi\sigma^2`.

    Notes
    -----
    With :math:`S = \sigma^2 I + K`:
    :math:`\phi_{RR}(d) = y^\top S^{-1} y + \lambda \sum_m d_m^p`.
    """
    S, _ = _gaussian_marginal("phi_rr", bank, y, likelihood, d, 0.0, fit_intercept)
    penalty, slope = _power_penalty(np.asarray(d, dtype=float), lam, p)
    return Objective(S.quadratic + penalty, slope - bank.quadratic(S.alpha))


def as_columns(y: Array) -> Array:
    """Targets as an array of shape (n, n_outputs)."""
    y = np.asarray(y, dtype=float)
    return y[:, np.newaxis] if y.ndim == 1 else y


def noise_variance(name: str, likelihood: Likelihood) -> float:
    """The variance of Gaussian noise; a TypeError for other likelihoods."""
    if not likelihood.is_gaussian:
        raise TypeError(
            f"{name} is an objective of Gaussian noise, got {likelihood!r}; use phi_vb, phi_map or "
            "phi_mkl."
        )
    return noise_of(likelihood)


def _gaussian_marginal(
    name: str,
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    jitter: float,
    fit_intercept: bool,
) -> tuple[Marginal, int]:
    """The marginal of the targets, and the number of outputs."""
    Y = as_columns(y)
    noise = np.full(len(Y), noise_variance(name, likelihood) + jitter)
    marginal = Marginal(bank.combine(np.asarray(d, dtype=float)), noise, Y, fit_intercept)
    return marginal, Y.shape[1]


def prior_marginal(
    bank: Bank, d: Array, jitter: float, Y: Array, fit_intercept: bool
) -> tuple[Array, Marginal]:
    """The prior covariance and its marginal, which needs it to be nonsingular."""
    if not 0 <= jitter < np.inf:
        raise ValueError(f"jitter must be a finite number >= 0, got {jitter!r}.")
    K = bank.combine(np.asarray(d, dtype=float))
    K[np.diag_indices_from(K)] += jitter
    prior = Marginal(K.copy(), np.zeros(len(K)), Y, fit_intercept)
    if not _is_regular(prior, float(np.mean(np.diag(K)))):
        raise ValueError(
            f"the combined kernel is singular to rounding with jitter={jitter:g}; raise jitter, "
            "which is a parameter of the model."
        )
    return K, prior


def _is_regular(prior: Marginal, scale: float) -> bool:
    try:
        pivots = np.diag(prior.factor) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(np.min(pivots) > _SINGULAR * scale)


def mode_value(mode: Mode, Y: Array, likelihood: Likelihood) -> float:
    """The inner minimum of joint MAP and MKL, their terms in the weights left out."""
    return mode.norm + float(np.sum(likelihood.value(Y, mode.z)))  # uᵀK⁻¹u + ℓ(u)


def _power_penalty(d: Array, lam: float, p: float) -> tuple[float, Array]:
    if lam < 0 or p < 1:
        raise ValueError(f"the penalty needs lam >= 0 and p >= 1, got lam={lam}, p={p}.")
    return lam * float(np.sum(d**p)), lam * p * d ** (p - 1)
