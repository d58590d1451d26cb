"""Linear algebra that more than one part needs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from multikernel._linalg import mirror, nonnegative_minimiser


@pytest.mark.parametrize("n", [1, 7, 256, 600])
def test_mirror_copies_the_lower_triangle(n, rng):
    A = rng.normal(size=(n, n))
    expected = np.tril(A) + np.tril(A, -1).T
    assert_array_equal(mirror(A.copy()), expected)
    assert_array_equal(mirror(np.asfortranarray(A)), expected)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_nonnegative_minimiser_is_nonnegative_least_squares(n, rng):
    for _ in range(10):
        R, r = rng.normal(size=(n + 3, n)), rng.normal(size=n + 3)
        guess = rng.random(n) < 0.5
        found = nonnegative_minimiser(R.T @ R, R.T @ r, guess)
        assert_allclose(found, nnls(R, r)[0], atol=1e-8)
