"""Threads of BLAS in fits."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from multikernel import BayesianMKLRegressor, MKLRegressor, ProbabilisticMKLRegressor
from multikernel._threads import blas_threads


def n_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if n_threads() != {2}:
            pytest.skip("BLAS has one thread only")
        yield


def test_few_samples_take_one_thread(two_threads):
    with blas_threads(999):
        assert n_threads() == {1}
    with blas_threads(1000):
        assert n_threads() == {2}
    assert n_threads() == {2}


@pytest.mark.parametrize("kind", [MKLRegressor, ProbabilisticMKLRegressor, BayesianMKLRegressor])
def test_fits_of_few_samples_take_one_thread(kind, two_threads, monkeypatch):
    seen = []
    original = kind._fit_kernels
    monkeypatch.setattr(
        kind, "_fit_kernels", lambda *args: seen.append(n_threads()) or original(*args)
    )
    X = np.random.default_rng(0).normal(size=(20, 3))
    kind("linear").fit(X, X[:, 0] + np.random.default_rng(1).normal(size=20))
    assert seen == [{1}]
    assert n_threads() == {2}
