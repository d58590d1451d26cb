"""Progress on stderr: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int, str], None]


@contextmanager
def show_progress(stream: Any = None) -> Iterator[Progress]:
    """A function to call as ``progress(n_done, n_tasks, name)`` after every fit."""
    stream = sys.stderr if stream is None else stream
    clock = _Clock()
    if not stream.isatty():

        def line(n_done: int, n_tasks: int, name: str) -> None:
            left = clock.left(n_done, n_tasks)
            print(f"{n_done} of {n_tasks} fits, {left}: {name}", file=stream, flush=True)

        yield line
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
        bar = bars.add_task("", total=None, left="")

        def update(n_done: int, n_tasks: int, name: str) -> None:
            left = clock.left(n_done, n_tasks)
            bars.update(bar, completed=n_done, total=n_tasks, description=name, left=left)

        yield update


class _Clock:
    """Estimates the time left from the fits of this run; those of an earlier one took none."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._n_before: int | None = None

    def left(self, n_done: int, n_tasks: int) -> str:
        if self._n_before is None:
            self._n_before = n_done - 1
        each = (time.monotonic() - self._began) / (n_done - self._n_before)
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
