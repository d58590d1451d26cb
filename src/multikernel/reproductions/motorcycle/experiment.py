"""The experiment of Gönen (2012), Section 5.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import KFold

from ..base import Experiment, Summary
from .models import (
    WIDTHS,
    data,
    figures,
    forecasters,
    picture,
    plain,
    resting,
    score,
    visible_kernels,
    visible_samples,
)
from .tables import summarize

SHOWN_SWEEPS = 500  # of the picture of the paper


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    sweeps: tuple[int, ...] = (50, 100, 200, 300, 500, 700, 1000, 2000, 5000, 20000)
    path: tuple[int, int, int] = (20, 3000, 22)  # first, last and number of sweeps drawn
    resting: tuple[str, ...] = (
        "in g, accelerated",
        "in g, best of 6 starts",
        "in g, structured",
        "standardised, accelerated",
    )
    max_iter: int = 6000
    n_starts: int = 20
    n_folds: int = 10


class Motorcycle(Experiment):
    """How the picture of the paper comes about, whether it stays, and what forecasts are worth."""

    name = "motorcycle"
    title = "Three kernels and three samples?"
    paper = (
        "M. Gönen (2012), A Bayesian Multiple Kernel Learning Framework for Single and Multiple "
        "Output Regression, Section 5.1, Figures 3 and 4."
    )

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes(
        (50, 500), (20, 600, 5), ("in g, accelerated", "standardised, accelerated"), 300, 1, 3
    )

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Sweeps, starts and folds."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self.sizes).items()}

    def load(self, folder: Path) -> None:
        """Nothing: the data are part of the package."""

    def tasks(self, data: None) -> list[str]:
        """One run stopped at several points, fits at rest, several starts, forecasts."""
        starts = [
            f"starts: {targets}; {width}"
            for targets in ("in g", "standardised")
            for width in WIDTHS
        ]
        return [
            *(f"sweeps: {n}" for n in self.sizes.sweeps),
            "path: all",
            *(f"resting: {name}" for name in self.sizes.resting),
            *(f"forecast: {name}" for name in forecasters()),
            *starts,
        ]

    def run(self, task: str, data: None) -> dict[str, Any]:
        """One line of one table, or one picture."""
        kind, what = task.split(": ", 1)
        if kind == "sweeps":
            return _stopped(int(what))
        if kind == "path":
            return self._path()
        if kind == "resting":
            model = resting(what, self.sizes.max_iter)
            return {"figures": figures(model), "picture": picture(model)}
        if kind == "forecast":
            return self._forecast(what)
        return self._starts(*what.split("; "))

    def summarize(self, results: Mapping[str, dict[str, Any]], data: None) -> Summary:
        """Figures 3 and 4 of the paper, and what comes after."""
        groups: dict[str, dict[str, Any]] = {}
        for task, result in results.items():
            kind, what = task.split(": ", 1)
            groups.setdefault(kind, {})[what] = result
        return summarize(groups, self.sizes.n_starts)

    def _path(self) -> dict[str, Any]:
        first, last, number = self.sizes.path
        counts = np.unique(np.geomspace(first, last, number).astype(int)).tolist()
        return {"counts": counts, "weights": [plain(n).weights_.tolist() for n in counts]}

    def _forecast(self, name: str) -> dict[str, Any]:
        X, _ = data()
        folds = KFold(self.sizes.n_folds, shuffle=True, random_state=0)
        scores = [score(forecasters()[name], *fold) for fold in folds.split(X)]
        return {key: [value for one in scores for value in one[key]] for key in scores[0]}

    def _starts(self, targets: str, width: str) -> dict[str, Any]:
        standardize = targets == "standardised"
        models = [
            plain(SHOWN_SWEEPS, seed=seed, standardize=standardize, width=width)
            for seed in range(self.sizes.n_starts)
        ]
        return {
            "kernels": [visible_kernels(model) for model in models],
            "n_samples": [len(visible_samples(model)) for model in models],
        }


def _stopped(n_sweeps: int) -> dict[str, Any]:
    model = plain(n_sweeps)
    result = {"figures": figures(model)}
    return result | {"picture": picture(model)} if n_sweeps == SHOWN_SWEEPS else result
