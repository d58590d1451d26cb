"""What every loss must satisfy, over the registry."""

import numpy as np
import pytest
from helpers import central_difference, draw_targets, instances, numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from sklearn.base import clone

from multikernel._component import concrete_subclasses
from multikernel.losses import LOSSES, Loss, Multinomial

ALL = instances(LOSSES)
ELEMENTWISE = [loss for loss in ALL if not loss.couples_outputs]
SMOOTH = [loss for loss in ELEMENTWISE if loss.smooth]
KINKED = instances(LOSSES, "kinks")
each = pytest.mark.parametrize("loss", ALL, ids=repr)
each_elementwise = pytest.mark.parametrize("loss", ELEMENTWISE, ids=repr)
each_smooth = pytest.mark.parametrize("loss", SMOOTH, ids=repr)
each_kinked = pytest.mark.parametrize("loss", KINKED, ids=repr)


def draw(loss, rng, n=60, n_outputs=3, scale=3.0):
    return draw_targets(loss.y_domain, rng, n, n_outputs), scale * rng.normal(size=(n, n_outputs))


def in_reach(loss, f):
    """Predictions pulled together to where the loss is finite."""
    return f if np.isinf(loss.reach) else 0.99 * loss.reach * np.tanh(f / loss.reach)


def away_from_bends(loss, y, f, distance=1e-4):
    """Move f off the points where a gradient or Hessian jumps."""
    bends = {
        "SquaredHinge": lambda: y[None],
        "Huber": lambda: np.stack([y - loss.delta, y + loss.delta]),
    }
    kinks = getattr(loss, "kinks", None)
    if kinks is None and type(loss).__name__ not in bends:
        return f
    positions = kinks(y) if kinks else bends[type(loss).__name__]()
    near = np.abs(f - positions).min(axis=0) < distance
    return np.where(near, f + 3 * distance, f)


def test_every_loss_is_registered():
    ours = {cls for cls in concrete_subclasses(Loss) if cls.__module__.startswith("multikernel.")}
    assert ours == set(LOSSES.values())


@each
def test_capabilities_say_what_a_loss_can_do(loss):
    assert hasattr(loss, "hessian") == loss.smooth
    assert hasattr(loss, "kinks") == (not loss.smooth)
    assert hasattr(loss, "dual_bounds") == (not loss.couples_outputs)
    loss.check()
    assert repr(clone(loss)) == repr(loss)


@each
def test_gradient_is_the_slope_of_the_value(loss, rng):
    y, f = draw(loss, rng)
    f = away_from_bends(loss, y, in_reach(loss, f))
    if loss.couples_outputs:
        slope = numeric_gradient(lambda t: loss.value(y, t).sum(), f)
    else:
        slope = central_difference(lambda t: loss.value(y, t), f)
    assert_allclose(loss.gradient(y, f), slope, rtol=1e-6, atol=1e-7)


@each_smooth
def test_hessian_is_the_slope_of_the_gradient(loss, rng):
    y, f = draw(loss, rng)
    f = away_from_bends(loss, y, f)
    slope = central_difference(lambda t: loss.gradient(y, t), f)
    assert_allclose(loss.hessian(y, f), slope, rtol=1e-6, atol=1e-8)


@each_smooth
def test_curvature_bound_is_the_supremum_of_the_hessian(loss):
    f = np.linspace(-8, 8, 4001)[:, None]
    for y in (-1.0, 1.0):
        largest = loss.hessian(np.full_like(f, y), f).max()
        assert_allclose(largest, loss.curvature_bound, rtol=1e-12)


@each_elementwise
@settings(deadline=None, max_examples=80)
@given(
    f=st.floats(-30, 30), u=st.floats(-2, 2), sign=st.sampled_from([-1.0, 1.0]), t=st.floats(-5, 5)
)
def test_fenchel_young(loss, f, u, sign, t):
    y = np.array([[sign if loss.y_domain == "sign" else t]])
    f, u = np.array([[f]]), np.array([[u]])
    rounding = 2e-12 * (1 + abs(f) + abs(y))  # u may leave its interval by 1e-12 of its width
    assert loss.value(y, f) + loss.conjugate(y, u) >= u * f - rounding
    f = np.clip(f, -loss.reach, loss.reach)
    g = loss.gradient(y, f)  # the bound is tight exactly at the gradient
    assert_allclose(loss.value(y, f) + loss.conjugate(y, g), g * f, rtol=1e-12, atol=1e-12)


@each_elementwise
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_conjugate_is_the_supremum(loss, share, rng):
    far = min(30.0, loss.reach)
    for y in draw_targets(loss.y_domain, rng, 4):
        lower, upper = (np.clip(end, -3, 3) for end in loss.dual_bounds(y))
        u = lower + share * (upper - lower)

        def deficit(f, y=y, u=u):
            return float(loss.value(y, np.array([f]))[0] - u[0] * f)

        best = minimize_scalar(
            deficit, bounds=(-far, far), method="bounded", options={"xatol": 1e-11}
        )
        least = min(best.fun, deficit(-far), deficit(far))  # the method stays off the ends
        assert_allclose(loss.conjugate(y, u), -least, atol=1e-8)


@each_elementwise
def test_conjugate_is_infinite_outside_its_interval(loss, rng):
    y = draw_targets(loss.y_domain, rng, 20)
    for end, outwards in zip(loss.dual_bounds(y), (-1, 1), strict=True):
        finite = np.isfinite(end)
        u = np.where(finite, end, 0.0)
        assert np.isfinite(loss.conjugate(y, u * (1 + 1e-14))).all()
        assert np.isinf(loss.conjugate(y, u + 1e-6 * outwards)[finite]).all()


@each
def test_projected_dual_is_feasible_nearest_and_may_shrink(loss, rng):
    y, u = draw(loss, rng)
    projected = loss.project_dual(y, u)
    for c in (1.0, 0.7, 0.1, 0.0):
        assert np.isfinite(loss.conjugate(y, c * projected)).all()
    assert_allclose(loss.project_dual(y, projected), projected, atol=1e-15)
    other = loss.gradient(
        y, rng.normal(size=y.shape)
    )  # a feasible point; obtuse angle at the projection
    assert ((u - projected) * (other - projected)).sum(axis=-1).max() <= 1e-12


@each
def test_dual_variable_of_any_prediction_is_feasible(loss, rng):
    y, f = draw(loss, rng, scale=40.0)
    C = 10.0 ** rng.uniform(-6, 6, size=(len(y), 1))
    alpha = -C * loss.gradient(y, f)
    assert np.isfinite(loss.conjugate(y, -alpha / C)).all()


@each
@pytest.mark.parametrize("step", [1e-3, 0.7, 1.0, 25.0, 1e4])
def test_prox_satisfies_the_optimality_condition(loss, step, rng):
    y, v = draw(loss, rng)
    f = loss.prox(y, v, step)
    u = (v - f) / step  # must be a subgradient: Fenchel-Young holds with equality
    uf = u * f if not loss.couples_outputs else (u * f).sum(axis=-1, keepdims=True)
    u = loss.project_dual(y, u)
    defect = loss.value(y, f) + loss.conjugate(y, u) - uf
    assert_allclose(defect, 0.0, atol=1e-10 * (1 + np.abs(v).max() / step + step**0.5))
    if loss.smooth:
        moved = f + step * loss.gradient(y, f)
        assert_allclose(moved, v, rtol=1e-12, atol=1e-13 * max(1.0, step))


@each_elementwise
def test_prox_is_the_minimiser(loss, rng):
    y, v = draw(loss, rng, n=8, n_outputs=1)
    step = rng.uniform(0.2, 3.0, size=y.shape)
    f = loss.prox(y, v, step)
    far = min(20.0, loss.reach)
    for i in range(len(y)):

        def objective(t, i=i):
            at = np.array([t])
            return float(loss.value(y[i], at)[0] + (t - v[i, 0]) ** 2 / (2 * step[i, 0]))

        best = minimize_scalar(
            objective, bounds=(-far, far), method="bounded", options={"xatol": 1e-10}
        )
        assert_allclose(f[i, 0], best.x, atol=1e-6)
        assert objective(f[i, 0]) <= best.fun + 1e-14


@each_smooth
def test_smooth_intercept_balances_the_gradients(loss, rng):
    for scale in (1e-3, 1.0, 30.0, 1e4):
        y, f = draw(loss, rng, n=80, scale=scale)
        f = f + scale * rng.normal(size=3)
        cost = rng.random((80, 1))
        pulls = cost * loss.gradient(y, f + loss.best_intercept(y, f, cost))
        tolerance = 1e-14 * max(1.0, scale)  # one unit in the last place of f + b
        assert np.abs(pulls.sum(axis=0)).max() <= tolerance * cost.sum()


@each_elementwise
def test_intercept_is_the_minimiser(loss, rng):
    y, f = draw(loss, rng, n=31, n_outputs=4)
    f[5:] = in_reach(loss, f[5:])
    cost = rng.random((31, 1))
    cost[:5] = 0.0  # no cost, no say
    b = loss.best_intercept(y, f, cost)
    assert b.shape == (4,)
    for t in range(4):

        def objective(c, t=t):
            return float((cost[5:] * loss.value(y[5:, [t]], f[5:, [t]] + c)).sum())

        ends = (-loss.reach - f[5:, t].min(), loss.reach - f[5:, t].max())
        best = minimize_scalar(
            objective, bounds=np.clip(ends, -30, 30), method="bounded", options={"xatol": 1e-11}
        )
        assert objective(b[t]) <= best.fun * (1 + 1e-12)
        assert_allclose(objective(b[t]), best.fun, rtol=1e-7)


@each_kinked
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9))
def test_kinked_intercept_is_the_best_kink_or_the_midpoint_of_a_flat(loss, seed, n):
    rng = np.random.default_rng(seed)
    y = draw_targets(loss.y_domain, rng, n)
    f, cost = rng.integers(-3, 4, size=(n, 1)) / 2.0, rng.integers(1, 3, size=(n, 1)) / 10.0
    f = np.clip(f, -loss.reach, loss.reach)
    candidates = np.unique(loss.kinks(y) - f)  # one of them is a minimiser
    values = np.array([(cost * loss.value(y, f + c)).sum() for c in candidates])
    flat = candidates[values <= values.min() + 1e-12]
    expected = (flat.min() + flat.max()) / 2
    ray_left = (cost * loss.gradient(y, f + candidates.min() - 1)).sum() > -1e-12
    ray_right = (cost * loss.gradient(y, f + candidates.max() + 1)).sum() < 1e-12
    if np.isinf(loss.reach) and (
        ray_left or ray_right
    ):  # minimisers form a half-line: its finite end
        expected = flat.max() if ray_left else flat.min()
    assert_allclose(loss.best_intercept(y, f, cost), [expected], atol=1e-12)


@each
def test_intercept_stays_finite_for_one_class_and_no_cost(loss, rng):
    y, f = draw(loss, rng)
    f = np.clip(f, -(loss.reach - 1) / 2, (loss.reach - 1) / 2)  # a band that all margins fit in
    one_class = np.ones_like(y) if loss.y_domain != "onehot" else np.eye(3)[[1] * len(y)]
    for targets in (one_class, -one_class if loss.y_domain == "sign" else one_class):
        b = loss.best_intercept(targets, f, np.ones((len(y), 1)))
        assert np.isfinite(b).all()
        if loss.y_domain != "real":
            assert loss.value(targets, f + b).max() < 1e-12
    assert_array_equal(loss.best_intercept(y, f, np.zeros((len(y), 1))), np.zeros(3))


@each
def test_stable_at_extremes(loss, rng):
    y = draw_targets(loss.y_domain, rng, 40, 2)
    f = np.clip(np.where(rng.random((40, 2)) < 0.5, -1e4, 1e4), -loss.reach, loss.reach)
    assert np.isfinite(loss.value(y, f)).all()
    u = loss.gradient(y, f)
    assert np.isfinite(u).all()
    assert np.isfinite(loss.conjugate(y, u)).all()
    assert np.isfinite(loss.prox(y, f, 2.0)).all()
    assert np.isfinite(loss.best_intercept(y, f, np.ones((40, 1)))).all()
    if loss.smooth:
        assert np.isfinite(loss.hessian(y, f)).all()
    tight = loss.value(y, f) + loss.conjugate(y, u)
    uf = (u * f).sum(axis=-1, keepdims=True) if loss.couples_outputs else u * f
    assert_allclose(tight, uf, rtol=1e-12, atol=1e-10)


@each
def test_inputs_may_be_read_only(loss, rng):
    y, f = draw(loss, rng)
    cost = rng.random((len(y), 1))
    for a in (y, f, cost):
        a.setflags(write=False)
    for method in ("value", "gradient", "conjugate", "project_dual", "hessian"):
        if hasattr(loss, method):
            getattr(loss, method)(y, f)
    loss.prox(y, f, cost + 0.1)
    loss.best_intercept(y, f, cost)


@each
def test_prox_broadcasts_its_step(loss, rng):
    y, v = draw(loss, rng, n=5)
    steps = rng.uniform(0.1, 2.0, size=(5, 1))
    by_row = [loss.prox(y[[i]], v[[i]], float(steps[i, 0]))[0] for i in range(5)]
    assert_allclose(loss.prox(y, v, steps), by_row, rtol=1e-13, atol=1e-14)


def test_multinomial_hessian_and_curvature_bound(rng):
    loss = Multinomial()
    y, f = draw(loss, rng, n=20)
    H = loss.hessian(y, f)
    for i in range(20):
        slopes = [
            (loss.gradient(y[[i]], f[[i]] + e) - loss.gradient(y[[i]], f[[i]] - e))[0] / 2e-6
            for e in 1e-6 * np.eye(3)
        ]
        assert_allclose(H[i], slopes, atol=1e-8)
    eigenvalues = np.linalg.eigvalsh(loss.hessian(y, 10 * f))
    assert eigenvalues.max() <= loss.curvature_bound + 1e-12
    on_the_edge = np.array([[0.0, 0.0, -1e3]])  # two classes share all mass
    largest = np.linalg.eigvalsh(loss.hessian(y[:1], on_the_edge)).max()
    assert_allclose(largest, loss.curvature_bound)


def test_multinomial_conjugate_is_the_supremum(rng):
    loss = Multinomial()
    y = draw_targets("onehot", rng, 5, 4)
    u = loss.gradient(y, rng.normal(size=(5, 4)))
    for i in range(5):
        best = minimize(lambda f, i=i: loss.value(y[[i]], f[None])[0, 0] - f @ u[i], np.zeros(4))
        assert_allclose(loss.conjugate(y[[i]], u[[i]]), -best.fun, atol=1e-8)
        other = loss.value(y[[i]], u[[i]]) + loss.conjugate(y[[i]], u[[i]])
        assert other >= (u[i] ** 2).sum() - 1e-12
    assert np.isinf(loss.conjugate(y, u + 1e-6)).all()  # off the simplex
    negative = np.array([[1.5, -0.5, 0.0, 0.0]])  # sums to one
    assert np.isinf(loss.conjugate(y, negative - y)).all()


def test_multinomial_prox_is_the_minimiser(rng):
    loss = Multinomial()
    y, v = draw(loss, rng, n=5, n_outputs=4)
    f = loss.prox(y, v, 1.7)
    for i in range(5):
        best = minimize(
            lambda t, i=i: loss.value(y[[i]], t[None])[0, 0] + ((t - v[i]) ** 2).sum() / 3.4,
            v[i],
            options={"gtol": 1e-9},
        )
        assert_allclose(f[i], best.x, atol=1e-6)


@pytest.mark.parametrize("scale", [0.1, 3.0, 100.0, 1e4])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_multinomial_intercept_balances_the_classes(scale, n_classes, rng):
    loss = Multinomial()
    y, f = draw(loss, rng, n=150, n_outputs=n_classes, scale=scale)
    f = f + scale * rng.normal(size=n_classes)
    cost = rng.random((150, 1))
    b = loss.best_intercept(y, f, cost)
    assert_allclose(b.sum(), 0.0, atol=1e-13 * max(1.0, np.abs(b).max()))
    pulls = (cost * loss.gradient(y, f + b)).sum(axis=0) / cost.sum()
    assert np.abs(pulls).max() <= 1e-14 * max(1.0, scale)
