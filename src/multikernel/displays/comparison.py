"""ComparisonDisplay: models on the same folds, and how far each is from the uniform sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._component import Array
from ._style import GREY, INK, PALETTE, axes_and_side, new_axes, quiet_axes, short, title

BASELINE = "uniform sum"
Interval = tuple[float, float, float]  # mean difference, its lower and its upper end


class ComparisonDisplay:
    """Scores of models, best first, with every fold as a line across them.

    Models are judged on the same folds, so what counts is the difference within a fold: a line
    that leans the same way in all folds says more than means that are apart. Beside the scores
    are mean differences to the baseline with their intervals, and the zone of differences that
    are of no practical interest.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_folds,)
        Scores by model, larger is better; NaN for folds not done.
    differences : mapping of str to (mean, low, high), default=None
        Mean difference of models to the baseline, and the interval of it.
    baseline : str, default="uniform sum"
        What the differences are to.
    scoring : str, default="score"
        What the scores are.
    rope : float, default=None
        Differences up to this size are taken for practically equal.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    dots_ : dict of str to matplotlib Line2D
        The scores of the folds, by model.
    differences_ : matplotlib Axes or None
        The panel of differences.

    See Also
    --------
    FoldWeightsDisplay : The weights in the same folds.

    Examples
    --------
    >>> from multikernel.displays import ComparisonDisplay
    >>> display = ComparisonDisplay({"uniform sum": [0.7, 0.9], "MKL": [0.8, 1.0]})
    >>> display.frame()["model"].tolist()
    ['MKL', 'uniform sum']
    """

    ax_: Any
    figure_: Any
    dots_: dict[str, Any]
    differences_: Any

    def __init__(
        self,
        scores: Mapping[str, ArrayLike],
        *,
        differences: Mapping[str, Interval] | None = None,
        baseline: str = BASELINE,
        scoring: str = "score",
        rope: float | None = None,
    ) -> None:
        self.scores = scores
        self.differences = differences
        self.baseline = baseline
        self.scoring = scoring
        self.rope = rope

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        models: Sequence[str] | None = None,
        baseline: str = BASELINE,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the models of a comparison.

        Parameters
        ----------
        comparison : Comparison
            As :func:`multikernel.compare` returns it; intervals are those of its corrected t-test.
        models : sequence of str, default=None
            Which models; all by default.
        baseline : str, default="uniform sum"
            What differences are to.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot`` for the scores of the folds.
        """
        names = list(comparison.models) if models is None else list(models)
        scores = {name: comparison.scores(name) for name in names}
        differences = {}
        if baseline in comparison.models:
            reference = comparison.scores(baseline)
            for name in names:
                if name != baseline and np.isfinite(scores[name] - reference).sum() > 1:
                    test = comparison.test(name, baseline)
                    differences[name] = (test.mean, test.low, test.high)
        display = cls(
            scores,
            differences=differences,
            baseline=baseline,
            scoring=comparison.scoring,
            rope=comparison.rope,
        )
        return display.plot(ax=ax, **kwargs)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with a row per model, best first."""
        import pandas as pd

        differences = self.differences or {}
        none = (np.nan, np.nan, np.nan)
        rows = []
        for name, scores in zip(*self._sorted(), strict=True):
            mean, low, high = differences.get(name, none)
            found = scores[np.isfinite(scores)]
            sd = found.std(ddof=1) if len(found) > 1 else np.nan
            row = {"model": name, "mean": found.mean() if len(found) else np.nan, "sd": sd}
            row |= {"difference": mean, "low": low, "high": high}
            rows.append(row | {f"fold {k}": score for k, score in enumerate(scores)})
        return pd.DataFrame(rows)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw dots and means by model, lines by fold, and the differences at the right.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot`` for the scores of the folds.
        """
        names, scores = self._sorted()
        n = len(names)
        side = None
        if self.differences:
            ax, side = axes_and_side(ax, 9.6, 1.5 + 0.36 * n, 0.62)
        ax = new_axes(6.8, 1.5 + 0.36 * n) if ax is None else ax
        rows = np.arange(n)
        table = np.array(scores)
        style = {"color": GREY, "linewidth": 0.7, "alpha": 0.55, "zorder": 1}
        for fold in table.T:
            ax.plot(fold, rows, **style)
        self.dots_ = {}
        for row, (name, values) in enumerate(zip(names, scores, strict=True)):
            look = {"marker": "o", "markersize": 4, "linestyle": "", "alpha": 0.75}
            look |= {"color": self._colour(name), "zorder": 2} | kwargs
            (self.dots_[name],) = ax.plot(values, np.full(len(values), row), **look)
            mean = [np.nanmean(values)] if np.isfinite(values).any() else [np.nan]
            bar = {"marker": "|", "markersize": 15, "markeredgewidth": 2.4, "linestyle": ""}
            ax.plot(mean, [row], color=INK, zorder=3, **bar)
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_yticks(rows, [short(name, 32) for name in names], parse_math=False, fontsize=9)
        for label, name in zip(ax.get_yticklabels(), names, strict=True):
            label.set_fontweight("bold" if name == self.baseline else "normal")
        ax.set_xlabel(short(self.scoring, 40), parse_math=False)
        quiet_axes(ax, grid="x")
        ax.tick_params(axis="y", length=0)
        title(ax, "score of each fold (dots, joined) and mean (bar)", fontsize=9)
        if side is not None:
            self._draw_differences(side, names)
        self.differences_ = side
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _sorted(self) -> tuple[list[str], list[Array]]:
        """Models and their scores, best mean first; without any score last."""
        scores = {name: np.asarray(values, dtype=float) for name, values in self.scores.items()}
        if not scores or len({len(values) for values in scores.values()}) != 1:
            raise ValueError("scores must hold as many folds for every model, and some model.")
        means = {m: np.nanmean(v) if np.isfinite(v).any() else -np.inf for m, v in scores.items()}
        names = sorted(scores, key=lambda name: -means[name])
        return names, [scores[name] for name in names]

    def _colour(self, name: str) -> str:
        return PALETTE[5] if name == self.baseline else PALETTE[0]

    def _draw_differences(self, side: Any, names: list[str]) -> None:
        """Mean differences to the baseline with their intervals, in line with the scores."""
        if self.rope is not None:
            side.axvspan(-self.rope, self.rope, color=GREY, alpha=0.22, linewidth=0)
        side.axvline(0.0, color=PALETTE[5], linewidth=1.2)
        for row, name in enumerate(names):
            if name not in (self.differences or {}):
                continue
            mean, low, high = (self.differences or {})[name]
            side.plot([low, high], [row, row], color=INK, linewidth=1.5, solid_capstyle="butt")
            side.plot([mean], [row], marker="D", markersize=5, color=PALETTE[0], linestyle="")
        side.set_ylim(len(names) - 0.5, -0.5)
        side.set_yticks([])
        side.set_xlabel(f"difference to {short(self.baseline)}", parse_math=False)
        quiet_axes(side, grid="x")
        side.spines["left"].set_visible(False)
        zone = "" if self.rope is None else f"; grey: up to ±{self.rope:g}"
        title(side, f"difference, with its interval{zone}", fontsize=9)
