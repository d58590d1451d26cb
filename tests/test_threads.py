"""Threads of BLAS in fits."""

from contextlib import contextmanager

import numpy as np
import pytest

from multikernel import BayesianMKLRegressor, MKLRegressor, ProbabilisticMKLRegressor, _threads
from multikernel._threads import blas_threads


class Controller:
    """Stands for the libraries, whatever number of threads they were built or started with."""

    threads = 4

    @contextmanager
    def limit(self, *, limits, user_api):
        assert user_api == "blas"
        usual, self.threads = self.threads, self.threads if limits is None else limits
        yield
        self.threads = usual


@pytest.fixture
def controller(monkeypatch):
    libraries = Controller()
    monkeypatch.setattr(_threads, "_controller", lambda: libraries)
    return libraries


@pytest.mark.parametrize(("n_samples", "n_threads"), [(999, 1), (1000, 4)])
def test_few_samples_take_one_thread(n_samples, n_threads, controller):
    with blas_threads(n_samples):
        assert controller.threads == n_threads
    assert controller.threads == 4


def test_the_libraries_are_those_of_numpy_and_scipy():
    assert _threads._controller().select(user_api="blas").info()


@pytest.mark.parametrize("kind", [MKLRegressor, ProbabilisticMKLRegressor, BayesianMKLRegressor])
def test_fits_of_few_samples_take_one_thread(kind, controller, monkeypatch):
    seen, original = [], kind._fit_kernels
    monkeypatch.setattr(
        kind, "_fit_kernels", lambda *args: seen.append(controller.threads) or original(*args)
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    kind("linear").fit(X, X[:, 0] + rng.normal(size=20))
    assert seen == [1]
    assert controller.threads == 4
