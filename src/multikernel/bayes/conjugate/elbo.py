"""The lower bound of the log evidence, exact, term by term."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

from ..._component import Array
from .model import Factors, Gamma, Model
from .probit import log_mass
from .updates import misfit, predictor_spread, residual

_LOG_2PI = float(np.log(2 * np.pi))


def elbo(q: Factors, model: Model, y: Array) -> float:
    """The bound at some factors, for targets y of shape (L, n).

    The factor of the latent scores behind labels is taken at its optimum.
    """
    return float(sum(elbo_terms(q, model, y).values()))


def elbo_terms(q: Factors, model: Model, y: Array) -> dict[str, float]:
    r"""The bound by groups of terms: precisions, expected log-densities, entropies."""
    p, n, M = model.priors, y.shape[1], q.G.mean.shape[1]
    D, n_weights = q.a.mean.shape[1], q.be.mean.size
    terms = {
        "lambda": gamma_terms(p.alpha_lambda, p.beta_lambda, q.lam),
        "upsilon": gamma_terms(p.alpha_upsilon, p.beta_upsilon, q.ups),
        "gamma": gamma_terms(p.alpha_gamma, p.beta_gamma, q.gam),
        "omega": gamma_terms(p.alpha_omega, p.beta_omega, q.omega),
    }
    n_each = D if model.tied else 1
    logs = n_each * (q.lam.log_mean - _LOG_2PI)
    terms["a"] = 0.5 * np.sum(logs - q.lam.mean * q.a.second)  # E ln N(a | 0, λ⁻¹)
    logs = n * M * (q.ups.log_mean - _LOG_2PI)
    terms["G"] = 0.5 * np.sum(logs - q.ups.mean * residual(q))  # E ln N(g | Kᵀa, υ⁻¹)
    terms["b"] = 0.5 * np.sum(q.gam.log_mean - _LOG_2PI - q.gam.mean * q.be.bias_second)
    terms["e"] = 0.5 * np.sum(q.omega.log_mean - _LOG_2PI - q.omega.mean * q.be.squares)
    terms["y"] = _target_terms(q, model, y)
    terms["entropy of a"] = 0.5 * np.sum(D * (1 + _LOG_2PI) + q.a.log_det)
    terms["entropy of G"] = 0.5 * n * np.sum(M * (1 + _LOG_2PI) + q.G.log_det)
    size = len(q.be.bias) + n_weights
    terms["entropy of b and e"] = 0.5 * (size * (1 + _LOG_2PI) + q.be.log_det)
    return terms


def gamma_terms(shape: float, scale: float, q: Gamma) -> float:
    """Expected log-density of the prior of precisions plus the entropy of their factors."""
    prior = (shape - 1) * q.log_mean - q.mean / scale - gammaln(shape) - shape * np.log(scale)
    entropy = q.shape + np.log(q.scale) + gammaln(q.shape) + (1 - q.shape) * digamma(q.shape)
    return float(np.sum(prior + entropy))


def _target_terms(q: Factors, model: Model, y: Array) -> float:
    """Expected log-likelihood of numbers with their noise, or of labels with their scores."""
    p, n = model.priors, y.shape[1]
    if model.targets == "real":
        logs = 0.5 * np.sum(n * (q.eps.log_mean - _LOG_2PI) - q.eps.mean * misfit(q))
        return float(logs + gamma_terms(p.alpha_epsilon, p.beta_epsilon, q.eps))
    mass = log_mass(q.fitted, y, model.targets, model.margin)
    return float(np.sum(mass) - 0.5 * np.sum(predictor_spread(q)))
