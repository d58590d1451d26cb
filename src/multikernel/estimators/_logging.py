"""Logging: what ``verbose`` shows, through the logger ``multikernel``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

LOGGER = logging.getLogger("multikernel")


@contextmanager
def log_level(verbose: int) -> Iterator[None]:
    """Let messages of level INFO (1) or DEBUG (2) through, to stderr where nobody listens."""
    if not verbose:
        yield
        return
    level, handler = LOGGER.level, None
    LOGGER.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    listeners = [h for h in LOGGER.handlers if not isinstance(h, logging.NullHandler)]
    if not listeners and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
        LOGGER.addHandler(handler)
    try:
        yield
    finally:
        LOGGER.setLevel(level)
        if handler is not None:
            LOGGER.removeHandler(handler)
