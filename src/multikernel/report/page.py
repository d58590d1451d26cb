"""Pages: sections of words, tables and figures as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import write_atomically
from .._versions import installed_versions, python_version
from ..displays._style import INK

_LONG = 30  # rows from which on a table is folded
MAX_TABLE_ROWS = 200

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Section:
    """One part of a page.

    Attributes
    ----------
    heading : str
        Empty for a part that needs none.
    text : tuple of str
        Paragraphs.
    table : mapping of columns or DataFrame, optional
        The first 200 rows are shown, and how many are left out.
    caption : str
        Of the table.
    figure : matplotlib Figure, optional
    alt : str
        What the figure shows, for those who do not see it.
    parts : tuple of Section
        What belongs to it, shown below.
    folded : bool
        Whether readers open it themselves, by its heading.
    """

    heading: str
    text: tuple[str, ...] = ()
    table: Columns | None = None
    caption: str = ""
    figure: Any | None = None
    alt: str = ""
    parts: tuple[Section, ...] = ()
    folded: bool = False


def save_sections(
    path: str | os.PathLike[str],
    *,
    title: str,
    lead: Sequence[str],
    sections: Sequence[Section],
    versions: Mapping[str, str] | None = None,
) -> Path:
    """Write one HTML file, whole or not at all.

    It loads nothing from elsewhere and every text in it is escaped. Its one script, which sorts
    tables, is its own; without scripts all of it can be read.

    Parameters
    ----------
    path : path-like
        Where to write; missing folders are made.
    title : str
    lead : sequence of str
        The sentences to read first.
    sections : sequence of Section
    versions : mapping of str, optional
        Names and versions of packages; those installed by default.

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
    environment = _environment()
    script = environment.loader.get_source(environment, "sort.js")[0].strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("page.html.j2").render(
        title=title,
        lead=list(lead),
        sections=[_content(section, f"s{k}") for k, section in enumerate(sections)],
        versions={"Python": python_version()} | dict(versions or installed_versions()),
        script=_raw(script),
        script_hash=digest,
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode("utf-8"))
    return path


def cell_text(value: Any) -> str:
    """A value as tables show it.

    Examples
    --------
    >>> cell_text(0.12345), cell_text(None), cell_text("text")
    ('0.123', '–', 'text')
    """
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, (float, np.floating)):
        return f"{value:.3g}"
    return str(value)


@dataclass(frozen=True)
class Cell:
    """What a table shows, and the number that it is sorted by.

    Attributes
    ----------
    text : str
    number : float or None
    """

    text: str
    number: float | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class _Table:
    """Cells by row; ``numeric`` says which columns align right."""

    header: list[str]
    rows: list[list[Cell]]
    numeric: list[bool]
    n_left_out: int

    @property
    def long(self) -> bool:
        """Whether it hides what comes after it."""
        return len(self.rows) > _LONG


def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = resources.files(__package__).joinpath("templates")
    return Environment(
        loader=FunctionLoader(lambda file: folder.joinpath(file).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _content(section: Section, name: str) -> dict[str, Any]:
    """A section as the template takes it; ``name`` makes the ids of its figures unique."""
    return {
        "id": name,
        "heading": section.heading,
        "text": section.text,
        "table": None if section.table is None else _table(section.table),
        "caption": section.caption,
        "svg": None if section.figure is None else _svg(section.figure, name),
        "alt": section.alt,
        "parts": [_content(part, f"{name}-{k}") for k, part in enumerate(section.parts)],
        "folded": section.folded,
    }


def _table(columns: Columns) -> _Table:
    cells = [list(columns[name]) for name in columns]
    rows = list(zip(*cells, strict=True))
    shown = [[_cell(value) for value in row] for row in rows[:MAX_TABLE_ROWS]]
    numeric = [any(_number(value) is not None for value in column) for column in cells]
    return _Table([str(name) for name in columns], shown, numeric, len(rows) - len(shown))


def _cell(value: Any) -> Cell:
    cell = value if isinstance(value, Cell) else Cell(cell_text(value), _number(value))
    return Cell(cell.text.replace(" ± ", "\u00a0±\u00a0"), cell.number)  # on one line


def _number(value: Any) -> float | None:
    if isinstance(value, Cell):
        return value.number
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return float(value) if is_number and np.isfinite(value) else None


def _svg(figure: Any, prefix: str) -> Any:
    """A figure as inline SVG whose lines and letters take the colour of the page's text."""
    from matplotlib import pyplot as plt
    from matplotlib import rc_context

    buffer = io.StringIO()
    empty = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": prefix}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=empty, bbox_inches="tight")
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)  # labels repeated as comments
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)  # ids unique in the page
    return _raw(svg)  # safe: letters are drawn as paths, so no text of the user is left


def _raw(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)
