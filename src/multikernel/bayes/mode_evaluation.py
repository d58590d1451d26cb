"""The joint MAP objective at given weights, with its derivatives and steps that lower it."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._component import Array
from ..solvers._curvature import DiagonalCurvature
from ..solvers.fixed_weights import Start
from .base import BayesProblem
from .latent_mode import Mode, latent_mode
from .marginal import Marginal
from .schur_newton import constrained_newton
from .weight_step import weight_stationarity

_MAX_HALVINGS = 8
_ROUNDING = 1e-13  # a rise of the objective this small, relative to it, is none
_PRUNE = 1e-10  # share of the jitter below which a falling weight is zero


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
    def mode(self) -> Mode:
        """The latent values at which the objective is smallest."""
        return latent_mode(self.problem, self.K, self._start)

    @cached_property
    def value(self) -> float:
        """The objective, hyper-prior included, on the −2 ln scale."""
        problem, mode = self.problem, self.mode
        loss = float(np.sum(problem.likelihood.value(problem.y, mode.z)))
        volume = problem.y.shape[1] * self._prior.log_det
        return float(mode.norm + loss + volume + problem.hyper_prior.value(self.d))

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
        """The largest violation of stationarity in the weights, free of units."""
        problem = self.problem
        return weight_stationarity(
            self.d, self.gradient, self.t, problem.y.size, problem.hyper_prior.keeps_zeros
        )

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
        (_, alpha, b, W), B = self.mode, self.products
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
