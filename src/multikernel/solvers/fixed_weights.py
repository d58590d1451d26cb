r"""The kernel machine for fixed weights: Newton's method on the loss, smoothed where it has kinks.

With the weights fixed the problem is

.. math:: \min_{\alpha, b}\; \sum_i c_i\, \ell(y_i, (K\alpha)_i + b)
          + \tfrac12 \alpha^\top K \alpha .

Smooth losses take Newton steps. Losses with kinks are solved by guessing which samples rest on a
kink; where that fails, they are replaced by their Moreau envelope around the current
:math:`\alpha` (a proximal step on the dual), whose width shrinks until the duality gap is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize_scalar

from .._component import Array
from ._curvature import Curvature, DiagonalCurvature, Kernel, NewtonSystem, SoftmaxCurvature
from ._libsvm import libsvm_applies, libsvm_dual
from .base import Problem, relative_gap

_MAX_NEWTON = 100
_MAX_STAGES = 40
_MAX_ACTIVE_SETS = 12
_WIDEST = 1e5  # proximal step, relative to the first
_STEEP = 1e3  # or, if more, to the slopes of the losses
_RUNAWAY = 1e6  # coefficients beyond this multiple of their bound carry no information
_ROUNDING = 1e-14
_DIGITS = 1e-10  # of the kernels, above which steps need not be more exact than they are
_TOO_FAR = 0.1  # slope of the objective at a start, relative to its value
_ONE_SIDED = 0.5  # of the slopes of all samples: what their sum may be
_COARSE = 1e-3  # how exactly a better start is sought
_STIFF = 1e9  # curvature of a kink, relative to that of the kernel


class Start(NamedTuple):
    """Dual coefficients and intercept to start from."""

    alpha: Array
    b: Array


class Machine(NamedTuple):
    r"""A fitted kernel machine: f is :math:`K\alpha`, without the intercept b.

    Another fit may start from ``point``: for a loss that couples the outputs where Newton's method
    ended, before that was moved into the domain of the dual.
    """

    alpha: Array
    b: Array
    f: Array
    curvature: Curvature
    system: NewtonSystem
    point: Start


class DataTerm(Protocol):
    """A smooth data term: its value, its gradient and its curvature at predictions z."""

    def value(self, z: Array) -> float:
        """The weighted sum of losses."""

    def gradient(self, z: Array) -> Array:
        """Its gradient in z."""

    def curvature(self, z: Array) -> Curvature:
        """Its second derivatives in z."""


@dataclass(frozen=True)
class SmoothTerm:
    """The data term of a problem whose loss is smooth."""

    problem: Problem

    def value(self, z: Array) -> float:
        """The weighted sum of losses."""
        return self.problem.data_term(z)

    def gradient(self, z: Array) -> Array:
        """Its gradient in z."""
        problem = self.problem
        return problem.cost * problem.loss.gradient(problem.y, z + problem.known)

    def curvature(self, z: Array) -> Curvature:
        """Its second derivatives in z."""
        problem = self.problem
        if problem.loss.couples_outputs:
            D = self.gradient(z) + problem.cost * problem.y  # C p
            return SoftmaxCurvature(D, problem.cost)
        hessian = problem.loss.hessian(problem.y, z + problem.known)
        return DiagonalCurvature(problem.cost * hessian)


@dataclass(frozen=True)
class EnvelopeTerm:
    r"""The Moreau envelope of a data term with kinks around :math:`\alpha_0`.

    Notes
    -----
    .. math:: \varphi(z) = \min_p\; c\,\ell(y, p) + \tfrac\sigma2 (p - z + \alpha_0/\sigma)^2,
              \qquad -\varphi'(z) = \alpha_0 + \sigma (p - z)

    is the conjugate of the dual data term minus :math:`\|\alpha - \alpha_0\|^2 / (2\sigma)`.
    """

    problem: Problem
    alpha_0: Array
    sigma: float

    def _prox(self, z: Array) -> tuple[Array, Array]:
        problem = self.problem
        v = z - self.alpha_0 / self.sigma
        p = problem.loss.prox(problem.y, v + problem.known, problem.cost / self.sigma)
        return v, p - problem.known

    def value(self, z: Array) -> float:
        """The weighted sum of envelopes."""
        v, p = self._prox(z)
        return self.problem.data_term(p) + 0.5 * self.sigma * float(np.sum((p - v) ** 2))

    def gradient(self, z: Array) -> Array:
        """Its gradient in z."""
        v, p = self._prox(z)
        return self.sigma * (v - p)

    def kink(self, z: Array) -> Array:
        """The prox, which is the kink itself where it rests on one."""
        return self._prox(z)[1]

    def curvature(self, z: Array) -> DiagonalCurvature:
        """Its second derivatives in z: sigma where the prox rests on a kink, zero elsewhere."""
        v, p = self._prox(z)
        distance = np.abs(self.problem.loss.kinks(self.problem.y) - self.problem.known - p)
        on_kink = np.any(distance <= 1e-11 * (1 + np.abs(v)), axis=0)
        return DiagonalCurvature(np.where(on_kink, self.sigma, 0.0))


def fit_fixed_weights(problem: Problem, K: Any, tol: float, start: Start | None = None) -> Machine:
    """The optimal machine for the combined kernel K, to a relative duality gap of about tol.

    For a loss that couples the outputs, K need only know its products with coefficients.
    """
    if problem.loss.smooth:
        machine = _newton(SmoothTerm(problem), problem, K, _better_start(problem, K, start), tol)
        return _feasible(problem, K, machine)
    return _fit_with_kinks(problem, K, tol, start)


def _better_start(problem: Problem, K: Kernel, start: Start | None) -> Start:
    """The start given or, where that is too far, as where C has leapt, a point towards a constant.

    The best constant is where to begin without a start.
    """
    if start is None:
        return _cold_start(problem)
    f = K @ start.alpha
    square = float(np.sum(start.alpha * f))
    term = SmoothTerm(problem)
    rho = term.gradient(f + start.b)
    slope = float(np.sum(rho * f)) + square  # of t f + b at t = 1
    one_sided = np.abs(rho.sum(axis=0)) > _ONE_SIDED * np.abs(rho).sum(axis=0)  # then b is far off
    near = slope <= _TOO_FAR * (term.value(f + start.b) + 0.5 * square)
    if near and not (problem.fit_intercept and one_sided.any()):
        return start
    cold = _cold_start(problem)
    step = f + start.b - cold.b

    def value(t: float) -> float:
        return term.value(cold.b + t * step) + 0.5 * t**2 * square

    ray = minimize_scalar(value, bounds=(0.0, 1.0), method="bounded", options={"xatol": _COARSE})
    t = float(ray.x)
    return Start(t * start.alpha, t * start.b + (1 - t) * cold.b)


def _cold_start(problem: Problem) -> Start:
    return Start(np.zeros_like(problem.y), problem.best_intercept(np.zeros_like(problem.y)))


def _newton(term: DataTerm, problem: Problem, K: Kernel, start: Start, tol: float) -> Machine:
    """Newton's method with an exact line search on the primal, quadratically convergent."""
    alpha, b = start
    f, rough = K @ alpha, problem.bank.rounding > _DIGITS
    for _ in range(_MAX_NEWTON):
        z = f + b
        rho, curvature = term.gradient(z), term.curvature(z)
        system = curvature.system(K, problem.fit_intercept, rough)
        r = (
            curvature.times(z[:, :, np.newaxis]) - rho[:, :, np.newaxis]
        )  # (I + WK) α⁺ + W1b⁺ = Wz − ρ
        alpha_new, b_new = (part[..., 0] for part in system.solve(r, (alpha, b)))
        step, step_b = alpha_new - alpha, b_new - b
        step_f = K @ step
        step_z, linear, square = step_f + step_b, np.sum(alpha * step_f), np.sum(step * step_f)
        slope = float(np.sum(rho * step_z) + linear)
        rounding = _ROUNDING * float(np.sum(np.abs(rho * step_z)) + abs(linear))
        rate, left = _line_search(
            term, z, step_z, float(linear), float(square), enough=0.1 * abs(slope) + rounding
        )
        alpha, f, b = alpha + rate * step, f + rate * step_f, b + rate * step_b
        value = term.value(f + b) + 0.5 * float(np.sum(alpha * f))
        after = 10 * abs(left) + system.error * abs(slope)  # what may be left to gain
        if min(-slope, after) <= tol * abs(value):
            break
    return Machine(alpha, b, f, curvature, system, Start(alpha, b))


def _line_search(
    term: DataTerm, z: Array, step_z: Array, linear: float, square: float, enough: float
) -> tuple[float, float]:
    """The step in (0, 1] at which the derivative of the primal has all but vanished, and it."""

    def derivative(s: float) -> float:
        return float(np.sum(term.gradient(z + s * step_z) * step_z)) + linear + s * square

    low, high, rate = 0.0, 1.0, 1.0
    for _ in range(30):
        left = derivative(rate)
        if abs(left) <= enough or (rate == 1.0 and left < 0):
            break
        low, high = (rate, high) if left < 0 else (low, rate)
        rate = 0.5 * (low + high)
    return rate, left


def _feasible(problem: Problem, K: Kernel, machine: Machine) -> Machine:
    """The machine moved into the domain of the dual, with the best intercept for it."""
    alpha, coupled = machine.alpha, problem.loss.couples_outputs
    if coupled and not machine.f.any():  # a kernel of zeros leaves alpha where it was
        alpha = -SmoothTerm(problem).gradient(machine.f + machine.b)
    alpha = problem.feasible_dual(alpha)
    f = K @ alpha
    b = problem.best_intercept(f, near=machine.b)
    point = machine.point if coupled else Start(alpha, b)
    return machine._replace(alpha=alpha, f=f, b=b, point=point)


def _fit_with_kinks(problem: Problem, K: Array, tol: float, start: Start | None) -> Machine:
    """Active sets from an earlier point, else from libsvm, else proximal steps, which converge."""
    if start is not None:
        machine = _active_set(problem, K, tol, start)
        if _fixed_gap(problem, machine) <= tol:
            return machine
    if libsvm_applies(problem):
        alpha = problem.feasible_dual(libsvm_dual(problem, K))
        machine = _active_set(problem, K, tol, Start(alpha, problem.best_intercept(K @ alpha)))
        if _fixed_gap(problem, machine) <= tol:
            return machine
    machine = _proximal_stages(problem, K, tol, _cold_start(problem))
    if _fixed_gap(problem, machine) <= tol:
        return machine
    machines = [machine, _active_set(problem, K, tol, machine.point)]
    return min(machines, key=lambda m: _fixed_gap(problem, m))


def _active_set(problem: Problem, K: Array, tol: float, start: Start) -> Machine:
    r"""Guess which samples rest on a kink, solve for them exactly, and guess again.

    Notes
    -----
    On the kinks :math:`K_{SS}\alpha_S + b = \mathrm{kink}_S - K_{S\bar S}\alpha_{\bar S}`,
    elsewhere :math:`\alpha` sits at the end of its interval: the limit of the Newton step of the
    envelope.
    """
    scale = 1.0 / _kernel_scale(problem, K)
    alpha, b = start
    best_gap = np.inf
    for _ in range(_MAX_ACTIVE_SETS):
        if problem.fit_intercept:
            alpha = alpha - alpha.mean(axis=0)  # steps keep the sum, so let it be zero
        term, z = EnvelopeTerm(problem, alpha, scale), K @ alpha + b
        free = term.curvature(z).W > 0
        curvature = DiagonalCurvature(np.where(free, _STIFF * scale, 0.0))
        system = curvature.system(K, problem.fit_intercept)
        to_kink, to_end = _STIFF * scale * (term.kink(z) - z), -term.gradient(z) - alpha
        r = np.where(free, to_kink, to_end)  # of the step, so that rounding is relative to it
        step, step_b = (part[..., 0] for part in system.solve(r[:, :, np.newaxis]))
        alpha, b = alpha + step, b + step_b
        if np.abs(alpha).max() > _RUNAWAY * problem.cost.max():
            bounded = np.clip(alpha, -problem.cost, problem.cost)  # a near-singular guess
            alpha = problem.feasible_dual(bounded)
        machine = _feasible(
            problem, K, Machine(alpha, b, alpha, curvature, system, Start(alpha, b))
        )
        gap = _fixed_gap(problem, machine)
        if gap <= best_gap:
            best, best_gap = machine, gap
        if gap <= tol:
            break
    return best


def _proximal_stages(problem: Problem, K: Array, tol: float, start: Start) -> Machine:
    """Proximal steps on the dual, each a Newton problem, until the duality gap is closed."""
    sigma = 10.0 / _kernel_scale(problem, K)
    largest = max(_WIDEST * sigma, _STEEP * float(problem.cost.max()))
    start = start._replace(alpha=problem.feasible_dual(start.alpha))
    best_gap, best_bound = np.inf, -np.inf
    for _ in range(_MAX_STAGES):
        term = EnvelopeTerm(problem, start.alpha, sigma)
        machine = _feasible(problem, K, _newton(term, problem, K, start, tol=0.1 * tol))
        gap, bound = _fixed_gap(problem, machine), _fixed_bound(problem, machine)
        if gap <= best_gap or bound > best_bound:  # proximal steps on the dual raise it
            start = machine.point
            sigma = min(10.0 * sigma, largest)
        else:
            sigma *= 0.1  # the step was too long to be solved
        if gap <= best_gap:
            best, best_gap = machine, gap
        best_bound = max(best_bound, bound)
        if best_gap <= tol:
            break
    return best


def _kernel_scale(problem: Problem, K: Array) -> float:
    """The mean diagonal of the kernel, or what is negligible beside the losses if that is more."""
    return max(float(np.mean(np.diag(K))), 1e-8 / float(np.mean(problem.cost)))


def _fixed_gap(problem: Problem, machine: Machine) -> float:
    """The relative duality gap of the problem with these weights.

    The primal belongs to the machine scaled into the reach of the loss or, where an offset forbids
    that, to the nearest predictions within, and what exceeds it counts as gap.
    """
    t, b = problem.into_reach(machine.f, machine.b)
    z = t * machine.f + b
    excess = problem.excess(z)
    half_norm = 0.5 * float(np.sum(machine.alpha * machine.f))
    primal = problem.data_term(z - excess) + t**2 * half_norm + problem.strain(machine.alpha, z)
    gap = relative_gap(primal, _fixed_bound(problem, machine))
    return gap + float(np.abs(excess).max()) / problem.loss.reach


def _fixed_bound(problem: Problem, machine: Machine) -> float:
    """The dual of the problem with these weights."""
    half_norm = 0.5 * float(np.sum(machine.alpha * machine.f))
    return problem.dual_data_term(machine.alpha) - half_norm
