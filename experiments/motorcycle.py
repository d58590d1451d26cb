"""Gönen (2012), Section 5.1, on the motorcycle data: ``python experiments/motorcycle.py``.

Writes the tables of docs/reproductions/motorcycle.md and its pictures. One core, about five
minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from qmkl_table import replace_section
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from multikernel import RBF, BayesianMKLRegressor, PredictiveDisplay, ProbabilisticMKLRegressor
from multikernel.datasets import load_motorcycle

Array = NDArray[np.float64]

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "reproductions" / "motorcycle.md"
EXPONENTS = np.arange(-10, 11)
VISIBLE = 1e-2  # of the largest weight: what a bar or a filled point shows
SWEEPS = (50, 100, 200, 300, 500, 700, 1000, 2000, 5000, 20000)
N_SEEDS = 20
WIDTHS = {  # what a width w may mean in a Gaussian kernel
    "exp(−d²/w²)": lambda w: w**2,
    "exp(−d²/2w²)": lambda w: 2 * w**2,
    "exp(−d²/w)": lambda w: w,
}


def data() -> tuple[Array, Array]:
    """Times with mean 0 and variance 1, and accelerations in g."""
    X, y = load_motorcycle(return_X_y=True)
    return (X - X.mean()) / X.std(), y


def regressor(*, width: str = "exp(−d²/w²)", **given: Any) -> BayesianMKLRegressor:
    """The kernels and priors of the paper."""
    kernels = RBF(width=WIDTHS[width](2.0**EXPONENTS).tolist(), scale=None)
    return BayesianMKLRegressor(kernels, **({"sparsity": "both", "normalize": None} | given))


def plain(n_sweeps: int, *, seed: int = 0, standardize: bool = False, **given: Any) -> Any:
    """The updates of the paper, stopped after some sweeps."""
    stop = {"tol": 1e-15, "max_iter": n_sweeps, "random_state": seed}
    return fitted(regressor(updates="plain", standardize=standardize, **stop, **given))


def fitted(model: Any) -> Any:
    """The model fitted to all data; that it was stopped on purpose needs no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data())


def visible_kernels(model: Any) -> list[int]:
    """Exponents of the widths whose bars one would see."""
    e = np.abs(model.weights_)
    return EXPONENTS[e > VISIBLE * e.max()].tolist()


def visible_samples(model: Any) -> NDArray[np.intp]:
    """Samples whose weights one would see."""
    a = np.abs(model.dual_coef_)
    return np.flatnonzero(a > VISIBLE * a.max())


def summary(model: Any) -> dict[str, Any]:
    """One row of a table."""
    X, y = data()
    times = load_motorcycle().X[visible_samples(model), 0]
    return {
        "kernels seen": _widths(visible_kernels(model)),
        "samples seen": f"{len(times)} at {', '.join(f'{t:g}' for t in np.unique(times))} ms",
        "active kernels, samples": f"{model.active_kernels_.sum()}, {len(model.active_samples_)}",
        "bound": f"{model.elbo_:.1f}".replace("-", "−"),
        "RMSE": f"{np.sqrt(np.mean((y - model.predict(X)) ** 2)):.1f}",
    }


def _widths(exponents: Iterable[int]) -> str:
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return ", ".join("2" + str(e).translate(digits) for e in exponents)


def path_table() -> pd.DataFrame:
    """What one run of plain updates shows, depending on when it is stopped."""
    rows = [{"sweeps": f"{n:,}"} | summary(plain(n)) for n in SWEEPS]
    return pd.DataFrame(rows)


def seed_table(n_sweeps: int = 500) -> pd.DataFrame:
    """How often the picture of the paper appears, by the meaning of a width and units of y."""
    rows = []
    for standardize in (False, True):
        for width in WIDTHS:
            models = [
                plain(n_sweeps, seed=seed, standardize=standardize, width=width)
                for seed in range(N_SEEDS)
            ]
            kernels = [tuple(visible_kernels(model)) for model in models]
            common = max(set(kernels), key=kernels.count)
            three = sum(len(visible_samples(model)) == 3 for model in models)
            rows.append(
                {
                    "targets": "standardised" if standardize else "in g",
                    "kernel": width,
                    "most frequent kernels": _widths(common),
                    "in": f"{kernels.count(common)} of {N_SEEDS}",
                    "2⁻², 2⁻¹, 2¹ in": f"{kernels.count((-2, -1, 1))} of {N_SEEDS}",
                    "three samples in": f"{three} of {N_SEEDS}",
                }
            )
    return pd.DataFrame(rows)


def converged_models() -> dict[str, Any]:
    """Fits to a relative change of the bound of 1e-9, by name."""
    stop: dict[str, Any] = {"tol": 1e-9, "max_iter": 6000}
    return {
        "in g, accelerated": fitted(regressor(standardize=False, **stop)),
        "in g, best of 6 starts": fitted(
            regressor(standardize=False, n_restarts=5, random_state=0, **stop)
        ),
        "in g, structured": fitted(regressor(standardize=False, inference="structured", **stop)),
        "standardised, accelerated": fitted(regressor(**stop)),
    }


def forecast_table() -> pd.DataFrame:
    """Ten folds: errors, log densities and coverage of forecasts."""
    kernels = RBF(width=WIDTHS["exp(−d²/w²)"](2.0**EXPONENTS).tolist(), scale=None)
    early = {"updates": "plain", "max_iter": 500, "tol": 1e-15, "random_state": 0}
    converged = {"tol": 1e-8, "max_iter": 5000}
    models = {
        "three kernels: plain, 500 sweeps, y in g": regressor(standardize=False, **early),
        "the same with the plug-in variance of the paper": regressor(
            standardize=False, predictive="plug_in", **early
        ),
        '`sparsity="both"`, converged, y in g': regressor(standardize=False, **converged),
        '`sparsity="both"`, converged': regressor(**converged),
        '`sparsity="kernels"`': regressor(sparsity="kernels", **converged),
        '`sparsity="none"`': regressor(sparsity="none", **converged),
        "`ProbabilisticMKLRegressor`": ProbabilisticMKLRegressor(kernels, normalize=None),
    }
    X, y = data()
    rows = []
    for name, model in models.items():
        scores = [
            _score(model, X, y, *fold) for fold in KFold(10, shuffle=True, random_state=0).split(X)
        ]
        errors, densities, inside = map(np.concatenate, zip(*scores, strict=True))
        rows.append(
            {
                "model": name,
                "RMSE": f"{np.sqrt(np.mean(errors**2)):.1f}",
                "log density": f"{densities.mean():.2f}".replace("-", "−"),
                "in 90 % interval": f"{inside.mean():.0%}",
            }
        )
    return pd.DataFrame(rows)


def _score(model: Any, X: Array, y: Array, train: Any, test: Any) -> tuple[Array, Array, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[train], y[train])
    lower, upper = model.predict_interval(X[test], coverage=0.9).T
    inside = ((lower < y[test]) & (y[test] < upper)).astype(float)
    return y[test] - model.predict(X[test]), model.log_predictive_density(X[test], y[test]), inside


def draw(model: Any, path: Path, title: str) -> None:
    """Figures 3 and 4 of the paper side by side."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 3.6), width_ratios=(1, 1.25), layout="constrained"
    )
    draw_weights(model, left)
    draw_fit(model, right)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.savefig(path, dpi=90, facecolor="white")
    plt.close(figure)


def draw_weights(model: Any, ax: Any) -> None:
    """Kernel weights with their 95 % credible intervals."""
    table = model.kernel_table_
    reach = (table["upper"] - table["weight"]).to_numpy()
    ax.bar(EXPONENTS, table["weight"], color="#0072B2", width=0.7)
    seen = np.isin(EXPONENTS, visible_kernels(model))
    ax.errorbar(
        EXPONENTS[seen], table["weight"][seen], reach[seen], fmt="none", color="0.2", capsize=2
    )
    ticks = EXPONENTS[::2]
    ax.set_xticks(ticks, [f"$2^{{{k}}}$" for k in ticks], fontsize=8)
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.set(xlabel="width of the Gaussian kernel", ylabel="kernel weight")
    ax.spines[["top", "right"]].set_visible(False)


def draw_fit(model: Any, ax: Any) -> None:
    """The fit, all samples, and filled those that carry it."""
    X, y = data()
    PredictiveDisplay.from_estimator(model, X, y, ax=ax)
    used = visible_samples(model)
    ax.plot(X[used, 0], y[used], "o", color="#D55E00", markersize=8, label="with weight", zorder=4)
    ax.set(xlabel="time (standardised)", ylabel="acceleration (g)")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize=8)


def draw_path(path: Path) -> None:
    """Kernel weights, relative to the largest, along the sweeps."""
    counts = np.unique(np.geomspace(20, 3000, 22).astype(int))
    weights = np.array([plain(int(n)).weights_ for n in counts])
    weights = weights / np.abs(weights).max(axis=1, keepdims=True)
    figure, ax = plt.subplots(figsize=(7, 3.3), layout="constrained")
    named = {-3: "#CC79A7", -2: "#0072B2", -1: "#E69F00", 0: "#009E73", 1: "#D55E00"}
    for k, row in zip(EXPONENTS, weights.T, strict=True):
        label = f"$2^{{{k}}}$" if k in named else None
        ax.plot(counts, row, color=named.get(int(k), "0.7"), label=label, linewidth=1.6)
    ax.axvspan(300, 700, color="0.5", alpha=0.12, linewidth=0)
    ax.text(458, 1.02, "the paper's picture", ha="center", va="bottom", fontsize=9)
    ax.set_xscale("log")
    ax.set(xlabel="sweeps", ylabel="weight / largest weight")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), title="width")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=90, facecolor="white")
    plt.close(figure)


def markdown(frame: pd.DataFrame) -> str:
    """A table for a page."""
    lines = [frame.columns, ["---"] * frame.shape[1], *frame.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def main(argv: list[str] | None = None) -> None:
    """Write tables and pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=_PAGE, help="page to write anew")
    page = parser.parse_args(argv).docs
    with threadpool_limits(1):
        draw(plain(500), page.with_name("motorcycle-paper.png"), "Plain updates, 500 sweeps")
        draw_path(page.with_name("motorcycle-path.png"))
        models = converged_models()
        for name, file in (
            ("in g, accelerated", "motorcycle-converged.png"),
            ("standardised, accelerated", "motorcycle-standardised.png"),
        ):
            draw(models[name], page.with_name(file), f"Converged: targets {name}")
        rows = [
            {"fit": f"{name}, {m.n_iter_:,} iterations"} | summary(m) for name, m in models.items()
        ]
        replace_section(page, "converged", markdown(pd.DataFrame(rows)))
        replace_section(page, "path", markdown(path_table()))
        replace_section(page, "forecasts", markdown(forecast_table()))
        replace_section(page, "seeds", markdown(seed_table()))


if __name__ == "__main__":
    main()
