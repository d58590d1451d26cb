"""The tables of the flowers, in the layout of the paper."""

from __future__ import annotations

import numpy as np
import pandas as pd

# Gönen (2012), Table 1: the method of Gehler and Nowozin (2009), and the paper's own model
_PEER = "Gehler and Nowozin (2009)"
PAPER = {
    _PEER: "85.5 ± 3.0",
    "BMKL, single output": "86.2 ± 1.6",
    "BMKL, multiple output": "86.0 ± 1.6",
}


def markdown(frame: pd.DataFrame, names: list[str], source: str) -> str:
    """Accuracies beside those of the paper, and the weights of the kernels."""
    n_splits = frame["split"].nunique()
    what = {"images": "the images", "mat": "the authors' distances", "stand-in": "drawn flowers"}
    heads = "accuracy", "paper", "each split", "validation", "C", "kernels", "fit, s", "predict, s"
    lines = [
        f"Seven kernels from {what[source]}. Accuracy in percent, mean ± sd; splits: {n_splits}.",
        "",
        f"| Method | {' | '.join(heads)} |",
        "|---" * (len(heads) + 1) + "|",
    ]
    paper = {} if source == "stand-in" else PAPER
    if paper:
        lines.append(f"| {_PEER} |  | {paper[_PEER]} |  |  |  |  |  |  |")
    lines += [
        row(name, part, paper.get(name, "")) for name, part in frame.groupby("method", sort=False)
    ]
    return "\n".join([*lines, "", *weight_table(frame, names), "", *iterations(frame), ""])


def row(name: str, part: pd.DataFrame, paper: str) -> str:
    """The line of one method."""
    chosen = sorted(part["C"].dropna().unique())
    validation = part["validation"].dropna()
    cells = [
        name,
        spread(part["accuracy"]),
        paper,
        ", ".join(f"{100 * a:.1f}" for a in part["accuracy"]),
        f"{100 * validation.mean():.1f}" if len(validation) else "",
        ", ".join(f"{C:g}" for C in chosen),
        f"{part['n_kernels'].mean():.1f}",
        f"{part['fit_seconds'].median():.3g}",
        f"{part['predict_seconds'].median():.2g}",
    ]
    return "| " + " | ".join(cells) + " |"


def spread(accuracy: pd.Series) -> str:
    """Mean and standard deviation, in percent."""
    mean = f"{100 * accuracy.mean():.1f}"
    return f"{mean} ± {100 * accuracy.std(ddof=1):.1f}" if len(accuracy) > 1 else mean


def weight_table(frame: pd.DataFrame, names: list[str]) -> list[str]:
    """Shares of the kernels in the weights, averaged over splits and outputs."""
    lines = [f"| share of weights, % | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for name, part in frame.groupby("method", sort=False):
        weights = [w for w in part["weights"] if len(w)]
        if weights:
            cells = " | ".join(f"{100 * w:.0f}" for w in np.mean(weights, axis=0))
            lines.append(f"| {name} | {cells} |")
    return lines


def iterations(frame: pd.DataFrame) -> list[str]:
    """What is known about convergence."""
    lines = ["| Method | iterations in each split | certificate |", "|---|---|---|"]
    for name, part in frame[frame["n_iter"] > 0].groupby("method", sort=False):
        counts = ", ".join(map(str, part["n_iter"]))
        lines.append(f"| {name} | {counts} | {', '.join(dict.fromkeys(part['note']))} |")
    return lines
