"""Solvers that ask for sweeps find the same alone and together, and together with fewer passes."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import draw_targets
from numpy.testing import assert_allclose

from multikernel._linalg import SingleMatrix
from multikernel.banks import PackedBank, packed
from multikernel.banks.shared import SharedSweeps
from multikernel.losses import EpsilonInsensitive, Hinge, Logistic, Multinomial, Squared
from multikernel.regularizers import BlockNorm, ElasticNet, LpNorm, Uniform, Wedge
from multikernel.solvers import DualNewton, NewtonWeights, Problem, choose_solver
from multikernel.solvers.asks import (
    Combination,
    Forms,
    Products,
    Sweep,
    answered,
    answered_together,
)
from multikernel.solvers.path import path_steps

N, M, CS = 80, 12, [0.05, 0.5, 5.0]


def whole_bank(rng):
    """A bank in four parts, and the samples of its folds."""
    Z = rng.normal(size=(M, N, 3))
    parts = np.array_split(rng.permutation(N), 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "_MIN_TILE", 0)
        bank = PackedBank(N, M, parts=parts)
    for m in range(M):
        bank.set_kernel(m, np.exp(-((Z[m][:, None] - Z[m][None]) ** 2).sum(-1) / 6))
    return bank, [bank.best_order(np.setdiff1d(np.arange(N), part)) for part in parts]


def folds(rng, loss, regularizer):
    """A problem on every fold of a bank, and the sweeps that they may share."""
    bank, trains = whole_bank(rng)
    y = draw_targets(loss.y_domain, rng, N, 3 if loss.couples_outputs else 1)
    problems = [Problem(bank.take(t), y[t], loss, regularizer) for t in trains]
    return problems, bank.shared(trains)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Hinge(), EpsilonInsensitive()])
@pytest.mark.parametrize(
    "regularizer", [ElasticNet(0.8), LpNorm(p=2.0), BlockNorm(), Uniform(), Wedge()], ids=repr
)
def test_paths_of_folds_are_the_same_together_as_alone(loss, regularizer, rng):
    problems, sweeps = folds(rng, loss, regularizer)
    solver = choose_solver(problems[0], tol=1e-8)
    alone = [answered(path_steps(p, CS, solver), p.bank) for p in problems]
    together = answered_together([path_steps(p, CS, solver) for p in problems], sweeps, range(4))
    for path, other in zip(alone, together, strict=True):
        for one, two in zip(path, other, strict=True):
            assert two.converged
            assert_allclose(two.objective, one.objective, rtol=1e-7)
            assert_allclose(two.weights, one.weights, atol=1e-3)


def test_outputs_that_are_coupled_may_ask_together_too(rng):
    problems, sweeps = folds(rng, Multinomial(), ElasticNet(0.5))
    solver = DualNewton(tol=1e-7)
    alone = [solver.solve(problem) for problem in problems]
    together = answered_together([solver.steps(p) for p in problems], sweeps, range(4))
    for one, two in zip(alone, together, strict=True):
        assert_allclose(two.objective, one.objective, rtol=1e-6)


def test_folds_in_single_precision_get_matrices_in_it(rng, monkeypatch):
    problems, _ = folds(rng, Logistic(), ElasticNet(0.5))
    combine, seen = SharedSweeps.combine, []

    def spy(sweeps, sets, ds, roughly):
        Ks = combine(sweeps, sets, ds, roughly)
        seen.extend(type(K) for K in Ks)
        return Ks

    monkeypatch.setattr(SharedSweeps, "combine", spy)
    bank, trains = whole_bank(rng)
    bank = bank.rough()
    rough = [replace(p, bank=bank.take(t)) for p, t in zip(problems, trains, strict=True)]
    solver = DualNewton(tol=1e-3)
    found = answered_together([solver.steps(p) for p in rough], bank.shared(trains), range(4))
    assert set(seen) == {SingleMatrix}
    assert all(solution.converged for solution in found)


def test_four_folds_together_take_fewer_passes_than_one_alone_takes_twice(rng):
    problems, sweeps = folds(rng, Logistic(), ElasticNet(0.5))
    solver = DualNewton(tol=1e-6)
    for problem in problems:
        answered(path_steps(problem, CS, solver), problem.bank)
    answered_together([path_steps(p, CS, solver) for p in problems], sweeps, range(4))
    assert sweeps.n_passes < 2 * max(problem.bank.n_passes for problem in problems)


def test_several_questions_about_one_fold(rng):
    problems, sweeps = folds(rng, Logistic(), ElasticNet(0.5))
    solver = DualNewton(tol=1e-8)
    variants = [
        replace(problem, regularizer=ElasticNet(ratio))
        for problem in problems[1:3]
        for ratio in (0.2, 0.6, 0.9)
    ]
    together = answered_together([solver.steps(p) for p in variants], sweeps, [1, 1, 1, 2, 2, 2])
    for problem, found in zip(variants, together, strict=True):
        assert_allclose(found.objective, solver.solve(problem).objective, rtol=1e-7)


def test_a_solver_that_asks_nothing_solves_in_one_step(rng):
    problems, sweeps = folds(rng, Logistic(), LpNorm(p=2.0))
    solver = NewtonWeights(tol=1e-7)
    found = answered_together([solver.steps(p) for p in problems], sweeps, range(4))
    assert sweeps.n_passes == 0
    assert all(solution.converged for solution in found)


def test_asks_wait_for_others_of_their_kind():
    order = []

    def steps(name, *asks):
        for ask in asks:
            answer = yield ask
            order.append((name, type(ask).__name__, answer))
        return name

    class Counted:
        """Answers with the number of the sweep, and how many share it."""

        def __init__(self):
            self.n = 0

        def _one(self, sets, found):
            self.n += 1
            return [found(self.n)] * len(sets)

        def combine(self, sets, ds, roughly):
            return self._one(sets, lambda n: n)

        def apply(self, sets, As, kernels=None):
            return self._one(sets, lambda n: np.full((2, 1, 1), float(n)))

        def quadratic(self, sets, As):
            return self._one(sets, lambda n: np.full(2, float(n)))

    alpha, some = np.ones((1, 1)), np.array([0])
    K, V, G = Combination(np.ones(2), True), Products(alpha, some), Forms(alpha)
    late = [steps("a", K, V, G), steps("b", K, K, V, G), steps("c", G)]
    assert answered_together(late, Counted(), [0, 1, 2]) == ["a", "b", "c"]
    assert [(name, kind) for name, kind, _ in order] == [
        ("a", "Combination"),
        ("b", "Combination"),
        ("b", "Combination"),
        ("a", "Products"),
        ("b", "Products"),
        ("a", "Forms"),
        ("b", "Forms"),
        ("c", "Forms"),
    ]
    last = [answer for _, kind, answer in order if kind == "Forms"]
    assert all(isinstance(sweep, Sweep) and sweep.G.tolist() == [4.0, 4.0] for sweep in last)


def test_whoever_shares_a_sweep_with_products_gets_them(rng):
    problems, sweeps = folds(rng, Squared(), ElasticNet(0.5))
    alphas = [rng.normal(size=(p.bank.n_samples, 1)) for p in problems[:2]]
    asks = [Forms(alphas[0]), Forms(alphas[1], products=True)]
    found = Forms.together(asks, sweeps, [0, 1])
    for ask, sweep, problem in zip(asks, found, problems[:2], strict=True):
        assert_allclose(sweep.V, problem.bank.apply(ask.alpha), rtol=1e-9)
        assert_allclose(sweep.G, problem.bank.quadratic(ask.alpha), rtol=1e-9)


def test_who_asks_alone_gets_the_precision_asked_for(rng):
    bank, _ = whole_bank(rng)
    d = rng.random(M)
    assert isinstance(Combination(d, roughly=True).of(bank.rough()), SingleMatrix)
    assert isinstance(Combination(d, roughly=False).of(bank.rough()), np.ndarray)


def test_all_get_double_precision_if_one_asks_for_it(rng):
    bank, trains = whole_bank(rng)
    asks = [Combination(rng.random(M), roughly=roughly) for roughly in (True, False)]
    found = Combination.together(asks, bank.rough().shared(trains), [0, 1])
    assert all(isinstance(K, np.ndarray) for K in found)


def test_forms_of_products_are_never_negative():
    V = np.array([[[1.0], [2.0]], [[-1e-17], [0.0]]])
    assert Sweep.from_products(np.ones((2, 1)), V).G.tolist() == [3.0, 0.0]


def test_an_error_in_one_fold_is_not_lost(rng):
    problems, sweeps = folds(rng, Logistic(), ElasticNet(0.5))

    def fails():
        yield Forms(np.ones((problems[1].bank.n_samples, 1)))
        raise RuntimeError("no such kernel")

    steps = [DualNewton().steps(problems[0]), fails()]
    with pytest.raises(RuntimeError, match="no such kernel"):
        answered_together(steps, sweeps, [0, 1])
