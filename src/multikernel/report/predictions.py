"""Out-of-fold predictions: confusion, ROC and calibration of classes, or predicted on observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import auc, confusion_matrix, r2_score, roc_curve

from .._component import Array
from ..displays._style import GREY, INK, PALETTE, bare_axes, fade, quiet_axes, short, title
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_N_BINS = 10  # of the calibration curve
_MANY_CLASSES = 12  # beyond which cells hold no numbers
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
    labels = sorted(set(y) | set(predicted))
    counts = confusion_matrix(y, predicted, labels=labels)
    p = _probabilities(table)
    figure, axes = _axes(1 if p is None else 3 if p.shape[1] == 2 else 2)
    _draw_confusion(axes[0], counts, labels)
    sentences = [_accuracy_sentence(counts, labels)]
    if p is not None:
        classes = [name[2:-1] for name in table.columns if name.startswith("p(")]
        sentences.append(_draw_calibration(axes[1], p, y, classes))
        if p.shape[1] == 2:
            sentences.append(_draw_roc(axes[2], p[:, 1], y == classes[1], classes[1]))
    rows = {"true class": labels} | {
        f"predicted {label}": counts[:, k].tolist() for k, label in enumerate(labels)
    }
    return Section(
        "Predictions",
        (about, *sentences),
        figure=figure,
        alt="Confusion of true and predicted classes"
        + ("." if p is None else ", calibration of the probabilities")
        + ("" if p is None else " and ROC curve." if p.shape[1] == 2 else "."),
        parts=(
            Section("Table of confusion", table=rows, caption="Numbers of samples.", folded=True),
        ),
    )


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

    figure, axes = plt.subplots(1, n, figsize=(3.4 * n + 0.6, 3.5), layout="constrained")
    return figure, list(np.atleast_1d(axes))


def _draw_confusion(ax: Any, counts: Array, labels: list[str]) -> None:
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap=fade(), vmin=0, vmax=1, interpolation="nearest")
    places, names = range(len(labels)), [short(label, 14) for label in labels]
    ax.set_xticks(places, names, rotation=45 if len(labels) > 2 else 0, parse_math=False)
    ax.set_yticks(places, names, parse_math=False)
    if len(labels) <= _MANY_CLASSES:
        for (i, j), n in np.ndenumerate(counts):
            ax.text(j, i, str(n), ha="center", va="center", fontsize=8, color=INK)
    ax.set_xlabel("predicted", color=INK)
    ax.set_ylabel("true", color=INK)
    bare_axes(ax)
    title(ax, "confusion")


def _draw_calibration(ax: Any, p: Array, y: Array, classes: list[str]) -> str:
    """Share of right predictions against the probability that they were given."""
    confidence = p.max(axis=1)
    right = np.asarray(classes)[p.argmax(axis=1)] == y
    edges = np.unique(np.quantile(confidence, np.linspace(0, 1, _N_BINS + 1)))
    bins = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, max(len(edges) - 2, 0))
    found = np.unique(bins)
    said = np.array([confidence[bins == b].mean() for b in found])
    true = np.array([right[bins == b].mean() for b in found])
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.plot(said, true, marker="o", markersize=4, color=PALETTE[0])
    low = max(0.0, float(min(said.min(), true.min())) - 0.05)
    ax.set(xlabel="probability given", ylabel="share right", xlim=(low, 1.02), ylim=(low, 1.02))
    quiet_axes(ax, grid="both")
    title(ax, "calibration")
    sizes = np.bincount(bins, minlength=found.max() + 1)[found]
    error = float(np.sum(sizes * np.abs(said - true)) / sizes.sum())
    return f"Probabilities are off by {error:.3f} on average (expected calibration error)."


def _draw_roc(ax: Any, p: Array, positive: Array, name: str) -> str:
    false, true, _ = roc_curve(positive, p)
    area = auc(false, true)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.plot(false, true, color=PALETTE[0])
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    quiet_axes(ax, grid="both")
    title(ax, "ROC")
    return f"The area under the ROC curve is {area:.3f}, with {name} as the positive class."
