"""The motorcycle experiment of Gönen (2012), Section 5.1: its picture, and where it leads."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from multikernel import RBF, BayesianMKLRegressor
from multikernel.datasets import load_motorcycle

ROOT = Path(__file__).parents[1]
FILE = ROOT.parent / "shared" / "data" / "motorcycle" / "mcycle.csv"
EXPONENTS = np.arange(-10, 11)
KERNELS = RBF(width=(4.0**EXPONENTS).tolist(), scale=None)  # exp(-d²/w²)
SETTING = {"sparsity": "both", "normalize": None, "standardize": False}


def motorcycle():
    X, y = load_motorcycle(return_X_y=True)
    return (X - X.mean()) / X.std(), y


def seen(weights):
    return np.flatnonzero(np.abs(weights) > 0.01 * np.abs(weights).max())


@pytest.fixture(scope="module")
def stopped():
    """The plain updates after 500 sweeps."""
    model = BayesianMKLRegressor(
        KERNELS, updates="plain", max_iter=500, tol=1e-15, random_state=0, **SETTING
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=500"):
        return model.fit(*motorcycle())


@pytest.fixture(scope="module")
def converged():
    return BayesianMKLRegressor(KERNELS, max_iter=5000, tol=1e-8, **SETTING).fit(*motorcycle())


def test_the_priors_are_those_of_the_paper(stopped):
    sparse = {f"{part}_{name}" for part in ("alpha", "beta") for name in ("lambda", "omega")}
    for name, value in stopped.priors_.items():
        small = 1e-10 if name.startswith("alpha") else 1e10
        assert value == (small if name in sparse else 1.0)


def test_the_picture_of_the_paper_appears_on_the_way(stopped):
    """Three kernels, of the widths that the paper names, and three samples."""
    assert EXPONENTS[seen(stopped.weights_)].tolist() == [-2, -1, 1]
    assert load_motorcycle().X[seen(stopped.dual_coef_), 0].tolist() == [13.2, 21.2, 31.0]
    table = stopped.kernel_table_
    assert_array_equal(np.flatnonzero(table["lower"] > 0), seen(stopped.weights_))
    assert not stopped.converged_
    assert stopped.score(*motorcycle()) > 0.78


def test_it_is_a_transient(stopped, converged):
    """At rest two kernels are left, under a larger bound and with nearly the same curve."""
    assert converged.converged_
    assert EXPONENTS[seen(converged.weights_)].tolist() == [-2, -1]
    assert len(np.unique(motorcycle()[0][seen(converged.dual_coef_)])) == 3
    assert converged.elbo_ > stopped.elbo_ + 1
    X, y = motorcycle()
    grid = np.linspace(X.min(), X.max(), 100)[:, np.newaxis]
    apart = np.sqrt(np.mean((converged.predict(grid) - stopped.predict(grid)) ** 2))
    assert apart < 0.15 * y.std()


def test_standardised_targets_show_another_picture():
    model = BayesianMKLRegressor(
        KERNELS, sparsity="both", normalize=None, updates="plain", max_iter=500, tol=1e-15,
        random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning):
        model.fit(*motorcycle())
    assert EXPONENTS[seen(model.weights_)].tolist() == [-2, -1, 0]


def test_the_data_set():
    data = load_motorcycle()
    assert data.X.shape == (133, 1)
    assert data.y.shape == (133,)
    assert len(np.unique(data.X)) == 94
    assert (data.feature_names, data.target_name) == (["time"], "acceleration")
    assert "GPL" in data.DESCR
    data.y[:] = 0  # what a caller does to it does not come back
    assert load_motorcycle().y.min() == -134.0


@pytest.mark.data
@pytest.mark.skipif(not FILE.is_file(), reason=f"no file {FILE}")
def test_the_embedded_numbers_are_those_of_the_file():
    values = np.genfromtxt(FILE, delimiter=",", skip_header=1)
    X, y = load_motorcycle(return_X_y=True)
    assert_array_equal(np.c_[X, y], values)
