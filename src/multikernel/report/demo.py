"""run_demo: the main job on embedded data, simulated and real, from sources to reports."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from ..comparison.saving import FILE_NAME
from ..datasets import load_cells, load_demo
from .comparison import save_report

if TYPE_CHECKING:
    from ..comparison import Comparison

MODELS = ["concatenated, linear", "alignment weights", "MKL, block 1-norm", "MKL, lp"]


@dataclass(frozen=True)
class Study:
    """A comparison of the demo and its report.

    Attributes
    ----------
    title : str
    comparison : Comparison
    report : Path
    """

    title: str
    comparison: Comparison
    report: Path


def run_demo(
    out: str | os.PathLike[str] = ".demo", progress: Callable[[int, int, str], None] | None = None
) -> list[Study]:
    """Find out which sources matter, on simulated data whose truth is known and on real ones.

    Parameters
    ----------
    out : path-like, default=".demo"
        Folder of results and reports; it is made if it is missing. A second run reads them.
    progress : callable, optional
        As for :func:`multikernel.compare`.

    Returns
    -------
    studies : list of Study
        One of the simulated patients and one of real cells.
    """
    simulated, cells = load_demo(), load_cells()
    return [
        _study(
            "Which sources tell patients from controls?",
            Path(out, "patients"),
            simulated,
            _truth(simulated),
            [
                "The data are simulated with a seed that was picked for a clear picture; on other "
                "draws the lead over the uniform sum is smaller on average (see "
                "multikernel.datasets.load_demo)."
            ],
            progress,
        ),
        _study(
            "Which measurements of cells tell tumours apart?",
            Path(out, "cells"),
            cells,
            _sizes(cells.X),
            ["Breast cancer Wisconsin (diagnostic), as scikit-learn brings it."],
            progress,
        ),
    ]


def _study(
    title: str, folder: Path, data: Any, table: Any, notes: list[str], progress: Any
) -> Study:
    from ..comparison import compare

    folder.mkdir(parents=True, exist_ok=True)  # fail before the work, not after it
    with threadpool_limits(limits=1, user_api="blas"):  # on few rows threads only cost
        result = compare(data.X, data.y, models=MODELS, store=folder / "fits", progress=progress)
    result.save(folder / FILE_NAME)
    report = save_report(folder / "report.html", result, title=title, data=table, notes=notes)
    return Study(title, result, report)


def _sizes(X: Any) -> dict[str, list[Any]]:
    return {
        "source": X.names,
        "samples": [X.block(name).shape[0] for name in X.names],
        "columns": [X.block(name).shape[1] for name in X.names],
    }


def _truth(data: Any) -> dict[str, list[Any]]:
    """Sizes, and what each source is, which is known of simulated data."""
    truth = {name: f"repeats {shown}" for shown, name in data.redundant}
    truth |= dict.fromkeys(data.informative, "informative") | dict.fromkeys(data.useless, "useless")
    return _sizes(data.X) | {"truth (the data are simulated)": [truth[n] for n in data.X.names]}
