"""PathPlan: all candidates on the training samples of one fold, on paths with warm starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._component import Array
from ..banks.base import Index
from ..regularizers import Regularizer
from ..solvers import Problem, Solution, Solver, regularization_path
from ._base import make_solver
from ._cross_validation import Fold
from ._folds import decisions, restrict


class FoldResult(NamedTuple):
    """The models of one fold, in the order of the candidates, and what they say of its samples.

    Attributes
    ----------
    decisions : list of arrays of shape (n_test, n_outputs)
    n_active : list of float
    n_unsettled : int
        Fits that did not reach their tolerance.
    train : array of int
        The samples that the solutions belong to, in their order.
    solutions : list of lists of Solution
        For every candidate one per problem.
    """

    decisions: list[Array]
    n_active: list[np.floating[Any]]
    n_unsettled: int
    train: Index
    solutions: list[list[Solution]]


@dataclass(frozen=True)
class PathPlan:
    """All that a worker needs to fit one fold: every C for every regularizer, with warm starts."""

    Cs: Array
    regularizers: list[Regularizer]
    sources: list[str]
    solver: Any
    tol: float
    max_iter: int

    def run(self, problems: Sequence[Problem], fold: Fold) -> FoldResult:
        """Fit the training samples of a fold and predict its test samples."""
        train, test = problems[0].bank.best_order(fold[0]), fold[1]
        parts = [restrict(problem, train) for problem in problems]
        outputs, found = [], []
        for regularizer in self.regularizers:
            paths = [self._path(part, regularizer) for part in parts]
            F = [
                decisions(problem.bank, path, train, test)
                for problem, path in zip(problems, paths, strict=True)
            ]
            outputs.append([np.hstack(at_C) for at_C in zip(*F, strict=True)])
            found.append([list(at_C) for at_C in zip(*paths, strict=True)])
        solutions = _by_C(found)
        active = [np.mean([np.count_nonzero(s.weights) for s in models]) for models in solutions]
        n_unsettled = sum(not s.converged for models in solutions for s in models)
        return FoldResult(_by_C(outputs), active, n_unsettled, train, solutions)

    def _path(self, part: Problem, regularizer: Regularizer) -> list[Solution]:
        """The solutions of a problem for every C."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted by run
            part = replace(part, regularizer=regularizer.for_training(part, self.sources))
            return regularization_path(part, self.Cs, solver=self._solver(part))

    def _solver(self, problem: Problem) -> Solver:
        """The solver asked for, at a tolerance no finer than that of the folds."""
        solver = make_solver(self.solver, problem, self.tol, self.max_iter)
        return replace(solver, tol=max(solver.tol, self.tol))


def _by_C(found: list[list[Any]]) -> list[Any]:
    """What was found for every regularizer and C in the order of the candidates."""
    return [model for at_C in zip(*found, strict=True) for model in at_C]
