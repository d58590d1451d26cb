"""Every way to the evidence of Gaussian noise: monotone, and to the same place."""

import warnings

import numpy as np
import pytest
from bayes_problems import DEGENERATE, degenerate_grams, largest_rise, make_bayes_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from multikernel._component import concrete_subclasses
from multikernel.banks import PackedBank
from multikernel.bayes import (
    METHODS,
    BayesProblem,
    Evaluation,
    ExpectationMaximization,
    FlatPrior,
    GammaPrior,
    InformationNewton,
    InverseGammaPrior,
    MacKay,
    Method,
    PowerPrior,
    ReweightedMKL,
    State,
    first_state,
)
from multikernel.bayes.em import kernel_ranks
from multikernel.bayes.reweighted import _best_weights
from multikernel.likelihoods import Gaussian, LogisticLikelihood

METHOD = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
EVERY_PRIOR = (
    FlatPrior(),
    GammaPrior(shape=1.0, rate=0.7),
    GammaPrior(shape=2.5, rate=1.5),
    InverseGammaPrior(shape=1.0, scale=0.3),
    PowerPrior(strength=0.8, p=1.0),
    PowerPrior(strength=0.8, p=2.0),
)


def infer(method: Method, problem: BayesProblem, start: State | None = None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return method.infer(problem, start)


def closed_form(method, prior) -> bool:
    if method is ReweightedMKL:
        return prior in (EVERY_PRIOR[0], EVERY_PRIOR[1], EVERY_PRIOR[4])
    return method is not ExpectationMaximization or not isinstance(prior, PowerPrior)


def test_every_method_is_registered():
    ours = [cls for cls in concrete_subclasses(Method) if cls.__module__.startswith("multikernel")]
    assert set(ours) == set(METHODS.values())


@METHOD
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 14),
    M=st.integers(1, 6),
    n_outputs=st.integers(1, 2),
    fit_intercept=st.booleans(),
    learn_likelihood=st.booleans(),
    prior=st.sampled_from(EVERY_PRIOR),
    noise=st.sampled_from([0.01, 0.5, 3.0]),
)
def test_the_evidence_never_falls(
    method, seed, n, M, n_outputs, fit_intercept, learn_likelihood, prior, noise
):
    problem = make_bayes_problem(
        Gaussian(noise_var=max(noise**2, 0.01)),
        n=n,
        M=M,
        n_outputs=n_outputs,
        noise=noise,
        seed=seed,
        fit_intercept=fit_intercept,
        learn_likelihood=learn_likelihood,
        hyper_prior=prior if closed_form(method, prior) else FlatPrior(),
    )
    inference = infer(method(max_iter=12), problem)
    assert largest_rise(inference) <= 1e-10
    assert np.all(inference.weights >= 0)


def dense_problem(**settings):
    """Kernels of low rank that all count, so that no weight vanishes, which EM finds hard."""
    Zs = np.random.default_rng(0).normal(size=(3, 16, 3))
    grams = Zs @ np.swapaxes(Zs, 1, 2) / 3
    return make_bayes_problem(
        Gaussian(noise_var=0.25), n=16, grams=grams, n_signal=3, n_outputs=3, **settings
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("learn_likelihood", [True, False])
def test_all_methods_reach_the_same_evidence(learn_likelihood, fit_intercept):
    problem = dense_problem(learn_likelihood=learn_likelihood, fit_intercept=fit_intercept)
    best = InformationNewton(tol=1e-9).infer(problem)
    for method in METHODS.values():
        inference = method().infer(problem)
        assert_allclose(inference.objective, best.objective, rtol=1e-6)
        assert_allclose(inference.weights, best.weights, rtol=1e-2, atol=1e-3)
        assert_allclose(inference.likelihood.noise_var, best.likelihood.noise_var, rtol=1e-3)


@pytest.mark.parametrize("seed", range(2))
def test_methods_that_find_zeros_agree_where_weights_vanish(seed):
    problem = make_bayes_problem(Gaussian(), n=40, M=8, seed=seed, noise=0.3)
    runs = [METHODS[name]().infer(problem) for name in ("newton", "mackay", "reweighted")]
    runs.append(METHODS["double_loop"]().infer(problem))
    assert np.any(runs[0].weights == 0)
    for run in runs[1:]:
        assert_allclose(run.objective, runs[0].objective, rtol=1e-6)


@pytest.mark.parametrize("prior", EVERY_PRIOR, ids=repr)
def test_methods_agree_under_hyper_priors(prior):
    problem = dense_problem(hyper_prior=prior)
    best = InformationNewton(tol=1e-8).infer(problem).objective
    for method in METHODS.values():
        if closed_form(method, prior):
            assert_allclose(method().infer(problem).objective, best, rtol=1e-6)


def test_em_weights_are_the_expected_squared_norms_per_rank():
    problem = make_bayes_problem(Gaussian(), n=6, M=2, fit_intercept=False, seed=3)
    d, noise = np.array([0.7, 1.3]), 0.4
    state = State(d, Gaussian(noise), np.full((6, 1), noise))
    K = [problem.bank.combine(e) for e in np.eye(2)]
    # the joint Gaussian of (f_1, f_2) given y, by brute force
    prior = np.zeros((12, 12))
    prior[:6, :6], prior[6:, 6:] = d[0] * K[0], d[1] * K[1]
    A = np.hstack([np.eye(6), np.eye(6)])
    gain = prior @ A.T @ np.linalg.inv(A @ prior @ A.T + noise * np.eye(6))
    mean, cov = gain @ problem.y[:, 0], prior - gain @ A @ prior
    moments = cov + np.outer(mean, mean)
    expected = [
        np.trace(np.linalg.solve(K[m], moments[i : i + 6, i : i + 6])) / 6
        for m, i in ((0, 0), (1, 6))
    ]
    residual = problem.y[:, 0] - A @ mean
    expected_noise = (residual @ residual + np.trace(A @ cov @ A.T)) / 6
    method = ExpectationMaximization(max_iter=1, tol=0.0)
    after = infer(method, problem, state)
    assert_allclose(after.weights, expected, rtol=1e-8)
    assert_allclose(after.likelihood.noise_var, expected_noise, rtol=1e-8)


def test_kernel_ranks_are_those_of_the_factors(rng):
    Zs = [rng.normal(size=(9, r)) for r in (1, 3, 9)]
    problem = make_bayes_problem(Gaussian(), n=9, grams=[Z @ Z.T for Z in Zs] + [np.zeros((9, 9))])
    assert_allclose(kernel_ranks(problem.bank), [1, 3, 9, 0])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_reweighted_problem_is_solved(fit_intercept):
    problem = make_bayes_problem(Gaussian(), M=6, fit_intercept=fit_intercept, n_outputs=2)
    d, noise = np.linspace(0.2, 1.0, 6), 0.3
    e = Evaluation(problem, State(d, Gaussian(noise), np.full(problem.y.shape, noise)))
    new = _best_weights(e, 1e-12)
    q = Evaluation(problem, e.state._replace(d=new)).q
    # minimisers of yᵀS⁻¹y + zᵀd: q = z where d > 0, q <= z elsewhere
    assert np.all(q <= e.t * (1 + 1e-5))
    assert_allclose(q[new > 0], e.t[new > 0], rtol=1e-5)


@pytest.mark.parametrize("kind", DEGENERATE)
@METHOD
def test_degenerate_kernels(method, kind):
    grams = degenerate_grams(kind)
    problem = make_bayes_problem(
        Gaussian(noise_var=0.2),
        n=grams.shape[1],
        grams=grams,
        learn_likelihood=kind != "two samples",
    )
    inference = infer(method(max_iter=100), problem)
    assert np.all(np.isfinite(inference.weights))
    assert np.isfinite(inference.objective)
    assert largest_rise(inference) <= 1e-10
    if method is not ExpectationMaximization:
        assert inference.stationarity <= 1e-4


def test_duplicated_kernels_cost_no_evidence():
    grams = degenerate_grams("duplicated")
    once = make_bayes_problem(Gaussian(), n=12, grams=grams[:3])
    twice = BayesProblem(make_bayes_problem(Gaussian(), n=12, grams=grams).bank, once.y, Gaussian())
    for method in (MacKay, ReweightedMKL, InformationNewton):
        assert_allclose(method().infer(twice).objective, method().infer(once).objective, rtol=1e-5)


@pytest.mark.parametrize("method", [ExpectationMaximization, ReweightedMKL])
def test_other_likelihoods_are_refused(method):
    with pytest.raises(TypeError, match="needs a Gaussian likelihood"):
        method().infer(make_bayes_problem(LogisticLikelihood()))


@pytest.mark.parametrize(
    ("method", "prior", "message"),
    [
        (ExpectationMaximization, PowerPrior(p=2.0), "no closed form under PowerPrior"),
        (ReweightedMKL, GammaPrior(shape=2.0), "needs a hyper-prior with a linear penalty"),
        (ReweightedMKL, InverseGammaPrior(), "needs a hyper-prior with a linear penalty"),
        (ReweightedMKL, PowerPrior(p=1.5), "needs a hyper-prior with a linear penalty"),
    ],
)
def test_hyper_priors_without_closed_form_are_refused(method, prior, message):
    with pytest.raises(TypeError, match=message):
        method().infer(make_bayes_problem(Gaussian(), hyper_prior=prior))


def test_em_says_where_a_gamma_prior_has_no_best_weight():
    problem = make_bayes_problem(Gaussian(), n=5, M=2, hyper_prior=GammaPrior(shape=4.0, rate=0.0))
    with pytest.raises(ValueError, match="give a rate > 0"):
        ExpectationMaximization().infer(problem)


@pytest.mark.parametrize("shape", [3.5, 4.0])  # rank 5 of 5 samples, 6 of 6
def test_em_refuses_a_gamma_prior_that_takes_all_of_the_rank(shape):
    n = int(2 * (shape - 1))
    problem = make_bayes_problem(
        Gaussian(), n=n, M=2, hyper_prior=GammaPrior(shape=shape, rate=0.0)
    )
    with pytest.raises(ValueError, match="rank at most"):
        ExpectationMaximization().infer(problem)


def test_em_lets_zero_kernels_be_under_a_prior_that_keeps_zeros():
    prior = GammaPrior(shape=1.0, rate=0.0)
    problem = make_bayes_problem(
        Gaussian(), n=12, grams=degenerate_grams("zero kernel"), hyper_prior=prior
    )
    assert infer(ExpectationMaximization(max_iter=3), problem).weights[-1] == 0


@METHOD
def test_methods_are_equal_where_their_parameters_are(method):
    used = method(max_iter=2)
    used._infer(make_bayes_problem(Gaussian()), first_state(make_bayes_problem(Gaussian())))
    assert used == method(max_iter=2)
    assert used != method(max_iter=3)


def mixed_problem(seed: int) -> tuple[BayesProblem, State]:
    """Kernels on scales that are orders of magnitude apart, and a start at which most are gone."""
    rng = np.random.default_rng(seed)
    problem = make_bayes_problem(
        Gaussian(),
        n=int(rng.integers(8, 20)),
        M=int(rng.integers(2, 7)),
        seed=seed,
        noise=rng.choice([0.05, 0.5, 3.0]),
    )
    M = problem.bank.n_kernels
    grams = [10.0 ** rng.uniform(-4, 4) * problem.bank.combine(only) for only in np.eye(M)]
    problem = BayesProblem(PackedBank.from_grams(grams), problem.y, Gaussian())
    start = first_state(problem)
    left = np.where(rng.random(M) < 0.5, 10.0 ** -rng.choice([0, 30, 300], size=M), 0.0)
    return problem, start._replace(d=np.zeros(M) if seed % 3 == 0 else start.d * left)


@METHOD
@pytest.mark.parametrize("begin", ["none", "one", "some"])
def test_the_evidence_never_falls_when_kernels_come_back(method, begin):
    for seed in (0, 3, 7, 8, 11):
        rng = np.random.default_rng(seed)
        n, M = int(rng.integers(5, 15)), 20
        Zs = rng.normal(size=(M, n, 2)) * 10.0 ** rng.uniform(-2, 2, size=(M, 1, 1))
        grams = Zs @ np.swapaxes(Zs, 1, 2)
        problem = make_bayes_problem(Gaussian(), n=n, grams=grams, seed=seed, noise=0.01)
        kept = {"none": np.zeros(M), "one": np.eye(M)[0], "some": rng.random(M) < 0.4}[begin]
        start = first_state(problem)
        inference = infer(method(max_iter=60), problem, start._replace(d=start.d * kept))
        assert largest_rise(inference) <= 1e-10
        assert np.all(np.isfinite(inference.weights))


@pytest.mark.parametrize("name", ["mackay", "newton", "double_loop", "reweighted"])
def test_what_is_certified_is_stationary_wherever_it_began(name):
    for seed in range(12):
        problem, start = mixed_problem(seed)
        found = METHODS[name]().infer(problem, start)
        assert found.converged
        assert found.n_iter < 1000
        e = Evaluation(problem, found.state)
        # no weight, however small, that a kernel could usefully have more of
        small = found.weights * e.t < 1e-8 * problem.y.size
        assert np.all(e.q[small] <= e.t[small] * (1 + 1e-5))


@pytest.mark.parametrize("prior", EVERY_PRIOR, ids=repr)
def test_weights_leave_zero_under_every_prior(prior):
    problem = dense_problem(hyper_prior=prior)
    start = first_state(problem)._replace(d=np.zeros(problem.bank.n_kernels))
    found = InformationNewton().infer(problem, start)
    assert_allclose(found.objective, InformationNewton().infer(problem).objective, rtol=1e-6)


@METHOD
@pytest.mark.parametrize("max_iter", [2, 5000])
def test_history_ends_where_the_method_ended(method, max_iter):
    problem = dense_problem()
    found = infer(method(max_iter=max_iter, tol=1e-4), problem)
    assert found.converged == (max_iter > 2)
    assert found.history["objective"][-1] == found.objective
    assert found.history["stationarity"][-1] == found.stationarity
    assert found.n_iter == len(found.history["objective"]) - 1
    start = Evaluation(problem, first_state(problem))
    assert_allclose(found.history["objective"][0], start.value)


@METHOD
def test_kernels_that_are_not_definite_stop_a_method_with_advice(method):
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    values = np.append(np.linspace(1.0, 2.0, 19), -1e-3)  # as rounding leaves them, but more
    y = vectors[:, :-1] @ (30 * rng.normal(size=(19, 1)))
    bank = PackedBank.from_grams([(vectors * values) @ vectors.T])
    problem = BayesProblem(bank, y, Gaussian(), fit_intercept=False)
    with pytest.warns(ConvergenceWarning, match="dtype='float64'"):
        found = method().infer(problem)
    assert largest_rise(found) <= 1e-10
    assert np.all(np.isfinite(found.dual_coef))


@METHOD
def test_an_unfinished_run_says_so(method):
    with pytest.warns(ConvergenceWarning, match=f"{method.__name__} stopped after 2 iterations"):
        method(max_iter=2).infer(make_bayes_problem(Gaussian(), M=6, seed=4))


@pytest.mark.parametrize("name", ["mackay", "newton", "double_loop", "em"])
def test_a_useful_kernel_at_zero_comes_back(name):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(30, 2))
    bank = PackedBank.from_grams([Z[:, :1] @ Z[:, :1].T, Z[:, 1:] @ Z[:, 1:].T])
    problem = BayesProblem(bank, Z[:, :1] + 0.1 * rng.normal(size=(30, 1)), Gaussian(0.1))
    start = first_state(problem)._replace(d=np.array([0.0, 0.5]))
    found = METHODS[name](tol=1e-5).infer(problem, start)
    assert found.weights[0] > 0.1
    assert found.objective < METHODS["newton"]().infer(problem).objective + 1e-2


def test_methods_are_not_changed_by_their_use():
    problem = make_bayes_problem(Gaussian(0.5))
    for cls in METHODS.values():
        method = cls(tol=1e-3)
        before = dict(vars(method))
        method.infer(problem)
        assert vars(method) == before


def test_noise_floor_does_not_see_the_means_of_outputs():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 1))
    y = np.hstack([Z, Z]) + 0.1 * rng.normal(size=(40, 2))
    bank = PackedBank.from_grams([Z @ Z.T])
    near, far = (
        METHODS["newton"]().infer(BayesProblem(bank, y + shift, Gaussian(0.1)))
        for shift in (np.zeros(2), np.array([0.0, 1e4]))
    )
    assert_allclose(far.likelihood.noise_var, near.likelihood.noise_var, rtol=1e-4)
