"""The tables of the motorcycle experiment, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...report import Section
from ..base import Summary
from .figures import draw_fit, draw_path

_PICTURE = (-2, -1, 1)  # widths of the paper, as powers of two
_ALT = "Bars of kernel weights by width; the fitted curve with bands, samples with weight filled"

Groups = Mapping[str, Mapping[str, Any]]


def summarize(groups: Groups, n_starts: int) -> Summary:
    """The picture of the paper, when it shows, what is at rest, and what it is worth."""
    shown = groups["sweeps"]["500"]
    path = groups["path"]["all"]
    sections = [
        Section(
            "The picture of the paper",
            ("Plain updates, 500 sweeps: compare Figures 3 and 4. The bands are ours.",),
            figure=draw_fit(shown["picture"]),
            alt=_ALT,
        ),
        Section(
            "The same run, stopped earlier and later",
            table=_columns(
                {"sweeps": f"{int(n):,}"} | line(r) for n, r in groups["sweeps"].items()
            ),
            caption="Seen: a weight above a hundredth of the largest. Active: the rule of "
            "active_kernels_ and active_samples_.",
            figure=draw_path(path["counts"], path["weights"]),
            alt="Weights of 21 kernels, relative to the largest, against the number of sweeps",
        ),
        *_resting(groups["resting"]),
        Section(
            "Seeds and the meaning of a width",
            (f"500 plain sweeps from {n_starts} starts each.",),
            _columns(_starts(name, r) for name, r in groups["starts"].items()),
        ),
        Section(
            "Forecasts",
            table=_columns(_forecast(name, r) for name, r in groups["forecast"].items()),
            caption="Cross-validation; errors in g, means of log densities.",
        ),
    ]
    return Summary(_findings(groups, n_starts), sections)


def _resting(results: Mapping[str, Any]) -> list[Section]:
    """A picture for each kind of targets, the table below the first."""
    rows = [
        {"fit": f"{name}, {r['figures']['n_iter']:,} iterations"} | line(r)
        for name, r in results.items()
    ]
    first = Section(
        "At rest",
        ("Accelerated updates, accelerations in g; the table has others.",),
        _columns(rows),
        "Relative change of the bound below 1e-9, unless iterations ran out.",
        draw_fit(results["in g, accelerated"]["picture"]),
        _ALT,
    )
    second = Section(
        "At rest, standardised accelerations",
        figure=draw_fit(results["standardised, accelerated"]["picture"]),
        alt=_ALT,
    )
    return [first, second]


def line(result: Mapping[str, Any]) -> dict[str, str]:
    """What one fit shows."""
    found = result["figures"]
    times = ", ".join(f"{t:g}" for t in found["times"])
    return {
        "kernels seen": widths(found["kernels"]),
        "samples seen": f"{found['n_seen']} at {times} ms",
        "active kernels, samples": "{}, {}".format(*found["n_active"]),
        "bound": f"{found['bound']:.1f}".replace("-", "−"),
        "RMSE": f"{found['rmse']:.1f}",
    }


def widths(exponents: Iterable[int]) -> str:
    """Powers of two as text."""
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return ", ".join("2" + str(e).translate(digits) for e in exponents)


def _starts(name: str, result: Mapping[str, Any]) -> dict[str, str]:
    targets, width = name.split("; ")
    kernels = [tuple(found) for found in result["kernels"]]
    n = len(kernels)
    common = max(dict.fromkeys(kernels), key=kernels.count)
    return {
        "targets": targets,
        "kernel": width,
        "most frequent kernels": widths(common),
        "in": f"{kernels.count(common)} of {n}",
        f"{widths(_PICTURE)} in": f"{kernels.count(_PICTURE)} of {n}",
        "three samples in": f"{result['n_samples'].count(3)} of {n}",
    }


def _forecast(name: str, result: Mapping[str, Any]) -> dict[str, str]:
    return {
        "model": name,
        "RMSE": f"{np.sqrt(np.mean(np.square(result['error']))):.1f}",
        "log density": f"{np.mean(result['log_density']):.2f}".replace("-", "−"),
        "in 90 % interval": f"{np.mean(result['inside']):.0%}",
    }


def _findings(groups: Groups, n_starts: int) -> list[str]:
    shown = groups["sweeps"]["500"]["figures"]
    rest = groups["resting"]["in g, accelerated"]["figures"]
    same = tuple(shown["kernels"]) == _PICTURE
    paper = "as in the paper" if same else f"the paper has {widths(_PICTURE)}"
    errors = [r["figures"]["rmse"] for kind in ("sweeps", "resting") for r in groups[kind].values()]
    again = groups["starts"]["in g; exp(−d²/w²)"]["kernels"].count(list(_PICTURE))
    return [
        f"After 500 plain sweeps one sees the kernels {widths(shown['kernels'])} ({paper}) and "
        f"{shown['n_seen']} samples (the paper: 3).",
        f"At rest one sees {widths(rest['kernels'])}, under a bound that is larger by "
        f"{rest['bound'] - shown['bound']:.1f}.",
        f"The picture appears from {again} of {n_starts} starts if a width w means exp(−d²/w²) "
        "and accelerations are not standardised.",
        f"Root mean squared errors on all data lie between {min(errors):.1f} and "
        f"{max(errors):.1f} g whatever is seen.",
    ]


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    listed = list(rows)
    return {key: [row[key] for row in listed] for key in listed[0]}
