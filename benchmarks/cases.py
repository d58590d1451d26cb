"""The problems that are solved on each workload, and the goals they are held to."""

from __future__ import annotations

from dataclasses import dataclass

from workloads import Array

from multikernel.banks import Bank
from multikernel.losses import LOSSES
from multikernel.regularizers import ElasticNet, LpNorm, Regularizer
from multikernel.solvers import Problem

REGULARIZERS: dict[str, Regularizer] = {
    "elastic net": ElasticNet(l1_ratio=0.5),
    "block-1": LpNorm(1.0),
    "l1 ball": LpNorm(1.0, "ivanov"),
    "l2 ball": LpNorm(2.0, "ivanov"),
    "l1.5 power": LpNorm(1.5),
    "l2 power": LpNorm(2.0),
}

# Goals in bank passes of time; hinge with weights in the l1 ball is hinge block-1 in Ivanov form.
GOALS = {
    ("logistic", "elastic net"): 15.0,
    ("logistic", "block-1"): 40.0,
    ("hinge", "l2 ball"): 15.0,
    ("hinge", "l1 ball"): 50.0,
}
_JUDGED = ("W1", "W2", "W3")  # the banks that do not fit into a cache
MEMORY_GOAL = 1.3  # peak during the fit, in units of the bank

_PENALISED_C = {"W0": 1.0, "W1": 1.0, "W2": 0.2, "W3": 0.1, "W4": 0.1, "W5": 0.2}

_SQUARED = [("squared", "l2 power"), ("squared", "l1.5 power")]
_FOUR = list(GOALS)
_PAIRS = {
    "W0": [*_FOUR, *_SQUARED],
    "W1": _FOUR,
    "W2": [
        *_FOUR,
        ("hinge", "elastic net"),
        ("logistic", "l2 ball"),
    ],
    "W3": [*_FOUR, *_SQUARED],
    "W4": [("squared", "block-1"), ("squared", "elastic net"), *_SQUARED],
    "W5": [("squared", "block-1"), ("squared", "elastic net"), *_SQUARED],
}


@dataclass(frozen=True)
class Case:
    """A loss, a regularizer and C on a workload."""

    workload: str
    loss: str
    regularizer: str
    C: float
    intercept: bool = True

    @property
    def name(self) -> str:
        """What the tables call it."""
        return f"{self.loss}, {self.regularizer}"

    @property
    def goal(self) -> float | None:
        """Bank passes allowed, where there is a goal."""
        return GOALS.get((self.loss, self.regularizer)) if self.workload in _JUDGED else None

    def problem(self, bank: Bank, y: Array) -> Problem:
        """The problem on a bank."""
        loss, regularizer = LOSSES[self.loss](), REGULARIZERS[self.regularizer]
        return Problem(bank, y[:, None], loss, regularizer, self.C, self.intercept)


def cases(workload: str) -> list[Case]:
    """The cases of a workload."""
    return [
        Case(workload, *pair, C=_inverse_regularization(workload, pair[1]))
        for pair in _PAIRS[workload]
    ]


def _inverse_regularization(workload: str, regularizer: str) -> float:
    if regularizer.endswith("ball"):
        return 10.0
    return 1.0 if regularizer.endswith("power") else _PENALISED_C[workload]
