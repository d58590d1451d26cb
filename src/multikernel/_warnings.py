"""Warnings that point at the user's line, and ways not to hear them that threads can take.

The filters of the warnings module belong to the whole process: threads that each set them aside for
a while restore those of one another, and leave them changed for good. So only the main thread sets
them aside; other threads have rules of their own for our warnings, and hear those of others.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

_PACKAGE = os.path.join(os.path.dirname(__file__), "")

# What happens to our warnings in a thread, innermost first: a category is unsaid, a list keeps all.
Rule = type[Warning] | list[warnings.WarningMessage]
_RULES: ContextVar[tuple[Rule, ...]] = ContextVar("rules", default=())


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package: counted levels break with every wrapper.

    Notes
    -----
    Python 3.12 can do the same by ``skip_file_prefixes``, which 3.11 lacks.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2  # who calls this function
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    for rule in _RULES.get():
        if isinstance(rule, list):
            file, line = ("sys", 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
            rule.append(warnings.WarningMessage(category(message), category, file, line))
            return
        if issubclass(category, rule):
            return
    warnings.warn(message, category, stacklevel=level)


def unsaid(category: type[Warning]) -> AbstractContextManager[Any]:
    """Do not say warnings of a category, for someone else decides whether they matter."""
    return _aside(category, action="ignore", category=category)


def listening() -> AbstractContextManager[list[warnings.WarningMessage]]:
    """Keep warnings instead of showing them: all in the main thread, only ours in others."""
    return _aside([], record=True, action="always")


@contextmanager
def _aside(rule: Rule, **filters: Any) -> Iterator[Any]:
    """Other filters for a while in the main thread, another rule in others."""
    if threading.current_thread() is threading.main_thread():
        with warnings.catch_warnings(**filters) as caught:
            yield caught
        return
    token = _RULES.set((rule, *_RULES.get()))
    try:
        yield rule
    finally:
        _RULES.reset(token)
