"""The Gaussian marginal against plain linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError, null_space
from scipy.stats import multivariate_normal

from multikernel.bayes import Marginal

N = 9


def make(rng, n_outputs=2):
    A = rng.normal(size=(N, N))
    return A @ A.T, rng.uniform(0.2, 2.0, N), rng.normal(size=(N, n_outputs)) + 3.0


def marginal(K, gamma, Y, fit_intercept):
    return Marginal(K.copy(), gamma, Y, fit_intercept)


def test_without_intercept_it_is_the_normal_density(rng):
    K, gamma, Y = make(rng)
    m = marginal(K, gamma, Y, False)
    C = K + np.diag(gamma)
    assert_allclose(m.P, np.linalg.inv(C), rtol=1e-9, atol=1e-12)
    assert_allclose(m.alpha, np.linalg.solve(C, Y), rtol=1e-9)
    density = multivariate_normal(np.zeros(N), C).logpdf(Y.T).sum()
    value = 2 * (m.log_det + N * np.log(2 * np.pi)) + m.quadratic
    assert_allclose(value, -2 * density, rtol=1e-12)
    assert not m.intercept.any()


def test_with_intercept_it_is_the_density_of_contrasts(rng):
    K, gamma, Y = make(rng)
    m = marginal(K, gamma, Y, True)
    C = K + np.diag(gamma)
    H = null_space(np.ones((1, N)))  # orthonormal contrasts
    density = multivariate_normal(np.zeros(N - 1), H.T @ C @ H).logpdf((H.T @ Y).T).sum()
    value = 2 * (m.log_det + (N - 1) * np.log(2 * np.pi)) + m.quadratic
    assert_allclose(value, -2 * density, rtol=1e-11)
    assert_allclose(m.P, H @ np.linalg.inv(H.T @ C @ H) @ H.T, rtol=1e-8, atol=1e-11)
    assert_allclose(m.alpha, m.P @ Y, rtol=1e-8, atol=1e-11)
    one = np.ones(N)
    precision = one @ np.linalg.solve(C, one)
    assert_allclose(m.precision_of_constant, precision)
    assert_allclose(m.intercept, one @ np.linalg.solve(C, Y) / precision)


def test_intercept_makes_it_blind_to_constants(rng):
    K, gamma, Y = make(rng)
    H = np.eye(N) - 1 / N
    plain = marginal(K, gamma, Y, True)
    shifted = marginal(K + 5.0, gamma, Y + np.array([10.0, -4.0]), True)
    assert_allclose(shifted.quadratic, plain.quadratic, rtol=1e-9)
    assert_allclose(shifted.log_det, plain.log_det, rtol=1e-9)
    noise = np.full(N, 0.7)
    centred = marginal(H @ K @ H, noise, Y, True)
    assert_allclose(centred.P, marginal(K, noise, Y, True).P, rtol=1e-8, atol=1e-10)


def test_indefinite_covariance_is_named():
    m = marginal(-np.eye(N), np.full(N, 0.5), np.ones((N, 1)), False)
    with pytest.raises(
        LinAlgError, match=r"not positive definite in the precision .* dtype='float64'"
    ):
        m.solve(np.ones((N, 1)))
