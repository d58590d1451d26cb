"""Newton's method on the dual: quadratic convergence where the dual term is smooth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from .._component import Array
from .._linalg import add_low_rank
from ._curvature import Kernel, LowRankSum
from .asks import Combination, Forms, Products, Steps, Sweep, answered
from .base import Lack, Problem, Progress, Solution, Solver
from .fixed_weights import Start, fit_fixed_weights

_SAME = 1e-9  # relative; a start this near to where its products belong may use them
_OUTSIDE = 1e300  # stands for the infinite dual outside of its domain
_EXACTNESS = (1e-4, 1e-8)  # with which the best point between two is sought, until it is better
_FINEST = 1e-14  # tolerance of a model, below which there is only rounding
_MOSTLY = 0.6  # share of kernels in use above which their products are swept all at once


@dataclass(repr=False)
class DualNewton(Solver):
    r"""Replace the dual term by its quadratic model and solve the kernel machine that results.

    For regularizers whose dual term is differentiable: elastic net, :math:`\ell_p` with p > 1,
    block norms. With one output every loss will do, with several a loss that couples them.

    Notes
    -----
    With :math:`d = \nabla\Omega(G)` and :math:`V = [K_1\alpha, \dots, K_M\alpha]`,

    .. math:: \nabla \tfrac12\Omega = K_d\,\alpha, \qquad
              \nabla^2 \tfrac12\Omega = B = K_d + 2 V \frac{\partial d}{\partial G} V^\top,

    so the model is a machine with kernel B and the known offset :math:`(K_d - B)\alpha`. A step
    costs one pass for :math:`K_d` and one for V over the kernels in use, and one for the new G.
    With several outputs the columns of V run over samples and outputs, and :math:`K_d` stands once
    per output, so B is never formed.
    """

    requires_regularizer: ClassVar[tuple[str, ...]] = ("dual_weights", "dual_curvature")

    @classmethod
    def missing(cls, problem: Problem) -> Lack | None:
        """What the parts of a problem lack for this solver, if anything."""
        if problem.y.shape[1] > 1 and not problem.loss.couples_outputs:
            return Lack(f"one output for {problem.loss!r}", f"and there are {problem.y.shape[1]}")
        return super().missing(problem)

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        return answered(self._steps(problem, start), problem.bank)

    def _steps(self, problem: Problem, start: Solution | None) -> Steps[Solution]:
        regularizer, progress = problem.regularizer, Progress(problem, self.tol)
        point = yield from _first_point(problem, start)
        share = 0.1 if problem.loss.smooth else 0.01  # of the gap: how well a model is solved
        least = 0.1 * self.tol
        b: Array | float = 0.0 if start is None else start.intercept
        near: Start | None = None  # where the last model of coupled outputs was minimal
        for _ in range(self.max_iter):
            alpha, (G, V) = point
            d = problem.without_noise(regularizer.dual_weights(G), alpha, G)
            if V is None:
                K = yield _combined(problem, d)  # K(d) = Σ d_m K_m
                f = K @ alpha
            else:
                f = np.tensordot(d, V, axes=1)  # Σ d_m K_m α
            b = problem.best_intercept(f, near=b)
            progress.record(d, alpha, b, G, f)
            if progress.converged or progress.stuck:
                break
            if V is not None:
                K = yield _combined(problem, d)
            B = yield from _curved(K, problem, point)
            model = replace(problem, offset=problem.known + f - B @ alpha)  # B α⁺ + (K_d − B) α
            tol = float(np.clip(share * progress.gap, least, 1.0))
            machine = fit_fixed_weights(model, B, tol, near or Start(alpha, b))
            b, alpha = machine.b, machine.alpha
            near = machine.point if problem.loss.couples_outputs else None
            del K, B, machine  # large, while others take their turn
            last, point = point, (yield from _swept(alpha, d))
            if point.dual(problem) <= last.dual(problem):
                point = yield from _best_between(problem, last, point)
                share, least = 0.1 * share, max(0.1 * least, _FINEST)  # a closer look at the model
        return _with_sweep(progress.solution(self), point)


class _Point(NamedTuple):
    """A dual point with its sweep over the kernels."""

    alpha: Array
    sweep: Sweep

    @property
    def G(self) -> Array:
        r"""The forms :math:`G_m = \alpha^\top K_m \alpha`."""
        return self.sweep.G

    def dual(self, problem: Problem) -> float:
        """The dual objective."""
        return problem.dual_objective(self.alpha, self.G)

    def scaled(self, c: float) -> _Point:
        """The point c times as far from zero."""
        return _Point(c * self.alpha, self.sweep.scaled(c))


def _swept(alpha: Array, d: Array) -> Steps[_Point]:
    """One pass over the bank: for G alone, or for V too where most kernels are in use."""
    sweep = yield Forms(alpha, products=bool(np.mean(d > 0) >= _MOSTLY))
    return _Point(alpha, sweep)


def _first_point(problem: Problem, start: Solution | None) -> Steps[_Point]:
    """The earlier solution, the constant predictor or the first machine, scaled along its ray."""
    d = problem.regularizer.initial_weights(problem.bank.n_kernels)
    if start is not None:
        alpha, d = problem.feasible_dual(start.dual_coef), start.weights
        if start.sweep is not None and np.allclose(alpha, start.dual_coef, rtol=_SAME, atol=0.0):
            point = _Point(alpha, start.sweep)
            return point.scaled(problem.best_scale(point.alpha, point.G))
    elif problem.regularizer.sparse:
        alpha = problem.constant_predictor()[1]
    else:
        K = yield _combined(problem, d)
        alpha = fit_fixed_weights(problem, K, 0.1).alpha
    point = yield from _swept(alpha, d)
    return point.scaled(problem.best_scale(point.alpha, point.G))


def _with_sweep(solution: Solution, last: _Point) -> Solution:
    """The solution with its products with the kernels, if it is the last point."""
    if not np.array_equal(solution.dual_coef, last.alpha):
        return solution
    return replace(solution, sweep=last.sweep)


def _combined(problem: Problem, d: Array) -> Combination:
    """The combined kernel; in double precision where outputs are coupled, whatever the bank's."""
    return Combination(d, roughly=not problem.loss.couples_outputs)


def _curved(K: Any, problem: Problem, point: _Point) -> Steps[Kernel]:
    r"""The matrix :math:`B = K + 2 V (\partial d / \partial G) V^\top`; K is overwritten."""
    D, U, s = problem.regularizer.dual_curvature(point.G)
    bent = np.flatnonzero((D != 0) | (U != 0).any(axis=1))
    if not len(bent):
        B: Kernel = K
        return B
    known = point.sweep.V
    V = (yield Products(point.alpha, bent)) if known is None else known[bent]
    V = V.reshape(len(bent), -1)  # one row K_m α per kernel
    V = np.vstack([V, U[bent].T @ V])  # then the coupling directions
    scales = 2 * np.concatenate([D[bent], s])
    if problem.y.shape[1] > 1:
        return LowRankSum(K, V, scales)
    return add_low_rank(K, V, scales)


def _best_between(problem: Problem, old: _Point, new: _Point) -> Steps[_Point]:
    """The point of largest dual on the segment between two."""
    step = new.alpha - old.alpha
    half = yield Forms(old.alpha + 0.5 * step)
    bend = 2 * (new.G + old.G) - 4 * half.G  # G(s) = G + s·slope + s²·bend, a parabola
    slope = new.G - old.G - bend

    def along(s: float) -> _Point:
        G = np.maximum(old.G + s * slope + s**2 * bend, 0.0)
        return _Point(old.alpha + s * step, Sweep(G, None))

    before = -old.dual(problem)
    for exactness in _EXACTNESS:
        best = minimize_scalar(
            lambda s: min(-along(s).dual(problem), _OUTSIDE),
            bounds=(0.0, 1.0),
            method="bounded",
            options={"xatol": exactness},
        )
        if best.fun < before:
            break
    return along(float(best.x))
