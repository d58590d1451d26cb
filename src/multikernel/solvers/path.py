"""Regularization paths: one problem at many C, each started from the last, with safe screening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._component import Array
from .._warnings import unsaid
from .asks import Steps, answered
from .auto import choose_solver
from .base import Problem, Progress, Solution, Solver, expand_atoms

_COARSE = 1e-2  # gap at which kernels are screened
_WORTH = 0.5  # a smaller bank is built only if at most this share of the kernels is left


def critical_C(problem: Problem) -> float:
    r"""The largest C at which the best predictor is constant, for smooth losses.

    Zero for regularizers that never switch a kernel off.

    Notes
    -----
    With :math:`a_0 = -\ell'(y, b_0)` at the best constant, the largest C for which
    :math:`\Omega(C^2 a_0^\top K_m a_0) = 0`; the block 1-norm gives
    :math:`1 / \sqrt{\max_m a_0^\top K_m a_0}`.
    """
    reduced, _ = replace(problem, C=1.0).without_atoms
    alpha = reduced.constant_predictor()[1]
    return reduced.regularizer.zero_scale(reduced.bank.quadratic(alpha))


def screened_out(problem: Problem, solution: Solution, bounds: Array) -> NDArray[np.bool_]:
    r"""The kernels whose weight is certainly zero at the optimum, for smooth losses.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        A solution of any accuracy; the better it is, the more kernels are excluded.
    bounds : array of shape (n_kernels,)
        Upper bounds of the largest eigenvalues of the kernels.

    Notes
    -----
    The dual is strongly concave, so a point :math:`c\,\alpha` with duality gap :math:`\Delta` lies
    within :math:`\varrho = \sqrt{2 C L\,\Delta}` of the optimum, and
    :math:`c\sqrt{G_m} + \varrho \sqrt{\lambda_{\max}(K_m)} < \tau` excludes :math:`d_m > 0`.
    """
    regularizer = problem.regularizer
    if not problem.loss.smooth or regularizer.active_threshold == 0:
        return np.zeros(problem.bank.n_kernels, dtype=bool)
    G = problem.bank.quadratic(solution.dual_coef)
    c = regularizer.dual_scale(G)
    gap = solution.objective - problem.dual_ray(solution.dual_coef, G)(c)
    gap = max(gap, 0.0) + 1e-15 * abs(solution.objective)  # rounding of the difference
    radius = np.sqrt(2 * float(problem.cost.max()) * problem.loss.curvature_bound * gap)
    largest: Array = c * np.sqrt(G) + radius * np.sqrt(bounds)
    return largest < regularizer.active_threshold


def regularization_path(
    problem: Problem,
    Cs: Sequence[float] | Array,
    *,
    solver: Solver | None = None,
    tol: float = 1e-6,
    screen: bool = False,
) -> list[Solution]:
    """Solve a problem at several C, in the order given, each started from the solution before.

    Parameters
    ----------
    problem : Problem
        Its own C is not used.
    Cs : sequence of float
        Increasing values give the best starts.
    solver : Solver, optional
        By default the one that :func:`choose_solver` picks.
    tol : float, default=1e-6
        Relative duality gap of every solution, where no solver is given.
    screen : bool, default=False
        Solve coarsely first and drop the kernels that are certainly not needed. It pays for solvers
        that read every kernel in every step; those chosen by default do not.

    Returns
    -------
    solutions : list of Solution

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.losses import Squared
    >>> from multikernel.regularizers import LpNorm
    >>> from multikernel.solvers import Problem
    >>> bank = PackedBank.from_grams([np.diag([4.0, 0.0]), np.diag([0.0, 1.0])])
    >>> problem = Problem(bank, np.array([[3.0], [0.5]]), Squared(), LpNorm(), fit_intercept=False)
    >>> path = regularization_path(problem, [0.1, 1.0, 10.0])
    >>> [int(np.sum(s.weights > 1e-6)) for s in path]
    [0, 1, 2]
    """
    steps = path_steps(problem, Cs, solver or choose_solver(problem, tol=tol), screen=screen)
    return answered(steps, problem.bank)


def path_steps(
    problem: Problem,
    Cs: Sequence[float] | Array,
    solver: Solver,
    *,
    screen: bool = False,
    settled: bool = False,
) -> Steps[list[Solution]]:
    """The path of :func:`regularization_path`, asking for sweeps over the bank of the problem.

    With ``settled`` it ends before the first solution that does not reach its tolerance.
    """
    reduced, T = problem.without_atoms
    if T is not None:  # mixtures of kernels answer for themselves
        steps = path_steps(reduced, Cs, solver, screen=screen, settled=settled)
        path = answered(steps, reduced.bank)
        return [expand_atoms(problem.bank, solution, T) for solution in path]
    bounds = problem.bank.eigenvalue_bounds() if screen else None
    solutions: list[Solution] = []
    start: Solution | None = None
    for C, C_next in zip(Cs, [*Cs[1:], 1.0], strict=True):
        at_C = replace(problem, C=float(C))
        if bounds is None:
            solution = yield from solver.steps(at_C, start, keep_sweep=True)
        else:
            solution = _solve_with_screening(solver, at_C, start, bounds)
        if settled and not solution.converged:
            break
        solutions.append(replace(solution, sweep=None))
        start = _rescaled(solution, float(C_next) / float(C))
    return solutions


def _rescaled(solution: Solution, factor: float) -> Solution:
    """A solution as the start for another C: the dual coefficients scale with it."""
    sweep = None if solution.sweep is None else solution.sweep.scaled(factor)
    return replace(solution, dual_coef=factor * solution.dual_coef, sweep=sweep)


def _solve_with_screening(
    solver: Solver, problem: Problem, start: Solution | None, bounds: Array
) -> Solution:
    """A coarse solution, then an exact one on the kernels it could not exclude."""
    if solver.tol >= _COARSE:
        return solver.solve(problem, start)
    coarse = _quietly(replace(solver, tol=_COARSE), problem, start)
    out = screened_out(problem, coarse, bounds)
    if np.mean(~out) > _WORTH or not np.any(~out):
        return solver.solve(problem, coarse)
    kept = np.flatnonzero(~out)
    small = replace(problem, bank=problem.bank.select(kept))
    part = _quietly(solver, small, replace(coarse, weights=coarse.weights[kept]))
    d = np.zeros(problem.bank.n_kernels)
    d[kept] = part.weights
    progress = Progress(problem, solver.tol)
    G = problem.bank.quadratic(part.dual_coef)
    progress.record(d, part.dual_coef, part.intercept, G, problem.bank.combine(d) @ part.dual_coef)
    whole = progress.solution(solver)
    return whole if whole.converged else solver.solve(problem, whole)


def _quietly(solver: Solver, problem: Problem, start: Solution | None) -> Solution:
    """A solution on the way to another, whose convergence is not the last word."""
    with unsaid(ConvergenceWarning):
        return solver.solve(problem, start)
