"""The data of a comparison: sources, their overlap, and what was noted about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..displays._style import CELL_EDGE, INK, PALETTE, bare_axes, quiet_axes, short
from .page import Columns, Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_MOST_PATTERNS = 15  # drawn
_MOST_SOURCES = 40  # named in a sentence, or in a picture


def data_section(comparison: Comparison, data: Columns | None, notes: Sequence[str]) -> Section:
    """Sources, sizes and overlap; ``data`` says more about them where it is known."""
    sources: Columns = {
        "source": comparison.sources,
        "samples": [comparison.samples[name] for name in comparison.sources],
    }
    parts = [_overlap(comparison)] if len(comparison.overlap) > 1 else []
    if notes:
        parts.append(Section("What was noted about the data", tuple(notes), folded=True))
    return Section(
        "Data",
        (_counts(comparison),),
        table=sources if data is None else data,
        caption="The sources and what is in them.",
        parts=tuple(parts),
    )


def _counts(comparison: Comparison) -> str:
    if comparison.n_complete == comparison.n_samples:
        return f"All {comparison.n_samples} samples with a target have every source."
    shown = comparison.sources[:_MOST_SOURCES]
    counts = ", ".join(f"{name} {comparison.samples[name]}" for name in shown)
    counts += ", ..." if len(comparison.sources) > _MOST_SOURCES else ""
    return (
        f"Of {comparison.n_samples} samples with a target, {comparison.n_complete} have every "
        f"source; by source: {counts}. A sample contributes to the kernels of the sources it has."
    )


def _overlap(comparison: Comparison) -> Section:
    patterns = [(set(names), n) for names, n in comparison.overlap]
    words = [_together(names) for names, _ in patterns]
    few = len(comparison.sources) <= _MOST_SOURCES
    return Section(
        "",
        figure=_draw(comparison.sources, patterns[:_MOST_PATTERNS]) if few else None,
        alt="Samples by the sources that they have, most frequent first.",
        table={"sources": words, "samples": [n for _, n in patterns]},
        caption="How many samples have exactly these sources.",
    )


def _together(names: set[str]) -> str:
    """The sources that some samples have."""
    if len(names) > _MOST_SOURCES:
        return f"{len(names)} sources"
    return " + ".join(sorted(names)) or "none"


def _draw(sources: Sequence[str], patterns: Sequence[tuple[set[str], int]]) -> Any:
    """Bars of the numbers of samples above dots for the sources that they have."""
    from matplotlib import pyplot as plt

    size = 2.2 + 0.5 * len(patterns), 1.9 + 0.28 * len(sources)
    heights = {"height_ratios": [1.5, 0.28 * len(sources)]}
    figure, (bars, dots) = plt.subplots(
        2, 1, sharex=True, figsize=size, layout="constrained", gridspec_kw=heights
    )
    places = range(len(patterns))
    drawn = bars.bar(places, [n for _, n in patterns], color=PALETTE[0], width=0.6)
    bars.bar_label(drawn, color=INK, fontsize=8)
    bars.set_ylabel("samples", color=INK)
    quiet_axes(bars, grid="y")
    for row, source in enumerate(sources):
        has = [k for k, (names, _) in enumerate(patterns) if source in names]
        dots.scatter(places, [row] * len(patterns), s=40, color=[CELL_EDGE])
        dots.scatter(has, [row] * len(has), s=40, color=PALETTE[0])
    names = [short(source, 20) for source in sources]
    dots.set_yticks(range(len(sources)), names, parse_math=False)
    dots.set_xticks([])
    dots.set_ylim(len(sources) - 0.5, -0.5)
    bare_axes(dots)
    return figure
