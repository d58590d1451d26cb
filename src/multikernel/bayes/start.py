"""Where inference starts: half of the variance for the kernels, half for the noise."""

from __future__ import annotations

import numpy as np

from .._component import Array
from .base import BayesProblem, State
from .sites import noise_of, with_noise


def first_state(problem: BayesProblem, noise: float = 1.0) -> State:
    r"""Equal shares of half the variance for all kernels; the other half is noise, where learned.

    Parameters
    ----------
    problem : BayesProblem
    noise : float, default=1.0
        Factor on the variance of the noise where that is learned.

    Returns
    -------
    state : State

    Notes
    -----
    :math:`d_m = v / (2 M\,\overline{\operatorname{diag} K_m})`, with v the variance of the targets
    under Gaussian noise, and 2.2 squared median deviations under noise with heavier tails. Labels
    have no units, and v is 2.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, first_state
    >>> from multikernel.likelihoods import Gaussian
    >>> bank = PackedBank.from_grams([np.eye(4), 5 * np.eye(4)])
    >>> y = np.array([[-2.0], [2.0], [2.0], [-2.0]])
    >>> start = first_state(BayesProblem(bank, y, Gaussian()))
    >>> start.d.tolist(), start.likelihood
    ([1.0, 0.2], Gaussian(noise_var=2.0))
    """
    likelihood, M = problem.likelihood, problem.bank.n_kernels
    if likelihood.y_domain == "sign":
        site_var = likelihood.site_var(np.ones(problem.y.shape))
        return State(1.0 / (M * problem.kernel_scales), likelihood, np.asarray(site_var))
    middle = np.mean if likelihood.is_gaussian else np.median
    centred = problem.y - middle(problem.y, axis=0)
    variance = _variance(centred, robust=not likelihood.is_gaussian)
    variance = variance or float(np.mean(problem.y**2)) or 1.0
    x = 0.5 * (centred**2 + variance)
    if problem.learn_likelihood:
        x = noise * x
        likelihood = likelihood.learned(x / 2)
    d = 0.5 * variance / (M * problem.kernel_scales)
    state = State(d, likelihood, np.asarray(likelihood.site_var(x)))
    if problem.learn_likelihood and likelihood.is_gaussian:
        return with_noise(problem, state, noise_of(likelihood))  # kept away from zero
    return state


def _variance(centred: Array, robust: bool) -> float:
    """The variance of centred targets, from their median deviation if robust and not zero."""
    deviation = 1.4826 * float(np.median(np.abs(centred))) if robust else 0.0
    return deviation**2 or float(np.mean(centred**2))
