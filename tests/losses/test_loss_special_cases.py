"""Known closed forms, limits between losses, and parameters out of range."""

import numpy as np
import pytest
from helpers import draw_targets
from numpy.testing import assert_allclose
from sklearn.metrics import hinge_loss, log_loss

from multikernel.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Multinomial,
    RelativeMargin,
    Squared,
    SquaredHinge,
)

METHODS = ("value", "gradient", "conjugate", "project_dual")


@pytest.fixture
def data(rng):
    return rng.normal(size=(50, 2)), 3 * rng.normal(size=(50, 2)), rng.random((50, 1))


def assert_same_loss(a, b, y, f, cost, **tolerance):
    for method in METHODS:
        assert_allclose(getattr(a, method)(y, f), getattr(b, method)(y, f), **tolerance)
    assert_allclose(a.prox(y, f, 0.6), b.prox(y, f, 0.6), **tolerance)
    assert_allclose(a.best_intercept(y, f, cost), b.best_intercept(y, f, cost), **tolerance)


def test_huber_with_a_large_delta_is_squared(data):
    assert_same_loss(Huber(delta=1e6), Squared(), *data, atol=1e-12)


def test_huber_with_a_small_delta_is_absolute(data):
    y, f, _ = data
    assert_allclose(Huber(delta=1e-7).value(y, f) / 1e-7, Absolute().value(y, f), atol=1e-7)


def test_epsilon_zero_is_absolute(data):
    assert_same_loss(EpsilonInsensitive(epsilon=0.0), Absolute(), *data, atol=1e-13)


def test_a_distant_bound_is_no_bound(data):
    y, f, cost = data
    y, wide, hinge = np.sign(y), RelativeMargin(bound=1e6), Hinge()
    for method in ("value", "gradient"):
        assert_allclose(getattr(wide, method)(y, f), getattr(hinge, method)(y, f), rtol=0)
    assert_allclose(wide.prox(y, f, 0.6), hinge.prox(y, f, 0.6), rtol=0)
    assert_allclose(wide.best_intercept(y, f, cost), hinge.best_intercept(y, f, cost), rtol=1e-13)
    u = hinge.project_dual(y, f)
    assert_allclose(wide.conjugate(y, u), hinge.conjugate(y, u), atol=1e-15)


def test_walls_hold_any_pull():
    loss, y = RelativeMargin(bound=1.5), np.array([[1.0], [-1.0]])
    for side in (-1.5, 1.5):
        f = np.full((2, 1), side)
        for pull in (0.0, 0.3, 40.0):  # outwards, on top of the slope next to the wall
            u = loss.gradient(y, 0.999 * f) + np.sign(side) * pull
            assert_allclose(loss.value(y, f) + loss.conjugate(y, u), u * f, atol=1e-13)
        assert_allclose(loss.prox(y, 10 * f, 0.5), f)
    assert np.all(np.isfinite(loss.value(y, np.full((2, 1), 1.5 * (1 + 5e-10)))))
    assert np.all(np.isinf(loss.value(y, np.full((2, 1), 1.5 * (1 + 1e-8)))))


def test_two_class_multinomial_is_logistic(rng):
    y = draw_targets("sign", rng, 30)
    f = 3 * rng.normal(size=(30, 1))
    cost = rng.random((30, 1))
    onehot, halves = np.hstack([y > 0, y < 0]).astype(float), np.hstack([f, -f]) / 2
    two, one = Multinomial(), Logistic()
    assert_allclose(two.value(onehot, halves), one.value(y, f), rtol=1e-13)
    assert_allclose(two.gradient(onehot, halves)[:, :1], one.gradient(y, f), atol=1e-15)
    assert_allclose(
        2 * two.best_intercept(onehot, halves, cost)[:1], one.best_intercept(y, f, cost), rtol=1e-12
    )
    # In the direction (1, -1)/2 a move of f by t costs t²/2, hence the step of the pair is halved.
    assert_allclose(np.diff(-two.prox(onehot, halves, 0.4))[:, 0], one.prox(y, f, 0.8)[:, 0])


def test_hinge_and_log_losses_match_scikit_learn(rng):
    y, f = draw_targets("sign", rng, 40), rng.normal(size=(40, 1))
    assert_allclose(Hinge().value(y, f).mean(), hinge_loss(y[:, 0], f[:, 0]))
    assert_allclose(SquaredHinge().value(y, f), Hinge().value(y, f) ** 2)
    p = 1 / (1 + np.exp(-f[:, 0]))
    assert_allclose(Logistic().value(y, f).mean(), log_loss(y[:, 0], p))
    labels, scores = np.arange(40) % 3, rng.normal(size=(40, 3))
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    ours = Multinomial().value(np.eye(3)[labels], scores).mean()
    assert_allclose(ours, log_loss(labels, probabilities))


def test_intercepts_match_mean_median_and_log_odds(data):
    y, f, cost = data
    mean = (cost * (y - f)).sum(axis=0) / cost.sum()
    assert_allclose(Squared().best_intercept(y, f, cost), mean, rtol=1e-13)
    even = np.ones_like(cost)
    assert_allclose(Absolute().best_intercept(y, f, even), np.median(y - f, axis=0), rtol=1e-13)
    signs, zeros = np.where(y > 0.3, 1.0, -1.0), np.zeros_like(f)
    odds = (cost * (signs > 0)).sum(axis=0) / (cost * (signs < 0)).sum(axis=0)
    assert_allclose(Logistic().best_intercept(signs, zeros, cost), np.log(odds), rtol=1e-12)
    shares = np.array([0.2, 0.3, 0.5])
    b = Multinomial().best_intercept(np.eye(3), np.zeros((3, 3)), shares[:, None])
    assert_allclose(b, np.log(shares) - np.log(shares).mean(), rtol=1e-12)


def test_flat_interval_gives_its_midpoint():
    y, f, cost = np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.full((2, 1), 0.1)
    assert_allclose(Absolute().best_intercept(y, f, cost), [0.5])
    assert_allclose(EpsilonInsensitive(epsilon=0.2).best_intercept(y, f, cost), [0.5])
    signs = np.array([[-1.0], [1.0]])
    assert_allclose(Hinge().best_intercept(signs, np.array([[-3.0], [4.0]]), cost), [-0.5])


def test_one_class_hinge_gives_the_end_of_its_half_line():
    f, cost = np.array([[0.5], [2.0]]), np.ones((2, 1))
    assert_allclose(Hinge().best_intercept(np.ones((2, 1)), f, cost), [0.5])
    assert_allclose(Hinge().best_intercept(-np.ones((2, 1)), f, cost), [-3.0])
    f, cost = np.append(f, [[10.0]], axis=0), np.append(cost, [[0.0]], axis=0)
    assert_allclose(Hinge().best_intercept(-np.ones((3, 1)), f, cost), [-3.0])  # no cost, no say


def test_intercept_keeps_to_the_band():
    loss, cost = RelativeMargin(bound=2.0), np.array([[1.0], [1.0], [0.1]])
    y, f = np.array([[1.0], [1.0], [-1.0]]), np.array([[-1.0], [0.5], [1.5]])
    assert_allclose(Hinge().best_intercept(y, f, cost), [2.0])
    assert_allclose(loss.best_intercept(y, f, cost), [0.5])  # 1.5 + 0.5 is the bound
    assert_allclose(loss.best_intercept(y, f + 0.5, cost), [0.0], atol=1e-15)
    one_class = loss.best_intercept(np.ones((2, 1)), np.array([[0.5], [0.7]]), np.ones((2, 1)))
    assert_allclose(one_class, [0.9])  # the middle of [0.5, 1.3]
    wide = np.array([[-3.0], [2.0], [3.0]])  # no constant will do: none leaves the other side alone
    assert -1.0 <= loss.best_intercept(y, wide, cost)[0] <= 1.0


def test_absent_class_gets_no_probability(rng):
    y, f = np.eye(3)[[0, 1, 0, 1]], rng.normal(size=(4, 3))
    b = Multinomial().best_intercept(y, f, np.ones((4, 1)))
    p = Multinomial().gradient(y, f + b) + y
    assert p[:, 2].max() < 1e-20
    assert_allclose(p.sum(axis=0), y.sum(axis=0), atol=1e-14)


@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf, "wide"])
def test_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a finite number >= 0"):
        EpsilonInsensitive(epsilon=epsilon).check()


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, np.inf, None])
def test_delta_out_of_range_is_refused(delta):
    with pytest.raises(ValueError, match="delta must be a finite number > 0"):
        Huber(delta=delta).check()


@pytest.mark.parametrize("bound", [0.9, -2.0, np.nan, np.inf, "wide"])
def test_bound_out_of_range_is_refused(bound):
    with pytest.raises(ValueError, match="bound must be a finite number >= 1"):
        RelativeMargin(bound=bound).check()
