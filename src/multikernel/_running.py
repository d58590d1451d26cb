"""Running tasks: what is not in the store, within a time budget, until an interrupt."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from ._store import Store
from ._warnings import unsaid

LOGGER = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]


class Task(Protocol):
    """A piece of work whose result can be written as JSON."""

    @property
    def key(self) -> str:
        """What the result is stored under."""

    @property
    def label(self) -> str:
        """What people read while it runs."""

    def run(self, data: Any) -> dict[str, Any]:
        """The result, made of what all tasks share."""


class Outcome(NamedTuple):
    """Results and errors by the number of the task, and whether all was done."""

    results: dict[int, dict[str, Any]]
    errors: dict[int, Exception]
    complete: bool


def run_tasks(
    tasks: Sequence[Task],
    data: Any,
    store: Store,
    *,
    time_budget: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run every task that is not in the store; one that fails does not stop the others.

    Parameters
    ----------
    tasks : sequence of Task
    data : Any
        What all tasks share.
    store : Store
    time_budget : float, optional
        Seconds after which no task is begun; those at work are finished.
    n_jobs : int, optional
        Tasks at the same time, through joblib.
    progress : callable, optional
        Called as ``progress(n_done, n_tasks, label)`` after every task. If it has a method
        ``starting``, that is called in the same way, with the label of the task that begins,
        before it.
    """
    deadline = float("inf") if time_budget is None else time.monotonic() + time_budget
    done = {k: r for k, task in enumerate(tasks) if (r := store.load(task.key)) is not None}
    if done:
        LOGGER.info("%d of %d tasks are done already", len(done), len(tasks))
    todo = [k for k in range(len(tasks)) if k not in done]
    failed: dict[int, Exception] = {}

    def announce(k: int) -> None:
        n_done, label = len(done) + len(failed), tasks[k].label
        LOGGER.info("%d of %d done, starting %s", n_done, len(tasks), label)
        starting: Progress | None = getattr(progress, "starting", None)
        if starting is not None:
            starting(n_done, len(tasks), label)

    running = _start(tasks, todo, data, store, deadline, n_jobs, announce)
    try:
        for k, result in running:
            target: dict[int, Any] = failed if isinstance(result, Exception) else done
            target[k] = result
            n_done, task = len(done) + len(failed), tasks[k]
            LOGGER.info("%d of %d: %s", n_done, len(tasks), task.label)
            if progress is not None:
                progress(n_done, len(tasks), task.label)
    except KeyboardInterrupt:
        LOGGER.warning("interrupted: %d of %d tasks are done", len(done), len(tasks))
    finally:
        _stop(running)
    if failed and not done:
        raise next(iter(failed.values()))
    for k, error in sorted(failed.items()):
        LOGGER.warning("%s failed: %s", tasks[k].label, error)
    return Outcome(
        dict(sorted(done.items())), dict(sorted(failed.items())), len(done) == len(tasks)
    )


def _start(
    tasks: Sequence[Task],
    todo: list[int],
    data: Any,
    store: Store,
    deadline: float,
    n_jobs: int | None,
    announce: Callable[[int], None],
) -> Any:
    """A generator of numbers of tasks and their results, as they come."""

    def calls() -> Iterator[Any]:
        for k in todo:
            if time.monotonic() >= deadline:
                return
            announce(k)
            yield delayed(_run_task)(k, tasks[k], data, store)

    if not get_active_backend()[0].supports_return_generator:
        return _by_batches(calls(), n_jobs)
    parallel = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
    )
    return parallel(calls())


def _by_batches(calls: Iterator[Any], n_jobs: int | None) -> Iterator[Any]:
    """As many calls at a time as there are workers, for backends such as Ray's."""
    while batch := list(islice(calls, effective_n_jobs(n_jobs))):
        yield from Parallel(n_jobs=n_jobs)(batch)


def _stop(running: Any) -> None:
    """Cancel what is still at work after an interrupt."""
    with unsaid(Warning):  # that it was cancelled
        running.close()


def _run_task(
    k: int, task: Task, data: Any, store: Store
) -> tuple[int, dict[str, Any] | Exception]:
    """One task, kept as soon as it is done."""
    try:
        result = task.run(data)
    except Exception as error:  # of this task: the others go on
        return k, error
    store.save(task.key, result)
    return k, result
