"""The choice of a solver by what the parts of a problem can do."""

from __future__ import annotations

from .alternating import Alternating
from .base import Problem, Solver, reduce_to_atoms
from .dual_newton import DualNewton
from .newton import NewtonWeights


def choose_solver(problem: Problem, tol: float = 1e-6, max_iter: int | None = None) -> Solver:
    """The fastest solver that the loss, the regularizer and the bank of a problem allow."""
    reduced, _ = reduce_to_atoms(problem)
    order: list[type[Solver]] = [DualNewton, NewtonWeights, Alternating]
    if not problem.loss.smooth and reduced.bank.n_kernels < reduced.bank.n_samples:
        order = [NewtonWeights, DualNewton, Alternating]  # the smaller of the two models
    kind = next(cls for cls in order if not cls.missing(reduced))
    return kind(tol=tol) if max_iter is None else kind(tol=tol, max_iter=max_iter)
