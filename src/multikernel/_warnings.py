"""Warnings that point at the user's line, and ways not to hear them that threads can take.

The filters of the warnings module belong to the whole process: threads that each set them aside for
a while restore those of one another, and leave them changed for good. So only the main thread sets
them aside; elsewhere variables of the thread say what happens to our own warnings, and those of
others are heard as usual.
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

from sklearn.exceptions import ConvergenceWarning

_PACKAGE = os.path.join(os.path.dirname(__file__), "")
_UNSAID: ContextVar[bool] = ContextVar("unsaid", default=False)
_HEARD: ContextVar[list[warnings.WarningMessage] | None] = ContextVar("heard", default=None)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package: counted levels break with every wrapper.

    Notes
    -----
    Python 3.12 can do the same by ``skip_file_prefixes``, which 3.11 lacks.
    """
    if _UNSAID.get() and issubclass(category, ConvergenceWarning):
        return
    frame: FrameType | None = sys._getframe(1)
    level = 2  # who calls this function
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    if (heard := _HEARD.get()) is None:
        warnings.warn(message, category, stacklevel=level)
    else:
        file, line = ("sys", 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        heard.append(warnings.WarningMessage(category(message), category, file, line))


@contextmanager
def convergence_unsaid() -> Iterator[None]:
    """Do not say that a solver did not converge, for someone else decides whether it matters."""
    token = _UNSAID.set(True)
    try:
        if _in_main_thread():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # of scikit-learn
                yield
        else:
            yield
    finally:
        _UNSAID.reset(token)


@contextmanager
def listening() -> Iterator[list[warnings.WarningMessage]]:
    """Keep warnings instead of showing them: all in the main thread, only ours in others."""
    if _in_main_thread():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
        return
    heard: list[warnings.WarningMessage] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
