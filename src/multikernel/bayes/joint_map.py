"""The joint mode of weights and latent values, which exists only with jitter or a hyper-prior."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array, Component
from ..regularizers import Uniform
from ..solvers import Problem
from ..solvers._curvature import DiagonalCurvature
from ..solvers.fixed_weights import Start, fit_fixed_weights
from .base import BayesProblem, Inference, Record, State
from .marginal import Marginal
from .method import first_state
from .mode_posterior import mode_posterior
from .schur_newton import constrained_newton

_MODE_GAP = 1e-13  # of the latent values for fixed weights
_MAX_REWEIGHTED = 500
_MAX_HALVINGS = 8
_ROUNDING = 1e-13  # a rise of the objective this small, relative to it, is none
_COLLAPSED = 1e-3  # share of the jitter below which the variance of the kernels is none
_VANISHING = 1e-12  # weight, relative to unit variance, at which hyper-priors show their pull
_PRUNE = 1e-10  # share of the jitter below which a falling weight is zero


class CollapseWarning(UserWarning):
    """The joint mode has all its weights at zero: the jitter is all that is left of the prior."""


class _Mode(NamedTuple):
    """Coefficients and intercepts of the latent values, and half their second derivatives."""

    alpha: Array
    b: Array
    W: Array


class ModeEvaluation:
    r"""The joint MAP objective at given weights, with its derivatives in them.

    Notes
    -----
    With :math:`K = \varepsilon I + \sum_m d_m K_m` and P its (projected) inverse, summed over
    outputs,

    .. math:: \phi_{MAP}(d) = \min_{u, b} u^\top K^{-1} u - 2 \ln P(y|u + b) + \ln|K|
              - 2 \ln p(d),

    whose derivatives are :math:`t_m - q_m` with :math:`t_m = \operatorname{tr}(P K_m)` and
    :math:`q_m = \alpha^\top K_m \alpha`, :math:`u = K\alpha`, plus those of the hyper-prior. With a
    flat constant :math:`\ln|K|` is that of contrasts.
    """

    def __init__(
        self, problem: BayesProblem, d: Array, jitter: float, start: Start | None = None
    ) -> None:
        self.problem, self.d, self.jitter, self._start = problem, d, jitter, start

    @cached_property
    def K(self) -> Array:
        """The combined kernel, jitter included."""
        K = self.problem.bank.combine(self.d)
        K[np.diag_indices_from(K)] += self.jitter
        return K

    @cached_property
    def _prior(self) -> Marginal:
        n = self.problem.bank.n_samples
        return Marginal(self.K.copy(), np.zeros(n), np.zeros((n, 1)), self.problem.fit_intercept)

    @cached_property
    def mode(self) -> _Mode:
        """The latent values at which the objective is smallest."""
        if self.problem.likelihood.log_concave:
            return self._convex_mode()
        return self._reweighted_mode()

    def _convex_mode(self) -> _Mode:
        problem, start = self.problem, self._start
        loss, factor = problem.likelihood.convex_loss()
        a = problem.likelihood.latent_scale  # the loss sees a·u, whose kernel is a²K
        machine_problem = Problem(
            problem.bank, problem.y, loss, Uniform(), factor / 2, problem.fit_intercept
        )
        scaled = None if start is None else Start(start.alpha / a, start.b * a)
        machine = fit_fixed_weights(machine_problem, a**2 * self.K, _MODE_GAP, scaled)
        W = machine.curvature.times(np.ones((*problem.y.shape, 1)))[:, :, 0]
        return _Mode(a * machine.alpha, machine.b / a, a**2 * W)

    def _reweighted_mode(self) -> _Mode:
        """Reweighted least squares, which never raise the objective: γ = 1/ρ'(s²)."""
        problem, likelihood = self.problem, self.problem.likelihood
        z = np.zeros_like(problem.y) + np.median(problem.y, axis=0) * problem.fit_intercept
        if self._start is not None:
            z = self.K @ self._start.alpha + self._start.b
        c, beta = likelihood.center(problem.y), likelihood.slope(problem.y)
        for _ in range(_MAX_REWEIGHTED):
            gamma = np.asarray(likelihood.site_var((z - c) ** 2))
            curvature = DiagonalCurvature(1 / gamma)
            system = curvature.system(self.K, problem.fit_intercept)
            solved, b = system.solve((c / gamma + beta)[:, :, np.newaxis])  # targets c + γβ
            alpha, last = solved[:, :, 0], z
            z = self.K @ alpha + b[:, 0]
            if np.max(np.abs(z - last)) <= _ROUNDING * np.max(np.abs(z)):
                break
        return _Mode(alpha, b[:, 0], 1 / gamma)

    @cached_property
    def z(self) -> Array:
        """The latent values at the mode, intercepts included."""
        return np.asarray(self.K @ self.mode.alpha + self.mode.b)

    @cached_property
    def value(self) -> float:
        """The objective, hyper-prior included, on the −2 ln scale."""
        problem, (alpha, b, _) = self.problem, self.mode
        loss = np.sum(problem.likelihood.value(problem.y, self.z))
        volume = problem.y.shape[1] * self._prior.log_det
        penalty = problem.hyper_prior.value(self.d)
        return float(np.sum(alpha * (self.z - b)) + loss + volume + penalty)

    @cached_property
    def t(self) -> Array:
        r"""The traces :math:`\operatorname{tr}(P K_m)`, summed over outputs."""
        traces = self.problem.bank.traces(self._prior.P)
        return np.asarray(np.maximum(self.problem.y.shape[1] * traces, 0.0))

    @cached_property
    def products(self) -> Array:
        r"""The vectors :math:`K_m \alpha`, shape (n, n_outputs, M)."""
        return np.moveaxis(self.problem.bank.apply(self.mode.alpha), 0, 2)

    @cached_property
    def q(self) -> Array:
        r"""The forms :math:`\alpha^\top K_m \alpha`, summed over outputs."""
        return np.maximum(np.tensordot(self.mode.alpha, self.products, axes=2), 0.0)

    @cached_property
    def gradient(self) -> Array:
        """The derivatives in the weights, hyper-prior included."""
        return self.t - self.q + self.problem.hyper_prior.gradient(self.d)

    @property
    def stationarity(self) -> float:
        """The largest |d_m g_m| per target, and relative excess of q over t at zero weights."""
        d, g = self.d, self.gradient
        wanting = np.divide(np.maximum(-g, 0.0), self.t, out=np.zeros_like(d), where=self.t > 0)
        return float(np.max(np.where(d > 0, np.abs(d * g) / self.problem.y.size, wanting)))

    def at(self, d: Array, alpha: Array, b: Array) -> ModeEvaluation:
        """The evaluation at other weights, whose mode is sought from given coefficients."""
        return ModeEvaluation(self.problem, d, self.jitter, Start(alpha, b))

    def newton_trials(self) -> list[ModeEvaluation]:
        r"""Points on the way to the minimum of the quadratic model under the tangent of ln|K|.

        Its second derivatives are :math:`2 B^\top P_W B`, :math:`B = [K_m\alpha]`, with
        :math:`P_W` the projected inverse of :math:`K + W^{-1}`: those of the reduced objective
        without the negative ones of :math:`\ln|K|`. The coefficients follow the weights to first
        order, :math:`\delta_\alpha = -P_W B \delta_d`.
        """
        (alpha, b, W), B = self.mode, self.products
        curvature = DiagonalCurvature(W)
        system = curvature.system(self.K, self.problem.fit_intercept)
        PB, slopes_b = system.solve(curvature.times(B))
        H = 2 * np.tensordot(B, PB, axes=([0, 1], [0, 1]))
        prior = self.problem.hyper_prior
        d = constrained_newton(self.d, self.gradient, 0.5 * (H + H.T), prior, self.t + self.q)
        if prior.keeps_zeros:
            small = d * self.problem.kernel_scales < _PRUNE * self.jitter
            d = np.where(small & (self.gradient > 0), 0.0, d)
        step = d - self.d
        shares = 0.5 ** np.arange(_MAX_HALVINGS)
        return [
            self.at(self.d + s * step, alpha - s * (PB @ step), b - s * (slopes_b @ step))
            for s in shares
        ]

    def next(self) -> ModeEvaluation | None:
        r"""A better point, or None where rounding hides whether there is one.

        Where no Newton step helps, the minimiser of the separable bound, which never fails:
        :math:`d_m \sqrt{q_m/t_m}` without a hyper-prior.
        """
        limit = self.value + _ROUNDING * abs(self.value)
        for trial in self.newton_trials():
            if trial.value <= limit:
                return trial
        d = self.problem.hyper_prior.minimiser(self.d**2 * self.q, self.t)
        trial = self.at(d, self.mode.alpha, self.mode.b)
        return trial if trial.value < self.value else None


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
    there, for Laplace and Student-t noise), with the jitter counted as noise.

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
        for _ in range(self.max_iter):
            record.add(e.value, e.stationarity)
            better = e.next() if e.stationarity > self.tol else None
            if better is None:
                break
            e = better
        self._warn(e, len(record.rows))
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
            warnings.warn(
                f"JointMAP collapsed: the variance of all kernels is {variance:.1e} beside a "
                f"jitter of {self.jitter:.1e}, so that predictions are constant. This is where "
                "the objective is smallest; raise the jitter, or use objective='vb' or 'evidence'.",
                CollapseWarning,
                stacklevel=3,
            )
        if e.stationarity > self.tol:
            warnings.warn(
                f"JointMAP stopped after {n_iter} iterations with stationarity "
                f"{e.stationarity:.1e} > tol={self.tol:.1e}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _conclude(e: ModeEvaluation, record: Record, tol: float) -> Inference:
    problem, mode, history = e.problem, e.mode, record.history
    variance = float(e.d @ problem.kernel_scales) + e.jitter
    posterior = mode_posterior(problem.likelihood, problem.y, e.z, mode.alpha, variance, e.jitter)
    return Inference(
        weights=e.d,
        likelihood=problem.likelihood,
        dual_coef=mode.alpha,
        intercept=mode.b,
        site_var=posterior.site_var,
        pseudo_targets=posterior.pseudo_targets,
        objective=e.value,
        stationarity=e.stationarity,
        n_iter=len(record.rows),
        converged=e.stationarity <= tol,
        n_passes=float(history["n_passes"][-1]),
        history=history,
        method=JointMAP.__name__,
    )
