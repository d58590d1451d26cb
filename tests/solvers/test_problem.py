"""A problem says what does not fit before anything is computed."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import make_problem

from multikernel.losses import Hinge, Multinomial, RelativeMargin, Squared
from multikernel.regularizers import GroupNorm, LpNorm, TaskCoupling, Uniform, Wedge
from multikernel.solvers import Alternating
from multikernel.solvers.base import Progress, best_on_ray, relative_gap


@pytest.mark.parametrize(
    ("loss", "change", "message"),
    [
        (Squared(), {"y": np.zeros(30)}, r"y must have shape \(n_samples, n_outputs\)"),
        (Squared(), {"y": np.full((30, 1), np.nan)}, "y must be finite"),
        (Squared(), {"y": np.zeros((29, 1))}, "n_samples = 30"),
        (Hinge(), {"y": np.zeros((30, 1))}, "y must be -1 or 1 for Hinge"),
        (Multinomial(), {"y": np.ones((30, 3))}, "y must be one-hot"),
        (Squared(), {"C": -1.0}, "C must be positive"),
        (Squared(), {"C": np.inf}, "C must be positive and finite"),
        (Squared(), {"sample_weight": np.zeros(30)}, "30 positive finite numbers"),
        (Squared(), {"regularizer": GroupNorm()}, "groups='source' is for estimators"),
        (Squared(), {"regularizer": GroupNorm([1, 2])}, "2 labels for 6 kernels"),
    ],
)
def test_what_does_not_fit_is_refused(loss, change, message):
    problem = replace(make_problem(loss, LpNorm()), **change)
    with pytest.raises(ValueError, match=message):
        Alternating().solve(problem)


def test_atoms_of_atoms_are_composed():
    problem = make_problem(Squared(), TaskCoupling(2, sharing=0.3, over=Wedge()))
    reduced, T = problem.without_atoms
    assert isinstance(reduced.regularizer, LpNorm)
    assert T.shape == (2, 6)
    d = np.array([1.0, 2.0])
    np.testing.assert_allclose(reduced.bank.combine(d), problem.bank.combine(T.T @ d))


def test_a_bound_above_the_objective_certifies_nothing():
    assert relative_gap(1.0, 1.0 + 1e-6) == np.inf
    assert relative_gap(1.0, 1.0 + 1e-14) == 0.0
    assert relative_gap(1.0, -np.inf) == np.inf
    assert relative_gap(np.inf, 1.0) == np.inf
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(1.0, 1.0 + 1e-6, slack=1e-5) == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_rounding_of_the_kernels_is_no_contradiction(seed):
    """The squared loss is minimal after one step, where a bound may round to above it."""
    problem = make_problem(Squared(), Uniform(), seed=seed, n=80, n_outputs=4)
    rough = replace(problem, bank=problem.bank.rough())
    assert rough.bank is not problem.bank
    assert Alternating(tol=1e-3).solve(rough).n_iter == 1


@pytest.mark.parametrize("rounded", [False, True])
def test_only_rounded_kernels_make_a_fit_give_up(rounded):
    problem = make_problem(Squared(), LpNorm(2.0))
    if rounded:
        problem = replace(problem, bank=problem.bank.rough())
    progress, seen = Progress(problem, 1e-9), []
    alpha = np.full_like(problem.y, 0.1)
    G, d = problem.bank.quadratic(alpha), np.ones(problem.bank.n_kernels)
    f = problem.bank.combine(d) @ alpha
    for _ in range(10):
        progress.record(d, alpha, np.zeros(1), G, f)
        seen.append(progress.stuck)
    assert seen == [False] * 8 + [rounded] * 2
    progress.best_bound = 0.9 * progress.best_objective  # where it was below, which is a rise
    assert not progress.stuck


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_point_out_of_reach_is_scaled_into_it(fit_intercept):
    loss = RelativeMargin(bound=1.5)
    problem = make_problem(loss, LpNorm(2.0), n_outputs=2, fit_intercept=fit_intercept, C=20.0)
    bank, d = problem.bank, np.linspace(0.2, 1.0, 6)
    alpha = problem.feasible_dual(10 * np.random.default_rng(1).normal(size=problem.y.shape))
    G, f = bank.quadratic(alpha), bank.combine(d) @ alpha
    t, b = problem.into_reach(f, np.zeros(2))
    span = np.ptp(f, axis=0).max() / 2 if fit_intercept else np.abs(f).max()
    assert span > 3.0
    assert t == pytest.approx(1.5 / span, rel=1e-14)
    assert_allclose(b, problem.best_intercept(t * f))
    assert problem.into_reach(0.9 * t * f, b) == (1.0, b)
    assert replace(problem, loss=Hinge()).into_reach(f, b) == (1.0, b)

    progress = Progress(problem, tol=1e-6)
    value = progress.record(d, alpha, problem.best_intercept(f), G, f)
    _, kept, b, sq_norms = progress.point
    z = bank.combine(d) @ kept + b
    assert np.abs(z).max() == pytest.approx(1.5, rel=1e-9)
    penalty = (d @ bank.quadratic(kept) + np.sum(d**2) / 2) / 2
    assert value == pytest.approx(20.0 * np.maximum(0, 1 - problem.y * z).sum() + penalty)
    assert_allclose(sq_norms, d**2 * bank.quadratic(kept))
    assert progress.best_bound >= problem.dual_objective(alpha, G)


def test_a_forgiven_excess_leaves_the_objective_above_the_bound():
    problem = make_problem(RelativeMargin(bound=1.5), LpNorm(2.0), C=20.0)
    z = np.linspace(-1, 1, 30)[:, np.newaxis] * 1.5 * (1 + 1e-9)
    alpha = np.random.default_rng(0).normal(size=problem.y.shape)
    expected = 1.5e-9 * (abs(alpha[0, 0]) + abs(alpha[-1, 0]))
    assert problem.strain(alpha, z) == pytest.approx(expected, rel=1e-5)
    assert problem.strain(alpha, z / (1 + 1e-9)) <= 1e-15


@pytest.mark.parametrize("size", [0.1, 3.0])
def test_classes_as_frequent_as_they_are_make_a_dual_point(size, rng):
    problem = make_problem(Multinomial(), LpNorm(2.0), n_outputs=3, C=20.0, weighted=True)
    given = size * 20.0 * rng.normal(size=problem.y.shape)
    alpha = problem.feasible_dual(given)
    assert np.isfinite(problem.dual_objective(alpha, problem.bank.quadratic(alpha)))
    assert_allclose(alpha.sum(axis=0), 0.0, atol=1e-10)
    assert_allclose(problem.feasible_dual(alpha), alpha, rtol=1e-14)
    nearly = alpha + 1e-9 * problem.cost * rng.normal(size=alpha.shape)  # off by rounding
    assert_allclose(problem.feasible_dual(nearly), alpha, atol=1e-7 * problem.C)


@pytest.mark.parametrize("regularizer", [LpNorm(2.0), Wedge()], ids=repr)
def test_a_problem_does_not_keep_itself(regularizer):
    """Else its bank, perhaps a view of a file that a worker maps, lives until it is collected."""
    problem = make_problem(Squared(), regularizer)
    gone = weakref.ref(problem)
    gc.disable()
    try:
        Alternating(max_iter=3, tol=1.0).solve(problem)
        del problem
        assert gone() is None
    finally:
        gc.enable()


def test_dual_coefficients_are_balanced_in_proportion_to_their_costs(rng):
    problem = make_problem(Multinomial(), LpNorm(2.0), n_outputs=3, C=1e6)
    s = np.where(np.arange(len(problem.y)) % 3, 1.0, 1e-8)  # hardly any room to give
    problem = replace(problem, sample_weight=s)
    _, alpha = problem.constant_predictor()
    assert problem.balanced(alpha)
    assert np.isfinite(problem.dual_data_term(alpha))
    uneven = alpha + 1e-3 * problem.cost.max()
    again = problem.feasible_dual(uneven)
    assert problem.balanced(again)
    assert np.isfinite(problem.dual_data_term(again))


@pytest.mark.parametrize("c_max", [1.0, 0.02])
@pytest.mark.parametrize("best", [0.003, 0.4, 0.89, 0.91, 0.97, 0.9995, 1.0, 3.0])
def test_the_best_scale_of_a_dual_point(best, c_max):
    def dual(c):
        return -(abs(c / c_max - best) ** 1.5)

    found, value = best_on_ray(dual, c_max, dual(c_max))
    assert value == dual(found)
    assert abs(found / c_max - min(best, 1.0)) <= 2e-3  # twice the tolerance


def test_the_best_scale_of_flat_and_partly_infinite_duals():
    found, _ = best_on_ray(lambda c: -np.inf if c > 0.7 else c, 1.0, -np.inf)
    assert 0.69 < found <= 0.7
    assert best_on_ray(lambda c: 1.0, 1.0, 1.0) == (1.0, 1.0)
    assert best_on_ray(lambda c: -np.inf, 1.0, -np.inf) == (1.0, -np.inf)
