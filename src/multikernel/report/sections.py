"""save_sections: one HTML file made of headings, paragraphs, tables and figures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._atomic import write_atomically
from .report import _svg, _table, _template, installed_versions


@dataclass(frozen=True)
class Section:
    """One part of a page.

    Attributes
    ----------
    heading : str
    text : tuple of str
        Paragraphs.
    table : mapping of columns or DataFrame, optional
    caption : str
        Of the table.
    figure : matplotlib Figure, optional
    alt : str
        What the figure shows, for those who do not see it.
    """

    heading: str
    text: tuple[str, ...] = ()
    table: Mapping[str, Sequence[Any]] | None = None
    caption: str = ""
    figure: Any | None = None
    alt: str = ""


def save_sections(
    path: str | os.PathLike[str],
    *,
    title: str,
    lead: Sequence[str],
    sections: Sequence[Section],
) -> Path:
    """Write one self-contained HTML file; every text in it is escaped.

    Parameters
    ----------
    path : path-like
        Where to write; missing folders are made.
    title : str
    lead : sequence of str
        The sentences to read first.
    sections : sequence of Section

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from multikernel.report import Section, save_sections
    >>> part = Section("Result", table={"a < b": [0.5]}, caption="One number.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_sections(f"{folder}/page.html", title="A page", lead=[], sections=[part])
    ...     "a &lt; b" in path.read_text(encoding="utf-8")
    True
    """
    parts = [
        {
            "heading": section.heading,
            "text": section.text,
            "table": None if section.table is None else _table(section.table),
            "caption": section.caption,
            "svg": None if section.figure is None else _svg(section.figure, f"figure{k}"),
            "alt": section.alt,
        }
        for k, section in enumerate(sections)
    ]
    page = _template("sections").render(
        title=title, verdict=list(lead), sections=parts, versions=installed_versions()
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode("utf-8"))
    return path
