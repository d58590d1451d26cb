"""Solvers: how the minimum is found; each returns a Solution with its certificate."""

from .alternating import Alternating
from .auto import choose_solver, explain_solver
from .base import Problem, Progress, Solution, Solver
from .block_descent import BlockDescent
from .dal import DualAugmentedLagrangian
from .dual_newton import DualNewton
from .fixed_weights import fit_fixed_weights
from .newton import NewtonWeights
from .path import critical_C, regularization_path, screened_out

SOLVERS: dict[str, type[Solver]] = {
    "alternating": Alternating,
    "newton": NewtonWeights,
    "dual_newton": DualNewton,
    "dal": DualAugmentedLagrangian,
    "block_descent": BlockDescent,
}

__all__ = [
    "SOLVERS",
    "Alternating",
    "BlockDescent",
    "DualAugmentedLagrangian",
    "DualNewton",
    "NewtonWeights",
    "Problem",
    "Progress",
    "Solution",
    "Solver",
    "choose_solver",
    "critical_C",
    "explain_solver",
    "fit_fixed_weights",
    "regularization_path",
    "screened_out",
]
