"""MKL as a member of the probabilistic family: against cvxpy, its dual, and joint Newton steps."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from bayes_problems import degenerate_grams, make_bayes_problem
from numpy.testing import assert_allclose
from oracle import factor

from multikernel.banks import PackedBank
from multikernel.bayes import (
    BayesProblem,
    ConvexMKL,
    DoubleLoop,
    Evaluation,
    Marginal,
    PowerPrior,
    first_state,
    matched_strength,
    natural_strength,
)
from multikernel.bayes.schur_newton import JointProblem
from multikernel.likelihoods import Gaussian, Laplace, LogisticLikelihood, StudentT

CONVEX = (Gaussian(0.3), LogisticLikelihood(1.0), LogisticLikelihood(2.5), Laplace(2.0))
EVERY = pytest.mark.parametrize("likelihood", CONVEX, ids=repr)
ORDER = pytest.mark.parametrize("p", [1.0, 1.5, 2.0])


def cvxpy_minimum(problem, strength, p):
    """The minimum over factors of the functions, weights and constants."""
    n, outputs = problem.y.shape
    Zs = [factor(problem.bank.combine(e)) for e in np.eye(problem.bank.n_kernels)]
    theta, b = cp.Variable(len(Zs), nonneg=True), cp.Variable((1, outputs))
    ws = [cp.Variable((Z.shape[1], outputs)) for Z in Zs]
    z = sum(Z @ w for Z, w in zip(Zs, ws, strict=True))
    if problem.fit_intercept:
        z = z + np.ones((n, 1)) @ b
    norms = sum(cp.quad_over_lin(w, theta[m]) for m, w in enumerate(ws))
    likelihood, y = problem.likelihood, problem.y
    if isinstance(likelihood, Gaussian):
        s2 = likelihood.noise_var
        loss = cp.sum_squares(y - z) / s2 + y.size * np.log(2 * np.pi * s2)
    elif isinstance(likelihood, Laplace):
        loss = 2 * likelihood.tau * cp.sum(cp.abs(y - z)) - 2 * y.size * np.log(likelihood.tau / 2)
    else:
        loss = 2 * cp.sum(cp.logistic(cp.multiply(-likelihood.tau * y, z)))
    program = cp.Problem(cp.Minimize(norms + loss + strength * cp.sum(cp.power(theta, p))))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        program.solve(cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return program.value, theta.value


def dual_value(problem, strength, p, alpha):
    """The lower bound of the minimum, written out for every likelihood."""
    likelihood, y = problem.likelihood, problem.y
    q = problem.bank.quadratic(alpha)
    if isinstance(likelihood, Gaussian):
        s2 = likelihood.noise_var
        bound = np.sum(2 * alpha * y - s2 * alpha**2) + y.size * np.log(2 * np.pi * s2)
    elif isinstance(likelihood, Laplace):
        assert np.all(np.abs(alpha) <= likelihood.tau * (1 + 1e-9))
        bound = 2 * np.sum(alpha * y) - 2 * y.size * np.log(likelihood.tau / 2)
    else:
        s = alpha * y / likelihood.tau
        bound = -2 * np.sum(s * np.log(s) + (1 - s) * np.log(1 - s))
    if p == 1:
        assert np.all(q <= strength * (1 + 1e-6))
        return bound
    return bound - (p - 1) * strength * np.sum((q / (strength * p)) ** (p / (p - 1)))


class LikelihoodTerm:
    """The likelihood as the data term of a joint problem."""

    def __init__(self, likelihood, y):
        self.likelihood, self.y = likelihood, y

    def value(self, z):
        return float(np.sum(self.likelihood.value(self.y, z)))

    def gradient(self, z):
        return self.likelihood.gradient(self.y, z)

    def curvature(self, z):
        return self.likelihood.hessian(self.y, z)


@EVERY
@ORDER
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_against_cvxpy(likelihood, p, fit_intercept):
    problem = make_bayes_problem(likelihood, n=12, n_outputs=2, fit_intercept=fit_intercept)
    inference = ConvexMKL(strength=0.7, p=p, tol=1e-9).infer(problem)
    minimum, weights = cvxpy_minimum(problem, 0.7, p)
    assert_allclose(inference.objective, minimum, rtol=1e-6)
    assert_allclose(inference.weights, weights, rtol=2e-2, atol=2e-3)
    assert inference.gap <= 1e-9


@EVERY
@ORDER
def test_the_gap_is_that_of_the_dual_written_out(likelihood, p):
    problem = make_bayes_problem(likelihood, fit_intercept=False)
    inference = ConvexMKL(strength=0.5, p=p, tol=1e-10).infer(problem)
    bound = dual_value(problem, 0.5, p, inference.dual_coef)
    assert_allclose(bound, inference.objective, rtol=1e-6)


@pytest.mark.parametrize("likelihood", CONVEX[:3], ids=repr)
@ORDER
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_joint_newton_steps_agree(likelihood, p, fit_intercept):
    problem = make_bayes_problem(likelihood, n_outputs=2, fit_intercept=fit_intercept)
    inference = ConvexMKL(strength=0.5, p=p, tol=1e-10).infer(problem)
    term = LikelihoodTerm(likelihood, problem.y)
    joint = JointProblem(
        problem.bank, term, np.zeros(4), PowerPrior(strength=0.5, p=p), fit_intercept
    )
    point = joint.point(first_state(problem).d, np.zeros_like(problem.y), np.zeros(2))
    for _ in range(40):
        point = joint.descend(point)
    assert_allclose(joint.value(point), inference.objective, rtol=1e-8)
    assert_allclose(point.d, inference.weights, rtol=1e-3, atol=1e-4)


@EVERY
def test_the_objective_is_that_of_its_parts(likelihood):
    problem = make_bayes_problem(likelihood, n_outputs=2)
    inference = ConvexMKL(strength=0.5, p=1.5).infer(problem)
    u = problem.bank.combine(inference.weights) @ inference.dual_coef
    loss = np.sum(likelihood.value(problem.y, u + inference.intercept))
    value = np.sum(inference.dual_coef * u) + loss + 0.5 * np.sum(inference.weights**1.5)
    assert_allclose(inference.objective, value, rtol=1e-9)
    assert_allclose(inference.history["objective"][-1], value, rtol=1e-9)


def test_natural_strength_matches_the_slope_of_the_log_determinant():
    problem = make_bayes_problem(Gaussian(0.3), n_outputs=2, fit_intercept=False)
    d = np.array([0.2, 0.9, 0.5, 1.1])
    for p in (1.0, 2.0):
        strength = natural_strength(problem, p, d)
        # along d ↦ c·d both change at the same rate: n per output, for ln|K| = n ln c + const
        assert_allclose(strength * p * np.sum(d**p), problem.y.size)
    assert natural_strength(problem) == problem.y.size / first_state(problem).d.sum()


@EVERY
def test_the_posterior_mean_is_the_mode(likelihood):
    problem = make_bayes_problem(likelihood)
    inference = ConvexMKL(strength=0.5, tol=1e-10).infer(problem)
    K = problem.bank.combine(inference.weights)
    model = Marginal(K, inference.site_var[:, 0], inference.pseudo_targets, True)
    assert_allclose(K @ model.alpha, K @ inference.dual_coef, atol=1e-4)
    assert_allclose(model.intercept, inference.intercept, atol=1e-4)


def test_a_start_does_not_change_the_answer():
    problem = make_bayes_problem(LogisticLikelihood())
    cold = ConvexMKL(strength=0.5, tol=1e-9).infer(problem)
    state = first_state(problem)._replace(d=cold.weights)
    warm = ConvexMKL(strength=0.5, tol=1e-9).infer(problem, state)
    assert_allclose(warm.objective, cold.objective, rtol=1e-8)


@EVERY
@pytest.mark.parametrize("kind", ["duplicated", "zero kernel", "one kernel", "two samples"])
def test_degenerate_kernels(likelihood, kind):
    grams = degenerate_grams(kind)
    problem = make_bayes_problem(likelihood, n=grams.shape[1], grams=grams)
    inference = ConvexMKL(strength=0.3).infer(problem)
    assert inference.converged
    assert np.all(np.isfinite(inference.site_var))


def test_separable_classes():
    X = np.linspace(-2, 2, 20)[:, np.newaxis]
    bank = make_bayes_problem(LogisticLikelihood(), n=20, grams=[X @ X.T]).bank
    problem = BayesProblem(bank, np.sign(X), LogisticLikelihood())
    inference = ConvexMKL(strength=1e-3).infer(problem)
    assert inference.converged
    assert 0 < inference.weights[0] < np.inf


def test_likelihoods_that_are_not_log_concave_are_refused():
    with pytest.raises(TypeError, match="StudentT has no convex loss"):
        ConvexMKL().infer(make_bayes_problem(StudentT()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"p": 0.5}, "p must be finite and at least 1"),
        ({"strength": 0.0}, "must be positive"),
        ({"strength": np.nan}, "must be positive"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ConvexMKL(**settings).infer(make_bayes_problem(Gaussian()))


def test_matched_strength_is_the_mean_slope_of_the_evidence():
    problem = make_bayes_problem(LogisticLikelihood(1.0))
    state = first_state(problem)
    e = Evaluation(problem, state)
    assert_allclose(matched_strength(e, 1.0) * state.d.sum(), state.d @ e.t)
    assert_allclose(matched_strength(e, 2.0) * 2 * np.sum(state.d**2), state.d @ e.t)
    off = Evaluation(problem, state._replace(d=np.zeros_like(state.d)))
    assert matched_strength(off) == np.max(off.t)


@ORDER
@EVERY
def test_kernels_of_zeros_leave_the_constant(likelihood, p):
    problem = make_bayes_problem(likelihood, n=6)
    nothing = replace(problem, bank=PackedBank.from_grams(np.zeros((2, 6, 6))))
    assert matched_strength(Evaluation(nothing, first_state(nothing)), p) == 1.0
    found = ConvexMKL(p=p).infer(nothing)
    assert found.converged
    constant = problem.likelihood.value(problem.y, found.intercept)
    assert_allclose(found.objective, np.sum(constant), rtol=1e-6)


@EVERY
def test_the_default_strength_is_matched_to_the_optimum_of_the_bound(likelihood):
    problem = make_bayes_problem(likelihood, learn_likelihood=False)
    best = Evaluation(problem, DoubleLoop(tol=1e-8).infer(problem).state)
    default = ConvexMKL().infer(problem)
    given = ConvexMKL(strength=matched_strength(best)).infer(problem)
    assert_allclose(default.objective, given.objective, rtol=1e-5)
    learned = ConvexMKL().infer(replace(problem, learn_likelihood=True))
    assert_allclose(learned.objective, default.objective, rtol=1e-10)
