"""Chosen: a problem whose parameters are settled, and where its solution is to begin."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from .._warnings import unsaid
from ..banks import Bank
from ..solvers import Problem, Solution, Solver

_TRUSTED = 1e-4  # gap down to which a bank in single precision can be trusted
_MAX_STEPS = 10  # on it, which are half as dear as those on the exact one


class Chosen(NamedTuple):
    """A problem to be solved and, where the folds of a cross-validation tell one, where to begin.

    Attributes
    ----------
    problem : Problem
    bank : Bank, optional
        The same kernels as those of the problem, perhaps less exact, for the first steps.
    start : Solution, optional
    """

    problem: Problem
    bank: Bank | None = None
    start: Solution | None = None

    def near(self, solver: Solver) -> Solution | None:
        """A solution from which the last steps begin; None where minima may differ by the start."""
        if not self.problem.regularizer.convex:
            return None
        if self.bank is None or self.bank is self.problem.bank:
            return self.start
        with unsaid(ConvergenceWarning):  # the last steps have the last word
            few = min(solver.max_iter, _MAX_STEPS)
            coarse = replace(solver, tol=max(solver.tol, _TRUSTED), max_iter=few)
            return coarse.solve(replace(self.problem, bank=self.bank), self.start)
