"""Data frames as the tables of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def renamed(frame: Any, names: Mapping[str, str]) -> dict[str, list[Any]]:
    """Columns by the names that readers see; what is left of rounding is zero."""
    floats = frame.select_dtypes("float")
    exact = frame.assign(**{name: floats[name].round(12) + 0.0 for name in floats})  # no -0.0
    return {names[name]: list(exact[name]) for name in names if name in frame}


def pairs(mapping: Mapping[str, str], first: str, second: str) -> dict[str, list[Any]]:
    """A mapping as a table of two columns."""
    return {first: list(mapping), second: list(mapping.values())}
