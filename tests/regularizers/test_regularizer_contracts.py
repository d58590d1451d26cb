"""What every regularizer must satisfy, over the registry, at six kernels."""

import pickle
import warnings

import cvxpy as cp
import numpy as np
import pytest
from helpers import central_difference, instances, numeric_gradient
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone

from multikernel._component import concrete_subclasses
from multikernel.regularizers import REGULARIZERS, Regularizer, TaskCoupling
from multikernel.regularizers.block_penalty import _joint_root, _smoothed_root
from multikernel.regularizers.weight_penalty import _exponential, _linear_quadratic, _mean_square

M = 6
ALL = instances(REGULARIZERS)
CONVEX = [reg for reg in ALL if reg.convex]
NUMERIC = ("WeightPenalty", "BlockPenalty")
CAPABILITIES = (
    "norm",
    "gradient",
    "hessian",
    "dual_weights",
    "dual_curvature",
    "prox",
    "prox_derivative",
)


def each(*needs, among=ALL):
    chosen = [reg for reg in among if all(hasattr(reg, name) for name in needs)]
    return pytest.mark.parametrize("reg", chosen, ids=repr)


def tolerance(reg, closed, numeric):
    return numeric if type(reg).__name__ in NUMERIC else closed


def draw(rng):
    return rng.uniform(0.3, 2.0, size=M)


def jacobian(function, v, eps):
    columns = [(function(v + e) - function(v - e)) / (2 * eps) for e in eps * np.eye(M)]
    return np.array(columns).T


def feasible_dual(reg, rng):
    """A dual point G inside the domain of the dual term, away from its border."""
    G = draw(rng)
    return G * min(1.0, 0.9 * reg.dual_scale(G)) ** 2


def test_every_regularizer_is_registered():
    library = {
        c for c in concrete_subclasses(Regularizer) if c.__module__.startswith("multikernel")
    }
    assert library == set(REGULARIZERS.values())


@each()
def test_clone_pickle_and_parameters(reg):
    copy = pickle.loads(pickle.dumps(clone(reg)))
    assert repr(copy) == repr(reg)
    assert "0x" not in repr(reg)
    reg.check()
    reg.check_n_kernels(M)


@each()
def test_initial_weights_are_positive_and_feasible(reg):
    d = reg.initial_weights(M)
    assert d.shape == (M,)
    assert np.all(d > 0)
    assert np.isfinite(reg.value(d))
    assert np.all(d <= reg.upper_bound)
    if hasattr(reg, "norm"):
        assert_allclose(reg.norm(d), 1.0, rtol=1e-12)  # on the boundary


def penalty(reg, d):
    """h written for cvxpy from its definition: an expression and constraints."""
    name = type(reg).__name__
    if name == "LpNorm":
        if reg.form == "ivanov":
            return 0, [cp.norm(d, 1) <= 1 if reg.p == 1 else cp.pnorm(d, reg.p) <= 1]
        return cp.sum(cp.power(d, reg.p)) / reg.p, []
    if name == "Uniform":
        return 0, [d <= 1]
    if name == "FixedWeights":
        return 0, [d <= np.array(reg.weights)]
    if name == "ElasticNet":
        lam = 1 - reg.l1_ratio
        if lam == 1:
            return 0, [d <= 1]
        if lam == 0:
            return cp.sum(d), []
        return reg.l1_ratio**2 / lam * cp.sum(cp.inv_pos(1 - lam * d) - 1), []
    if name == "Wedge":
        return cp.sum(d), [cp.diff(d) <= 0]
    if name == "GroupNorm":
        labels = np.array(reg.groups)
        norms = [cp.pnorm(d[np.flatnonzero(labels == g)], reg.within) for g in np.unique(labels)]
        if reg.form == "ivanov":
            return 0, [cp.pnorm(cp.hstack(norms), reg.across) <= 1]
        return cp.sum(cp.power(cp.hstack(norms), reg.across)) / reg.across, []
    if name == "QNorm":
        size = cp.quad_form(d, cp.psd_wrap(reg.Q))
        return (0, [size <= 1]) if reg.form == "ivanov" else (size, [])
    if name == "TaskCoupling":
        if reg.sharing is None:
            return 0, [cp.sum(d) <= 1]
        pattern = np.append(np.full(reg.n_tasks, reg.n_tasks * (1 - reg.sharing)), reg.sharing)
        base = cp.Variable(M // len(pattern), nonneg=True)
        tied = [d == np.kron(np.eye(base.size), pattern).T @ base]
        if reg.over is None:
            return 0, [*tied, cp.sum(base) <= 1]
        return cp.sum_squares(base) / 2, tied
    if name == "WeightPenalty":
        return {
            _linear_quadratic: cp.sum(d + cp.square(d) / 2),
            _exponential: cp.sum(cp.exp(d) - 1),
            _mean_square: cp.square(cp.sum(d)) / 2 + cp.sum_squares(d) / 4,
        }[reg.penalty], []
    if reg.norm_terms is _smoothed_root:  # e = ½, h = d + e²/d - 2e beyond e
        return cp.sum(d + 0.25 * cp.inv_pos(d) - 1), [d >= 0.5]
    raise NotImplementedError(name)


ORACLE = [r for r in CONVEX if getattr(r, "norm_terms", None) is not _joint_root]


@each(among=ORACLE)
def test_optimal_weights_and_block_norm_against_a_convex_program(reg, rng):
    x = draw(rng) ** 2
    d = cp.Variable(M, nonneg=True)
    h, constraints = penalty(reg, d)
    program = cp.Problem(cp.Minimize(cp.sum(cp.multiply(x, cp.inv_pos(d))) + h), constraints)
    program.solve(solver=cp.CLARABEL)
    assert_allclose(2 * reg.block_norm(x), program.value, rtol=1e-6)
    found = reg.optimal_weights(x)
    assert_allclose(found, d.value, rtol=1e-3, atol=1e-3)  # flat at the optimum
    assert_allclose(np.sum(x / found) + reg.value(found), program.value, rtol=1e-6)


@each(among=ORACLE)
def test_dual_value_against_a_convex_program(reg, rng):
    G = feasible_dual(reg, rng)
    d = cp.Variable(M, nonneg=True)
    h, constraints = penalty(reg, d)
    program = cp.Problem(cp.Maximize(d @ G - h), constraints)
    program.solve(solver=cp.CLARABEL)
    assert_allclose(reg.dual_value(G), program.value, rtol=1e-6, atol=1e-6)


@each()
def test_dual_value_is_twice_the_conjugate_of_the_norm(reg, rng):
    s = np.sqrt(feasible_dual(reg, rng))

    def negative(t):
        return reg.block_norm(t**2) - t @ s

    found = min(
        (minimize(negative, start, bounds=[(0, None)] * M) for start in (0.1 * s, s, 3 * s)),
        key=lambda result: result.fun,
    )
    assert_allclose(reg.dual_value(s**2), -2 * found.fun, rtol=1e-4, atol=1e-4)


@each()
def test_dual_ray_is_the_dual_value_along_a_ray(reg, rng):
    G = feasible_dual(reg, rng)
    ray = reg.dual_ray(G)
    for c in (0.0, 0.2, 0.7, 1.0, 1.5):
        close = tolerance(reg, 1e-12, 1e-6)
        assert_allclose(ray(c), reg.dual_value(c**2 * G), rtol=close, atol=close)


@each()
def test_optimal_weights_attain_the_block_norm(reg, rng):
    x = draw(rng) ** 2
    d = reg.optimal_weights(x)
    attained = np.sum(x / d) + reg.value(d)
    assert_allclose(attained, 2 * reg.block_norm(x), rtol=tolerance(reg, 1e-12, 1e-8))


@each()
def test_slope_of_the_block_norm_is_half_the_inverse_weight(reg, rng):
    x = draw(rng) ** 2
    slope = numeric_gradient(reg.block_norm, x)
    assert_allclose(slope, 0.5 / reg.optimal_weights(x), rtol=1e-6)


vectors = arrays(float, M, elements=st.floats(0.0, 3.0))


@each(among=CONVEX)
@given(G=vectors, x=vectors)
@example(G=np.eye(M)[-1], x=np.zeros(M))  # at the border of several domains
@example(G=np.ones(M), x=np.ones(M))
@settings(deadline=None, max_examples=15, derandomize=True)
def test_fenchel_young(reg, G, x):
    d = reg.optimal_weights(x)
    bound = reg.value(d) + reg.dual_value(G)
    assert bound >= d @ G - tolerance(reg, 1e-9, 1e-6) * (1 + abs(d @ G))


@each(among=CONVEX)
@given(G=vectors, x=vectors)
@settings(deadline=None, max_examples=15, derandomize=True)
def test_fenchel_young_at_the_dual_scale(reg, G, x):
    """The scaled dual point that certificates use must not understate the dual term."""
    G = reg.dual_scale(4 * G) ** 2 * 4 * G
    d = reg.optimal_weights(x)
    bound = reg.value(d) + reg.dual_value(G)
    assert bound >= d @ G - tolerance(reg, 1e-9, 1e-6) * (1 + abs(d @ G))


@each(among=CONVEX)
def test_weak_duality_is_tight_at_the_slope_of_the_norm(reg, rng):
    x = draw(rng) ** 2
    d = reg.optimal_weights(x)
    G = x / d**2  # √G = ∇ψ(t)
    G = G * min(1.0, reg.dual_scale(G)) ** 2
    assert_allclose(reg.value(d) + reg.dual_value(G), d @ G, rtol=tolerance(reg, 1e-9, 1e-6))


@each()
def test_dual_scale_is_the_border_of_the_domain(reg, rng):
    for G in (draw(rng), 50 * draw(rng)):
        c = reg.dual_scale(G)
        assert 0 < c <= 1
        assert np.isfinite(reg.dual_value(c**2 * G))
        if c < 1:
            assert reg.dual_value((1.001 * c) ** 2 * G) == np.inf
    assert reg.dual_scale(np.zeros(M)) == 1.0


@each()
def test_zero_scale_is_the_border_of_the_zeros(reg, rng):
    G = draw(rng)
    c = reg.zero_scale(G)
    assert reg.dual_value((0.999 * c) ** 2 * G) == pytest.approx(0, abs=1e-9)
    above = reg.dual_value((1.001 * c + 1e-3) ** 2 * G)
    assert above > 0 if type(reg).__name__ != "BlockPenalty" else above >= 0


@each("dual_weights")
def test_dual_weights_are_the_slope_of_the_dual_term(reg, rng):
    G = draw(rng)
    assert_allclose(reg.dual_weights(G), numeric_gradient(reg.dual_value, G), rtol=1e-6, atol=1e-8)


@each("dual_weights", among=CONVEX)
def test_dual_weights_attain_the_dual_term(reg, rng):
    G = draw(rng)
    d = reg.dual_weights(G)
    assert_allclose(d @ G - reg.value(d), reg.dual_value(G), rtol=1e-10)


@each("dual_curvature")
def test_dual_curvature_is_the_jacobian_of_the_dual_weights(reg, rng):
    G = draw(rng)
    D, U, s = reg.dual_curvature(G)
    J = np.diag(D) + (U * s) @ U.T
    assert_allclose(J, jacobian(reg.dual_weights, G, 1e-6), rtol=1e-5, atol=1e-7)


def smooth_penalty(reg):
    """The penalty whose derivatives a regularizer reports."""
    if hasattr(reg, "norm"):
        degree = reg._over.p if isinstance(reg, TaskCoupling) else reg._degree
        return lambda d: reg.norm(d) ** degree / degree
    return reg.value


@each("gradient")
def test_gradient_is_the_slope_of_the_penalty(reg, rng):
    d = 0.4 * draw(rng)
    slope = numeric_gradient(smooth_penalty(reg), d)
    assert_allclose(reg.gradient(d), slope, rtol=1e-5, atol=1e-6)


@each("hessian")
def test_hessian_is_the_slope_of_the_gradient(reg, rng):
    d = 0.4 * draw(rng)
    H = reg.hessian(d)
    H = np.diag(H) if H.ndim == 1 else H
    assert_allclose(H, jacobian(reg.gradient, d, 1e-4), rtol=1e-4, atol=1e-4)


@each("prox")
@pytest.mark.parametrize("step", [0.3, 2.0])
def test_prox_minimises_its_objective(reg, step, rng):
    r = rng.uniform(0.1, 3.0, size=M)
    t = reg.prox(r, step)

    def objective(t):
        return np.sum((t - r) ** 2) / 2 + step * reg.block_norm(t**2)

    result = minimize(objective, 0.5 * r, bounds=[(0, None)] * M, options={"ftol": 1e-14})
    assert np.all(t >= 0)
    assert objective(t) <= result.fun + 1e-10  # no worse than the minimiser found
    assert_allclose(t, result.x, atol=1e-3)


@each("prox_derivative")
def test_prox_derivative_is_the_slope_of_the_prox(reg, rng):
    r = rng.uniform(0.6, 4.0, size=50)
    slope = central_difference(lambda r: reg.prox(r, 0.5), r)
    assert_allclose(reg.prox_derivative(r, 0.5), slope, rtol=1e-6, atol=1e-9)
    assert reg.separable


@each()
def test_separable_means_a_sum_of_terms(reg, rng):
    if not reg.separable:
        return
    x = draw(rng) ** 2
    parts = [reg.block_norm(np.array([v])) for v in x]
    assert_allclose(reg.block_norm(x), np.sum(parts), rtol=1e-10)


@each(among=[reg for reg in ALL if reg.active_threshold > 0])
def test_active_threshold(reg):
    tau = reg.active_threshold
    G = np.full(M, (0.99 * tau) ** 2)
    assert reg.dual_value(G) == 0
    assert reg.zero_scale(G) >= 1
    assert reg.zero_scale(np.full(M, (1.01 * tau) ** 2)) < 1


@each()
def test_atoms_are_an_exact_reduction(reg, rng):
    atoms = reg.atoms(M)
    if atoms is None:
        return
    T, base = atoms
    G, start = draw(rng), draw(rng)[: len(T)]
    assert np.all(T >= 0)
    assert_allclose(base.dual_scale(T @ G), reg.dual_scale(G), rtol=1e-12)
    G = feasible_dual(reg, rng)
    assert_allclose(base.dual_value(T @ G), reg.dual_value(G), rtol=1e-12, atol=1e-12)
    small = start / (1 + (base._gauge(start) if hasattr(base, "_gauge") else start.max()))
    assert_allclose(reg.value(T.T @ small), base.value(small), rtol=1e-12)


def permutable(reg):
    named = type(reg).__name__ in ("Wedge", "GroupNorm", "QNorm", "FixedWeights")
    return not named and not (isinstance(reg, TaskCoupling) and reg.sharing is not None)


@each(among=[reg for reg in ALL if permutable(reg)])
def test_permuting_kernels_permutes_weights(reg, rng):
    x, order = draw(rng) ** 2, rng.permutation(M)
    assert_allclose(reg.optimal_weights(x[order]), reg.optimal_weights(x)[order], rtol=1e-6)
    assert_allclose(reg.block_norm(x[order]), reg.block_norm(x), rtol=1e-10)


EXTREMES = [
    np.zeros(M),
    np.full(M, 1e300),
    np.full(M, 1e-300),
    np.array([0.0, 1e300, 1e-300, 1.0, 0.0, 1e150]),
    np.array([0.0, 0.0, 1.0, 0.0, 0.0, 2.0]),
    np.full(M, -1e-18),
]


@each()
@pytest.mark.parametrize("v", EXTREMES, ids=range(len(EXTREMES)))
def test_extremes_neither_warn_nor_give_nan(reg, v):
    v.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [
            getattr(reg, name)(v)
            for name in (
                "value",
                "optimal_weights",
                "block_norm",
                "dual_value",
                "dual_scale",
                "zero_scale",
            )
        ]
        results += [getattr(reg, name)(v) for name in CAPABILITIES[:4] if hasattr(reg, name)]
        if hasattr(reg, "dual_curvature"):
            results += reg.dual_curvature(v)
        for name in ("prox", "prox_derivative"):
            if hasattr(reg, name):
                results.append(getattr(reg, name)(np.sqrt(np.maximum(v, 0)), 0.5))
    for result in results:
        assert not np.any(np.isnan(result))


@each("dual_weights")
def test_dual_maps_are_finite_where_a_kernel_vanishes(reg):
    G = np.array([0.0, 1.0, 0.5, 0.0, 2.0, 1e-300])
    assert np.all(np.isfinite(reg.dual_weights(G)))
    assert all(np.all(np.isfinite(part)) for part in reg.dual_curvature(G))


@each()
def test_inputs_are_not_changed(reg, rng):
    x = draw(rng)
    before = x.copy()
    for name in ("optimal_weights", "block_norm", "dual_value", "value"):
        getattr(reg, name)(x)
    assert_array_equal(x, before)


@each()
def test_one_kernel(reg):
    one = np.array([0.49])
    if type(reg).__name__ in ("GroupNorm", "TaskCoupling", "QNorm", "FixedWeights"):
        with pytest.raises(ValueError, match="kernel"):
            reg.check_n_kernels(M + 1)
        return
    d = reg.optimal_weights(one)
    assert_allclose(2 * reg.block_norm(one), one / d + reg.value(d), rtol=1e-7)
