"""Example 4: kernels in an order, from simple to complicated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from ...estimators import MKLRegressorCV
from ...kernels import RBF, KernelFamily, KernelSet, Polynomial
from ...report import Section
from .._text import spread
from .data import Table
from .text import explained

DEGREES = (1, 2, 3, 4, 5, 6)
WIDTHS = (16.0, 8.0, 4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
COSTS = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
METHODS = {"wedge": "wedge", "block 1-norm": "lp", "equal weights": "uniform"}
ORDERS = ("degrees", "widths")
_IN_ORDER = 1e-6
_NOTABLE = 0.1  # percentage points


def family_of(order: str) -> KernelFamily:
    """Products of exactly one to six features, or Gaussian kernels from wide to narrow."""
    if order == "degrees":
        return Polynomial(degree=list(DEGREES), coef0=0.0)
    return RBF(width=list(WIDTHS))


def run_wedge(table: Table, order: str, n_train: int, seed: int, n_folds: int) -> dict[str, Any]:
    """Fit some samples under every regularizer, with C by cross-validation, and judge the rest."""
    rows = np.random.default_rng(seed).permutation(len(table.y))
    train, test = rows[:n_train], rows[n_train:]
    scaler = StandardScaler().fit(table.X[train])
    X, Z = scaler.transform(table.X[train]), scaler.transform(table.X[test])
    mean, scale = table.y[train].mean(), table.y[train].std()
    folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(X))
    out = {}
    for name, regularizer in METHODS.items():
        model = MKLRegressorCV(
            KernelSet(families=family_of(order)), regularizer=regularizer, Cs=COSTS, cv=folds
        ).fit(X, (table.y[train] - mean) / scale)
        d = np.ravel(model.weights_)
        out[name] = {
            "explained": explained(table.y[test], mean + scale * model.predict(Z)),
            "C": float(model.C_),
            "shares": (d / max(d.sum(), 1e-300)).tolist(),
            "gap": float(model.gap_),
        }
    return out


def in_order(shares: Sequence[float]) -> bool:
    """Whether weights never increase."""
    return bool(np.all(np.diff(shares) <= _IN_ORDER))


Key = tuple[str, str, int]  # table, order, number of training samples
Results = Mapping[Key, Sequence[dict[str, Any]]]


def summarize_wedge(results: Results) -> tuple[list[str], list[Section]]:
    """Explained variance, and weights along the order."""
    findings, sections = [], []
    for order in ORDERS:
        part = {key: r for key, r in results.items() if key[1] == order}
        findings.append(_finding(order, part))
        sections.append(_section(order, part))
    return findings, sections


def _section(order: str, results: Results) -> Section:
    table: dict[str, list[Any]] = {
        "data": [f"{key[0]}, {key[2]} samples" for key in results],
        **{
            f"{name}, %": [
                spread([100 * s[name]["explained"] for s in r]) for r in results.values()
            ]
            for name in METHODS
        },
        "kernels in use, wedge": [_used(r, "wedge") for r in results.values()],
        "kernels in use, block 1-norm": [_used(r, "block 1-norm") for r in results.values()],
        "block 1-norm in order": [
            f"{sum(in_order(s['block 1-norm']['shares']) for s in r)} of {len(r)}"
            for r in results.values()
        ],
    }
    what = (
        "Homogeneous polynomial kernels of degree one to six: products of more features come later."
        if order == "degrees"
        else "Gaussian kernels from sixteen times to an eighth of the median squared distance: "
        "functions that vary faster come later."
    )
    text = (
        f"{what} Squared loss, C by five-fold cross-validation on training samples, "
        f"{len(next(iter(results.values())))} random splits; explained variance on the other "
        "samples. The wedge lets no weight exceed the one before it.",
    )
    return Section(
        f"Ordered kernels: {order}",
        text,
        table,
        "Explained variance, kernels of positive weight, and splits in which the block 1-norm "
        "keeps the order by itself.",
        _figure(order, results),
        "Mean share of the weight of each kernel along the order, by regularizer",
    )


def _used(results: Sequence[dict[str, Any]], name: str) -> str:
    return spread([float(np.count_nonzero(s[name]["shares"])) for s in results])


def _figure(order: str, results: Results) -> Any:
    from matplotlib.figure import Figure

    from ...displays._style import GREY, PALETTE, legend, quiet_axes, title

    labels = [str(q) for q in DEGREES] if order == "degrees" else [f"{w:g}" for w in WIDTHS]
    figure = Figure(figsize=(1.2 + 2.1 * len(results), 2.5), layout="constrained")
    axes = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for ax, ((name, _, n_train), r) in zip(axes, results.items(), strict=True):
        for method, colour, style in zip(METHODS, (*PALETTE[:2], GREY), "oo ", strict=True):
            shares = np.mean([s[method]["shares"] for s in r], axis=0)
            line = "-" if style == "o" else "--"
            ax.plot(labels, shares, line, marker=style, ms=3, color=colour, label=method)
        title(ax, f"{name}, {n_train}", fontsize=8)
        ax.set_xlabel("degree" if order == "degrees" else "width")
        ax.tick_params(labelsize=7)
        quiet_axes(ax, grid="y")
    axes[0].set_ylabel("share of the weight")
    legend(axes[-1], fontsize=7)
    return figure


def _finding(order: str, results: Results) -> str:
    runs = [s for r in results.values() for s in r]
    kept = sum(in_order(s["block 1-norm"]["shares"]) for s in runs)
    gains = [100 * (s["wedge"]["explained"] - s["block 1-norm"]["explained"]) for s in runs]
    better, worse = (sum(sign * gain > _NOTABLE for gain in gains) for sign in (1, -1))
    return (
        f"Ordered {order}: the block 1-norm keeps the order by itself in {kept} of {len(runs)} "
        f"fits; the wedge explains more by {_NOTABLE} points in {better}, less in {worse}, with a "
        f"median difference of {np.median(gains):+.2f} points."
    )
