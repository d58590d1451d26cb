r"""BayesProblem, State and Evaluation: what is inferred, where it is, and what it is worth there.

Notation: θ in [NS11] is ``d`` here. All objectives are :math:`-2 \ln` of something and minimised.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from .._component import Array
from ..banks import Bank
from ..likelihoods import Likelihood
from .hyper_priors import FlatPrior, HyperPrior
from .marginal import Marginal

_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class BayesProblem:
    r"""Targets that depend on a latent Gaussian process with a weighted sum of kernels.

    Parameters
    ----------
    bank : Bank
        The kernels on the n training samples.
    y : array of shape (n, n_outputs)
        Targets in the domain of the likelihood; outputs share the weights.
    likelihood : Likelihood
        Its parameters are where learning starts.
    fit_intercept : bool, default=True
        Whether every output has a constant with a flat prior, which is integrated out.
    hyper_prior : HyperPrior, default=FlatPrior()
        On the weights.
    learn_likelihood : bool, default=True
        Whether the parameters of the likelihood are learned, too.

    Notes
    -----
    .. math:: u_o \sim N\big(b_o \mathbf 1, \textstyle\sum_m d_m K_m\big), \qquad
              y_{io} \sim P(\cdot \mid u_{io}), \qquad d_m \sim p(d)

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem
    >>> from multikernel.likelihoods import Gaussian
    >>> bank = PackedBank.from_grams([np.eye(3), 2 * np.ones((3, 3))])
    >>> problem = BayesProblem(bank, np.array([[1.0], [2.0], [1.5]]), Gaussian(0.5))
    >>> problem.kernel_scales
    array([1., 2.])
    """

    bank: Bank
    y: Array
    likelihood: Likelihood
    fit_intercept: bool = True
    hyper_prior: HyperPrior = field(default_factory=FlatPrior)
    learn_likelihood: bool = True

    def check(self) -> None:
        """Raise ValueError where a part does not fit the others, before anything is computed."""
        self.likelihood.check()
        self.hyper_prior.check()
        n = self.bank.n_samples
        if self.y.ndim != 2 or len(self.y) != n:
            raise ValueError(
                f"BayesProblem: y must have shape (n_samples, n_outputs) with n_samples = {n}, got "
                f"{self.y.shape}; use y[:, np.newaxis] for one output."
            )
        if not np.all(np.isfinite(self.y)):
            raise ValueError("BayesProblem: y must be finite, but contains NaN or infinity.")
        if self.fit_intercept and n < 2:
            raise ValueError("BayesProblem: an intercept needs at least two samples.")

    @cached_property
    def kernel_scales(self) -> Array:
        """The mean diagonals of the kernels, shape (M,); 1 for kernels of zeros."""
        n = self.bank.n_samples
        scales = self.bank.traces(np.eye(n)) / n
        return np.where(scales > 1e-200, scales, 1.0)


class State(NamedTuple):
    r"""Weights, the likelihood, and the variances :math:`\gamma` of its Gaussian bounds."""

    d: Array
    likelihood: Likelihood
    site_var: Array  # (n, n_outputs)


class Evaluation:
    r"""The variational bound at a state, with its derivatives; the evidence of Gaussian noise.

    Notes
    -----
    With :math:`C = K_d + \Gamma`, pseudo-targets :math:`\hat y = c + \Gamma\beta`, and P its
    (projected) inverse, the sum over outputs of

    .. math:: \psi(d, \gamma) = \ln|C| - \ln|\Gamma| + \hat y^\top P \hat y
              - \beta^\top\Gamma\beta + \textstyle\sum_i h(\gamma_i),

    an upper bound of :math:`-2 \ln p(y|d)` (corrected form of [NS11]_, Eq. (11)), attained for
    Gaussian noise. Its derivatives in the weights are :math:`t_m - q_m` with
    :math:`t_m = \operatorname{tr}(P K_m)`, :math:`q_m = \alpha^\top K_m \alpha`.

    A combined kernel that is given is kept; else it is computed, and its memory used again.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, Evaluation, first_state
    >>> from multikernel.likelihoods import Gaussian
    >>> bank = PackedBank.from_grams([np.eye(3), 2 * np.ones((3, 3))])
    >>> problem = BayesProblem(bank, np.array([[1.0], [2.0], [1.5]]), Gaussian(), False)
    >>> e = Evaluation(problem, first_state(problem))
    >>> round(e.value, 3), e.gradient.round().tolist()  # both weights should grow
    (30.968, [-120.0, -624.0])
    """

    def __init__(self, problem: BayesProblem, state: State, K: Array | None = None) -> None:
        self.problem, self.state, self._K = problem, state, K

    @property
    def K(self) -> Array:
        """The combined kernel, not to be changed."""
        return self.problem.bank.combine(self.state.d) if self._K is None else self._K

    @cached_property
    def _slopes(self) -> Array:
        return np.asarray(self.state.likelihood.slope(self.problem.y))

    @cached_property
    def pseudo_targets(self) -> Array:
        r"""The targets :math:`c + \Gamma\beta` of the Gaussian model that the bound is."""
        c = self.state.likelihood.center(self.problem.y)
        return np.asarray(c + self.state.site_var * self._slopes)

    @cached_property
    def marginals(self) -> list[Marginal]:
        """One marginal for all outputs where they have the same noise, else one for each."""
        K = self.K if self._K is None else self._K.copy()  # K(d) = Σ d_m K_m, to be overwritten
        gamma, targets = self.state.site_var, self.pseudo_targets
        intercept = self.problem.fit_intercept
        if np.all(gamma[:, :1] == gamma):
            return [Marginal(K, gamma[:, 0], targets, intercept)]
        pairs = zip(gamma.T, targets.T, strict=True)
        return [Marginal(K.copy(), g, y[:, np.newaxis], intercept) for g, y in pairs]

    @cached_property
    def value(self) -> float:
        """The bound plus the hyper-prior, on the −2 ln scale."""
        gamma, likelihood = self.state.site_var, self.state.likelihood
        bound = sum(m.log_det * m.targets.shape[1] + m.quadratic for m in self.marginals)
        bound += float(np.sum(likelihood.h(gamma) - np.log(gamma) - gamma * self._slopes**2))
        if self.problem.fit_intercept:
            bound -= gamma.shape[1] * _LOG_2PI  # one contrast less than there are samples
        return float(bound) + self.problem.hyper_prior.value(self.state.d)

    @cached_property
    def trial_value(self) -> float:
        """The value, or infinity where the covariance is not positive definite in its precision."""
        try:
            return self.value
        except LinAlgError:
            return np.inf

    @cached_property
    def alpha(self) -> Array:
        """The coefficients of the posterior mean, shape (n, n_outputs)."""
        return np.hstack([m.alpha for m in self.marginals])

    @cached_property
    def intercept(self) -> Array:
        """The posterior means of the intercepts, shape (n_outputs,)."""
        return np.concatenate([m.intercept for m in self.marginals])

    @cached_property
    def _P(self) -> Array:
        """The sum over outputs of the projected inverses."""
        if self.problem.y.shape[1] == 1:
            return self.marginals[0].P
        first, *others = self.marginals
        total: Array = first.targets.shape[1] * first.P
        for marginal in others:  # one output each
            total += marginal.P
        return total

    @cached_property
    def t(self) -> Array:
        r"""The traces :math:`\operatorname{tr}(P K_m)`, summed over outputs."""
        return np.maximum(self.problem.bank.traces(self._P), 0.0)

    @cached_property
    def products(self) -> Array:
        r"""The vectors :math:`K_m \alpha`, shape (M, n, n_outputs)."""
        return self.problem.bank.apply(self.alpha)

    @cached_property
    def q(self) -> Array:
        r"""The forms :math:`\alpha^\top K_m \alpha`, summed over outputs."""
        return np.asarray(np.maximum(np.einsum("mit,it->m", self.products, self.alpha), 0.0))

    @cached_property
    def noise_trace(self) -> float:
        r"""The trace of P: what :math:`t_m` is for a kernel of pure noise."""
        return float(np.trace(self._P))

    @cached_property
    def noise_form(self) -> float:
        r"""The form :math:`\|\alpha\|^2`: what :math:`q_m` is for a kernel of pure noise."""
        return float(np.sum(self.alpha**2))

    @cached_property
    def second_moments(self) -> Array:
        r"""The expectations :math:`s_i^2 + V_{ii}` of squared residuals, shape (n, n_outputs)."""
        gamma = self.state.site_var
        s = gamma * (self._slopes - self.alpha)  # s = m − c
        diagonals = [
            np.repeat(np.diag(m.P)[:, None], m.targets.shape[1], 1) for m in self.marginals
        ]
        V = gamma - gamma**2 * np.hstack(diagonals)
        return np.asarray(s**2 + np.maximum(V, 0.0))

    @cached_property
    def gradient(self) -> Array:
        """The derivatives in the weights, hyper-prior included."""
        return self.t - self.q + self.problem.hyper_prior.gradient(self.state.d)

    def noise_gradient(self) -> float:
        """The derivative in the variance of Gaussian noise."""
        return self.noise_trace - self.noise_form

    def information(self, with_noise: bool) -> Array:
        r"""The average information :math:`\alpha^\top K_m P K_l \alpha`, noise as the last kernel.

        It is the mean of observed and expected second derivatives, and positive semi-definite.
        """
        V = self.products
        if with_noise:
            V = np.concatenate([V, self.alpha[np.newaxis]])
        if len(self.marginals) == 1:
            flat = np.moveaxis(V, 0, 1).reshape(len(self.alpha), -1)  # (n, M · T)
            PV = (self.marginals[0].P @ flat).reshape(len(self.alpha), len(V), -1)
            return np.asarray(np.einsum("mit,ilt->ml", V, PV, optimize=True))
        parts = [V[:, :, o] @ m.P @ V[:, :, o].T for o, m in enumerate(self.marginals)]
        return np.asarray(sum(parts))


class Record:
    """How an inference went: objectives, stationarity, passes and seconds."""

    def __init__(self, problem: BayesProblem) -> None:
        self._start = (time.perf_counter(), problem.bank.n_passes)
        self.bank = problem.bank
        self.rows: list[tuple[float, float, float, float]] = []

    def add(self, objective: float, stationarity: float) -> None:
        """Note a point: that of the start, or one that an iteration led to."""
        seconds, passes = time.perf_counter() - self._start[0], self.bank.n_passes - self._start[1]
        self.rows.append((objective, stationarity, passes, seconds))

    @property
    def n_iter(self) -> int:
        """Steps between the points noted; 1 where the start was good enough."""
        return max(len(self.rows) - 1, 1)

    @property
    def history(self) -> dict[str, Array]:
        """``objective``, ``stationarity``, ``n_passes`` and ``seconds`` of all points noted."""
        names = ("objective", "stationarity", "n_passes", "seconds")
        return dict(zip(names, np.array(self.rows).T, strict=True))


@dataclass(frozen=True)
class Inference:
    """What was inferred, with its certificate; methods return it.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
    likelihood : Likelihood
        With its parameters as learned.
    dual_coef : array of shape (n, n_outputs)
    intercept : array of shape (n_outputs,)
    site_var, pseudo_targets : array of shape (n, n_outputs)
        The Gaussian model that the posterior is that of.
    objective : float
        Minus twice the log evidence, or its bound, hyper-prior included.
    stationarity : float
        Largest violation of the conditions of a stationary point, relative to the data; the
        relative duality gap where the objective is convex.
    n_iter : int
        Steps taken, at least 1.
    converged : bool
        Whether stationarity <= tol.
    n_passes : float
    history : dict of arrays
        Objective, stationarity, passes and seconds at the start and after every step; its last
        entries are those of the point returned.
    method : str
    gap : float
        Relative duality gap where the objective is convex, else NaN.
    """

    weights: Array
    likelihood: Likelihood
    dual_coef: Array
    intercept: Array
    site_var: Array
    pseudo_targets: Array
    objective: float
    stationarity: float
    n_iter: int
    converged: bool
    n_passes: float
    history: dict[str, Array] = field(repr=False)
    method: str
    gap: float = np.nan

    @property
    def state(self) -> State:
        """Where the inference ended."""
        return State(self.weights, self.likelihood, self.site_var)


def conclude(evaluation: Evaluation, record: Record, tol: float, method: str) -> Inference:
    """The inference that ends at an evaluation, the last one that was recorded."""
    history = record.history
    stationarity = float(history["stationarity"][-1])
    return Inference(
        weights=evaluation.state.d,
        likelihood=evaluation.state.likelihood,
        dual_coef=evaluation.alpha,
        intercept=evaluation.intercept,
        site_var=evaluation.state.site_var,
        pseudo_targets=evaluation.pseudo_targets,
        objective=evaluation.value,
        stationarity=stationarity,
        n_iter=record.n_iter,
        converged=stationarity <= tol,
        n_passes=float(history["n_passes"][-1]),
        history=history,
        method=method,
    )
