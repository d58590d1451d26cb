"""The choice of a solver by what the parts of a problem can do."""

from __future__ import annotations

from .alternating import Alternating
from .base import Problem, Solver, reduce_to_atoms
from .block_descent import BlockDescent
from .dal import DualAugmentedLagrangian
from .dual_newton import DualNewton
from .newton import NewtonWeights

_MANY_SAMPLES = 3000  # above this a square matrix costs more than sweeps over low-rank factors


def choose_solver(problem: Problem, tol: float = 1e-6, max_iter: int | None = None) -> Solver:
    """The fastest solver that the loss, the regularizer and the bank of a problem allow."""
    reduced, _ = reduce_to_atoms(problem)
    kind = next(cls for cls in _preferences(reduced) if not cls.missing(reduced))
    return kind(tol=tol) if max_iter is None else kind(tol=tol, max_iter=max_iter)


def _preferences(problem: Problem) -> list[type[Solver]]:
    """Solvers from the fastest to the most general, for a problem without atoms."""
    n, M = problem.bank.n_samples, problem.bank.n_kernels
    if hasattr(problem.bank, "factors") and n > _MANY_SAMPLES:
        return [BlockDescent, DualNewton, NewtonWeights, Alternating]
    if not problem.regularizer.convex:  # its dual curvature is unbounded where a kernel is unused
        return [DualAugmentedLagrangian, DualNewton, Alternating]
    if not problem.loss.smooth and n > M:
        return [NewtonWeights, DualNewton, Alternating]  # the model in the weights is the smaller
    return [DualNewton, NewtonWeights, Alternating]
