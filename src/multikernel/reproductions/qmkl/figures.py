"""The figures of the Q-MKL experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...displays import QNormDisplay
from ...displays._style import INK, PALETTE, quiet_axes

_TITLES = {"one": "one study", "several": "several studies", "tcga": "tumours", "mfeat": "digits"}
_DRAWN = {"tcga": "drawn, three sources", "mfeat": "drawn, six sources"}


def draw_differences(gains: Mapping[str, Any], paper: Mapping[str, float], drawn: bool) -> Any:
    """Points over the 2-norm with 95 % intervals, one panel per study."""
    from matplotlib.figure import Figure

    titles = _TITLES | _DRAWN if drawn else _TITLES
    methods = list(next(iter(gains.values())).index)
    figure = Figure(figsize=(9, 0.28 * len(methods) + 1.0), layout="constrained")
    panels = figure.subplots(1, len(gains), sharey=True, squeeze=False)[0]
    rows = np.arange(len(methods))
    for ax, (name, table) in zip(panels, gains.items(), strict=True):
        mean, low, high = (100 * table[key].to_numpy(float) for key in ("mean", "low", "high"))
        ax.axvline(0, color=INK, alpha=0.5, linewidth=0.9)
        ax.errorbar(
            mean, rows, xerr=[mean - low, high - mean], fmt="o", color=PALETTE[0], markersize=5,
            capsize=2, label="here, 95 %",
        )  # fmt: skip
        if name in ("one", "several"):
            shown = [k for k, method in enumerate(methods) if method in paper]
            values = [paper[methods[k]] for k in shown]
            ax.plot(values, shown, "D", color=PALETTE[5], markersize=5, label="paper, ADNI")
        ax.set_title(titles[name], fontsize=10, color=INK)
        quiet_axes(ax, grid="x")
    panels[0].set_yticks(rows, methods, fontsize=9)
    panels[0].invert_yaxis()
    figure.supxlabel("points of accuracy over the 2-norm", fontsize=10, color=INK)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper right", ncols=2, frameon=False, fontsize=9,
        labelcolor=INK,
    )  # fmt: skip
    return figure


def draw_matrix(found: Mapping[str, Any]) -> Any:
    """A matrix, its least penalised directions and the weights learned under it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.4, 2.3), layout="constrained")
    display = QNormDisplay(found["Q"], found["weights"], sources=found["sources"])
    display.plot(axes=figure.subplots(1, 5))
    return figure
