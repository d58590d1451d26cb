"""The experiment of Rakotomamonjy et al. (2008), Section 5.1.1, Table 1."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from ..._component import Array
from ..base import Experiment, Summary
from .data import FILES, STAND_IN, Study, load_studies, make_studies, thin
from .learning import Fit, accuracy, fit_bank, fit_even, fit_simplex, kind_of, recipe
from .tables import summarize

C = 100.0
TRAIN = 0.7
LOOSE, TIGHT = 1e-2, 1e-6  # relative duality gaps: where the paper stops, and an optimum
_QUICK_SAMPLES = 80
_STAND_IN_SCALE = 0.4


class SimpleMKL(Experiment):
    """Accuracy, kernels in use and time, over random splits of five data sets."""

    name = "simplemkl"
    title = "How few of hundreds of kernels are enough?"
    paper = (
        "A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet (2008), SimpleMKL, Journal of Machine "
        "Learning Research 9, 2491–2521, Table 1."
    )
    needs = FILES
    stand_in_name = STAND_IN

    @property
    def n_splits(self) -> int:
        """Random splits of each data set."""
        return 2 if self.quick else 20

    @property
    def settings(self) -> dict[str, Any]:
        """Splits, C and where solvers stop."""
        return {"splits": self.n_splits, "C": C, "train": TRAIN, "gaps": [LOOSE, TIGHT]}

    def load(self, folder: Path) -> dict[str, Study]:
        """The five data sets, and one of them again without a column that tells the outcome."""
        return self._cut(load_studies(folder))

    def stand_in(self) -> dict[str, Study]:
        """Gaussian clouds in place of the data sets."""
        return self._cut(make_studies(_STAND_IN_SCALE))

    def _cut(self, studies: dict[str, Study]) -> dict[str, Study]:
        if not self.quick:
            return studies
        return {name: thin(study, _QUICK_SAMPLES) for name, study in studies.items()}

    def tasks(self, data: dict[str, Study]) -> list[str]:
        """Every split of every data set."""
        return [f"{name}; {k}" for k in range(self.n_splits) for name in data]

    def run(self, task: str, data: dict[str, Study]) -> dict[str, Any]:
        """Fit one split: as printed, to the optimum, with kernels of unit mean diagonal, evenly."""
        study = data[task.split("; ")[0]]
        train, test = _split(study, zlib.crc32(task.encode()))
        scaler = StandardScaler().fit(study.X[train])
        X, Z = scaler.transform(study.X[train]), scaler.transform(study.X[test])
        y, z = np.where(study.y[train], 1.0, -1.0), np.where(study.y[test], 1.0, -1.0)
        kernels = recipe(X.shape[1])
        bank = fit_bank(kernels, X)
        unit_trace = C / len(train)  # a trace of one is a mean diagonal of 1/n

        def learn(cost: float, tol: float) -> dict[str, Any]:
            fit = fit_simplex(bank, y[:, None], cost, tol)
            right = accuracy(kernels, fit.solution, Z, z)
            return _result(fit, right, [kind_of(row) for row in kernels.rows_])

        even = accuracy(kernels, fit_even(bank, y[:, None], unit_trace, LOOSE), Z, z)
        return {
            "n_train": len(train),
            "n_kernels": bank.n_kernels,
            "majority": float(max(np.mean(z > 0), np.mean(z < 0))),
            "printed": learn(unit_trace, LOOSE),
            "optimum": learn(unit_trace, TIGHT),
            "unit mean diagonal": learn(C, LOOSE),
            "even": even,
        }

    def summarize(self, results: Mapping[str, dict[str, Any]], data: dict[str, Study]) -> Summary:
        """The table of the paper, and what it hangs on."""
        by_study: dict[str, list[dict[str, Any]]] = {name: [] for name in data}
        for task, result in results.items():
            by_study[task.split("; ")[0]].append(result)
        return summarize(by_study)


def _split(study: Study, seed: int) -> tuple[Array, Array]:
    """Seventy percent of each class for training."""
    n_train = round(TRAIN * len(study.y))
    splitter = StratifiedShuffleSplit(1, train_size=n_train, random_state=seed)
    train, test = next(splitter.split(study.X, study.y))
    return train, test


def _result(fit: Fit, right: float, kinds: list[str]) -> dict[str, Any]:
    d = fit.solution.weights
    shares = dict.fromkeys(kinds, 0.0)
    for kind, weight in zip(kinds, d.tolist(), strict=True):
        shares[kind] += weight
    return {
        "accuracy": right,
        "n_used": int(np.count_nonzero(d)),
        "seconds": fit.seconds,
        "n_passes": fit.n_passes,
        "n_restarts": fit.n_restarts,
        "gap": fit.solution.gap,
        "shares": shares,
    }
