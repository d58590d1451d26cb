"""The table of the Q-MKL experiment: means, variation and paired tests, in the paper's layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

LEVEL = 0.01
MEASURES = {"acc": "Acc.", "sens": "Sens.", "spec": "Spec."}

# Table 1 of Hinrichs et al. (2012): ADNI, 300 folds.
PRINTED = {
    "1-norm": ("0.864", "0.771", "0.931"),
    "1.5-norm": ("0.875", "**0.790**", "0.936"),
    "2-norm": ("0.875", "**0.789**", "0.938"),
    "Cov": ("**0.884**", "0.780", "0.942"),
    "Lap.(Cov)": ("**0.884**", "0.785", "**0.955**"),
    "Lap.(Cov) + diag": ("**0.888**", "0.786", "**0.956**"),
}


def paired_p(differences: Any, share: float = 0.0) -> float:
    r"""The two-sided p-value of a mean difference of zero.

    Parameters
    ----------
    differences : array of shape (J,)
    share : float, default=0.0
        Test samples per training sample; zero is the ordinary paired t-test.

    Notes
    -----
    Training sets of a cross-validation overlap, so its folds are not independent. Nadeau and
    Bengio (2003) correct the variance of the mean,

    .. math:: t = \bar x \Big/ \sqrt{(1/J + n_\text{test}/n_\text{train})\, s^2} .
    """
    x = np.asarray(differences, dtype=float)
    error = np.sqrt((1 / len(x) + share) * x.var(ddof=1)) if len(x) > 1 else 0.0
    if error == 0:
        return 1.0 if x.mean() == 0 else 0.0
    return float(2 * student.sf(abs(x.mean()) / error, len(x) - 1))


def compare(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean, variation and both p-values against the best method, one row per method.

    With several draws of the data their means are independent, and the second test is the
    ordinary one over draws; with one draw it is the corrected one over folds.
    """
    drawn = frame["draw"].nunique() > 1
    unit = ["draw"] if drawn else ["repeat"]
    folds = frame.pivot(index=["draw", "repeat", "fold"], columns="method", values=measure)
    groups = folds.groupby(level=unit).mean()
    means = folds.mean()
    best = means.idxmax()
    share = float((frame["n_test"] / frame["n_train"]).mean())
    rows = {}
    for method in frame["method"].unique():
        x = folds[best] - folds[method]
        honest = paired_p(groups[best] - groups[method]) if drawn else paired_p(x, share)
        rows[method] = {
            "mean": means[method],
            "sd": groups[method].std() if len(groups) > 1 else np.nan,
            "p_paired": paired_p(x) if method != best else 1.0,
            "p_honest": honest if method != best else 1.0,
            "best": method == best,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def markdown(frame: pd.DataFrame, data: str) -> str:
    """The table of one experiment."""
    drawn = frame["draw"].nunique() > 1
    tables = {measure: compare(frame, measure) for measure in MEASURES}
    acc, figures = tables["acc"], frame.groupby("method")
    columns = [
        "Regularizer", *MEASURES.values(), "SD", "p paired", "p draws" if drawn else "p corrected",
        "Acc. at C = 1", "active", "fit, ms", "Q, ms",
    ]  # fmt: skip
    if data == "neuroimaging":
        columns += [f"paper: {name}" for name in MEASURES.values()]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for method, row in acc.iterrows():
        seconds, q_seconds = (figures[key].median()[method] for key in ("seconds", "Q_seconds"))
        cells = [
            str(method),
            *(_cell(table.loc[method]) for table in tables.values()),
            "" if np.isnan(row["sd"]) else f"{row['sd']:.3f}",
            "best" if row["best"] else _p(row["p_paired"]),
            "best" if row["best"] else _p(row["p_honest"]),
            f"{figures['acc_fixed_C'].mean()[method]:.3f}",
            f"{figures['active'].mean()[method]:.1f}",
            f"{1e3 * seconds:.0f}",
            f"{1e3 * q_seconds:.0f}" if q_seconds else "",
        ]
        if data == "neuroimaging":
            cells += PRINTED.get(str(method), ("", "", ""))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", _caption(frame), "", *_differences(frame)]) + "\n"


def differences(frame: pd.DataFrame, reference: str = "2-norm") -> pd.DataFrame:
    """Accuracy of every method minus that of one, with a 95 % interval that is not too narrow."""
    drawn = frame["draw"].nunique() > 1
    folds = frame.pivot(index=["draw", "repeat", "fold"], columns="method", values="acc")
    units = folds.groupby(level="draw").mean() if drawn else folds
    share = 0.0 if drawn else float((frame["n_test"] / frame["n_train"]).mean())
    rows = {}
    for method in frame["method"].unique():
        x = units[method] - units[reference]
        width = student.ppf(0.975, len(x) - 1) * np.sqrt((1 / len(x) + share) * x.var(ddof=1))
        rows[method] = {"mean": x.mean(), "low": x.mean() - width, "high": x.mean() + width}
    return pd.DataFrame.from_dict(rows, orient="index").drop(reference)


def _differences(frame: pd.DataFrame) -> list[str]:
    columns = ["accuracy minus that of the 2-norm, in points", "mean", "95 % interval"]
    lines = ["| " + " | ".join(columns) + " |", "|---|---|---|"]
    for method, row in (100 * differences(frame)).iterrows():
        interval = f"{row['low']:+.1f} to {row['high']:+.1f}"
        lines.append(f"| {method} | {row['mean']:+.1f} | {interval} |")
    return lines


def _cell(row: Any) -> str:
    """A mean: bold where the paired test, marked where the other test finds no difference."""
    text = f"{row['mean']:.3f}"
    text = f"**{text}**" if row["p_paired"] > LEVEL else text
    return text + ("†" if row["p_honest"] > LEVEL else "")


def _p(value: float) -> str:
    return "< 0.001" if value < 1e-3 else f"{value:.3f}"


def _caption(frame: pd.DataFrame) -> str:
    draws, repeats, folds = (frame[key].nunique() for key in ("draw", "repeat", "fold"))
    chosen = frame.groupby("C").size() / len(frame)
    share = ", ".join(f"{C:g}: {100 * p:.0f} %" for C, p in chosen.items())
    n_train = int(frame["n_train"].median())
    return (
        f"Draws: {draws}; repeats: {repeats}; folds: {folds}, of {n_train} training samples. "
        f"C chosen in the fold ({share}). Largest relative duality gap: {frame['gap'].max():.1e}."
    )


def replace_section(page: Path, name: str, text: str) -> None:
    """Put a text between the marks of a section of a page."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} has no section {begin.strip()} … {end}.")
    page.write_text(before + begin + "\n" + text + "\n" + end + after, encoding="utf-8")
