"""The tables, the figure and the sentences of the SimpleMKL experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...report import Section
from .._text import spread
from ..base import Summary

Results = Mapping[str, Sequence[dict[str, Any]]]
_DIFFERS = 2.0  # percentage points


def summarize(results: Results) -> Summary:
    """The table of the paper, and what it hangs on."""
    return Summary(
        _findings(results),
        [_main(results), _conventions(results), _kinds(results)],
    )


def _values(results: Sequence[dict[str, Any]], fit: str, key: str) -> list[float]:
    return [float(result[fit][key]) for result in results]


def _percent(values: Sequence[float]) -> str:
    return spread([100 * value for value in values])


def _main(results: Results) -> Section:
    table: dict[str, list[Any]] = {
        "data set": list(results),
        "samples": [r[0]["n_train"] for r in results.values()],
        "kernels": [r[0]["n_kernels"] for r in results.values()],
        "accuracy, %": [_percent(_values(r, "printed", "accuracy")) for r in results.values()],
        "kernels in use": [spread(_values(r, "printed", "n_used")) for r in results.values()],
        "seconds": [spread(_values(r, "printed", "seconds"), 2) for r in results.values()],
        "passes": [spread(_values(r, "printed", "n_passes"), 0) for r in results.values()],
        "largest gap": [max(_values(r, "printed", "gap")) for r in results.values()],
        "restarts": [_restarts(r) for r in results.values()],
    }
    text = (
        "Gaussian kernels of ten bandwidths and polynomials of degree one to three, on all "
        "variables and on every single one, each of trace one; hinge loss with C = 100, weights "
        "that sum to one; training on 70 % of each class, standardised by training samples; a "
        "relative duality gap of 0.01, which is certified here. Mean and standard deviation over "
        f"{len(next(iter(results.values())))} random splits.",
        "A kernel is in use if its weight is not zero, with no threshold. A pass reads all kernels "
        "once. Seconds are of one processor, for the weights, not for the Gram matrices. Restarts "
        "are of the solver where it stood still, over all splits and all fits of both tables. The "
        "paper's own figures are not beside them, since its text was not consulted for them.",
    )
    return Section("Table 1", text, table, "Unit trace, C = 100, gap 0.01.")


def _restarts(results: Sequence[dict[str, Any]]) -> int:
    fits = ("printed", "optimum", "unit mean diagonal")
    return int(sum(sum(_values(results, fit, "n_restarts")) for fit in fits))


def _conventions(results: Results) -> Section:
    def column(fit: str, key: str) -> list[str]:
        show = _percent if key == "accuracy" else spread
        return [show(_values(r, fit, key)) for r in results.values()]

    table: dict[str, list[Any]] = {
        "data set": list(results),
        "gap 0.01": column("printed", "accuracy"),
        "kernels at 0.01": column("printed", "n_used"),
        "gap 1e-6": column("optimum", "accuracy"),
        "kernels at 1e-6": column("optimum", "n_used"),
        "unit mean diagonal": column("unit mean diagonal", "accuracy"),
        "kernels, unit mean diagonal": column("unit mean diagonal", "n_used"),
        "mean of all kernels": [_percent([s["even"] for s in r]) for r in results.values()],
        "larger class": [_percent([s["majority"] for s in r]) for r in results.values()],
    }
    text = (
        "Accuracy in percent, and kernels in use. The second pair stops at the optimum. The third "
        "scales kernels to a mean diagonal of one, with the same C: about n times less "
        "regularization. Then the machine on the mean of all kernels (trace one, C = 100), and "
        "the share of the larger class, which takes no machine.",
    )
    return Section("What the table hangs on", text, table, "The same splits throughout.")


def _kinds(results: Results) -> Section:
    kinds = list(next(iter(results.values()))[0]["printed"]["shares"])
    means = {
        name: [float(np.mean([s["printed"]["shares"][kind] for s in r])) for kind in kinds]
        for name, r in results.items()
    }
    table: dict[str, list[Any]] = {"data set": list(means)}
    for k, kind in enumerate(kinds):
        table[kind] = [f"{100 * shares[k]:.0f} %" for shares in means.values()]
    return Section(
        "Where the weight goes",
        ("Shares of the weights, which sum to one, mean over splits.",),
        table,
        "Weight by kind of kernel.",
        _figure(means, kinds),
        "Bars of the share of the weight on each kind of kernel, by data set",
    )


def _figure(means: Mapping[str, Sequence[float]], kinds: Sequence[str]) -> Any:
    from matplotlib.figure import Figure

    from ...displays._style import PALETTE, legend, quiet_axes

    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    ax = figure.add_subplot()
    names = list(means)[::-1]
    left = np.zeros(len(names))
    for k, kind in enumerate(kinds):
        widths = np.array([means[name][k] for name in names])
        ax.barh(names, widths, left=left, color=PALETTE[k], label=kind, height=0.7)
        left += widths
    ax.set_xlabel("share of the weight")
    quiet_axes(ax, grid="x")
    legend(ax, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize=8)
    return figure


def _findings(results: Results) -> list[str]:
    used = {name: np.mean(_values(r, "printed", "n_used")) for name, r in results.items()}
    few, many = min(used, key=used.__getitem__), max(used, key=used.__getitem__)
    gaps = [gap for r in results.values() for gap in _values(r, "printed", "gap")]
    count = sum(gap <= 1e-2 for gap in gaps)
    seconds = max(float(np.mean(_values(r, "printed", "seconds"))) for r in results.values())
    return [
        f"From {used[few]:.0f} ({few}) to {used[many]:.0f} ({many}) kernels are in use, of "
        f"{results[few][0]['n_kernels']} and {results[many][0]['n_kernels']}; {count} of "
        f"{len(gaps)} fits are certified within 0.01 of the optimum.",
        f"A fit takes at most {seconds:.1f} seconds of one processor on average.",
        _optimum(results),
        _trace(results),
        _against_even(results),
    ]


def _change(results: Results, fit: str, key: str) -> dict[str, float]:
    """The mean change from the first fit."""
    return {
        name: float(np.mean(_values(r, fit, key)) - np.mean(_values(r, "printed", key)))
        for name, r in results.items()
    }


def _optimum(results: Results) -> str:
    accuracy = max(100 * abs(v) for v in _change(results, "optimum", "accuracy").values())
    kernels = max(abs(v) for v in _change(results, "optimum", "n_used").values())
    return (
        f"Going on to a gap of 1e-6 changes mean accuracies by at most {accuracy:.1f} points and "
        f"the mean number of kernels by at most {kernels:.1f}."
    )


def _trace(results: Results) -> str:
    change = _change(results, "unit mean diagonal", "accuracy")
    moved = [f"{k} ({100 * v:+.1f})" for k, v in change.items() if abs(100 * v) > _DIFFERS]
    what = ", ".join(moved) if moved else "no data set"
    return (
        "Kernels of unit mean diagonal instead of unit trace, with the same C, move the accuracy "
        f"by more than two points on {what}."
    )


def _against_even(results: Results) -> str:
    better: list[str] = []
    worse: list[str] = []
    for name, r in results.items():
        gain = 100 * (np.mean(_values(r, "printed", "accuracy")) - np.mean([s["even"] for s in r]))
        if abs(gain) > _DIFFERS:
            (better if gain > 0 else worse).append(f"{name} ({gain:+.1f})")
    return (
        "Against the mean of all kernels, learned weights gain more than two points on "
        f"{', '.join(better) or 'no data set'}, and lose more than two on "
        f"{', '.join(worse) or 'none'}."
    )
