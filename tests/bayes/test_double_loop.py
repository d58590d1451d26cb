"""The double loop for variational bounds, and the joint Newton steps inside."""

import warnings

import numpy as np
import pytest
from bayes_problems import DEGENERATE, degenerate_grams, largest_rise, make_bayes_problem
from helpers import central_difference, draw_targets, instances
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from multikernel.banks import PackedBank
from multikernel.bayes import (
    BayesProblem,
    DoubleLoop,
    Evaluation,
    FlatPrior,
    GammaPrior,
    InformationNewton,
    InverseGammaPrior,
    MacKay,
    PowerPrior,
    State,
    first_state,
)
from multikernel.bayes.double_loop import BoundTerm, bound_slopes
from multikernel.bayes.schur_newton import JointProblem, constrained_newton
from multikernel.likelihoods import LIKELIHOODS, Gaussian, Laplace, LogisticLikelihood, StudentT

LIKELIHOOD = pytest.mark.parametrize("likelihood", instances(LIKELIHOODS), ids=repr)
ONE_OF_EACH = pytest.mark.parametrize(
    "likelihood", [Gaussian(0.3), LogisticLikelihood(), Laplace(2.0), StudentT(4.0, 0.2)], ids=repr
)


def make_term(likelihood, scale=1.0, n=5):
    rng = np.random.default_rng(1)
    y = draw_targets(likelihood.y_domain, rng, n)
    zeta = rng.uniform(0.01, 3.0, (n, 1)) / scale
    if isinstance(likelihood, Gaussian):
        zeta = np.minimum(zeta, 1 / likelihood.noise_var)
    return BoundTerm(likelihood, y, zeta), y, zeta, scale * rng.normal(size=(n, 1))


@LIKELIHOOD
@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_the_bound_term_is_a_minimum_over_variances(likelihood, scale):
    term, y, zeta, z = make_term(likelihood, scale)
    s, beta = z - likelihood.center(y), likelihood.slope(y)

    def bound(log_gamma, i):
        gamma = np.array(np.exp(log_gamma))
        parts = zeta[i, 0] * gamma - log_gamma + s[i, 0] ** 2 / gamma + likelihood.h(gamma)
        return float(parts - 2 * beta[i, 0] * s[i, 0])

    def brute_force(i):
        if isinstance(likelihood, Gaussian):  # h is infinite beyond the noise variance
            return bound(np.log(likelihood.noise_var) - 1e-15, i)
        grid = np.linspace(-15, 15, 61)
        k = int(np.argmin([bound(g, i) for g in grid]))
        near = (grid[max(k - 1, 0)], grid[min(k + 1, 60)])
        return minimize_scalar(
            bound, bounds=near, args=(i,), method="bounded", options={"xatol": 1e-10}
        ).fun

    expected = sum(brute_force(i) for i in range(len(y)))
    assert_allclose(term.value(z), expected, rtol=1e-9, atol=1e-9)


@LIKELIHOOD
def test_derivatives_of_the_bound_term(likelihood):
    term, _, _, z = make_term(likelihood)

    def values(z):  # elementwise, as the terms are separate
        shift = np.zeros_like(z)
        out = np.empty_like(z)
        for i in range(len(z)):
            shift[:] = 0.0
            shift[i] = z[i]
            out[i] = term.value(shift)
        return out

    assert_allclose(term.gradient(z), central_difference(values, z, 1e-5), rtol=1e-6, atol=1e-6)
    slope = central_difference(term.gradient, z, 1e-6)
    if likelihood.log_concave:
        assert_allclose(term.curvature(z), slope, rtol=1e-5, atol=1e-7)
    else:  # the quadratic above is steeper
        assert np.all(term.curvature(z) >= slope - 1e-7)


@LIKELIHOOD
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_linear_bound_touches_and_lies_above(likelihood, fit_intercept):
    problem = make_bayes_problem(likelihood, n=10, n_outputs=2, fit_intercept=fit_intercept)
    rng = np.random.default_rng(2)
    e = Evaluation(problem, first_state(problem))
    zeta, gamma = bound_slopes(e), e.state.site_var
    for size in (0.1, 1.0):
        d = e.state.d * np.exp(size * rng.normal(size=len(e.state.d)))
        other = (
            gamma
            if isinstance(likelihood, Gaussian)
            else gamma * np.exp(size * rng.normal(size=gamma.shape))
        )
        new = (
            Evaluation(problem, State(d, likelihood, other))
            if not isinstance(likelihood, Gaussian)
            else Evaluation(problem, e.state._replace(d=d))
        )
        tangent = sum(m.log_det * m.targets.shape[1] for m in e.marginals)
        tangent += e.t @ (d - e.state.d) + np.sum(zeta * (other - gamma))
        assert sum(m.log_det * m.targets.shape[1] for m in new.marginals) <= tangent + 1e-9


@ONE_OF_EACH
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "prior", [FlatPrior(), PowerPrior(0.5, 2.0), GammaPrior(2.0, 1.0)], ids=repr
)
def test_joint_newton_steps_end_at_the_minimum(likelihood, fit_intercept, prior):
    problem = make_bayes_problem(likelihood, n=12, M=3, n_outputs=2, fit_intercept=fit_intercept)
    e = Evaluation(problem, first_state(problem))
    term = BoundTerm(e.state.likelihood, problem.y, bound_slopes(e))
    joint = JointProblem(problem.bank, term, e.t, prior, fit_intercept)
    point = joint.point(e.state.d, e.alpha, e.intercept)
    values = [joint.value(point)]
    for _ in range(40 if likelihood.log_concave else 400):
        point = joint.descend(point)
        values.append(joint.value(point))
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[1:]))
    slope = term.gradient(point.K @ point.alpha + point.b)
    assert_allclose(2 * point.alpha, -slope, atol=1e-5)  # stationary in u
    if fit_intercept:
        assert_allclose(slope.sum(axis=0), 0.0, atol=1e-5)  # and in b
    g = e.t + prior.gradient(point.d) - problem.bank.quadratic(point.alpha)
    assert np.all(g[point.d == 0] >= -1e-5)
    assert_allclose((point.d * g), 0.0, atol=1e-5)  # and in the weights


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_joint_step_is_newtons(fit_intercept):
    # one full step from near the minimum squares the distance to it
    problem = make_bayes_problem(LogisticLikelihood(), n=15, M=2, fit_intercept=fit_intercept)
    e = Evaluation(problem, first_state(problem))
    term = BoundTerm(e.state.likelihood, problem.y, bound_slopes(e))
    joint = JointProblem(problem.bank, term, 0.2 * e.t, PowerPrior(0.1, 2.0), fit_intercept)
    point = joint.point(e.state.d, e.alpha, e.intercept)
    for _ in range(30):
        point = joint.descend(point)
    best = point
    assert np.all(best.d > 1e-3)
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-3):
        shift = size * rng.normal(size=best.alpha.shape) * np.abs(best.alpha).mean()
        near = joint.point(best.d * (1 + size), best.alpha + shift, best.b + size)
        after = joint.descend(near)
        assert np.max(np.abs(after.d - best.d)) <= 30 * size**2
        assert np.max(np.abs(after.alpha - best.alpha)) <= 30 * size**2


def test_constrained_newton_minimises_its_model(rng):
    A = rng.normal(size=(6, 4))
    H, g, d = A.T @ A, np.array([5.0, -1.0, 0.5, -0.2]), np.array([0.5, 1.0, 0.0, 0.8])
    new = constrained_newton(d, g, H, FlatPrior(), np.zeros(4))
    gradient = g + H @ (new - d)
    assert np.all(new >= 0)
    assert_allclose(gradient[new > 0], 0.0, atol=1e-6)
    assert np.all(gradient[new == 0] >= 0)


@pytest.mark.parametrize(
    ("likelihood", "learn_likelihood"),
    [(likelihood, False) for likelihood in instances(LIKELIHOODS)]
    + [(Gaussian(), True), (Laplace(), True), (StudentT(), True)],
    ids=repr,
)
def test_double_loop_newton_and_mackay_agree(likelihood, learn_likelihood):
    problem = make_bayes_problem(
        likelihood, n=20, M=3, noise=0.3, learn_likelihood=learn_likelihood
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # MacKay's vanishing weights
        methods = (DoubleLoop(), InformationNewton(), MacKay(max_iter=300))
        double, newton, mackay = (method.infer(problem) for method in methods)
    assert double.converged
    assert_allclose(double.objective, newton.objective, rtol=1e-6)
    assert_allclose(double.objective, mackay.objective, rtol=1e-5)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    likelihood=st.sampled_from(instances(LIKELIHOODS)),
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    M=st.integers(1, 5),
    n_outputs=st.integers(1, 2),
    fit_intercept=st.booleans(),
    learn_likelihood=st.booleans(),
    prior=st.sampled_from(
        [FlatPrior(), GammaPrior(1.0, 0.5), GammaPrior(), InverseGammaPrior(), PowerPrior()]
    ),
    n_inner=st.integers(1, 3),
)
def test_the_bound_never_rises(
    likelihood, seed, n, M, n_outputs, fit_intercept, learn_likelihood, prior, n_inner
):
    problem = make_bayes_problem(
        likelihood,
        n=n,
        M=M,
        n_outputs=n_outputs,
        seed=seed,
        fit_intercept=fit_intercept,
        learn_likelihood=learn_likelihood,
        hyper_prior=prior,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        inference = DoubleLoop(max_iter=10, n_inner=n_inner).infer(problem)
    assert largest_rise(inference) <= 1e-10
    assert np.all(inference.weights >= 0)


@ONE_OF_EACH
def test_kernels_come_back_from_zero(likelihood):
    problem = make_bayes_problem(likelihood, n=30, M=4, learn_likelihood=False)
    free = DoubleLoop().infer(problem)
    state = first_state(problem)
    off = state._replace(d=np.where(free.weights > 0, 0.0, state.d))
    again = DoubleLoop().infer(problem, off)
    assert_allclose(again.objective, free.objective, rtol=1e-6)


@ONE_OF_EACH
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_kernels(likelihood, kind):
    grams = degenerate_grams(kind)
    # two samples of two classes are separable, and the best weights infinite
    prior = GammaPrior(1.0, 0.1) if kind == "two samples" else FlatPrior()
    problem = make_bayes_problem(
        likelihood, n=grams.shape[1], grams=grams, learn_likelihood=False, hyper_prior=prior
    )
    inference = DoubleLoop().infer(problem)
    assert inference.converged
    assert largest_rise(inference) <= 1e-10


def test_separable_classes_have_finite_weights():
    X = np.linspace(-2, 2, 20)[:, np.newaxis]
    grams = [X @ X.T, np.exp(-((X - X.T) ** 2))]
    bank = make_bayes_problem(LogisticLikelihood(), n=20, grams=grams).bank
    problem = BayesProblem(bank, np.sign(X), LogisticLikelihood())
    double = DoubleLoop(tol=1e-5).infer(problem)
    assert double.converged
    assert np.all(np.isfinite(double.weights))
    best_constant = 2 * 20 * np.log(2)  # −2 ln of even odds
    assert double.objective < 0.5 * best_constant


def test_acceleration_finds_the_same_optimum_in_two_thirds_of_the_rounds(rng, monkeypatch):
    X = rng.normal(size=(60, 4))
    grams = [np.exp(-((x[:, None] - x) ** 2) / w) for x in X.T for w in (0.5, 4.0)]
    y = np.sign(2 * np.sin(2 * X[:, :1]) + X[:, 1:2])
    problem = BayesProblem(
        PackedBank.from_grams(grams), y, LogisticLikelihood(), hyper_prior=GammaPrior()
    )
    fast = DoubleLoop().infer(problem)
    monkeypatch.setattr(DoubleLoop, "_farther", lambda self, problem, old, new: new)
    plain = DoubleLoop().infer(problem)
    assert fast.converged
    assert plain.converged
    assert 3 * fast.n_iter <= 2 * plain.n_iter
    assert_allclose(fast.objective, plain.objective, rtol=1e-6)  # tol, twice
    assert_allclose(fast.weights, plain.weights, atol=1e-3 * plain.weights.max())
