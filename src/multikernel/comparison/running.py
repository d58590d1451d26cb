"""Running tasks: what is not in the store, within a time budget, until an interrupt."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from .store import Store
from .tasks import Data, Task

LOGGER = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]


class Outcome(NamedTuple):
    """Results in the order of the tasks, what went wrong, and whether all was done."""

    results: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    complete: bool


def run_tasks(
    tasks: list[Task],
    data: Data,
    store: Store,
    *,
    time_budget: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run every task that is not in the store; one that fails does not stop the others."""
    deadline = float("inf") if time_budget is None else time.monotonic() + time_budget
    done = {k: r for k, task in enumerate(tasks) if (r := store.load(task.key)) is not None}
    if done:
        LOGGER.info("%d of %d fits are there from an earlier run", len(done), len(tasks))
    todo = [k for k in range(len(tasks)) if k not in done]
    failed: dict[int, Exception] = {}
    running = _start(tasks, todo, data, store, deadline, n_jobs)
    try:
        for k, result in running:
            target: dict[int, Any] = failed if isinstance(result, Exception) else done
            target[k] = result
            n_done, task = len(done) + len(failed), tasks[k]
            LOGGER.info("%d of %d: %s, fold %d", n_done, len(tasks), task.model, task.fold)
            if progress is not None:
                progress(n_done, len(tasks), task.model)
    except KeyboardInterrupt:
        LOGGER.warning("interrupted: %d of %d fits are done", len(done), len(tasks))
    finally:
        _stop(running)
    if failed and not done:
        raise next(iter(failed.values()))
    failures = [_describe(tasks[k], error) for k, error in sorted(failed.items())]
    return Outcome([done[k] for k in sorted(done)], failures, len(done) == len(tasks))


def _start(
    tasks: list[Task],
    todo: list[int],
    data: Data,
    store: Store,
    deadline: float,
    n_jobs: int | None,
) -> Any:
    """A generator of numbers of tasks and their results, as they come."""

    def calls() -> Iterator[Any]:
        for k in todo:
            if time.monotonic() >= deadline:
                return
            yield delayed(_run_task)(k, tasks[k], data, store)

    parallel = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
    )
    return parallel(calls())


def _stop(running: Any) -> None:
    """Cancel what is still at work after an interrupt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it was cancelled
        running.close()


def _run_task(
    k: int, task: Task, data: Data, store: Store
) -> tuple[int, dict[str, Any] | Exception]:
    """One task, kept as soon as it is done."""
    try:
        result = task.run(data)
    except Exception as error:  # of this model on this fold: the others go on
        return k, error
    store.save(task.key, result)
    return k, result


def _describe(task: Task, error: Exception) -> dict[str, Any]:
    message = " ".join(str(error).split()) or type(error).__name__
    LOGGER.warning("%s failed on fold %d: %s", task.model, task.fold, message)
    return {"model": task.model, "fold": task.fold, "error": message}
