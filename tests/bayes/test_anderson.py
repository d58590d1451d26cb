"""Anderson's acceleration of fixed-point iterations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multikernel.bayes.anderson import Anderson


def test_the_first_point_is_the_image(rng):
    x, image = rng.normal(size=(2, 4))
    assert_allclose(Anderson(mixing=2.0).next(x, image), image, rtol=0)


@pytest.mark.parametrize("mixing", [0.5, 1.0, 2.0])
def test_a_linear_iteration_ends_after_as_many_steps_as_it_has_rates(mixing, rng):
    A = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    rates = np.array([0.98, 0.98, 0.4, 0.4, -0.6, -0.6])  # three of them
    matrix, fixed = A * rates @ A.T, rng.normal(size=6)
    anderson, x = Anderson(mixing=mixing), np.zeros(6)
    for _ in range(5):
        x = anderson.next(x, fixed + matrix @ (x - fixed))
    assert_allclose(x, fixed, atol=1e-9)  # 1 / (1 − 0.98)² roundings, and some
    assert np.abs(np.linalg.matrix_power(matrix, 5) @ fixed).max() > 0.1  # plain steps are far away


def test_points_may_be_taken_elsewhere(rng):
    rates, anderson, x = np.array([0.99, 0.5, -0.9]), Anderson(), np.ones(3)
    for k in range(6):
        image = rates * x
        proposed = anderson.next(x, image)
        x = image if k % 2 else proposed  # every other proposal is refused
    assert np.abs(x).max() < 1e-8


def test_what_is_older_than_the_memory_is_forgotten_and_nothing_else(rng):
    points = rng.normal(size=(6, 4))

    def last(n_pairs):
        anderson = Anderson(memory=2)
        for x, image in zip(points[-n_pairs - 1 : -1], points[-n_pairs:], strict=True):
            proposed = anderson.next(x, image)
        return proposed

    assert_allclose(last(5), last(3), rtol=1e-12)
    assert np.abs(last(3) - last(2)).max() > 0.01
