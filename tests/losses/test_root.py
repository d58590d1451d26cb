"""The Newton searches behind proxes and intercepts."""

import numpy as np
from numpy.testing import assert_allclose

from multikernel.losses._root import increasing_root, newton_root


def solve(function, lower, upper, start):
    """The root, and how often the function was evaluated."""
    calls = []

    def counted(x):
        calls.append(x)
        return function(x)

    ends = (np.array(a, dtype=float) for a in (lower, upper, start))
    return increasing_root(counted, *ends, scale=np.ones(len(start))), len(calls)


def test_newton_is_fast_on_a_smooth_function():
    x, n_calls = solve(lambda x: (np.exp(x) - 2.0, np.exp(x)), [-5.0], [5.0], [1.0])
    assert_allclose(x, np.log(2.0), rtol=1e-15)
    assert n_calls <= 8


def test_bracket_holds_where_newton_diverges():
    x, n_calls = solve(
        lambda x: (np.arctan(x - 3), 1 / (1 + (x - 3) ** 2)), [-50.0], [99.0], [40.0]
    )
    assert_allclose(x, 3.0, rtol=1e-15)
    assert n_calls <= 30


def test_bracket_holds_where_newton_cycles():
    def signed_root(x):  # Newton on sign(x) sqrt|x| jumps between x and -x for ever
        size = np.sqrt(np.abs(x - 1)) + 1e-300
        return np.sign(x - 1) * size, 0.5 / size

    x, _ = solve(signed_root, [-7.0], [6.0], [3.0])
    assert_allclose(x, 1.0, rtol=1e-15)


def test_vanishing_slopes_are_harmless():
    def steep(x):
        return np.where(x < 0.3, -1.0, 1.0), np.full_like(x, 1e-310)

    def flat(x):
        return np.clip(x - 0.3, -1e-3, 1e-3), np.where(np.abs(x - 0.3) < 1e-3, 1.0, 0.0)

    for function in (steep, flat):
        x, n_calls = solve(function, [-1e4], [1e4], [-7e3])
        assert_allclose(x, 0.3, rtol=1e-14)
        assert n_calls <= 80


def test_each_element_stops_on_its_own():
    def function(x):
        shift = np.array([0.0, 3.0])
        return np.array([x[0] - 1.0, np.arctan(x[1] - shift[1])]), 1 / (1 + (x - shift) ** 2) ** [
            0,
            1,
        ]

    x, _ = solve(function, [-9.0, -50.0], [9.0, 99.0], [0.0, 40.0])
    assert_allclose(x, [1.0, 3.0], rtol=1e-15)


def test_without_a_root_the_nearer_end_is_returned():
    x, _ = solve(lambda x: (-np.exp(-x), np.exp(-x)), [-1.0], [60.0], [0.0])
    assert_allclose(x, 60.0, rtol=1e-12)


def test_a_few_newton_steps_settle_or_say_that_they_do_not():
    one = np.ones(1)
    root = newton_root(lambda x: (np.exp(x) - 2, np.exp(x)), one, one)
    assert_allclose(root, np.log(2.0), rtol=1e-15)
    assert newton_root(lambda x: (-np.exp(-x), np.exp(-x)), one, one) is None  # no root
    assert newton_root(lambda x: (np.arctan(x - 3), 1 / (1 + (x - 3) ** 2)), 9 * one, one) is None
    assert newton_root(lambda x: (x - 3, np.array([0.0])), one, one) is None  # no slope
    both = newton_root(lambda x: (x - [1.0, 2.0], np.ones(2)), np.zeros(2), np.ones(2))
    assert_allclose(both, [1.0, 2.0])
