"""The pages of an experiment: an HTML report, and Markdown with its figures beside it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._atomic import write_atomically
from .._versions import installed_versions
from ..report import Section, cell_text, save_sections
from .base import Experiment, Summary

_QUICK = "A quick look, at a fraction of the size of the experiment."
_BEGIN, _END = "<!-- begin: written by the command below -->", "<!-- end -->"
_FIGURE = re.compile(r"^!\[.*\]\((\S+\.png)\)$", re.MULTILINE)
_DPI = 110


def save_pages(
    folder: Path, experiment: Experiment, summary: Summary, *, seconds: float, stand_in: str
) -> tuple[Path, Path]:
    """Write ``report.html`` and ``page.md`` with its figures into a folder.

    Parameters
    ----------
    folder : Path
    experiment : Experiment
    summary : Summary
    seconds : float
        Work of all tasks.
    stand_in : str
        What the data were, if not the original ones: it is written on every figure.

    Returns
    -------
    report, page : Path
    """
    lead = _caveats(experiment.quick, stand_in) + summary.findings
    for section in summary.sections:
        _stamp(section.figure, stand_in)
    figures = _save_figures(folder, experiment.name, summary.sections)
    run = _run(experiment, seconds, bool(stand_in))
    page = folder / "page.md"
    write_atomically(page, _markdown(experiment.title, lead, summary, figures, run).encode())
    report = save_sections(
        folder / "report.html",
        title=experiment.title,
        lead=lead,
        sections=[*summary.sections, Section("Run", (run,))],
    )
    return report, page


def update_docs(folder: Path, name: str, page: Path) -> Path:
    """Put the page of a run into the documentation, between its two marks, figures beside it.

    What stands outside of the marks is kept: it is where people write why results differ.
    """
    target = folder / f"{name}.md"
    before, after = "", ""
    if target.exists():
        text = target.read_text(encoding="utf-8")
        if _BEGIN not in text or _END not in text:
            raise ValueError(
                f"{target} lacks the lines {_BEGIN!r} and {_END!r}, between which results go."
            )
        before, rest = text.split(_BEGIN, 1)
        after = rest.split(_END, 1)[1]
    body = page.read_text(encoding="utf-8")
    for figure in _FIGURE.findall(body):
        write_atomically(folder / figure, (page.parent / figure).read_bytes())
    if not before:
        heading, body = body.split("\n", 1)
        before = f"{heading}\n\n"
    else:
        body = body.split("\n", 1)[1]
    write_atomically(target, f"{before}{_BEGIN}\n{body.strip()}\n\n{_END}{after}".encode())
    return target


def _save_figures(folder: Path, name: str, sections: Sequence[Section]) -> dict[int, str]:
    """PNG files, by the number of the section; equal headings are told apart by that number."""
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[int, str] = {}
    for k, section in enumerate(sections):
        if section.figure is not None:
            file = f"{name}-{_slug(section.heading)}.png"
            names[k] = f"{file[:-4]}-{k + 1}.png" if file in names.values() else file
            buffer = io.BytesIO()
            section.figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight")
            write_atomically(folder / names[k], buffer.getvalue())
    return names


def _caveats(quick: bool, stand_in: str) -> list[str]:
    """What to know before the findings."""
    sentences = [_QUICK] if quick else []
    return sentences + ([f"These are {stand_in}, not the original data."] if stand_in else [])


def _stamp(figure: Any, stand_in: str) -> None:
    if figure is not None and stand_in:
        below = {"va": "top", "fontsize": 8, "color": "#b00000"}
        figure.text(0.0, -0.01, f"stand-in: {stand_in}", **below)


def _slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def _run(experiment: Experiment, seconds: float, stand_in: bool) -> str:
    options = experiment.quick * " --quick" + stand_in * " --stand-in"
    versions = ", ".join(f"{name} {version}" for name, version in installed_versions().items())
    return (
        f"multikernel reproduce {experiment.name}{options}: {seconds / 60:.1f} minutes of work, "
        f"wall clock, one core for each task; {versions}. Paper: {experiment.paper}"
    )


def _markdown(
    title: str, lead: Sequence[str], summary: Summary, figures: Mapping[int, str], run: str
) -> str:
    parts = [f"# {title}", "\n".join(f"- {sentence}" for sentence in lead)]
    for k, section in enumerate(summary.sections):
        parts += [f"## {section.heading}", *section.text]
        if section.table is not None:
            parts += [section.caption, markdown_table(section.table)]
        if k in figures:
            parts.append(f"![{section.alt}]({figures[k]})")
    parts.append(run)
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """A table in Markdown.

    Examples
    --------
    >>> print(markdown_table({"method": ["a|b"], "accuracy": [0.93456]}))
    | method | accuracy |
    | --- | --- |
    | a\\|b | 0.935 |
    """
    rows = zip(*columns.values(), strict=True)
    lines = [[_escaped(str(name)) for name in columns], ["---"] * len(columns)]
    lines += [[_escaped(cell_text(value)) for value in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
