"""RedundancyDisplay: which kernels or sources say the same, and how much of it is about y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import dendrogram, leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.base import is_classifier

from .._component import Array
from ._alignments import MAX_SAMPLES, TARGET, measure_alignments
from ._style import INK, bare_axes, colour_bar, fade, new_axes, short, shorten_inside, title

MAX_NUMBERED = 14  # rows up to which alignments are written into their cells
MAX_TARGETS = 40  # rows up to which alignments with the targets are
MAX_TREE = 400  # rows up to which the tree is drawn
MAX_LABELLED = 110  # rows up to which they are named
_LETTER = 0.57 / 72  # inches that a letter takes in its line, for a font of one point


class RedundancyDisplay:
    r"""Centred alignment between kernels, or sources, ordered by a tree of what is alike.

    Kernels that are alike share their weight in ways that chance decides: learned weights of a
    group of them mean much, those of its members little. The first row is the alignment with the
    targets, 0 for a kernel that knows nothing of them.

    Parameters
    ----------
    alignment : array-like of shape (n_rows, n_rows)
        Centred alignment of every pair, between 0 and 1.
    names : sequence of str of length n_rows
        Kernels or sources.
    target : array-like of shape (n_rows,), default=None
        Centred alignment of each with the targets.
    note : str, default=""
        What was taken together or left out, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where the picture was drawn.
    image_ : matplotlib AxesImage
        The map.
    order_ : list of int
        The rows in the order of the tree.

    See Also
    --------
    multikernel.KernelAlignment : The same matrix as a penalty on weights.
    FoldWeightsDisplay : Whether weights are the same in all folds.

    Notes
    -----
    With :math:`H = I - \tfrac1n \mathbf 1 \mathbf 1^\top`, kernels :math:`\tilde K = H K H` and
    targets :math:`Y` (a centred column per class),

    .. math:: A(K, L) = \frac{\langle \tilde K, \tilde L \rangle_F}
              {\|\tilde K\|_F \|\tilde L\|_F}, \qquad A(K, y) = A(K, Y Y^\top) .

    A source of several kernels is the sum of its centred kernels of unit norm. The tree joins
    rows by average linkage of the distance 1 - A.

    Examples
    --------
    >>> from multikernel.displays import RedundancyDisplay
    >>> display = RedundancyDisplay(
    ...     [[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]], ["a", "b", "c"]
    ... )
    >>> display.frame().index.tolist()
    ['b', 'c', 'a']
    """

    ax_: Any
    figure_: Any
    image_: Any
    order_: list[int]

    def __init__(
        self,
        alignment: ArrayLike,
        names: Sequence[str],
        *,
        target: ArrayLike | None = None,
        note: str = "",
    ) -> None:
        self.alignment = alignment
        self.names = names
        self.target = target
        self.note = note

    @classmethod
    def measure(
        cls,
        kernels: Any,
        X: Any,
        y: Any = None,
        *,
        by: str = "auto",
        normalize: str | None = "variance",
        classification: bool | None = None,
        max_samples: int = MAX_SAMPLES,
    ) -> Self:
        """Compute the alignments of kernels on some samples; nothing is drawn.

        Kernels are made one at a time; what is held is one triangle for each row of the map.

        Parameters
        ----------
        kernels : anything that estimators take as ``kernels``
            None for the kernels that they use by default, "precomputed" for Gram matrices.
        X : table, row container or array of Gram matrices
            Samples.
        y : array of shape (n_samples,), default=None
            Labels or targets, for the first row.
        by : {"auto", "kernel", "source"}, default="auto"
            What a row is; "auto" takes the kernels of a source together when there are more than
            60 kernels of several sources, and of more than 150 rows keeps those best aligned
            with y, or the first where there is no y.
        normalize : str or None, default="variance"
            As in estimators.
        classification : bool, default=None
            Whether y holds labels; by default so unless some are fractions.
        max_samples : int, default=1000
            Samples drawn at random from more than that.
        """
        if by not in ("auto", "kernel", "source"):
            raise ValueError(f"by must be 'auto', 'kernel' or 'source', got {by!r}.")
        found = measure_alignments(
            kernels,
            X,
            y,
            by=by,
            normalize=normalize,
            classification=classification,
            max_samples=max_samples,
        )
        return cls(found.alignment, found.names, target=found.target, note=found.note)

    @classmethod
    def from_kernels(
        cls, kernels: Any, X: Any, y: Any = None, *, ax: Any = None, **settings: Any
    ) -> Self:
        """Compute and draw the alignments of kernels on some samples.

        Parameters
        ----------
        kernels, X, y
            As for :meth:`measure`.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **settings : dict
            Passed to :meth:`measure`.
        """
        return cls.measure(kernels, X, y, **settings).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, **settings: Any) -> Self:
        """Compute and draw the alignments of the kernels of an estimator, fitted or not.

        Parameters
        ----------
        estimator : estimator
            Anything with ``kernels`` and ``normalize``; its weights play no part.
        X, y : samples and targets
            Those of training; models keep only what they need of them.
        **settings : dict
            Passed to :meth:`from_kernels`.
        """
        if not hasattr(estimator, "kernels") or hasattr(estimator, "task"):
            raise TypeError(
                f"RedundancyDisplay cannot tell the kernels of {type(estimator).__name__}; use "
                "RedundancyDisplay.from_kernels."
            )
        settings = {"classification": is_classifier(estimator)} | settings
        settings.setdefault("normalize", getattr(estimator, "normalize", "variance"))
        return cls.from_kernels(estimator.kernels, X, y, **settings)

    def frame(self) -> Any:
        """The numbers shown, as a pandas DataFrame in the order of the tree, targets first."""
        import pandas as pd

        order, A = self._order(), self._map()
        shift = len(A) - len(order)
        place = [*range(shift), *(m + shift for m in order)]
        names = [TARGET] * shift + [str(self.names[m]) for m in order]
        return pd.DataFrame(A[np.ix_(place, place)], index=names, columns=names)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the map, the targets above it and the tree beside it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **kwargs : dict
            Passed to ``Axes.imshow``.
        """
        table = self.frame()
        A, n = table.to_numpy(), len(table)
        size = 0.3 if n <= MAX_NUMBERED else 0.2 if n <= 40 else 0.115
        side = float(np.clip(size * n, 2.2, 11.0))
        labels = _shortened([str(name) for name in table.index])
        if ax is None:
            length = _label_length(labels)
            below = length * np.sin(np.deg2rad(_label_angle(n)))
            width = 1.4 + length + side * (1.02 + _tree_share(n))
            ax = new_axes(width, 1.2 + side + below)
        style = {"cmap": fade(), "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
        self.image_ = ax.imshow(A, **(style | {"aspect": "equal"} | kwargs))
        _label_axes(ax, labels, n)
        bare_axes(ax)
        if n <= MAX_NUMBERED:
            _write_cells(ax, A)
        elif n <= MAX_TARGETS and self.target is not None:
            _write_cells(ax, A[:, :1])
        if self.target is not None:
            ax.axhline(0.5, color=INK, linewidth=1.2)
            ax.axvline(0.5, color=INK, linewidth=1.2)
        self.order_ = self._order()
        self._draw_tree(ax, n)
        colour_bar(ax, self.image_, "centred alignment", shrink=0.7, aspect=50)
        heading = "Which of them say the same?"
        title(ax, "\n".join(filter(None, [heading, short(self.note, 100)])), fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _map(self) -> Array:
        """The alignments, with those of the targets as the first row and column."""
        A = np.asarray(self.alignment, dtype=float)
        if A.shape != (len(self.names), len(self.names)):
            raise ValueError(
                f"alignment must have shape {(len(self.names),) * 2}, a row per name, got "
                f"{A.shape}."
            )
        if self.target is None:
            return A
        t = np.asarray(self.target, dtype=float)
        return np.block([[np.ones((1, 1)), t[np.newaxis]], [t[:, np.newaxis], A]])

    def _links(self) -> Array:
        """The tree, as scipy writes it."""
        A = np.asarray(self.alignment, dtype=float)
        distances = np.clip(1.0 - (A + A.T) / 2, 0.0, None)
        np.fill_diagonal(distances, 0.0)
        few = len(A) <= MAX_TREE  # the best of the orders that a tree allows takes cubic time
        return linkage(squareform(distances, checks=False), "average", optimal_ordering=few)

    def _order(self) -> list[int]:
        if len(self.names) < 2:
            return list(range(len(self.names)))
        return [int(m) for m in leaves_list(self._links())]

    def _draw_tree(self, ax: Any, n: int) -> None:
        """Draw the tree at the right, its leaves at their rows."""
        if not 2 <= len(self.names) <= MAX_TREE:
            return
        tree = dendrogram(self._links(), no_plot=True)
        side = ax.inset_axes([1.02, 0, _tree_share(n), 1], sharey=ax)
        shift = n - len(self.names)
        for height, leaf in zip(tree["dcoord"], tree["icoord"], strict=True):
            rows = (np.asarray(leaf) - 5.0) / 10.0 + shift  # leaves are ten apart, from five
            side.plot(height, rows, color=INK, linewidth=0.9)
        side.set_xlim(0, None)
        side.axis("off")


def _tree_share(n: int) -> float:
    """The width of the tree beside that of the map."""
    return float(np.clip(0.7 / (0.3 * n), 0.16, 0.4))


def _shortened(names: list[str]) -> list[str]:
    """Names as they are written: whole, unless there are many; none beyond that."""
    if len(names) > MAX_LABELLED:
        return []
    limit = 60 if len(names) <= MAX_NUMBERED else 34
    return [shorten_inside(name, limit) for name in names]


def _label_size(n: int) -> float:
    return 8.5 if n <= 40 else 6.0


def _label_angle(n: int) -> float:
    """Degrees by which names of columns are turned."""
    return 45.0 if n <= MAX_NUMBERED else 90.0


def _label_length(labels: list[str]) -> float:
    """Inches that the longest name takes."""
    return max(map(len, labels), default=0) * _label_size(len(labels)) * _LETTER


def _label_axes(ax: Any, labels: list[str], n: int) -> None:
    places, size = np.arange(len(labels)), _label_size(n)
    ax.set_yticks(places, labels, parse_math=False, fontsize=size)
    turned = {"rotation": _label_angle(n), "rotation_mode": "anchor", "ha": "right", "va": "center"}
    ax.set_xticks(places, labels, parse_math=False, fontsize=size, **turned)
    if not labels:
        ax.set_ylabel(f"{n:,} rows in the order of the tree", color=INK)


def _write_cells(ax: Any, A: Array) -> None:
    for (i, j), value in np.ndenumerate(A):
        colour = "white" if value > 0.5 else INK
        style = {"ha": "center", "va": "center", "fontsize": 7, "color": colour}
        ax.text(j, i, f"{value:.2f}".removeprefix("0") if value < 0.995 else "1", **style)
