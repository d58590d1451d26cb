"""The double loop: a linear bound of the log-determinant, and convex problems below it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._component import Array
from ..likelihoods import Likelihood
from .anderson import Anderson
from .base import BayesProblem, Evaluation, Inference, State
from .method import Method
from .schur_newton import JointPoint, JointProblem
from .sites import refitted_sites

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_MAX_ITER = 200
_STRIDES = (1.0, 2.0, 4.0, 8.0)  # of successive rounds, without a penalty on the weights
_KEPT = 0.1  # share of a positive weight that a long stride leaves
_MIXING = 1.5  # rounds step too short by about that much
_REACH = float(np.log(10.0))  # how far beyond a round weights and variances may go
_LEAST = 1e-12  # share of the largest variance below which a kernel counts as without weight


class BoundTerm:
    r"""The data term under a linear bound of the log-determinant.

    Parameters
    ----------
    likelihood : Likelihood
    y : array of shape (n, n_outputs)
    zeta : array of shape (n, n_outputs)
        Slopes :math:`\zeta` of the bound in the variances :math:`\gamma`.

    Notes
    -----
    With :math:`s = z - c`, summed over samples and outputs,

    .. math:: L_\zeta(z) = \min_\gamma \zeta\gamma - \ln\gamma + s^2/\gamma + h(\gamma)
              - 2 \beta s, \qquad L_\zeta' = 2 s/\gamma - 2 \beta, \qquad
              L_\zeta'' = \frac2\gamma\, \frac{\gamma + \gamma^3 h''}{\gamma + 2 s^2 + \gamma^3 h''}

    the last by implicit differentiation, convex for log-concave likelihoods. For others the
    curvature is that of the quadratic above, :math:`2/\gamma`.
    """

    def __init__(self, likelihood: Likelihood, y: Array, zeta: Array) -> None:
        self.likelihood, self.zeta = likelihood, np.maximum(zeta, _TINY)
        self.center, self.beta = likelihood.center(y), likelihood.slope(y)
        self._last: tuple[Array, Array, Array] | None = None

    def site_var(self, z: Array) -> Array:
        """The best variances."""
        return self._touching(z)[1]

    def _touching(self, z: Array) -> tuple[Array, Array]:
        """The squared distances x at which the best Gaussians touch, and their variances."""
        if self._last is None or not np.array_equal(z, self._last[0]):
            self._last = z.copy(), *self._solve(z - self.center)
        return self._last[1:]

    def _solve(self, s: Array) -> tuple[Array, Array]:
        r"""The roots x of :math:`x = s^2 + \gamma - \zeta\gamma^2`, :math:`\gamma = 1/\rho'(x)`."""
        s2, site_var = s**2, self.likelihood.site_var
        if self.likelihood.is_gaussian:  # of one variance
            return s2, site_var(s2)
        lower, upper = np.zeros_like(s), s2 + 1 / (4 * self.zeta)  # γ − ζγ² ≤ 1/(4ζ)
        first = s2 + site_var(s2)
        x, last = np.where(first > 0, np.minimum(first, upper), upper), upper  # not the root 0
        for _ in range(_MAX_ITER):
            gamma = site_var(x)
            parts = x, -s2, -gamma, self.zeta * gamma**2
            excess = sum(parts)
            settled = np.abs(excess) <= 64 * _EPS * (x + s2 + gamma + parts[-1])
            if np.all(settled):
                break
            lower, upper = np.where(excess < 0, x, lower), np.where(excess > 0, x, upper)
            slope = 1 + self._widening(x, gamma) * (2 * self.zeta * gamma - 1)
            newton = np.divide(-excess, slope, out=np.full_like(x, np.inf), where=slope > 0)
            trusted = (np.abs(newton) <= last / 2) & (lower < x + newton) & (x + newton < upper)
            step = np.where(trusted, newton, (lower + upper) / 2 - x)
            x, last = np.where(settled, x, x + step), np.abs(step)
        # where no Gaussian touches, h is flat, and ζγ² − γ − s² = 0
        narrow = site_var(lower * 0) * (1 - self.zeta * site_var(lower * 0)) + s2 < 0
        free = (1 + np.sqrt(1 + 4 * self.zeta * s2)) / (2 * self.zeta)
        return np.where(narrow, 0.0, x), np.where(narrow, free, site_var(x))

    def _widening(self, x: Array, gamma: Array) -> Array:
        r"""The derivative of :math:`\gamma = 1/\rho'(x)` in x."""
        return np.asarray(-(gamma**2) * self.likelihood.rho_second(x))

    def value(self, z: Array) -> float:
        """The sum over samples and outputs."""
        (x, gamma), s = self._touching(z), z - self.center
        h = self.likelihood.rho(x) - x / gamma
        bound = self.zeta * gamma - np.log(gamma) + s**2 / gamma + h - 2 * self.beta * s
        return float(np.sum(bound))

    def gradient(self, z: Array) -> Array:
        """The derivatives in z."""
        return np.asarray(2 * (z - self.center) / self.site_var(z) - 2 * self.beta)

    def curvature(self, z: Array) -> Array:
        """The second derivatives in z, or those of the quadratic above."""
        (x, gamma), s = self._touching(z), z - self.center
        if self.likelihood.is_gaussian or not self.likelihood.log_concave:
            return np.asarray(2 / gamma)
        touching = x > 0
        widening = self._widening(np.where(touching, x, 1.0), gamma)
        bend = np.where(touching, gamma / widening - 2 * x, 0.0)  # γ³h''(γ)
        own = gamma + np.maximum(bend, 0.0)
        return np.asarray(2 / gamma * own / (own + 2 * s**2))


@dataclass(repr=False)
class DoubleLoop(Method):
    r"""Convex problems below linear bounds of the log-determinant, each by joint Newton steps.

    Parameters
    ----------
    tol : float, default=1e-6
    max_iter : int, default=500
        Rounds, each of one bound and some Newton steps.
    n_inner : int, default=1
        Newton steps on weights and latent values together between two bounds.

    Notes
    -----
    :math:`\ln|C|` is concave in weights and variances, so that for log-concave likelihoods

    .. math:: \psi(d, \gamma) \le \min_u u^\top K_d^{-1} u + \lambda^\top d
              + \textstyle\sum_i \zeta_i \gamma_i - \ln\gamma_i + s_i^2/\gamma_i + h(\gamma_i)
              - 2 \beta_i s_i + \mathrm{const}, \qquad
              \lambda_m = \operatorname{tr}(C^{-1} K_m), \quad \zeta_i = [C^{-1}]_{ii}

    is jointly convex (corrected form of [NS11]_, Algorithm 1; with a flat constant the projected
    inverse takes the place of :math:`C^{-1}`). Weights are kept nonnegative by an active set, with
    neither a barrier nor logarithms, so that kernels leave and come back. A round costs
    :math:`O(n^3 + M n^2)` and never raises the objective.

    As the bound is tangent but steeper curved than the objective, rounds step too short, and ever
    more so where data hardly tell kernels apart. Anderson's acceleration takes them farther,
    wherever that is at least as good as what the bound promises. Without a penalty on the weights,
    whose best values may then be infinite, it would run there and take that for an answer: rounds
    step 1, 2, 4 and 8 times as far in turn instead.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, DoubleLoop
    >>> from multikernel.likelihoods import LogisticLikelihood
    >>> x = np.linspace(-1, 1, 20)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> y = np.sign(x + 0.5 * np.cos(20 * x))[:, np.newaxis]
    >>> found = DoubleLoop().infer(BayesProblem(bank, y, LogisticLikelihood()))
    >>> found.converged, found.weights.round(1).tolist()
    (True, [21.3, 0.0])
    """

    n_inner: int = 1
    _round: int = field(init=False, default=0, compare=False)
    _anderson: Anderson | None = field(init=False, default=None, compare=False)

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        flat = problem.hyper_prior.value(np.ones_like(state.d)) == 0  # weights may be infinite
        self._round, self._anderson = 0, None if flat else Anderson(mixing=_MIXING)
        try:
            return super()._infer(problem, state)
        finally:
            self._anderson = None  # it serves one run, and has no place in a saved model

    def _step(self, e: Evaluation) -> Evaluation:
        learned = refitted_sites(e)
        if learned.likelihood != e.state.likelihood:
            e = Evaluation(e.problem, learned)
        near, limit = self._minimised(e)
        state = self._farther(e.problem, e.state, near.state)
        self._round += 1
        if state is near.state:
            return near
        far = Evaluation(e.problem, state, e.problem.bank.combine(state.d))
        return far if far.trial_value <= limit else near

    def _farther(self, problem: BayesProblem, old: State, new: State) -> State:
        """The state to which the step from the old to the new one leads, if continued."""
        if self._anderson is None:
            return _stretched(old, new, _STRIDES[self._round % len(_STRIDES)])
        image = _logarithms(new, problem.kernel_scales)
        beyond = self._anderson.next(_logarithms(old, problem.kernel_scales), image) - image
        d, gamma = np.split(np.exp(np.clip(beyond, -_REACH, _REACH)), [len(new.d)])
        gamma = gamma.reshape(new.site_var.shape)
        return new._replace(d=d * new.d, site_var=gamma * new.site_var)

    def _minimised(self, e: Evaluation) -> tuple[Evaluation, float]:
        """The state after a few steps on the convex problem, and what its objective is at most."""
        problem, likelihood = e.problem, e.state.likelihood
        term = BoundTerm(likelihood, problem.y, bound_slopes(e))
        joint = JointProblem(problem.bank, term, e.t, problem.hyper_prior, problem.fit_intercept)
        point = JointPoint(e.state.d, e.alpha, e.intercept, e.K)
        first = joint.value(point)
        point = joint.descend(point, e.products)
        for _ in range(self.n_inner - 1):
            point = joint.descend(point)
        limit = e.value - (first - joint.value(point))
        gamma = term.site_var(point.K @ point.alpha + point.b)
        return Evaluation(problem, State(point.d, likelihood, gamma), point.K), limit


def _stretched(old: State, new: State, stride: float) -> State:
    """The state some times as far from the old one, with weights that stay nonnegative."""
    if stride == 1:
        return new
    d = old.d + stride * (new.d - old.d)
    ratio = np.clip(new.site_var / old.site_var, 0.1, 10.0)
    gamma = new.site_var * ratio ** (stride - 1)
    return new._replace(d=np.maximum(d, _KEPT * new.d), site_var=gamma)


def _logarithms(state: State, scales: Array) -> Array:
    """Prior variances of all kernels and variances of all bounds, as logarithms in one vector."""
    variances = state.d * scales
    least = max(_LEAST * float(variances.max()), _TINY)
    values = np.concatenate([np.maximum(variances, least), state.site_var.ravel()])
    return np.asarray(np.log(values))


def bound_slopes(e: Evaluation) -> Array:
    r"""The diagonals :math:`[C^{-1}]_{ii}` of the projected inverses, shape (n, n_outputs)."""
    return np.hstack(
        [np.repeat(np.diag(m.P)[:, np.newaxis], m.targets.shape[1], axis=1) for m in e.marginals]
    )
