"""ContributionsDisplay: what each source says about single samples."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ._style import GREY, INK, PALETTE, entry, legend, new_axes, quiet_axes, short, title

MAX_SOURCES = 7  # told apart; the others are summed up
MAX_SAMPLES = 60  # that can be drawn
N_EACH = 2  # samples of each kind that are shown by default
FEW = 3 * N_EACH  # samples below which all are shown, and none is called the best
CONSTANT = "constant"


class _Decisions(NamedTuple):
    """What a model says about samples: shares of sources, and how right and sure it is."""

    shares: Array  # (n, n_sources)
    constant: Array  # (n,)
    margin: Array | None  # how right each is; None where the truth is not known
    doubt: Array  # how unsure the model is of each; empty where it does not say
    meaning: str


class ContributionsDisplay:
    r"""The decision about every sample as the sum of what its sources say.

    Bars to the right speak for what the axis names, bars to the left against it; the diamond is
    their sum. Beyond seven sources the lightest are taken together.

    Parameters
    ----------
    contributions : array-like of shape (n_samples, n_sources)
        What each source adds.
    sources : sequence of str of length n_sources
        Their names.
    constant : float or array-like of shape (n_samples,), default=0.0
        The part that no source accounts for.
    samples : sequence of str of length n_samples, default=None
        Names of the samples; numbers by default.
    meaning : str, default="decision"
        What the sum is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    bars_ : dict of str to matplotlib BarContainer
        The bars, by what they stand for.
    totals_ : matplotlib Line2D
        The sums.

    See Also
    --------
    WeightsDisplay : What the model trusts for all samples together.

    Notes
    -----
    .. math:: f(x) = \sum_s f_s(x) + b, \qquad
              f_s(x) = \sum_{m \in s} d_m \sum_i \alpha_i k_m(x, x_i) .

    Examples
    --------
    >>> from multikernel.displays import ContributionsDisplay
    >>> display = ContributionsDisplay([[1.0, -0.25]], ["rna", "mri"], constant=0.5)
    >>> display.frame()["decision"].tolist()
    [1.25]
    """

    ax_: Any
    figure_: Any
    bars_: dict[str, Any]
    totals_: Any

    def __init__(
        self,
        contributions: ArrayLike,
        sources: Sequence[str],
        *,
        constant: ArrayLike = 0.0,
        samples: Sequence[str] | None = None,
        meaning: str = "decision",
    ) -> None:
        self.contributions = contributions
        self.sources = sources
        self.constant = constant
        self.samples = samples
        self.meaning = meaning

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        samples: Sequence[int] | None = None,
        names: Sequence[Any] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what the sources of a fitted estimator say about some samples.

        For two classes the sum is the decision function, for numbers the prediction. For more
        classes it is the decision for one class (the true one where y is given, else the one that
        is predicted) minus that for the strongest other.

        Parameters
        ----------
        estimator : fitted estimator
            Anything with ``decision_contributions``, ``sources_`` and ``intercept_``.
        X : table, row container or array of Gram matrices
            Samples, best those that the model has not seen.
        y : array of shape (n_samples,), default=None
            True labels or targets, to find the best and the worst.
        samples : sequence of int, default=None
            Which samples, by position. By default the two best, the two worst and the two that
            the model is least sure of; without y the highest and the lowest instead. Of fewer
            than six samples all.
        names : sequence of length n_samples, default=None
            Names of all samples; by default ids or index of X, or positions.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.barh``.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "decision_contributions"):
            raise TypeError(
                f"{type(estimator).__name__} has no decision_contributions; ContributionsDisplay "
                "is for the estimators of multikernel."
            )
        decisions = _decisions(estimator, X, y)
        kinds = _extremes(decisions) if samples is None else [("", int(i)) for i in samples]
        names = _names(X, len(decisions.shares)) if names is None else list(names)
        rows = [i for _, i in kinds]
        labels = [f"{kind}: {short(names[i])}" if kind else short(names[i]) for kind, i in kinds]
        display = cls(
            decisions.shares[rows],
            list(estimator.sources_),
            constant=decisions.constant[rows],
            samples=labels,
            meaning=decisions.meaning,
        )
        return display.plot(ax=ax, **kwargs)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with a row per sample."""
        import pandas as pd

        shares, constant = self._arrays()
        table = pd.DataFrame(shares, index=self._samples(), columns=list(self.sources))
        table.insert(table.shape[1], CONSTANT, constant, allow_duplicates=True)
        total = shares.sum(axis=1) + constant
        table.insert(table.shape[1], "decision", total, allow_duplicates=True)
        return table

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw bars that start where the last ended, on either side of zero.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.barh``.
        """
        parts, n = self._parts(), len(self._samples())
        if not 0 < n <= MAX_SAMPLES:
            raise ValueError(
                f"ContributionsDisplay draws 1 to {MAX_SAMPLES} samples, got {n}; choose some."
            )
        ax = new_axes(8.2, 1.6 + 0.42 * n) if ax is None else ax
        right, left, rows = np.zeros(n), np.zeros(n), np.arange(n)
        self.bars_ = {}
        for (name, values), colour in zip(parts, self._colours(len(parts)), strict=True):
            start = np.where(values > 0, right, left)
            style = {"height": 0.62, "color": colour, "edgecolor": INK, "linewidth": 0.3}
            style |= {"label": entry(short(name))} | kwargs
            self.bars_[name] = ax.barh(rows, values, left=start, **style)
            right, left = right + np.maximum(values, 0), left + np.minimum(values, 0)
        shares, constant = self._arrays()
        mark = {"marker": "D", "markersize": 6, "markerfacecolor": "white", "linestyle": ""}
        mark |= {"markeredgecolor": INK, "markeredgewidth": 1.4, "zorder": 4, "label": "sum"}
        (self.totals_,) = ax.plot(shares.sum(axis=1) + constant, rows, **mark)
        ax.axvline(0.0, color=INK, linewidth=1.0)
        ax.margins(x=0.05)
        ax.set_ylim(n - 0.5, -0.5)
        samples = [short(sample, 40) for sample in self._samples()]
        ax.set_yticks(rows, samples, parse_math=False, fontsize=9)
        ax.set_xlabel(short(self.meaning, 80), parse_math=False)
        quiet_axes(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        title(ax, "What each source says about single samples")
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _arrays(self) -> tuple[Array, Array]:
        shares = np.atleast_2d(np.asarray(self.contributions, dtype=float))
        if shares.shape[1] != len(self.sources):
            raise ValueError(
                f"contributions must have a column per source, {len(self.sources)}; got "
                f"{shares.shape[1]}."
            )
        return shares, np.broadcast_to(np.asarray(self.constant, dtype=float), len(shares))

    def _samples(self) -> list[str]:
        shares, _ = self._arrays()
        if self.samples is None:
            return [f"sample {i}" for i in range(len(shares))]
        return [str(sample) for sample in self.samples]

    def _parts(self) -> list[tuple[str, Array]]:
        """The heaviest sources, the others as one, and the constant unless it is zero."""
        shares, constant = self._arrays()
        order = np.argsort(-np.abs(shares).sum(axis=0), kind="stable")
        heavy = sorted(order[:MAX_SOURCES].tolist())
        parts = [(str(self.sources[s]), shares[:, s]) for s in heavy]
        if others := order[MAX_SOURCES:].tolist():
            parts.append((f"{len(others)} other sources", shares[:, others].sum(axis=1)))
        return [*parts, (CONSTANT, constant)] if np.any(constant) else parts

    def _colours(self, n_parts: int) -> list[Any]:
        n_sources = min(len(self.sources), MAX_SOURCES)
        others = [f"{GREY}80"] * (len(self.sources) > MAX_SOURCES)
        return [*PALETTE[:n_sources], *others, "none"][:n_parts]


def _decisions(estimator: Any, X: Any, y: Any) -> _Decisions:
    """The shares of sources in one number for every sample, and how right and sure it is."""
    shares = np.asarray(estimator.decision_contributions(X, by="source"), dtype=float)
    b = np.ravel(np.asarray(estimator.intercept_, dtype=float))
    if shares.ndim == 3 and not is_classifier(estimator):
        raise ValueError(
            f"ContributionsDisplay draws one target, {type(estimator).__name__} has "
            f"{shares.shape[2]}; fit it to one of them."
        )
    if shares.ndim == 3:
        return _against_strongest_other(estimator, shares, b, y)
    constant = np.full(len(shares), b[0] if len(b) else 0.0)
    f = shares.sum(axis=1) + constant
    if not is_classifier(estimator):
        margin = None if y is None else -np.abs(np.ravel(np.asarray(y, dtype=float)) - f)
        return _Decisions(shares, constant, margin, _scatter(estimator, X), "prediction")
    against, towards = (short(label) for label in estimator.classes_)
    sign = None if y is None else np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)
    meaning = f"decision: ← {against}   |   {towards} →"
    return _Decisions(shares, constant, None if sign is None else sign * f, -np.abs(f), meaning)


def _scatter(estimator: Any, X: Any) -> Array:
    """Predictive standard deviations, where a regressor has them."""
    if "return_std" not in signature(estimator.predict).parameters:
        return np.zeros(0)
    return np.ravel(estimator.predict(X, return_std=True)[1])


def _against_strongest_other(estimator: Any, shares: Array, b: Array, y: Any) -> _Decisions:
    """For every sample the decision for one class minus that for the strongest other."""
    F = shares.sum(axis=1) + b
    rows = np.arange(len(F))
    codes = F.argmax(axis=1) if y is None else np.searchsorted(estimator.classes_, np.asarray(y))
    others = F.copy()
    others[rows, codes] = -np.inf
    second = others.argmax(axis=1)
    parts = shares[rows, :, codes] - shares[rows, :, second]
    margin = F[rows, codes] - F[rows, second]
    ranked = np.sort(F, axis=1)
    which = "predicted" if y is None else "true"
    meaning = f"decision for the {which} class, minus that for the strongest other"
    doubt = ranked[:, -2] - ranked[:, -1]
    return _Decisions(parts, b[codes] - b[second], None if y is None else margin, doubt, meaning)


def _extremes(decisions: _Decisions) -> list[tuple[str, int]]:
    """The best and the worst samples, or the highest and lowest, and the most uncertain.

    Of few samples all, without a kind.
    """
    if len(decisions.shares) < FEW:
        return [("", i) for i in range(len(decisions.shares))]
    if decisions.margin is not None:
        scales = [("best", decisions.margin), ("worst", -decisions.margin)]
    else:
        f = decisions.shares.sum(axis=1) + decisions.constant
        scales = [("highest", f), ("lowest", -f)]
    if len(decisions.doubt):
        scales.append(("unsure", decisions.doubt))
    chosen: list[tuple[str, int]] = []
    for kind, scale in scales:
        seen = {i for _, i in chosen}
        fresh = [int(i) for i in np.argsort(-scale, kind="stable") if int(i) not in seen]
        chosen += [(kind, i) for i in fresh[:N_EACH]]
    return chosen


def _names(X: Any, n: int) -> list[Any]:
    """Ids or index of the samples, or their positions."""
    if hasattr(X, "ids"):
        return list(X.ids)
    return list(X.index) if hasattr(X, "iloc") else [f"sample {i}" for i in range(n)]
