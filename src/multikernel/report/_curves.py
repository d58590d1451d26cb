"""Panels about predictions of classes: confusion, calibration, ROC, precision and recall."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from .._component import Array
from ..displays._style import GREY, INK, PALETTE, bare_axes, fade, quiet_axes, short, title

_N_BINS = 10  # of the calibration curve
_DARK = 0.6  # share from which a cell takes white letters
_MANY_CLASSES = 12  # beyond which cells hold no numbers


def draw_confusion(ax: Any, counts: Array, labels: list[str]) -> str:
    """Shares of the true classes in colour, numbers where there is room; the table says more."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap=fade(), vmin=0, vmax=1, interpolation="nearest")
    places, names = range(len(labels)), [short(label, 14) for label in labels]
    ax.set_xticks(places, names, rotation=45 if len(labels) > 2 else 0, parse_math=False)
    ax.set_yticks(places, names, parse_math=False)
    if len(labels) <= _MANY_CLASSES:
        for (i, j), n in np.ndenumerate(counts):
            colour = "white" if share[i, j] > _DARK else INK
            ax.text(j, i, str(n), ha="center", va="center", fontsize=8, color=colour)
    ax.set_xlabel("predicted", color=INK)
    ax.set_ylabel("true", color=INK)
    bare_axes(ax)
    title(ax, "confusion")
    return ""


def draw_calibration(ax: Any, p: Array, y: Array, classes: list[str]) -> str:
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


def draw_roc(ax: Any, p: Array, positive: Array, name: str) -> str:
    """True against false positives."""
    false, true, _ = roc_curve(positive, p)
    area = auc(false, true)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.plot(false, true, color=PALETTE[0])
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    quiet_axes(ax, grid="both")
    title(ax, "ROC")
    return f"The area under the ROC curve is {area:.3f}, with {name} as the positive class."


def draw_precision(ax: Any, p: Array, positive: Array, name: str) -> str:
    """Precision against recall, beside what guessing would reach."""
    precision, recall, _ = precision_recall_curve(positive, p)
    share = float(np.mean(positive))
    ax.plot([0, 1], [share, share], color=GREY, linewidth=1)
    ax.plot(recall, precision, color=PALETTE[0], drawstyle="steps-post")
    ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.02))
    quiet_axes(ax, grid="both")
    title(ax, "precision and recall")
    return (
        f"The average precision is {average_precision_score(positive, p):.3f}; guessing would "
        f"reach {share:.3f}, the share of {name}."
    )
