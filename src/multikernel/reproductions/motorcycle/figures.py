"""The pictures of the motorcycle experiment, Figures 3 and 4 of the paper among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...displays import PredictiveDisplay
from ...displays._style import INK, PALETTE, quiet_axes
from .models import EXPONENTS, VISIBLE, data

_NAMED = {-3: PALETTE[3], -2: PALETTE[0], -1: PALETTE[1], 0: PALETTE[2], 1: PALETTE[5]}


def draw_fit(shown: dict[str, Any]) -> Any:
    """Weights with their 95 % intervals, and the curve with the samples that carry it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    _draw_weights(shown, left)
    _draw_curve(shown, right)
    return figure


def _draw_weights(shown: dict[str, Any], ax: Any) -> None:
    weight, upper = np.array(shown["weight"]), np.array(shown["upper"])
    seen = np.abs(weight) > VISIBLE * np.abs(weight).max()
    ax.bar(EXPONENTS, weight, color=PALETTE[0], width=0.7)
    reach = (upper - weight)[seen]
    ax.errorbar(EXPONENTS[seen], weight[seen], reach, fmt="none", color=INK, capsize=2)
    ticks = EXPONENTS[::2]
    ax.set_xticks(ticks, [f"$2^{{{k}}}$" for k in ticks], fontsize=8)
    ax.set(xlabel="width of the Gaussian kernel", ylabel="kernel weight")
    quiet_axes(ax, grid="y")


def _draw_curve(shown: dict[str, Any], ax: Any) -> None:
    X, y = data()
    PredictiveDisplay(
        shown["grid"],
        shown["mean"],
        shown["std"],
        x_data=X[:, 0],
        y_data=y,
        x_label="time (standardised)",
        y_label="acceleration (g)",
    ).plot(ax)
    used = shown["samples"]
    ax.plot(X[used, 0], y[used], "o", color=PALETTE[5], markersize=8, label="with weight", zorder=4)
    ax.legend(
        frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize=8, labelcolor=INK
    )


def draw_path(counts: list[int], weights: list[list[float]]) -> Any:
    """Kernel weights, relative to the largest, along the sweeps."""
    from matplotlib.figure import Figure

    relative = np.array(weights)
    relative = relative / np.abs(relative).max(axis=1, keepdims=True)
    figure = Figure(figsize=(7, 3.0), layout="constrained")
    ax = figure.add_subplot()
    for k, row in zip(EXPONENTS.tolist(), relative.T, strict=True):
        label = f"$2^{{{k}}}$" if k in _NAMED else None
        ax.plot(counts, row, color=_NAMED.get(k, PALETTE[-1]), label=label, linewidth=1.6)
    ax.axvspan(300, 700, color=PALETTE[-1], alpha=0.15, linewidth=0)
    ax.text(458, 1.03, "the paper's picture", ha="center", va="bottom", fontsize=9, color=INK)
    ax.set_xscale("log")
    ax.set(xlabel="sweeps", ylabel="weight / largest weight")
    quiet_axes(ax, grid="y")
    ax.legend(
        frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), title="width", labelcolor=INK
    )
    return figure
