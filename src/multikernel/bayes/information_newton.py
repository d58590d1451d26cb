"""Newton's method with the average information, for evidence and variational bounds."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Evaluation
from .mackay import MacKay
from .method import Method
from .sites import refitted_sites, with_noise
from .weight_step import moving, newton_weights

_FAR = 0.02  # |d g| per target above which the fixed point is the faster step
_ROUNDING = 1e-13  # a rise of the objective this small, relative to it, is none


@dataclass(repr=False)
class InformationNewton(Method):
    """Newton steps with the average information, safeguarded by the fixed point.

    Weights are kept nonnegative by an active set, so that kernels leave and come back.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, InformationNewton
    >>> from multikernel.likelihoods import Gaussian
    >>> x = np.linspace(-1, 1, 20)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> y = 3 * x[:, np.newaxis] + 0.3 * np.cos(40 * x[:, np.newaxis])
    >>> found = InformationNewton().infer(BayesProblem(bank, y, Gaussian()))
    >>> found.converged, found.weights.round(1).tolist()
    (True, [9.0, 0.0])
    """

    def _step(self, e: Evaluation) -> Evaluation:
        problem = e.problem
        if moving(e) > _FAR:
            return MacKay()._step(e)
        learn_noise = problem.likelihood.is_gaussian and problem.learn_likelihood
        d, noise = newton_weights(e, learn_noise)
        state = with_noise(problem, e.state, noise) if learn_noise else e.state
        if not problem.likelihood.is_gaussian:
            state = refitted_sites(e)
        for trial in (state._replace(d=d), state._replace(d=0.5 * (d + e.state.d))):
            new = Evaluation(problem, trial)
            if new.trial_value <= e.value + _ROUNDING * abs(e.value):
                return new
        return MacKay()._step(e)
