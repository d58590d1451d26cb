"""Predictive distributions against adaptive quadrature, over the registry."""

from itertools import pairwise, product

import numpy as np
import pytest
from helpers import instances
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import log_ndtr

from multikernel.likelihoods import (
    LIKELIHOODS,
    Laplace,
    Likelihood,
    LogisticLikelihood,
    RegressionLikelihood,
    StudentT,
)
from multikernel.likelihoods._quadrature import _CHUNK, by_chunks, log_expectation

ALL = instances(LIKELIHOODS)
REGRESSION = instances(LIKELIHOODS, "predictive_cdf")
each = pytest.mark.parametrize("likelihood", ALL, ids=repr)
each_regression = pytest.mark.parametrize("likelihood", REGRESSION, ids=repr)

MEANS = np.array([-30.0, -2.0, 0.0, 0.7, 12.0])
VARS = np.array([0.0, 1e-8, 0.3, 1.0, 100.0, 1e4])
MEAN, VAR = (a.ravel() for a in np.meshgrid(MEANS, VARS))


def targets(likelihood):
    return (-1.0, 1.0) if likelihood.y_domain == "sign" else (-3.0, 0.7, 40.0)


def gaussian_average(function, mean, var, kink):
    """The mean of a function of u ~ N(mean, var) by adaptive quadrature, cut where it bends."""
    if var == 0:
        return function(mean)
    sd = np.sqrt(var)
    edges = {mean + k * sd for k in (-38, -8, -3, 0, 3, 8, 38)}
    edges |= {kink + k for k in (-300, -30, -3, -0.3, 0, 0.3, 3, 30, 300)}
    inside = sorted(e for e in edges if abs(e - mean) <= 38 * sd)

    def integrand(u):
        return function(u) * np.exp(-((u - mean) ** 2) / (2 * var)) / np.sqrt(2 * np.pi * var)

    return sum(
        quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200)[0] for a, b in pairwise(inside)
    )


@each
def test_log_predictive_is_the_average_probability(likelihood):
    for y, mean, var in product(targets(likelihood), MEANS, VARS):
        ours = likelihood.log_predictive(np.array(y), np.array(mean), np.array(var))
        kink = float(likelihood.center(np.array(y)))
        brute = gaussian_average(
            lambda u, y=y: np.exp(-likelihood.value(np.array(y), np.array(u)) / 2), mean, var, kink
        )
        if brute > 1e-100:  # further out the product peaks where the quadrature has no cut
            note = f"y={y}, mean={mean}, var={var}"
            assert_allclose(ours, np.log(brute), rtol=1e-10, atol=1e-10, err_msg=note)


@each
def test_fast_forms_agree_with_the_general_one(likelihood):
    """In the logarithm, far into the tails, where a probability would vanish."""
    mean = np.array([-1e4, -300.0, -5.0, 0.0, 4.0, 1e3])
    var = np.array([0.0, 1e-8, 1e-3, 1.0, 15.9, 16.1, 100.0, 1e4, 1e8])[:, None]
    for y in targets(likelihood):
        y = np.full((9, 6), y)
        slow = Likelihood.log_predictive(likelihood, y, mean, var)
        assert_allclose(likelihood.log_predictive(y, mean, var), slow, rtol=1e-11, atol=1e-12)
        if likelihood.y_domain == "real":
            slow = RegressionLikelihood.predictive_cdf(likelihood, y, mean, var)
            assert_allclose(likelihood.predictive_cdf(y, mean, var), slow, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0, 8.0, 300.0, 3000.0])
def test_student_serves_light_and_very_heavy_tails(nu):
    likelihood = StudentT(nu, 2.0)
    y, var = np.array([0.0, 3.0, 200.0, 1e4, 1e8]), np.array([0.0, 1e-8, 1.0, 100.0, 1e8])[:, None]
    y, var = np.broadcast_arrays(y, var)
    slow = Likelihood.log_predictive(likelihood, y, np.zeros_like(y), var)
    assert_allclose(likelihood.log_predictive(y, 0.0, var), slow, rtol=1e-11, atol=3e-12)
    slow = RegressionLikelihood.predictive_cdf(likelihood, -y, np.zeros_like(y), var)
    assert_allclose(likelihood.predictive_cdf(-y, 0.0, var), slow, rtol=1e-9, atol=1e-300)


@each
def test_predictive_moments(likelihood):
    mean, var = MEAN, VAR
    ours = likelihood.predictive_mean(mean, var), likelihood.predictive_var(mean, var)
    if likelihood.y_domain == "sign":
        p = np.exp(likelihood.log_predictive(np.ones_like(mean), mean, var))
        assert_allclose(ours[0], 2 * p - 1, atol=1e-13)
        assert_allclose(ours[1], 1 - (2 * p - 1) ** 2, atol=1e-13)
    else:
        assert_array_equal(ours[0], mean)
        if np.isfinite(likelihood.residual_var):
            half = quad(lambda r: r**2 * np.exp(-likelihood.value(0.0, r) / 2), 0, np.inf)[0]
            assert_allclose(ours[1], var + 2 * half, rtol=1e-7)
        else:
            assert np.isinf(ours[1]).all()


def test_student_without_a_variance_says_so():
    assert StudentT(nu=2.0).residual_var == np.inf
    assert_allclose(StudentT(nu=4.0, scale_var=3.0).residual_var, 6.0)


def test_both_labels_are_certain_together(rng):
    mean, var = 30 * rng.normal(size=500), np.exp(6 * rng.normal(size=500))
    for likelihood in instances({"logistic": LogisticLikelihood}):
        plus, minus = (np.exp(likelihood.log_predictive(y, mean, var)) for y in (1.0, -1.0))
        assert_allclose(plus + minus, 1.0, rtol=1e-14)


def test_logistic_tails_of_very_wide_latents():
    """A wide latent gives a normal probability, a narrow one e^(m + v/2) far below its mean."""
    one = np.ones(1)
    wide = LogisticLikelihood().log_predictive(one, -3e6 * one, 1e12 * one)
    assert_allclose(wide, log_ndtr(-3.0), atol=1e-5)
    far = LogisticLikelihood(2.0).log_predictive(one, -1e4 * one, 9.0 * one)
    assert_allclose(far, -2e4 + 18.0, rtol=1e-15)


@each_regression
def test_density_is_the_slope_of_the_cdf(likelihood):
    d = np.linspace(-6.0, 6.0, 24)
    for var in (1e-3, 0.3, 5.0, 400.0):
        h = 1e-4 * np.sqrt(var)
        y, mean, v = d * np.sqrt(var) + 1.0, np.ones_like(d), np.full_like(d, var)
        upper, lower = (likelihood.predictive_cdf(y + e, mean, v) for e in (h, -h))
        density = np.exp(likelihood.log_predictive(y, mean, v))
        assert_allclose((upper - lower) / (2 * h), density, rtol=1e-5, atol=1e-9 / np.sqrt(var))


@each_regression
def test_cdf_without_latent_variance_is_that_of_the_errors(likelihood):
    y = np.array([-4.0, 1.0, 1.5, 30.0])
    ours = likelihood.predictive_cdf(y, np.ones(4), np.zeros(4))
    assert_allclose(ours, likelihood.residual_cdf(y - 1.0), rtol=1e-12)


@each_regression
def test_quantile_inverts_the_cdf(likelihood):
    q = np.array([1e-9, 1e-3, 0.025, 0.4, 0.5, 0.8, 0.975, 1 - 1e-6])
    mean, var = np.full(8, 2.0), np.array([0.0, 1e-8, 0.3, 2.0, 100.0, 1e8])[:, None]
    y = likelihood.predictive_quantile(q, mean, var)
    assert y.shape == (6, 8)
    tail = likelihood.predictive_cdf(-np.abs(y - mean), np.zeros(8), var)
    # y - mean is exact only to rounding of y, which the density turns into a probability
    slip = 1e-15 * np.exp(likelihood.log_predictive(y, mean, var)) * np.abs(y)
    assert np.all(np.abs(tail - np.minimum(q, 1 - q)) <= 1e-11 * np.minimum(q, 1 - q) + slip)
    assert_array_equal(np.sign(y - mean), np.broadcast_to(np.sign(q - 0.5), y.shape))


@each_regression
def test_quantiles_of_certain_events_are_infinite(likelihood):
    q = likelihood.predictive_quantile(np.array([0.0, 1.0]), np.zeros(2), np.ones(2))
    assert_array_equal(q, [-np.inf, np.inf])


@each
def test_samples_follow_the_law(likelihood):
    n = 200_000
    u = np.full(n, 0.4)
    y = likelihood.sample(u, np.random.default_rng(3))
    assert y.shape == u.shape
    if likelihood.y_domain == "sign":
        share = np.exp(likelihood.log_predictive(np.ones(()), np.array(0.4), np.zeros(())))
        assert set(np.unique(y)) == {-1.0, 1.0}
        assert abs((y > 0).mean() - share) < 4 * np.sqrt(share * (1 - share) / n)
    else:
        for q in (0.02, 0.3, 0.5, 0.9):
            below = (y <= likelihood.predictive_quantile(q, 0.4, 0.0)).mean()
            assert abs(below - q) < 4 * np.sqrt(q * (1 - q) / n)  # four standard errors
    again = likelihood.sample(u, np.random.default_rng(3))
    assert_array_equal(y, again)


@each
def test_predictions_at_the_extremes_are_silent(likelihood):
    mean = np.array([-1e8, -1e4, 0.0, 1e4, 1e8])
    for var in (0.0, 1e-300, 1e-8, 1.0, 1e8, 1e16):
        v = np.full(5, var)
        for y in (-1.0, 1.0) if likelihood.y_domain == "sign" else (0.0, 1e4, -1e8):
            logs = likelihood.log_predictive(np.full(5, y), mean, v)
            assert not np.isnan(logs).any()
            assert np.isfinite(logs).all()
            if likelihood.y_domain == "real":
                cdf = likelihood.predictive_cdf(np.full(5, y), mean, v)
                assert np.all((cdf >= 0) & (cdf <= 1))
                assert np.all(np.diff(cdf) <= 0)  # falls as the mean rises
        assert np.isfinite(likelihood.predictive_mean(mean, v)).all()
        assert np.all(likelihood.predictive_var(mean, v) >= 0)


@each
@settings(deadline=None, max_examples=25)
@given(mean=st.floats(-100, 100), log_var=st.floats(-20, 20), y=st.floats(-100, 100))
def test_jensen(likelihood, mean, log_var, y):
    """The average of a probability is at least the exponential of the average of its logarithm."""
    y = np.array((np.sign(y) or 1.0) if likelihood.y_domain == "sign" else y)
    var = np.exp(log_var)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    average = weights @ -likelihood.value(y, mean + np.sqrt(var) * nodes) / np.sqrt(2 * np.pi) / 2
    ours = likelihood.log_predictive(y, np.array(mean), np.array(var))
    # the rule with 40 nodes errs by a few per cent of the average at the kink of Laplace
    assert ours >= average - 0.05 * abs(average) - 1e-9


# The quadrature itself


def test_expectation_of_a_narrow_peak_far_from_the_mean():
    """The product of two Gaussians peaks between them, on neither."""
    center, mean, var, width = 1e4, -1e4, 0.5, 0.25

    def log_peak(y, u):
        return -((u - y) ** 2) / (2 * width) - np.log(2 * np.pi * width) / 2

    ours = log_expectation(log_peak, np.array(center), np.array(center), mean, var)
    total = var + width
    exact = -((center - mean) ** 2) / (2 * total) - np.log(2 * np.pi * total) / 2
    assert_allclose(ours, exact, rtol=1e-13)


def test_chunks_cover_arrays_of_any_shape(rng):
    a, b = rng.normal(size=(3, _CHUNK)), rng.normal(size=_CHUNK)
    assert_allclose(by_chunks(np.add, a, b), a + b)
    assert by_chunks(np.add, 1.0, 2.0).shape == ()
    assert by_chunks(np.add, np.zeros((0, 2)), 1.0).shape == (0, 2)


def test_many_samples_take_one_call(rng):
    n = 20_000
    mean, var, y = rng.normal(size=n), rng.exponential(size=n), rng.normal(size=n)
    for likelihood in (Laplace(), StudentT(), LogisticLikelihood()):
        labels = np.sign(y) if likelihood.y_domain == "sign" else y
        logs = likelihood.log_predictive(labels, mean, var)
        some = slice(0, n, 997)
        alone = likelihood.log_predictive(labels[some], mean[some], var[some])
        assert_allclose(logs[some], alone, rtol=1e-12)
