"""Q-norm problems with every loss and every kind of Q, against an independent convex solver."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import draw_targets, instances, name_of
from numpy.testing import assert_allclose
from oracle import objective_by_hand, solve_with_cvxpy

from multikernel.banks import FactoredBank, PackedBank
from multikernel.losses import LOSSES, Hinge, Logistic, Squared
from multikernel.regularizers import LpNorm, QNorm, ivanov_to_tikhonov, tikhonov_to_ivanov
from multikernel.solvers import Alternating, NewtonWeights, Problem, choose_solver

N, M = 14, 6
FORMS = ["ivanov", "tikhonov"]


def laplacian():
    W = np.abs(np.subtract.outer(np.arange(M), np.arange(M))) == 1
    return np.diag(W.sum(axis=1)) - W


def random_psd(rank, seed=3):
    A = np.random.default_rng(seed).normal(size=(M, rank))
    return A @ A.T


def ill_conditioned():
    U = np.linalg.qr(np.random.default_rng(5).normal(size=(M, M)))[0]
    Q = (U * np.logspace(0, -8, M)) @ U.T
    return (Q + Q.T) / 2


MATRICES = {
    "ones": np.ones((M, M)),
    "identity": np.eye(M),
    "random": random_psd(M),
    "laplacian": laplacian() + 0.1 * np.eye(M),
    "laplacian+blocks": laplacian() + np.kron(np.eye(2), np.ones((3, 3))),
    "singular": random_psd(3, seed=4) + 0.5 * np.ones((M, M)),
    "1e8-conditioned": ill_conditioned(),
}


def grams():
    rng = np.random.default_rng(11)
    Zs = [rng.normal(size=(N, rank)) for rank in (2, 3, 5, 8, 4, 14)]
    return [Z @ Z.T * N / np.sum(Z**2) for Z in Zs]


def make(loss, regularizer, seed=0, C=2.0, fit_intercept=True):
    rng = np.random.default_rng(seed)
    y = draw_targets(loss.y_domain, rng, N, n_outputs=3 if loss.couples_outputs else 1)
    return Problem(PackedBank.from_grams(grams()), y, loss, regularizer, C, fit_intercept)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("loss", instances(LOSSES), ids=name_of)
def test_agreement_with_cvxpy(loss, kind, form):
    seed = sum(map(ord, kind + form + repr(loss)))
    regularizer = QNorm(MATRICES[kind], form=form)
    problem = make(loss, regularizer, seed, C=(0.5, 2.0, 8.0)[seed % 3], fit_intercept=seed % 2 > 0)
    solution = choose_solver(problem, tol=1e-7, max_iter=500).solve(problem)
    answer = solve_with_cvxpy(
        grams(), problem.y, loss, regularizer, problem.C, problem.fit_intercept
    )
    assert solution.gap <= 1e-7
    assert solution.objective == pytest.approx(answer.objective, rel=1e-6)
    assert solution.dual_objective <= answer.objective * (1 + 1e-7)
    found = (solution.weights, solution.dual_coef, solution.intercept)
    by_hand = objective_by_hand(grams(), problem.y, loss, regularizer, problem.C, None, *found)
    assert solution.objective == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared()], ids=repr)
def test_special_matrices_are_norms(loss):
    pairs = [
        (QNorm(np.ones((M, M))), LpNorm(p=1.0, form="ivanov")),
        (QNorm(np.eye(M)), LpNorm(p=2.0, form="ivanov")),
        (QNorm(np.eye(M) / 2, form="tikhonov"), LpNorm(p=2.0)),
    ]
    for regularizer, norm in pairs:
        ours = NewtonWeights(tol=1e-9).solve(make(loss, regularizer))
        theirs = NewtonWeights(tol=1e-9).solve(make(loss, norm))
        assert_allclose(ours.objective, theirs.objective, rtol=1e-8)


@pytest.mark.parametrize("kind", ["random", "laplacian", "1e8-conditioned"])
def test_penalised_and_bounded_problems_have_the_same_predictor(kind):
    Q = MATRICES[kind]
    bounded = make(Logistic(), QNorm(Q), C=1.5)
    solution = NewtonWeights(tol=1e-11).solve(bounded)
    same = ivanov_to_tikhonov(bounded.regularizer, 1.5, solution.weights, solution.sq_norms)
    penalised = replace(bounded, regularizer=same.regularizer, C=same.C)
    other = NewtonWeights(tol=1e-11).solve(penalised)
    assert_allclose(other.weights, same.weights, rtol=1e-3, atol=1e-4 * same.weights.max())
    back = tikhonov_to_ivanov(same.regularizer, same.C, other.weights)
    assert_allclose(back.C, 1.5, rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_every_solver_and_every_bank_agree(form):
    rng = np.random.default_rng(0)
    Zs = [rng.normal(size=(N, rank)) for rank in (2, 3, 2, 4, 3, 2)]
    regularizer = QNorm(MATRICES["random"], form=form)
    problem = make(Logistic(), regularizer)
    banks = [PackedBank.from_grams([Z @ Z.T for Z in Zs]), FactoredBank(Zs)]
    solvers = [NewtonWeights(tol=1e-7), Alternating(tol=1e-6, max_iter=5000)]
    values = [s.solve(replace(problem, bank=b)).objective for b in banks for s in solvers]
    assert_allclose(values, values[0], rtol=2e-6)


def test_several_outputs_share_the_weights():
    rng = np.random.default_rng(2)
    problem = make(Squared(), QNorm(MATRICES["laplacian"]))
    problem = replace(problem, y=rng.normal(size=(N, 4)))
    solution = choose_solver(problem, tol=1e-8).solve(problem)
    answer = solve_with_cvxpy(grams(), problem.y, Squared(), problem.regularizer, problem.C)
    assert_allclose(solution.objective, answer.objective, rtol=1e-6)


def test_attracting_kernels_carry_an_unused_one():
    """A kernel whose function is zero has a weight where others pull it."""
    Q = np.array([[1.0, -0.9], [-0.9, 1.0]])
    X = np.random.default_rng(0).normal(size=(N, 2))
    bank = PackedBank.from_grams([X @ X.T, np.zeros((N, N))])
    y = np.sign(X[:, :1] + 0.1)
    solution = NewtonWeights().solve(Problem(bank, y, Hinge(), QNorm(Q)))
    assert_allclose(solution.weights[1], 0.9 * solution.weights[0], rtol=1e-3)
    assert solution.sq_norms[1] == 0
    repelled = NewtonWeights().solve(Problem(bank, y, Hinge(), QNorm(np.abs(Q))))
    assert repelled.weights[1] == 0
