"""Tests of differences: their formulas, their limits, and numerical integration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats

from multikernel.comparison import corrected_t_test, practical_equivalence

X = np.array([0.031, -0.004, 0.022, 0.013, 0.045, 0.002])


def test_without_overlap_it_is_the_plain_t_test():
    """No test samples relative to training samples: only 1/k is left."""
    test, plain = corrected_t_test(X, n_train=1e12, n_test=1.0), stats.ttest_1samp(X, 0.0)
    interval = plain.confidence_interval(0.95)
    assert_allclose(test.p_value, plain.pvalue, rtol=1e-9)
    assert_allclose([test.low, test.high], [interval.low, interval.high], rtol=1e-9)


def test_the_correction_adds_the_share_of_test_samples():
    test = corrected_t_test(X, n_train=80, n_test=20)
    error = np.sqrt((1 / 6 + 20 / 80) * X.var(ddof=1))
    assert_allclose([test.mean, test.error], [X.mean(), error])
    assert_allclose(test.p_value, 2 * stats.t.sf(X.mean() / error, df=5))


def test_the_p_value_says_whether_the_interval_contains_zero():
    for shift in np.linspace(-0.1, 0.1, 9):
        test = corrected_t_test(X + shift, n_train=80, n_test=20, level=0.9)
        assert (test.p_value < 0.1) == (test.low > 0 or test.high < 0)


def test_two_folds_are_enough_for_an_answer_and_too_few_for_a_claim():
    test = corrected_t_test(np.array([0.1, 0.2]), n_train=50, n_test=50)
    t = 0.15 / np.sqrt(1.5 * 0.005)
    assert_allclose(test.p_value, 2 * (0.5 - np.arctan(t) / np.pi))  # one degree of freedom: Cauchy
    assert test.low < 0 < test.high


def test_no_difference_at_all():
    test = corrected_t_test(np.zeros(5), n_train=80, n_test=20)
    assert (test.mean, test.low, test.high, test.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert practical_equivalence(np.zeros(5), n_train=80, n_test=20) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("value", [0.05, -0.05])
def test_equal_differences_are_as_sure_as_one_sample_in_a_fold(value):
    """One more hit of 20 in every fold is no certainty."""
    test = corrected_t_test(np.full(3, value), n_train=40, n_test=20)
    assert_allclose(test.error, np.sqrt((1 / 3 + 1 / 2) / 6) / 20)
    assert 0.05 < test.p_value < 0.2
    where = practical_equivalence(np.full(3, value), n_train=40, n_test=20)
    assert 0.5 < max(where.better, where.worse) < 0.95


def test_rounding_is_not_a_spread():
    """0.95 - 0.9 and 0.85 - 0.8 differ in their last digit."""
    x = np.array([0.95 - 0.9, 0.85 - 0.8, 0.75 - 0.7])
    assert np.ptp(x) > 0
    assert_allclose(corrected_t_test(x, 2, 1).error, np.sqrt((1 / 3 + 1 / 2) / 6))


def test_probabilities_against_numerical_integration():
    scale = np.sqrt((1 / 6 + 20 / 80) * X.var(ddof=1))
    density = stats.t(df=5, loc=X.mean(), scale=scale).pdf
    worse, same, better = practical_equivalence(X, n_train=80, n_test=20, rope=0.02)
    assert_allclose(worse, integrate.quad(density, -np.inf, -0.02)[0], rtol=1e-6)
    assert_allclose(same, integrate.quad(density, -0.02, 0.02)[0], rtol=1e-6)
    assert_allclose(better, integrate.quad(density, 0.02, np.inf)[0], rtol=1e-6)


@settings(deadline=None, max_examples=50)
@given(
    x=st.lists(st.floats(-1, 1), min_size=2, max_size=12),
    rope=st.floats(0, 0.5),
    ratio=st.floats(0.01, 1),
)
def test_probabilities_sum_to_one_and_turn_with_the_sign(x, rope, ratio):
    x = np.array(x)
    there = practical_equivalence(x, 100, 100 * ratio, rope)
    back = practical_equivalence(-x, 100, 100 * ratio, rope)
    assert all(-1e-12 <= p <= 1 + 1e-12 for p in there)
    assert_allclose(sum(there), 1.0, atol=1e-12)
    assert_allclose(there, back[::-1], atol=1e-9)


@pytest.mark.parametrize("x", [[], [0.1]])
def test_one_fold_is_refused(x):
    with pytest.raises(ValueError, match="At least 2 differences are needed"):
        corrected_t_test(np.array(x), 80, 20)
