"""ObjectiveContourDisplay: MKL, joint MAP and VB over the weights of two kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ..bayes import BayesProblem, MacKay
from ..bayes.taxonomy import Objective, phi_map, phi_mkl, phi_vb
from ..bayes.taxonomy_objectives import best_bounds
from ._style import INK, PALETTE, legend

TITLES = {"MKL": "MKL", "MAP": "joint MAP", "VB": "variational bound"}
RANKS = (0.0, 0.004, 0.012, 0.03, 0.06, 0.1, 0.16, 0.24, 0.34, 0.46, 0.6, 0.76, 0.92)  # of levels
ROUGH = 1e-4  # accuracy of variances on the grid, which is that of values to its square
REACH = 2.0  # how far an axis goes, relative to the optimum for its kernel alone
SAME = 0.01  # share of the panel within which two minima are one
JITTER = 0.01  # for joint MAP, relative to the mean diagonal of the kernels

Point = tuple[float, float]


class _Surface(NamedTuple):
    """An objective of two weights, and its values on a grid."""

    function: Callable[[Array], Objective]
    values: Array


class ObjectiveContourDisplay:
    r"""Contours of :math:`\phi_{MKL}`, :math:`\phi_{MAP}` and :math:`\phi_{VB}` for two kernels.

    MKL is convex for a log-concave likelihood. Joint MAP and the variational bound are not, may
    have several minima, and these tend to be sparser (compare Figure 2 of [NS11]_).

    Parameters
    ----------
    d1, d2 : array-like of shape (n_grid,)
        Weights of the first kernel, along the horizontal axis, and of the second.
    surfaces : dict of str to array of shape (n_grid, n_grid)
        Values by objective; rows belong to ``d2``, columns to ``d1``.
    minima : dict of str to list of pairs
        Local minima by objective, the lowest first.
    names : pair of str, default=("kernel 1", "kernel 2")
        Names of the kernels.

    Attributes
    ----------
    axes_ : array of matplotlib Axes
        The panels, in the order of ``surfaces``.
    figure_ : matplotlib Figure
        Where the picture was drawn.
    contours_ : dict of matplotlib ContourSet
        The filled contours.

    See Also
    --------
    TaxonomyDisplay : The values of all objectives at one choice of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.displays import ObjectiveContourDisplay
    >>> d = np.linspace(0, 2, 5)
    >>> bowl = (d[:, None] - 1) ** 2 + (d - 0.5) ** 2
    >>> display = ObjectiveContourDisplay(d, d, {"VB": bowl}, {"VB": [(0.5, 1.0)]})
    >>> len(display.frame())
    25
    """

    axes_: Any
    figure_: Any
    contours_: dict[str, Any]

    def __init__(
        self,
        d1: Any,
        d2: Any,
        surfaces: Mapping[str, Any],
        minima: Mapping[str, list[Point]],
        *,
        names: tuple[str, str] = ("kernel 1", "kernel 2"),
    ) -> None:
        self.d1 = d1
        self.d2 = d2
        self.surfaces = surfaces
        self.minima = minima
        self.names = names

    @classmethod
    def from_problem(
        cls,
        problem: BayesProblem,
        *,
        limits: Point | None = None,
        n_grid: int = 22,
        lam: float | None = None,
        p: float = 1.0,
        jitter: float | None = None,
        names: tuple[str, str] = ("kernel 1", "kernel 2"),
        axes: Any = None,
    ) -> Self:
        r"""Compute and draw the objectives of a problem with two kernels.

        Parameters
        ----------
        problem : BayesProblem
            With two kernels; its likelihood is kept fixed and hyper-priors are left out.
        limits : pair of float, default=None
            Largest weights; by default twice those that suit each kernel alone.
        n_grid : int, default=22
            Points along each axis, from zero and closer to it.
        lam : float, default=None
            Strength of the penalty of MKL; by default :math:`n / \sum_m d_m` at the optimum of
            the variational bound.
        p : float, default=1.0
            Power of that penalty.
        jitter : float, default=None
            Added to the diagonal for joint MAP; by default 1 % of that of the kernels.
        names : pair of str
            Names of the kernels.
        axes : sequence of three matplotlib Axes, default=None
            Where to draw; a new figure by default.
        """
        if problem.bank.n_kernels != 2:
            raise ValueError(
                f"ObjectiveContourDisplay draws two kernels, got {problem.bank.n_kernels}; choose "
                "two with bank.select."
            )
        problem = replace(problem, learn_likelihood=False)
        scales = problem.kernel_scales
        optimum = _optimum(problem, [0, 1])
        total = float(np.sum(optimum * scales)) or 1.0  # of the prior variance
        if limits is None:
            alone = [_optimum(problem, [m])[0] for m in range(2)]
            limits = tuple(REACH * (w or total / k) for w, k in zip(alone, scales, strict=True))
        d1, d2 = (limit * np.linspace(0.0, 1.0, n_grid) ** 2 for limit in limits)
        surfaces = _surfaces(
            problem,
            d1,
            d2,
            lam=problem.y.size / (float(optimum.sum()) or total) if lam is None else lam,
            p=p,
            jitter=JITTER * float(np.mean(scales)) if jitter is None else jitter,
        )
        minima = {name: _minima(surface, d1, d2) for name, surface in surfaces.items()}
        values = {name: surface.values for name, surface in surfaces.items()}
        return cls(d1, d2, values, minima, names=names).plot(axes=axes)

    @classmethod
    def from_estimator(cls, estimator: Any, **settings: Any) -> Self:
        """Compute and draw the objectives around a fitted estimator with two kernels.

        Parameters
        ----------
        estimator : fitted estimator
            With ``problem_`` and ``likelihood_``.
        **settings : dict
            Passed to :meth:`from_problem`.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "problem_"):
            raise ValueError(
                f"This {type(estimator).__name__} has no problem_: training kernels do not travel "
                "in pickles and model files; fit it here, or use from_problem."
            )
        problem = replace(estimator.problem_, likelihood=estimator.likelihood_)
        d = np.ravel(estimator.weights_)
        if len(d) == 2 and d.max() > 0:  # the minimum that was found is in view
            settings.setdefault("limits", tuple(2 * np.maximum(d, 0.1 * d.max())))
        return cls.from_problem(problem, **settings)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with a row per point of the grid."""
        import pandas as pd

        d1, d2 = np.meshgrid(np.asarray(self.d1, float), np.asarray(self.d2, float))
        columns = {name: np.ravel(values) for name, values in self.surfaces.items()}
        return pd.DataFrame({"d1": d1.ravel(), "d2": d2.ravel()} | columns)

    def plot(self, axes: Any = None, **kwargs: Any) -> Self:
        """Draw one panel for each objective, with its minima marked.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One for each objective; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.contourf``.
        """
        axes = _new_axes(len(self.surfaces)) if axes is None else np.ravel(axes)
        if len(axes) != len(self.surfaces):
            raise ValueError(
                f"axes must hold {len(self.surfaces)} Axes, one per objective, got {len(axes)}."
            )
        self.contours_ = {}
        for ax, name in zip(axes, self.surfaces, strict=True):
            self.contours_[name] = self._draw_panel(ax, name, **kwargs)
        axes[0].set_ylabel(f"weight of {self.names[1]}", color=INK, parse_math=False)
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _draw_panel(self, ax: Any, name: str, **kwargs: Any) -> Any:
        from matplotlib.colors import LinearSegmentedColormap

        values = np.asarray(self.surfaces[name], dtype=float)
        levels = _levels(values)
        fade = LinearSegmentedColormap.from_list("depth", [PALETTE[0], f"{PALETTE[0]}08"])
        style = {"cmap": fade, "levels": levels, "norm": _rank_norm(levels), "extend": "max"}
        filled = ax.contourf(self.d1, self.d2, values, **(style | kwargs))
        lines = {"colors": INK, "linewidths": 0.5, "linestyles": "solid", "alpha": 0.45}
        ax.contour(self.d1, self.d2, values, levels=levels, **lines)
        minima = list(self.minima.get(name, ()))
        _mark(ax, minima[:1], "lowest minimum", face=PALETTE[5])
        _mark(ax, minima[1:], "other minimum", face="white")
        ax.set(xlim=(0, self.d1[-1]), ylim=(0, self.d2[-1]))
        ax.set_title(_title(name, minima), color=INK, fontsize=10)
        ax.set_xlabel(f"weight of {self.names[0]}", color=INK, parse_math=False)
        ax.tick_params(colors=INK, length=3)
        ax.spines[:].set_color(INK)
        if len(minima) > 1:
            legend(ax, loc="upper right", fontsize=8)
        return filled


def _title(name: str, minima: list[Point]) -> str:
    """The name of an objective, how many minima it has and how sparse the lowest is."""
    if not minima:
        return f"{TITLES.get(name, name)}\nno minimum in view"
    count = "one minimum" if len(minima) == 1 else f"{len(minima)} minima, the lowest"
    kernels = ("no kernel", "one kernel", "both kernels")[np.count_nonzero(minima[0])]
    return f"{TITLES.get(name, name)}\n{count}: {kernels} in use"


def _mark(ax: Any, points: list[Point], label: str, *, face: str) -> None:
    """Rings at minima, whole even where they sit on an axis."""
    if points:
        style = {"marker": "o", "linestyle": "", "markersize": 9, "markeredgewidth": 1.8}
        style |= {"markerfacecolor": face, "markeredgecolor": PALETTE[5], "label": label}
        ax.plot(*zip(*points, strict=True), clip_on=False, zorder=4, **style)


def _new_axes(n_panels: int) -> Any:
    from matplotlib import pyplot as plt

    size = (3.4 * n_panels + 0.4, 3.9)
    _, axes = plt.subplots(
        1, n_panels, figsize=size, layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    return axes[0]


def _levels(values: Array) -> Array:
    """Levels that part the panel into shares of its area, so that flat valleys show."""
    return np.unique(np.quantile(values[np.isfinite(values)], RANKS))


def _rank_norm(levels: Array) -> Any:
    """One step of colour from each level to the next."""
    from matplotlib.colors import BoundaryNorm

    return BoundaryNorm(levels, 256, extend="max")


def _optimum(problem: BayesProblem, kernels: list[int]) -> Array:
    """The weights of some of the kernels that minimise the variational bound."""
    chosen = replace(problem, bank=problem.bank.select(kernels))
    return MacKay(tol=1e-3).infer(chosen).weights


def _surfaces(
    problem: BayesProblem, d1: Array, d2: Array, *, lam: float, p: float, jitter: float
) -> dict[str, _Surface]:
    """The objectives and their values on the grid; rows belong to d2."""
    data = (problem.bank, problem.y, problem.likelihood)
    intercept = problem.fit_intercept

    def mkl(d: Array) -> Objective:
        return phi_mkl(*data, d, lam=lam, p=p, fit_intercept=intercept)

    def joint(d: Array) -> Objective:
        return phi_map(*data, d, jitter=jitter, fit_intercept=intercept)

    def bound(d: Array) -> Objective:
        return phi_vb(*data, d, fit_intercept=intercept)

    def values(function: Callable[[Array], Objective]) -> Array:
        return np.array([[function(np.array([a, b])).value for a in d1] for b in d2])

    return {
        "MKL": _Surface(mkl, values(mkl)),
        "MAP": _Surface(joint, values(joint)),
        "VB": _Surface(bound, _bound_values(problem, d1, d2)),
    }


def _bound_values(problem: BayesProblem, d1: Array, d2: Array) -> Array:
    """The variational bound on the grid; every point starts from the bounds of its neighbour."""
    values, site_var = np.empty((len(d2), len(d1))), None
    for i, b in enumerate(d2):
        for j in range(len(d1))[:: -1 if i % 2 else 1]:  # there and back
            e = best_bounds(
                problem.bank,
                problem.y,
                problem.likelihood,
                np.array([d1[j], b]),
                fit_intercept=problem.fit_intercept,
                site_var=site_var,
                tol=ROUGH,
            )
            values[i, j], site_var = e.value, e.state.site_var
    return values


def _minima(surface: _Surface, d1: Array, d2: Array) -> list[Point]:
    """Local minima in view, refined from points of the grid, the lowest first."""
    padded = np.pad(surface.values, 1, constant_values=np.inf)
    n, m = surface.values.shape
    shifts = [(i, j) for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    lowest = np.all([surface.values <= padded[i : i + n, j : j + m] for i, j in shifts], axis=0)
    bounds, found = [(0.0, d1[-1]), (0.0, d2[-1])], []
    for i, j in np.argwhere(lowest):
        result = minimize(
            lambda d: surface.function(d)[:2],
            np.array([d1[j], d2[i]]),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
        )
        if result.x[0] < d1[-1] and result.x[1] < d2[-1]:  # not where only the view ends
            found.append((float(result.fun), tuple(result.x)))
    merged: list[Point] = []
    for _, point in sorted(found):
        apart = [np.hypot(*(np.subtract(point, q) / (d1[-1], d2[-1]))) for q in merged]
        if min(apart, default=1.0) > SAME:
            merged.append((float(point[0]), float(point[1])))
    return merged
