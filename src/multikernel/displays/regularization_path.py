"""PathDisplay: which kernels or sources enter, and how they grow, as regularization gets weaker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._component import Array
from ._style import GREY, INK, PALETTE, entry, legend, new_axes, quiet_axes, short, title

MAX_COLOURS = 7  # rows told apart; the others are grey
DASHES = ("-", "--", "-.", ":", "-", "--", "-.")
MAX_LINES = 100  # beyond which curves are part of an image, also in a drawing of lines
MAX_COUNTS = 9  # numbers of kernels in use that are written above the axes
QUANTITIES = ("weight", "share")
USED = 1e-6  # of the largest weight


class PathDisplay:
    """Weights of kernels, or of sources, against the inverse regularization C.

    The seven heaviest rows have a colour and a name, the others are grey. Above the axes is the
    number of kernels in use.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,)
        Inverse regularization, increasing.
    weights : array-like of shape (n_Cs, n_rows)
        Weights at every C.
    names : sequence of str of length n_rows
        Kernels or sources.
    n_active : array-like of shape (n_Cs,), default=None
        Kernels in use at every C; by default the rows with a weight.
    quantity : {"weight", "share"}, default="weight"
        The weights themselves, or their shares in the sum at each C.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    lines_ : dict of int to matplotlib Line2D
        The curves of the heaviest rows, by row.
    others_ : matplotlib LineCollection or None
        The curves of the others.

    See Also
    --------
    SelectionDisplay : The scores against C, and which was chosen.

    Examples
    --------
    >>> from multikernel.displays import PathDisplay
    >>> display = PathDisplay([0.1, 1.0], [[1.0, 0.0], [3.0, 1.0]], ["a", "b"], quantity="share")
    >>> display.frame()["share"].tolist()
    [1.0, 0.0, 0.75, 0.25]
    """

    ax_: Any
    figure_: Any
    lines_: dict[int, Any]
    others_: Any

    def __init__(
        self,
        Cs: ArrayLike,
        weights: ArrayLike,
        names: Sequence[str],
        *,
        n_active: ArrayLike | None = None,
        quantity: str = "weight",
    ) -> None:
        self.Cs = Cs
        self.weights = weights
        self.names = names
        self.n_active = n_active
        self.quantity = quantity

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        by: str = "kernel",
        quantity: str = "weight",
        ax: Any = None,
        **line_kwargs: Any,
    ) -> Self:
        """Draw a regularization path.

        Parameters
        ----------
        path : KernelPath
            As :func:`multikernel.mkl_path` returns it; the mean is taken over several sets of
            weights.
        by : {"kernel", "source"}, default="kernel"
            What a curve is; the weight of a source is the sum over its kernels.
        quantity : {"weight", "share"}, default="weight"
            The weights themselves, or their shares in the sum at each C.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kwargs : dict
            Passed to ``Axes.plot``.
        """
        if by not in ("kernel", "source"):
            raise ValueError(f"by must be 'kernel' or 'source', got {by!r}.")
        weights = path.weights.reshape(len(path.Cs), -1, len(path.kernels)).mean(axis=1)
        names = list(path.kernels)
        if by == "source":
            names = list(dict.fromkeys(path.sources))
            sources = np.array(path.sources, dtype=object)
            weights = np.stack([weights[:, sources == s].sum(axis=1) for s in names], axis=1)
        display = cls(path.Cs, weights, names, n_active=path.n_active, quantity=quantity)
        return display.plot(ax=ax, **line_kwargs)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame with a row per C and curve."""
        import pandas as pd

        Cs, values = self._values()
        return pd.DataFrame(
            {
                "C": np.repeat(Cs, values.shape[1]),
                "name": list(self.names) * len(Cs),
                self.quantity: values.ravel(),
            }
        )

    def plot(self, ax: Any = None, **line_kwargs: Any) -> Self:
        """Draw a curve for every row that has a weight anywhere.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kwargs : dict
            Passed to ``Axes.plot``.
        """
        ax = new_axes(7.4, 3.9) if ax is None else ax
        Cs, values = self._values()
        peak = np.abs(values).max(axis=0, initial=0.0)
        order = np.argsort(-peak, kind="stable")
        order = order[peak[order] > 0]
        self.lines_, heavy, light = {}, order[:MAX_COLOURS].tolist(), order[MAX_COLOURS:]
        for row, colour, dashes in zip(heavy, PALETTE, DASHES, strict=False):
            style = {"color": colour, "linestyle": dashes, "linewidth": 1.9}
            style |= {"label": entry(short(self.names[row], 30))} | line_kwargs
            (self.lines_[row],) = ax.plot(Cs, values[:, row], **style)
        self.others_ = _draw_others(ax, Cs, values[:, light]) if len(light) else None
        ax.set_xscale("log")
        ax.set_xlabel("C (weaker regularization →)")
        ax.set_ylabel("weight" if self.quantity == "weight" else "share of the weight")
        quiet_axes(ax, grid="both")
        self._write_counts(ax, Cs, values)
        title(ax, "Regularization path (numbers: kernels in use)", pad=18)
        if self.lines_:
            legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _values(self) -> tuple[Array, Array]:
        if self.quantity not in QUANTITIES:
            raise ValueError(f"quantity must be one of {QUANTITIES}, got {self.quantity!r}.")
        Cs, values = np.asarray(self.Cs, dtype=float), np.asarray(self.weights, dtype=float)
        if values.shape != (len(Cs), len(self.names)):
            raise ValueError(
                f"weights must have shape (n_Cs, n_rows) = {(len(Cs), len(self.names))}, got "
                f"{values.shape}."
            )
        if self.quantity == "share":
            total = np.abs(values).sum(axis=1, keepdims=True)
            values = np.divide(np.abs(values), total, out=np.zeros_like(values), where=total > 0)
        return Cs, values

    def _write_counts(self, ax: Any, Cs: Array, values: Array) -> None:
        """Write how many kernels are in use above some of the values of C."""
        counts = self.n_active
        if counts is None:
            counts = np.count_nonzero(np.abs(values) > USED * np.abs(values).max(), axis=1)
        shown = np.unique(np.linspace(0, len(Cs) - 1, MAX_COUNTS).round().astype(int))
        place = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
        for i in shown:
            text = f"{int(np.asarray(counts)[i]):,}"
            ax.text(Cs[i], 1.01, text, color=INK, fontsize=8, **place)


def _draw_others(ax: Any, Cs: Array, values: Array) -> Any:
    """The curves of light rows, thin and grey behind the others."""
    from matplotlib.collections import LineCollection

    curves = np.stack([np.broadcast_to(Cs[:, np.newaxis], values.shape), values], axis=2)
    style: dict[str, Any] = {"colors": GREY, "linewidths": 0.7, "alpha": 0.5, "zorder": 1.5}
    many = values.shape[1] > MAX_LINES
    label = f"{values.shape[1]:,} others"
    lines = LineCollection(list(curves.swapaxes(0, 1)), label=label, rasterized=many, **style)
    return ax.add_collection(lines)
