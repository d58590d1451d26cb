"""ConvergenceDisplay: how the certificate closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ._style import PALETTE, entry, legend, new_axes, quiet_axes, short

MAX_MARKERS = 60
AXES = {"n_passes": "bank passes", "seconds": "seconds", "iteration": "iteration"}


class ConvergenceDisplay:
    """The relative duality gap against the work spent, down to the tolerance asked for.

    Parameters
    ----------
    gap : array-like of shape (n_iter,)
        Relative duality gap after every iteration.
    passes : array-like of shape (n_iter,), default=None
        Bank passes used by then.
    seconds : array-like of shape (n_iter,), default=None
        Time used by then.
    tol : float, default=None
        The gap at which the solver was asked to stop.
    name : str, default=None
        Label of the curve.
    against : {"n_passes", "seconds", "iteration"}, default=None
        The horizontal axis; by default the first of these that is known.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    WeightsDisplay : The weights that were found.

    Examples
    --------
    >>> from multikernel.displays import ConvergenceDisplay
    >>> display = ConvergenceDisplay([1e-1, 1e-3, 1e-6], passes=[2, 4, 6], tol=1e-4)
    >>> display.frame()["gap"].tolist()
    [0.1, 0.001, 1e-06]
    """

    ax_: Any
    figure_: Any
    line_: Any

    def __init__(
        self,
        gap: Sequence[float],
        *,
        passes: Sequence[float] | None = None,
        seconds: Sequence[float] | None = None,
        tol: float | None = None,
        name: str | None = None,
        against: str | None = None,
    ) -> None:
        self.gap = gap
        self.passes = passes
        self.seconds = seconds
        self.tol = tol
        self.name = name
        self.against = against

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        against: str | None = None,
        ax: Any = None,
        name: str | None = None,
        **line_kwargs: Any,
    ) -> Self:
        """Draw the convergence of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Anything with ``solution_`` and ``tol``; of several solutions the least certain.
        against : {"n_passes", "seconds", "iteration"}, default=None
            The horizontal axis; by default the first of these that is known.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Label of the curve.
        **line_kwargs : dict
            Passed to ``Axes.plot``.
        """
        check_is_fitted(estimator)
        solutions = getattr(estimator, "solution_", None)
        first = solutions[0] if isinstance(solutions, list) else solutions
        if "gap" not in getattr(first, "history", {}):
            raise TypeError(
                f"{type(estimator).__name__} has no duality gap to draw; see its history_, or "
                "EvidenceDisplay.from_fits for probabilistic models."
            )
        solutions = solutions if isinstance(solutions, list) else [solutions]
        history = max(solutions, key=lambda solution: solution.gap).history
        display = cls(
            history["gap"],
            passes=history.get("n_passes"),
            seconds=history.get("seconds"),
            tol=estimator.tol,
            name=name,
            against=against,
        )
        return display.plot(ax=ax, **line_kwargs)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame."""
        import pandas as pd

        columns = {"iteration": np.arange(1, len(self.gap) + 1), "gap": np.asarray(self.gap, float)}
        if self.passes is not None:
            columns["passes"] = np.asarray(self.passes, float)
        if self.seconds is not None:
            columns["seconds"] = np.asarray(self.seconds, float)
        return pd.DataFrame(columns)

    def plot(self, ax: Any = None, *, name: str | None = None, **line_kwargs: Any) -> Self:
        """Draw the gap on a logarithmic scale; gaps not yet finite are left out.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        name : str, default=None
            Label of the curve; the display's own by default.
        **line_kwargs : dict
            Passed to ``Axes.plot``.
        """
        ax = new_axes(6.4, 3.4) if ax is None else ax
        gap = np.maximum(np.asarray(self.gap, float), np.finfo(float).eps)  # zero has no logarithm
        against, work = self._work()
        style = {
            "color": PALETTE[0],
            "marker": "o" if len(gap) <= MAX_MARKERS else "",
            "markersize": 4,
            "linewidth": 1.8,
        } | line_kwargs
        label = self.name if name is None else name
        (self.line_,) = ax.plot(
            work, gap, label=None if label is None else entry(short(label, 40)), **style
        )
        ax.set_yscale("log")
        ax.set_xlabel(AXES[against])
        ax.set_ylabel("relative duality gap")
        quiet_axes(ax, grid="both")
        if self.tol is not None:
            self._draw_tolerance(ax, self.tol)
        if label is not None:
            legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _work(self) -> tuple[str, Array]:
        """The horizontal axis and what was used by every iteration."""
        known = {"n_passes": self.passes, "seconds": self.seconds}
        known["iteration"] = range(1, len(self.gap) + 1)
        against = self.against or next(name for name in AXES if known[name] is not None)
        if known.get(against) is None:
            raise ValueError(
                f"against must be one of {[n for n in AXES if known[n] is not None]}, which are "
                f"known here; got {against!r}."
            )
        return against, np.asarray(known[against], dtype=float)

    def _draw_tolerance(self, ax: Any, tol: float) -> None:
        ax.axhline(tol, color=PALETTE[5], linewidth=1.2, linestyle="--")
        ax.annotate(
            f"tol = {tol:g}",
            (0, tol),
            xycoords=("axes fraction", "data"),
            xytext=(4, 4),
            textcoords="offset points",
            ha="left",
            color=PALETTE[5],
        )
