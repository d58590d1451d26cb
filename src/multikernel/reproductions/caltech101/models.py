"""What is compared: every model as a path over its regularization constants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._component import Array
from ...banks import Bank, PackedBank
from ...losses import Hinge, Logistic, Loss, Squared
from ...regularizers import ElasticNet, LpNorm, Regularizer, Uniform
from ...solvers import Problem, regularization_path
from .evidence import evaluate, settled_weights, updated_weights

PENALTIES = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)  # the paper's C, of which ours is the inverse
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # for the ℓ2-norm: a factor of the loss, as ours is
_STATIONARY = 1e-4  # of the evidence, at least
LAMBDAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Machine(NamedTuple):
    """Kernel weights, and a function of their combined kernel."""

    weights: Array
    dual_coef: Array
    intercept: float

    def decide(self, K: Array) -> Array:
        """Decisions, from the combined kernel between others and the training samples."""
        return np.asarray(K @ self.dual_coef + self.intercept)


class Model(ABC):
    """A method and its candidates for the constant, from the strongest regularization on."""

    constants: tuple[float, ...]

    @abstractmethod
    def path(self, bank: Bank, y: Array, constants: Sequence[float], tol: float) -> list[Machine]:
        """Machines at some of the constants, in the same order."""


@dataclass(frozen=True)
class Convex(Model):
    """A loss and a regularizer, solved to a relative duality gap."""

    loss: Loss
    regularizer: Regularizer
    constants: tuple[float, ...] = PENALTIES
    inverse: bool = True  # whether the constant is one over C

    def path(self, bank: Bank, y: Array, constants: Sequence[float], tol: float) -> list[Machine]:
        """Machines at some of the constants, each started from the last."""
        problem = Problem(bank, y[:, np.newaxis], self.loss, self.regularizer)
        Cs = [1 / constant if self.inverse else constant for constant in constants]
        solutions = regularization_path(problem, Cs, tol=tol)
        return [Machine(s.weights, s.dual_coef[:, 0], float(s.intercept[0])) for s in solutions]


@dataclass(frozen=True)
class UniformSum(Model):
    """The plain sum of all kernels, which is one kernel."""

    loss: Loss
    constants: tuple[float, ...] = PENALTIES

    def path(self, bank: Bank, y: Array, constants: Sequence[float], tol: float) -> list[Machine]:
        """Machines at some of the constants, with weights of one."""
        d = np.ones(bank.n_kernels)
        total = PackedBank.from_grams([bank.combine(d)])
        machines = Convex(self.loss, Uniform()).path(total, y, constants, tol)
        return [machine._replace(weights=d) for machine in machines]


@dataclass(frozen=True)
class EmpiricalBayes(Model):
    """Weights that maximise the evidence of Gaussian noise, whose variance is the constant.

    Larger variances start from smaller ones.
    """

    constants: tuple[float, ...] = PENALTIES

    def path(self, bank: Bank, y: Array, constants: Sequence[float], tol: float) -> list[Machine]:
        """Machines at some of the variances."""
        y = y[:, np.newaxis]
        d = updated_weights(bank, y, min(self.constants))
        found: dict[float, Machine] = {}
        for noise_var in sorted(c for c in self.constants if c <= max(constants)):
            d = settled_weights(bank, y, noise_var, d, min(tol, _STATIONARY))
            e = evaluate(bank, y, noise_var, d)
            found[noise_var] = Machine(d, e.alpha[:, 0], float(e.intercept[0]))
        return [found[constant] for constant in constants]


def elastic_net(lam: float) -> Model:
    """The elastic net of the paper: λ = 0 is the block 1-norm, λ = 1 the uniform sum."""
    if lam == 1:
        return UniformSum(Logistic())
    return Convex(Logistic(), LpNorm(1.0) if lam == 0 else ElasticNet(l1_ratio=1 - lam))


MODELS: dict[str, Model] = {
    **{f"elastic {lam:g}": elastic_net(lam) for lam in sorted({*LAMBDAS, 0.5})},
    "uniform squared": UniformSum(Squared()),
    "l2": Convex(Hinge(), LpNorm(2.0, form="ivanov"), COSTS, inverse=False),
    "evidence": EmpiricalBayes(),
}

UNIFORM, UNIFORM_SQUARED, BLOCK_1 = "uniform (logit)", "uniform (square)", "block 1-norm"
ELASTIC, ELASTIC_CV = "elastic net (0.5)", "elastic net (λ by CV)"
L2, EVIDENCE = "ℓ2-norm", "empirical Bayes"
METHODS: dict[str, tuple[str, ...]] = {  # what cross-validation chooses from
    UNIFORM: ("elastic 1",),
    UNIFORM_SQUARED: ("uniform squared",),
    BLOCK_1: ("elastic 0",),
    ELASTIC: ("elastic 0.5",),
    ELASTIC_CV: tuple(f"elastic {lam:g}" for lam in LAMBDAS),
    L2: ("l2",),
    EVIDENCE: ("evidence",),
}
