"""Progress on stderr: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Lines:
    """A line after every fit, and one before the first, which may take long."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._clock, self._silent = stream, _Clock(), True

    def starting(self, n_done: int, n_tasks: int, name: str) -> None:
        """Say what the first fit is."""
        if self._silent:
            self._say(f"{n_done} of {n_tasks} fits are done; starting {name}")

    def __call__(self, n_done: int, n_tasks: int, name: str) -> None:
        """Say what was fitted, and how long the others will take."""
        self._say(f"{n_done} of {n_tasks} fits, {self._clock.left(n_done, n_tasks)}: {name}")

    def _say(self, line: str) -> None:
        self._silent = False
        print(line, file=self._stream, flush=True)


class Bar:
    """A bar with the time left, and what is fitted at the moment."""

    def __init__(self, bars: Any) -> None:
        self._bars, self._clock = bars, _Clock()
        self._bar = bars.add_task("", total=None, left="")

    def starting(self, n_done: int, n_tasks: int, name: str) -> None:
        """Show what is fitted now."""
        self._bars.update(self._bar, completed=n_done, total=n_tasks, description=f"{name} …")

    def __call__(self, n_done: int, n_tasks: int, name: str) -> None:
        """Show what was fitted, and how long the others will take."""
        left = self._clock.left(n_done, n_tasks)
        self._bars.update(self._bar, completed=n_done, total=n_tasks, description=name, left=left)


@contextmanager
def show_progress(stream: Any = None) -> Iterator[Lines | Bar]:
    """What to call as ``progress(n_done, n_tasks, name)`` after every fit."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield Lines(stream)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as bars:
        yield Bar(bars)


class _Clock:
    """Estimates the time left from the fits of this run; those of an earlier one took none.

    Where the numbers show that another comparison has begun, it counts anew.
    """

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._n_before = self._n_done = 0
        self._n_tasks: int | None = None

    def left(self, n_done: int, n_tasks: int) -> str:
        if n_tasks != self._n_tasks or n_done <= self._n_done:
            self._began, self._n_before, self._n_tasks = self._last, n_done - 1, n_tasks
        self._n_done, self._last = n_done, time.monotonic()
        each = (self._last - self._began) / (n_done - self._n_before)
        return f"{format_seconds(each * (n_tasks - n_done))} left"


def format_seconds(seconds: float) -> str:
    """A duration as people say it.

    Examples
    --------
    >>> format_seconds(7.4), format_seconds(150), format_seconds(9000)
    ('7 s', '2 min 30 s', '2 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
