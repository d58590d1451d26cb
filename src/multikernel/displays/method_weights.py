"""MethodWeightsDisplay: which kernels each method or objective keeps, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._component import Array
from ._style import (
    CELL_EDGE,
    INK,
    MANY_CELLS,
    bare_axes,
    colour_bar,
    fade,
    new_axes,
    percent,
    short,
)
from .weights import _kernel_label

MAX_NUMBERED = 24  # kernels up to which shares are written into their cells
MAX_LABELLED = 60  # kernels up to which they are named


class MethodWeightsDisplay:
    """The share of every kernel in the total weight, one column for each method.

    Parameters
    ----------
    weights : dict of str to array-like of shape (n_kernels,)
        Weights by name of the method or objective.
    kernels : sequence of str of length n_kernels, default=None
        Names of the kernels; numbers by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    mesh_ : matplotlib QuadMesh
        The heat map.

    See Also
    --------
    WeightsDisplay : The weights of one model, by source.
    EvidenceDisplay : How the methods got there.

    Examples
    --------
    >>> from multikernel.displays import MethodWeightsDisplay
    >>> display = MethodWeightsDisplay(
    ...     {"evidence": [3.0, 1.0, 0.0], "mkl": [0.2, 0.2, 0.1]}, kernels=["a", "b", "c"]
    ... )
    >>> display.frame()["mkl"].tolist()
    [0.4, 0.4, 0.2]
    >>> display.used()
    {'evidence': 2, 'mkl': 3}
    """

    ax_: Any
    figure_: Any
    mesh_: Any

    def __init__(
        self, weights: Mapping[str, ArrayLike], *, kernels: Sequence[str] | None = None
    ) -> None:
        self.weights = weights
        self.kernels = kernels

    @classmethod
    def from_fits(
        cls,
        fits: Mapping[str, Any],
        *,
        kernels: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the weights of several fits on the same kernels.

        Parameters
        ----------
        fits : dict of str to fitted estimator, Inference or Solution
            By name of the method; several sets of weights of one estimator are averaged.
        kernels : sequence of str, default=None
            Names of the kernels; by default from the first ``kernel_table_`` found.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.pcolormesh``.
        """
        weights = {name: _weights(fit) for name, fit in fits.items()}
        tables = [fit.kernel_table_ for fit in fits.values() if hasattr(fit, "kernel_table_")]
        if kernels is None and tables:
            kernels = _names(tables[0])[: len(next(iter(weights.values())))]
        return cls(weights, kernels=kernels).plot(ax=ax, **kwargs)

    def used(self) -> dict[str, int]:
        """The number of kernels with a weight above zero, by method."""
        return {name: int(np.count_nonzero(w)) for name, w in self.weights.items()}

    def frame(self) -> Any:
        """The shares shown, as a pandas DataFrame of kernels by methods."""
        import pandas as pd

        index = pd.Index(self._kernels(), name="kernel")
        return pd.DataFrame(dict(zip(self.weights, self._shares().T, strict=True)), index=index)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the heat map; cells of weight zero stay empty.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.pcolormesh``.
        """
        shares = self._shares()
        M, n_methods = shares.shape
        if ax is None:
            rows = 0.24 * M if M <= MAX_LABELLED else min(0.07 * M, 10.0)
            ax = new_axes(2.4 + 1.15 * n_methods, 1.6 + max(rows, 1.0))
        style = {"cmap": fade(), "vmin": 0.0, "edgecolors": CELL_EDGE}
        style |= {"linewidth": 0.8 if M <= MAX_LABELLED else 0.0}
        style |= {"rasterized": shares.size > MANY_CELLS}
        self.mesh_ = ax.pcolormesh(np.ma.masked_equal(shares, 0.0), **(style | kwargs))
        ax.set_ylim(M, 0)
        ticks = [f"{short(name, 18)}\n{k} of {M}" for name, k in self.used().items()]
        ax.set_xticks(np.arange(n_methods) + 0.5, ticks, parse_math=False, fontsize=9)
        ax.xaxis.tick_top()
        if M <= MAX_LABELLED:
            names = [short(name) for name in self._kernels()]
            ax.set_yticks(np.arange(M) + 0.5, names, parse_math=False, fontsize=8)
        else:
            ax.set_ylabel("kernel", color=INK)
        bare_axes(ax)
        if M <= MAX_NUMBERED:
            _write_shares(ax, shares)
        _draw_scale(ax, self.mesh_)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _kernels(self) -> list[str]:
        if self.kernels is not None:
            return list(self.kernels)
        return [f"kernel {m}" for m in range(len(self._shares()))]

    def _shares(self) -> Array:
        """Shares of shape (n_kernels, n_methods); zero weights have shares of zero."""
        columns = [np.asarray(w, dtype=float) for w in self.weights.values()]
        lengths = {len(w) for w in columns}
        if len(lengths) != 1:
            raise ValueError(f"all methods must weigh the same kernels, got {sorted(lengths)}.")
        return np.stack([w / (w.sum() or 1.0) for w in columns], axis=1)


def _weights(fit: Any) -> Array:
    """The weights of an estimator, averaged over sets, or of a solution."""
    weights = np.asarray(fit.weights if hasattr(fit, "dual_coef") else fit.weights_, dtype=float)
    return weights.reshape(-1, weights.shape[-1]).mean(axis=0)


def _names(table: Any) -> list[str]:
    """Family and parameter of every kernel, behind its source where there are several."""
    kernels = zip(map(str, table["family"]), table["parameter"], strict=True)
    names = [_kernel_label(family, parameter) for family, parameter in kernels]
    if len(set(table["source"])) == 1:
        return names
    return [f"{source} · {name}" for source, name in zip(table["source"], names, strict=True)]


def _write_shares(ax: Any, shares: Array) -> None:
    """Write every share into its cell, in white where the cell is dark."""
    dark = 0.5 * shares.max()
    for (m, o), share in np.ndenumerate(shares):
        if share > 0:
            colour = "white" if share > dark else INK
            ax.text(
                o + 0.5, m + 0.5, percent(share), ha="center", va="center", fontsize=8, color=colour
            )


def _draw_scale(ax: Any, mesh: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    label = "share of the total weight of a method"
    colour_bar(ax, mesh, label, aspect=30, pad=0.03, format=PercentFormatter(1.0))
