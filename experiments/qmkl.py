"""Q-MKL against norms of the weights, by cross-validation: ``python experiments/qmkl.py --help``.

The experiment of Hinrichs et al. (2012), Section 5.2, on simulated brain maps, whose originals are
not public, and on two real data sets. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from qmkl_data import STUDIES, FoldKernels, Study, fold_kernels
from qmkl_table import markdown, replace_section
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from multikernel.interactions import Fixed, GraphLaplacian, SourceBlocks, unit_trace
from multikernel.losses import Hinge
from multikernel.regularizers import LpNorm, QNorm, Regularizer, Uniform
from multikernel.solvers import Problem, Solution, choose_solver, fit_fixed_weights

_LOG = logging.getLogger("qmkl")
_HERE = Path(__file__).resolve().parent
_ACTIVE = 1e-3  # of the largest norm of a component function
_RIDGE = 0.1  # of the mean degree: a bare Laplacian leaves equal weights without penalty
_TOL = 1e-4  # relative duality gap of every fit
_MACHINE_TOL = 1e-6  # and of single-kernel machines


@dataclass(frozen=True)
class Settings:
    """What must be the same in a run and in the run that goes on with it."""

    data: str
    quick: bool
    n_folds: int = 10
    n_inner: int = 3
    Cs: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    fixed_c: float = 1.0

    @classmethod
    def of(cls, data: str, quick: bool) -> Settings:
        """The settings of the whole experiment or of a quick look."""
        return cls(data, True, 3, 2, (0.1, 1.0)) if quick else cls(data, False)


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=STUDIES, default="neuroimaging")
    parser.add_argument("--repeats", type=int, default=1, help="of the cross-validation")
    parser.add_argument("--draws", type=int, default=1, help="of simulated data or of subsamples")
    parser.add_argument("--quick", action="store_true", help="a look at all steps, in seconds")
    parser.add_argument("--n-jobs", type=int, default=1, help="folds at a time, one core each")
    parser.add_argument("--data-dir", type=Path, help="folder of breast_tcga and mfeat")
    parser.add_argument("--out", type=Path, default=_HERE / "results" / "qmkl", help="fold results")
    parser.add_argument("--docs", type=Path, help="page whose section of this run to write anew")
    return parser.parse_args(argv)


def main(options: argparse.Namespace) -> pd.DataFrame:
    """Run what is still missing, store it fold by fold, and write the table."""
    settings = Settings.of(options.data, options.quick)
    name = f"{options.data}-draws" if options.draws > 1 else options.data
    folder = options.out / (f"{name}-quick" if options.quick else name)
    check_settings(folder, settings)
    tasks = [
        (draw, repeat, fold)
        for draw in range(options.draws)
        for repeat in range(options.repeats)
        for fold in range(settings.n_folds)
        if not part_path(folder, draw, repeat, fold).exists()
    ]
    _LOG.info("%s: %d folds to do", folder.name, len(tasks))
    jobs = (delayed(run_part)(folder, settings, options.data_dir, *task) for task in tasks)
    Parallel(n_jobs=options.n_jobs)(jobs)
    frame = collect(folder, settings, options)
    write_atomically(folder.with_suffix(".csv"), frame.to_csv(index=False, float_format="%.6g"))
    table = markdown(frame, settings.data)
    write_atomically(folder.with_suffix(".md"), table)
    if options.docs:
        replace_section(options.docs, folder.name, table)
    _LOG.info("\n%s", table)
    return frame


def check_settings(folder: Path, settings: Settings) -> None:
    """Refuse to mix folds of different experiments."""
    path, text = folder / "settings.json", json.dumps(asdict(settings), indent=1)
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise ValueError(f"{folder} holds folds of other settings; remove it or choose --out.")
    write_atomically(path, text)


def part_path(folder: Path, draw: int, repeat: int, fold: int) -> Path:
    """Where the results of one fold are kept."""
    return folder / f"draw{draw:02}-repeat{repeat:02}-fold{fold:02}.csv"


def write_atomically(path: Path, text: str) -> None:
    """Write a file such that it is there as a whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def collect(folder: Path, settings: Settings, options: argparse.Namespace) -> pd.DataFrame:
    """The stored folds that were asked for, as one table."""
    paths = [
        part_path(folder, draw, repeat, fold)
        for draw in range(options.draws)
        for repeat in range(options.repeats)
        for fold in range(settings.n_folds)
    ]
    return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)


def run_part(
    folder: Path, settings: Settings, data_dir: Path | None, draw: int, repeat: int, fold: int
) -> None:
    """Run and store one fold with one thread of linear algebra."""
    began = time.perf_counter()
    with threadpool_limits(1):
        study = load(settings.data, draw, data_dir, settings.quick)
        train, test = list(splits(study.y, settings.n_folds, repeat))[fold]
        rows = run_fold(study, train, test, settings, seed=1000 * repeat + fold)
    where = {"draw": draw, "repeat": repeat, "fold": fold}
    frame = pd.DataFrame([where | row for row in rows])
    write_atomically(part_path(folder, draw, repeat, fold), frame.to_csv(index=False))
    _LOG.info(
        "draw %d, repeat %d, fold %d: %.1f s", draw, repeat, fold, time.perf_counter() - began
    )


@cache
def load(data: str, draw: int, data_dir: Path | None, quick: bool) -> Study:
    """The data of one draw, once per process."""
    return STUDIES[data](draw, data_dir, quick)


def splits(y: Any, n_folds: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Training and test samples of every fold; all methods get the same."""
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y)


def run_fold(
    study: Study, train: Any, test: Any, settings: Settings, seed: int
) -> list[dict[str, Any]]:
    """Results of all methods on one test fold, with C chosen inside of the training samples."""
    inner = inner_accuracy(study, train, settings, seed)
    fits = fit_all(study, train, test, settings.Cs)
    rows = []
    for method, by_C in fits.items():
        scores = inner[method]
        best = int(np.argmax(scores))  # the first, so the smaller C where several are as good
        chosen = by_C[settings.Cs[best]]
        fixed = by_C[settings.fixed_c]
        rows.append(
            {
                "method": method,
                "C": settings.Cs[best],
                **rates(study.y[test], chosen["predicted"]),
                "acc_fixed_C": rates(study.y[test], fixed["predicted"])["acc"],
                "inner_acc": scores[best],
                **{key: chosen[key] for key in ("active", "gap", "seconds", "Q_seconds")},
                "n_train": len(train),
                "n_test": len(test),
            }
        )
    return rows


def inner_accuracy(
    study: Study, train: Any, settings: Settings, seed: int
) -> dict[str, list[float]]:
    """Cross-validated accuracy of every method and C; kernels and Q are made anew in each fold."""
    right: dict[str, Any] = {}
    for fit, held_out in splits(study.y[train], settings.n_inner, seed):
        fits = fit_all(study, train[fit], train[held_out], settings.Cs)
        for method, by_C in fits.items():
            hits = [np.sum(f["predicted"] == study.y[train[held_out]]) for f in by_C.values()]
            right[method] = right.get(method, 0) + np.array(hits)
    return {method: (hits / len(train)).tolist() for method, hits in right.items()}


def fit_all(
    study: Study, train: Any, test: Any, Cs: tuple[float, ...]
) -> dict[str, dict[float, dict[str, Any]]]:
    """All methods at every C, on the same kernels: method -> C -> predictions and figures."""
    kernels = fold_kernels(study, train, test)
    Y = study.targets[train]
    fits: dict[str, dict[float, dict[str, Any]]] = {}
    for method, (regularizer, seconds) in regularizers(kernels, Y).items():
        fits[method] = {C: fit_one(kernels, Y, regularizer, C) | {"Q_seconds": seconds} for C in Cs}
    return fits


def regularizers(kernels: FoldKernels, Y: Any) -> dict[str, tuple[Regularizer, float]]:
    """The regularizer of every method, and the processor time that its matrix took."""
    problem = Problem(kernels.bank, Y, Hinge(), Uniform(), C=1.0)
    began = time.process_time()
    rules = {}
    for prefix, cov in zip(("", "signed "), map(Fixed, dual_covariances(problem)), strict=True):
        rules[f"{prefix}Cov"] = cov
        rules[f"{prefix}Lap.(Cov)"] = GraphLaplacian(cov, ridge=_RIDGE)
        rules[f"{prefix}Lap.(Cov) + diag"] = GraphLaplacian(cov) + SourceBlocks()
    Qs = {name: rule.matrix(problem, kernels.sources) for name, rule in rules.items()}
    seconds = time.process_time() - began
    return {
        "uniform sum": (Uniform(), 0.0),
        "1-norm": (LpNorm(1.0, form="ivanov"), 0.0),
        "1.5-norm": (LpNorm(1.5, form="ivanov"), 0.0),
        "2-norm": (LpNorm(2.0, form="ivanov"), 0.0),
        **{name: (QNorm(Q), seconds) for name, Q in Qs.items()},
    }


def dual_covariances(problem: Problem) -> list[Any]:
    r"""Covariances of the dual coefficients of single-kernel machines: of sizes, and with signs.

    The paper's coefficients are the non-negative :math:`y_i \alpha_i`, which vary together where
    machines share support vectors. Signed ones, those of ``DualCovariance()``, also vary together
    because all machines know the classes. Both are scaled to unit mean diagonal.
    """
    bank = problem.bank
    machines = [
        fit_fixed_weights(problem, bank.combine(e), _MACHINE_TOL) for e in np.eye(bank.n_kernels)
    ]
    signed = np.stack([machine.alpha for machine in machines])
    sizes = problem.y * signed
    return [unit_trace(np.cov(A.reshape(len(A), -1))) for A in (sizes, signed)]


def fit_one(kernels: FoldKernels, Y: Any, regularizer: Regularizer, C: float) -> dict[str, Any]:
    """Fit one method at one C and predict the classes of the test samples."""
    began = time.process_time()
    solution = fit_weights(kernels, Y, regularizer, C)
    seconds = time.process_time() - began
    norms = np.sqrt(solution.sq_norms)
    return {
        "predicted": predict(kernels, solution),
        "active": int(np.sum(norms > _ACTIVE * norms.max())),
        "gap": solution.gap,
        "seconds": seconds,
    }


def fit_weights(kernels: FoldKernels, Y: Any, regularizer: Regularizer, C: float) -> Solution:
    """Fit one method at the C of a machine on the mean kernel.

    The largest equal weights that a regularizer allows sum to s, and its problem gets C / s: so
    equal weights mean the same SVM for all methods, and one grid of C serves all.
    """
    M = kernels.bank.n_kernels
    total = M / regularizer.norm(np.ones(M)) if hasattr(regularizer, "norm") else M
    problem = Problem(kernels.bank, Y, Hinge(), regularizer, C / total)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what did not converge shows in its gap
        return choose_solver(problem, tol=_TOL).solve(problem)


def predict(kernels: FoldKernels, solution: Solution) -> Any:
    """The classes of the test samples."""
    K = np.tensordot(solution.weights, kernels.cross, axes=1)
    z = K @ solution.dual_coef + solution.intercept
    return (z[:, 0] > 0).astype(np.intp) if z.shape[1] == 1 else np.argmax(z, axis=1)


def rates(y: Any, predicted: Any) -> dict[str, float]:
    """Accuracy, sensitivity and specificity; the last two averaged over classes if many."""
    classes = [1] if max(y.max(), predicted.max()) == 1 else np.unique(y)
    sens = [np.mean(predicted[y == c] == c) for c in classes]
    spec = [np.mean(predicted[y != c] != c) for c in classes]
    return {
        "acc": float(np.mean(predicted == y)),
        "sens": float(np.mean(sens)),
        "spec": float(np.mean(spec)),
    }


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(arguments())
