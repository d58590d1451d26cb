"""The kernels of the recipe, and machines on them whose weights lie on the simplex."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._component import Array
from ..._warnings import unsaid
from ...banks import Bank, PackedBank
from ...kernels import RBF, KernelSet, Polynomial
from ...losses import Hinge
from ...regularizers import LpNorm, Uniform
from ...solvers import NewtonWeights, Problem, Solution, choose_solver

BANDWIDTHS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
DEGREES = (1, 2, 3)
_PATIENCE = 100  # iterations before a solver that stands still starts again
_RESTARTS = 5
_SPREAD = 0.1  # of the weights, given back to all kernels before starting again


def recipe(n_features: int) -> KernelSet:
    r"""Ten Gaussian and three polynomial kernels on all variables and on every single one.

    Notes
    -----
    .. math:: k(x, z) = \exp\big(-\|x - z\|^2 / (2\sigma^2)\big), \qquad
              k(x, z) = (1 + x^\top z)^q .

    Training Grams have a *mean* diagonal of one. A trace of one is the same divided by n, which
    is the same machine with C divided by n.
    """
    gaussian = RBF(width=[2 * sigma**2 for sigma in BANDWIDTHS], scale=None)
    polynomial = Polynomial(degree=list(DEGREES), scale=None)
    sources: dict[str, Any] = {"all": slice(0, n_features)}
    sources |= {f"x{j}": [j] for j in range(n_features)}
    return KernelSet(sources, [gaussian, polynomial], normalize="trace")


def kind_of(row: dict[str, Any]) -> str:
    """Which of the four kinds of the recipe a kernel is."""
    family = "Gaussian" if row["family"] == "rbf" else "polynomial"
    return f"{family}, {'all variables' if row['source'] == 'all' else 'one variable'}"


def fit_bank(kernels: KernelSet, X: Array) -> PackedBank:
    """Learn scales from training samples, and keep their Gram matrices."""
    stacks = kernels.fit_stacks(X)
    bank = PackedBank(len(X), kernels.n_kernels_)
    bank.set_kernels(stacks)
    return bank


@dataclass(frozen=True)
class Fit:
    """A solution and what it took.

    Attributes
    ----------
    solution : Solution
    seconds, n_passes : float
        Seconds of the processor and passes over the kernels, of all starts together.
    n_restarts : int
    """

    solution: Solution
    seconds: float
    n_passes: float
    n_restarts: int


def fit_simplex(bank: Bank, y: Array, C: float, tol: float) -> Fit:
    """The hinge loss, and weights that sum to one: the problem of SimpleMKL.

    Where K(d) has low rank, dual coefficients are not unique, the objective has a kink in the
    weights of unused kernels, and the solver may stand still far from its certificate. It starts
    again from weights of which all kernels have some.
    """
    problem = Problem(bank, y, Hinge(), LpNorm(p=1.0, form="ivanov"), C)
    solver = NewtonWeights(tol=tol, max_iter=_PATIENCE)
    even = problem.regularizer.initial_weights(bank.n_kernels)
    began, n_passes = time.process_time(), bank.n_passes
    with unsaid(ConvergenceWarning):  # the gap is in the table
        solution = solver.solve(problem)
        n_restarts = 0
        while not solution.converged and n_restarts < _RESTARTS:
            d = (1 - _SPREAD) * solution.weights + _SPREAD * even
            solution = solver.solve(problem, replace(solution, weights=d))
            n_restarts += 1
    return Fit(solution, time.process_time() - began, bank.n_passes - n_passes, n_restarts)


def fit_even(bank: Bank, y: Array, C: float, tol: float) -> Solution:
    """The same machine on the mean of all kernels."""
    M = bank.n_kernels
    problem = Problem(bank, y, Hinge(), Uniform(), C / M)  # C/M on the sum is C on the mean
    return choose_solver(problem, tol=tol).solve(problem)


def accuracy(kernels: KernelSet, solution: Solution, X: Array, y: Array) -> float:
    """The share of samples on the right side."""
    f = kernels.cross_combine(X, solution.weights, solution.dual_coef[:, 0])
    return float(np.mean(np.sign(f + solution.intercept[0]) == y))
