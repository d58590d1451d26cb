"""SimplexDisplay: the objective over all ways to share the weight among three kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from .._warnings import unsaid
from ..regularizers import FixedWeights, Regularizer
from ..solvers import Problem
from ._style import INK, PALETTE, colour_bar, legend, new_axes, short, title

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of the triangle
RANKS = (0.0, 0.03, 0.08, 0.16, 0.26, 0.38, 0.52, 0.68, 0.84, 1.0)  # of the levels, by area
ACCURACY = 1e-4  # of the objective at points of the grid
FORBIDDEN = 1e100  # more than any objective


class _Surface(NamedTuple):
    """Values at some points of the simplex."""

    shares: Array  # (n_points, 3)
    values: Array  # (n_points,)


class SimplexDisplay:
    """A triangle of all shares of three kernels, or sources, with those that were learned.

    A corner is one kernel alone, the middle the uniform sum, the way to a corner the share of its
    kernel.

    Parameters
    ----------
    points : array-like of shape (n_points, 3)
        Learned weights, of folds or models; their shares are drawn.
    names : sequence of three str, default=("kernel 1", "kernel 2", "kernel 3")
        Names of the corners.
    grid : array-like of shape (n_grid, 3), default=None
        Shares at which there are values.
    values : array-like of shape (n_grid,), default=None
        An objective there, smaller is better.
    quantity : str, default="objective"
        What the values are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    points_ : matplotlib Line2D
        The learned shares.
    contours_ : matplotlib TriContourSet or None
        The values.

    See Also
    --------
    ObjectiveContourDisplay : Objectives over the weights of two kernels.

    Examples
    --------
    >>> from multikernel.displays import SimplexDisplay
    >>> display = SimplexDisplay([[2.0, 1.0, 1.0]], ["a", "b", "c"])
    >>> display.frame()[["a", "b", "c"]].iloc[0].tolist()
    [0.5, 0.25, 0.25]
    """

    ax_: Any
    figure_: Any
    points_: Any
    contours_: Any

    def __init__(
        self,
        points: ArrayLike,
        names: Sequence[str] = ("kernel 1", "kernel 2", "kernel 3"),
        *,
        grid: ArrayLike | None = None,
        values: ArrayLike | None = None,
        quantity: str = "objective",
    ) -> None:
        self.points = points
        self.names = names
        self.grid = grid
        self.values = values
        self.quantity = quantity

    @classmethod
    def from_weights(
        cls, weights: Any, *, names: Sequence[str] | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw learned weights, without an objective.

        Parameters
        ----------
        weights : DataFrame or array of shape (n_points, 3)
            A row per fold or model; ``comparison.shares().T`` for three sources.
        names : sequence of three str, default=None
            Names of the corners; by default the columns of a DataFrame.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot`` for the points.
        """
        if names is None:
            columns = getattr(weights, "columns", None)
            found = [f"kernel {m}" for m in (1, 2, 3)] if columns is None else columns
            names = [str(name) for name in found]
        return cls(np.asarray(weights, dtype=float), names).plot(ax=ax, **kwargs)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_grid: int = 10, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Compute and draw the objective of a fitted estimator over the shares of its weight.

        At every point the sum of the weights is the one that suits the shares best. For three
        sources of several kernels the proportions within each source are kept as learned.

        Parameters
        ----------
        estimator : fitted MKLClassifier or MKLRegressor
            With three kernels, or kernels of three sources.
        X, y : samples and targets
            Those of training.
        n_grid : int, default=10
            Steps along an edge: with 10 the model is fitted about 400 times to one kernel, the
            combination.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot`` for the point learned.
        """
        check_is_fitted(estimator)
        names, T = _corners(estimator)
        d = np.asarray(estimator.weights_, dtype=float)
        learned = np.array([d[row > 0].sum() for row in T])
        surface = _surface(estimator, X, y, T, float(d.sum()), n_grid)
        display = cls(learned[np.newaxis], names, grid=surface.shares, values=surface.values)
        return display.plot(ax=ax, **kwargs)

    def frame(self) -> Any:
        """The numbers shown: points first, then the grid with its values."""
        import pandas as pd

        names = [str(name) for name in self.names]
        shares = self._shares()
        kind = ["learned"] * len(shares)
        values = np.full(len(shares), np.nan)
        if self.grid is not None:
            grid = np.asarray(self.grid, dtype=float)
            shares, kind = np.vstack([shares, grid]), kind + ["grid"] * len(grid)
            values = np.append(values, np.asarray(self.values, dtype=float))
        table = pd.DataFrame(shares, columns=names)
        table.insert(0, "kind", kind, allow_duplicates=True)
        table.insert(4, self.quantity, values, allow_duplicates=True)
        return table

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the triangle, the objective in it, and the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.plot`` for the points.
        """
        ax = new_axes(5.6, 5.2) if ax is None else ax
        self.contours_ = None if self.grid is None else self._draw_values(ax)
        _draw_triangle(ax, [str(name) for name in self.names])
        shares = self._shares()
        style = {"marker": "o", "markersize": 9, "linestyle": "", "zorder": 5}
        style |= {"markerfacecolor": f"{PALETTE[5]}cc", "markeredgecolor": "white"}
        label = "learned" if len(shares) == 1 else f"learned ({len(shares)} folds or models)"
        (self.points_,) = ax.plot(*(shares @ CORNERS).T, label=label, **(style | kwargs))
        middle = {"marker": "+", "markersize": 10, "markeredgewidth": 1.8, "linestyle": ""}
        ax.plot(*CORNERS.mean(axis=0), color=INK, label="uniform", zorder=4, **middle)
        ax.set(xlim=(-0.16, 1.16), ylim=(-0.14, 1.02), aspect="equal")
        ax.axis("off")
        legend(ax, loc="upper right", fontsize=8)
        what = "Shares of the weight" if self.grid is None else f"{self.quantity} by shares"
        title(ax, what)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _shares(self) -> Array:
        points = np.abs(np.atleast_2d(np.asarray(self.points, dtype=float)))
        if points.shape[1] != 3 or len(self.names) != 3:
            raise ValueError(
                f"SimplexDisplay draws three kernels or sources, got {points.shape[1]} weights and "
                f"{len(self.names)} names."
            )
        total = points.sum(axis=1, keepdims=True)
        return np.divide(points, total, out=np.full_like(points, np.nan), where=total > 0)

    def _draw_values(self, ax: Any) -> Any:
        from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap

        values = np.asarray(self.values, dtype=float)
        allowed = np.isfinite(values)  # not so where the shares break a constraint
        values = values[allowed]
        levels = np.unique(np.quantile(values, RANKS))
        if len(levels) < 2:
            levels = levels[0] + np.array([0.0, 1e-12 + 1e-6 * abs(levels[0])])
        depth = LinearSegmentedColormap.from_list("depth", [PALETTE[0], f"{PALETTE[0]}20"])
        at = (np.asarray(self.grid, dtype=float)[allowed] @ CORNERS).T
        style = {"levels": levels, "norm": BoundaryNorm(levels, 256), "cmap": depth}
        filled = ax.tricontourf(*at, values, **style)
        lines = {"colors": INK, "linewidths": 0.4, "alpha": 0.5}
        ax.tricontour(*at, values, levels=levels[1:-1], **lines)
        note = "steps of equal area" + ("" if allowed.all() else "; blank where not allowed")
        bar = colour_bar(ax, filled, f"{self.quantity} ({note})", shrink=0.8, pad=0.0)
        bar.set_ticks(levels[[0, len(levels) // 2, -1]])
        bar.ax.xaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
        return filled


def _corners(estimator: Any) -> tuple[list[str], Array]:
    """Names of the corners, and the weights of kernels, of unit sum, that each stands for."""
    weights = np.asarray(estimator.weights_, dtype=float)
    if weights.ndim != 1 or not hasattr(estimator, "_prepare") or hasattr(estimator, "task"):
        raise TypeError(
            f"SimplexDisplay needs an MKLClassifier or MKLRegressor with one set of weights, got "
            f"{type(estimator).__name__}; use SimplexDisplay.from_weights."
        )
    rows = estimator.kernels_.table()
    if len(rows) == 3:
        return [str(row["kernel"]) for row in rows], np.eye(3)
    sources = np.array([row["source"] for row in rows], dtype=object)
    names = list(dict.fromkeys(sources.tolist()))
    if len(names) != 3:
        raise ValueError(
            f"SimplexDisplay draws three kernels or three sources, {type(estimator).__name__} has "
            f"{len(rows)} kernels of {len(names)} sources."
        )
    inside = np.array([sources == name for name in names], dtype=float)
    T = inside * weights
    empty = T.sum(axis=1) == 0
    T[empty] = inside[empty]  # evenly, where none of the kernels has a weight
    return [str(name) for name in names], T / T.sum(axis=1, keepdims=True)


def _surface(estimator: Any, X: Any, y: Any, T: Array, total: float, n_grid: int) -> _Surface:
    r"""The least objective over t for weights :math:`d = t\, T^\top s` at shares s of a grid."""
    model = clone(estimator).set_params(solver="auto", tol=max(float(estimator.tol), ACCURACY))
    problems, _ = model._assemble(*model._prepare(X, y, None))
    C = float(getattr(estimator, "C_", None) or estimator.C)
    h = estimator.regularizer_
    if not h.convex:
        raise TypeError(f"SimplexDisplay needs a regularizer of weights, which {h!r} is not.")
    i, j = np.divmod(np.arange((n_grid + 1) ** 2), n_grid + 1)
    shares = np.stack([i, j, n_grid - i - j], axis=1)[i + j <= n_grid] / n_grid

    with unsaid(ConvergenceWarning):  # as good as the picture
        problems = [replace(problem, C=C) for problem in problems]
        rays = (_Ray(model, problems, h, s @ T) for s in shares)
        return _Surface(shares, np.array([ray.least(float(np.log(total))) for ray in rays]))


class _Ray:
    """The objective for weights in fixed proportions, as a function of the log of their sum."""

    def __init__(self, model: Any, problems: list[Problem], h: Regularizer, d: Array) -> None:
        self.model, self.h, self.d = model, h, d
        self.problems = [problem.mixed(d[np.newaxis]) for problem in problems]  # one kernel, K(d)

    def __call__(self, log_t: float) -> float:
        t = float(np.exp(log_t))
        penalty = 0.5 * self.h.value(t * self.d)
        if not np.isfinite(penalty):
            return FORBIDDEN * (1 + t)  # so that a search turns to smaller sums
        fixed = [replace(p, regularizer=FixedWeights([t])) for p in self.problems]
        fits = [self.model._make_solver(p).solve(p) for p in fixed]
        return float(sum(fit.objective + penalty for fit in fits))  # J = … + h(d) / 2

    def least(self, log_t: float) -> float:
        """The least objective, sought from a sum on; infinite if none is allowed."""
        for _ in range(4):
            ends = (log_t - 1.0, log_t + 1.0)
            options = {"maxiter": 6, "xatol": 0.02}
            found = minimize_scalar(self, method="bounded", bounds=ends, options=options)
            log_t = float(found.x)
            if min(log_t - ends[0], ends[1] - log_t) > 0.1:  # not at an end of where it was sought
                break
        return float(found.fun) if found.fun < FORBIDDEN else np.inf


def _draw_triangle(ax: Any, names: list[str]) -> None:
    """The edges, lines of equal shares, and the names of the corners."""
    edge = np.vstack([CORNERS, CORNERS[:1]])
    ax.plot(*edge.T, color=INK, linewidth=1.2, zorder=3)
    for share in (0.25, 0.5, 0.75):
        for corner in range(3):
            ends = [CORNERS[k] * (1 - share) + CORNERS[corner] * share for k in range(3)]
            del ends[corner]
            ax.plot(*np.transpose(ends), color=INK, linewidth=0.6, alpha=0.25, zorder=2)
        at = CORNERS[1] * share + CORNERS[0] * (1 - share)
        ax.text(at[0], -0.025, f"{share:.0%}", ha="center", va="top", fontsize=7, color=INK)
    style = {"color": INK, "fontsize": 9, "parse_math": False}
    for name, at, place in zip(names, CORNERS, ("right", "left", "center"), strict=True):
        up = 0.03 if place == "center" else -0.05
        shift = {"right": 0.08, "left": -0.08, "center": 0.0}[place]
        va = "bottom" if place == "center" else "top"
        ax.text(at[0] + shift, at[1] + up, short(name), ha=place, va=va, **style)
