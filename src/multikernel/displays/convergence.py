"""ConvergenceDisplay: how the certificate closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._style import INK, PALETTE, new_axes, quiet_axes

MAX_MARKERS = 60


class ConvergenceDisplay:
    """The relative duality gap against the work spent, down to the tolerance asked for.

    Parameters
    ----------
    gap : array-like of shape (n_iter,)
        Relative duality gap after every iteration.
    passes : array-like of shape (n_iter,), default=None
        Bank passes used by then; without them the iterations are counted.
    tol : float, default=None
        The gap at which the solver was asked to stop.
    name : str, default=None
        Label of the curve.

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
        tol: float | None = None,
        name: str | None = None,
    ) -> None:
        self.gap = gap
        self.passes = passes
        self.tol = tol
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, name: str | None = None, **line_kwargs: Any
    ) -> Self:
        """Draw the convergence of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Anything with ``solution_`` and ``tol``; of several solutions the least certain.
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
        display = cls(history["gap"], passes=history["n_passes"], tol=estimator.tol, name=name)
        return display.plot(ax=ax, **line_kwargs)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame."""
        import pandas as pd

        columns = {"iteration": np.arange(1, len(self.gap) + 1), "gap": np.asarray(self.gap, float)}
        if self.passes is not None:
            columns["passes"] = np.asarray(self.passes, float)
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
        steps = (
            np.arange(1, len(gap) + 1) if self.passes is None else np.asarray(self.passes, float)
        )
        style = {
            "color": PALETTE[0],
            "marker": "o" if len(gap) <= MAX_MARKERS else "",
            "markersize": 4,
            "linewidth": 1.8,
        } | line_kwargs
        label = self.name if name is None else name
        (self.line_,) = ax.plot(steps, gap, label=label, **style)
        ax.set_yscale("log")
        ax.set_xlabel("iteration" if self.passes is None else "bank passes")
        ax.set_ylabel("relative duality gap")
        quiet_axes(ax, grid="both")
        if self.tol is not None:
            self._draw_tolerance(ax, self.tol)
        if label is not None:
            ax.legend(frameon=False, labelcolor=INK)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_tolerance(self, ax: Any, tol: float) -> None:
        ax.axhline(tol, color=PALETTE[5], linewidth=1.2, linestyle="--")
        ax.annotate(
            f"tol = {tol:g}",
            (1, tol),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
            color=PALETTE[5],
        )
