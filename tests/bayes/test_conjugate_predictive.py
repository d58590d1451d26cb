"""Predictive moments against Monte Carlo, and the numbers of the probit against quadrature."""

import numpy as np
import pytest
from conjugate_reference import draw_predictor, make_data, some_priors
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from multikernel.bayes.conjugate import Design, Model, Schedule, fit_conjugate
from multikernel.bayes.conjugate.probit import (
    largest_probability,
    log_mass,
    score_mean,
    sign_probability,
)


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("outputs", ["shared_weights", "shared_samples"])
def test_predictor_moments_against_draws(outputs, tied, structured, rng):
    bank, _, y = make_data(rng, n=20, M=3, L=2)
    model = Model(some_priors(rng), outputs=outputs, tied=tied, structured=structured)
    posterior = fit_conjugate(bank, y, model, Schedule(tol=1e-4, max_iter=500))
    Ks = rng.normal(size=(3, 2, 20))  # two queries
    out = draw_predictor(posterior, Ks, 60_000, rng).transpose(0, 2, 1)
    mean, var = posterior.predictor_moments(Ks)
    assert_allclose(mean, out.mean(0), atol=5 * np.sqrt(var / len(out)).max())
    assert_allclose(var, out.var(0), rtol=0.04)
    plug_in = posterior.predictor_moments(Ks, full=False)[1]
    assert np.all(plug_in < var)


def test_plug_in_is_the_quadratic_form_of_the_paper(rng):
    bank, grams, y = make_data(rng, n=20, M=3)
    posterior = fit_conjugate(bank, y, Model(), Schedule(tol=1e-3))
    be, Ks = posterior.factors.be, grams[:, :2]
    cov = np.block([[be.bias_var[0], be.bias_cov[0]], [be.bias_cov[0][:, None], be.cov[0]]])
    for i in range(2):
        z = np.r_[1.0, Ks[:, i] @ posterior.factors.a.mean[0]]
        assert_allclose(posterior.predictor_moments(Ks, full=False)[1][i, 0], z @ cov @ z)


@pytest.mark.parametrize("margin", [0.0, 0.7])
@pytest.mark.parametrize("m", [-3.0, -0.4, 0.0, 2.2])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_scores_of_signs(m, y, margin):
    low, high = (margin, np.inf) if y > 0 else (-np.inf, -margin)
    Z = quad(lambda f: norm.pdf(f, m), low, high)[0]
    mean = quad(lambda f: f * norm.pdf(f, m), low, high)[0] / Z
    at, label = np.array([[m]]), np.array([[y]])
    assert_allclose(log_mass(at, label, "sign", margin), np.log(Z), rtol=1e-8)
    assert_allclose(score_mean(at, label, "sign", margin), mean, rtol=1e-8)


def test_scores_far_from_their_label_are_finite():
    m, y = np.array([[-35.0, 35.0, -1e4]]), np.array([[1.0, 1.0, 1.0]])
    f = score_mean(m, y, "sign")
    assert np.all(np.isfinite(f))
    assert_allclose(f[0, :2], [1 / 35, 35.0], rtol=2e-3)
    m, y = np.array([[-30.0], [0.0], [1.0]]), np.array([[1.0], [0.0], [0.0]])
    assert np.all(np.isfinite(score_mean(m, y, "onehot")))


def test_scores_of_classes_against_draws(rng):
    m, k = np.array([[0.4], [-0.3], [1.1], [0.0]]), 0
    y = np.eye(4)[[k]].T
    f = m[:, 0] + rng.normal(size=(1_000_000, 4))
    won = f[f.argmax(axis=1) == k]
    assert_allclose(np.exp(log_mass(m, y, "onehot")), len(won) / len(f), rtol=0.01)
    assert_allclose(score_mean(m, y, "onehot")[:, 0], won.mean(axis=0), atol=0.01)


def test_two_classes_are_one_sign(rng):
    """The difference of two scores has variance 2."""
    m = rng.normal(size=(2, 7))
    y = np.eye(2)[rng.integers(2, size=7)].T
    gap = np.where(y[0] > 0, m[0] - m[1], m[1] - m[0])
    assert_allclose(log_mass(m, y, "onehot"), np.log(ndtr(gap / np.sqrt(2))), rtol=1e-9)


def test_means_are_slopes_of_the_mass(rng):
    """The mean of a truncated Gaussian is m plus the gradient of its log mass."""
    for targets, y in (("sign", np.array([[1.0], [-1.0], [1.0]])), ("onehot", np.eye(3)[:, [1]])):
        m, h = rng.normal(size=(3, 1)), 1e-5
        slope = [
            (np.sum(log_mass(m + d, y, targets)) - np.sum(log_mass(m - d, y, targets))) / (2 * h)
            for d in h * np.eye(3)[:, :, None]
        ]
        assert_allclose(score_mean(m, y, targets)[:, 0], m[:, 0] + slope, atol=1e-8)


def test_probabilities(rng):
    mean, var = np.array([[0.8]]), np.array([[0.6]])
    exact = quad(lambda f: ndtr(f) * norm.pdf(f, 0.8, np.sqrt(0.6)), -10, 10)[0]
    assert_allclose(sign_probability(mean, var), exact, rtol=1e-8)
    up, down = ndtr(0.3 / np.sqrt(1.6)), ndtr(-1.3 / np.sqrt(1.6))
    assert_allclose(sign_probability(mean, var, 0.5), up / (up + down), rtol=1e-12)
    mean, var = rng.normal(size=(2, 3)), rng.uniform(0.3, 3, size=(2, 3))
    p = largest_probability(mean, var)
    f = mean + np.sqrt(var) * rng.normal(size=(400_000, 2, 3))
    assert_allclose(
        p, np.stack([np.mean(f.argmax(2) == k, axis=0) for k in range(3)], 1), atol=4e-3
    )
    assert_allclose(p.sum(axis=1), 1.0)


def test_design_computes_the_sum_of_squares_once(rng):
    bank, grams, _ = make_data(rng)
    assert_allclose(Design.from_bank(bank).Q, np.einsum("mij,mjk->ik", grams, grams))
