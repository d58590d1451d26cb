"""Hyper-priors: derivatives by differences, steps against a scalar minimiser."""

import numpy as np
import pytest
from helpers import central_difference, instances
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from multikernel._component import concrete_subclasses
from multikernel.bayes import (
    HYPER_PRIORS,
    FlatPrior,
    GammaPrior,
    HyperPrior,
    InverseGammaPrior,
    PowerPrior,
)

ALL = instances(HYPER_PRIORS)
each = pytest.mark.parametrize("prior", ALL, ids=repr)


def test_every_prior_is_registered():
    assert set(concrete_subclasses(HyperPrior)) == set(HYPER_PRIORS.values())


@each
def test_derivatives(prior, rng):
    d = rng.uniform(0.2, 3.0, 20)

    def terms(d):
        return np.array([prior.value(np.array([v])) for v in d])

    assert_allclose(prior.gradient(d), central_difference(terms, d), rtol=1e-6, atol=1e-7)
    slope = central_difference(prior.gradient, d)
    assert_allclose(prior.hessian(d), slope, rtol=1e-5, atol=1e-6)
    assert_allclose(prior.value(d), terms(d).sum())


@each
def test_minimiser_of_the_bound(prior, rng):
    A, B = rng.uniform(0.0, 3.0, 12), rng.uniform(0.1, 3.0, 12)
    A[:2] = 0.0
    d = prior.minimiser(A, B)
    for a, b, found in zip(A, B, d, strict=True):

        def bound(v, a=a, b=b):
            return a / v + b * v + prior.value(np.array([v]))

        best = minimize_scalar(
            bound, bounds=(1e-9, 30.0), method="bounded", options={"xatol": 1e-10}
        )
        if found > 0:
            assert bound(found) <= best.fun + 1e-9 * abs(best.fun)
        else:
            assert best.x < 1e-5
            assert prior.keeps_zeros


@each
def test_zeros_are_kept_exactly_where_they_are_said_to_be(prior):
    zero = prior.minimiser(np.zeros(1), np.ones(1))
    assert (zero[0] == 0) == prior.keeps_zeros
    assert np.isfinite(prior.value(np.zeros(1))) == prior.keeps_zeros


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (GammaPrior(shape=0.5), "shape must be finite and at least 1"),
        (GammaPrior(rate=-1.0), "rate must be finite and not negative"),
        (InverseGammaPrior(scale=0.0), "scale must be positive"),
        (InverseGammaPrior(shape=-1.0), "shape must be positive"),
        (PowerPrior(strength=-1.0), "strength must not be negative"),
        (PowerPrior(p=0.5), "p must be finite and at least 1"),
    ],
    ids=repr,
)
def test_bad_parameters(prior, message):
    with pytest.raises(ValueError, match=message):
        prior.check()


def test_special_cases(rng):
    A, B = rng.uniform(0.1, 2.0, 5), rng.uniform(0.1, 2.0, 5)
    flat = FlatPrior().minimiser(A, B)
    assert_allclose(GammaPrior(shape=1.0, rate=0.0).minimiser(A, B), flat)
    assert_allclose(PowerPrior(strength=0.0, p=1.0).minimiser(A, B), flat)
    gamma = GammaPrior(shape=1.0, rate=0.3)
    assert_allclose(gamma.minimiser(A, B), PowerPrior(strength=0.6, p=1.0).minimiser(A, B))


@each
def test_units_rescale_weights(prior, rng):
    """The density of d in units of 7 is that of d/7, up to a constant."""
    d = rng.uniform(0.2, 3.0, 6)
    scaled = prior.in_units(7.0)
    assert_allclose(scaled.gradient(7 * d), prior.gradient(d) / 7, rtol=1e-12)
