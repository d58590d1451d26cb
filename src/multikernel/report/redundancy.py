"""Redundancy: which kernels of a comparison say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_MOST_ROWS = 30  # in the table


def redundancy_section(comparison: Comparison) -> Section | None:
    """Which kernels say the same, and how much of it is about the target."""
    if comparison.whole is None or comparison.whole["redundancy"] is None:
        return None
    from ..displays import RedundancyDisplay

    found = comparison.whole["redundancy"]
    display = RedundancyDisplay(
        found["alignment"], found["names"], target=found["target"], note=found["note"]
    ).plot()
    text = (
        "Kernels that say the same can stand in for each other: the weight of one may then go "
        "to the other in the next fold, at no cost."
    )
    return Section(
        "Redundancy",
        (text, f"Shown: {found['note']}.") if found["note"] else (text,),
        figure=display.figure_,
        alt="Map of centred alignments between kernels or sources, ordered by a tree, the target "
        "first; " + _closest(found["alignment"], found["names"]),
        parts=(_table(display.frame()),) if len(found["names"]) < _MOST_ROWS else (),
    )


def _table(frame: Any) -> Section:
    table: dict[str, list[Any]] = {"": list(frame.index)}
    table |= {str(name): frame.iloc[:, k].tolist() for k, name in enumerate(frame.columns)}
    return Section(
        "Table of alignments",
        table=table,
        caption="0: nothing in common, 1: the same.",
        folded=True,
    )


def _closest(alignment: Any, names: list[str]) -> str:
    A = np.array(alignment, dtype=float)
    if len(A) < 2:
        return "there is one row."
    np.fill_diagonal(A, -np.inf)
    i, j = np.unravel_index(int(A.argmax()), A.shape)
    return f"closest are {names[i]} and {names[j]} ({A[i, j]:.2f})."
