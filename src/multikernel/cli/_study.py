"""A comparison of files in a folder: fits, tables and the report, which go on where they stopped.

The folder holds ``fits/`` (one file per finished fit), ``comparison.json`` (all results),
``study.json`` (what the report says about the data) and ``report.html``.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._atomic import write_atomically
from .._store import PLAN_NAME
from ..comparison.saving import FILE_NAME as RESULTS

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..files import Dataset

FITS, STUDY, REPORT = "fits", "study.json", "report.html"


@dataclass(frozen=True)
class Outcome:
    """A comparison, its report, and whether it was interrupted."""

    comparison: Comparison
    report: Path
    notes: list[str]
    interrupted: bool


def compare_study(
    dataset: Dataset,
    folder: Path,
    settings: Mapping[str, Any],
    notes: Sequence[str] = (),
    progress: Any = None,
    command: str | None = None,
) -> Outcome:
    """Compare models on the data of files, and write tables and report into a folder.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    folder : Path
        Made if it is missing. A comparison that was stopped goes on.
    settings : mapping
        Arguments of :func:`multikernel.compare`.
    notes : sequence of str
        What the report shall say about the data, such as :func:`concerns`.
    progress : callable, optional
        As for :func:`multikernel.compare`.
    command : str, optional
        What was typed, for the report.
    """
    from ..comparison import compare

    _keep_others(folder)
    with _watch_interrupts() as interrupted:
        result = compare(dataset, store=folder / FITS, progress=progress, **settings)
    asked = {**settings, **({} if command is None else {"command": command})}
    study = _describe(dataset, asked, notes)
    write_atomically(folder / STUDY, json.dumps(study, ensure_ascii=False).encode("utf-8"))
    result.save(folder / RESULTS)  # last: where it is, all of the report is
    return Outcome(result, rebuild_report(folder), list(notes), interrupted.is_set())


def _keep_others(folder: Path) -> None:
    """Refuse to write over files of a folder in which no comparison was begun."""
    taken = [name for name in (REPORT, RESULTS, STUDY) if (folder / name).exists()]
    if taken and not (folder / FITS / PLAN_NAME).is_file():
        raise FileExistsError(
            f"{folder} holds a {taken[0]}, but no {FITS}/{PLAN_NAME} of a comparison that goes on; "
            "choose another folder, or move the file away."
        )


def rebuild_report(folder: Path) -> Path:
    """Write the report of a folder of :func:`compare_study` from what is stored there."""
    from ..comparison import Comparison
    from ..report import save_report

    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if not (folder / RESULTS).is_file():
        begun = (folder / FITS).is_dir()
        raise FileNotFoundError(
            f"{folder} holds a comparison that was not finished; run the same multikernel compare "
            "again, and it goes on where it stopped."
            if begun
            else f"{folder} holds no comparison; multikernel compare makes one."
        )
    about = folder / STUDY  # which the demo does without
    study = json.loads(about.read_text(encoding="utf-8")) if about.is_file() else {}
    return save_report(folder / REPORT, Comparison.load(folder / RESULTS), **study)


def concerns(dataset: Dataset, folds: int | None = None) -> list[str]:
    """Problems and warnings of a check, as sentences with their subject.

    Parameters
    ----------
    dataset : Dataset
    folds : int, optional
        How many there will be, if not those of the study.
    """
    from ..files import check_sources

    if folds is not None:
        dataset = replace(dataset, options={**dataset.options, "cv": folds})
    found = check_sources(dataset).findings
    return [f"{f.subject}: {f.sentence}" for f in found if f.severity in ("problem", "warning")]


def _describe(
    dataset: Dataset, settings: Mapping[str, Any], notes: Sequence[str]
) -> dict[str, Any]:
    """What the report says about the data, as JSON takes it."""
    names = list(dataset.tables)
    tables = [dataset.tables[name] for name in names]
    target = "" if dataset.y is None else str(dataset.y.name)
    return {
        "title": f"Does combining sources help to predict {target}?",
        "data": {
            "source": names,
            "kind": [dataset.kind(name) for name in names],
            "samples": [len(table) for table in tables],
            "columns": [int(table.shape[1]) for table in tables],
            "missing values": [int(table.isna().to_numpy().sum()) for table in tables],
            "kernels": [dataset.n_kernels(name) for name in names],
        },
        "notes": [*notes, *(note for note in dataset.notes if note not in dataset.warnings)],
        "settings": {"target": target, "task": str(dataset.task)}
        | {key: _text(value) for key, value in settings.items()},
        "files": dict(dataset.hashes),
    }


def _text(value: Any) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@contextmanager
def _watch_interrupts() -> Iterator[threading.Event]:
    """Notice an interrupt from the keyboard, which ``compare`` turns into a partial result."""
    noticed = threading.Event()

    def notice(number: int, frame: Any) -> None:
        noticed.set()
        signal.default_int_handler(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield noticed
        return
    usual = signal.signal(signal.SIGINT, notice)
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, usual)
