"""What commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..comparison import Comparison

INTERRUPTED = 130  # exit status


def say(message: object) -> None:
    """One line for people, on stderr."""
    print(f"multikernel: {' '.join(str(message).split())}", file=sys.stderr)


def print_json(content: Any) -> None:
    """One JSON document on stdout; numbers that JSON lacks become null."""
    print(json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False))


def records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame."""
    rows: list[dict[str, Any]] = frame.to_dict("records")
    return rows


def of_comparison(result: Comparison, report: Path, notes: list[str]) -> dict[str, Any]:
    """What a comparison found, for :func:`print_json`."""
    return {
        "complete": result.complete,
        "task": result.task,
        "scoring": result.scoring,
        "verdict": result.verdict,
        "models": records(result.frame()),
        "importance": records(result.importance()),
        "samples": {**result.samples, "all sources": result.n_complete},
        "failures": result.failures,
        "permutation_p_value": result.permutation_p_value,
        "notes": notes,
        "warnings": result.warnings,
        "report": report.resolve(),
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
