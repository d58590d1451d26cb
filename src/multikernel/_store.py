"""Results on disk: one file per finished task, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ._atomic import remove_abandoned_drafts, write_atomically

PLAN_NAME = "plan.json"


class Store:
    """A folder with the results of one run; it refuses those of another.

    Several processes may do the same run at the same time: they write the same files, each as a
    whole. Drafts that killed processes left are removed by a run that begins an hour later.

    Parameters
    ----------
    folder : path-like or None
        None keeps nothing.
    plan : dict
        What the run is, such as data, models, folds. A folder with another plan is refused.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, plan: dict[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder)
        self._plan = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()
        if self.folder is None:
            return
        _make(self.folder)
        path = self.folder / PLAN_NAME
        known = _read(path, f"choose another folder than {self.folder}")
        if known is None:
            _write(path, plan)
        elif differing := [key for key in plan if known.get(key) != plan[key]]:
            raise ValueError(
                f"{self.folder} holds a run with other {', '.join(differing)}; continue "
                "with what it was begun with, or choose another folder."
            )
        remove_abandoned_drafts(self.folder)

    def load(self, task: str) -> dict[str, Any] | None:
        """The result of a task, None if there is none."""
        if self.folder is None:
            return None
        path = self._path(self.folder, task)
        content = _read(path, "delete it, and the task is done again")
        if content is None:
            return None
        if content.get("task") != task or not isinstance(content.get("result"), dict):
            raise _not_ours(path, "delete it, and the task is done again")
        return dict(content["result"])

    def save(self, task: str, result: dict[str, Any]) -> None:
        """Keep the result of a task: after a crash it is there whole, or not at all."""
        if self.folder is not None:
            _write(self._path(self.folder, task), {"task": task, "result": result})

    def _path(self, folder: Path, task: str) -> Path:
        """A name made of plan and task, so that results of other runs are never met."""
        name = hashlib.sha256(f"{self._plan} {task}".encode()).hexdigest()[:20]
        return folder / f"{name}.json"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"Could not make the folder {folder}: {error.strerror}; choose another."
        raise type(error)(reason) from error


def _read(path: Path, remedy: str) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _not_ours(path, remedy) from error
    if not isinstance(content, dict):
        raise _not_ours(path, remedy)
    return content


def _write(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(content).encode("utf-8"))


def _not_ours(path: Path, remedy: str) -> ValueError:
    return ValueError(f"{path} is not a result of ours; {remedy}.")
