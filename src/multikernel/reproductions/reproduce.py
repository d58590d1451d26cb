"""reproduce: do an experiment of a paper again, and lay its tables beside the paper's."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from .._running import Progress, run_tasks
from .._store import Store
from .._versions import installed_versions
from .base import DataFile, Experiment, Summary
from .page import save_pages

_TASKS = "tasks"  # folder of the stored results


@dataclass(frozen=True)
class Reproduction:
    """An experiment that was done again.

    Attributes
    ----------
    name : str
    summary : Summary or None
        None if it was interrupted.
    n_done, n_tasks : int
    seconds : float
        Of all tasks, one after the other.
    stand_in : str
        What the data were if not the original ones, else empty.
    report : Path or None
        The HTML file.
    page : Path or None
        The same in Markdown, its figures beside it.
    """

    name: str
    summary: Summary | None
    n_done: int
    n_tasks: int
    seconds: float
    stand_in: str = ""
    report: Path | None = None
    page: Path | None = None


def reproduce(
    name: str,
    *,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    quick: bool = False,
    stand_in: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Do an experiment of a paper again.

    Parameters
    ----------
    name : str
        One of :data:`multikernel.reproductions.EXPERIMENTS`.
    data : path-like, optional
        The folder of all data sets.
    out : path-like, optional
        Folder of results and report; by default ``reproductions/NAME``, with ``-quick`` and
        ``-stand-in`` after it where they apply. Every finished task is kept there: the same call
        goes on where it was stopped.
    quick : bool, default=False
        Look at every step in less than two minutes.
    stand_in : bool, default=False
        Use synthetic data instead of the original ones; every figure then says so. Experiments
        whose data are embedded or drawn anyway have no other.
    n_jobs : int, optional
        Tasks at the same time, through joblib.
    progress : callable, optional
        Called as ``progress(n_done, n_tasks, task)``.

    Returns
    -------
    reproduction : Reproduction
        With ``summary=None`` after an interrupt from the keyboard.
    """
    experiment = _experiment(name, quick)
    stand_in = stand_in and bool(experiment.needs)  # data that are always there need none
    folder = _default_folder(name, quick, stand_in) if out is None else Path(out)
    loaded = experiment.stand_in() if stand_in else _load(experiment, data)
    tasks = [_Part(experiment, task) for task in experiment.tasks(loaded)]
    store = Store(folder / _TASKS, plan_of(experiment, loaded, stand_in=stand_in))
    outcome = run_tasks(tasks, loaded, store, n_jobs=n_jobs, progress=progress)
    for error in outcome.errors.values():
        raise error
    results = {tasks[k].task: result for k, result in outcome.results.items()}
    seconds = sum(result["seconds"] for result in results.values())
    used = experiment.stand_in_name if stand_in else ""
    if not outcome.complete:
        return Reproduction(name, None, len(results), len(tasks), seconds, used)
    summary = experiment.summarize({task: r["result"] for task, r in results.items()}, loaded)
    report, page = save_pages(folder, experiment, summary, seconds=seconds, stand_in=used)
    return Reproduction(name, summary, len(results), len(tasks), seconds, used, report, page)


def plan_of(experiment: Experiment, data: Any, *, stand_in: bool) -> dict[str, Any]:
    """What a run is: results under another plan are never met."""
    origin = experiment.stand_in_name if stand_in else "original"
    return {
        "experiment": experiment.name,
        "data": f"{origin}, {experiment.fingerprint(data)}",
        "settings": experiment.settings,
        "size": "quick" if experiment.quick else "whole",
        "version": installed_versions(["multikernel"])["multikernel"],
    }


@dataclass(frozen=True)
class _Part:
    """One task of an experiment, as the runner takes it."""

    experiment: Experiment
    task: str

    @property
    def key(self) -> str:
        return self.task

    @property
    def label(self) -> str:
        return self.task

    def run(self, data: Any) -> dict[str, Any]:
        began = time.perf_counter()
        with threadpool_limits(limits=1, user_api="blas"):  # one core for each task
            result = self.experiment.run(self.task, data)
        return {"result": result, "seconds": time.perf_counter() - began}


def _default_folder(name: str, quick: bool, stand_in: bool) -> Path:
    """One folder for each kind of run, so that none is refused because of another."""
    return Path("reproductions", name + quick * "-quick" + stand_in * "-stand-in")


def _experiment(name: str, quick: bool) -> Experiment:
    from . import EXPERIMENTS

    if name not in EXPERIMENTS:
        raise ValueError(f"There is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name](quick)


def _load(experiment: Experiment, data: str | os.PathLike[str] | None) -> Any:
    folder = Path("data" if data is None else data)
    if missing := [file for file in experiment.needs if not (folder / file.path).exists()]:
        raise FileNotFoundError(_wanted(experiment, folder, missing))
    return experiment.load(folder)


def _wanted(experiment: Experiment, folder: Path, missing: list[DataFile]) -> str:
    files = "; ".join(
        f"{folder / file.path} ({file.content}, described at {file.origin})" for file in missing
    )
    return (
        f"{experiment.name} wants {files}; name the folder of the data sets by --data DIR (data=), "
        f"or run it on {experiment.stand_in_name} by --stand-in (stand_in=True)."
    )
