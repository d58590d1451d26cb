"""Features: the columns that the linear kernels of a comparison go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..comparison.whole import DEFAULT
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_N_FEATURES = 5  # of every source


def features_section(comparison: Comparison) -> Section | None:
    """The heaviest columns of every source that has a linear kernel in use."""
    if comparison.whole is None or not comparison.whole["features"]:
        return None
    features = comparison.whole["features"]
    rows = [
        (source, feature["name"], feature["coefficient"])
        for source, found in features.items()
        for feature in found[:_N_FEATURES]
    ]
    source, name, coefficient = zip(*rows, strict=True)
    return Section(
        "Features",
        (
            f"Coefficients of the columns in the linear part of {comparison.headline}, fitted to "
            "all samples. What kernels of other kinds see is not in them.",
            _units(list(features), comparison.whole.get("prepared") or {}),
        ),
        table={"source": source, "column": name, "coefficient": coefficient},
        caption=f"The {_N_FEATURES} largest of every source, {_meaning(comparison)}.",
    )


def _meaning(comparison: Comparison) -> str:
    """What a coefficient adds to."""
    if comparison.task == "regression":
        return "in units of the target"
    classes = np.unique(comparison.targets)
    if len(classes) == 2:
        return f"in favour of {classes[-1]}"
    return f"root mean square over the {len(classes)} classes"


def _units(sources: list[str], prepared: dict[str, str]) -> str:
    """Which coefficients can be compared: those of columns of one scale."""
    scaled = [source for source in sources if prepared.get(source) == DEFAULT]
    if scaled == sources:
        return "Columns were scaled to unit variance."
    words = "come as they were given, or as a preparation of their own left them"
    if not scaled:
        return f"Columns {words}: a coefficient depends on the unit of its column."
    return (
        f"Columns of {', '.join(scaled)} were scaled to unit variance; those of the other sources "
        f"{words}, and their coefficients depend on the units."
    )
