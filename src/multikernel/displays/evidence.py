"""EvidenceDisplay: how fast each method came down to the best objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ._style import PALETTE, entry, legend, new_axes, quiet_axes, short

FLOOR = 1e-8  # differences below this are drawn here
WIDE = 50.0  # ratio of longest to shortest run above which the horizontal axis is logarithmic
AXES = {
    "iteration": "iteration",
    "seconds": "seconds",
    "n_passes": "bank passes",
}

History = Mapping[str, Sequence[float]]


class EvidenceDisplay:
    """The objective of several methods against their work, above the best that any of them found.

    Parameters
    ----------
    histories : dict of str to dict
        For every method the ``objective`` after each iteration, with ``seconds`` and ``n_passes``
        where they are to be drawn.
    against : {"iteration", "seconds", "n_passes"}, default="iteration"
        The horizontal axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    lines_ : dict of str to matplotlib Line2D
        The curves, by method.

    See Also
    --------
    MethodWeightsDisplay : The weights that the methods found.
    ConvergenceDisplay : How the certificate of a convex problem closed.

    Examples
    --------
    >>> from multikernel.displays import EvidenceDisplay
    >>> display = EvidenceDisplay(
    ...     {"mackay": {"objective": [9.0, 5.0, 4.5]}, "newton": {"objective": [9.0, 4.0]}}
    ... )
    >>> display.best()
    4.0
    >>> display.frame()["above_best"].tolist()
    [5.0, 1.0, 0.5, 5.0, 0.0]
    """

    ax_: Any
    figure_: Any
    lines_: dict[str, Any]

    def __init__(self, histories: Mapping[str, History], *, against: str = "iteration") -> None:
        self.histories = histories
        self.against = against

    @classmethod
    def from_fits(
        cls, fits: Mapping[str, Any], *, against: str = "iteration", ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the histories of several fits of the same objective.

        Parameters
        ----------
        fits : dict of str to Inference or fitted estimator
            By name of the method; of an estimator with several histories the longest is drawn.
        against : {"iteration", "seconds", "n_passes"}, default="iteration"
            The horizontal axis.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot``.
        """
        histories = {name: _history(fit) for name, fit in fits.items()}
        return cls(histories, against=against).plot(ax=ax, **kwargs)

    def best(self) -> float:
        """The lowest objective of all."""
        return float(min(np.min(self._objective(name)) for name in self.histories))

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with a row per method and iteration."""
        import pandas as pd

        best, parts = self.best(), []
        for name in self.histories:
            objective, work = self._objective(name), self._work(name)
            columns = {"iteration": np.arange(1, len(objective) + 1), self.against: work}
            columns |= {"objective": objective, "above_best": objective - best}
            parts.append(pd.DataFrame({"method": name, **columns}))
        return pd.concat(parts, ignore_index=True)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw how far each method still is above the best objective, on a logarithmic scale.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot``.
        """
        if not self.histories:
            raise ValueError("EvidenceDisplay has no histories to draw; give at least one.")
        ax = new_axes(6.8, 3.8) if ax is None else ax
        best, self.lines_ = self.best(), {}
        looks = cycle(zip(PALETTE, ["-", "--", "-.", ":"] * 2, "osD^vPX*", strict=True))
        for name, (colour, line, marker) in zip(self.histories, looks, strict=False):
            above = np.maximum(self._objective(name) - best, FLOOR)
            style = {"color": colour, "linestyle": line, "marker": marker, "linewidth": 1.8}
            style |= {
                "markersize": 5,
                "markevery": max(len(above) // 12, 1),
                "label": entry(short(name, 40)),
            }
            (self.lines_[name],) = ax.plot(self._work(name), above, **(style | kwargs))
        ax.set_yscale("log")
        self._scale_work(ax)
        ax.set_xlabel(AXES[self.against])
        ax.set_ylabel("objective above the best (−2 ln)")
        quiet_axes(ax, grid="both")
        legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _scale_work(self, ax: Any) -> None:
        ends = [self._work(name)[-1] for name in self.histories]
        if max(ends) > WIDE * max(min(ends), np.finfo(float).tiny):
            ax.set_xscale("log")

    def _objective(self, name: str) -> Array:
        return np.asarray(self.histories[name]["objective"], dtype=float)

    def _work(self, name: str) -> Array:
        if self.against not in AXES:
            raise ValueError(f"against must be one of {list(AXES)}, got {self.against!r}.")
        if self.against == "iteration":
            return np.arange(1.0, len(self._objective(name)) + 1)
        return np.asarray(self.histories[name][self.against], dtype=float)


def _history(fit: Any) -> History:
    """The history of an inference or of a fitted estimator."""
    if not hasattr(fit, "history"):
        check_is_fitted(fit)
        fit_history = fit.history_
    else:
        fit_history = fit.history
    if isinstance(fit_history, list):
        return max(fit_history, key=lambda history: len(history["objective"]))
    return fit_history
