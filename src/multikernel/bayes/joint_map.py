"""The joint mode of weights and latent values, which exists only with jitter or a hyper-prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Component
from .._warnings import warn
from .base import BayesProblem, Inference, Record, State
from .mode_evaluation import ModeEvaluation
from .mode_posterior import mode_posterior
from .start import first_state

_COLLAPSED = 1e-3  # share of the jitter below which the variance of the kernels is none
_VANISHING = 1e-12  # weight, relative to unit variance, at which hyper-priors show their pull


class CollapseWarning(UserWarning):
    """The joint mode has all its weights at zero: the jitter is all that is left of the prior."""


@dataclass(repr=False)
class JointMAP(Component):
    r"""The most probable weights and latent values together: a local optimum that may collapse.

    Parameters
    ----------
    jitter : float, default=0.0
        The variance :math:`\varepsilon` of a white part of the latent values. It is a parameter of
        the model, not a numerical aid: the smaller it is, the better are weights of zero. Zero is
        refused unless the hyper-prior keeps the weights away from zero.
    tol : float, default=1e-6
    max_iter : int, default=500

    Notes
    -----
    .. math:: \phi_{MAP}(d) = \min_{u, b} u^\top K^{-1} u - 2 \ln P(y|u + b) + \ln|K|, \qquad
              K = \varepsilon I + \textstyle\sum_m d_m K_m

    ([NS11]_, Eq. (4)). Scaling all kernels by :math:`e^\eta` changes it at the rate
    :math:`n - u^\top K^{-1} u`. For the logistic likelihood the second term never exceeds
    0.2785 n, for Gaussian noise :math:`\|y\|^2/(4\sigma^2)`, for Laplace noise
    :math:`\tau \|y\|_1`: without jitter the objective falls without bound as the weights vanish.
    Every round refits the tangent :math:`\operatorname{tr}(K^{-1} K_m)` of the log-determinant and
    takes a Newton step over nonnegative weights, so that kernels leave and come back; the
    objective never rises. Parameters of the likelihood are not learned, as the objective has no
    minimum in, say, the noise variance.

    The posterior is the Laplace approximation at the mode (or the Gaussian bound that touches
    there, for Laplace and Student-t noise), with the jitter counted as noise: it is the posterior
    of the part of the latent values which has a covariance with other points. A new latent value
    would have the variance :math:`\varepsilon` on top; it is left out, as a likelihood whose noise
    was learned without jitter has that scatter in it already.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, JointMAP
    >>> from multikernel.likelihoods import Gaussian
    >>> x = np.linspace(-1, 1, 9)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> problem = BayesProblem(bank, 3 * x[:, np.newaxis], Gaussian(noise_var=0.1))
    >>> JointMAP(jitter=0.1).infer(problem).weights.round(2)
    array([8.92, 0.  ])
    """

    jitter: float = 0.0
    tol: float = 1e-6
    max_iter: int = 500

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"jitter": 0.1},)

    def infer(self, problem: BayesProblem, start: State | None = None) -> Inference:
        """Minimise the objective from the weights of a state, by default those of equal shares."""
        problem.check()
        self._check_bounded(problem)
        record = Record(problem)
        e = ModeEvaluation(problem, (start or first_state(problem)).d, self.jitter)
        record.add(e.value, e.stationarity)
        for _ in range(self.max_iter):
            better = e.next() if e.stationarity > self.tol else None
            if better is None:
                break
            e = better
            record.add(e.value, e.stationarity)
        self._warn(e, record.n_iter)
        return _conclude(e, record, self.tol)

    def _check_bounded(self, problem: BayesProblem) -> None:
        if not 0 <= self.jitter < np.inf:
            raise ValueError(
                f"JointMAP: jitter must be finite and not negative, got {self.jitter}."
            )
        d = _VANISHING / problem.kernel_scales
        pull = -float(d @ problem.hyper_prior.gradient(d))  # rise of −2 ln p(d) per ln of the scale
        if self.jitter == 0 and not pull > problem.y.size:
            raise ValueError(
                f"JointMAP needs jitter > 0 under {problem.hyper_prior!r}: as all weights shrink "
                "together, ln|K| falls by n per unit of the logarithm of their scale, and the fit "
                "pays for less than that, so that the objective has no minimum. Give a jitter on "
                "the scale of the latent variance, such as 0.1, use hyper_prior='inverse_gamma', "
                "or choose objective='vb'."
            )

    def _warn(self, e: ModeEvaluation, n_iter: int) -> None:
        variance = float(e.d @ e.problem.kernel_scales)
        if variance < _COLLAPSED * self.jitter:
            warn(
                f"JointMAP collapsed: the variance of all kernels is {variance:.1e} beside a "
                f"jitter of {self.jitter:.1e}, so that predictions are constant. This is where "
                "the objective is smallest; raise the jitter, or use objective='vb' or 'evidence'.",
                CollapseWarning,
            )
        if e.stationarity > self.tol:
            warn(
                f"JointMAP stopped after {n_iter} iterations with stationarity "
                f"{e.stationarity:.1e} > tol={self.tol:.1e}; raise max_iter or tol.",
                ConvergenceWarning,
            )


def _conclude(e: ModeEvaluation, record: Record, tol: float) -> Inference:
    problem, mode, history = e.problem, e.mode, record.history
    variance = float(e.d @ problem.kernel_scales) + e.jitter
    posterior = mode_posterior(
        problem.likelihood, problem.y, mode.z, mode.alpha, variance, e.jitter
    )
    return Inference(
        weights=e.d,
        likelihood=problem.likelihood,
        dual_coef=mode.alpha,
        intercept=mode.b,
        site_var=posterior.site_var,
        pseudo_targets=posterior.pseudo_targets,
        objective=e.value,
        stationarity=e.stationarity,
        n_iter=record.n_iter,
        converged=e.stationarity <= tol,
        n_passes=float(history["n_passes"][-1]),
        history=history,
        method=JointMAP.__name__,
    )
