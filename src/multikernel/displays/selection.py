"""SelectionDisplay: how the choice of C and of the regularizer's parameters came about."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ._style import PALETTE, entry, legend, new_axes, quiet_axes, short, title

PREFIX = "param_"


class SelectionDisplay:
    """Mean scores over the folds against C, with their standard errors and the candidate chosen.

    Parameters
    ----------
    Cs : array-like of shape (n_candidates,)
        Inverse regularization of every candidate.
    scores : array-like of shape (n_candidates, n_folds)
        Scores of the candidates, larger is better.
    chosen : int
        The candidate that was taken.
    settings : sequence of str of length n_candidates, default=None
        What else tells candidates apart, one curve for each.
    scoring : str, default="score"
        What the scores are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    lines_ : dict of str to matplotlib Line2D
        The mean scores, by setting.
    mark_ : matplotlib Line2D
        The ring around the candidate chosen.

    See Also
    --------
    PathDisplay : The weights against C.

    Notes
    -----
    The standard error is that of the mean of the folds taken as independent, which they are not
    quite: it serves the rule of one standard error, not a test.

    Examples
    --------
    >>> from multikernel.displays import SelectionDisplay
    >>> display = SelectionDisplay([0.1, 1.0], [[0.6, 0.8], [0.9, 0.9]], 1)
    >>> display.frame()["mean"].round(2).tolist()
    [0.7, 0.9]
    """

    ax_: Any
    figure_: Any
    lines_: dict[str, Any]
    mark_: Any

    def __init__(
        self,
        Cs: ArrayLike,
        scores: ArrayLike,
        chosen: int,
        *,
        settings: Sequence[str] | None = None,
        scoring: str = "score",
    ) -> None:
        self.Cs = Cs
        self.scores = scores
        self.chosen = chosen
        self.settings = settings
        self.scoring = scoring

    @classmethod
    def from_cv(cls, estimator: Any, *, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw what a fitted estimator that chooses its parameters has compared.

        Parameters
        ----------
        estimator : fitted MKLClassifierCV or MKLRegressorCV
            Or any search with ``cv_results_`` over C, such as scikit-learn's.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kwargs : dict
            Passed to ``Axes.plot``.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "cv_results_"):
            raise TypeError(
                f"{type(estimator).__name__} has compared nothing; SelectionDisplay is for "
                "MKLClassifierCV and MKLRegressorCV."
            )
        results = estimator.cv_results_
        values = [name for name in results if name.startswith(PREFIX)]
        C = next((name for name in values if name.removeprefix(PREFIX).endswith("C")), None)
        if C is None:
            raise ValueError(f"SelectionDisplay needs candidates that differ in C, got {values}.")
        rest = [name for name in values if name != C]
        folds = [f for f in results if f.startswith("split") and f.endswith("_test_score")]
        n_candidates = len(results[C])
        settings = [
            ", ".join(f"{_name(name)}={_value(list(results[name])[i])}" for name in rest)
            for i in range(n_candidates)
        ]
        display = cls(
            np.asarray(results[C], dtype=float),
            np.stack([np.asarray(results[fold], dtype=float) for fold in folds], axis=1),
            int(estimator.best_index_),
            settings=settings if rest else None,
            scoring=_scoring(estimator),
        )
        return display.plot(ax=ax, **line_kwargs)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with a row per candidate."""
        import pandas as pd

        scores = np.asarray(self.scores, dtype=float)
        n_folds = scores.shape[1]
        error = scores.std(axis=1, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.nan
        return pd.DataFrame(
            {
                "C": np.asarray(self.Cs, dtype=float),
                "setting": self._settings(),
                "mean": scores.mean(axis=1),
                "error": error,
                "chosen": np.arange(len(scores)) == self.chosen,
            }
        )

    def plot(self, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw a curve with error bars for every setting, and a ring around the one chosen.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kwargs : dict
            Passed to ``Axes.plot``.
        """
        ax = new_axes(6.8, 3.8) if ax is None else ax
        table, self.lines_ = self.frame(), {}
        looks = cycle(zip(PALETTE, ["-", "--", "-.", ":"] * 2, "osD^vPX*", strict=True))
        groups = table.groupby("setting", sort=False)
        for (setting, part), (colour, dashes, marker) in zip(groups, looks, strict=False):
            part = part.sort_values("C")
            style = {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 4}
            style |= {"linewidth": 1.8, "label": entry(short(setting, 40)) or "_all"}
            (self.lines_[setting],) = ax.plot(part["C"], part["mean"], **(style | line_kwargs))
            low, high = part["mean"] - part["error"], part["mean"] + part["error"]
            ax.fill_between(part["C"], low, high, color=colour, alpha=0.14, linewidth=0)
        best = table.iloc[self.chosen]
        ring = {"marker": "o", "markersize": 13, "markerfacecolor": "none", "linestyle": ""}
        ring |= {"markeredgewidth": 2.0, "markeredgecolor": PALETTE[5], "zorder": 4}
        (self.mark_,) = ax.plot([best["C"]], [best["mean"]], label="chosen", **ring)
        ax.set_xscale("log")
        ax.set_xlabel("C (weaker regularization →)")
        ax.set_ylabel(f"{short(self.scoring, 30)} (mean ± standard error)", parse_math=False)
        quiet_axes(ax, grid="both")
        heading = f"chosen: C = {best['C']:.3g}" + (
            f", {best['setting']}" if best["setting"] else ""
        )
        title(ax, short(heading, 70))
        if len(self.lines_) > 1:
            legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
        else:
            legend(ax, fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _settings(self) -> list[str]:
        n_candidates = len(np.asarray(self.scores))
        return [""] * n_candidates if self.settings is None else list(self.settings)


def _name(column: str) -> str:
    return column.removeprefix(PREFIX).rpartition("__")[2]


def _value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else short(value)


def _scoring(estimator: Any) -> str:
    given = getattr(estimator, "scoring", None)
    return given if isinstance(given, str) else getattr(estimator, "_default_scoring", "score")
