r"""Bayesian multiple kernel learning by conjugate variational inference ([G12]_).

.. math::
   a_i &\sim N(0, \lambda_i^{-1}), \quad g_i \sim N(K_i^\top a, \upsilon^{-1} I), \quad
   e_m \sim N(0, \omega_m^{-1}), \quad b \sim N(0, \gamma^{-1}), \\
   y_i &\sim N(e^\top g_i + b, \epsilon^{-1}),

with Gamma priors on all precisions. Kernel weights e may be negative: the model is an expansion
in kernels, not a covariance.
"""

from .design import Design
from .elbo import elbo, elbo_terms
from .fit import fit_conjugate
from .model import OUTPUTS, SPARSITIES, Factors, Model, Priors
from .posterior import ConjugatePosterior
from .prune import active_kernels, active_samples, contributions, kept_kernels
from .run import Schedule

__all__ = [
    "OUTPUTS",
    "SPARSITIES",
    "ConjugatePosterior",
    "Design",
    "Factors",
    "Model",
    "Priors",
    "Schedule",
    "active_kernels",
    "active_samples",
    "contributions",
    "elbo",
    "elbo_terms",
    "fit_conjugate",
    "kept_kernels",
]
