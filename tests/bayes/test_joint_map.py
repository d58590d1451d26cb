"""Joint MAP: an independent objective, stationary points, and the collapse it is prone to."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from bayes_problems import degenerate_grams, largest_rise, make_bayes_problem
from helpers import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from multikernel.bayes import (
    BayesProblem,
    CollapseWarning,
    FlatPrior,
    GammaPrior,
    InverseGammaPrior,
    JointMAP,
    Marginal,
    State,
    first_state,
)
from multikernel.bayes.mode_evaluation import ModeEvaluation
from multikernel.likelihoods import Gaussian, Laplace, LogisticLikelihood, StudentT

REGRESSION = (Gaussian(0.05), Laplace(5.0), StudentT(4.0, 0.05))
EVERY = pytest.mark.parametrize("likelihood", [*REGRESSION, LogisticLikelihood(3.0)], ids=repr)


def phi_map(problem, d, jitter, start=None):
    """The objective by a general minimiser in whitened coordinates."""
    n, outputs = problem.y.shape
    K = problem.bank.combine(d) + jitter * np.eye(n)
    L = np.linalg.cholesky(K)
    log_det = 2 * np.sum(np.log(np.diag(L)))
    if problem.fit_intercept:
        log_det += np.log(np.linalg.inv(K).sum() / n)
    total = outputs * log_det + problem.hyper_prior.value(d)
    for o in range(outputs):
        y = problem.y[:, o]
        if isinstance(problem.likelihood, Laplace):
            total += _convex_fit(L, y, problem)
            continue

        def loss(x, y=y):
            z = L @ x[:n] + (x[n] if problem.fit_intercept else 0.0)
            g = problem.likelihood.gradient(y, z)
            value = x[:n] @ x[:n] + np.sum(problem.likelihood.value(y, z))
            return value, np.append(2 * x[:n] + L.T @ g, g.sum() * problem.fit_intercept)

        x0 = np.zeros(n + 1)
        if start is not None:
            x0 = np.append(L.T @ start.dual_coef[:, o], start.intercept[o])
        total += minimize(loss, x0, jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    return total


def _convex_fit(L, y, problem):
    x, b = cp.Variable(len(y)), cp.Variable()
    tau = problem.likelihood.tau
    z = L @ x + (b if problem.fit_intercept else 0.0)
    program = cp.Problem(cp.Minimize(cp.sum_squares(x) + 2 * tau * cp.norm1(y - z)))
    program.solve(cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return program.value - 2 * len(y) * np.log(tau / 2)


def low_rank_problem(likelihood, **settings):
    """Kernels of few features: the effective rank is far below what the fit can pay for."""
    rng = np.random.default_rng(5)
    Zs = rng.normal(size=(3, 30, 1))
    grams = Zs @ np.swapaxes(Zs, 1, 2)
    problem = make_bayes_problem(likelihood, n=30, grams=grams)
    u = 4 * Zs[0]
    y = np.where(rng.random(u.shape) < 1 / (1 + np.exp(-u)), 1.0, -1.0)
    return BayesProblem(problem.bank, y, likelihood, **settings)


@EVERY
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_value_and_gradient_against_a_general_minimiser(likelihood, fit_intercept, n_outputs):
    problem = make_bayes_problem(
        likelihood,
        n=8,
        M=3,
        n_outputs=n_outputs,
        fit_intercept=fit_intercept,
        hyper_prior=GammaPrior(1.0, 0.5),
    )
    d, jitter = np.array([0.4, 0.9, 1.3]), 0.2
    e = ModeEvaluation(problem, d, jitter)
    assert_allclose(e.value, phi_map(problem, d, jitter), rtol=1e-6)
    slope = numeric_gradient(lambda d: phi_map(problem, d, jitter), d, 1e-4)
    assert_allclose(e.gradient, slope, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("likelihood", REGRESSION, ids=repr)
@pytest.mark.parametrize(
    "prior", [FlatPrior(), GammaPrior(2.0, 1.0), InverseGammaPrior(1.0, 0.2)], ids=repr
)
def test_the_answer_is_stationary(likelihood, prior):
    problem = make_bayes_problem(likelihood, n=12, M=3, n_outputs=2, hyper_prior=prior, seed=1)
    inference = JointMAP(jitter=0.1, tol=1e-7).infer(problem)
    d = inference.weights
    assert inference.converged
    assert_allclose(inference.objective, phi_map(problem, d, 0.1, inference), rtol=1e-6)
    positive = d > 1e-3
    slope = numeric_gradient(
        lambda part: phi_map(
            problem,
            np.where(positive, np.insert(part, 0, 0)[np.cumsum(positive)], d),
            0.1,
            inference,
        ),
        d[positive],
        1e-4,
    )
    assert_allclose(d[positive] * slope, 0.0, atol=2e-3)
    for m in np.flatnonzero(d == 0):
        up = d + 1e-4 * (np.arange(len(d)) == m)
        assert phi_map(problem, up, 0.1, inference) >= inference.objective - 1e-6


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    likelihood=st.sampled_from([*REGRESSION, LogisticLikelihood(), LogisticLikelihood(4.0)]),
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    M=st.integers(1, 5),
    n_outputs=st.integers(1, 2),
    fit_intercept=st.booleans(),
    jitter=st.sampled_from([1e-3, 0.1, 1.0]),
    prior=st.sampled_from([FlatPrior(), GammaPrior(1.0, 0.5), GammaPrior(), InverseGammaPrior()]),
)
def test_the_objective_never_rises(likelihood, seed, n, M, n_outputs, fit_intercept, jitter, prior):
    problem = make_bayes_problem(
        likelihood,
        n=n,
        M=M,
        n_outputs=n_outputs,
        seed=seed,
        fit_intercept=fit_intercept,
        hyper_prior=prior,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", CollapseWarning)
        inference = JointMAP(jitter=jitter, max_iter=15).infer(problem)
    assert largest_rise(inference) <= 1e-10
    assert np.all(inference.weights >= 0)


def test_without_jitter_the_collapse_is_explained():
    for prior in (FlatPrior(), GammaPrior(1.0, 1.0), GammaPrior(2.0, 1.0)):  # 2·M·(a−1) < n
        problem = make_bayes_problem(LogisticLikelihood(), M=2, hyper_prior=prior)
        with pytest.raises(ValueError, match=r"needs jitter > 0 .* objective has no minimum"):
            JointMAP().infer(problem)


def test_a_hyper_prior_away_from_zero_does_without_jitter():
    for prior in (InverseGammaPrior(1.0, 0.5), GammaPrior(20.0, 10.0)):
        problem = make_bayes_problem(LogisticLikelihood(), M=2, hyper_prior=prior)
        inference = JointMAP().infer(problem)
        assert inference.converged
        assert np.all(inference.weights > 0)


@pytest.mark.parametrize("jitter", [-1.0, np.inf, np.nan])
def test_a_jitter_that_is_no_variance_is_refused(jitter):
    with pytest.raises(ValueError, match="jitter must be finite and not negative"):
        JointMAP(jitter=jitter).infer(make_bayes_problem(Gaussian()))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_collapse_is_told(fit_intercept):
    problem = make_bayes_problem(LogisticLikelihood(), fit_intercept=fit_intercept)
    with pytest.warns(CollapseWarning, match=r"JointMAP collapsed: .* jitter of 1.0e-03"):
        inference = JointMAP(jitter=1e-3).infer(problem)
    assert not inference.weights.any()
    # n·ln(ε), with one contrast less where there is an intercept, beats every fit
    n, (positive, total) = len(problem.y) - fit_intercept, (np.sum(problem.y > 0), len(problem.y))
    share = positive / total if fit_intercept else 0.5
    loss = -2 * (positive * np.log(share) + (total - positive) * np.log(1 - share))
    assert_allclose(inference.objective, n * np.log(1e-3) + loss, rtol=1e-3)


def test_the_share_that_the_logistic_fit_pays_for_is_bounded():
    rng = np.random.default_rng(0)
    problem = make_bayes_problem(LogisticLikelihood(2.0), fit_intercept=False)
    for _ in range(20):
        e = ModeEvaluation(problem, np.exp(3 * rng.normal(size=4)), 1e-8)
        assert np.sum(e.mode.alpha * e.mode.z) <= 0.27847 * problem.y.size  # uᵀK⁻¹u, W(1/e) n


def test_kernels_of_low_rank_survive():
    inference = JointMAP(jitter=0.5).infer(low_rank_problem(LogisticLikelihood()))
    assert inference.weights[0] > 0.5
    assert not inference.weights[1:].any()


def test_kernels_come_back_from_zero():
    problem = make_bayes_problem(Gaussian(0.05), n=20, M=4)
    free = JointMAP(jitter=0.1).infer(problem)
    state = first_state(problem)
    start = State(np.where(free.weights > 0, 0.0, state.d), state.likelihood, state.site_var)
    again = JointMAP(jitter=0.1).infer(problem, start)
    assert_allclose(again.objective, free.objective, rtol=1e-6)


@EVERY
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_posterior_mean_is_the_mode(likelihood, fit_intercept):
    problem = low_rank_problem(LogisticLikelihood(), fit_intercept=fit_intercept)
    if likelihood.y_domain == "real":
        problem = make_bayes_problem(likelihood, n_outputs=2, fit_intercept=fit_intercept)
    inference = JointMAP(jitter=0.5).infer(problem)
    K = problem.bank.combine(inference.weights)
    for o in range(problem.y.shape[1]):
        targets = inference.pseudo_targets[:, [o]]
        model = Marginal(K.copy(), inference.site_var[:, o], targets, fit_intercept)
        assert_allclose(model.alpha[:, 0], inference.dual_coef[:, o], rtol=1e-4, atol=1e-5)
        assert_allclose(model.intercept[0], inference.intercept[o], rtol=1e-4, atol=1e-5)


def test_gaussian_posterior_is_exact():
    problem = make_bayes_problem(Gaussian(0.05))
    inference = JointMAP(jitter=0.2).infer(problem)
    assert_allclose(inference.site_var, 0.25)
    assert_allclose(inference.pseudo_targets, problem.y, atol=1e-8)


@pytest.mark.parametrize("likelihood", REGRESSION, ids=repr)
@pytest.mark.parametrize("kind", ["duplicated", "zero kernel", "one kernel", "two samples"])
def test_degenerate_kernels(likelihood, kind):
    grams = degenerate_grams(kind)
    problem = make_bayes_problem(likelihood, n=grams.shape[1], grams=grams)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        inference = JointMAP(jitter=0.1).infer(problem)
    assert inference.converged


def test_an_unfinished_run_says_so():
    with pytest.warns(ConvergenceWarning, match="JointMAP stopped after 2 iterations"):
        JointMAP(jitter=0.1, max_iter=2).infer(make_bayes_problem(Gaussian(0.05)))


@pytest.mark.parametrize("max_iter", [2, 500])
def test_history_ends_where_the_search_ended(max_iter):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = JointMAP(jitter=0.1, max_iter=max_iter).infer(make_bayes_problem(Gaussian(0.05)))
    assert found.converged == (max_iter > 2)
    assert found.history["objective"][-1] == found.objective
    assert found.history["stationarity"][-1] == found.stationarity
    assert found.n_iter == len(found.history["objective"]) - 1
