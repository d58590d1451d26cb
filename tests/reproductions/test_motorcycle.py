"""The motorcycle experiment of Gönen (2012), Section 5.1: its picture, and where it leads."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from multikernel import RBF, BayesianMKLRegressor
from multikernel.datasets import load_motorcycle
from multikernel.reproductions import reproduce
from multikernel.reproductions.motorcycle import Motorcycle, models
from multikernel.reproductions.motorcycle.experiment import Sizes
from multikernel.reproductions.motorcycle.tables import widths

ROOT = Path(__file__).parents[2]
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


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A look at every step, shorter still than the quick one."""
    tiny = Sizes((20, 500), (20, 60, 2), Motorcycle.QUICK.resting, 60, 1, 2)
    few = {
        name: models.forecasters()[name] for name in ("no sparsity", "ProbabilisticMKLRegressor")
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Motorcycle, "QUICK", tiny)
        patch.setattr("multikernel.reproductions.motorcycle.experiment.forecasters", lambda: few)
        yield reproduce("motorcycle", quick=True, out=tmp_path_factory.mktemp("motorcycle"))


def test_a_quick_look_shows_the_picture_of_the_paper(done):
    assert "(as in the paper) and 3 samples" in done.summary.findings[0]
    by_heading = {section.heading: section for section in done.summary.sections}
    path = by_heading["The same run, stopped earlier and later"].table
    assert path["sweeps"] == ["20", "500"]
    assert path["kernels seen"][1] == "2⁻², 2⁻¹, 2¹"
    assert path["samples seen"][1] == "3 at 13.2, 21.2, 31 ms"
    seeds = by_heading["Seeds and the meaning of a width"].table
    assert seeds["2⁻², 2⁻¹, 2¹ in"][0] == "1 of 1"
    assert by_heading["Forecasts"].table["model"][-1] == "ProbabilisticMKLRegressor"
    pictures = sorted(path.name for path in done.page.parent.glob("motorcycle-*.png"))
    assert len(pictures) == 4


def test_settings_are_as_json_has_them():
    assert Motorcycle().settings["sweeps"][-1] == 20000
    assert isinstance(Motorcycle(quick=True).settings["resting"], list)


def test_forecasts_are_those_of_a_plain_loop():
    """Scores of one split, against predictions made by hand."""
    X, y = models.data()
    train, test = np.arange(0, 133, 2), np.arange(1, 133, 2)
    model = models.forecasters()["ProbabilisticMKLRegressor"]
    found = models.score(model, train, test)
    again = models.forecasters()["ProbabilisticMKLRegressor"].fit(X[train], y[train])
    assert_array_equal(found["error"], y[test] - again.predict(X[test]))
    mean, std = again.predict(X[test], return_std=True)
    inside = np.abs(y[test] - mean) < 1.6449 * std
    assert np.mean(inside != np.array(found["inside"], dtype=bool)) <= 0.02


def test_widths_are_powers_of_two():
    assert widths([-10, 0, 3]) == "2⁻¹⁰, 2⁰, 2³"
