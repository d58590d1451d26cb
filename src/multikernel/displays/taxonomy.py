"""TaxonomyDisplay: what every objective says of the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..bayes.taxonomy import Taxonomy, taxonomy
from ._style import INK, PALETTE, new_axes, quiet_axes

# what an objective is to minus twice the log evidence: its colour, its marker and its name
BOUNDS = {
    "exact": (PALETTE[0], "D", "the evidence itself"),
    "upper": (PALETTE[5], "<", "an upper bound of it"),
    "no": (PALETTE[7], "o", "neither"),
}


class TaxonomyDisplay:
    r"""The values of all objectives at the same weights, beside the evidence.

    Parameters
    ----------
    objectives : sequence of str
        Names of the objectives.
    values : array-like of shape (n_objectives,)
        Their values on the :math:`-2 \ln` scale; NaN where there is none.
    bounds : sequence of {"exact", "upper", "no"}
        What each is to minus twice the log evidence.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    artists_ : dict of matplotlib PathCollection
        The dots, by kind of bound.

    See Also
    --------
    multikernel.bayes.taxonomy.taxonomy : The table of these numbers.

    Examples
    --------
    >>> from multikernel.displays import TaxonomyDisplay
    >>> display = TaxonomyDisplay(
    ...     ["MLM", "VB", "MAP"], [11.2, 12.9, 4.0], bounds=["exact", "upper", "no"]
    ... )
    >>> display.frame()["value"].to_dict()
    {'MLM': 11.2, 'VB': 12.9, 'MAP': 4.0}
    """

    ax_: Any
    figure_: Any
    artists_: dict[str, Any]

    def __init__(
        self, objectives: Sequence[str], values: Sequence[float], *, bounds: Sequence[str]
    ) -> None:
        self.objectives = objectives
        self.values = values
        self.bounds = bounds

    @classmethod
    def from_taxonomy(cls, table: Taxonomy, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a table of objectives.

        Parameters
        ----------
        table : Taxonomy
            What :func:`~multikernel.bayes.taxonomy.taxonomy` returns.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.scatter``.
        """
        names, values, bounds = zip(*(row[:3] for row in table.rows), strict=True)
        return cls(names, values, bounds=bounds).plot(ax=ax, **kwargs)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **settings: Any) -> Self:
        """Draw the objectives at the weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator or BayesProblem
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **settings : dict
            Passed to :func:`~multikernel.bayes.taxonomy.taxonomy`.
        """
        return cls.from_taxonomy(taxonomy(estimator, **settings), ax=ax)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame indexed by objective."""
        import pandas as pd

        columns = {"value": np.asarray(self.values, float), "bound": list(self.bounds)}
        return pd.DataFrame(columns, index=pd.Index(list(self.objectives), name="objective"))

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw one dot for every objective, and a line at the evidence where it is known.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.scatter``.
        """
        ax = new_axes(7.0, 1.3 + 0.36 * len(self.objectives)) if ax is None else ax
        values, rows = np.asarray(self.values, float), np.arange(len(self.objectives))
        kinds, known = np.asarray(self.bounds), np.isfinite(values)
        exact = known & (kinds == "exact")
        if np.any(exact):
            ax.axvline(values[exact][0], color=BOUNDS["exact"][0], alpha=0.45, linewidth=1.4)
        self.artists_ = {}
        for kind, (colour, marker, name) in BOUNDS.items():
            chosen = known & (kinds == kind)
            if np.any(chosen):
                style = {"color": colour, "marker": marker, "s": 62, "label": name, "zorder": 3}
                self.artists_[kind] = ax.scatter(values[chosen], rows[chosen], **(style | kwargs))
        self._write_values(ax, values)
        ax.set_yticks(rows, list(self.objectives), parse_math=False)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.margins(x=0.08)
        ax.set_xlabel("value on the −2 ln scale")
        quiet_axes(ax, grid="both")
        ax.tick_params(axis="y", length=0)
        if self.artists_:
            ax.legend(
                frameon=False,
                labelcolor=INK,
                loc="lower left",
                bbox_to_anchor=(0, 1.0),
                ncols=3,
                borderaxespad=0.2,
                handletextpad=0.2,
                columnspacing=1.4,
            )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write_values(self, ax: Any, values: Any) -> None:
        """Write the numbers in a column at the right edge."""
        for row, value in enumerate(values):
            text = f"{value:.2f}".replace("-", "−") if np.isfinite(value) else "not available"
            ax.text(
                1.02,
                row,
                text,
                transform=ax.get_yaxis_transform(),
                va="center",
                color=INK,
                alpha=1.0 if np.isfinite(value) else 0.5,
            )
