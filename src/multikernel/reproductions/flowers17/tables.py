"""The tables and the figure of the flowers, in the layout of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...displays._style import INK, PALETTE, quiet_axes
from ...report import Section
from .._text import spread
from ..base import Summary

# Table 1 of the paper: the method of Gehler and Nowozin (2009), and the paper's own model
PEER = "Gehler and Nowozin (2009)"
PAPER = {
    PEER: "85.5 ± 3.0",
    "BMKL, single output": "86.2 ± 1.6",
    "BMKL, multiple output": "86.0 ± 1.6",
}
Rows = Sequence[dict[str, Any]]


def summarize(rows: Rows, names: Sequence[str], origin: str, original: bool) -> Summary:
    """Accuracies beside those of the paper, weights, and what is known about convergence."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    splits = frame["split"].nunique()
    accuracy = Section(
        "Accuracy",
        (f"Kernels from {origin}; splits: {splits}.",),
        accuracy_table(frame, PAPER if original else {}),
        "Accuracy in percent, mean ± standard deviation over splits; seconds of one core.",
        _draw_accuracy(frame, original),
        "Accuracy of every method, a dot for each split and a line at the mean",
    )
    weights = Section(
        "Weights of the kernels",
        table=weight_table(frame, names),
        caption="Shares of the weights in percent, averaged over splits and outputs.",
    )
    iterations = Section(
        "Convergence",
        table=iteration_table(frame),
        caption="Iterations in each split, and the certificate: relative duality gap, or the rule "
        "of the bound.",
    )
    return Summary(_findings(frame, original), [accuracy, weights, iterations])


def accuracy_table(frame: Any, paper: dict[str, str]) -> dict[str, list[Any]]:
    """One row per method, the paper's own beside ours."""
    import pandas as pd

    rows = [{"method": PEER, "accuracy": "", "paper": paper[PEER]}] if paper else []
    rows += [
        _row(name, part, paper.get(str(name), ""))
        for name, part in frame.groupby("method", sort=False)
    ]
    return dict(pd.DataFrame(rows).fillna("").to_dict("list"))


def _row(name: str, part: Any, paper: str) -> dict[str, str]:
    chosen = sorted(part["C"].dropna().unique())
    validation = part["validation"].dropna()
    return {
        "method": name,
        "accuracy": spread(100 * part["accuracy"]),
        "paper": paper,
        "each split": ", ".join(f"{100 * a:.1f}" for a in part["accuracy"]),
        "validation": f"{100 * validation.mean():.1f}" if len(validation) else "",
        "C": ", ".join(f"{C:g}" for C in chosen),
        "kernels": f"{part['n_kernels'].mean():.1f}",
        "fit, s": f"{part['fit_seconds'].median():.3g}",
        "predict, s": f"{part['predict_seconds'].median():.2g}",
    }


def weight_table(frame: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """Shares of the kernels in the weights, of the methods that have some."""
    table: dict[str, list[Any]] = {"method": [], **{name: [] for name in names}}
    for method, part in frame.groupby("method", sort=False):
        weights = [w for w in part["weights"] if len(w)]
        if weights:
            table["method"].append(method)
            for name, share in zip(names, np.mean(weights, axis=0), strict=True):
                table[name].append(f"{100 * share:.0f}")
    return table


def iteration_table(frame: Any) -> dict[str, list[Any]]:
    """Iterations and certificates of the methods that iterate."""
    table: dict[str, list[Any]] = {"method": [], "iterations": [], "certificate": []}
    for method, part in frame[frame["n_iter"] > 0].groupby("method", sort=False):
        table["method"].append(method)
        table["iterations"].append(", ".join(map(str, part["n_iter"])))
        table["certificate"].append(", ".join(dict.fromkeys(part["note"])))
    return table


def _findings(frame: Any, original: bool) -> list[str]:
    mean = 100 * frame.groupby("method", sort=False)["accuracy"].mean()
    alone = mean[[name.endswith(" alone") for name in mean.index]]
    paper = " (the paper: 86.2 and 86.0)" if original else ""
    return [
        f"One Bayesian model per class is right in {mean['BMKL, single output']:.1f} %, one for "
        f"all classes in {mean['BMKL, multiple output']:.1f} %{paper}.",
        f"An SVM on the mean of all kernels is right in {mean['SVM, mean of kernels']:.1f} %, on "
        f"the best kernel alone in {alone.max():.1f} %.",
        f"Learned weights against equal ones in the same machine: {mean['MKL, p = 1']:.1f} % (1-"
        f"norm) and {mean['MKL, p = 2']:.1f} % (2-norm) against "
        f"{mean['MKL, equal weights']:.1f} %.",
    ]


def _draw_accuracy(frame: Any, original: bool) -> Any:
    from matplotlib.figure import Figure

    groups = list(frame.groupby("method", sort=False))[::-1]
    figure = Figure(figsize=(6.6, 0.27 * len(groups) + 1.0), layout="constrained")
    ax = figure.add_subplot()
    for row, (name, part) in enumerate(groups):
        values = 100 * part["accuracy"].to_numpy()
        colour = PALETTE[["SVM", "MKL", "BMK"].index(str(name)[:3])]
        ax.plot(values, np.full(len(values), row), "o", color=colour, alpha=0.55, markersize=4)
        ax.plot([values.mean()] * 2, [row - 0.32, row + 0.32], color=colour, linewidth=2.2)
    if original:
        ax.axvline(86.2, color=PALETTE[-1], linestyle=":", linewidth=1.2)
        ax.text(86.2, len(groups) - 0.4, "paper, single output", ha="right", color=INK, fontsize=8)
    ax.set_yticks(range(len(groups)), [str(name) for name, _ in groups], fontsize=8)
    ax.set_xlabel("accuracy on test images, %")
    ax.set_ylim(-0.6, len(groups) - 0.1 + 0.4 * original)
    quiet_axes(ax, grid="x")
    return figure
