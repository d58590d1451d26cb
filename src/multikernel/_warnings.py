"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

_PACKAGE = os.path.join(os.path.dirname(__file__), "")


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
    warnings.warn(message, category, stacklevel=level)
