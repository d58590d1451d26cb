"""The variational bound and the evidence: values, derivatives, posteriors, monotone steps."""

from dataclasses import replace

import numpy as np
import pytest
from bayes_problems import make_bayes_problem
from helpers import draw_targets, instances, numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgError

from multikernel.banks import AtomBank, FactoredBank, PackedBank
from multikernel.bayes import HYPER_PRIORS, BayesProblem, Evaluation, State, first_state
from multikernel.bayes.sites import noise_floor, rises, shortened
from multikernel.bayes.weight_step import fixed_point, prune, revived, weight_stationarity
from multikernel.likelihoods import LIKELIHOODS, Gaussian, Laplace, LogisticLikelihood, StudentT

N, M = 8, 4
LIKELIHOOD = pytest.mark.parametrize("likelihood", instances(LIKELIHOODS), ids=repr)
INTERCEPT = pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "none"])


def make_grams(rng, n=N, n_kernels=M):
    Zs = [rng.normal(size=(n, 1 + m % 4)) for m in range(n_kernels)]
    return [Z @ Z.T for Z in Zs]


def make(likelihood, fit_intercept=True, n_outputs=1, seed=0, n=N, **settings):
    rng = np.random.default_rng(seed)
    bank = PackedBank.from_grams(make_grams(rng, n))
    y = draw_targets(likelihood.y_domain, rng, n, n_outputs)
    problem = BayesProblem(bank, y, likelihood, fit_intercept, **settings)
    d = rng.uniform(0.1, 1.0, bank.n_kernels)
    gamma = _site_var(likelihood, y, rng)
    return problem, State(d, likelihood, gamma)


def _site_var(likelihood, y, rng):
    if likelihood.is_gaussian:
        return np.full(y.shape, likelihood.noise_var)
    return np.asarray(likelihood.site_var(rng.uniform(0.1, 3.0, y.shape)))


@INTERCEPT
@LIKELIHOOD
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gradient_in_the_weights(likelihood, fit_intercept, n_outputs):
    for prior in instances(HYPER_PRIORS):
        problem, state = make(likelihood, fit_intercept, n_outputs, hyper_prior=prior)

        def value(d, problem=problem, state=state):
            return Evaluation(problem, state._replace(d=d)).value

        slope = numeric_gradient(value, state.d)
        assert_allclose(Evaluation(problem, state).gradient, slope, rtol=2e-5, atol=2e-5)


@INTERCEPT
def test_gradient_in_the_noise(fit_intercept):
    problem, state = make(Gaussian(0.7), fit_intercept, n_outputs=2)

    def value(v):
        moved = State(state.d, Gaussian(float(v[0])), np.full_like(state.site_var, v[0]))
        return Evaluation(problem, moved).value

    slope = numeric_gradient(value, np.array([0.7]))
    assert_allclose(Evaluation(problem, state).noise_gradient(), slope[0], rtol=1e-6)


@INTERCEPT
@LIKELIHOOD
def test_refitted_bounds_are_stationary_points_in_gamma(likelihood, fit_intercept):
    """The derivative in γ is h'(γ) − (s² + V)/γ², zero at γ = 1/ρ'(s² + V)."""
    if likelihood.is_gaussian:
        return
    problem, state = make(likelihood, fit_intercept)

    def value(gamma):
        return Evaluation(problem, state._replace(site_var=gamma)).value

    e = Evaluation(problem, state)
    gamma = state.site_var
    expected = likelihood.h_prime(gamma) - e.second_moments / gamma**2
    assert_allclose(numeric_gradient(value, gamma), expected, rtol=1e-4, atol=1e-6)


def test_posterior_of_a_gaussian_model_is_the_exact_one():
    problem, state = make(Gaussian(0.5), fit_intercept=False)
    e = Evaluation(problem, state)
    K = problem.bank.combine(state.d)
    S = K + 0.5 * np.eye(N)
    mean = K @ np.linalg.solve(S, problem.y)
    V = K - K @ np.linalg.solve(S, K)
    expected = (mean - problem.y) ** 2 + np.diag(V)[:, None]
    assert_allclose(e.second_moments, expected, rtol=1e-8)


def test_intercept_is_the_limit_of_a_constant_kernel():
    problem, state = make(Gaussian(0.5), fit_intercept=True)
    grams = [*make_grams(np.random.default_rng(0)), np.ones((N, N))]
    wide = replace(problem, bank=PackedBank.from_grams(grams), fit_intercept=False)
    v = 1e7
    e = Evaluation(problem, state)
    limit = Evaluation(wide, state._replace(d=np.append(state.d, v)))
    assert_allclose(limit.alpha, e.alpha, atol=1e-6)
    contrast = np.log(v) + np.log(N) + np.log(2 * np.pi)
    assert_allclose(limit.value - contrast, e.value, rtol=1e-6)


@INTERCEPT
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_average_information_is_the_mean_of_both_hessians(fit_intercept, n_outputs):
    problem, state = make(Gaussian(0.7), fit_intercept, n_outputs)
    e = Evaluation(problem, state)
    Ks = [*make_grams(np.random.default_rng(0)), np.eye(N)]
    P, A = e.marginals[0].P, e.alpha
    expected = n_outputs * np.array([[np.trace(P @ K @ P @ L) for L in Ks] for K in Ks])
    forms = np.array([[np.sum(A * (K @ P @ L @ A)) for L in Ks] for K in Ks])
    assert_allclose(e.information(with_noise=True), forms, rtol=1e-8)
    eps = 1e-6

    def gradient(x):
        moved = State(x[:-1], Gaussian(x[-1]), np.full_like(state.site_var, x[-1]))
        at = Evaluation(problem, moved)
        return np.append(at.gradient, at.noise_gradient())

    x = np.append(state.d, 0.7)
    observed = np.array([(gradient(x + s) - gradient(x - s)) / (2 * eps) for s in eps * np.eye(5)])
    assert_allclose((observed + expected) / 2, forms, rtol=1e-5, atol=1e-6)


def test_outputs_with_their_own_bounds_add_up():
    likelihood = LIKELIHOODS["logistic"]()
    problem, state = make(likelihood, n_outputs=3)
    e = Evaluation(problem, state)
    single = [
        Evaluation(
            replace(problem, y=problem.y[:, [o]]), state._replace(site_var=state.site_var[:, [o]])
        )
        for o in range(3)
    ]
    assert_allclose(e.value, sum(s.value for s in single))
    assert_allclose(e.t, sum(s.t for s in single))
    assert_allclose(e.q, sum(s.q for s in single))
    assert_allclose(e.information(False), sum(s.information(False) for s in single))


@LIKELIHOOD
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=25, derandomize=True)
def test_fixed_point_never_raises_the_objective(likelihood, seed):
    problem, state = make(likelihood, seed=seed, fit_intercept=seed % 2 == 0)
    state = state._replace(d=state.d * 10.0 ** (seed % 7 - 3))
    before = Evaluation(problem, state)
    after = Evaluation(problem, state._replace(d=fixed_point(before)))
    assert after.value <= before.value + 1e-10 * abs(before.value)


@pytest.mark.parametrize("prior", instances(HYPER_PRIORS), ids=repr)
def test_fixed_point_with_hyper_priors_never_raises_the_objective(prior):
    for seed in range(40):
        problem, state = make(Gaussian(0.5), seed=seed, hyper_prior=prior)
        before = Evaluation(problem, state)
        after = Evaluation(problem, state._replace(d=fixed_point(before)))
        assert after.value <= before.value + 1e-10 * abs(before.value)


def test_longer_steps_than_mackays_do_raise_it():
    rises = 0
    for seed in range(40):
        problem, state = make(Gaussian(0.05), seed=seed)
        before = Evaluation(problem, state)
        longer = state.d * (before.q / before.t) ** 2
        after = Evaluation(problem, state._replace(d=longer))
        rises += after.value > before.value
    assert rises > 0


def test_pruned_kernels_come_back_when_they_are_wanted():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(30, 2))
    bank = PackedBank.from_grams([Z[:, :1] @ Z[:, :1].T, Z[:, 1:] @ Z[:, 1:].T])
    problem = BayesProblem(bank, Z[:, :1] + 0.1 * rng.normal(size=(30, 1)), Gaussian(0.1))
    state = first_state(problem)
    e = Evaluation(problem, state._replace(d=np.array([0.0, 1e-12])))
    back = revived(e)
    assert back.state.d[0] > 0
    assert back.value < e.value
    assert weight_stationarity(e.state.d, e.gradient, e.t, problem.y.size) > 1
    dying = Evaluation(problem, state._replace(d=np.array([1.0, 1e-12])))
    assert prune(dying, dying.state.d)[1] == 0
    assert prune(dying, dying.state.d)[0] == 1
    settled = Evaluation(problem, state._replace(d=np.array([1.0, 0.0])))
    assert revived(settled) is None


def test_tiny_weights_that_should_grow_have_not_settled():
    d, t = np.array([1e-14, 1e-14, 1.0]), np.full(3, 2.0)
    wanted, unwanted = np.array([-1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    assert weight_stationarity(d, wanted, t, 10) == 0.5  # as at zero: −g/t
    assert weight_stationarity(d, unwanted, t, 10) < 1e-14
    assert weight_stationarity(d, wanted, t, 10, keeps_zeros=False) < 1e-14


def test_revival_is_not_a_share_of_nothing():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(30, 2))
    bank = PackedBank.from_grams([Z[:, :1] @ Z[:, :1].T, Z[:, 1:] @ Z[:, 1:].T])
    problem = BayesProblem(bank, Z[:, :1] + 0.1 * rng.normal(size=(30, 1)), Gaussian(0.1))
    e = Evaluation(problem, first_state(problem)._replace(d=np.array([1e-200, 0.0])))
    assert revived(e).state.d[0] > 1e-6


def test_trials_that_cannot_be_factored_are_worth_nothing():
    problem = BayesProblem(PackedBank.from_grams([-np.eye(4)]), np.ones((4, 1)), Gaussian())
    state = State(np.array([1.0]), Gaussian(0.5), np.full((4, 1), 0.5))
    assert Evaluation(problem, state).trial_value == np.inf
    with pytest.raises(LinAlgError, match="dtype='float64'"):
        _ = Evaluation(problem, state).value


def test_a_step_into_an_indefinite_covariance_is_shortened():
    y = np.array([[1.0], [-1.0], [0.5], [-0.5]])
    problem = BayesProblem(PackedBank.from_grams([np.diag([1.0, 1.0, 1.0, -0.1])]), y, Gaussian())
    near = State(np.array([0.1]), Gaussian(0.5), np.full((4, 1), 0.5))
    e, too_far = Evaluation(problem, near), near._replace(d=np.array([6.0]))
    assert rises(e, Evaluation(problem, too_far))
    found = shortened(e, Evaluation(problem, too_far))
    assert 0.1 < found.state.d[0] < 5.0
    assert found.value <= e.value
    hopeless = Evaluation(problem, near._replace(d=np.array([5.0 - 1e-12])))
    assert shortened(hopeless, Evaluation(problem, too_far)) is None


def test_the_noise_floor_knows_how_precise_kernels_are():
    y = np.random.default_rng(0).normal(size=(50, 1))
    grams = [np.eye(50)]
    rough, fine = (PackedBank.from_grams(grams, dtype) for dtype in (np.float32, np.float64))
    floors = [noise_floor(BayesProblem(bank, y, Gaussian())) for bank in (rough, fine)]
    assert_allclose(floors[0], 50 * np.finfo(np.float32).eps * np.var(y))
    assert_allclose(floors[1], 1e-8 * np.var(y))
    atoms = AtomBank(rough, np.eye(1))
    assert noise_floor(BayesProblem(atoms, y, Gaussian())) == floors[0]
    quiet = first_state(BayesProblem(rough, y, Gaussian()), noise=1e-12)
    assert quiet.likelihood.noise_var == floors[0] == quiet.site_var[0, 0]


@pytest.mark.parametrize("bank_kind", ["packed", "factored"])
def test_every_bank_serves(bank_kind):
    rng = np.random.default_rng(0)
    Zs = [rng.normal(size=(N, 2)) for _ in range(3)]
    grams = PackedBank.from_grams([Z @ Z.T for Z in Zs])
    bank = grams if bank_kind == "packed" else FactoredBank(Zs)
    problem = BayesProblem(bank, rng.normal(size=(N, 1)), Gaussian(0.3))
    reference = replace(problem, bank=grams)
    e, r = (Evaluation(p, first_state(p)) for p in (problem, reference))
    assert_allclose(e.gradient, r.gradient, rtol=1e-8)
    assert_allclose(e.information(True), r.information(True), rtol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(N)}, "y must have shape"),
        ({"y": np.full((N, 1), np.nan)}, "y must be finite"),
        ({"likelihood": Gaussian(-1.0)}, "noise_var"),
    ],
)
def test_bad_problems_are_refused(change, message):
    problem, _ = make(Gaussian(0.5))
    with pytest.raises(ValueError, match=message):
        replace(problem, **change).check()


@pytest.mark.parametrize("likelihood", [Gaussian(7.0), Laplace(9.0), StudentT(3.0, 9.0)], ids=repr)
def test_the_first_state_is_in_the_units_of_the_targets(likelihood):
    problem = make_bayes_problem(likelihood, n=40, n_outputs=2)
    state, quiet = first_state(problem), first_state(problem, noise=0.01)
    variance = np.mean(np.var(problem.y, axis=0))
    assert 0.25 * variance < state.d @ problem.kernel_scales < variance
    assert 0.1 * variance < np.median(state.site_var) < 2 * variance
    assert_allclose(quiet.site_var, 0.01 * state.site_var, rtol=1e-6)
    assert_allclose(quiet.d, state.d)
    larger = replace(problem, y=1000 * problem.y)
    assert_allclose(first_state(larger).d, 1e6 * state.d)
    assert_allclose(first_state(larger).site_var, 1e6 * state.site_var, rtol=1e-6)
    fixed = first_state(replace(problem, learn_likelihood=False), noise=0.01)
    assert fixed.likelihood == likelihood
    spoiled = problem.y.copy()
    spoiled[0] += 1e4  # what has heavier tails must not mind, whatever the middle of the others
    moved = first_state(replace(problem, y=spoiled)).d.sum() / state.d.sum()
    assert (moved > 100) == likelihood.is_gaussian


def test_a_kernel_that_is_given_is_kept_and_saves_a_pass():
    problem = make_bayes_problem(LogisticLikelihood(), n_outputs=2)
    state = first_state(problem)
    K = problem.bank.combine(state.d)
    before, passes = K.copy(), problem.bank.n_passes
    given = Evaluation(problem, state, K)
    value = given.value
    assert problem.bank.n_passes == passes
    assert_array_equal(K, before)
    assert given.K is K
    assert value == Evaluation(problem, state).value
