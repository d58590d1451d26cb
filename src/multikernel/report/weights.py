"""The weights of the headline model: which sources and kernels, and how firmly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..displays import FoldWeightsDisplay
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_MOST_FOLDS = 10  # shown one by one
_N_HEAVIEST = 10  # kernels of every class
_SAME = (
    "All kernels have the same trace: shares of the weight are also shares of the trace of the "
    "combined kernel."
)
_OTHER = (
    "Kernels differ in trace: the share of the trace says how much of the combined kernel comes "
    "from a source or a kernel, whatever its scale."
)


def weights_section(comparison: Comparison) -> Section:
    """Shares of sources fold by fold, and of kernels over all folds."""
    if comparison.headline not in comparison.models:
        return Section("Weights", (f"{comparison.headline} has not finished a fold.",))
    traces = _traces(comparison)
    kernels = Section(
        "Table of kernels",
        table=_kernels(comparison, traces),
        caption="Mean share and its spread over folds, and how often the kernel was used; "
        "heaviest first.",
        folded=True,
    )
    return Section(
        "Weights",
        () if traces is None else (_OTHER if traces else _SAME,),
        figure=FoldWeightsDisplay.from_comparison(comparison).figure_,
        alt="Share of the weight by source and fold; the table below has the same numbers.",
        table=_shares(comparison, traces),
        caption=f"Share of each source in the weights of {comparison.headline}, fold by fold.",
        parts=(_kernel_map(comparison), kernels, *_by_class(comparison)),
    )


def _kernel_map(comparison: Comparison) -> Section:
    display = FoldWeightsDisplay.from_comparison(comparison, by="kernel")
    return Section(
        "",
        figure=display.figure_,
        alt="Share of the weight by kernel and fold; many kernels are taken together by family.",
    )


def _by_class(comparison: Comparison) -> list[Section]:
    """The heaviest kernels class by class, of every model that has weights for each."""
    own = [r for r in comparison.results if r["role"] == "model" and r["class_weights"] is not None]
    sections = []
    for model in dict.fromkeys(r["model"] for r in own):
        weights = comparison.class_weights(model)
        table = weights.mean(axis=1).rename("mean").reset_index()
        table["sd"] = weights.std(axis=1).to_numpy()
        table = table.sort_values("mean", ascending=False, kind="stable")
        table = table.groupby("class").head(_N_HEAVIEST).sort_values("class", kind="stable")
        sections.append(
            Section(
                f"Weights by class of {model}",
                table={name: list(table[name]) for name in ("class", "kernel", "mean", "sd")},
                caption=f"Mean share over folds of the {_N_HEAVIEST} heaviest kernels of every "
                "class, and its spread.",
                folded=True,
            )
        )
    return sections


def _traces(comparison: Comparison) -> list[dict[str, Any]] | None:
    """Shares in the trace of the combined kernel by fold; empty where they are those of the weight.

    None where they were not kept.
    """
    found = [(r["trace"], r["weights"]) for r in comparison._of(comparison.headline)]
    if any(trace is None for trace, _ in found):
        return None
    same = all(np.allclose(trace["weights"], weights, atol=1e-9) for trace, weights in found)
    return [] if same else [trace for trace, _ in found]


def _shares(comparison: Comparison, traces: list[dict[str, Any]] | None) -> dict[str, list[Any]]:
    """Mean share and spread of every source, and its share in each of a few folds."""
    shares = comparison.shares()
    table = {"source": [str(name) for name in shares.index], "mean": list(shares.mean(axis=1))}
    if traces:
        by_fold = [[trace["shares"].get(name, 0.0) for trace in traces] for name in shares.index]
        table["of trace"] = np.mean(by_fold, axis=1).tolist()
    table |= {"lowest": list(shares.min(axis=1)), "highest": list(shares.max(axis=1))}
    if shares.shape[1] <= _MOST_FOLDS:
        table |= {str(fold): list(shares[fold]) for fold in shares}
    return table


def _kernels(comparison: Comparison, traces: list[dict[str, Any]] | None) -> dict[str, list[Any]]:
    """Mean share, spread and frequency of every kernel, heaviest first."""
    table = comparison.stability()
    if traces:
        table["of trace"] = np.mean([trace["weights"] for trace in traces], axis=0)
    table = table.sort_values("mean", ascending=False, kind="stable")
    return {
        "kernel": [str(name) for name in table.index],
        "mean": list(table["mean"]),
        **({"of trace": list(table["of trace"])} if traces else {}),
        "sd": list(table["sd"]),
        "used": [f"{share:.0%} of folds" for share in table["selected"]],
    }
