"""PathPlan: all candidates on the training samples of some folds, on paths with warm starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from .._component import Array
from .._warnings import unsaid
from ..banks import Bank
from ..banks.base import Index
from ..banks.shared import SharedSweeps
from ..regularizers import Regularizer
from ..solvers import Problem, Solution, Solver
from ..solvers.asks import Steps, answered, answered_together
from ..solvers.path import path_steps
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

    def up_to(self, n: int, more: FoldResult) -> FoldResult:
        """The first n models, and then those of another result."""
        return FoldResult(
            self.decisions[:n] + more.decisions,
            self.n_active[:n] + more.n_active,
            more.n_unsettled,
            self.train,
            self.solutions[:n] + more.solutions,
        )


@dataclass(frozen=True)
class PathPlan:
    """All that a worker needs to fit some folds: every C and regularizer, with warm starts.

    With ``settled`` a fold ends before the first C at which a fit does not reach its tolerance.
    """

    Cs: Array
    regularizers: list[Regularizer]
    sources: list[str]
    solver: Any
    tol: float
    max_iter: int
    settled: bool = False
    n_workers: int = 1

    def run(self, problems: Sequence[Problem], folds: Sequence[Fold]) -> list[FoldResult]:
        """Fit the training samples of some folds and predict their test samples."""
        bank, n_outputs = problems[0].bank, problems[0].y.shape[1]
        trains = [bank.best_order(train) for train, _ in folds]
        sweeps = bank.shared(trains)
        with unsaid(ConvergenceWarning):  # counted in the results
            if sweeps is not None and (most := sweeps.most(n_outputs, self.n_workers)) > 1:
                paths = self._together(problems, trains, sweeps, most)
            else:
                paths = [path for train in trains for path in self._alone(problems, train)]
        per_fold, results = len(paths) // len(folds), []
        for k, (train, (_, test)) in enumerate(zip(trains, folds, strict=True)):
            own = paths[k * per_fold : (k + 1) * per_fold]
            results.append(_result(problems, own, train, test))
        return results

    def _together(
        self, problems: Sequence[Problem], trains: list[Index], sweeps: SharedSweeps, most: int
    ) -> list[list[Solution]]:
        """Paths by fold, then regularizer, then problem; so many at a time share their sweeps."""
        bank = problems[0].bank
        steps = [
            (k, path)
            for k, train in enumerate(trains)
            for path in self._paths(problems, train, bank.take(train))
        ]
        found: list[list[Solution]] = []
        for batch in gen_batches(len(steps), most):
            sets, paths = zip(*steps[batch], strict=True)
            found += answered_together(paths, sweeps, sets)
        return found

    def _alone(self, problems: Sequence[Problem], train: Index) -> list[list[Solution]]:
        """Paths by regularizer, then problem, of one fold, on a bank that may be a copy."""
        own = problems[0].bank.take(train)
        return [answered(path, own) for path in self._paths(problems, train, own)]

    def _paths(
        self, problems: Sequence[Problem], train: Index, own: Bank
    ) -> list[Steps[list[Solution]]]:
        """What is to be solved on the training samples of a fold."""
        parts = [restrict(problem, train, own) for problem in problems]
        return [self._path(part, r) for r in self.regularizers for part in parts]

    def _path(self, part: Problem, regularizer: Regularizer) -> Steps[list[Solution]]:
        """The solutions of a problem for every C; nothing is made before its turn."""
        part = replace(part, regularizer=regularizer.for_training(part, self.sources))
        solver = self._solver(part)
        return (yield from path_steps(part, self.Cs, solver, settled=self.settled))

    def _solver(self, problem: Problem) -> Solver:
        """The solver asked for, at a tolerance no finer than that of the folds."""
        solver = make_solver(self.solver, problem, self.tol, self.max_iter)
        return replace(solver, tol=max(solver.tol, self.tol))


def _result(
    problems: Sequence[Problem], paths: list[list[Solution]], train: Index, test: Index
) -> FoldResult:
    """What a fold has found, from solutions along C by regularizer and then problem.

    That is for values of C at which every path has a solution.
    """
    outputs, found, count = [], [], len(problems)
    paths = [path[: min(map(len, paths))] for path in paths]
    for of_regularizer in (paths[i : i + count] for i in range(0, len(paths), count)):
        F = [
            decisions(problem.bank, path, train, test)
            for problem, path in zip(problems, of_regularizer, strict=True)
        ]
        outputs.append([np.hstack(at_C) for at_C in zip(*F, strict=True)])
        found.append([list(at_C) for at_C in zip(*of_regularizer, strict=True)])
    solutions = _by_C(found)
    active = [np.mean([np.count_nonzero(s.weights) for s in models]) for models in solutions]
    n_unsettled = sum(not s.converged for models in solutions for s in models)
    return FoldResult(_by_C(outputs), active, n_unsettled, train, solutions)


def _by_C(found: list[list[Any]]) -> list[Any]:
    """What was found for every regularizer and C in the order of the candidates."""
    return [model for at_C in zip(*found, strict=True) for model in at_C]
