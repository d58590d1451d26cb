"""Measures and tables of the probabilistic experiment."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
_BINS = 10
_MEASURES = {
    "error": "{:.3f}",
    "lpd": "{:.3f}",
    "lpd_median": "{:.3f}",
    "calibration": "{:.3f}",
    "kernels": "{:.1f}",
    "kernels_large": "{:.1f}",
    "seconds": "{:.2f}",
}
_PAIRS = (
    "Splits of all data sets on which the first method has less / as much / more than the second."
)
_NAMES = {
    "kernels": "kernels",
    "kernels_large": "kernels above 1 %",
    "error": "error",
    "lpd": "log density",
    "lpd_median": "its median",
}


def calibration_error(positive: NDArray[np.bool_], p: Array) -> float:
    """Expected calibration error: mean distance of frequency and probability in ten bins."""
    bins = np.minimum((p * _BINS).astype(int), _BINS - 1)
    gaps = [abs(np.sum(positive[bins == b]) - np.sum(p[bins == b])) for b in range(_BINS)]
    return float(np.sum(gaps) / len(p))


def coverage(y: Array, interval: Array) -> float:
    """The share of targets inside their intervals."""
    return float(np.mean((interval[..., 0] <= y) & (y <= interval[..., 1])))


def report(frame: pd.DataFrame) -> str:
    """One table for every data set, all sizes of training sets below each other, then claims."""
    parts = []
    for name, rows in frame.groupby("data", sort=False):
        parts += [f"### {name}", _data_table(rows)]
    return "\n\n".join([*parts, "### Pairs of methods", _PAIRS, _claims(frame)])


def _data_table(rows: pd.DataFrame) -> str:
    labels = rows["data"].iloc[0] in ("ionosphere", "sonar", "pima")
    error, calibration = ("error", "ECE") if labels else ("RMSE", "90 % coverage")
    kernels = f"kernels of {rows['n_kernels'].max()}"
    head = ["n", "method", error, "log density", "its median", calibration, kernels]
    head += ["above 1 %", "seconds", "notes"]
    lines = []
    for (n, method), group in rows.groupby(["n_train", "method"], sort=False):
        cells = [_cell(group[m], form) for m, form in _MEASURES.items()]
        lines.append([f"{n}", method, *cells, _notes(group)])
    lines.sort(key=lambda line: -int(line[0]))
    return _table(head, lines)


def _cell(values: pd.Series, form: str) -> str:
    """Mean and standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{form.format(values.mean())} ± {form.format(error)}"


def _notes(group: pd.DataFrame) -> str:
    told = {
        "unsettled": "not settled",
        "collapsed": "collapsed",
        "no_noise": "noise at its floor",
        "edge": "λ at the edge",
    }
    return ", ".join(
        f"{text} in {int((group[name] > 0).sum())} of {len(group)}"
        for name, text in told.items()
        if (group[name] > 0).any()
    )


def _claims(frame: pd.DataFrame) -> str:
    """Pairs of methods on the same splits: fewer kernels, larger errors, better densities.

    Every cell counts splits on which the first is lower, equal and higher than the second.
    """
    bound, mkl, tuned = "evidence or VB", "MKL, default λ", "MKL, λ by CV"
    modes = [f"joint MAP, jitter {jitter}" for jitter in ("0.1", "1")]
    pairs = [
        (measure, *pair)
        for pair in [*((mode, other) for mode in modes for other in (mkl, tuned)), (bound, tuned)]
        for measure in ("kernels", "kernels_large")
    ]
    pairs += [
        (measure, bound, other)
        for other in ("uniform sum", "the same, gamma prior", tuned)
        for measure in ("error", "lpd", "lpd_median")
    ]
    sizes = sorted(frame["size"].unique(), key=lambda size: (size == 0, size))
    rows = [
        [
            _NAMES[measure],
            first,
            second,
            *(_order(frame, size, measure, first, second) for size in sizes),
        ]
        for measure, first, second in pairs
    ]
    columns = ["n = " + str(size) if size else "70 %" for size in sizes]
    return _table(["measure", "first", "second", *columns], rows)


def _order(frame: pd.DataFrame, size: int, measure: str, first: str, second: str) -> str:
    part = frame[frame["size"] == size]
    wide = part.pivot(index=["data", "split"], columns="method", values=measure)
    sign = np.sign(wide[first] - wide[second])
    return " / ".join(str(int((sign == s).sum())) for s in (-1, 0, 1))


def _table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
