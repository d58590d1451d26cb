"""WeightsDisplay: which kernels, and so which sources, the model trusts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._panels import find_panels
from ._style import (
    CELL_EDGE,
    INK,
    MANY_CELLS,
    PALETTE,
    bare_axes,
    colour_bar,
    fade,
    fading,
    new_axes,
    percent,
    quiet_axes,
    short,
    source_colours,
)

MAX_BARS = 48  # more kernels than this are summed up in a heat map
MAX_ROWS = 30  # sources shown one by one in the heat map
ROOM = 90  # letters that fit below the columns
MAX_COLUMNS = 24  # distinct settings beyond which parameters are shown by rank

Columns = Mapping[str, Sequence[Any]]


class WeightsDisplay:
    """The weights of all kernels, grouped by source.

    Up to 48 kernels are drawn as bars, one colour per source. More are summed up in a heat map of
    source against family and parameter, beside the share of every source. Where the names of more
    than 30 sources are made of two parts, as in "sift 2x2" (descriptor and region), the map has a
    panel for every first part and a row for every second. Otherwise the lightest beyond 30 share
    one row. Weights may be negative: shares are those of absolute weights.

    Parameters
    ----------
    weights : array-like of shape (n_kernels,)
        The weights.
    sources, families : sequence of str of length n_kernels
        Where each kernel comes from.
    parameters : sequence of length n_kernels, default=None
        The setting of each kernel within its family; None or NaN where there is none.
    quantity : str, default="weight"
        What the numbers are, for the axis.
    panels : sequence of str of length n_kernels, default=None
        The panel of each kernel, for a heat map in panels: a part of the source, such as the
        descriptor of an image. By default found in the names of the sources.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    artists_ : matplotlib container or mesh
        The bars, or the mesh of the heat map.

    See Also
    --------
    ConvergenceDisplay : How the certificate closed.

    Examples
    --------
    >>> from multikernel.displays import WeightsDisplay
    >>> display = WeightsDisplay(
    ...     [0.6, 0.0, 0.2], sources=["rna", "rna", "mri"], families=["linear", "rbf", "rbf"],
    ...     parameters=[None, 0.1, 0.1],
    ... )
    >>> {source: round(share, 2) for source, share in display.shares().items()}
    {'rna': 0.75, 'mri': 0.25}
    """

    ax_: Any
    figure_: Any
    artists_: Any

    def __init__(
        self,
        weights: Sequence[float],
        *,
        sources: Sequence[str],
        families: Sequence[str],
        parameters: Sequence[Any] | None = None,
        quantity: str = "weight",
        panels: Sequence[str] | None = None,
    ) -> None:
        self.weights = weights
        self.sources = sources
        self.families = families
        self.parameters = parameters
        self.quantity = quantity
        self.panels = panels

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, quantity: str = "weight", ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Anything with ``kernel_table_``.
        quantity : {"weight", "norm", "contribution"}, default="weight"
            The column of ``kernel_table_`` to draw.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.barh`` or ``Axes.pcolormesh``.
        """
        check_is_fitted(estimator)
        return cls.from_table(estimator.kernel_table_, quantity=quantity).plot(ax=ax, **kwargs)

    @classmethod
    def from_table(cls, table: Columns, *, quantity: str = "weight") -> Self:
        """Take the numbers from a kernel table (DataFrame or dict of columns), without drawing.

        Parameters
        ----------
        table : DataFrame or mapping of columns
            With ``source``, ``family``, ``parameter`` and the quantity. Columns before ``source``
            tell several sets of weights apart, as ``class`` does; the mean of the sets is shown.
        quantity : str, default="weight"
            The column to show.
        """
        names = list(table)
        labels = [list(table[name]) for name in names[: names.index("source")]]
        n_sets = len(set(zip(*labels, strict=True))) or 1
        weights = np.asarray(table[quantity], dtype=float).reshape(n_sets, -1).mean(axis=0)
        n_kernels = len(weights)
        return cls(
            weights.tolist(),
            sources=[str(name) for name in table["source"]][:n_kernels],
            families=[str(name) for name in table["family"]][:n_kernels],
            parameters=list(table["parameter"])[:n_kernels],
            quantity=quantity,
        )

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with one row per kernel."""
        import pandas as pd

        return pd.DataFrame(
            {
                "source": list(self.sources),
                "family": list(self.families),
                "parameter": self._parameters(),
                self.quantity: self._weights(),
            }
        )

    def shares(self) -> dict[str, float]:
        """The share of every source in the sum of absolute weights, in order of appearance."""
        w, sources = np.abs(self._weights()), np.asarray(self.sources, dtype=object)
        total = w.sum() or 1.0
        return {str(s): float(w[sources == s].sum() / total) for s in dict.fromkeys(self.sources)}

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw bars for few kernels, a heat map for many.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure of fitting size by default.
        **kwargs : dict
            Passed to ``Axes.barh`` or ``Axes.pcolormesh``.
        """
        draw = self._plot_bars if len(self.weights) <= MAX_BARS else self._plot_heat_map
        self.ax_ = draw(ax, **kwargs)
        self.figure_ = self.ax_.figure
        return self

    def _weights(self) -> NDArray[np.float64]:
        return np.asarray(self.weights, dtype=float)

    def _parameters(self) -> list[Any]:
        return list(self.parameters if self.parameters is not None else [None] * len(self.weights))

    def _plot_bars(self, ax: Any, **kwargs: Any) -> Any:
        w, shares, colours = self._weights(), self.shares(), source_colours(list(self.sources))
        order = np.argsort([list(shares).index(s) for s in self.sources], kind="stable")
        rank = {source: i for i, source in enumerate(shares)}
        y = np.arange(len(w)) + 0.7 * np.array([rank[self.sources[m]] for m in order])
        ax = new_axes(7.0, 0.9 + 0.2 * (y[-1] + 1)) if ax is None else ax
        style = {"height": 0.78, "color": [colours[self.sources[m]] for m in order]} | kwargs
        self.artists_ = ax.barh(y, w[order], **style)
        labels = [_kernel_label(self.families[m], self._parameters()[m]) for m in order]
        ax.set_yticks(y, labels, parse_math=False, fontsize=8)
        ax.set_ylim(y[-1] + 0.8, -0.8)
        ax.set_xlim(1.04 * min(w.min(), 0.0), max(1.04 * w.max(), np.finfo(float).tiny))
        if w.min() < 0:
            ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_xlabel(self.quantity)
        quiet_axes(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        for source, share in shares.items():
            middle = y[[self.sources[m] == source for m in order]].mean()
            _label_source(ax, source, share, colours[source], middle)
        return ax

    def _plot_heat_map(self, ax: Any, **kwargs: Any) -> Any:
        grid = self._grid()
        values = np.array(
            [[grid.total.get((r, c), np.nan) for c in grid.columns] for r in grid.rows]
        )
        at, ticks = _ticks(grid.columns)
        wide = len(grid.columns) > MAX_COLUMNS
        turn = 90 if len(ticks) * max(map(len, ticks)) > ROOM else 0
        if ax is None:
            ax = new_axes(10.5 if wide else 7.5, (2.3 if turn else 1.8) + 0.24 * len(grid.rows))
        style = _colours(values) | {"edgecolors": "none" if wide else CELL_EDGE, "linewidth": 0.4}
        style["rasterized"] = values.size > MANY_CELLS
        self.artists_ = ax.pcolormesh(values, **(style | kwargs))
        rows = [short(row) for row in grid.rows]
        ax.set_yticks(np.arange(len(rows)) + 0.5, rows, parse_math=False, fontsize=8)
        ax.set_ylim(len(rows), 0)
        ax.set_xticks(at, ticks, parse_math=False, fontsize=8, rotation=turn)
        ax.hlines(np.arange(len(rows)), 0, len(grid.columns), color=INK, alpha=0.1, linewidth=0.5)
        bare_axes(ax)
        _label_families(ax, grid.columns)
        if grid.columns[0].panel:
            _label_panels(ax, grid.columns, self._shares_of(grid.panels))
        _draw_totals(ax, np.array(list(self._shares_of(grid.places).values()))[grid.order])
        label = f"{self.quantity} (sum over the kernels of a cell)"
        if grid.total and len(grid.total) == len(self.weights):
            label = f"{self.quantity} (a cell is a kernel)"
        colour_bar(ax, self.artists_, label)
        return ax

    def _shares_of(self, labels: Sequence[str]) -> dict[str, float]:
        """The share of every label of the kernels in the sum of absolute weights."""
        w = np.abs(self._weights())
        total, out = w.sum() or 1.0, dict.fromkeys(labels, 0.0)
        for label, size in zip(labels, w, strict=True):
            out[label] += float(size / total)
        return out

    def _grid(self) -> _Grid:
        """The cells: panels, families and parameters against sources or what is left of them."""
        settings = list(zip(self.families, map(_key, self._parameters()), strict=True))
        if len(set(settings)) > MAX_COLUMNS:
            settings = _rank_within_source(self.sources, settings)
        panels, places = self._places()
        kernels = [_Column(p, f, key) for p, (f, key) in zip(panels, settings, strict=True)]
        first = {panel: i for i, panel in enumerate(dict.fromkeys(panels))}
        families = list(dict.fromkeys(self.families))
        columns = sorted(
            set(kernels),
            key=lambda c: (first[c.panel], families.index(c.family), _sort_key(c.parameter)),
        )
        total: dict[tuple[str, _Column], float] = {}
        for place, kernel, w in zip(places, kernels, self._weights(), strict=True):
            total[place, kernel] = total.get((place, kernel), 0.0) + float(w)
        rows = list(dict.fromkeys(places))
        order = list(range(len(rows))) if panels[0] else self._heaviest_first(rows, places)
        return _Grid([rows[i] for i in order], columns, total, panels, places, order)

    def _places(self) -> tuple[list[str], list[str]]:
        """The panel, perhaps empty, and the row of every kernel."""
        sources = [str(source) for source in self.sources]
        found = find_panels(sources, self.panels, MAX_ROWS)
        if found is not None:
            return found
        shares = self._shares_of(sources)
        heavy = sorted(shares, key=lambda s: -shares[s])
        if len(heavy) <= MAX_ROWS:
            return [""] * len(sources), sources
        shown = set(heavy[: MAX_ROWS - 1])
        others = f"{len(heavy) - len(shown)} other sources"
        return [""] * len(sources), [s if s in shown else others for s in sources]

    def _heaviest_first(self, rows: list[str], places: list[str]) -> list[int]:
        """The order of rows by weight, with the row that stands for many sources at the end."""
        shares, sources = self._shares_of(places), set(map(str, self.sources))
        return sorted(range(len(rows)), key=lambda i: (rows[i] not in sources, -shares[rows[i]]))


class _Column(NamedTuple):
    """A column of the heat map."""

    panel: str
    family: str
    parameter: Any


class _Grid(NamedTuple):
    """The heat map: rows, columns and sums of weights, and where every kernel went."""

    rows: list[str]
    columns: list[_Column]
    total: dict[tuple[str, _Column], float]
    panels: list[str]
    places: list[str]
    order: list[int]


def _colours(values: NDArray[np.float64]) -> dict[str, Any]:
    """Clear to blue; with negative weights from orange over clear to blue, zero in the middle."""
    from matplotlib.colors import LinearSegmentedColormap

    largest = float(np.nanmax(np.abs(values))) or 1.0
    if np.nanmin(values) >= 0:
        return {"cmap": fade(), "vmin": 0.0, "vmax": largest}
    low, high = PALETTE[5], PALETTE[0]
    signed = [((1 - at) / 2, colour) for at, colour in reversed(fading(low))]
    signed += [((1 + at) / 2, colour) for at, colour in fading(high)]
    cmap = LinearSegmentedColormap.from_list("signed", signed)
    return {"cmap": cmap, "vmin": -largest, "vmax": largest}


def _ticks(columns: Sequence[_Column]) -> tuple[list[float], list[str]]:
    """Where parameters are written, and how: one by one, or from where to where in a block."""
    texts = [short(_parameter_label(column.parameter), limit=10) for column in columns]
    if len(columns) <= MAX_COLUMNS:
        return [i + 0.5 for i in range(len(columns))], texts
    at, labels = [], []
    for first, count in _runs([(c.panel, c.family) for c in columns]):
        at.append(first + count / 2)
        ends = dict.fromkeys([texts[first], texts[first + count - 1]])
        labels.append(" … ".join(ends))
    return at, labels


def _is_missing(parameter: Any) -> bool:
    return parameter is None or parameter == "" or parameter != parameter  # NaN differs from itself


def _key(parameter: Any) -> Any:
    """What tells parameters apart: the number in ``0.5`` or ``"width=0.5"``, else the text."""
    if _is_missing(parameter):
        return None
    text = str(parameter)
    try:
        return float(text.partition("=")[2] or text)
    except ValueError:
        return text


def _sort_key(key: Any) -> tuple[bool, float, str]:
    return (isinstance(key, str), key if isinstance(key, float) else 0.0, str(key))


def _parameter_label(parameter: Any) -> str:
    if _is_missing(parameter):
        return ""
    is_number = isinstance(parameter, (int, float, np.number))
    return f"{parameter:.3g}" if is_number else str(parameter)


def _kernel_label(family: str, parameter: Any) -> str:
    return f"{short(family)}  {short(_parameter_label(parameter))}".rstrip()


def _rank_within_source(
    sources: Sequence[str], settings: Sequence[tuple[str, Any]]
) -> list[tuple[str, Any]]:
    """Replace parameters by #1, #2, … within their source and family, smallest first."""
    values: dict[tuple[str, str], set[Any]] = {}
    for source, (family, key) in zip(sources, settings, strict=True):
        values.setdefault((source, family), set()).add(key)
    ranks = {
        group: {key: f"#{i:02d}" for i, key in enumerate(sorted(keys, key=_sort_key), start=1)}
        for group, keys in values.items()
    }
    return [(f, ranks[s, f][key]) for s, (f, key) in zip(sources, settings, strict=True)]


def _label_source(ax: Any, source: str, share: float, colour: str, y: float) -> None:
    """Write a source and its share beside its bars, behind a swatch of its colour."""
    place = {"transform": ax.get_yaxis_transform(), "va": "center", "parse_math": False}
    ax.text(1.02, y, "■", color=colour, fontsize=11, **place)
    ax.text(1.06, y, f"{short(source)}  {share:.0%}", color=INK, fontweight="bold", **place)


def _runs(labels: Sequence[Any]) -> list[tuple[int, int]]:
    """Where runs of equal labels begin, and how long they are."""
    edges = [i for i in range(len(labels)) if i == 0 or labels[i] != labels[i - 1]]
    return [(a, b - a) for a, b in zip(edges, [*edges[1:], len(labels)], strict=True)]


def _label_families(ax: Any, columns: Sequence[_Column]) -> None:
    """Write the families above their columns and part them by a line."""
    place = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom", "color": INK}
    for first, count in _runs([(c.panel, c.family) for c in columns]):
        limit = int(np.clip(ROOM * count / len(columns), 2, 24))  # what fits above its columns
        family = short(columns[first].family, limit)
        ax.text(first + count / 2, 1.005, family, fontsize=8, parse_math=False, **place)
        if first:
            ax.axvline(first, color=INK, alpha=0.35, linewidth=0.7)


def _label_panels(ax: Any, columns: Sequence[_Column], shares: Mapping[str, float]) -> None:
    """Write the panels and their shares above the families and part them by a heavier line."""
    place = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points", "ha": "center"}
    for first, count in _runs([c.panel for c in columns]):
        panel = columns[first].panel
        text = f"{short(panel, 14)} {percent(shares[panel])}"
        at = {"xy": (first + count / 2, 1.0), "xytext": (0, 15), "fontweight": "bold"}
        ax.annotate(text, **at, **place, color=INK, fontsize=9, parse_math=False)
        if first:
            ax.axvline(first, color=INK, linewidth=1.6)


def _draw_totals(ax: Any, shares: NDArray[np.float64]) -> None:
    """Draw the share of every row beside the heat map."""
    side = ax.inset_axes([1.02, 0, 0.2, 1], sharey=ax)
    rows = np.arange(len(shares)) + 0.5
    side.barh(rows, shares, height=0.72, color=PALETTE[0])
    for row, share in zip(rows, shares, strict=True):
        side.text(
            share + 0.02 * shares.max(), row, percent(share), va="center", fontsize=7, color=INK
        )
    side.set_xlim(0, 1.25 * (shares.max() or 1.0))
    side.axis("off")
    side.set_title("share", fontsize=9, color=INK)
