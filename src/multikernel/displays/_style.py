"""One look for all pictures: a colour-blind-safe palette, quiet axes, and text as it was given."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette, neighbours apart, without the yellow that fades on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A5195", "#8C8C8C")
INK = "#33373d"  # all lines and letters; a report turns it into the colour of its own text
GREY = PALETTE[-1]  # of what is not told apart; seen on white and on black
CELL_EDGE = (0.5, 0.5, 0.5, 0.12)  # between the cells of a heat map
MANY_CELLS = 400  # above which the cells of a heat map are one image, also in a drawing of lines


def source_colours(sources: list[str]) -> dict[str, str]:
    """A colour for every source, in order of appearance; the palette repeats after eight."""
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(dict.fromkeys(sources))}


def fade(colour: str = PALETTE[0]) -> Any:
    """A colour map from clear to a colour, for light pages and dark ones; it begins steeply."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("fade", fading(colour))


def fading(colour: str) -> list[tuple[float, str]]:
    """Places between 0 and 1 and the colours there, such that little can be told from nothing."""
    return [(0.0, f"{colour}08"), (0.02, f"{colour}20"), (0.25, f"{colour}74"), (1.0, colour)]


def quiet_axes(ax: Any, *, grid: str) -> None:
    """Keep the two axes that carry numbers and a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(which="both", colors=INK, length=3)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    ax.grid(axis=grid, color=INK, alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)


def bare_axes(ax: Any) -> None:
    """Keep the labels of the ticks, for heat maps."""
    ax.spines[:].set_visible(False)
    ax.tick_params(which="both", colors=INK, length=0)


def title(ax: Any, text: str, **kwargs: Any) -> None:
    """Write a title at the left, as it was given."""
    style = {"loc": "left", "fontsize": 10, "color": INK, "parse_math": False}
    ax.set_title(text, **(style | kwargs))


def legend(ax: Any, **kwargs: Any) -> Any:
    """A legend without a box, whose entries are written as they were given."""
    handles, labels = ax.get_legend_handles_labels()
    box = ax.legend(handles, labels, **({"frameon": False, "labelcolor": INK} | kwargs))
    for text in box.get_texts():
        text.set_parse_math(False)
    return box


def entry(name: str) -> str:
    """A name as an entry of a legend, which leaves out those that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name


def colour_bar(ax: Any, artist: Any, label: str, **kwargs: Any) -> Any:
    """The scale of a heat map below it."""
    style = {"orientation": "horizontal", "aspect": 40, "pad": 0.02} | kwargs
    bar = artist.figure.colorbar(artist, ax=ax, **style)
    bar.set_label(label, color=INK, fontsize=8)
    bar.ax.tick_params(colors=INK, labelsize=8)
    bar.outline.set_visible(False)
    return bar


def new_axes(width: float, height: float) -> Any:
    """A figure of its own with one pair of axes."""
    from matplotlib import pyplot as plt

    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def axes_and_side(ax: Any, width: float, height: float, share: float) -> tuple[Any, Any]:
    """Axes and a panel at their right: in a figure of its own, or beside the axes given."""
    from matplotlib import pyplot as plt

    if ax is not None:
        return ax, ax.inset_axes([1.03, 0, share, 1])
    _, axes = plt.subplots(
        1, 2, figsize=(width, height), layout="constrained", width_ratios=[1, share]
    )
    return axes[0], axes[1]


def short(name: Any, limit: int = 24) -> str:
    """A name on one line of at most ``limit`` characters."""
    line = " ".join(str(name).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def shorten_inside(name: Any, limit: int) -> str:
    """A name on one line, whose middle is left out where it has more than ``limit`` characters.

    Names of kernels begin with their source and end with their parameter.
    """
    line = " ".join(str(name).split())
    head = (limit - 1) // 2
    return line if len(line) <= limit else f"{line[:head]}…{line[len(line) + head + 1 - limit :]}"


def percent(share: Any) -> str:
    """A share as text that fits into a cell."""
    return "0" if share == 0 else "<1%" if 0 < share < 0.005 else f"{share:.0%}"
