"""Figures 1 to 3 of the paper, drawn from our run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...displays._style import INK, PALETTE, bare_axes, fade, legend, quiet_axes, title
from .arrangement import CHI2, FAMILIES, GAUSSIAN
from .models import BLOCK_1, ELASTIC, ELASTIC_CV, EVIDENCE, L2, METHODS, UNIFORM, UNIFORM_SQUARED
from .numbers import Numbers
from .paper import SELECTED_BY_WIDTH

_LOOK = {
    UNIFORM: (PALETTE[0], "o", "-"),
    UNIFORM_SQUARED: (PALETTE[4], "s", "--"),
    ELASTIC: (PALETTE[2], "^", "-"),
    ELASTIC_CV: (PALETTE[7], "v", "--"),
    L2: (PALETTE[1], "D", "-"),
    BLOCK_1: (PALETTE[5], "x", ":"),
    EVIDENCE: (PALETTE[3], "*", ":"),
}
_WEIGHED = (ELASTIC, L2, BLOCK_1, EVIDENCE)


def _new_figure(width: float, height: float) -> Any:
    """A figure with room below for a line about the data."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", rect=(0, 0.25 / height, 1, 1 - 0.25 / height))
    return figure


def accuracy_figure(numbers: Numbers) -> Any:
    """Accuracy against training images per class, a panel for each problem."""
    n = len(numbers.problems)
    figure = _new_figure(3.6 * n, 4.0)
    panels = figure.subplots(1, n, sharey=True)
    shifts = np.linspace(-0.9, 0.9, len(METHODS))
    for k, (ax, problem) in enumerate(zip(panels, numbers.problems, strict=True)):
        for shift, (method, (colour, marker, line)) in zip(shifts, _LOOK.items(), strict=True):
            values = 100 * numbers.accuracy[method][k]
            error = values.std(axis=1, ddof=1) / np.sqrt(numbers.n_splits)
            style = {"color": colour, "marker": marker, "linestyle": line, "markersize": 4}
            x = np.add(numbers.sizes, shift)
            ax.errorbar(x, values.mean(axis=1), error, label=method, linewidth=1.2, **style)
        quiet_axes(ax, grid="y")
        title(ax, problem)
        ax.set_xticks(numbers.sizes)
        ax.set_xlabel("training images per class")
    panels[0].set_ylabel("accuracy on the other images, %")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=4, frameon=False, labelcolor=INK)
    return figure


def weights_figure(numbers: Numbers) -> Any:
    """Mean weights of the largest training sets, by descriptor and region, family and width."""
    arrangement = numbers.arrangement
    n_descriptors, n_regions, n_families, n_widths = arrangement.shape
    n_rows, n_columns = len(numbers.problems), len(_WEIGHED)
    figure = _new_figure(10.5, 3.6 * n_rows)
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    for k, problem in enumerate(numbers.problems):
        for ax, method in zip(panels[k], _WEIGHED, strict=True):
            shares = numbers.mean_weights(method, k)
            rows = shares.reshape(n_descriptors * n_regions, n_families * n_widths)
            relative = np.sqrt(rows / max(rows.max(), np.finfo(float).tiny))
            ax.imshow(relative, cmap=fade(PALETTE[0]), aspect="auto", interpolation="nearest")
            for edge in range(1, n_descriptors):
                ax.axhline(edge * n_regions - 0.5, color=INK, linewidth=0.6)
            ax.axvline(n_widths - 0.5, color=INK, linewidth=0.6)
            bare_axes(ax)
            title(ax, f"{problem}\n{method}", fontsize=9)
        middles = n_regions * (np.arange(n_descriptors) + 0.5) - 0.5
        names = [name.replace(", ", ",\n") for name in arrangement.descriptors]
        panels[k, 0].set_yticks(middles, names, fontsize=8)
    _label_widths(panels[-1], numbers)
    return figure


def _label_widths(panels: Any, numbers: Numbers) -> None:
    """Families and some of their widths below the columns."""
    n_widths = numbers.arrangement.n_widths
    shown = [0, n_widths // 2]
    for ax in panels:
        ticks = [f * n_widths + w for f in range(len(FAMILIES)) for w in shown]
        labels = [f"{numbers.arrangement.widths(f)[w]:.2g}" for f in FAMILIES for w in shown]
        ax.set_xticks(ticks, labels, fontsize=8)
        ax.set_xlabel(f"γ:  {GAUSSIAN}  |  {CHI2}", fontsize=8, color=INK)


def selection_figure(numbers: Numbers, problem: int) -> Any:
    """How many kernels of every width the elastic net selects, beside the paper's words."""
    figure = _new_figure(7.6, 3.2)
    panels = figure.subplots(1, len(FAMILIES), sharey=True)
    whole = numbers.arrangement.n_widths == len(SELECTED_BY_WIDTH[CHI2])
    for ax, family in zip(panels, FAMILIES, strict=True):
        counts = numbers.by_width(ELASTIC, problem, family)
        places = np.arange(counts.shape[1])
        spread = np.abs(np.quantile(counts, [0.1, 0.9], axis=0) - counts.mean(axis=0))
        bars = {"color": PALETTE[0], "alpha": 0.85, "width": 0.7, "ecolor": INK}
        ax.bar(places, counts.mean(axis=0), yerr=spread, label="here (mean; 10–90 %)", **bars)
        if whole:
            style = {"color": PALETTE[5], "marker": "_", "markersize": 16, "linestyle": "none"}
            ax.plot(places, SELECTED_BY_WIDTH[family], label="paper", markeredgewidth=2, **style)
        widths = [f"{width:.2g}" for width in numbers.arrangement.widths(family)]
        ax.set_xticks(places, widths, fontsize=8)
        quiet_axes(ax, grid="y")
        title(ax, f"{family} kernels")
        ax.set_xlabel("γ")
    panels[0].set_ylabel("kernels with weight")
    legend(panels[0], fontsize=8)
    return figure
