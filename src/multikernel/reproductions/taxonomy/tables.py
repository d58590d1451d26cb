"""The tables of the taxonomy, the figure of its sparsity, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...displays._style import INK, PALETTE, quiet_axes
from ...report import Section

_MEASURES = {
    "error": "{:.3f}",
    "lpd": "{:.3f}",
    "lpd_median": "{:.3f}",
    "calibration": "{:.3f}",
    "kernels": "{:.1f}",
    "kernels_large": "{:.1f}",
    "seconds": "{:.2f}",
}
_NAMES = {
    "kernels": "kernels",
    "kernels_large": "kernels above 1 %",
    "error": "error",
    "lpd": "log density",
    "lpd_median": "its median",
}
_NOTES = {
    "unsettled": "not settled",
    "collapsed": "collapsed",
    "no_noise": "noise at its floor",
    "edge": "λ at the edge",
}
BOUND, MKL, TUNED = "evidence or VB", "MKL, default λ", "MKL, λ by CV"
MODES = ("joint MAP, jitter 0.1", "joint MAP, jitter 1")
_SHOWN = (BOUND, *MODES, MKL, TUNED)


def data_section(name: str, labels: bool, rows: Any) -> Section:
    """One table for a data set, all sizes of training sets below each other."""
    error, calibration = ("error", "ECE") if labels else ("RMSE", "90 % coverage")
    heads = [error, "log density", "its median", calibration]
    heads += [f"kernels of {rows['n_kernels'].max()}", "above 1 %", "seconds"]
    lines: list[dict[str, Any]] = []
    for (n, method), group in rows.groupby(["n_train", "method"], sort=False):
        cells = [_cell(group[m], form) for m, form in _MEASURES.items()]
        head = {"n": int(n), "method": method}
        lines.append(head | dict(zip(heads, cells, strict=True)) | {"notes": _notes(group)})
    lines.sort(key=lambda line: -int(line["n"]))
    return Section(
        f"Data: {name}",
        table={key: [line[key] for line in lines] for key in lines[0]},
        caption="Means over splits ± standard errors.",
    )


def _cell(values: Any, form: str) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{form.format(values.mean())} ± {form.format(error)}".replace("-", "−")


def _notes(group: Any) -> str:
    return ", ".join(
        f"{text} in {int((group[name] > 0).sum())} of {len(group)}"
        for name, text in _NOTES.items()
        if (group[name] > 0).any()
    )


def pair_section(frame: Any) -> Section:
    """Pairs of methods on the same splits: fewer kernels, larger errors, better densities."""
    pairs = [
        (measure, *pair)
        for pair in [*((mode, other) for mode in MODES for other in (MKL, TUNED)), (BOUND, TUNED)]
        for measure in ("kernels", "kernels_large")
    ]
    pairs += [
        (measure, BOUND, other)
        for other in ("uniform sum", "the same, gamma prior", TUNED)
        for measure in ("error", "lpd", "lpd_median")
    ]
    table: dict[str, list[Any]] = {
        "measure": [_NAMES[measure] for measure, _, _ in pairs],
        "first": [first for _, first, _ in pairs],
        "second": [second for _, _, second in pairs],
    }
    for size in sizes_of(frame):
        counts = [" / ".join(map(str, order(frame, size, *pair))) for pair in pairs]
        table[f"n = {size}" if size else "70 %"] = counts
    return Section(
        "Pairs of methods",
        table=table,
        caption="Splits of all data sets on which the first method has less / as much / more than "
        "the second.",
    )


def sizes_of(frame: Any) -> list[int]:
    """Sizes of training sets, zero for a share of all last."""
    return sorted(frame["size"].unique(), key=lambda size: (size == 0, size))


def order(frame: Any, size: int, measure: str, first: str, second: str) -> tuple[int, int, int]:
    """On how many splits the first is lower, equal and higher than the second."""
    part = frame[frame["size"] == size]
    wide = part.pivot(index=["data", "split"], columns="method", values=measure)
    sign = np.sign(wide[first] - wide[second])
    below, same, above = (int((sign == s).sum()) for s in (-1, 0, 1))
    return below, same, above


def sparsity_section(frame: Any) -> Section:
    """How many kernels each objective keeps, data set by data set."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(frame["data"]))
    figure = Figure(figsize=(8.4, 0.42 * len(names) + 1.2), layout="constrained")
    sizes = sizes_of(frame)
    panels = figure.subplots(1, len(sizes), sharey=True, sharex=True, squeeze=False)[0]
    for ax, size in zip(panels, sizes, strict=True):
        means = frame[frame["size"] == size].groupby(["data", "method"])["kernels_large"].mean()
        for k, method in enumerate(_SHOWN):
            values = [float(means[name, method]) for name in names]
            rows = np.arange(len(names)) + 0.13 * (k - 2)
            ax.plot(
                np.maximum(values, 0.5), rows, "o", color=PALETTE[k], markersize=5, label=method
            )
        ax.set_xscale("log")
        ax.set_title(f"n = {size}" if size else "70 % of all", fontsize=10, color=INK)
        ax.set_xticks([0.5, 1, 3, 10, 30], ["0", "1", "3", "10", "30"])
        ax.minorticks_off()
        quiet_axes(ax, grid="x")
    panels[0].set_yticks(range(len(names)), names, fontsize=9)
    panels[0].invert_yaxis()
    panels[len(panels) // 2].set_xlabel("kernels above 1 % of the largest weight, mean over splits")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=5, frameon=False, fontsize=8,
        labelcolor=INK, handletextpad=0.1, columnspacing=1.2,
    )  # fmt: skip
    return Section(
        "Sparsity",
        figure=figure,
        alt="Number of kernels kept by five objectives on every data set and training size",
    )


def findings(frame: Any, looks: Mapping[str, dict[str, Any]]) -> list[str]:
    """Statements of the papers, and how often they hold."""
    sentences = []
    for mode in MODES:
        counts = [order(frame, s, "kernels_large", mode, TUNED) for s in sizes_of(frame)]
        sentences.append(
            f"J{mode[1:]}, keeps fewer kernels above 1 % than MKL with λ by cross-validation "
            f"{_in_splits(frame, [c[0] for c in counts])}."
        )
    worse = [order(frame, s, "error", BOUND, "uniform sum")[2] for s in sizes_of(frame)]
    sentences.append(
        "The error of evidence or VB is higher than that of the uniform sum "
        f"{_in_splits(frame, worse)}."
    )
    return sentences + [_minima_sentence(name, seen) for name, seen in looks.items()]


def _in_splits(frame: Any, counts: Sequence[int]) -> str:
    n = frame.groupby("size")[["data", "split"]].apply(lambda g: len(g.drop_duplicates())).max()
    sizes = [f"n = {size}" if size else "70 %" for size in sizes_of(frame)]
    where = [f"{count} ({size})" for count, size in zip(counts, sizes, strict=True)]
    return f"in {', '.join(where)} of {n} splits"


def _minima_sentence(name: str, seen: dict[str, Any]) -> str:
    words = ("none", "one", "both")
    used = {
        key: words[np.count_nonzero(points[0])] if points else "(no minimum in view)"
        for key, points in seen["minima"].items()
    }
    return (
        f"Of two kernels ({name}) the lowest minimum uses: MKL {used['MKL']}, joint MAP "
        f"{used['MAP']}, variational bound {used['VB']}."
    )
