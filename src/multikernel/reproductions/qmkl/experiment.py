"""The experiment of Hinrichs et al. (2012), Section 5.2, on simulated scans and on real data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..base import DataFile, Experiment, Summary, hash_files
from .methods import Grid, fit_weights, regularizers, run_fold, splits
from .studies import Archive, fold_kernels
from .tables import summarize

MATRICES = ("Cov", "Lap.(Cov)", "Lap.(Cov) + diag")
_ALL_PEOPLE = "all people"
_MIXOMICS = "https://mixomics.org (breast.TCGA)"


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    n_folds: int = 10
    n_draws: int = 10  # of simulated studies
    repeats: tuple[int, int, int] = (10, 5, 2)  # first simulated study, tcga, mfeat
    grid: Grid = field(default_factory=Grid)


class QMKL(Experiment):
    """Accuracy of norms of the weights and of matrices made from the data."""

    name = "qmkl"
    title = "Does Q-MKL beat norms of the weights?"
    paper = (
        "C. Hinrichs, V. Singh, J. Peng and S. C. Johnson (2012), Q-MKL: Matrix-induced "
        "Regularization in Multi-Kernel Learning with Applications to Neuroimaging, Section 5.2, "
        "Table 1 and Figure 2. Its scans (ADNI) are not public, those here are simulated."
    )
    needs = (
        *(
            DataFile(f"breast_tcga/train_{name}.csv", content, _MIXOMICS)
            for name, content in {
                "mrna": "expression of 200 genes in 150 tumours",
                "mirna": "184 micro-RNAs",
                "protein": "142 proteins",
                "subtype": "subtypes, in a column of that name",
            }.items()
        ),
        DataFile(
            "mfeat/HW.mat",
            "six descriptions X1 to X6 of 2,000 digits, classes Y",
            "https://archive.ics.uci.edu/dataset/72/multiple+features",
        ),
    )
    stand_in_name = "drawn tumours and digits"

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes(3, 2, (1, 1, 1), Grid(2, (0.1, 1.0)))

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Folds, repeats and the grid of C."""
        sizes, grid = self.sizes, self.sizes.grid
        return {
            "folds": [sizes.n_folds, grid.n_inner],
            "draws": sizes.n_draws,
            "repeats": list(sizes.repeats),
            "Cs": [*grid.Cs, grid.fixed],
        }

    def load(self, folder: Path) -> Archive:
        """The folder, read study by study."""
        return Archive(folder, self.quick)

    def stand_in(self) -> Archive:
        """Drawn studies in the place of the real ones."""
        return Archive(None, self.quick)

    def fingerprint(self, data: Archive) -> str:
        """Of the content of the files, if there are some."""
        if data.folder is None:
            return super().fingerprint(data)
        return hash_files(data.folder / file.path for file in self.needs)

    def tasks(self, data: Archive) -> list[str]:
        """The matrices of the first study, then every fold of every study."""
        first, tcga, mfeat = self.sizes.repeats
        runs = [("neuroimaging", 0, repeat) for repeat in range(first)]
        runs += [("neuroimaging", draw, 0) for draw in range(1, self.sizes.n_draws)]
        runs += [("tcga", 0, repeat) for repeat in range(tcga)]
        runs += [("mfeat", 0, repeat) for repeat in range(mfeat)]
        return [f"{_ALL_PEOPLE}, {name}" for name in MATRICES] + [
            f"{study}, draw {draw}, repeat {repeat}, fold {fold}"
            for study, draw, repeat in runs
            for fold in range(self.sizes.n_folds)
        ]

    def run(self, task: str, data: Archive) -> dict[str, Any]:
        """One matrix with the weights learned under it, or all methods on one fold."""
        name, *rest = task.split(", ")
        if name == _ALL_PEOPLE:
            return _matrix(data, *rest)
        draw, repeat, fold = (int(part.split(" ")[1]) for part in rest)
        study = data.study(name, draw)
        train, test = list(splits(study.y, self.sizes.n_folds, repeat))[fold]
        rows = run_fold(study, train, test, self.sizes.grid, seed=1000 * repeat + fold)
        head = {"study": name, "draw": draw, "repeat": repeat, "fold": fold}
        return {"rows": [head | row for row in rows]}

    def summarize(self, results: Mapping[str, dict[str, Any]], data: Archive) -> Summary:
        """The paper's table for every study, differences, and the matrices."""
        import pandas as pd

        matrices = {name: results[f"{_ALL_PEOPLE}, {name}"] for name in MATRICES}
        frame = pd.DataFrame([row for result in results.values() for row in result.get("rows", ())])
        return summarize(frame, matrices, drawn=data.folder is None)


def _matrix(data: Archive, name: str) -> dict[str, Any]:
    """A matrix made from all people of the first simulated study, and weights at C = 1."""
    study = data.study("neuroimaging", 0)
    everyone = np.arange(len(study.y))
    kernels = fold_kernels(study, everyone, everyone[:1])
    regularizer: Any = regularizers(kernels, study.targets)[name][0]
    d = fit_weights(kernels, study.targets, regularizer, C=1.0).weights
    Q = np.round(regularizer.Q, 6)
    return {"Q": Q.tolist(), "weights": d.tolist(), "sources": kernels.sources}
