"""The taxonomy: gradients, exact identities, which objective bounds which, and the table."""

import numpy as np
import pytest
from helpers import draw_targets, instances, numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import lambertw
from scipy.stats import multivariate_normal

from multikernel.banks import PackedBank
from multikernel.bayes import BayesProblem, Evaluation, InformationNewton, State
from multikernel.bayes.latent_mode import latent_mode
from multikernel.bayes.mode_evaluation import ModeEvaluation
from multikernel.bayes.taxonomy import (
    phi_gau,
    phi_laplace,
    phi_map,
    phi_map_gau,
    phi_mkl,
    phi_mlm,
    phi_rr,
    phi_vb,
    taxonomy,
)
from multikernel.likelihoods import LIKELIHOODS, Gaussian, Laplace, LogisticLikelihood, StudentT

LOG_2PI = np.log(2 * np.pi)
ALL = instances(LIKELIHOODS)
BOUNDED = [LogisticLikelihood(), LogisticLikelihood(3.0), Laplace(1.5), StudentT(), StudentT(1.5)]
SETTINGS = {
    phi_vb: {},
    phi_map: {"jitter": 0.05},
    phi_mkl: {"lam": 0.7, "p": 1.5},
    phi_laplace: {},
    phi_gau: {},
    phi_map_gau: {"jitter": 0.05},
    phi_rr: {"lam": 0.7, "p": 1.5},
}
of_gaussians = (phi_gau, phi_map_gau, phi_rr)
each = pytest.mark.parametrize("likelihood", ALL, ids=repr)
each_bounded = pytest.mark.parametrize("likelihood", BOUNDED, ids=repr)
each_intercept = pytest.mark.parametrize("fit_intercept", [False, True], ids=["", "intercept"])


def draw(likelihood, rng, n=7, M=3, n_outputs=1, scale=1.0):
    """A bank of M nonsingular kernels, targets and weights."""
    A = rng.normal(size=(M, n, n))
    bank = PackedBank.from_grams(list(scale * A @ A.transpose(0, 2, 1) / n))
    y = 1.5 * draw_targets(likelihood.y_domain, rng, n, n_outputs)
    if likelihood.y_domain == "sign":
        y = np.sign(y)
        y[:2] = np.array([[1.0], [-1.0]])  # both classes, or a free constant would have no mode
    return bank, y, rng.uniform(0.2, 1.5, M)


def posterior_mode(K, y, likelihood):
    return latent_mode(BayesProblem(PackedBank.from_grams([K]), y, likelihood, False), K)


def exact(bank, y, likelihood, d, n_nodes):
    """Minus twice the log evidence by a trapezoid rule over the whitened latent values."""
    L = np.linalg.cholesky(bank.combine(d))
    x, step = np.linspace(-8, 8, n_nodes, retstep=True)
    X = np.stack(np.meshgrid(*[x] * len(y), indexing="ij")).reshape(len(y), -1)
    logs = -0.5 * np.sum(likelihood.value(y, L @ X) + X**2 + LOG_2PI, axis=0)
    return -2 * (np.log(np.sum(np.exp(logs - logs.max()))) + logs.max() + len(y) * np.log(step))


# Gradients


def cases():
    for likelihood in ALL:
        for phi in SETTINGS:
            if phi in of_gaussians and not isinstance(likelihood, Gaussian):
                continue
            if phi is phi_laplace and isinstance(likelihood, Laplace):
                continue
            yield pytest.param(phi, likelihood, id=f"{phi.__name__}-{likelihood!r}")


@pytest.mark.parametrize(("phi", "likelihood"), list(cases()))
@each_intercept
def test_gradients_are_slopes(phi, likelihood, fit_intercept, rng):
    bank, y, d = draw(likelihood, rng, n_outputs=2)
    options = SETTINGS[phi] | {"fit_intercept": fit_intercept}
    slope = numeric_gradient(lambda d: phi(bank, y, likelihood, d, **options).value, d, eps=1e-5)
    gradient = phi(bank, y, likelihood, d, **options).gradient
    assert_allclose(gradient, slope, rtol=2e-6, atol=2e-6)


@each_bounded
@each_intercept
def test_the_gradient_of_the_sampled_evidence_is_its_slope(likelihood, fit_intercept, rng):
    bank, y, d = draw(likelihood, rng, n=2, M=2)
    found = phi_mlm(bank, y, likelihood, d, fit_intercept=fit_intercept)
    slope = numeric_gradient(
        lambda d: phi_mlm(bank, y, likelihood, d, fit_intercept=fit_intercept).value, d, eps=1e-3
    )
    assert_allclose(found.gradient, slope, atol=5e-3 * np.abs(slope).max())


# Values against independent formulas


@each_intercept
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_identities_of_gaussian_noise(fit_intercept, seed):
    rng = np.random.default_rng(seed)
    likelihood = Gaussian(rng.uniform(0.1, 2.0))
    bank, y, d = draw(likelihood, rng, n_outputs=2)
    n, T = y.shape
    data, fi = (bank, y, likelihood, d), {"fit_intercept": fit_intercept}
    gau = phi_gau(*data, **fi)
    shift = T * n * np.log(2 * np.pi * likelihood.noise_var)
    pairs = [
        (phi_mlm(*data, **fi), gau, T * (n - fit_intercept) * LOG_2PI),
        (phi_vb(*data, **fi), gau, T * (n - fit_intercept) * LOG_2PI),
        (phi_laplace(*data, **fi), gau, T * (n - fit_intercept) * LOG_2PI),
        (phi_map(*data, jitter=0.1, **fi), phi_map_gau(*data, jitter=0.1, **fi), shift),
        (phi_mkl(*data, lam=0.3, p=2.0, **fi), phi_rr(*data, lam=0.3, p=2.0, **fi), shift),
    ]
    for ours, theirs, constant in pairs:
        assert_allclose(ours.value, theirs.value + constant, rtol=1e-8, atol=1e-8)
        assert_allclose(ours.gradient, theirs.gradient, rtol=1e-8, atol=1e-8)


def test_gaussian_objectives_as_printed(rng):
    likelihood = Gaussian(0.4)
    bank, y, d = draw(likelihood, rng)
    K = bank.combine(d) + 0.1 * np.eye(len(y))
    S, t = bank.combine(d) + 0.4 * np.eye(len(y)), y[:, 0]
    evidence = multivariate_normal(cov=S).logpdf(t)
    assert_allclose(phi_mlm(bank, t, likelihood, d).value, -2 * evidence, rtol=1e-12)
    fit = t @ np.linalg.solve(K + 0.4 * np.eye(len(y)), t)
    found = phi_map_gau(bank, y, likelihood, d, jitter=0.1).value
    assert_allclose(found, fit + np.linalg.slogdet(K)[1], rtol=1e-12)
    fit = t @ np.linalg.solve(S, t)
    found = phi_rr(bank, y, likelihood, d, lam=3.0, p=2.0).value
    assert_allclose(found, fit + 3 * np.sum(d**2), rtol=1e-12)


@each
def test_the_mode_is_the_least_value(likelihood, rng):
    """Modes of MAP and MKL against a general minimiser; where there are several, none is near."""
    bank, y, d = draw(likelihood, rng)
    K, jitter = bank.combine(d), 0.05
    C = K + jitter * np.eye(len(y))

    def value(a, A):
        return a @ A @ a + np.sum(likelihood.value(y[:, 0], A @ a))

    for A, phi, options, constant in (
        (K, phi_mkl, {"lam": 0.5}, 0.5 * d.sum()),
        (C, phi_map, {"jitter": jitter}, np.linalg.slogdet(C)[1]),
    ):
        found = phi(bank, y, likelihood, d, **options).value - constant
        mode = posterior_mode(A, y, likelihood)
        assert_allclose(value(mode.alpha[:, 0], A), found, rtol=1e-10)
        best = minimize(value, mode.alpha[:, 0], (A,), "Nelder-Mead", options={"maxfev": 3000})
        assert best.fun >= found - 1e-8 * abs(found)
        if likelihood.log_concave:  # the dual value proves the minimum
            dual = np.sum(likelihood.conjugate(y, mode.alpha)) - mode.norm
            assert_allclose(dual, found, rtol=1e-9, atol=1e-9)
        else:
            assert_allclose(mode.alpha, -likelihood.gradient(y, mode.z) / 2, atol=1e-9)


@each_bounded
def test_the_bound_is_least_over_all_variances(likelihood, rng):
    bank, y, d = draw(likelihood, rng, n=4)
    problem = BayesProblem(bank, y, likelihood, fit_intercept=False)

    def bound(log_gamma):
        return Evaluation(problem, State(d, likelihood, np.exp(log_gamma)[:, None])).value

    start = np.log(likelihood.site_var(np.full(len(y), 2.0)))
    found = phi_vb(bank, y, likelihood, d).value
    best = min(minimize(bound, start + shift, method="BFGS").fun for shift in (0.0, 1.0))
    assert_allclose(found, best, rtol=1e-7)


def test_laplace_approximation_as_printed(rng):
    likelihood = LogisticLikelihood()
    bank, y, d = draw(likelihood, rng)
    K, mode = bank.combine(d), posterior_mode(bank.combine(d), y, likelihood)
    root = np.sqrt(likelihood.hessian(y, mode.z)[:, 0])
    volume = np.linalg.slogdet(np.eye(len(y)) + 0.5 * root[:, None] * K * root)[1]
    value = mode.z[:, 0] @ np.linalg.solve(K, mode.z[:, 0]) + likelihood.value(y, mode.z).sum()
    assert_allclose(phi_laplace(bank, y, likelihood, d).value, value + volume, rtol=1e-10)


@each_bounded
@pytest.mark.parametrize(("n", "n_nodes", "tol"), [(2, 1201, 1e-4), (3, 121, 4e-3)])
def test_sampled_evidence_agrees_with_quadrature(likelihood, n, n_nodes, tol, rng):
    bank, y, d = draw(likelihood, rng, n=n)
    found = phi_mlm(bank, y, likelihood, d)
    assert 0 < found.error < 0.02
    reference = exact(bank, y, likelihood, d, n_nodes)
    assert abs(found.value - reference) <= 5 * found.error + tol


@each_bounded
def test_a_flat_intercept_is_integrated_along_the_constant(likelihood, rng):
    """In orthonormal coordinates the prior is flat along 1/√2 and Gaussian across."""
    bank, y, d = draw(likelihood, rng, n=2)
    K, across = bank.combine(d), np.array([1.0, -1.0]) / np.sqrt(2)
    var = across @ K @ across
    b, db = np.linspace(-60, 60, 2401, retstep=True)
    c, dc = np.linspace(-8 * np.sqrt(var), 8 * np.sqrt(var), 401, retstep=True)
    U = across[:, None, None] * c + (np.ones(2) / np.sqrt(2))[:, None, None] * b[:, None]
    prior = np.exp(-(c**2) / (2 * var)) / np.sqrt(2 * np.pi * var)
    density = prior * np.exp(-0.5 * likelihood.value(y[:, :, None], U).sum(axis=0))
    reference = -2 * np.log(density.sum() * db * dc)
    found = phi_mlm(bank, y, likelihood, d, fit_intercept=True)
    assert abs(found.value - reference) <= 5 * found.error + 2e-3
    assert phi_vb(bank, y, likelihood, d, fit_intercept=True).value > reference


# Which bounds which


@each_bounded
@pytest.mark.parametrize("seed", range(4))
def test_evidence_below_best_bound_below_any_bound(likelihood, seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 2
    bank, y, d = draw(likelihood, rng, n=n, scale=10.0 ** rng.uniform(-1, 1))
    problem = BayesProblem(bank, y, likelihood, fit_intercept=False)
    evidence = exact(bank, y, likelihood, d, 801 if n == 2 else 121)
    bound = phi_vb(bank, y, likelihood, d).value
    assert bound >= evidence - 2e-4
    for _ in range(40):
        gamma = likelihood.site_var(rng.exponential(5.0, (n, 1))) * rng.uniform(0.3, 2.0, (n, 1))
        assert Evaluation(problem, State(d, likelihood, gamma)).value >= bound - 1e-10


@each_bounded
@each_intercept
def test_the_bound_holds_for_six_samples(likelihood, fit_intercept, rng):
    bank, y, d = draw(likelihood, rng, n=6)
    found = phi_mlm(bank, y, likelihood, d, fit_intercept=fit_intercept)
    assert found.error < 0.1
    bound = phi_vb(bank, y, likelihood, d, fit_intercept=fit_intercept).value
    assert bound >= found.value - 4 * found.error


def test_joint_map_is_no_bound():
    """It lies above and below the evidence: they differ by ln|2πV| of the posterior."""
    above, rng = [], np.random.default_rng(0)
    for _ in range(40):
        likelihood = Gaussian(10.0 ** rng.uniform(-1, 2))
        bank, y, d = draw(likelihood, rng, n=5, scale=10.0 ** rng.uniform(-1, 2))
        K, n = bank.combine(d), len(y)
        V = K - K @ np.linalg.solve(K + likelihood.noise_var * np.eye(n), K)
        difference = phi_map(bank, y, likelihood, d, jitter=0.0).value + n * LOG_2PI
        difference -= phi_mlm(bank, y, likelihood, d).value
        assert_allclose(difference, np.linalg.slogdet(2 * np.pi * V)[1], atol=1e-8)
        above.append(difference > n * LOG_2PI)
    assert 5 < sum(above) < 35


@pytest.mark.parametrize("likelihood", [LogisticLikelihood(), StudentT(scale_var=9.0)], ids=repr)
def test_joint_map_is_not_a_bound_of_the_variational_one_either(likelihood):
    rng, signs = np.random.default_rng(3), set()
    for scale in (0.01, 0.3, 10.0, 100.0):
        bank, y, d = draw(likelihood, rng, n=5, scale=scale)
        joint = phi_map(bank, y, likelihood, d, jitter=0.0).value
        signs.add(np.sign(joint - phi_vb(bank, y, likelihood, d).value))
    assert signs == {-1.0, 1.0}


def smoothed_bound(bank, y, likelihood, d, z):
    """The bound with fixed variances z that smooth the loss: a minimum over u, one over 1/γ."""
    K = bank.combine(d)
    inverse = np.linalg.inv(K)

    def loss(u):
        grad = 2 * inverse @ u + likelihood.smoothed_gradient(y, u, z)
        return u @ inverse @ u + likelihood.smoothed_value(y, u, z).sum(), grad

    def conjugate(log_pi):  # z·π − ln|K⁻¹ + Π|
        A = inverse + np.diag(np.exp(log_pi))
        grad = np.exp(log_pi) * (z - np.diag(np.linalg.inv(A)))
        return z @ np.exp(log_pi) - np.linalg.slogdet(A)[1], grad

    start = posterior_mode(K, y[:, None], likelihood).z[:, 0]
    options = {"jac": True, "method": "BFGS", "options": {"gtol": 1e-10}}
    inner, concave = minimize(loss, start, **options), minimize(conjugate, -np.log(z), **options)
    return inner.fun + np.linalg.slogdet(K)[1] - concave.fun


@pytest.mark.parametrize("likelihood", [LogisticLikelihood(), StudentT()], ids=repr)
def test_joint_map_is_the_bound_less_a_constant_that_diverges(likelihood, rng):
    bank, y, d = draw(likelihood, rng, n=3)
    y, joint = y[:, 0], phi_map(bank, y, likelihood, d, jitter=0.0).value
    bound, gaps = phi_vb(bank, y, likelihood, d).value, []
    for size in (1e-2, 1e-3, 1e-4):
        z = size * np.array([1.0, 2.0, 0.5])
        value = smoothed_bound(bank, y, likelihood, d, z)
        assert value >= bound
        gaps.append(abs(value + np.log(z).sum() + len(y) - joint))
    assert_allclose(np.divide(gaps[:-1], gaps[1:]), 10.0, rtol=0.15)
    assert gaps[-1] < 0.01


@pytest.mark.parametrize("likelihood", [LogisticLikelihood(), Gaussian(0.3), StudentT()], ids=repr)
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_mkl_less_a_constant_is_above_joint_map_and_touches_it(likelihood, p, rng):
    bank, y, d = draw(likelihood, rng)
    lam = 2.5

    def conjugate(d):  # λ Σ d^p − ln|K|
        K = bank.combine(d)
        grad = lam * p * d ** (p - 1) - bank.traces(np.linalg.inv(K))
        return lam * np.sum(d**p) - np.linalg.slogdet(K)[1], grad

    bounds = [(0.01, None)] * len(d)
    least = minimize(conjugate, d, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-14)

    def gap(d):
        joint = phi_map(bank, y, likelihood, d, jitter=0.0).value
        return phi_mkl(bank, y, likelihood, d, lam=lam, p=p).value - least.fun - joint

    for _ in range(20):
        assert gap(rng.exponential(size=len(d)) + 0.01) >= -1e-9
    assert_allclose(gap(least.x), 0.0, atol=1e-9)
    inside = least.x > 0.011
    assert inside.any()
    slopes = [
        phi_mkl(bank, y, likelihood, least.x, lam=lam, p=p).gradient,
        phi_map(bank, y, likelihood, least.x, jitter=0.0).gradient,
    ]
    assert_allclose(slopes[0][inside], slopes[1][inside], atol=1e-4)


# Joint MAP collapses


@given(seed=st.integers(0, 10_000), log_scale=st.floats(-3, 4), tau=st.floats(0.3, 3.0))
@settings(max_examples=40, deadline=None)
def test_logistic_joint_map_falls_with_the_scale_of_the_kernels(seed, log_scale, tau):
    likelihood = LogisticLikelihood(tau)
    bank, y, d = draw(likelihood, np.random.default_rng(seed), scale=10.0**log_scale)
    largest = float(lambertw(1 / np.e).real)  # 0.27847 of every sample
    slope = phi_map(bank, y, likelihood, d, jitter=0.0).gradient @ d  # n − uᵀK⁻¹u
    assert (1 - largest) * len(y) - 1e-7 <= slope <= len(y) + 1e-7


def test_the_bound_of_the_collapse_is_attained():
    largest = float(lambertw(1 / np.e).real)
    v = 1 + largest  # maximises v σ(−v)
    scale = v * (1 + np.exp(v))  # so that u = v y is the mode
    bank, y = PackedBank.from_grams([np.eye(4)]), np.array([1.0, -1.0, 1.0, 1.0])
    slope = phi_map(bank, y, LogisticLikelihood(), np.array([scale]), jitter=0.0).gradient * scale
    assert_allclose(slope, 4 * (1 - largest), rtol=1e-10)
    assert_allclose(largest, 0.27847, atol=1e-5)


@pytest.mark.parametrize("likelihood", [Gaussian(0.7), Laplace(1.3)], ids=repr)
def test_the_norm_of_other_modes_is_bounded_by_the_targets(likelihood, rng):
    for log_scale in np.linspace(-3, 3, 13):
        bank, y, d = draw(likelihood, rng, scale=10.0**log_scale)
        norm = posterior_mode(bank.combine(d), y, likelihood).norm
        if isinstance(likelihood, Gaussian):
            assert norm <= np.sum(y**2) / (4 * likelihood.noise_var)
        else:
            assert norm <= likelihood.tau * np.sum(np.abs(y))


@each
def test_without_kernels_the_bound_is_the_loss_at_zero(likelihood, rng):
    bank, y, d = draw(likelihood, rng)
    for found in (phi_vb(bank, y, likelihood, 0 * d), phi_mkl(bank, y, likelihood, 0 * d, lam=1.0)):
        assert_allclose(found.value, likelihood.value(y, np.zeros_like(y)).sum(), rtol=1e-9)


# Borders


def test_what_cannot_be_computed_is_said(rng):
    bank, y, d = draw(StudentT(), rng, n=9)
    with pytest.raises(ValueError, match="at most 8 latent values, got 9 under StudentT"):
        phi_mlm(bank, y, StudentT(), d)
    with pytest.raises(TypeError, match="phi_gau is an objective of Gaussian noise, got Laplace"):
        phi_gau(bank, y, Laplace(), d)
    with pytest.raises(TypeError, match="phi_laplace needs a likelihood with a second derivative"):
        phi_laplace(bank, y, Laplace(), d)
    singular = PackedBank.from_grams([np.ones((9, 9)), np.eye(9)])
    with pytest.raises(ValueError, match="singular to rounding with jitter=0; raise jitter"):
        phi_map(singular, y, Gaussian(), np.array([1.0, 0.0]), jitter=0.0)
    assert np.isfinite(phi_map(singular, y, Gaussian(), np.array([1.0, 0.0]), jitter=1e-3).value)
    with pytest.raises(ValueError, match="jitter must be a finite number >= 0, got -1"):
        phi_map(bank, y, Gaussian(), d, jitter=-1.0)
    with pytest.raises(ValueError, match=r"lam >= 0 and p >= 1, got lam=1\.0, p=0\.5"):
        phi_mkl(bank, y, Gaussian(), d, lam=1.0, p=0.5)


# The table


@pytest.fixture
def problem(rng):
    bank, y, _ = draw(Gaussian(), rng, n=20)
    return BayesProblem(bank, y, Gaussian())


def test_table_of_gaussian_noise(problem):
    found = InformationNewton(tol=1e-9).infer(problem)
    table = taxonomy(problem, found.weights, likelihood=found.likelihood, jitter=0.1, lam=2.0)
    frame = table.frame()
    assert list(frame.index) == ["MLM", "VB", "LA", "MAP", "MKL", "GAU", "MAP/GAU", "RR"]
    assert list(frame.columns) == ["value", "bound", "stationarity", "note"]
    assert (frame["bound"] == ["exact"] * 3 + ["no"] * 5).all()
    assert_allclose(frame["value"][["MLM", "VB", "LA"]], found.objective, rtol=1e-10)
    assert frame["stationarity"]["VB"] < 1e-7 < frame["stationarity"]["MAP"]
    data = (problem.bank, problem.y, found.likelihood, found.weights)
    joint = phi_map(*data, jitter=0.1, fit_intercept=True)
    assert table["MAP"].value == joint.value
    assert_allclose(table["MAP"].gradient, joint.gradient)
    assert table["MKL"].value == phi_mkl(*data, lam=2.0, fit_intercept=True).value
    assert "jitter = 1.0e-01" in table["MAP"].note
    lines = str(table).splitlines()
    assert repr(table) == str(table)
    assert len(lines) == 2 + len(frame)
    assert lines[0].endswith(f"{np.count_nonzero(found.weights)} of 3 kernels in use")
    with pytest.raises(KeyError, match="no objective 'XYZ'; there are MLM, VB"):
        table["XYZ"]


def test_table_of_a_few_samples_holds_the_evidence(rng):
    bank, y, d = draw(LogisticLikelihood(), rng, n=5)
    table = taxonomy(BayesProblem(bank, y, LogisticLikelihood(), fit_intercept=False), d)
    assert table["MLM"].value < table["VB"].value
    assert table["MLM"].note.startswith("± ")
    assert [row.bound for row in table.rows] == ["exact", "upper", "no", "no", "no"]


def test_table_says_what_is_missing(rng):
    bank, y, d = draw(Laplace(), rng, n=9)
    table = taxonomy(BayesProblem(bank, y, Laplace()), 0 * d)
    assert np.isnan(table["MLM"].value)
    assert np.isnan(table["LA"].value)
    assert table["MLM"].note.startswith("not available: phi_mlm samples at most 8")
    assert table["LA"].note.startswith("not available: phi_laplace needs")
    assert np.isfinite(table["MAP"].value)


def test_stationarity_sees_kernels_that_want_in(problem):
    assert taxonomy(problem, np.zeros(3), likelihood=Gaussian(0.01))["VB"].stationarity > 0.1


def test_table_of_an_estimator(rng):
    from multikernel import ProbabilisticMKLRegressor

    X = rng.normal(size=(25, 2))
    model = ProbabilisticMKLRegressor().fit(X, X[:, 0] + 0.1 * rng.normal(size=25))
    table = taxonomy(model)
    assert_allclose(-0.5 * table["MLM"].value, model.log_evidence_)
    assert_allclose(table.weights, model.weights_)
    assert table.likelihood == model.likelihood_


def test_sources_without_a_problem_are_refused(problem):
    from multikernel import MKLRegressor

    with pytest.raises(TypeError, match="a fitted estimator or a BayesProblem, got ndarray"):
        taxonomy(problem.y)
    with pytest.raises(ValueError, match="not fitted"):
        taxonomy(MKLRegressor())
    X = problem.y + np.arange(20)[:, None]
    with pytest.raises(TypeError, match="problem_, which this MKLRegressor lacks"):
        taxonomy(MKLRegressor().fit(X, problem.y[:, 0]))
    with pytest.raises(ValueError, match="3 finite weights >= 0, one for each kernel"):
        taxonomy(problem, [1.0, -1.0, 2.0])


@each
@each_intercept
def test_joint_map_and_its_method_have_the_same_mode(likelihood, fit_intercept):
    for seed in range(10):
        bank, y, d = draw(likelihood, np.random.default_rng(seed), n=15, n_outputs=2, scale=4.0)
        problem = BayesProblem(bank, y, likelihood, fit_intercept)
        found = phi_map(bank, y, likelihood, d, jitter=0.05, fit_intercept=fit_intercept)
        e = ModeEvaluation(problem, d, 0.05)
        assert_allclose(e.value, found.value, rtol=1e-12)
        assert_allclose(e.gradient, found.gradient, rtol=1e-8, atol=1e-8)
