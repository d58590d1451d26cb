"""The fingerprint of a model: the same in every process, another for every other model."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from multikernel import MKLRegressor, SourcePreparation
from multikernel.comparison import MODELS, Setting
from multikernel.comparison.planning import _fingerprint


def product(factor):
    """A fresh function at every call."""
    return lambda A, B: factor * A @ B.T


def twice(A, B):
    return 2 * A @ B.T


def thrice(A, B):
    return 3 * A @ B.T


SETTING = Setting("classification", "accuracy", None, 4)
MAKERS = {
    **{name: lambda make=make: make(SETTING) for name, make in MODELS.items()},
    "C": lambda: MKLRegressor(C=2.0),
    "function": lambda: MKLRegressor(product(1.0)),
    "functions": lambda: MKLRegressor([product(1.0), "linear"]),
    "array": lambda: MKLRegressor(regularizer="lp", kernels=FunctionTransformer(np.sin)),
    "pipelines": lambda: SourcePreparation({"a": FunctionTransformer(lambda x: x)}),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_equal_models_have_equal_fingerprints(make):
    assert _fingerprint(make()) == _fingerprint(make())


def test_different_models_have_different_fingerprints():
    prints = [str(_fingerprint(make())) for make in MAKERS.values()]
    assert len(set(prints)) == len(prints)


def test_no_address_is_in_a_fingerprint():
    assert not any("0x" in str(_fingerprint(make())) for make in MAKERS.values())


def test_a_function_that_was_edited_is_another():
    edited = thrice
    edited.__name__, edited.__qualname__ = twice.__name__, twice.__qualname__
    assert _fingerprint(MKLRegressor(edited)) != _fingerprint(MKLRegressor(twice))


def test_large_arrays_differ_in_one_number():
    """Their text would not show it."""
    a = np.zeros(5000)
    b = a.copy()
    b[2500] = 1.0
    assert _fingerprint(MKLRegressor(C=a)) != _fingerprint(MKLRegressor(C=b))


def test_what_a_function_reads_and_is_given_counts():
    def with_closure(factor):
        return lambda x: factor * x

    makers = [lambda x: np.sqrt(x), lambda x: np.exp(x), with_closure(1), with_closure(2)]
    makers += [lambda x, a=1: a * x, lambda x, a=2: a * x]
    prints = {_fingerprint(SourcePreparation({"a": FunctionTransformer(f)})) for f in makers}
    assert len(prints) == len(makers)


def test_the_class_counts():
    class Other(MKLRegressor):
        pass

    assert _fingerprint(Other()) != _fingerprint(MKLRegressor())
