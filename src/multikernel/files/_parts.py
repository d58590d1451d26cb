"""Training and test parts: files of one source that stand side by side in a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from ._errors import count

_PART = re.compile(
    r"(?P<first>train|test)(ing)?[ _.-]+(?P<rest>.+)"
    r"|(?P<stem>.+?)[ _.-]+(?P<last>train|test)(ing)?",
    re.IGNORECASE,
)


def parts_warnings(files: Iterable[Path], used: Collection[Path]) -> list[str]:
    """What to say where test files are sources of their own beside those of training.

    Parameters
    ----------
    files : iterable of Path
        All files of the folder.
    used : collection of Path
        Those that are sources.
    """
    pairs = {name: pair for name, pair in _pairs(files).items() if pair[1] in used}
    if not pairs:
        return []
    both = [name for name in pairs if pairs[name][0] in used]
    name = (both or list(pairs))[0]
    train, test = (path.name for path in pairs[name])
    more = f", as do {count(len(pairs) - 1, 'other pair')}" if len(pairs) > 1 else ""
    return [
        f"{train} and {test} look like the training and test part of one source{more}, but every "
        f'file is a source of its own here; to stack them, write file = ["{train}", "{test}"] '
        f"below [sources.{_toml_key(name)}] in a TOML file, where target takes such a list, too; "
        "or name only the sources to keep."
    ]


def _toml_key(name: str) -> str:
    """A name as a key of TOML, quoted where it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _pairs(files: Iterable[Path]) -> dict[str, tuple[Path, Path]]:
    """The training and the test file of every name that has both."""
    found: dict[str, dict[str, Path]] = {}
    for path in files:
        if (match := _PART.fullmatch(path.stem)) is not None:
            name = match["rest"] or match["stem"]
            part = (match["first"] or match["last"]).lower()
            found.setdefault(name, {})[part] = path
    return {name: (p["train"], p["test"]) for name, p in found.items() if len(p) == 2}
