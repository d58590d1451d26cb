"""The regularizers compared, and their results on one fold."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ..._warnings import unsaid
from ...interactions import Fixed, GraphLaplacian, SourceBlocks, unit_trace
from ...losses import Hinge
from ...regularizers import LpNorm, QNorm, Regularizer, Uniform
from ...solvers import Problem, Solution, choose_solver, fit_fixed_weights
from .studies import Array, FoldKernels, Index, Study, fold_kernels

_ACTIVE = 1e-3  # of the largest norm of a component function
_RIDGE = 0.1  # of the mean degree: a bare Laplacian leaves equal weights without penalty
_TOL = 1e-4  # relative duality gap of every fit
_MACHINE_TOL = 1e-6  # and of single-kernel machines


@dataclass(frozen=True)
class Grid:
    """How C is chosen."""

    n_inner: int = 3
    Cs: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    fixed: float = 1.0


def splits(y: Any, n_folds: int, seed: int) -> Iterator[tuple[Index, Index]]:
    """Training and test samples of every fold; all methods get the same."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    yield from folds.split(y, y)


def run_fold(
    study: Study, train: Index, test: Index, grid: Grid, seed: int
) -> list[dict[str, Any]]:
    """Results of all methods on one test fold, with C chosen inside of the training samples."""
    inner = inner_accuracy(study, train, grid, seed)
    rows = []
    for method, by_C in fit_all(study, train, test, grid.Cs).items():
        best = int(np.argmax(inner[method]))  # the first, so the smaller C of those as good
        chosen, fixed = by_C[grid.Cs[best]], by_C[grid.fixed]
        rows.append(
            {
                "method": method,
                "C": grid.Cs[best],
                **rates(study.y[test], chosen["predicted"]),
                "acc_fixed_C": rates(study.y[test], fixed["predicted"])["acc"],
                "inner_acc": inner[method][best],
                **{key: chosen[key] for key in ("active", "gap", "seconds", "Q_seconds")},
                "n_train": len(train),
                "n_test": len(test),
            }
        )
    return rows


def inner_accuracy(study: Study, train: Index, grid: Grid, seed: int) -> dict[str, list[float]]:
    """Cross-validated accuracy of every method and C; kernels and Q are made anew in each fold."""
    right: dict[str, Any] = {}
    for fit, held_out in splits(study.y[train], grid.n_inner, seed):
        y = study.y[train[held_out]]
        for method, by_C in fit_all(study, train[fit], train[held_out], grid.Cs).items():
            hits = [np.sum(found["predicted"] == y) for found in by_C.values()]
            right[method] = right.get(method, 0) + np.array(hits)
    return {method: (hits / len(train)).tolist() for method, hits in right.items()}


def fit_all(
    study: Study, train: Index, test: Index, Cs: tuple[float, ...]
) -> dict[str, dict[float, dict[str, Any]]]:
    """All methods at every C, on the same kernels: method -> C -> predictions and figures."""
    kernels = fold_kernels(study, train, test)
    Y = study.targets[train]
    fits: dict[str, dict[float, dict[str, Any]]] = {}
    for method, (regularizer, seconds) in regularizers(kernels, Y).items():
        fits[method] = {C: fit_one(kernels, Y, regularizer, C) | {"Q_seconds": seconds} for C in Cs}
    return fits


def regularizers(kernels: FoldKernels, Y: Array) -> dict[str, tuple[Regularizer, float]]:
    """The regularizer of every method, and the processor time that its matrix took."""
    problem = Problem(kernels.bank, Y, Hinge(), Uniform(), C=1.0)
    began = time.process_time()
    rules: dict[str, Any] = {}
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


def fit_one(kernels: FoldKernels, Y: Array, regularizer: Regularizer, C: float) -> dict[str, Any]:
    """Fit one method at one C and predict the classes of the test samples."""
    began = time.process_time()
    solution = fit_weights(kernels, Y, regularizer, C)
    seconds = time.process_time() - began
    norms = np.sqrt(solution.sq_norms)
    return {
        "predicted": predict(kernels, solution),
        "active": int(np.sum(norms > _ACTIVE * norms.max())),
        "gap": float(solution.gap),
        "seconds": seconds,
    }


def fit_weights(kernels: FoldKernels, Y: Array, regularizer: Regularizer, C: float) -> Solution:
    """Fit one method at the C of a machine on the mean kernel.

    The largest equal weights that a regularizer allows sum to s, and its problem gets C / s: so
    equal weights mean the same SVM for all methods, and one grid of C serves all.
    """
    M = kernels.bank.n_kernels
    total = M / regularizer.norm(np.ones(M)) if hasattr(regularizer, "norm") else M
    problem = Problem(kernels.bank, Y, Hinge(), regularizer, C / total)
    with unsaid(Warning):  # what did not converge shows in its gap
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
