"""Weights by the part of each kernel in the margin of a machine on the uniform sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._component import Array
from ..losses import Squared, SquaredHinge
from ..regularizers import Uniform
from ..solvers import Problem, choose_solver
from .base import WeightRule, of_mean_one


@dataclass(repr=False, eq=False)
class MarginShares(WeightRule):
    r"""Train one machine on the mean of the kernels and weigh each by its share in the margin.

    The idea of EasyMKL: the more a kernel pushes the classes apart, the more weight it gets. Labels
    use the squared hinge loss, whose dual regularizes the hulls of the classes as EasyMKL does,
    and other targets the squared loss.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization of the machine, counted on the mean of the kernels.

    Notes
    -----
    .. math:: d_m \propto \alpha^\top K_m\, \alpha

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import Hinge, PackedBank, Problem, Uniform
    >>> y = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> bank = PackedBank.from_grams([y @ y.T, np.eye(4)])
    >>> d = MarginShares().weights(Problem(bank, y, Hinge(), Uniform()), "ab")
    >>> bool(d[0] > 3 * d[1])
    True
    """

    C: float = 1.0
    examples: ClassVar = ({}, {"C": 10.0})

    def weights(self, problem: Problem, sources: Sequence[str]) -> Array:
        """Shares in the squared margin, of mean one."""
        labels = bool(np.all(np.abs(problem.y) == 1))
        loss = SquaredHinge() if labels else Squared()
        machine = replace(
            problem, loss=loss, regularizer=Uniform(), C=self.C / problem.bank.n_kernels
        )
        solution = choose_solver(machine, tol=1e-3).solve(machine)
        return of_mean_one(problem.bank.quadratic(solution.dual_coef))
