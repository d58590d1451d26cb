"""Panels of many sources: the first part of their names against the rest."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATORS = (" · ", " / ", "/", ": ", ":", "|", " x ", " ", "_", "-", ".")
MAX_PANELS = 8


def find_panels(
    sources: Sequence[str], panels: Sequence[str] | None, max_rows: int
) -> tuple[list[str], list[str]] | None:
    """The panel and the row of every kernel; None where sources are few, or of one part.

    Parameters
    ----------
    sources : sequence of str of length n_kernels
        Names of the sources.
    panels : sequence of str of length n_kernels or None
        The panel of every kernel, where it is known.
    max_rows : int
        Sources up to which there is no need for panels, and the most rows of a panel.

    Examples
    --------
    >>> find_panels(["sift 1x1", "sift 2x2", "hog 1x1", "hog 2x2"], None, 3)
    (['sift', 'sift', 'hog', 'hog'], ['1x1', '2x2', '1x1', '2x2'])
    """
    if panels is not None:
        rows = [_rest(source, panel) for source, panel in zip(sources, panels, strict=True)]
        return [str(panel) for panel in panels], rows
    names = list(dict.fromkeys(sources))
    if len(names) <= max_rows:
        return None
    for separator in SEPARATORS:
        for split in (str.partition, str.rpartition):
            parts = {name: split(name, separator)[::2] for name in names}
            if _is_product(list(parts.values()), max_rows):
                first, second = zip(*(parts[source] for source in sources), strict=True)
                return list(first), list(second)
    return None


def _is_product(parts: list[tuple[str, ...]], max_rows: int) -> bool:
    """Whether parts are all pairs of a few first with not many second ones."""
    first, second = ({part[i] for part in parts} for i in (0, 1))
    if "" in first | second:
        return False
    few = 2 <= len(first) <= MAX_PANELS and 2 <= len(second) <= max_rows
    return few and len(set(parts)) == len(first) * len(second) == len(parts)


def _rest(source: str, panel: str) -> str:
    """What is left of a source beside its panel."""
    rest = str(source).removeprefix(str(panel)).strip(" ·/:|_-.")
    return rest or str(source)
