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
_LOOSEST = 2e-2  # tolerance of a machine far from the optimum
_STALL = 0.9  # a gap that falls by less, twice, says that the model is not to be trusted
_REVIVAL = 0.1  # share of the first weights in those of a new start
_REVIVALS = 5  # at most
_PATIENCE = 3  # halvings of a step before the closed form is taken instead
_SHRINK = 0.01
_NOTHING = 1e-9  # a penalty this small beside the objective is as good as none
_TOGETHER = 200  # kernels that interact and start together, if there are no more
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
        if start is not None and start.sq_norms.max() <= _NOTHING:
            start = None  # a constant predictor does not tell which kernels to use
        d = _first_weights(problem) if start is None else start.weights
        point = None if start is None else Start(start.dual_coef, start.intercept)
        tol = _LOOSEST if start is None else 0.1 * self.tol
        accepted: tuple[float, Array, Array] | None = None  # the last value of J, its d and G
        gap, stalls, rejections, care, n_revivals = np.inf, 0, 0, 1.0, _REVIVALS
        for _ in range(self.max_iter):
            K = bank.combine(d)  # K(d) = Σ d_m K_m
            machine = fit_fixed_weights(problem, K, tol, point)
            first = start is None and accepted is None
            V, G = _sweep(problem, machine.alpha, first)
            value = progress.record(d, machine.alpha, machine.b, G, machine.f)
            tol = float(np.clip(care * 0.05 * progress.gap, 0.1 * self.tol, care * _LOOSEST))
            if progress.converged:
                break
            if accepted is not None and value > accepted[0] + 1e-10 * abs(value):
                rejections, care = rejections + 1, 0.1 * care  # the machine may be to blame
                if n_revivals and rejections > _PATIENCE and not accepted[1].all():
                    d, n_revivals = _revived(problem, accepted[1]), n_revivals - 1
                    accepted, rejections, care, point, stalls = None, 0, 1.0, None, 0
                else:
                    d, point = _shorter_step(problem, d, accepted, rejections), machine.point
                continue
            accepted, rejections = (value, d, G), 0
            stalls = stalls + 1 if progress.gap > _STALL * gap else 0
            gap = progress.gap
            if _closed_form_pays(problem, d, G, first) or (stalls > 1 and d.all()):
                d, point = problem.regularizer.optimal_weights(d**2 * G), machine.point
            else:
                d, point = _next_weights(problem, d, V, G, machine, value)
        return progress.solution(self)


def _shorter_step(
    problem: Problem, d: Array, accepted: tuple[float, Array, Array], rejections: int
) -> Array:
    """Half of a step that was too long; the closed form, which never is, after a few of them.

    The closed form keeps weights of zero, so it is no way out where there are any.
    """
    _, d_accepted, G = accepted
    if rejections < _PATIENCE or not d_accepted.all():
        return 0.5 * (d + d_accepted)
    return problem.regularizer.optimal_weights(d_accepted**2 * G)


def _revived(problem: Problem, d: Array) -> Array:
    """Weights that are all positive again, where no step from those with zeros is a descent."""
    initial = problem.regularizer.initial_weights(len(d))
    return np.asarray((1 - _REVIVAL) * d + _REVIVAL * initial)


def _closed_form_pays(problem: Problem, d: Array, G: Array, first: bool) -> bool:
    """Whether the closed-form weights are a better step than Newton's, far from the optimum."""
    regularizer = problem.regularizer
    if not regularizer.sparse:
        return first
    if hasattr(regularizer, "norm"):
        return False
    return bool(d @ G > _FAR * (d @ regularizer.gradient(d)))  # Newton would only double them


def _sweep(problem: Problem, alpha: Array, first: bool) -> tuple[Array | None, Array]:
    r"""The products :math:`K_m\alpha`, where all are needed, and :math:`\alpha^\top K_m\alpha`."""
    if problem.regularizer.sparse or first:
        return None, problem.bank.quadratic(alpha)
    V = problem.bank.apply(alpha)
    return V, np.maximum(np.einsum("mit,it->m", V, alpha), 0.0)


def _first_weights(problem: Problem) -> Array:
    """Feasible weights on the kernels that the constant predictor most wants."""
    M = problem.bank.n_kernels
    d = problem.regularizer.initial_weights(M)
    interacting = problem.regularizer.hessian(d).ndim == 2  # whom one wants depends on the others
    if not problem.regularizer.selects_kernels or (interacting and M <= _TOGETHER):
        return d
    G = problem.bank.quadratic(problem.constant_predictor()[1])
    first = np.where(np.argsort(np.argsort(-G)) < max(_GROWTH, M // 10), d, 0.0)
    if hasattr(problem.regularizer, "norm"):
        size: float = problem.regularizer.norm(first)
        return first / size
    return np.asarray(first * (d.sum() / first.sum()))


def _next_weights(
    problem: Problem, d: Array, V: Array | None, G: Array, machine: Machine, value: float
) -> tuple[Array, Start]:
    r"""The minimiser of the quadratic model over the working set, and where its machine will be.

    Notes
    -----
    To first order the dual coefficients follow the weights, :math:`\Delta\alpha = -P V \Delta d`.
    """
    if not d.any():  # all is off, but not certified: look again from small weights
        return _SHRINK * problem.regularizer.initial_weights(len(d)), machine.point
    model = WeightModel.at(problem.regularizer, d, G)
    working = _working_set(d, model.gradient)
    V = problem.bank.apply(machine.alpha, working) if V is None else V[working]
    V = np.moveaxis(V, 0, 2)  # (n, n_outputs, k)
    H, PV, b_slopes = machine.system.respond(V)  # H = Vᵀ P V
    d_next = np.zeros_like(d)
    d_next[working] = minimise(model, working, H, d)
    if d_next.any():
        d_next = model.retract(d, d_next)
        step = (d_next - d)[working]
        alpha, b = machine.point
        return d_next, Start(alpha - PV @ step, b - b_slopes @ step)
    # The best predictor is constant: weights go to zero, in the direction whose α certifies it.
    d_next[working] = minimise(model.of_fixed_size(d), working, H, d)
    return d_next * (_SHRINK if d @ G > _NOTHING * abs(value) else 1.0), machine.point


def _working_set(d: Array, gradient: Array) -> NDArray[np.intp]:
    """Kernels of positive weight, and those whose weight most wants to grow from zero."""
    support = np.flatnonzero(d > 0)
    wanting = np.flatnonzero((d == 0) & (gradient < 0))
    room = max(_GROWTH, len(support))
    chosen = wanting[np.argsort(gradient[wanting])[:room]]
    return np.sort(np.concatenate([support, chosen]))
