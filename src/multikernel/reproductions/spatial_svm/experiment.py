"""The experiment of Hinrichs et al. (2012), Section 5.1, on simulated maps of grey matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ..base import Experiment, Summary
from .machines import fitted, machines, simulate
from .tables import summarize

_ALL_PEOPLE = "all people"


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    n_voxels: int = 1000
    n_folds: int = 10
    n_repeats: int = 10  # of the first study
    n_draws: int = 10
    n_inner: int = 3
    Cs: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
    ridges: tuple[float, ...] = (0.01, 0.1)  # of the mean diagonal of Q


class SpatialSVM(Experiment):
    """Accuracy and maps of a linear machine with and without the Laplacian of its voxels."""

    name = "spatial-svm"
    title = "Can a classifier know that neighbouring voxels belong together?"
    paper = (
        "C. Hinrichs, V. Singh, J. Peng and S. C. Johnson (2012), Q-MKL: Matrix-induced "
        "Regularization in Multi-Kernel Learning with Applications to Neuroimaging, Section 5.1 "
        "and Figure 1. Its scans (ADNI) are not public, those here are simulated."
    )

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes(300, 3, 1, 2, 2, (1e-3, 1e-2), (0.01,))

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Voxels, folds and grids."""
        sizes = asdict(self.sizes)
        return sizes | {key: list(sizes[key]) for key in ("Cs", "ridges")}

    def load(self, folder: Path) -> None:
        """Nothing: the maps are drawn."""

    def tasks(self, data: None) -> list[str]:
        """The maps of both machines, then every fold."""
        runs = [(0, repeat) for repeat in range(self.sizes.n_repeats)]
        runs += [(draw, 0) for draw in range(1, self.sizes.n_draws)]
        return [_ALL_PEOPLE] + [
            f"draw {draw}, repeat {repeat}, fold {fold}"
            for draw, repeat in runs
            for fold in range(self.sizes.n_folds)
        ]

    def run(self, task: str, data: None) -> dict[str, Any]:
        """Both machines on all people, or on one fold."""
        if task == _ALL_PEOPLE:
            return self._look()
        draw, repeat, fold = (int(part.split(" ")[1]) for part in task.split(", "))
        maps = simulate(draw, self.sizes.n_voxels)
        folds = StratifiedKFold(self.sizes.n_folds, shuffle=True, random_state=repeat)
        train, test = list(folds.split(maps.X, maps.y))[fold]
        head = {"draw": draw, "repeat": repeat, "fold": fold}
        head |= {"n_train": len(train), "n_test": len(test)}
        rows = []
        for name, search in self._machines(draw).items():
            model = fitted(search, maps.X[train], maps.y[train])
            rows.append(head | {"method": name} | _measure(model, maps, test))
        return {"rows": rows}

    def summarize(self, results: Mapping[str, dict[str, Any]], data: None) -> Summary:
        """The paper's two accuracies beside ours, and the maps of Figure 1."""
        import pandas as pd

        frame = pd.DataFrame([row for r in results.values() for row in r.get("rows", ())])
        maps = simulate(0, self.sizes.n_voxels)
        return summarize(frame, maps, results[_ALL_PEOPLE]["coefficients"])

    def _machines(self, draw: int) -> Any:
        sizes = self.sizes
        maps = simulate(draw, sizes.n_voxels)
        return machines(maps, sizes.Cs, sizes.ridges, sizes.n_inner)

    def _look(self) -> dict[str, Any]:
        maps = simulate(0, self.sizes.n_voxels)
        models = {n: fitted(s, maps.X, maps.y) for n, s in self._machines(0).items()}
        return {"coefficients": {name: model.coef_[0].tolist() for name, model in models.items()}}


def _measure(model: Any, maps: Any, test: Any) -> dict[str, float]:
    w, y = model.coef_[0], maps.y[test]
    right = model.predict(maps.X[test]) == y
    return {
        "acc": float(np.mean(right)),
        "sens": float(np.mean(right[y])),
        "spec": float(np.mean(right[~y])),
        "truth": float(np.corrcoef(w, maps.truth)[0, 1]),
        "roughness": maps.roughness(w),
        "C": float(model.C),
        "ridge": float(model.ridge),
        "gap": float(model.gap_),
    }
