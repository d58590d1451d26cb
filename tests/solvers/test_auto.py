"""The choice of a solver, and the reason that is given for it."""

import numpy as np
import pytest
from helpers import instances
from problems import make_problem

from multikernel.banks import FactoredBank
from multikernel.losses import LOSSES, Hinge, Logistic, Squared
from multikernel.regularizers import REGULARIZERS, BlockNorm, ElasticNet, LpNorm, QNorm
from multikernel.solvers import Problem, auto, choose_solver, explain_solver


def low_rank(n):
    rng = np.random.default_rng(0)
    factors = [rng.normal(size=(n, 1)) for _ in range(2)]
    return Problem(FactoredBank(factors), rng.normal(size=(n, 1)), Squared(), ElasticNet())


@pytest.mark.parametrize(
    ("problem", "solver", "reason"),
    [
        (make_problem(Squared(), ElasticNet()), "DualNewton", "dual of the regularizer is smooth"),
        (make_problem(Hinge(), ElasticNet()), "NewtonWeights", "the loss has kinks"),
        (
            make_problem(Hinge(), ElasticNet(), n=5),
            "DualNewton",
            "dual of the regularizer is smooth",
        ),
        (make_problem(Logistic(), LpNorm(1.0)), "NewtonWeights", "able dual (DualNewton)"),
        (make_problem(Squared(), BlockNorm(4.0)), "DualAugmentedLagrangian", "has no bound"),
        (low_rank(3001), "BlockDescent", "of low rank and the samples many"),
        (low_rank(30), "DualNewton", "dual of the regularizer is smooth"),
    ],
    ids=lambda given: None if isinstance(given, Problem) else given,
)
def test_reasons_belong_to_the_solver_that_is_chosen(problem, solver, reason):
    assert type(choose_solver(problem)).__name__ == solver
    assert reason in explain_solver(problem)


@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_every_choice_has_a_reason_of_one_line(loss, n_outputs):
    for regularizer in instances(REGULARIZERS):
        problem = make_problem(loss, regularizer, n=8, n_outputs=n_outputs)
        chosen, reason = type(choose_solver(problem)).__name__, explain_solver(problem)
        assert 10 < len(reason) < 200
        assert reason == " ".join(reason.split())
        assert chosen not in reason  # what it says of others is what they need


def test_matrices_are_not_part_of_a_reason():
    reason = explain_solver(make_problem(Squared(), QNorm(np.eye(6))))
    need = "a regularizer with a differentiable dual (DualNewton)"
    assert reason == f"the problem lacks what faster solvers need: {need}"


def test_the_choice_and_its_reason_come_from_one_place(monkeypatch):
    only = auto._Preferences((auto.Alternating,), "it was asked for")
    monkeypatch.setattr(auto, "_preferences", lambda problem: only)
    problem = make_problem(Squared(), ElasticNet())
    assert type(choose_solver(problem)).__name__ == "Alternating"
    assert explain_solver(problem) == "it was asked for"
