"""QNormDisplay: what a penalty matrix asks of the kernels, and what was learned under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ..theory import virtual_kernels
from ._style import INK, PALETTE, short, source_colours
from .weights import WeightsDisplay

N_EIGENVECTORS = 3
MIN_LABELLED = 0.06  # share of the kernels below which a source gets a colour but no name


class _Panel(NamedTuple):
    title: str
    values: Array
    limit: float  # where the colours end


class QNormDisplay:
    """The matrix Q, its least penalised directions and the weights learned, source by source.

    Five panels as in Figure 2 of [H12]_: Q, the outer products of the three eigenvectors of
    smallest eigenvalue with themselves, and the outer product of the weights. Kernels are grouped
    by source, in order of appearance. Directions of eigenvalue zero, which Q does not penalise at
    all, are left out: their basis is arbitrary. Colours end at the largest absolute
    value of a panel, for Q at the largest outside of the diagonal, so that a heavy diagonal does
    not hide the couplings.

    Parameters
    ----------
    Q : array-like of shape (n_kernels, n_kernels)
        The penalty matrix, symmetric positive semi-definite.
    weights : array-like of shape (n_kernels,)
        The weights.
    sources : sequence of str of length n_kernels
        Where each kernel comes from.

    Attributes
    ----------
    axes_ : array of matplotlib Axes
        The panels, in the order above.
    figure_ : matplotlib Figure
        Where the picture was drawn.
    images_ : list of matplotlib AxesImage
        The pictures of the matrices.

    See Also
    --------
    WeightsDisplay : The weights alone.

    Examples
    --------
    >>> from multikernel.displays import QNormDisplay
    >>> display = QNormDisplay(
    ...     [[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 4.0]], [0.4, 0.5, 0.3],
    ...     sources=["rna", "rna", "mri"],
    ... )
    >>> list(display.frame().columns)
    ['source', 'weight', 'eigenvector 1', 'eigenvector 2', 'eigenvector 3']
    >>> display.eigenvalues()
    array([1., 3., 4.])
    """

    axes_: Any
    figure_: Any
    images_: list[Any]

    def __init__(self, Q: Any, weights: Sequence[float], *, sources: Sequence[str]) -> None:
        self.Q = Q
        self.weights = weights
        self.sources = sources

    @classmethod
    def from_estimator(cls, estimator: Any, *, axes: Any = None, **kwargs: Any) -> Self:
        """Draw Q and the weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            One whose regularizer has a matrix ``Q``; several sets of weights are averaged.
        axes : sequence of matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.imshow``.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator.regularizer_, "Q"):
            raise TypeError(
                f"QNormDisplay needs a regularizer with a matrix Q, such as QNorm(Q); this "
                f"{type(estimator).__name__} was fitted with {estimator.regularizer_!r}. Its "
                "weights are drawn by WeightsDisplay."
            )
        shown = WeightsDisplay.from_table(estimator.kernel_table_)
        display = cls(estimator.regularizer_.Q, shown.weights, sources=shown.sources)
        return display.plot(axes=axes, **kwargs)

    def eigenvalues(self) -> Array:
        """The smallest eigenvalues of Q above zero, at most three."""
        return virtual_kernels(self.Q).eigenvalues[:N_EIGENVECTORS]

    def frame(self) -> Any:
        """The numbers shown beside Q itself, as a pandas DataFrame with one row per kernel."""
        import pandas as pd

        vectors = self._eigenvectors().T
        columns: dict[str, Any] = {"source": list(self.sources), "weight": self._weights()}
        return pd.DataFrame(
            columns | {f"eigenvector {i}": v for i, v in enumerate(vectors, start=1)}
        )

    def plot(self, axes: Any = None, **kwargs: Any) -> Self:
        """Draw the panels side by side, each with its own scale.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One for each panel: two and one for each eigenvector; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.imshow``.
        """
        panels = self._panels()
        axes = _new_axes(len(panels)) if axes is None else np.ravel(axes)
        if len(axes) != len(panels):
            raise ValueError(f"axes must hold {len(panels)} Axes, one per panel, got {len(axes)}.")
        rank = {source: i for i, source in enumerate(dict.fromkeys(self.sources))}
        order = np.argsort([rank[source] for source in self.sources], kind="stable")
        ordered = [str(self.sources[m]) for m in order]
        self.images_ = [
            _draw_panel(ax, panel._replace(values=panel.values[np.ix_(order, order)]), **kwargs)
            for ax, panel in zip(axes, panels, strict=True)
        ]
        for ax in axes:
            _mark_sources(ax, ordered, names=ax is axes[0])
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _weights(self) -> Array:
        return np.asarray(self.weights, dtype=float)

    def _eigenvectors(self) -> Array:
        return virtual_kernels(self.Q).eigenvectors[:, :N_EIGENVECTORS]

    def _panels(self) -> list[_Panel]:
        Q, d = np.asarray(self.Q, dtype=float), self._weights()
        if not len(Q) == len(d) == len(self.sources):
            raise ValueError(
                f"Q, weights and sources must have the same length, got {len(Q)}, {len(d)} and "
                f"{len(self.sources)}."
            )
        couplings = np.abs(Q - np.diag(np.diagonal(Q))).max()
        panels = [_Panel("Q\npenalty of pairs", Q, float(couplings or np.abs(Q).max()))]
        names = [f"eigenvector {i}\nλ = {v:.3g}" for i, v in enumerate(self.eigenvalues(), start=1)]
        vectors = [*zip(names, self._eigenvectors().T, strict=True), ("weights\nouter product", d)]
        outer = [(name, np.outer(v, v)) for name, v in vectors]  # v vᵀ, and d dᵀ
        return panels + [_Panel(name, A, float(np.abs(A).max())) for name, A in outer]


def _new_axes(n_panels: int) -> Any:
    """A row of square panels in a figure of its own."""
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(1, n_panels, figsize=(2.6 * n_panels + 0.6, 3.5), layout="compressed")
    return axes


def _draw_panel(ax: Any, panel: _Panel, **kwargs: Any) -> Any:
    """One matrix: blue below zero, orange above, with its scale underneath."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("sign", [PALETTE[0], "#ffffff", PALETTE[5]])
    limit = panel.limit or 1.0
    style = {"cmap": colours, "vmin": -limit, "vmax": limit, "interpolation": "nearest"}
    image = ax.imshow(panel.values, **(style | kwargs))
    ax.set_title(panel.title, color=INK, fontsize=10)
    clipped = np.abs(panel.values).max() > limit
    bar = ax.figure.colorbar(
        image,
        ax=ax,
        orientation="horizontal",
        extend="max" if clipped else "neither",
        aspect=18,
        pad=0.03,
        shrink=0.9,
    )
    bar.set_ticks([-limit, 0.0, limit], labels=[f"{-limit:.2g}", "0", f"{limit:.2g}"])
    bar.ax.tick_params(colors=INK, labelsize=8, length=2)
    bar.outline.set_visible(False)
    return image


def _mark_sources(ax: Any, sources: list[str], *, names: bool) -> None:
    """Part the blocks of sources by lines, with their colours and names at the axes."""
    colours, n = source_colours(sources), len(sources)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color(INK)
    for source, colour in colours.items():
        first, count = sources.index(source), sources.count(source)
        if first:
            ax.axvline(first - 0.5, color=INK, alpha=0.5, linewidth=0.7)
            ax.axhline(first - 0.5, color=INK, alpha=0.5, linewidth=0.7)
        edges = [first / n, (first + count) / n]
        style = {"color": colour, "linewidth": 4, "solid_capstyle": "butt", "clip_on": False}
        ax.plot(edges, [-0.025] * 2, transform=ax.transAxes, **style)
        ax.plot([-0.025] * 2, [1 - e for e in edges], transform=ax.transAxes, **style)
        if names and count >= MIN_LABELLED * n:
            ax.text(
                -0.07,
                1 - np.mean(edges),
                short(source, limit=18),
                transform=ax.transAxes,
                ha="right",
                va="center",
                color=INK,
                fontsize=9,
                parse_math=False,
            )
