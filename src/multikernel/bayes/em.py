"""Expectation maximisation for the evidence of Gaussian noise: safe, simple and slow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from ..banks import Bank
from .base import BayesProblem, Evaluation, Inference, State
from .hyper_priors import FlatPrior, GammaPrior, HyperPrior, InverseGammaPrior
from .method import Method, with_noise

_RANK = 1e-10  # eigenvalues below this share of the largest are zero


def _flat_step(prior: Any, A: Array, r: Array) -> Array:
    return np.divide(A, r, out=np.zeros_like(A), where=r > 0)  # d = A/r


def _gamma_step(prior: Any, A: Array, r: Array) -> Array:
    r = r - 2 * (prior.shape - 1)
    if prior.rate == 0:
        if np.any(r < 0):
            raise ValueError(
                f"ExpectationMaximization: under {prior!r} the weight of a kernel of rank below "
                "2 (shape - 1) has no best value; give a rate > 0."
            )
        return _flat_step(prior, A, r)
    root = np.sqrt(r**2 + 8 * prior.rate * A)  # 2b d² + (r − 2(a−1)) d − A = 0
    small = 2 * A / np.where(r > 0, r + root, 1.0)  # the same root, free of cancellation
    return np.asarray(np.where(r > 0, small, (root - r) / (4 * prior.rate)))


def _inverse_gamma_step(prior: Any, A: Array, r: Array) -> Array:
    return np.asarray((A + 2 * prior.scale) / (r + 2 * (prior.shape + 1)))


_STEPS: dict[type[HyperPrior], Callable[[Any, Array, Array], Array]] = {
    FlatPrior: _flat_step,
    GammaPrior: _gamma_step,
    InverseGammaPrior: _inverse_gamma_step,
}


@dataclass(repr=False)
class ExpectationMaximization(Method):
    r"""Expectation maximisation, whose vanishing weights only fall like one over the iterations.

    Notes
    -----
    With the functions as missing data, every weight becomes the expected squared norm of its
    function per degree of freedom,

    .. math:: d_m \leftarrow \frac{A_m}{r_m} = d_m + \frac{d_m^2 (q_m - t_m)}{r_m}, \qquad
              r_m = n_{\text{outputs}} \operatorname{rank} K_m,

    the noise likewise with rank n, or the minimiser of :math:`r \ln d + A/d` plus the penalty of a
    Gamma or inverse Gamma prior. The ranks are found once, from the eigenvalues of every kernel:
    :math:`O(M n^3)`, more than many iterations of other methods.
    """

    max_iter: int = 5000
    _ranks: Array = field(init=False, default_factory=lambda: np.zeros(0))

    gaussian_only: ClassVar[bool] = True

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        if type(problem.hyper_prior) not in _STEPS:
            raise TypeError(
                f"ExpectationMaximization has no closed form under {problem.hyper_prior!r}; use a "
                "Gamma or inverse Gamma prior, or method='newton' or 'mackay'."
            )
        self._ranks = kernel_ranks(problem.bank)
        return super()._infer(problem, state)

    def _step(self, e: Evaluation) -> Evaluation:
        problem, d = e.problem, np.where(self._ranks > 0, e.state.d, 0.0)
        r = self._ranks * problem.y.shape[1]
        A = np.maximum(r * d + d**2 * (e.q - e.t), 0.0)  # E‖f_m‖², in the norm of K_m
        state = e.state
        if problem.learn_likelihood:
            noise = float(state.likelihood.noise_var)
            # σ² ← σ² + σ⁴ (q₀ − t₀)/n
            noise += noise**2 * (e.noise_form - e.noise_trace) / problem.y.size
            state = with_noise(problem, state, noise)
        prior = problem.hyper_prior
        return Evaluation(problem, state._replace(d=_STEPS[type(prior)](prior, A, r)))


def kernel_ranks(bank: Bank) -> Array:
    """The numerical ranks of all kernels, from their eigenvalues, shape (n_kernels,)."""
    ranks = np.zeros(bank.n_kernels)
    for m, only in enumerate(np.eye(bank.n_kernels)):
        eigenvalues = np.linalg.eigvalsh(bank.combine(only))
        ranks[m] = np.count_nonzero(eigenvalues > _RANK * max(float(eigenvalues[-1]), 0.0))
    return ranks
