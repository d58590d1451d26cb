"""TOML files: every complaint names the file, the line and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any, NoReturn

from ..kernels import KERNELS, KernelFamily
from ._errors import InputError, did_you_mean, listing
from ._toml_lines import KeyPath, key_lines
from .plan import Plan, Source, as_tuple, find_file, plan_of_folder

Rule = tuple[Callable[[Any], bool], str]

_NOT_BY_NAME = ("function", "sklearn")  # these need Python objects
_FAMILIES = sorted(set(KERNELS) - set(_NOT_BY_NAME))
_WITH_KEYS = (".npz", ".mat")  # files that hold arrays by name


def _is_int(least: int) -> Callable[[Any], bool]:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= least


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_names(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, str) and item for item in items)


_NAME: Rule = (lambda v: isinstance(v, str) and v != "", "text in quotes")
_NAMES: Rule = (_is_names, "text in quotes, or a list of such")
_TABLE: Rule = (lambda v: isinstance(v, dict), "a table")
_TOP: dict[str, Rule] = {
    "target": _NAMES,
    "id": _NAME,
    "task": (
        lambda v: v in ("classification", "regression"),
        "'classification' or 'regression'",
    ),
    "groups": _NAMES,
    "sources": _TABLE,
    "compare": _TABLE,
}
_SOURCE: dict[str, Rule] = {
    "file": _NAMES,
    "key": _NAME,
    "columns": _NAMES,
    "drop": _NAMES,
    "kind": (
        lambda v: v in ("features", "kernel", "distance"),
        "'features', 'kernel' or 'distance'",
    ),
    "kernels": (lambda v: isinstance(v, list) and bool(v), "a list of kernels, such as ['linear']"),
}
_COMPARE: dict[str, Rule] = {  # by the names of the arguments of compare
    "cv": (_is_int(2), "a whole number of folds, at least 2"),
    "repeats": (_is_int(1), "a whole number, at least 1"),
    "inner_cv": (_is_int(2), "a whole number of folds, at least 2"),
    "models": (lambda v: isinstance(v, list) and _is_names(v), "a list of names in quotes"),
    "scoring": _NAME,
    "importance": (lambda v: isinstance(v, bool), "true or false"),
    "n_permutations": (_is_int(0), "a whole number, at least 0"),
    "rope": (_is_amount, "a number, at least 0"),
    "time_budget": (_is_amount, "a number of seconds, at least 0"),
    "n_jobs": (lambda v: _is_int(-64)(v) and v != 0, "a whole number other than 0"),
    "random_state": (_is_int(0), "a whole number, at least 0"),
}


def plan_of_toml(path: Path) -> Plan:
    """The plan that a TOML file describes, with files beside it."""
    config = _Config.read(path)
    config.check((), config.content, _TOP)
    config.check(("compare",), config.content.get("compare", {}), _COMPARE)
    described = config.content.get("sources")
    folder = path.resolve().parent
    sources = None
    notes: tuple[str, ...] = ()
    if described is None:
        beside = plan_of_folder(folder)
        files = beside.files
        notes = tuple(note for note in beside.notes if not note.startswith(path.name))
    elif not described:
        config.fail(("sources",), 'names no source; add [sources.NAME] with file = "...".')
    else:
        sources = tuple(config.source(name, folder) for name in described)
        files = tuple(dict.fromkeys(f for source in sources for f in source.files))
    return Plan(
        folder,
        files,
        sources,
        target=as_tuple(config.content.get("target")),
        groups=as_tuple(config.content.get("groups")),
        ids=config.content.get("id"),
        task=config.content.get("task"),
        options=config.content.get("compare", {}),
        notes=notes,
        places={
            key: config.place(key)
            for key in config.lines
            if len(key) in ((2, 3) if key[0] == "sources" else (1,))
        },
    )


def place_of(path: Path, key: KeyPath) -> str:
    """The file, the line and the key of a TOML file that a complaint begins with."""
    return _Config.read(path).place(key)


class _Config:
    """The content of a TOML file, which knows on what line each key stands."""

    def __init__(self, path: Path, content: dict[str, Any], lines: dict[KeyPath, int]) -> None:
        self.path, self.content, self.lines = path, content, lines

    @classmethod
    def read(cls, path: Path) -> _Config:
        try:
            text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
            return cls(path, tomllib.loads(text), key_lines(text))
        except UnicodeDecodeError as error:
            raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}).") from None
        except tomllib.TOMLDecodeError as error:
            reason, _, place = str(error).partition(" (at ")
            line = found.group() if (found := re.search(r"line \d+", place)) else "last line"
            raise InputError(f"{path.name}, {line}: not valid TOML: {reason}.") from None

    def fail(self, key: KeyPath, complaint: str) -> NoReturn:
        """Complain about a key, by the line where it or what holds it stands."""
        raise InputError(f"{self.place(key)}: {complaint}")

    def place(self, key: KeyPath) -> str:
        """The file, the line and the key as messages call them."""
        depth = next((d for d in range(len(key), 0, -1) if key[:d] in self.lines), 0)
        line = self.lines.get(key[:depth], 1)
        dotted = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in key).lstrip(".")
        return f"{self.path.name}, line {line}, {dotted}"

    def check(self, prefix: KeyPath, table: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
        """Refuse unknown keys and values that break the rule of their key."""
        for key, value in table.items():
            if key not in rules:
                hint = did_you_mean(key, rules) or f"; known here: {', '.join(rules)}."
                self.fail((*prefix, key), f"unknown key{hint}")
            holds, expected = rules[key]
            if not holds(value):
                self.fail((*prefix, key), f"expected {expected}, got {_shown(value)}.")

    def source(self, name: str, folder: Path) -> Source:
        """One table of [sources], checked."""
        prefix: KeyPath = ("sources", name)
        table = self.content["sources"][name]
        if not isinstance(table, dict):
            self.fail(prefix, f'expected a table with file = "...", got {_shown(table)}.')
        self.check(prefix, table, _SOURCE)
        if "file" not in table:
            self.fail(prefix, f'has no file; add file = "{name}.csv".')
        files = [self._file(prefix, folder, file) for file in as_tuple(table["file"])]
        if "key" in table and not any(file.suffix.lower() in _WITH_KEYS for file in files):
            said = (
                f"{files[0].name} holds one table; only {' and '.join(_WITH_KEYS)} files have keys."
            )
            self.fail((*prefix, "key"), said)
        kind = table.get("kind")
        if kind in ("kernel", "distance") and len(files) > 1:
            self.fail((*prefix, "file"), f"a {kind} matrix is one file, got {len(files)}.")
        if kind in ("kernel", "distance") and "kernels" in table:
            self.fail((*prefix, "kernels"), f"they are for features, not for a {kind} matrix.")
        return Source(
            name,
            tuple(files),
            key=table.get("key"),
            columns=as_tuple(table.get("columns")),
            drop=as_tuple(table.get("drop")),
            kind=kind,
            kernels=tuple(
                self._kernel((*prefix, "kernels", i), entry)
                for i, entry in enumerate(table.get("kernels", []))
            ),
        )

    def _file(self, prefix: KeyPath, folder: Path, name: str) -> Path:
        try:
            return find_file(folder, name)
        except InputError as error:
            self.fail((*prefix, "file"), str(error))

    def _kernel(self, key: KeyPath, entry: Any) -> KernelFamily:
        """A family from its name, or from a table of its name and parameters."""
        if isinstance(entry, dict) and len(entry) == 1:
            name, parameters = next(iter(entry.items()))
        elif isinstance(entry, str):
            name, parameters = entry, {}
        else:
            self.fail(
                key, f"expected a name or a table such as {{rbf = [1, 4]}}, got {_shown(entry)}."
            )
        if name not in _FAMILIES:
            hint = did_you_mean(name, _FAMILIES) or f"; known: {', '.join(_FAMILIES)}."
            self.fail(key, f"unknown kernel {name!r}{hint}")
        family = KERNELS[name]
        if not isinstance(parameters, dict):
            if not family.swept:
                self.fail(key, f"{name} has no parameter; write just {name!r}.")
            parameters = {family.swept[0]: parameters}
        known = family().get_params()
        if strange := sorted(parameters.keys() - known.keys()):
            self.fail(key, f"{name} has no parameter {strange[0]!r}; it has: {listing(known)}.")
        try:
            made = family(**parameters)
            made.parameters()
        except (TypeError, ValueError) as error:
            self.fail(key, str(error))
        return made


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
