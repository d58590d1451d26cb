"""The models of the motorcycle data, and what one would see of them in a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..._warnings import unsaid
from ...datasets import load_motorcycle
from ...estimators import BayesianMKLRegressor, ProbabilisticMKLRegressor
from ...kernels import RBF

Array = NDArray[np.float64]

EXPONENTS = np.arange(-10, 11)
VISIBLE = 1e-2  # of the largest weight: what a bar or a filled point shows
WIDTHS = {  # what a width w may mean in a Gaussian kernel
    "exp(−d²/w²)": lambda w: w**2,
    "exp(−d²/2w²)": lambda w: 2 * w**2,
    "exp(−d²/w)": lambda w: w,
}
MARGIN, N_GRID = 0.08, 160  # of the range of times, drawn beyond it; points of a curve

_EARLY: dict[str, Any] = {"updates": "plain", "max_iter": 500, "tol": 1e-15, "random_state": 0}
_CONVERGED: dict[str, Any] = {"tol": 1e-8, "max_iter": 5000}


def data() -> tuple[Array, Array]:
    """Times with mean 0 and variance 1, and accelerations in g."""
    X, y = load_motorcycle(return_X_y=True)
    return (X - X.mean()) / X.std(), y


def kernels(width: str = "exp(−d²/w²)") -> RBF:
    """Gaussian kernels of 21 widths."""
    return RBF(width=WIDTHS[width](2.0**EXPONENTS).tolist(), scale=None)


def regressor(*, width: str = "exp(−d²/w²)", **given: Any) -> BayesianMKLRegressor:
    """The kernels and priors of the paper."""
    settings = {"sparsity": "both", "normalize": None} | given
    return BayesianMKLRegressor(kernels(width), **settings)


def plain(n_sweeps: int, *, seed: int = 0, standardize: bool = False, **given: Any) -> Any:
    """The updates of the paper, stopped after some sweeps."""
    stop: dict[str, Any] = {"tol": 1e-15, "max_iter": n_sweeps, "random_state": seed}
    return fitted(regressor(updates="plain", standardize=standardize, **stop, **given))


def fitted(model: Any) -> Any:
    """The model fitted to all data; that it was stopped on purpose needs no warning."""
    with unsaid(ConvergenceWarning):
        return model.fit(*data())


def resting(name: str, max_iter: int) -> Any:
    """A fit to a relative change of the bound of 1e-9, by its name."""
    given: dict[str, dict[str, Any]] = {
        "in g, accelerated": {"standardize": False},
        "in g, best of 6 starts": {"standardize": False, "n_restarts": 5, "random_state": 0},
        "in g, structured": {"standardize": False, "inference": "structured"},
        "standardised, accelerated": {},
    }
    return fitted(regressor(tol=1e-9, max_iter=max_iter, **given[name]))


def forecasters() -> dict[str, Any]:
    """Models whose forecasts are compared, by name."""
    return {
        "three kernels: plain, 500 sweeps, y in g": regressor(standardize=False, **_EARLY),
        "the same with the plug-in variance of the paper": regressor(
            standardize=False, predictive="plug_in", **_EARLY
        ),
        "sparsity both, converged, y in g": regressor(standardize=False, **_CONVERGED),
        "sparsity both, converged": regressor(**_CONVERGED),
        "sparsity of kernels": regressor(sparsity="kernels", **_CONVERGED),
        "no sparsity": regressor(sparsity="none", **_CONVERGED),
        "ProbabilisticMKLRegressor": ProbabilisticMKLRegressor(kernels(), normalize=None),
    }


def score(model: Any, train: Any, test: Any) -> dict[str, list[float]]:
    """Errors, log densities and hits of 90 % intervals on held-out samples."""
    X, y = data()
    with unsaid(ConvergenceWarning):
        model.fit(X[train], y[train])
    lower, upper = model.predict_interval(X[test], coverage=0.9).T
    inside = (lower < y[test]) & (y[test] < upper)
    return {
        "error": (y[test] - model.predict(X[test])).tolist(),
        "log_density": model.log_predictive_density(X[test], y[test]).tolist(),
        "inside": inside.astype(float).tolist(),
    }


def visible_kernels(model: Any) -> list[int]:
    """Exponents of the widths whose bars one would see."""
    e = np.abs(model.weights_)
    return [int(k) for k in EXPONENTS[e > VISIBLE * e.max()]]


def visible_samples(model: Any) -> list[int]:
    """Samples whose weights one would see."""
    a = np.abs(model.dual_coef_)
    return [int(i) for i in np.flatnonzero(a > VISIBLE * a.max())]


def figures(model: Any) -> dict[str, Any]:
    """What a table says of one fit."""
    X, y = data()
    times = load_motorcycle().X[visible_samples(model), 0]
    return {
        "kernels": visible_kernels(model),
        "times": np.unique(times).tolist(),
        "n_seen": len(times),
        "n_active": [int(model.active_kernels_.sum()), len(model.active_samples_)],
        "bound": float(model.elbo_),
        "rmse": float(np.sqrt(np.mean((y - model.predict(X)) ** 2))),
        "n_iter": int(model.n_iter_),
    }


def picture(model: Any) -> dict[str, Any]:
    """What a picture shows of one fit: weights, their intervals, the curve and its samples."""
    X, _ = data()
    table = model.kernel_table_
    reach = MARGIN * np.ptp(X)
    grid = np.linspace(X.min() - reach, X.max() + reach, N_GRID)
    mean, std = model.predict(grid[:, np.newaxis], return_std=True)
    return {
        "weight": table["weight"].tolist(),
        "upper": table["upper"].tolist(),
        "grid": grid.tolist(),
        "mean": mean.tolist(),
        "std": std.tolist(),
        "samples": visible_samples(model),
    }
