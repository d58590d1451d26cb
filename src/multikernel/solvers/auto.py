"""The choice of a solver by what the parts of a problem can do, and the reason for it."""

from __future__ import annotations

from typing import NamedTuple

from .alternating import Alternating
from .base import Problem, Solver
from .block_descent import BlockDescent
from .dal import DualAugmentedLagrangian
from .dual_newton import DualNewton
from .newton import NewtonWeights

_PLAIN = {
    "loss.hessian": "a loss with second derivatives",
    "regularizer.dual_weights": "a regularizer with a differentiable dual",
    "regularizer.prox": "a regularizer with a proximal step for every kernel",
    "regularizer.gradient": "a regularizer that is differentiable in the weights",
}
_MANY_SAMPLES = 3000  # above this a square matrix costs more than sweeps over low-rank factors


class _Preferences(NamedTuple):
    """Solvers from the fastest to one for every problem, and why the first is the fastest."""

    solvers: tuple[type[Solver], ...]
    reason: str


def choose_solver(problem: Problem, tol: float = 1e-6, max_iter: int | None = None) -> Solver:
    """The fastest solver that the loss, the regularizer and the bank of a problem allow."""
    kind, _ = _choose(problem)
    return kind(tol=tol) if max_iter is None else kind(tol=tol, max_iter=max_iter)


def explain_solver(problem: Problem) -> str:
    """Why :func:`choose_solver` takes the solver that it takes, to be read after "because".

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.losses import Squared
    >>> from multikernel.regularizers import ElasticNet
    >>> bank = PackedBank.from_grams([np.eye(2)])
    >>> problem = Problem(bank, np.array([[3.0], [0.5]]), Squared(), ElasticNet())
    >>> explain_solver(problem)
    'the dual of the regularizer is smooth'
    """
    return _choose(problem)[1]


def _choose(problem: Problem) -> tuple[type[Solver], str]:
    """The first solver that nothing is missing for; why it is the fastest, or what others lack."""
    reduced, _ = problem.without_atoms
    solvers, reason = _preferences(reduced)
    needs: list[str] = []
    for kind in solvers[:-1]:
        lack = kind.missing(reduced)
        if not lack:
            return kind, _regret(needs) or reason
        needs.append(f"{_PLAIN.get(lack.need, lack.need)} ({kind.__name__})")
    return solvers[-1], _regret(needs) or reason  # the last lacks nothing


def _regret(needs: list[str]) -> str:
    return f"the problem lacks what faster solvers need: {', '.join(needs)}" if needs else ""


def _preferences(problem: Problem) -> _Preferences:
    """What to try, for a problem without atoms."""
    n, M = problem.bank.n_samples, problem.bank.n_kernels
    if hasattr(problem.bank, "factors") and n > _MANY_SAMPLES:
        return _Preferences(
            (BlockDescent, DualNewton, NewtonWeights, Alternating),
            "the kernels are of low rank and the samples many: to sweep over factors costs less "
            "than a square matrix",
        )
    if not problem.regularizer.convex:
        return _Preferences(
            (DualAugmentedLagrangian, DualNewton, Alternating),
            "the curvature of the regularizer's dual has no bound where a kernel is unused",
        )
    if not problem.loss.smooth and n > M:
        return _Preferences(
            (NewtonWeights, DualNewton, Alternating),
            "the loss has kinks and the kernels are fewer than the samples: a model of the "
            "weights is the smaller one",
        )
    return _Preferences(
        (DualNewton, NewtonWeights, Alternating), "the dual of the regularizer is smooth"
    )
