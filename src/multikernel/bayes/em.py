"""Expectation maximisation for the evidence of Gaussian noise: safe, simple and slow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._component import Array
from ..banks import Bank
from .base import BayesProblem, Evaluation, Inference, State
from .method import Method
from .sites import noise_of, with_noise

_RANK = 1e-10  # eigenvalues below this share of the largest are zero


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

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem, ExpectationMaximization
    >>> from multikernel.likelihoods import Gaussian
    >>> x = np.linspace(-1, 1, 20)
    >>> bank = PackedBank.from_grams([np.outer(x, x), np.exp(-np.abs(x[:, None] - x))])
    >>> y = 3 * x[:, np.newaxis] + 0.3 * np.cos(40 * x[:, np.newaxis])
    >>> found = ExpectationMaximization(tol=1e-3).infer(BayesProblem(bank, y, Gaussian()))
    >>> found.converged, found.weights.round(1).tolist()
    (True, [9.0, 0.0])
    """

    max_iter: int = 5000
    _ranks: Array = field(init=False, default_factory=lambda: np.zeros(0), compare=False)

    gaussian_only: ClassVar[bool] = True

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        self._ranks = kernel_ranks(problem.bank)
        return super()._infer(problem, state)

    def _step(self, e: Evaluation) -> Evaluation:
        problem, d = e.problem, np.where(self._ranks > 0, e.state.d, 0.0)
        r = self._ranks * problem.y.shape[1]
        A = np.maximum(r * d + d**2 * (e.q - e.t), 0.0)  # E‖f_m‖², in the norm of K_m
        state = e.state
        if problem.learn_likelihood:
            noise = noise_of(state.likelihood)
            # σ² ← σ² + σ⁴ (q₀ − t₀)/n
            noise += noise**2 * (e.noise_form - e.noise_trace) / problem.y.size
            state = with_noise(problem, state, noise)
        return Evaluation(problem, state._replace(d=problem.hyper_prior.em_minimiser(A, r)))


def kernel_ranks(bank: Bank) -> Array:
    """The numerical ranks of all kernels, from their eigenvalues, shape (n_kernels,)."""
    ranks = np.zeros(bank.n_kernels)
    for m, only in enumerate(np.eye(bank.n_kernels)):
        eigenvalues = np.linalg.eigvalsh(bank.combine(only))
        ranks[m] = np.count_nonzero(eigenvalues > _RANK * max(float(eigenvalues[-1]), 0.0))
    return ranks
