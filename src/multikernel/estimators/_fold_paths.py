"""PathPlan: all candidates on the training samples of some folds, on paths with warm starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from .._component import Array
from ..banks.base import Index
from ..banks.shared import SharedSweeps
from ..regularizers import Regularizer
from ..solvers import Problem, Solution, Solver, path_steps
from ..solvers.asks import Steps, answered, answered_together
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
    """All that a worker needs to fit some folds: every C and regularizer, with warm starts."""

    Cs: Array
    regularizers: list[Regularizer]
    sources: list[str]
    solver: Any
    tol: float
    max_iter: int

    def run(self, problems: Sequence[Problem], folds: Sequence[Fold]) -> list[FoldResult]:
        """Fit the training samples of some folds and predict their test samples."""
        bank = problems[0].bank
        trains = [bank.best_order(train) for train, _ in folds]
        parts = [[restrict(problem, train) for problem in problems] for train in trains]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted in the results
            paths = iter(self._paths(parts, bank.shared(trains)))
        results = []
        for train, (_, test) in zip(trains, folds, strict=True):
            of_fold = [[next(paths) for _ in problems] for _ in self.regularizers]
            results.append(_result(problems, of_fold, train, test))
        return results

    def _paths(
        self, parts: list[list[Problem]], sweeps: SharedSweeps | None
    ) -> list[list[Solution]]:
        """The solutions for every C, by fold, then regularizer, then problem."""
        asking = [
            (k, part, regularizer)
            for k, problems in enumerate(parts)
            for regularizer in self.regularizers
            for part in problems
        ]
        if sweeps is None or (most := sweeps.most(parts[0][0].y.shape[1])) < 2:
            return [answered(self._path(part, r), part.bank) for _, part, r in asking]
        found: list[list[Solution]] = []
        for batch in gen_batches(len(asking), most):
            steps = [self._path(part, regularizer) for _, part, regularizer in asking[batch]]
            found += answered_together(steps, sweeps, [k for k, _, _ in asking[batch]])
        return found

    def _path(self, part: Problem, regularizer: Regularizer) -> Steps[list[Solution]]:
        """The solutions of a problem for every C."""
        part = replace(part, regularizer=regularizer.for_training(part, self.sources))
        return path_steps(part, self.Cs, self._solver(part))

    def _solver(self, problem: Problem) -> Solver:
        """The solver asked for, at a tolerance no finer than that of the folds."""
        solver = make_solver(self.solver, problem, self.tol, self.max_iter)
        return replace(solver, tol=max(solver.tol, self.tol))


def _result(
    problems: Sequence[Problem], paths: list[list[list[Solution]]], train: Index, test: Index
) -> FoldResult:
    """What a fold has found: for every regularizer and problem its solutions along C."""
    outputs = []
    for of_regularizer in paths:
        F = [
            decisions(problem.bank, path, train, test)
            for problem, path in zip(problems, of_regularizer, strict=True)
        ]
        outputs.append([np.hstack(at_C) for at_C in zip(*F, strict=True)])
    solutions = _by_C([[list(at_C) for at_C in zip(*part, strict=True)] for part in paths])
    active = [np.mean([np.count_nonzero(s.weights) for s in models]) for models in solutions]
    n_unsettled = sum(not s.converged for models in solutions for s in models)
    return FoldResult(_by_C(outputs), active, n_unsettled, train, solutions)


def _by_C(found: list[list[Any]]) -> list[Any]:
    """What was found for every regularizer and C in the order of the candidates."""
    return [model for at_C in zip(*found, strict=True) for model in at_C]
