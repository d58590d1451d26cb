"""FoldWeightsDisplay: whether every fold trusts the same sources or kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._component import Array
from ._style import (
    CELL_EDGE,
    INK,
    MANY_CELLS,
    PALETTE,
    axes_and_side,
    bare_axes,
    colour_bar,
    fade,
    percent,
    short,
    title,
)

MAX_ROWS = 30  # more are summed up by group, and the lightest in one row
MAX_NUMBERED = 12  # folds up to which shares are written into their cells
SELECTED = 1e-6  # of the largest weight of a fold


class FoldWeightsDisplay:
    """The share of every source, or kernel, in the weight that each fold has learned.

    Weights that change from fold to fold say little about a source, however large they are. Beside
    the heat map are the mean over folds with its standard deviation, and the number of folds in
    which the row has any weight. More than 30 rows are summed up by group where groups are
    given; of what is still more than 30 the lightest share the last row.

    Parameters
    ----------
    weights : DataFrame or what makes one, of shape (n_rows, n_folds)
        Weights of sources or kernels (its index) in every fold (its columns). Shares are those of
        absolute weights within a fold; NaN counts as zero.
    groups : sequence of str of length n_rows, default=None
        What each row may be summed up with, such as source and family of a kernel.
    quantity : str, default="share of the weight"
        What the numbers are.
    name : str, default=None
        The model, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    mesh_ : matplotlib QuadMesh
        The heat map.
    bars_ : matplotlib BarContainer
        The means beside it.

    See Also
    --------
    WeightsDisplay : The weights of one model, by family and parameter too.
    ComparisonDisplay : The scores on the same folds.

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel.displays import FoldWeightsDisplay
    >>> weights = pd.DataFrame({"fold 0": [3.0, 1.0], "fold 1": [2.0, 0.0]}, index=["rna", "mri"])
    >>> FoldWeightsDisplay(weights).frame()
         fold 0  fold 1   mean        sd  selected
    rna    0.75     1.0  0.875  0.176777       1.0
    mri    0.25     0.0  0.125  0.176777       0.5
    """

    ax_: Any
    figure_: Any
    mesh_: Any
    bars_: Any

    def __init__(
        self,
        weights: Any,
        *,
        groups: Sequence[str] | None = None,
        quantity: str = "share of the weight",
        name: str | None = None,
    ) -> None:
        self.weights = weights
        self.groups = groups
        self.quantity = quantity
        self.name = name

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        model: str | None = None,
        *,
        by: str = "source",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the weights that a model has learned in the folds of a comparison.

        Parameters
        ----------
        comparison : Comparison
            As :func:`multikernel.compare` returns it.
        model : str, default=None
            Which model; the headline by default.
        by : {"source", "kernel"}, default="source"
            What a row is. Many kernels are summed up by source and family.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.pcolormesh``.
        """
        if by not in ("source", "kernel"):
            raise ValueError(f"by must be 'source' or 'kernel', got {by!r}.")
        weights = comparison.shares(model) if by == "source" else comparison.weights(model)
        groups = None if by == "source" else [_without_parameters(str(k)) for k in weights.index]
        name = comparison.headline if model is None else model
        return cls(weights, groups=groups, name=name).plot(ax=ax, **kwargs)

    @classmethod
    def from_frame(cls, weights: Any, *, ax: Any = None, **settings: Any) -> Self:
        """Draw a table of weights, a row per source or kernel and a column per fold.

        Parameters
        ----------
        weights : DataFrame or what makes one
            The weights.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **settings : dict
            Passed to the display.
        """
        return cls(weights, **settings).plot(ax=ax)

    def frame(self) -> Any:
        """Shares by fold, mean, standard deviation and frequency of selection, of all rows."""
        table = self._table()
        return _with_summary(table, table > SELECTED * table.max())

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the heat map, heaviest rows first, and the means beside it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.pcolormesh``.
        """
        from matplotlib.ticker import PercentFormatter

        shown, n_named = self._shown()
        shares = shown.iloc[:, :-3].to_numpy()
        n_rows, n_folds = shares.shape
        width = min(6.0 + 0.4 * n_folds, 10.5)
        share = 3.0 / (width - 5.0)  # so that the panel is three inches wide
        ax, side = axes_and_side(ax, width, 1.8 + 0.27 * n_rows, min(share, 0.7))
        top = float(shares[:n_named].max()) or 1.0  # not that of many rows together
        style = {"cmap": fade(), "vmin": 0.0, "vmax": top, "edgecolors": CELL_EDGE}
        style |= {"linewidth": 0.8, "rasterized": shares.size > MANY_CELLS}
        self.mesh_ = ax.pcolormesh(shares, **(style | kwargs))
        ax.set_ylim(n_rows, 0)
        rows = [short(row, 34) for row in shown.index]
        ax.set_yticks(np.arange(n_rows) + 0.5, rows, parse_math=False, fontsize=9)
        _label_folds(ax, [str(fold) for fold in shown.columns[:-3]])
        bare_axes(ax)
        if n_folds <= MAX_NUMBERED:
            _write_shares(ax, shares, 0.5 * top)
        self.bars_ = _draw_means(side, shown, n_named, n_folds)
        more = "max" if shares.max() > top else "neither"
        bar = colour_bar([ax, side], self.mesh_, self.quantity, shrink=0.6, extend=more)
        bar.ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        title(ax, self._title(len(self._table())), pad=20)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _title(self, n_rows: int) -> str:
        model = "" if self.name is None else f"{short(self.name, 40)}: "
        summed = f", summed up from {n_rows:,}" if n_rows > MAX_ROWS else ""
        return f"{model}{self.quantity} by fold{summed}"

    def _table(self) -> Any:
        """Shares of absolute weights within each fold."""
        import pandas as pd

        table = pd.DataFrame(self.weights).astype(float).abs().fillna(0.0)
        if not table.size:
            raise ValueError("FoldWeightsDisplay has no weights to draw; give rows and folds.")
        return table / table.sum().replace(0.0, 1.0)

    def _shown(self) -> tuple[Any, int]:
        """What is drawn: rows, groups of rows, or the heaviest of either and the rest as one.

        The number is that of the rows before the rest.
        """
        table = self._table()
        used = table > SELECTED * table.max()
        if len(table) > MAX_ROWS and self.groups is not None:
            keys = _numbered([str(group) for group in self.groups])
            table, used = (part.groupby(keys, sort=False).sum() for part in (table, used))
        order = np.argsort(-table.mean(axis=1).to_numpy(), kind="stable")
        table, used = table.iloc[order], used.iloc[order] > 0
        n_named = len(table)
        if n_named > MAX_ROWS:
            n_named = MAX_ROWS - 1
            rest = f"{len(table) - n_named:,} others together"
            names = [*table.index[:n_named], rest]
            place = np.minimum(np.arange(len(table)), n_named)  # rows may share their names
            table, used = table.groupby(place).sum(), used.groupby(place).any()
            table.index = used.index = names
        return _with_summary(table, used), n_named


def _with_summary(table: Any, used: Any) -> Any:
    sd = table.std(axis=1) if table.shape[1] > 1 else 0.0
    return table.assign(mean=table.mean(axis=1), sd=sd, selected=used.mean(axis=1).to_numpy())


def _without_parameters(kernel: str) -> str:
    """Source and family of a kernel: what its name says before the parameters."""
    return kernel[: kernel.rindex("(")] if ")" in kernel and "(" in kernel else kernel


def _numbered(groups: list[str]) -> Any:
    """Groups with the number of their rows."""
    sizes = {group: groups.count(group) for group in dict.fromkeys(groups)}
    return np.array([f"{short(g, 26)} ({sizes[g]})" if sizes[g] > 1 else g for g in groups], object)


def _label_folds(ax: Any, folds: list[str]) -> None:
    """Write the folds below the columns, without what all of them begin with."""
    if all(fold.startswith("fold ") for fold in folds):
        folds = [fold.removeprefix("fold ") for fold in folds]
    step = -(-len(folds) // 25)
    at = np.arange(0, len(folds), step)
    ax.set_xticks(at + 0.5, [short(folds[i], 8) for i in at], parse_math=False, fontsize=8)
    ax.set_xlabel("fold", color=INK)


def _write_shares(ax: Any, shares: Array, dark: float) -> None:
    """Write every share into its cell, in white where the cell is dark."""
    for (row, fold), share in np.ndenumerate(shares):
        if share > 0:
            colour = "white" if share > dark else INK
            place = {"ha": "center", "va": "center", "fontsize": 7.5, "color": colour}
            ax.text(fold + 0.5, row + 0.5, percent(share), **place)


def _draw_means(side: Any, shown: Any, n_named: int, n_folds: int) -> Any:
    """Mean and standard deviation beside the rows, and in how many folds each was in use."""
    mean, sd = shown["mean"].to_numpy(), shown["sd"].to_numpy()
    rows = np.arange(len(shown)) + 0.5
    top = float((mean + sd)[:n_named].max()) or 1.0
    style = {"height": 0.66, "color": PALETTE[0], "xerr": sd[:n_named]}
    errors = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0}
    bars = side.barh(rows[:n_named], mean[:n_named], error_kw=errors, **style)
    text = {"va": "center", "ha": "right", "fontsize": 8, "color": INK}
    for row, share, used in zip(rows, mean, shown["selected"], strict=True):
        side.text(1.3 * top, row, percent(share), **text)
        side.text(1.65 * top, row, f"{round(used * n_folds)}/{n_folds}", **text)
    side.set(xlim=(0, 1.68 * top), ylim=(len(shown), 0))
    side.axvline(0, color=INK, linewidth=0.8)
    side.set_xticks([])
    side.set_yticks([])
    side.spines[:].set_visible(False)
    heading = {"transform": side.get_xaxis_transform(), "va": "bottom", "color": INK, "fontsize": 8}
    side.text(0, 1.01, "mean ± sd", **heading)
    side.text(1.3 * top, 1.01, "mean", ha="right", **heading)
    side.text(1.65 * top, 1.01, "in use", ha="right", **heading)
    return bars
