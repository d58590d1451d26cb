"""The command line: argument parsing only; every command calls a public function."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from ._needs import missing_packages
from ._output import INTERRUPTED, say


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``multikernel`` with these arguments and return its exit status.

    0 is success, 1 an error that a sentence explains, 2 a wrong usage, 3 problems found by
    ``check``, 130 an interrupt from the keyboard.
    """
    if absent := missing_packages("typer", "rich"):
        needs = f"multikernel: the command line needs {', '.join(absent)}"
        print(f"{needs}: pip install 'multikernel[cli]'", file=sys.stderr)
        return 1
    usual, warnings.formatwarning = warnings.formatwarning, _one_line
    try:
        from .app import make_app

        make_app()(args=None if argv is None else list(argv), prog_name="multikernel")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:  # while the application was imported
        say("interrupted")
        return INTERRUPTED
    finally:
        warnings.formatwarning = usual
    return 0


def _one_line(message: Any, *_: Any, **__: Any) -> str:
    return f"multikernel: {' '.join(str(message).split())}\n"
