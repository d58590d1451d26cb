"""Atomic writing: a file is there as a whole or not at all."""

from __future__ import annotations

import os
import re
import time
import uuid
from contextlib import suppress
from pathlib import Path

_DRAFT = re.compile(r"\..+\.[0-9a-f]{8}\.part")
_ABANDONED = 3600.0  # seconds after which no process, here or elsewhere, still writes a draft


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that an older one survives until the new one is safely on the disk.

    Raises
    ------
    OSError
        Of its usual kinds, in one sentence.
    """
    target = check_target(path)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        _write(draft, data)
        os.replace(draft, target)
        _sync_folder(target.parent)
    except OSError as error:
        reason = error.strerror or error
        raise type(error)(f"Could not write {path}: {reason}; nothing was changed.") from error
    finally:
        draft.unlink(missing_ok=True)


def check_target(path: Path) -> Path:
    """The file that is to be written; what cannot be one is refused."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():  # to replace it would destroy it
        raise FileExistsError(f"{path} is a device or a pipe; name a file, such as a new one.")
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {target.parent} does not exist; create it first.")
    return target


def remove_abandoned_drafts(folder: Path) -> None:
    """Delete the drafts that processes killed long ago have left in a folder.

    Age tells, and not the number of a process: it may run on another machine that has the folder.
    """
    for path in folder.iterdir():
        with suppress(OSError):  # another process may be as tidy, or the folder not ours to tidy
            if _DRAFT.fullmatch(path.name) and time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new name last, on systems where folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
