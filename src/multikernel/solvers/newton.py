"""Newton's method on the weights: the value of the machine is a smooth convex function of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from ._weight_model import WeightModel, minimise
from .base import Problem, Progress, Solution, Solver
from .fixed_weights import Machine, Start, fit_fixed_weights

_FAR = 4.0  # weights this far below their scale grow faster by the closed form
_SHRINK = 0.01
_NOTHING = 1e-9  # a penalty this small beside the objective is as good as none
_GROWTH = 25  # kernels that may enter the working set in one round, beyond a doubling


@dataclass(repr=False)
class NewtonWeights(Solver):
    r"""Newton steps on the weights, each a small quadratic program over a working set of kernels.

    Works for every loss, any number of outputs and every regularizer with gradient and Hessian.

    Notes
    -----
    The value :math:`v(d) = \min_{f, b} J - \tfrac12 h(d)` of the machine with fixed weights is
    convex, with

    .. math:: \nabla v = -\tfrac12 G, \qquad \nabla^2 v = V^\top P V, \quad
              V = [K_1\alpha, \dots, K_M\alpha],

    .. math:: P = A^{-1} - \frac{A^{-1}\mathbf{11}^\top A^{-1}}{\mathbf 1^\top A^{-1} \mathbf 1},
              \qquad A = K_d + W^{-1} .

    Only kernels of positive weight and those that want to enter are in the quadratic program.
    """

    requires_regularizer: ClassVar[tuple[str, ...]] = ("gradient", "hessian")

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        bank = problem.bank
        progress = Progress(problem, self.tol)
        d = _first_weights(problem) if start is None else start.weights
        point: Start | None = None
        accepted: tuple[float, Array] | None = None  # the last value of J and its weights
        for _ in range(self.max_iter):
            K = bank.combine(d)  # K(d) = Σ d_m K_m
            machine = fit_fixed_weights(problem, K, _inner_tol(progress, self.tol), point)
            point = machine.point
            G = bank.quadratic(machine.alpha)  # G_m = αᵀK_m α
            value = progress.record(d, machine.alpha, machine.b, G, machine.f)
            if progress.converged:
                break
            if accepted is not None and value > accepted[0] + 1e-10 * abs(value):
                d = 0.5 * (d + accepted[1])  # the step was too long
                continue
            accepted = (value, d)
            d = _next_weights(problem, d, G, machine, value)
        return progress.solution(self)


def _inner_tol(progress: Progress, tol: float) -> float:
    return float(np.clip(0.02 * progress.gap, 0.1 * tol, 1e-3))


def _first_weights(problem: Problem) -> Array:
    """Feasible weights on the kernels that the constant predictor most wants."""
    M = problem.bank.n_kernels
    d = problem.regularizer.initial_weights(M)
    if not problem.regularizer.sparse:
        return d
    G = problem.bank.quadratic(problem.constant_predictor()[1])
    chosen = np.argsort(-G)[: max(_GROWTH, M // 10)]
    d = np.zeros(M)
    d[chosen] = problem.regularizer.initial_weights(len(chosen))
    return d


def _next_weights(problem: Problem, d: Array, G: Array, machine: Machine, value: float) -> Array:
    """The minimiser of the quadratic model over the working set."""
    regularizer = problem.regularizer
    if not hasattr(regularizer, "norm") and d @ G > _FAR * (d @ regularizer.gradient(d)):
        return regularizer.optimal_weights(d**2 * G)  # Newton steps would only double them
    model = WeightModel.at(regularizer, d, G)
    working = _working_set(d, model.gradient)
    V = np.moveaxis(problem.bank.apply(machine.alpha, working), 0, 2)  # (n, n_outputs, k)
    PV = machine.system.solve(machine.curvature.times(V))[0]
    H = np.tensordot(V, PV, axes=([0, 1], [0, 1]))  # Vᵀ P V
    d_next = np.zeros_like(d)
    d_next[working] = minimise(model, working, 0.5 * (H + H.T), d)
    if d_next.any():
        return model.retract(d, d_next)
    # The best predictor is constant: weights go to zero, in the direction whose α certifies it.
    d_next[working] = minimise(model.of_fixed_size(d), working, 0.5 * (H + H.T), d)
    return d_next * (_SHRINK if d @ G > _NOTHING * abs(value) else 1.0)


def _working_set(d: Array, gradient: Array) -> NDArray[np.intp]:
    """Kernels of positive weight, and those whose weight most wants to grow from zero."""
    support = np.flatnonzero(d > 0)
    wanting = np.flatnonzero((d == 0) & (gradient < 0))
    room = max(_GROWTH, len(support))
    chosen = wanting[np.argsort(gradient[wanting])[:room]]
    return np.sort(np.concatenate([support, chosen]))
