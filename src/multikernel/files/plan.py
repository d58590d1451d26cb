"""Plan: which files hold which sources, before any of them is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..kernels import KernelFamily
from ._errors import InputError, did_you_mean, listing
from ._toml_lines import KeyPath
from .dataset import Kind, Task
from .formats import IN_FOLDERS, READERS, why_not

_PREDICTIONS = re.compile(r'sample,prediction(,"?p\(.*)?')  # the header of their file
_LONGEST_HEADER = 10_000  # characters


@dataclass(frozen=True)
class Source:
    """One source as its owner describes it.

    Parameters
    ----------
    name : str
    files : tuple of Path
        Several hold the same columns of different samples.
    key : str, optional
        The array of npz and mat files.
    columns, drop : tuple of str
        Names or patterns such as ``"rna_*"``; without ``columns``, all.
    kind : {"features", "kernel", "distance"}, optional
    kernels : tuple of KernelFamily
    """

    name: str
    files: tuple[Path, ...]
    key: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    kind: Kind | None = None
    kernels: tuple[KernelFamily, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What to read and how; without ``sources``, every table of ``files`` is one."""

    folder: Path
    files: tuple[Path, ...]
    sources: tuple[Source, ...] | None = None
    target: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    ids: str | None = None
    task: Task | None = None
    only: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    places: Mapping[KeyPath, str] = field(default_factory=dict)  # where a TOML file says what
    alone: bool = False  # one table is meant, and none beside it unless it is named in full

    @contextmanager
    def at(self, *key: str) -> Iterator[None]:
        """Let complaints begin with the place that is to blame."""
        try:
            yield
        except InputError as error:
            place = self.places.get((*key, error.key or ""), self.places.get(key))
            raise InputError(f"{place}: {error}" if place else str(error)) from None


def plan_of_folder(folder: Path) -> Plan:
    """Every readable file of a folder; what is left out is said."""
    files, notes = [], []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if _holds_predictions(path):
            notes.append(f"{path.name} holds predictions of multikernel and was not read.")
        elif path.is_dir():
            notes.append(f"{path.name}/ is a folder and was not read.")
        elif path.suffix.lower() in IN_FOLDERS:
            files.append(path)
        elif path.suffix.lower() == ".toml":
            notes.append(f"{path.name} was not read; give its path itself to use it.")
        else:
            notes.append(f"{path.name} was not read: {why_not(path)}.")
    if not files:
        endings = ", ".join(IN_FOLDERS)
        raise InputError(f"The folder {folder} holds no file that can be read ({endings}).")
    return Plan(folder, tuple(files), notes=tuple(notes))


def plan_of_file(path: Path, sources: Mapping[str, Any] | None) -> Plan:
    """One table, cut into sources by patterns of columns."""
    if sources is None:
        return Plan(path.parent, (path,), alone=True)
    cut = tuple(Source(name, (path,), columns=as_tuple(c)) for name, c in sources.items())
    return Plan(path.parent, (path,), cut, alone=True)


def choose_files(plan: Plan, sources: Mapping[str, Any]) -> Plan:
    """A folder with sources from files that are named."""
    chosen = tuple(
        Source(name, tuple(path for f in as_tuple(files) for path in find_files(plan.folder, f)))
        for name, files in sources.items()
    )
    return Plan(plan.folder, plan.files, chosen, notes=plan.notes)


def find_files(folder: Path, pattern: str) -> list[Path]:
    """The files that a pattern such as ``"*_rna.csv"`` stands for, or the one that is named."""
    path = folder / pattern
    matching = sorted(p for p in path.parent.glob(path.name) if "*" in path.name and _readable(p))
    return matching or [find_file(folder, pattern)]


def find_file(folder: Path, name: str) -> Path:
    """A file by its path, or by its name without ending where only one has it."""
    path = folder / name
    if path.is_file():
        return path
    same = sorted(p for p in path.parent.glob("*") if p.stem == path.name and _readable(p))
    if len(same) == 1:
        return same[0]
    if same:
        raise InputError(f"{name!r} may be {listing(p.name for p in same)}; name one of them.")
    near = [p.name for p in path.parent.glob("*") if _readable(p)]
    raise InputError(f"There is no file {path}{did_you_mean(path.name, near) or '.'}")


def as_tuple(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """A name or several of them as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _holds_predictions(path: Path) -> bool:
    """Whether a file is one that ``multikernel predict`` wrote."""
    if not path.is_file() or path.suffix.lower() != ".csv":
        return False
    with path.open(encoding="utf-8", errors="replace") as stream:
        return _PREDICTIONS.fullmatch(stream.readline(_LONGEST_HEADER).rstrip("\r\n")) is not None


def _readable(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in READERS
