"""Finding: one sentence about the data, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["problem", "warning", "note", "ok"]
SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note", "ok")  # the worst first


@dataclass(frozen=True)
class Finding:
    """One sentence about one subject.

    Parameters
    ----------
    severity : {"problem", "warning", "note", "ok"}
    subject : str
        A source, or "samples", "target", "groups", "values", "kernels", "memory",
        "reading".
    sentence : str
        What was found, and what to do about it.
    """

    severity: Severity
    subject: str
    sentence: str
