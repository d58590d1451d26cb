"""One look for all pictures: a colour-blind-safe palette and quiet axes."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette, neighbours apart, without the yellow that fades on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A5195", "#8C8C8C")
INK = "#33373d"  # all lines and letters; a report turns it into the colour of its own text


def source_colours(sources: list[str]) -> dict[str, str]:
    """A colour for every source, in order of appearance; the palette repeats after eight."""
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(dict.fromkeys(sources))}


def quiet_axes(ax: Any, *, grid: str) -> None:
    """Keep the two axes that carry numbers and a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(colors=INK, length=3)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    ax.grid(axis=grid, color=INK, alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)


def new_axes(width: float, height: float) -> Any:
    """A figure of its own with one pair of axes."""
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax
