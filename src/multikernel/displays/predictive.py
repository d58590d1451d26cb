"""PredictiveDisplay: predictions of one variable with what they say of their own uncertainty."""

from __future__ import annotations

from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ._style import INK, PALETTE, entry, legend, new_axes, quiet_axes, short

MARGIN = 0.08  # of the range of the data, drawn beyond it
BANDS = (2.0, 1.0)  # standard deviations, the widest first
BAND_LABEL, DATA_LABEL = "± 1 and ± 2 std", "data"


class PredictiveDisplay:
    """The predictive mean of a regression on one variable, with bands and the data.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Where predictions were made, in ascending order.
    mean, std : array-like of shape (n_points,)
        Predictive means and standard deviations there.
    x_data, y_data : array-like of shape (n_samples,), default=None
        The data.
    name : str, default=None
        Label of the curve.
    x_label, y_label : str
        Labels of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    line_ : matplotlib Line2D
        The mean.
    bands_ : list of matplotlib PolyCollection
        Two standard deviations and one.
    points_ : matplotlib Line2D or None
        The data, drawn once however many curves share the axes.

    Examples
    --------
    >>> from multikernel.displays import PredictiveDisplay
    >>> display = PredictiveDisplay([0.0, 1.0], [2.0, 3.0], [0.5, 1.0])
    >>> display.frame()["upper"].tolist()
    [3.0, 5.0]
    """

    ax_: Any
    figure_: Any
    line_: Any
    bands_: list[Any]
    points_: Any

    def __init__(
        self,
        x: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        x_data: ArrayLike | None = None,
        y_data: ArrayLike | None = None,
        name: str | None = None,
        x_label: str = "x",
        y_label: str = "y",
    ) -> None:
        self.x = x
        self.mean = mean
        self.std = std
        self.x_data = x_data
        self.y_data = y_data
        self.name = name
        self.x_label = x_label
        self.y_label = y_label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        n_points: int = 300,
        latent: bool = False,
        output: int = 0,
        name: str | None = None,
        ax: Any = None,
        **line_kwargs: Any,
    ) -> Self:
        """Draw the predictions of a fitted estimator over the range of its one variable.

        Parameters
        ----------
        estimator : fitted regressor
            With ``predict(X, return_std=True)``.
        X : array or DataFrame of shape (n_samples, 1)
            Samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets, drawn as points.
        n_points : int, default=300
            Number of points at which to predict.
        latent : bool, default=False
            Bands of the function alone, without noise, by ``predict_latent``.
        output : int, default=0
            Which target, of a model of several.
        name : str, default=None
            Label of the curve.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kwargs : dict
            Passed to ``Axes.plot`` for the mean.
        """
        check_is_fitted(estimator)
        if "return_std" not in signature(estimator.predict).parameters:
            raise TypeError(
                f"{type(estimator).__name__} has no predictive standard deviations; "
                "PredictiveDisplay is for ProbabilisticMKLRegressor and BayesianMKLRegressor."
            )
        values = np.asarray(X, dtype=float)
        if values.ndim != 2 or values.shape[1] != 1:
            raise ValueError(
                f"PredictiveDisplay draws one variable; X must have shape (n_samples, 1), got "
                f"{values.shape}."
            )
        low, high = values.min(), values.max()
        spare = MARGIN * (high - low)
        x = np.linspace(low - spare, high + spare, n_points)
        grid = type(X)({X.columns[0]: x}) if hasattr(X, "columns") else x[:, np.newaxis]
        predict = estimator.predict_latent if latent else estimator.predict
        mean, std = predict(grid, return_std=True)
        display = cls(
            x,
            _column(mean, output),
            _column(std, output),
            x_data=None if y is None else values[:, 0],
            y_data=None if y is None else _column(y, output),
            name=name,
            x_label=str(X.columns[0]) if hasattr(X, "columns") else "x",
            y_label=_target_name(y, output),
        )
        return display.plot(ax=ax, **line_kwargs)

    def frame(self) -> Any:
        """The curve as a pandas DataFrame; lower and upper are two standard deviations away."""
        import pandas as pd

        x, mean, std = self._arrays()
        ends = {"lower": mean - 2 * std, "upper": mean + 2 * std}
        return pd.DataFrame({"x": x, "mean": mean, "std": std} | ends)

    def plot(self, ax: Any = None, *, name: str | None = None, **line_kwargs: Any) -> Self:
        """Draw the mean, bands of one and two standard deviations, and the data.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Label of the curve; the display's own by default.
        **line_kwargs : dict
            Passed to ``Axes.plot`` for the mean.
        """
        ax = new_axes(6.8, 3.8) if ax is None else ax
        x, mean, std = self._arrays()
        label = self.name if name is None else name
        style = {
            "color": PALETTE[0],
            "linewidth": 1.9,
            "label": entry(short(label or "mean", 40)),
            "zorder": 3,
        }
        (self.line_,) = ax.plot(x, mean, **(style | line_kwargs))
        colour, finite = self.line_.get_color(), np.isfinite(std)
        self.bands_ = [
            ax.fill_between(
                x, mean - k * std, mean + k * std, where=finite, color=colour, alpha=0.16, lw=0
            )
            for k in BANDS
        ]
        shown = set(ax.get_legend_handles_labels()[1])  # by another curve on the same axes
        self.bands_[-1].set_label("_bands" if BAND_LABEL in shown else BAND_LABEL)
        self.points_ = None if DATA_LABEL in shown else self._draw_data(ax)
        ax.set_xlim(x[0], x[-1])
        ax.set_xlabel(self.x_label, parse_math=False)
        ax.set_ylabel(self.y_label, parse_math=False)
        quiet_axes(ax, grid="both")
        legend(ax, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, borderaxespad=0.2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _arrays(self) -> tuple[Array, Array, Array]:
        x, mean, std = (np.asarray(a, dtype=float) for a in (self.x, self.mean, self.std))
        return x, mean, std

    def _draw_data(self, ax: Any) -> Any:
        """The data as small rings."""
        if self.x_data is None or self.y_data is None:
            return None
        style = {"linestyle": "", "marker": "o", "markersize": 3.6, "markerfacecolor": "none"}
        (points,) = ax.plot(
            self.x_data, self.y_data, color=INK, alpha=0.7, label=DATA_LABEL, zorder=2, **style
        )
        return points


def _column(values: Any, output: int) -> Array:
    """The numbers of one target."""
    table = np.asarray(values, dtype=float)
    return table.reshape(len(table), -1)[:, output]


def _target_name(y: Any, output: int) -> str:
    """What a Series or DataFrame of targets calls one of them."""
    if hasattr(y, "columns"):
        return str(list(y.columns)[output])
    return str(getattr(y, "name", None) or "y")
