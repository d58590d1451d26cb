"""The exact evidence: in closed form for Gaussian noise, by sampling for a handful of samples."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, logsumexp, ndtri
from scipy.stats import chi2, qmc

from .._component import Array
from ..banks import Bank
from ..likelihoods import Likelihood
from .base import Evaluation
from .marginal import Marginal
from .taxonomy_objectives import Objective, as_columns, best_bounds, prior_marginal

MAX_SAMPLES = 8  # for which the integral is computed where it has no closed form
_LOG_2PI = float(np.log(2 * np.pi))
_N_REPLICATES = 8
_LOG2_POINTS = 13
_TAIL = 3.0  # degrees of freedom of the proposal
_INFLATION = 1.5  # of its covariance over that of the variational posterior


def phi_mlm(
    bank: Bank,
    y: Array,
    likelihood: Likelihood,
    d: Array,
    *,
    fit_intercept: bool = False,
    random_state: int = 0,
) -> Objective:
    r"""Minus twice the log evidence, which the other objectives stand in for.

    Parameters
    ----------
    bank : Bank
    y : array of shape (n,) or (n, n_outputs)
    likelihood : Likelihood
        Gaussian, or any for at most eight samples.
    d : array of shape (n_kernels,)
        Nonnegative weights; for other than Gaussian noise their kernel must be nonsingular.
    fit_intercept : bool, default=False
    random_state : int, default=0
        Of the points at which the integral is sampled.

    Returns
    -------
    objective : Objective
        With the standard error of the value, which is 0 for Gaussian noise.

    Notes
    -----
    .. math:: \phi_{MLM}(d) = -2 \ln \int N(u | b \mathbf 1, K)\, P(y|u)\, du, \qquad
              \frac{\partial \phi_{MLM}}{\partial d_m} = \operatorname{tr}(P K_m)
              - \mathbb E\big[u^\top P K_m P u \mid y\big]

    ([NS11]_, Eq. (5)). The integral is importance sampling with scrambled Sobol points from a
    Student distribution around the variational posterior; independent scramblings give the error.
    """
    Y = as_columns(y)
    if likelihood.is_gaussian:
        e = best_bounds(bank, Y, likelihood, d, fit_intercept=fit_intercept)
        return Objective(e.value, e.gradient)
    if len(Y) > MAX_SAMPLES:
        raise ValueError(
            f"phi_mlm samples at most {MAX_SAMPLES} latent values, got {len(Y)} under "
            f"{likelihood!r}; use phi_vb, which is an upper bound."
        )
    e = best_bounds(bank, Y, likelihood, d, fit_intercept=fit_intercept)
    _, prior = prior_marginal(bank, d, 0.0, Y, fit_intercept)
    parts = [_integrate(e, prior, o, random_state + o) for o in range(Y.shape[1])]
    value, gradient, error = zip(*parts, strict=True)
    return Objective(sum(value), np.sum(gradient, axis=0), float(np.linalg.norm(error)))


def _integrate(e: Evaluation, prior: Marginal, output: int, seed: int) -> Objective:
    """The integral of one output, its gradient and its error."""
    mean, cov = _posterior(e, output)
    estimates = [
        _replicate(e, prior, output, mean, cov, np.random.default_rng([seed, r]))
        for r in range(_N_REPLICATES)
    ]
    logs = np.array([log for log, _ in estimates])
    shares = np.exp(logs - logsumexp(logs))
    value = -2 * float(logsumexp(logs) - np.log(_N_REPLICATES))
    q = shares @ np.array([q for _, q in estimates])
    error = 2 * float(np.std(shares, ddof=1)) * np.sqrt(_N_REPLICATES)  # of −2 ln of the mean
    return Objective(value, e.problem.bank.traces(prior.P) - q, error)


def _posterior(e: Evaluation, output: int) -> tuple[Array, Array]:
    """The mean and covariance of the variational posterior of one output."""
    gamma = e.state.site_var[:, output]
    mean = e.pseudo_targets[:, output] - gamma * e.alpha[:, output]  # m = ŷ − Γα
    P = e.marginals[output if len(e.marginals) > 1 else 0].P
    return mean, np.diag(gamma) - gamma[:, np.newaxis] * P * gamma  # V = Γ − ΓPΓ


def _replicate(
    e: Evaluation,
    prior: Marginal,
    output: int,
    mean: Array,
    cov: Array,
    rng: np.random.Generator,
) -> tuple[float, Array]:
    """One estimate of the log integral, and of the expected quadratic forms."""
    U, log_proposal = _proposal(mean, cov, rng)
    n = len(mean)
    alpha = prior.solve(U)
    if prior.fit_intercept:
        alpha -= np.outer(prior.ones, prior.ones @ U / prior.precision_of_constant)
    log_prior = -0.5 * (np.sum(U * alpha, axis=0) + prior.log_det)
    log_prior -= 0.5 * (n - prior.fit_intercept) * _LOG_2PI
    y = e.problem.y[:, output : output + 1]
    log_weights = log_prior - 0.5 * np.sum(e.state.likelihood.value(y, U), axis=0) - log_proposal
    log_total = float(logsumexp(log_weights))
    weighted = alpha * np.exp(0.5 * (log_weights - log_total))  # Σ_s w_s α_s α_sᵀ = A Aᵀ
    return log_total - float(np.log(U.shape[1])), e.problem.bank.quadratic(weighted)


def _proposal(mean: Array, cov: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Points of shape (n, n_points) from a Student distribution, and their log-densities."""
    n = len(mean)
    L = np.linalg.cholesky(_INFLATION * cov)
    points = qmc.Sobol(n + 1, seed=rng).random_base2(_LOG2_POINTS)
    points = np.clip(points, np.finfo(float).tiny, 1 - np.finfo(float).eps)
    mixing = chi2.ppf(points[:, n], _TAIL) / _TAIL
    U = mean[:, np.newaxis] + L @ (ndtri(points[:, :n]).T / np.sqrt(mixing))
    x = np.sum(solve_triangular(L, U - mean[:, np.newaxis], lower=True) ** 2, axis=0)
    norm = gammaln((_TAIL + n) / 2) - gammaln(_TAIL / 2) - 0.5 * n * np.log(_TAIL * np.pi)
    density = norm - float(np.sum(np.log(np.diag(L)))) - 0.5 * (_TAIL + n) * np.log1p(x / _TAIL)
    return U, np.asarray(density)
