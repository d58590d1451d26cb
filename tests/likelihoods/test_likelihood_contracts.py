"""What every likelihood must satisfy as a loss and as a maximum of Gaussians, over the registry."""

import numpy as np
import pytest
from helpers import central_difference, draw_targets, instances
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import laplace, norm, t
from sklearn.base import clone

from multikernel._component import concrete_subclasses, resolve
from multikernel.likelihoods import (
    LIKELIHOODS,
    Gaussian,
    Laplace,
    Likelihood,
    LogisticLikelihood,
    StudentT,
)

ALL = instances(LIKELIHOODS)
BOUNDED = [part for part in ALL if not isinstance(part, Gaussian)]  # bounds of many variances
CONVEX = [part for part in ALL if part.log_concave]
each = pytest.mark.parametrize("likelihood", ALL, ids=repr)
each_bounded = pytest.mark.parametrize("likelihood", BOUNDED, ids=repr)
each_convex = pytest.mark.parametrize("likelihood", CONVEX, ids=repr)


def draw(likelihood, rng, n=80, scale=3.0):
    return draw_targets(likelihood.y_domain, rng, n, 2), scale * rng.normal(size=(n, 2))


def variances(likelihood, rng, n=200):
    """Variances of bounds, most of them touching somewhere, none at the edge of their range."""
    start = likelihood.site_var(np.full((), 1e-3))
    above, below = 1 + rng.exponential(5.0, n), rng.uniform(0.2, 0.9, 20)
    return start * np.concatenate([above, below])


def target(likelihood, u):
    return 1.0 if likelihood.y_domain == "sign" else u / 2 - 1.0


# As a loss


def test_every_likelihood_is_registered():
    ours = {c for c in concrete_subclasses(Likelihood) if c.__module__.startswith("multikernel.")}
    assert ours == set(LIKELIHOODS.values())
    assert isinstance(resolve("student", LIKELIHOODS, "gaussian", "likelihood"), StudentT)


@each
def test_clones_and_checks(likelihood):
    likelihood.check()
    assert repr(clone(likelihood)) == repr(likelihood)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan, "1", None])
@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Gaussian, "noise_var"),
        (Laplace, "tau"),
        (LogisticLikelihood, "tau"),
        (StudentT, "nu"),
        (StudentT, "scale_var"),
    ],
)
def test_check_names_the_parameter(cls, name, bad):
    with pytest.raises(ValueError, match=f"{cls.__name__}.{name} must be a finite number > 0, got"):
        cls(**{name: bad}).check()


@each
@pytest.mark.parametrize("u", [-7.0, 0.0, 0.4])
def test_probabilities_add_to_one(likelihood, u):
    def density(y):
        return np.exp(-likelihood.value(np.array(y), np.array(u)) / 2)

    if likelihood.y_domain == "sign":
        assert_allclose(density(1.0) + density(-1.0), 1.0, rtol=1e-14)
    else:
        total = quad(density, -np.inf, u)[0] + quad(density, u, np.inf)[0]
        assert_allclose(total, 1.0, atol=1e-7)


@pytest.mark.parametrize(
    ("likelihood", "law"),
    [
        (Gaussian(0.3), norm(scale=np.sqrt(0.3))),
        (Laplace(0.4), laplace(scale=2.5)),
        (StudentT(1.5, 0.3), t(1.5, scale=np.sqrt(0.3))),
        (StudentT(30.0, 5.0), t(30.0, scale=np.sqrt(5.0))),
    ],
    ids=["gaussian", "laplace", "heavy student", "light student"],
)
def test_the_errors_are_those_of_scipy(likelihood, law, rng):
    y, u = 4 * rng.normal(size=(2, 50))
    assert_allclose(likelihood.value(y, u), -2 * law.logpdf(y - u), rtol=1e-12)
    assert_allclose(likelihood.residual_cdf(y - u), law.cdf(y - u), rtol=1e-12)
    q = rng.random(50)
    assert_allclose(likelihood.residual_quantile(q), law.ppf(q), rtol=1e-9)
    assert_allclose(likelihood.residual_var, law.var())


@each
def test_derivatives_of_the_value(likelihood, rng):
    y, u = draw(likelihood, rng)
    u = np.where(np.abs(u - y) < 1e-3, u + 1e-2, u)  # off the kink of Laplace
    slope = central_difference(lambda u: likelihood.value(y, u), u)
    assert_allclose(likelihood.gradient(y, u), slope, rtol=1e-6, atol=1e-8)
    curvature = central_difference(lambda u: likelihood.gradient(y, u), u)
    assert_allclose(likelihood.hessian(y, u), curvature, rtol=1e-6, atol=1e-8)


@each
def test_the_representation_is_the_value(likelihood, rng):
    y, u = draw(likelihood, rng)
    s = u - likelihood.center(y)
    assert_allclose(
        -2 * likelihood.slope(y) * s + likelihood.rho(s**2), likelihood.value(y, u), atol=1e-13
    )


@each
def test_derivatives_of_rho(likelihood):
    x = np.geomspace(1e-6, 1e4, 60)  # crosses the border of the series of the logistic bound

    def slope(function):  # in ln x
        return (function(1.0001 * x) - function(0.9999 * x)) / 2e-4

    prime, second = likelihood.rho_prime(x), likelihood.rho_second(x)
    assert_allclose(x * prime, slope(likelihood.rho), rtol=1e-6, atol=1e-10)
    assert_allclose(x * second / prime, slope(likelihood.rho_prime) / prime, rtol=1e-6, atol=1e-10)
    assert np.all(prime > 0)
    assert np.all(second <= 0)


def test_logistic_bound_at_zero():
    part = LogisticLikelihood(tau=3.0)
    assert_allclose(part.rho_prime(np.zeros(1)), 9 / 4, rtol=1e-15)
    assert_allclose(part.rho_second(np.zeros(1)), -81 / 48, rtol=1e-15)


def test_logistic_bound_is_continuous_where_the_series_ends():
    x = 4 * 0.02 * np.array([1 - 1e-14, 1 + 1e-14])
    for method in ("rho_prime", "rho_second"):
        left, right = getattr(LogisticLikelihood(), method)(x)
        assert_allclose(left, right, rtol=3e-12)


# As a maximum of Gaussians


@each_bounded
def test_h_is_the_conjugate_of_rho(likelihood, rng):
    gamma = variances(likelihood, rng, 20)
    for g, ours in zip(gamma, likelihood.h(gamma), strict=True):
        edge = 2 * likelihood.x_hat(np.array(g)) + 1.0
        search = minimize_scalar(
            lambda r, g=g: r**2 / g - likelihood.rho(np.array(r**2)),
            bounds=(0, np.sqrt(edge)),
            method="bounded",
            options={"xatol": 1e-10},
        )
        brute = max(-search.fun, float(likelihood.rho(np.zeros(()))))
        assert_allclose(ours, brute, rtol=1e-9, atol=1e-9)


@each_bounded
def test_derivatives_of_h(likelihood, rng):
    gamma = variances(likelihood, rng)
    slope = central_difference(likelihood.h, gamma)
    assert_allclose(likelihood.h_prime(gamma), slope, rtol=1e-6, atol=1e-7)
    curvature = central_difference(likelihood.h_prime, gamma)
    assert_allclose(likelihood.h_second(gamma), curvature, rtol=1e-5, atol=1e-7)


@each_bounded
def test_x_hat_inverts_site_var(likelihood):
    x = np.geomspace(1e-2, 1e10, 80)
    assert_allclose(likelihood.x_hat(likelihood.site_var(x)), x, rtol=1e-11)
    # near 0 the variance of the bound hardly varies, so that its rounding is magnified
    x = np.geomspace(1e-10, 1e-2, 80)
    assert_allclose(likelihood.x_hat(likelihood.site_var(x)), x, rtol=1e-11, atol=1e-13)


@each
def test_bounds_touch(likelihood, rng):
    x = rng.exponential(10.0, 200)
    gamma = likelihood.site_var(x)
    assert_allclose(x / gamma + likelihood.h(gamma), likelihood.rho(x), rtol=1e-13, atol=1e-13)


@each
@settings(deadline=None, max_examples=60)
@given(u=st.floats(-50, 50), y=st.floats(-50, 50), log_gamma=st.floats(-10, 10))
def test_bounds_lie_below(likelihood, u, y, log_gamma):
    y = np.sign(y) or 1.0 if likelihood.y_domain == "sign" else y
    y, u, gamma = np.array(y), np.array(u), np.exp(np.array(log_gamma))
    s = u - likelihood.center(y)
    bound = -2 * likelihood.slope(y) * s + s**2 / gamma + likelihood.h(gamma)
    value = likelihood.value(y, u)
    assert value <= bound + 1e-12 * (1 + abs(value) + s**2 / gamma)


def test_gaussian_bounds_stop_at_the_noise():
    part = Gaussian(0.3)
    gamma = np.array([0.1, 0.3, 0.31])
    assert_allclose(part.h(gamma), [np.log(0.6 * np.pi)] * 2 + [np.inf])
    assert_array_equal(part.site_var(np.array([0.0, 5.0])), 0.3)
    for method in (part.x_hat, part.h_prime, part.h_second):
        assert_array_equal(method(gamma), 0.0)


@each_convex
def test_h_is_convex_for_log_concave_likelihoods(likelihood):
    gamma = np.geomspace(1e-3, 1e3, 300)
    assert np.all(likelihood.h_second(gamma) >= 0)
    y = -np.ones(300) if likelihood.y_domain == "sign" else np.zeros(300)
    assert np.all(likelihood.hessian(y, np.linspace(-30, 30, 300)) >= 0)


@each_bounded
def test_smoothed_loss_is_the_least_over_bounds(likelihood, rng):
    u = 3 * rng.normal(size=8)
    y, z = np.array([target(likelihood, v) for v in u]), rng.exponential(2.0, 8)
    s = u - likelihood.center(y)

    def bound(log_gamma, x):
        gamma = np.exp(np.array(log_gamma))
        return x / gamma + likelihood.h(gamma)

    search = {"bounds": (-12, 15), "method": "bounded", "options": {"xatol": 1e-9}}
    least = [minimize_scalar(bound, args=(x,), **search).fun for x in s**2 + z]
    least = np.array(least) - 2 * likelihood.slope(y) * s
    assert_allclose(likelihood.smoothed_value(y, u, z), least, rtol=1e-9)


@each
def test_derivatives_of_the_smoothed_loss(likelihood, rng):
    y, u = draw(likelihood, rng)
    z = rng.exponential(2.0, u.shape) + 1e-2
    slope = central_difference(lambda u: likelihood.smoothed_value(y, u, z), u)
    assert_allclose(likelihood.smoothed_gradient(y, u, z), slope, rtol=1e-6, atol=1e-8)
    curvature = central_difference(lambda u: likelihood.smoothed_gradient(y, u, z), u)
    assert_allclose(likelihood.smoothed_hessian(y, u, z), curvature, rtol=1e-6, atol=1e-7)
    in_z = central_difference(lambda z: likelihood.smoothed_value(y, u, z), z)
    assert_allclose(likelihood.smoothed_slope(y, u, z), in_z, rtol=1e-6, atol=1e-7)


@each
def test_smoothed_forms_are_those_of_rho(likelihood, rng):
    """Overridden forms against the general ones, at u = 0 and z = 0 too."""
    y, u = draw(likelihood, rng)
    z = rng.exponential(2.0, u.shape)
    u[:5] = 0.0
    z[5:10] = 0.0
    for name in ("smoothed_value", "smoothed_gradient", "smoothed_hessian"):
        slow = getattr(Likelihood, name)(likelihood, y, u, z)
        assert_allclose(getattr(likelihood, name)(y, u, z), slow, rtol=1e-11, atol=1e-13)


# Towards the convex solvers


@each_convex
def test_convex_loss_is_the_value(likelihood, rng):
    y, u = draw(likelihood, rng)
    loss, factor = likelihood.convex_loss()
    assert loss.y_domain == likelihood.y_domain
    value = factor * loss.value(y, likelihood.latent_scale * u) + likelihood.constant(y)
    assert_allclose(value, likelihood.value(y, u), rtol=1e-12, atol=1e-12)


def test_only_the_steepness_of_the_logistic_scales_the_latent_values():
    assert {type(part) for part in ALL if part.latent_scale != 1.0} == {LogisticLikelihood}


@pytest.mark.parametrize("likelihood", instances({"student": StudentT}), ids=repr)
def test_student_has_no_convex_loss(likelihood):
    y = np.zeros(2)
    with pytest.raises(TypeError, match="StudentT has no convex loss"):
        likelihood.convex_loss()
    with pytest.raises(TypeError, match="log-concave likelihood"):
        likelihood.conjugate(y, y)


@each_convex
def test_conjugate_bounds_and_touches(likelihood, rng):
    y, u = draw(likelihood, rng, n=200)
    alpha = rng.uniform(0.0, 3.0, u.shape) * (y if likelihood.y_domain == "sign" else np.sign(u))
    dual = likelihood.conjugate(y, alpha)
    assert np.isfinite(dual).mean() > 0.1
    assert np.all(likelihood.value(y, u) + 2 * alpha * u >= dual - 1e-10)
    best = -likelihood.gradient(y, u) / 2
    touch = likelihood.value(y, u) + 2 * best * u
    assert_allclose(likelihood.conjugate(y, best), touch, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("likelihood", [Laplace(0.4), LogisticLikelihood(3.0)], ids=repr)
def test_conjugate_is_minus_infinity_outside_its_domain(likelihood):
    y = np.ones(2)
    outside = np.array([1.01, -1.01]) * likelihood.tau
    assert_array_equal(likelihood.conjugate(y, outside), -np.inf)
    assert np.isfinite(likelihood.conjugate(y, np.full(2, 0.99 * likelihood.tau))).all()


# Learning


@each
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), spread=st.floats(-8, 8))
def test_learning_never_worsens_the_fit(likelihood, seed, n, spread):
    rng = np.random.default_rng(seed)
    x = np.exp(spread + 2 * rng.normal(size=n)) * rng.chisquare(1, n)
    new = likelihood.learned(x)
    new.check()
    old_sum, new_sum = likelihood.rho(x).sum(), new.rho(x).sum()
    assert new_sum <= old_sum + 1e-12 * np.abs(likelihood.rho(x)).sum()
    again = new.learned(x)  # one step is enough
    assert_allclose(again.rho(x).sum(), new_sum, rtol=1e-6, atol=1e-6 * n)


@pytest.mark.parametrize(
    ("likelihood", "name"),
    [(Gaussian(6.0), "noise_var"), (Laplace(3.0), "tau"), (StudentT(1.5, 9.0), "scale_var")],
    ids=repr,
)
def test_learned_parameter_is_the_best(likelihood, name, rng):
    x = rng.exponential(2.0, 50)
    best = minimize_scalar(
        lambda t: type(likelihood)(**{**likelihood.get_params(), name: np.exp(t)}).rho(x).sum(),
        bounds=(-6, 6),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert_allclose(getattr(likelihood.learned(x), name), np.exp(best.x), rtol=1e-6)


def test_degrees_of_freedom_are_recovered():
    x = 4.0 * np.random.default_rng(0).standard_t(3.0, 50_000) ** 2
    learned = StudentT(nu=30.0, learn_nu=True).learned(x)
    assert 2.8 < learned.nu < 3.2
    assert 3.8 < learned.scale_var < 4.2
    assert learned.learn_nu
    assert StudentT(nu=30.0).learned(x).nu == 30.0


def test_learning_keeps_parameters_better_than_any_it_searches(rng):
    heavy = np.exp(40 * rng.normal(size=50))
    assert StudentT(nu=0.05, learn_nu=True).learned(heavy).nu == 0.05
    mostly_zero = np.array([0.0] * 9 + [1.0])
    assert StudentT(nu=4.0, scale_var=1e-15).learned(mostly_zero).scale_var == 1e-15


def test_learning_keeps_what_the_data_cannot_tell():
    for likelihood in ALL:
        assert repr(likelihood.learned(np.zeros(5))) == repr(likelihood)
    part = LogisticLikelihood(3.0)
    assert part.learned(np.ones(4)) is part
    mostly_zero = np.array([0.0] * 9 + [1.0])  # the best scale is 0: kept off it
    for likelihood in ALL:
        likelihood.learned(mostly_zero).check()


# Extremes


@each
def test_extremes_are_finite_and_silent(likelihood):
    sizes = np.array([0.0, 1e-200, 1e-9, 1.0, 1e4, 1e8])
    u = np.concatenate([-sizes, sizes])[:, None]
    z = np.array([0.0, 1e-300, 1e-8, 1.0, 1e8])
    for y in (-1.0, 1.0) if likelihood.y_domain == "sign" else (0.0, 1e4, -1e8):
        y = np.full((12, 1), y)
        for name in ("smoothed_value", "smoothed_gradient", "smoothed_hessian"):
            result = getattr(likelihood, name)(y, u, z)
            assert result.shape == (12, 5)
            assert np.isfinite(result).all(), name
        for name in ("value", "gradient", "hessian"):
            result = getattr(likelihood, name)(y, u)
            assert result.shape == (12, 1)
            assert np.isfinite(result).all(), name
    x = np.array([1e-12, 1e-3, 1.0, 1e8, 1e16])
    gamma = likelihood.site_var(x)
    for name, at in [("rho", x), ("rho_prime", x), ("rho_second", x), ("x_hat", gamma)]:
        assert np.isfinite(getattr(likelihood, name)(at)).all(), name
    for name in ("h", "h_prime", "h_second"):
        assert np.isfinite(getattr(likelihood, name)(gamma)).all(), name


def test_far_margins_keep_their_relative_accuracy():
    part, one = LogisticLikelihood(), np.ones(1)
    assert_allclose(part.value(one, 40 * one), 2 * np.exp(-40.0), rtol=1e-14)
    assert_allclose(part.gradient(one, 40 * one), -2 * np.exp(-40.0), rtol=1e-14)
    assert_allclose(part.hessian(one, 40 * one), 2 * np.exp(-40.0), rtol=1e-14)
    assert_allclose(part.value(one, -1e4 * one), 2e4, rtol=1e-15)
    assert_allclose(part.smoothed_value(one, 1e6 * one, one), 0.5e-6, rtol=1e-11)  # z/(2u)


def test_laplace_at_its_kink():
    part, zero = Laplace(2.0), np.zeros(1)
    assert_array_equal(part.gradient(zero, zero), 0.0)
    assert_array_equal(part.hessian(zero, zero), 0.0)
    assert_array_equal(part.site_var(zero), 0.0)
    assert_array_equal(part.rho_prime(zero), np.inf)
    assert_allclose(part.gradient(zero, np.array([-1e-200])), -4.0)
