"""The Gaussian posterior around a mode of the latent values, for joint MAP and MKL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._component import Array
from ..likelihoods import Likelihood

_NARROWEST, _WIDEST = 1e-10, 1e12  # of the variances, relative to that of the latent values


class ModePosterior(NamedTuple):
    """Variances and targets of the Gaussian model whose posterior mean is the mode."""

    site_var: Array  # (n, n_outputs)
    pseudo_targets: Array  # (n, n_outputs)


def mode_posterior(
    likelihood: Likelihood, y: Array, z: Array, alpha: Array, kernel_var: float, jitter: float = 0.0
) -> ModePosterior:
    r"""The Laplace approximation at the mode, or its Gaussian bound where that does not exist.

    Parameters
    ----------
    likelihood : Likelihood
    y, z, alpha : array of shape (n, n_outputs)
        Targets; latent values at the mode, intercepts included; their coefficients.
    kernel_var : float
        Typical prior variance of the latent values, to bound variances with.
    jitter : float, default=0.0
        Variance of the white part of the latent values. It counts as noise, so that the posterior
        is that of the part which has a value at new points.

    Notes
    -----
    :math:`\gamma_i = 2/\ell''(z_i)`; for likelihoods that are not log-concave or not smooth,
    :math:`1/\rho'(s_i^2)`, the widest Gaussian below the likelihood that touches it at the mode.
    With the jitter added, :math:`\hat y = z + \gamma\alpha` gives :math:`P\hat y = \alpha`.
    """
    if likelihood.log_concave and likelihood.convex_loss()[0].smooth:
        curvature = np.maximum(likelihood.hessian(y, z), 2 / (_WIDEST * kernel_var))
        gamma: Array = 2 / curvature
    else:
        gamma = likelihood.site_var((z - likelihood.center(y)) ** 2)
    gamma = np.clip(gamma, _NARROWEST * kernel_var, _WIDEST * kernel_var)
    # z = Kα + εα + b, so that ŷ − b = (K + ε + Γ) α
    return ModePosterior(gamma + jitter, np.asarray(z + gamma * alpha))
