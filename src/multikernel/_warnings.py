"""Warnings that point at the user's line, and ways not to hear them that threads do not share.

The filters of the warnings module belong to the whole process: two threads that each set them aside
for a while may leave them changed for good.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple, TextIO

from sklearn.exceptions import ConvergenceWarning

_PACKAGE = os.path.join(os.path.dirname(__file__), "")


class Heard(NamedTuple):
    """A warning as it was given."""

    message: Warning | str
    category: type[Warning]
    filename: str
    lineno: int


_MUTED: ContextVar[bool] = ContextVar("muted", default=False)
_LISTENER: ContextVar[list[Heard] | None] = ContextVar("listener", default=None)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package: counted levels break with every wrapper.

    Notes
    -----
    Python 3.12 can do the same by ``skip_file_prefixes``, which 3.11 lacks.
    """
    if _MUTED.get() and issubclass(category, ConvergenceWarning):
        return
    frame: FrameType | None = sys._getframe(1)
    level = 2  # who calls this function
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def convergence_unsaid() -> Iterator[None]:
    """In this thread, do not say that solvers of ours did not converge: someone else decides."""
    token = _MUTED.set(True)
    try:
        yield
    finally:
        _MUTED.reset(token)


@contextmanager
def listening() -> Iterator[list[Heard]]:
    """Keep all warnings of this thread, whoever gives them, instead of showing them."""
    heard: list[Heard] = []
    token = _LISTENER.set(heard)
    _SWITCHBOARD.open()
    try:
        yield heard
    finally:
        _SWITCHBOARD.close()
        _LISTENER.reset(token)


class _Switchboard:
    """Hands warnings to the thread that listens; the last of several to leave restores all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_open = 0
        self._before = warnings.catch_warnings()
        self._show: Any = None

    def open(self) -> None:
        """Let every warning through, to whom it concerns."""
        with self._lock:
            self._n_open += 1
            if self._n_open == 1:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
                self._show = warnings.showwarning
                warnings.simplefilter("always")
                warnings.showwarning = self._hand_over

    def close(self) -> None:
        """Restore the filters, if nobody listens any more."""
        with self._lock:
            self._n_open -= 1
            if self._n_open == 0:
                self._before.__exit__(None, None, None)

    def _hand_over(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        heard = _LISTENER.get()
        if heard is None:
            self._show(message, category, filename, lineno, file, line)
        else:
            heard.append(Heard(message, category, filename, lineno))


_SWITCHBOARD = _Switchboard()
