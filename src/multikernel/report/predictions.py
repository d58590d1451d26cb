"""Out-of-fold predictions: confusion and curves of classes, or predicted on observed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import confusion_matrix, r2_score

from .._component import Array
from ..displays._style import GREY, PALETTE, quiet_axes
from ._curves import draw_calibration, draw_confusion, draw_precision, draw_roc
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_MOST_CLASSES = 40  # of which all confusions are shown
_WORST = 40  # confusions of more
_MANY_POINTS = 800  # beyond which points are drawn as one image


def predictions_section(comparison: Comparison) -> Section | None:
    """What the headline model says about samples that it was not fitted to."""
    if comparison.headline not in comparison.models:
        return None
    table = comparison.predictions()
    about = (
        f"Predictions of {comparison.headline} for the {len(table)} test samples of all folds; "
        "none of them was seen in training."
    )
    if comparison.task == "regression":
        return _regression(table, about)
    return _classification(table, about)


def _regression(table: Any, about: str) -> Section:
    y, z = table["target"].to_numpy(dtype=float), table["prediction"].to_numpy(dtype=float)
    error = z - y
    figure, axes = _axes(1)
    ends = [min(y.min(), z.min()), max(y.max(), z.max())]
    axes[0].plot(ends, ends, color=GREY, linewidth=1)
    axes[0].scatter(y, z, s=12, alpha=0.6, color=PALETTE[0], rasterized=len(y) > _MANY_POINTS)
    axes[0].set(xlabel="observed", ylabel="predicted")
    quiet_axes(axes[0], grid="both")
    summary = {
        "R²": [r2_score(y, z)],
        "root mean squared error": [float(np.sqrt(np.mean(error**2)))],
        "mean absolute error": [float(np.abs(error).mean())],
        "largest absolute error": [float(np.abs(error).max())],
        "mean error": [float(error.mean())],
    }
    return Section(
        "Predictions",
        (about,),
        table=summary,
        caption="Over all test samples together.",
        figure=figure,
        alt=f"Predicted against observed values of {len(y)} test samples, R² {r2_score(y, z):.2f}; "
        "perfect predictions would lie on the line.",
    )


def _classification(table: Any, about: str) -> Section:
    y = table["target"].astype(str).to_numpy()
    predicted = table["prediction"].astype(str).to_numpy()
    both = np.concatenate([table["target"].to_numpy(), table["prediction"].to_numpy()])
    labels = [str(label) for label in np.unique(both)]  # numbers by size
    counts = confusion_matrix(y, predicted, labels=labels)
    panels: list[tuple[str, Callable[[Any], str]]] = []
    if len(labels) <= _MOST_CLASSES:
        panels.append(("confusion", lambda ax: draw_confusion(ax, counts, labels)))
    p = _probabilities(table)
    if p is not None:
        classes = [name[2:-1] for name in table.columns if name.startswith("p(")]
        panels.append(("calibration", lambda ax: draw_calibration(ax, p, y, classes)))
        positive = y == classes[-1]
        if len(classes) == 2 and 0 < positive.sum() < len(y):  # both are there
            said = p[:, 1]
            panels.append(("ROC curve", lambda ax: draw_roc(ax, said, positive, classes[1])))
            panels.append(("precision", lambda ax: draw_precision(ax, said, positive, classes[1])))
    figure, sentences = _draw(panels)
    return Section(
        "Predictions",
        (about, _accuracy_sentence(counts, labels), *sentences),
        figure=figure,
        alt=f"Of the test samples: {', '.join(name for name, _ in panels)}.",
        parts=(_confusion_table(counts, labels),),
    )


def _draw(panels: Sequence[tuple[str, Callable[[Any], str]]]) -> tuple[Any, list[str]]:
    """All panels in one figure, two in a row, and what they have to say."""
    if not panels:
        return None, []
    figure, axes = _axes(len(panels))
    return figure, [s for ax, (_, draw) in zip(axes, panels, strict=True) if (s := draw(ax))]


def _confusion_table(counts: Array, labels: list[str]) -> Section:
    """Every cell of few classes, the worst confusions of many."""
    if len(labels) <= _MOST_CLASSES:
        rows = {"true class": labels} | {
            f"predicted {label}": counts[:, k].tolist() for k, label in enumerate(labels)
        }
        return Section("Table of confusion", table=rows, caption="Numbers of samples.", folded=True)
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[: min(_WORST, np.count_nonzero(wrong))]
    true, predicted = np.unravel_index(order, wrong.shape)
    table = {
        "true class": [labels[i] for i in true],
        "predicted class": [labels[j] for j in predicted],
        "samples": wrong[true, predicted].tolist(),
        "of the true class": counts[true].sum(axis=1).tolist(),
    }
    caption = f"The worst confusions among {len(labels)} classes."
    return Section("Table of confusion", table=table, caption=caption, folded=True)


def _probabilities(table: Any) -> Array | None:
    columns = [name for name in table.columns if name.startswith("p(")]
    return table[columns].to_numpy(dtype=float) if columns else None


def _accuracy_sentence(counts: Array, labels: list[str]) -> str:
    recall = np.diag(counts) / np.maximum(counts.sum(axis=1), 1)
    worst = int(np.argmin(recall))
    return (
        f"{np.trace(counts)} of {counts.sum()} are right; {labels[worst]} is found least often "
        f"({recall[worst]:.0%} of {counts[worst].sum()})."
    )


def _axes(n: int) -> tuple[Any, list[Any]]:
    from matplotlib import pyplot as plt

    n_columns = n if n < 4 else 2
    n_rows = -(-n // n_columns)
    size = (3.4 * n_columns + 0.6, 3.5 * n_rows)
    figure, axes = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained")
    return figure, list(np.atleast_1d(axes).ravel())
