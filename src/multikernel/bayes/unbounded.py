"""Weights that grow without bound: when the data do not tell their scale, and what to say then."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from .base import Evaluation
from .sites import refitted_sites

_FACTOR = 1e4  # by which weights are multiplied to see whether the objective minds
_FLAT = 0.1  # change of −2 ln p(y|d) that no one would call evidence
_IN_USE = 0.1  # degrees of freedom below which weights vanish rather than grow


def scale_complaint(e: Evaluation) -> str | None:
    r"""What to tell a user whose weights have no best scale; None where they have one.

    Parameters
    ----------
    e : Evaluation
        Where a method stopped before it had converged.

    Notes
    -----
    The best weights of separable classes, and of two samples, may be infinite: the bound of
    :math:`p(y|d)` then rises to its limit ever more slowly. Bounds are refitted at
    :math:`10^4 d`, and the two objectives compared.
    """
    if float(e.state.d @ e.t) < _IN_USE:
        return None
    # second moments of the latent values grow with the weights
    site_var = np.asarray(e.state.likelihood.site_var(_FACTOR * e.second_moments))
    far = Evaluation(e.problem, e.state._replace(d=_FACTOR * e.state.d, site_var=site_var))
    try:
        change = Evaluation(e.problem, refitted_sites(far)).value - e.value
    except LinAlgError:  # the kernels are not precise enough to tell
        return None
    if not abs(change) <= _FLAT:
        return None
    variance = float(e.state.d @ e.problem.kernel_scales)
    return (
        f"the weights grow without bound: the prior variance of the latent function is "
        f"{variance:.1e} by now, and weights {_FACTOR:,.0f} times as large would change the "
        f"objective by {change:+.1e} only. The data do not tell the scale of the weights, as where "
        "classes are separable or samples few; set hyper_prior='gamma', which does, or raise tol"
    )
