"""The importance of sources: by themselves, and when they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._frames import renamed
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_COLUMNS = {
    "source": "source",
    "share": "share of the weight",
    "alone": "score alone",
    "drop": "cost of leaving it out",
    "p_value": "p",
    "permuted": "cost of permuting it",
}
_SHOWN = 5  # sources in a sentence
_ROUNDING = 1e-12


def importance_section(comparison: Comparison) -> Section:
    """Weight, score alone and cost of absence, side by side, and where they disagree."""
    table = comparison.importance()
    return Section(
        "Importance",
        (
            "Weight is not importance: of two sources that say the same, each can be left out at "
            "no cost.",
            *_disagreements(table, comparison.rope),
        ),
        table=renamed(table, _COLUMNS),
        caption="The score of each source alone, and what its absence costs "
        f"{comparison.headline}.",
    )


def _disagreements(table: Any, rope: float) -> list[str]:
    """Sources with much weight that nobody misses, and sources with little that are missed.

    What is practically nothing is not called something.
    """
    table = table[table["drop"].notna() & table["share"].notna()]
    heavy, missed = table["share"] > 1 / max(len(table), 1), table["drop"] > rope
    sentences = []
    if idle := list(table["source"][heavy & (table["drop"] <= _ROUNDING)]):
        sentences.append(
            f"Weight and importance disagree: leaving out {_listed(idle)} costs nothing, though "
            "the weight is above the average of all sources; others may say the same."
        )
    if modest := list(table["source"][~heavy & missed]):
        sentences.append(
            f"Leaving out {_listed(modest)} seems to cost something, though the weight is not "
            "above the average of all sources."
        )
    return sentences


def _listed(sources: list[str]) -> str:
    shown = ", ".join(map(str, sources[:_SHOWN]))
    more = len(sources) - _SHOWN
    return f"{shown} or any of {more} others" if more > 0 else " or ".join(shown.rsplit(", ", 1))
