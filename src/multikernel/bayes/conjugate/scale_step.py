"""The exact step along the direction in which the likelihood does not change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .model import Factors, Gamma, Model


def scale_step(q: Factors, model: Model) -> Factors:
    r"""Rescale sample weights against kernel weights to the maximum of the bound.

    Notes
    -----
    The likelihood is invariant to :math:`(a, G, \upsilon, \lambda; e, \omega) \to
    (ca, cG, \upsilon/c^2, \lambda/c^2; e/c, c^2\omega)`. With
    :math:`A = \sum\tilde\lambda/\beta_\lambda + \sum\tilde\upsilon/\beta_\upsilon`,
    :math:`B = \sum\tilde\omega/\beta_\omega` and :math:`k = \alpha_\lambda \#\lambda
    + \alpha_\upsilon \#\upsilon - \alpha_\omega \#\omega`, the best is

    .. math:: c^2 = \frac{2A}{k + \sqrt{k^2 + 4AB}}
    """
    p = model.priors
    A = q.lam.mean.sum() / p.beta_lambda + q.ups.mean.sum() / p.beta_upsilon
    B = q.omega.mean.sum() / p.beta_omega
    k = (
        p.alpha_lambda * q.lam.scale.size
        + p.alpha_upsilon * q.ups.scale.size
        - p.alpha_omega * q.omega.scale.size
    )
    root = float(np.hypot(k, 2 * np.sqrt(A * B)))
    c2 = 2 * A / (k + root) if k > 0 else (root - k) / (2 * B)
    return rescaled(q, float(np.sqrt(c2)))


def rescaled(q: Factors, c: float) -> Factors:
    """All factors with a and G times c and e divided by it."""
    D, n_weights = q.a.mean.shape[1], q.be.mean.size
    log_c, old = float(np.log(c)), q.a.made_with
    a = replace(
        q.a,
        mean=c * q.a.mean,
        var=c**2 * q.a.var,
        log_det=q.a.log_det + 2 * D * log_c,
        trace_q=c**2 * q.a.trace_q,
        Ka=c * q.a.Ka,
        X=None if q.a.X is None else c**2 * q.a.X,
        made_with=None if old is None else (old[0] / c**2, old[1] / c**2),
    )
    G = replace(
        q.G,
        mean=c * q.G.mean,
        spectrum=c**2 * q.G.spectrum,
        shared=None if q.G.shared is None else c**2 * q.G.shared,
    )
    be = replace(
        q.be,
        mean=q.be.mean / c,
        cov=q.be.cov / c**2,
        bias_cov=q.be.bias_cov / c,
        log_det=q.be.log_det - 2 * n_weights * log_c,
    )
    return replace(
        q,
        a=a,
        G=G,
        be=be,
        lam=Gamma(q.lam.shape, q.lam.scale / c**2),
        ups=Gamma(q.ups.shape, q.ups.scale / c**2),
        omega=Gamma(q.omega.shape, q.omega.scale * c**2),
    )
