"""The importance of sources: by themselves, and when they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def importance_section(comparison: Comparison) -> Section:
    """Weight, score alone and cost of absence, side by side."""
    return Section(
        "Importance",
        (
            "Weight is not importance: of two sources that say the same, each can be left out at "
            "no cost.",
        ),
        table=renamed(comparison.importance(), _COLUMNS),
        caption="The score of each source alone, and what its absence costs "
        f"{comparison.headline}.",
    )
