"""The identities between regularizers, and the closed forms of their special cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from multikernel.regularizers import (
    BlockNorm,
    ElasticNet,
    GroupNorm,
    LpNorm,
    TaskCoupling,
    Uniform,
    Wedge,
    from_block_norm,
    from_weight_penalty,
    learned_sharing,
)

positive = arrays(float, 6, elements=st.floats(1e-3, 1e3))
relaxed = settings(deadline=None, max_examples=40, derandomize=True)


def assert_same(one, other, x, rtol=1e-12):
    """Two regularizers agree in every view at x taken as squared norms, weights and dual."""
    assert_allclose(one.optimal_weights(x), other.optimal_weights(x), rtol=rtol)
    assert_allclose(one.block_norm(x), other.block_norm(x), rtol=rtol)
    assert_allclose(one.dual_scale(x), other.dual_scale(x), rtol=rtol)
    inside = x * (0.9 * one.dual_scale(x)) ** 2
    assert_allclose(one.dual_value(inside), other.dual_value(inside), rtol=rtol, atol=1e-9)
    assert_allclose(one.zero_scale(x), other.zero_scale(x), rtol=max(rtol, 1e-6))
    d = one.optimal_weights(x)
    assert_allclose(one.value(d), other.value(d), rtol=rtol)


@relaxed
@given(x=positive)
def test_elastic_net_ends_at_block_one_and_at_uniform(x):
    assert_same(ElasticNet(l1_ratio=1.0), LpNorm(p=1.0), x)
    assert_same(ElasticNet(l1_ratio=0.0), Uniform(), x)
    near = ElasticNet(l1_ratio=1 - 1e-9)
    assert_allclose(near.optimal_weights(x), np.sqrt(x), rtol=1e-5)


@pytest.mark.parametrize("form", ["tikhonov", "ivanov"])
def test_large_p_approaches_uniform(form):
    x = np.array([0.2, 3.0, 1.0, 0.5, 2.0, 0.1])
    reg = LpNorm(p=1e4, form=form)
    assert_allclose(reg.optimal_weights(x), 1.0, rtol=2e-3)
    assert_allclose(reg.block_norm(x), Uniform().block_norm(x), rtol=2e-3)


@relaxed
@given(x=positive, p=st.floats(1.0, 8.0))
def test_ivanov_formulas(x, p):
    reg, t, q = LpNorm(p=p, form="ivanov"), np.sqrt(x), 2 * p / (1 + p)
    d = x ** (1 / (1 + p)) / np.sum(x ** (p / (1 + p))) ** (1 / p)
    assert_allclose(reg.optimal_weights(x), d, rtol=1e-9)
    assert_allclose(reg.block_norm(x), np.sum(t**q) ** (2 / q) / 2, rtol=1e-9)
    assert_allclose(reg.norm(d), 1.0, rtol=1e-9)
    assert reg.value(d * 1.001) == np.inf
    assert reg.value(d * 0.999) == 0


@relaxed
@given(x=positive, scale=st.floats(1e-2, 1e2), p=st.sampled_from([1.0, 1.5, 3.0]))
def test_homogeneity(x, scale, p):
    bounded, penalised = LpNorm(p=p, form="ivanov"), LpNorm(p=p)
    assert_allclose(bounded.optimal_weights(scale * x), bounded.optimal_weights(x), rtol=1e-10)
    assert_allclose(bounded.block_norm(scale * x), scale * bounded.block_norm(x), rtol=1e-10)
    assert_allclose(bounded.dual_value(scale * x), scale * bounded.dual_value(x), rtol=1e-10)
    q = 2 * p / (1 + p)
    expected = scale ** (q / 2) * penalised.block_norm(x)
    assert_allclose(penalised.block_norm(scale * x), expected, rtol=1e-10)


@relaxed
@given(x=positive)
def test_wedge_on_sorted_norms_is_block_one(x):
    x = np.sort(x)[::-1]
    assert_allclose(Wedge().optimal_weights(x), LpNorm().optimal_weights(x), rtol=1e-10)
    assert_allclose(Wedge().block_norm(x), LpNorm().block_norm(x), rtol=1e-10)


@relaxed
@given(x=positive)
def test_wedge_pools_adjacent_violators(x):
    d = Wedge().optimal_weights(x)
    assert np.all(np.diff(d) <= 1e-9 * d[0])
    assert_allclose(np.sum(d**2), np.sum(x), rtol=1e-9)  # pooling keeps the sum
    assert_allclose(Wedge().optimal_weights(np.sort(x)), np.sqrt(np.mean(x)), rtol=1e-9)


def test_wedge_is_block_one_on_cumulative_means(rng):
    T, base = Wedge().atoms(4)
    assert_allclose(T[2], [1 / 3, 1 / 3, 1 / 3, 0])
    assert base.p == 1.0
    assert base.form == "tikhonov"
    assert_allclose(T.sum(axis=1), 1.0)  # weights of equal total: h(d) = Σ d̃
    G = rng.uniform(0, 2, size=4)
    assert_allclose(Wedge().dual_scale(G), base.dual_scale(np.cumsum(G) / np.arange(1, 5)))


def test_wedge_weights_are_supported_by_a_tail_of_zeros():
    assert_array_equal(Wedge().optimal_weights(np.array([4.0, 1.0, 0.0, 0.0])), [2, 1, 0, 0])
    assert Wedge().value(np.array([1.0, 2.0])) == np.inf


@relaxed
@given(x=positive, within=st.sampled_from([1.0, 2.0, np.inf]), s=st.sampled_from([1.0, 1.5, 3.0]))
@pytest.mark.parametrize("form", ["tikhonov", "ivanov"])
def test_singleton_groups_are_the_norm_across(form, x, within, s):
    assert_same(GroupNorm(range(6), within, s, form), LpNorm(s, form), x, rtol=1e-9)


@relaxed
@given(x=positive, p=st.sampled_from([1.0, 1.5, 3.0]))
@pytest.mark.parametrize("form", ["tikhonov", "ivanov"])
def test_equal_orders_are_one_norm(form, x, p):
    assert_same(GroupNorm([0, 0, 1, 2, 2, 2], p, p, form), LpNorm(p, form), x, rtol=1e-9)


@relaxed
@given(x=positive)
def test_default_groups_are_block_one_on_sums(x):
    reg = GroupNorm(["b", "a", "b", "c", "a", "a"])
    sums = np.array([x[0] + x[2], x[1] + x[4] + x[5], x[3]])  # in order of first appearance
    assert_allclose(reg.block_norm(x), LpNorm().block_norm(sums), rtol=1e-12)
    d = np.sqrt(sums)
    assert_allclose(reg.optimal_weights(x), d[[0, 1, 0, 2, 1, 1]], rtol=1e-12)
    T, base = reg.atoms(6)
    assert_array_equal(T @ x, sums)
    assert base == LpNorm(p=1.0)


def test_zeros_follow_the_orders():
    x = np.array([1.0, 0.0, 4.0, 0.0, 0.0, 0.0])
    groups = [0, 0, 1, 1, 2, 2]
    sparse_across = GroupNorm(groups).optimal_weights(x)
    assert_array_equal(sparse_across > 0, [True, True, True, True, False, False])
    sparse_inside = GroupNorm(groups, within=1.0, across=2.0).optimal_weights(x)
    assert_array_equal(sparse_inside > 0, [True, False, True, False, False, False])


def test_general_task_coupling_is_the_l1_ball(rng):
    x = rng.uniform(0.1, 2, size=6)
    assert_same(TaskCoupling(n_tasks=2), LpNorm(1.0, "ivanov"), x)
    assert_same(TaskCoupling(n_tasks=2, over=LpNorm(2.0)), LpNorm(2.0), x)


@pytest.mark.parametrize("sharing", [0.0, 0.25, 1.0])
def test_fixed_sharing_fixes_the_weights_of_one_base_kernel(sharing, rng):
    reg = TaskCoupling(n_tasks=3, sharing=sharing)
    d = np.array([3 * (1 - sharing)] * 3 + [sharing])
    x = rng.uniform(0.1, 2, size=4) * (d > 0)
    assert_allclose(reg.optimal_weights(x), d)
    assert_allclose(reg.initial_weights(4), d)
    G = rng.uniform(size=4)
    assert_allclose(reg.dual_value(G), d @ G)
    assert_allclose(reg.block_norm(x), np.sum(x[d > 0] / d[d > 0]) / 2)
    if sharing in (0.0, 1.0):
        assert reg.block_norm(np.ones(4)) == np.inf  # a function on a kernel of weight zero
    assert reg.value(d + np.array([0.01, 0, 0, 0])) == np.inf


def test_several_base_kernels_keep_the_pattern_inside_each(rng):
    reg = TaskCoupling(n_tasks=2, sharing=0.4)
    d = reg.optimal_weights(rng.uniform(0.1, 2, size=6)).reshape(2, 3)
    total = d[:, 2] / 0.4
    assert_allclose(d, np.outer(total, [1.2, 1.2, 0.4]))
    assert_allclose(total.sum(), 1.0)
    T, _ = reg.atoms(6)
    assert_allclose(T, [[1.2, 1.2, 0.4, 0, 0, 0], [0, 0, 0, 1.2, 1.2, 0.4]])


@relaxed
@given(a=st.floats(1e-3, 1e3), b=st.floats(1e-3, 1e3), n_tasks=st.integers(1, 9))
def test_learned_sharing_minimises_over_the_fixed_form(a, b, n_tasks):
    x = np.append(np.full(n_tasks, a / n_tasks), b)

    def fixed(sharing):
        return TaskCoupling(n_tasks=n_tasks, sharing=sharing).block_norm(x)

    best = learned_sharing(a, b, n_tasks)
    assert_allclose(fixed(best.sharing), best.block_norm, rtol=1e-9)
    search = minimize_scalar(fixed, bounds=(1e-9, 1 - 1e-9), method="bounded")
    assert best.block_norm <= search.fun * (1 + 1e-9)
    pair = LpNorm(1.0, "ivanov")  # on the two kernels T Σ K_m and K
    assert_allclose(pair.block_norm(np.array([a / n_tasks, b])), best.block_norm, rtol=1e-9)
    assert_allclose(pair.optimal_weights(np.array([a / n_tasks, b]))[1], best.sharing, rtol=1e-9)


def test_learned_sharing_degenerates(rng):
    n, n_tasks = 12, 3
    task = np.arange(n) % n_tasks
    X, y = rng.normal(size=(n, 4)), rng.normal(size=n)
    K = X @ X.T
    separate = n_tasks * K * (task[:, None] == task)
    assert np.linalg.eigvalsh(separate - K)[0] > -1e-10  # K ⪯ T blockdiag(K)

    def optimum(sharing):  # kernel ridge at C = 1, as a function of the sharing
        return y @ np.linalg.solve(np.eye(n) + (1 - sharing) * separate + sharing * K, y) / 2

    values = [optimum(s) for s in np.linspace(0, 1, 11)]
    assert np.all(np.diff(values) > 0)  # the least sharing always fits best


@relaxed
@given(G=positive)
def test_linear_quadratic_penalty(G):
    G = G / 100
    reg = from_weight_penalty(lambda d: d + d**2 / 2)
    assert_allclose(reg.dual_value(G), np.sum(np.maximum(G - 1, 0) ** 2) / 2, rtol=1e-6, atol=1e-9)


@relaxed
@given(G=positive)
def test_exponential_penalty(G):
    G = G / 100
    reg = from_weight_penalty(np.expm1, gradient=np.exp)
    terms = np.where(G > 1, G * np.log(G) - G + 1, 0.0)
    assert_allclose(reg.dual_value(G), np.sum(terms), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("given_slope", [True, False])
@pytest.mark.parametrize("e", [0.1, 0.5, 2.0])
def test_smoothed_block_norm(e, given_slope, rng):
    slope = (lambda x: 0.5 / np.sqrt(x + e**2)) if given_slope else None
    reg = from_block_norm(lambda x: x / (np.sqrt(x + e**2) + e), gradient=slope)
    x, d, G = rng.uniform(0, 3, 5), e * rng.uniform(0.2, 4, 5), rng.uniform(0, 0.95, 5)
    x[0] = 0
    rtol = 1e-9 if given_slope else 1e-6
    assert_allclose(reg.optimal_weights(x), np.sqrt(x + e**2), rtol=rtol)
    h = np.where(d >= e, d + e**2 / d - 2 * e, 0)
    assert_allclose(reg.value(d), h.sum(), rtol=rtol, atol=1e-9)
    assert_allclose(reg.dual_value(G), 2 * e * np.sum(1 - np.sqrt(1 - G)), rtol=rtol, atol=1e-9)
    assert reg.dual_value(np.array([1.01])) == np.inf
    assert_allclose(reg.dual_value(np.array([1.0])), 2 * e, rtol=1e-4)  # a limit at infinity
    assert_allclose(reg.dual_scale(np.array([4.0])), 0.5, rtol=1e-6)


BUILT_IN = [
    LpNorm(1.0),
    LpNorm(1.5),
    LpNorm(3.0),
    ElasticNet(0.5),
    ElasticNet(0.1),
    ElasticNet(0.0),
    ElasticNet(1.0),
    Uniform(),
]


def vectorised(function):
    return lambda v: np.array([function(np.array([u])) for u in np.ravel(v)]).reshape(np.shape(v))


@pytest.mark.parametrize("reg", BUILT_IN, ids=repr)
def test_built_in_agrees_with_the_conjugation_of_its_penalty(reg, rng):
    x = rng.uniform(0.1, 3, size=4)
    numeric = from_weight_penalty(vectorised(reg.value))
    assert_allclose(numeric.zero_scale(x), reg.zero_scale(x), rtol=1e-6, atol=1e-9)
    assert_allclose(numeric.optimal_weights(x), reg.optimal_weights(x), rtol=1e-6)
    assert_allclose(numeric.block_norm(x), reg.block_norm(x), rtol=1e-7)
    inside = x * (0.9 * reg.dual_scale(x)) ** 2
    assert_allclose(numeric.dual_value(inside), reg.dual_value(inside), rtol=1e-6, atol=1e-8)
    assert_allclose(numeric.dual_scale(x), reg.dual_scale(x), rtol=1e-6)
    assert_allclose(numeric.upper_bound, reg.upper_bound, rtol=1e-6)


@pytest.mark.parametrize("reg", BUILT_IN, ids=repr)
def test_built_in_agrees_with_the_conjugation_of_its_block_norm(reg, rng):
    x = rng.uniform(0.1, 3, size=4)
    numeric = from_block_norm(vectorised(reg.block_norm))
    d = reg.optimal_weights(x)
    assert_allclose(numeric.optimal_weights(x), d, rtol=1e-6)
    assert_allclose(numeric.value(0.999 * d), reg.value(0.999 * d), rtol=1e-5, atol=1e-6)
    inside = x * (0.9 * reg.dual_scale(x)) ** 2
    assert_allclose(numeric.dual_value(inside), reg.dual_value(inside), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "reg", [LpNorm(2.0, "ivanov"), GroupNorm([0, 0, 1, 1], 3.0, 1.5)], ids=repr
)
def test_built_in_agrees_with_a_coupled_conjugation(reg, rng):
    x, C = rng.uniform(0.1, 3, size=4), rng.uniform(0.1, 1, size=4)
    numeric = from_block_norm(reg.block_norm, separable=False)
    numeric.check_n_kernels(4)
    assert_allclose(numeric.optimal_weights(x), reg.optimal_weights(x), rtol=1e-5)
    assert_allclose(numeric.dual_value(C), reg.dual_value(C), rtol=1e-5, atol=1e-7)


def test_coupled_weight_penalty(rng):
    reg = GroupNorm([0, 0, 1, 1], within=3.0, across=1.5)
    numeric = from_weight_penalty(reg.value, gradient=reg.gradient, separable=False)
    numeric.check_n_kernels(4)
    x = rng.uniform(0.1, 3, size=4)
    assert_allclose(numeric.optimal_weights(x), reg.optimal_weights(x), rtol=1e-5)
    assert_allclose(numeric.block_norm(x), reg.block_norm(x), rtol=1e-9)
    assert_allclose(numeric.dual_value(x), reg.dual_value(x), rtol=1e-7)
    sums = from_weight_penalty(lambda d: float(np.sum(d)), separable=False)  # Ω is an indicator
    assert sums.dual_value(np.array([0.5, 0.9])) == pytest.approx(0, abs=1e-9)
    assert sums.dual_value(np.array([0.5, 1.1])) == np.inf
    assert_allclose(sums.dual_scale(np.array([4.0, 1.0])), 0.5, rtol=1e-6)


@pytest.mark.parametrize("h", [np.sqrt, np.sin, lambda d: -(d**2), lambda d: d * np.inf])
def test_penalties_that_are_not_convex_are_refused(h):
    with pytest.raises(ValueError, match=r"h must be"), np.errstate(all="ignore"):
        from_weight_penalty(h)


def test_block_norms_that_no_penalty_gives_are_refused():
    with pytest.raises(ValueError, match="concave in the squared norms"):
        from_block_norm(lambda x: x**1.5)  # block q > 2
    with pytest.raises(ValueError, match=r"g\(t²\).*must be convex"):
        from_block_norm(lambda x: x**0.25)  # a concave penalty of the norms
    with pytest.raises(ValueError, match="not decrease"):
        from_block_norm(lambda x: -x)
    with pytest.raises(ValueError, match="finite"), np.errstate(all="ignore"):
        from_block_norm(np.log)
    with pytest.raises(ValueError, match="separable=False"):
        from_block_norm(np.sum)
    with pytest.raises(ValueError, match="separable=False"):
        from_weight_penalty(np.sum)
    with pytest.raises(ValueError, match="h must be convex"):
        from_weight_penalty(lambda d: -float(d @ d), separable=False).check_n_kernels(3)
    with pytest.raises(ValueError, match="concave"):
        from_block_norm(lambda x: float(x @ x), separable=False).check_n_kernels(3)


@pytest.mark.parametrize(
    ("reg", "message"),
    [
        (LpNorm(p=0.5), "p must be finite and at least 1, got 0.5"),
        (LpNorm(p=np.inf), "use Uniform"),
        (LpNorm(p=np.nan), "p must be"),
        (LpNorm(form="morozov"), "'tikhonov' or 'ivanov', got 'morozov'"),
        (BlockNorm(q=2.0), "q must be finite and above 2"),
        (ElasticNet(l1_ratio=1.1), r"l1_ratio must lie in \[0, 1\]"),
        (ElasticNet(l1_ratio=-0.1), "l1_ratio"),
        (GroupNorm([0], within=0.9), "within must be at least 1"),
        (GroupNorm([0], across=np.inf), "across must be finite"),
        (GroupNorm([0], form="both"), "form must be"),
        (TaskCoupling(n_tasks=0), "n_tasks must be at least 1"),
        (TaskCoupling(n_tasks=2, sharing=1.5), "sharing must be None or lie in"),
        (TaskCoupling(n_tasks=2, over=LpNorm(p=0.2)), "p must be"),
    ],
    ids=lambda v: repr(v) if not isinstance(v, str) else "",
)
def test_parameters_out_of_range_are_refused(reg, message):
    with pytest.raises(ValueError, match=message):
        reg.check()


def test_capabilities_depend_on_the_parameters():
    assert not hasattr(LpNorm(p=1.0), "dual_weights")
    assert hasattr(LpNorm(p=1.1), "dual_weights")
    assert not hasattr(LpNorm(p=2.0), "norm")
    assert hasattr(LpNorm(p=2.0, form="ivanov"), "norm")
    assert not hasattr(LpNorm(p=2.0, form="ivanov"), "prox_derivative")
    assert not hasattr(ElasticNet(l1_ratio=1.0), "dual_curvature")
    assert not hasattr(ElasticNet(l1_ratio=0.0), "gradient")
    assert not hasattr(GroupNorm([0, 1]), "gradient")
    assert not hasattr(GroupNorm([0, 1], within=2.0), "dual_weights")
    assert not hasattr(TaskCoupling(2, sharing=0.5), "norm")
    assert hasattr(TaskCoupling(2), "norm")
    assert not hasattr(Wedge(), "gradient")


@pytest.mark.parametrize("q", [4 / 3, 1.5, 3.0])
def test_closed_prox_roots_agree_with_newton(q):
    reg = BlockNorm(q=q) if q > 2 else LpNorm(p=q / (2 - q))
    near = BlockNorm(q=q + 1e-9) if q > 2 else LpNorm(p=(q + 1e-9) / (2 - q - 1e-9))
    r = np.logspace(-6, 4, 41)
    for step in (1e-3, 0.7, 50.0):
        t = reg.prox(r, step)
        assert_allclose(t + step * t ** (q - 1), r, rtol=1e-12)
        assert_allclose(near.prox(r, step), t, rtol=1e-6)


@pytest.mark.parametrize("p", [1.001, 1.05, 1.7, 30.0])
def test_prox_roots_near_the_sparse_end(p):
    q, r = 2 * p / (1 + p), np.logspace(-3, 3, 25)
    t = LpNorm(p=p).prox(r, 0.5)
    assert_allclose((t + 0.5 * t ** (q - 1))[t > 0], r[t > 0], rtol=1e-9)
    assert np.all(r[t == 0] < 0.5 * 1e-300 ** (q - 1))  # only an underflow gives zero


def test_dual_of_an_order_near_one_is_scaled_into_range():
    reg, G = LpNorm(p=1.0005), np.array([3.0, 0.1])
    c = reg.dual_scale(G)
    assert c < 1
    assert np.isfinite(reg.dual_value(c**2 * G))
