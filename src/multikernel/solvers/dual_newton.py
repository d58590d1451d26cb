"""Newton's method on the dual: quadratic convergence where the dual term is smooth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm
from scipy.optimize import minimize_scalar

from .._component import Array
from .base import Problem, Progress, Solution, Solver
from .fixed_weights import Start, fit_fixed_weights

_MOSTLY = 0.6  # share of kernels in use above which their products are swept all at once


@dataclass(repr=False)
class DualNewton(Solver):
    r"""Replace the dual term by its quadratic model and solve the kernel machine that results.

    For one output and regularizers whose dual term is differentiable: elastic net, :math:`\ell_p`
    with p > 1, block norms. Every loss will do.

    Notes
    -----
    With :math:`d = \nabla\Omega(G)` and :math:`V = [K_1\alpha, \dots, K_M\alpha]`,

    .. math:: \nabla \tfrac12\Omega = K_d\,\alpha, \qquad
              \nabla^2 \tfrac12\Omega = B = K_d + 2 V \frac{\partial d}{\partial G} V^\top,

    so the model is a machine with kernel B and the known offset :math:`(K_d - B)\alpha`. A step
    costs one pass for :math:`K_d` and one for V over the kernels in use, and one for the new G.
    """

    requires_regularizer: ClassVar[tuple[str, ...]] = ("dual_weights", "dual_curvature")

    @classmethod
    def missing(cls, problem: Problem) -> str:
        """What the parts of a problem lack for this solver, or an empty string."""
        if problem.y.shape[1] > 1:
            return f"one output, and there are {problem.y.shape[1]}"
        return super().missing(problem)

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        bank, regularizer = problem.bank, problem.regularizer
        progress = Progress(problem, self.tol)
        point = _first_point(problem, start)
        share = 3.0 if problem.loss.smooth else 0.01  # of the gap: how well a model is solved
        for _ in range(self.max_iter):
            alpha, G = point.alpha, point.G
            d = problem.without_noise(regularizer.dual_weights(G), alpha, G)
            K = bank.combine(d)  # K(d) = Σ d_m K_m
            f = K @ alpha
            b = problem.best_intercept(f)
            progress.record(d, alpha, b, G, f)
            if progress.converged:
                break
            _add_low_rank_part(K, problem, point)  # K is now B
            model = replace(problem, offset=problem.known + f - K @ alpha)  # B α⁺ + (K_d − B) α
            tol = float(np.clip(share * progress.gap, 0.1 * self.tol, 1.0))
            machine = fit_fixed_weights(model, K, tol, Start(alpha, b))
            last, point = point, _sweep(problem, machine.alpha, d)
            if problem.dual_objective(*point[:2]) <= problem.dual_objective(*last[:2]):
                point = _best_between(problem, last, point)
                share *= 0.1  # a closer look at the model
        return progress.solution(self)


class _Point(NamedTuple):
    r"""A dual point with :math:`G_m = \alpha^\top K_m \alpha` and, if swept, :math:`K_m\alpha`."""

    alpha: Array
    G: Array
    V: Array | None

    def scaled(self, c: float) -> _Point:
        return _Point(c * self.alpha, c**2 * self.G, None if self.V is None else c * self.V)


def _sweep(problem: Problem, alpha: Array, d: Array) -> _Point:
    """One pass over the bank: for G alone, or for V too where most kernels are in use."""
    if np.mean(d > 0) < _MOSTLY:
        return _Point(alpha, problem.bank.quadratic(alpha), None)
    V = problem.bank.apply(alpha)[:, :, 0]
    return _Point(alpha, np.maximum(V @ alpha[:, 0], 0.0), V)


def _first_point(problem: Problem, start: Solution | None) -> _Point:
    """The earlier solution, the constant predictor or the first machine, scaled along its ray."""
    d = problem.regularizer.initial_weights(problem.bank.n_kernels)
    if start is not None:
        alpha, d = problem.feasible_dual(start.dual_coef), start.weights
    elif problem.regularizer.sparse:
        alpha = problem.constant_predictor()[1]
    else:
        alpha = fit_fixed_weights(problem, problem.bank.combine(d), 0.1).alpha
    point = _sweep(problem, alpha, d)
    return point.scaled(problem.best_scale(point.alpha, point.G))


def _add_low_rank_part(K: Array, problem: Problem, point: _Point) -> None:
    r"""Add the matrix :math:`2 V (\partial d / \partial G) V^\top` to K."""
    D, U, s = problem.regularizer.dual_curvature(point.G)
    bent = np.flatnonzero((D != 0) | (U != 0).any(axis=1))
    if not len(bent):
        return
    V = problem.bank.apply(point.alpha, bent)[:, :, 0] if point.V is None else point.V[bent]
    V = np.vstack([V, U[bent].T @ V])  # one row K_m α per kernel, then the coupling directions
    scales = 2 * np.concatenate([D[bent], s])
    dgemm(1.0, V.T * scales, V.T, beta=1.0, c=K.T, trans_b=True, overwrite_c=True)


def _best_between(problem: Problem, old: _Point, new: _Point) -> _Point:
    """The point of largest dual on the segment between two."""
    step = new.alpha - old.alpha
    G_half = problem.bank.quadratic(old.alpha + 0.5 * step)
    bend = 2 * (new.G + old.G) - 4 * G_half  # G(s) = G + s·slope + s²·bend, a parabola
    slope = new.G - old.G - bend

    def along(s: float) -> _Point:
        return _Point(old.alpha + s * step, np.maximum(old.G + s * slope + s**2 * bend, 0.0), None)

    best = minimize_scalar(
        lambda s: -problem.dual_objective(*along(s)[:2]),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return along(float(best.x))
