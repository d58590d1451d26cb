"""WeightsDisplay: which kernels, and so which sources, the model trusts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._style import INK, PALETTE, new_axes, quiet_axes, source_colours

MAX_BARS = 48  # more kernels than this are summed up in a heat map
MAX_ROWS = 30  # sources shown one by one in the heat map
MAX_COLUMNS = 24  # distinct settings beyond which parameters are shown by rank

Columns = Mapping[str, Sequence[Any]]


class WeightsDisplay:
    """The weights of all kernels, grouped by source.

    Up to 48 kernels are drawn as bars, one colour per source. More are summed up in a heat map of
    source against family and parameter, beside the share of every source. Beyond 30 sources
    the lightest share one row. Weights may be negative: shares are those of absolute weights.

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
    ) -> None:
        self.weights = weights
        self.sources = sources
        self.families = families
        self.parameters = parameters
        self.quantity = quantity

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
        from matplotlib.colors import LinearSegmentedColormap

        rows, columns, total = self._grid()
        grid = np.array([[total.get((r, c), np.nan) for c in columns] for r in rows])
        ticks = [_short(_parameter_label(parameter), limit=10) for _, parameter in columns]
        turn = 90 if max(map(len, ticks)) > 3 else 0
        ax = new_axes(7.5, (2.3 if turn else 1.6) + 0.24 * len(rows)) if ax is None else ax
        colours = [(0.0, f"{PALETTE[0]}08"), (1.0, PALETTE[0])]
        scale = {"vmin": 0.0}
        if np.nanmin(grid) < 0:  # zero in the middle
            below = [(0.0, PALETTE[5]), (0.5, f"{PALETTE[5]}08")]
            colours = below + [((1 + at) / 2, colour) for at, colour in colours]
            scale = {"vmin": -np.nanmax(np.abs(grid)), "vmax": np.nanmax(np.abs(grid))}
        fade = LinearSegmentedColormap.from_list("fade", colours)
        style = {"cmap": fade, "edgecolors": (0.5, 0.5, 0.5, 0.12), "linewidth": 0.4} | scale
        self.artists_ = ax.pcolormesh(grid, **(style | kwargs))
        ax.set_yticks(
            np.arange(len(rows)) + 0.5, [_short(row) for row in rows], parse_math=False, fontsize=8
        )
        ax.set_ylim(len(rows), 0)
        ax.set_xticks(
            np.arange(len(columns)) + 0.5, ticks, parse_math=False, fontsize=8, rotation=turn
        )
        ax.tick_params(colors=INK, length=0)
        ax.spines[:].set_visible(False)
        _label_families(ax, [family for family, _ in columns])
        _draw_totals(ax, self._row_shares(rows))
        bar = ax.figure.colorbar(
            self.artists_, ax=ax, orientation="horizontal", aspect=40, pad=0.02
        )
        bar.set_label(f"{self.quantity} (sum over the kernels of a cell)", color=INK, fontsize=8)
        bar.ax.tick_params(colors=INK, labelsize=8)
        bar.outline.set_visible(False)
        return ax

    def _row_shares(self, rows: Sequence[str]) -> NDArray[np.float64]:
        """The shares of the rows of the heat map, of which the last may stand for many sources."""
        shares = self.shares()
        shown = np.array([shares.pop(row, 0.0) for row in rows])
        shown[-1] += sum(shares.values())
        return shown

    def _grid(self) -> tuple[list[str], list[tuple[str, Any]], dict[tuple[str, Any], float]]:
        """Rows (heaviest sources first), columns (family, parameter) and the sum in every cell."""
        shares = self.shares()
        heavy = sorted(shares, key=lambda s: -shares[s])
        shown = heavy if len(heavy) <= MAX_ROWS else heavy[: MAX_ROWS - 1]
        others = f"{len(heavy) - len(shown)} other sources"
        settings = list(zip(self.families, map(_key, self._parameters()), strict=True))
        if len(set(settings)) > MAX_COLUMNS:
            settings = _rank_within_source(self.sources, settings)
        columns = sorted(set(settings), key=lambda c: (self.families.index(c[0]), _sort_key(c[1])))
        total: dict[tuple[str, Any], float] = {}
        for source, setting, w in zip(self.sources, settings, self._weights(), strict=True):
            cell = (source if source in set(shown) else others, setting)
            total[cell] = total.get(cell, 0.0) + float(w)
        return shown + [others] * (len(shown) < len(heavy)), columns, total


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
    return f"{_short(family)}  {_short(_parameter_label(parameter))}".rstrip()


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
    ax.text(1.06, y, f"{_short(source)}  {share:.0%}", color=INK, fontweight="bold", **place)


def _short(name: str, limit: int = 24) -> str:
    """One line of at most ``limit`` characters."""
    line = " ".join(name.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _label_families(ax: Any, families: list[str]) -> None:
    """Write the families above their columns and part them by a line."""
    for family in dict.fromkeys(families):
        first, count = families.index(family), families.count(family)
        ax.text(
            first + count / 2,
            -0.25,
            _short(family),
            ha="center",
            color=INK,
            fontsize=9,
            parse_math=False,
        )
        if first:
            ax.axvline(first, color=INK, alpha=0.35, linewidth=0.8)


def _draw_totals(ax: Any, shares: NDArray[np.float64]) -> None:
    """Draw the share of every row beside the heat map."""
    side = ax.inset_axes([1.02, 0, 0.2, 1], sharey=ax)
    rows = np.arange(len(shares)) + 0.5
    side.barh(rows, shares, height=0.72, color=PALETTE[0])
    for row, share in zip(rows, shares, strict=True):
        text = "0" if share == 0 else "<1%" if share < 0.01 else f"{share:.0%}"
        side.text(share + 0.02 * shares.max(), row, text, va="center", fontsize=7, color=INK)
    side.set_xlim(0, 1.25 * (shares.max() or 1.0))
    side.axis("off")
    side.set_title("share", fontsize=9, color=INK)
