"""What choosing C costs: ``python benchmarks/selection.py``.

Four questions, each in one process with one thread, by the processor time of the program itself:
the time that a system takes to hand out memory differs by a factor of twenty between runs on
virtual machines, and is printed apart. How much does the tuned
elastic net (6 C × 4 folds and the final fit) cost beside one fit at the C it chose, and beside
alignment weights with a grid-searched SVC, which does not check that its matrices are kernels? How
much beside ``GridSearchCV`` around ``MKLClassifier`` on a grid of 6 C × 5 l1_ratio? What does it
cost with the multinomial loss on ten classes? And, with ``--draws 10``, how accurate are the tuned
elastic net at several l1_ratio, the same with its l1_ratio tuned, and the alignment when workloads
are drawn anew? The first question is asked of kernels as they are, with unit diagonals, as the
alignment takes them (``--normalize variance`` for our default), and at an l1_ratio of 0.85
(``--l1-ratio``): the default of 0.5 is too uniform where few kernels matter, as in W2 and W3.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import numpy as np
from measure import machine
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from workloads import WORKLOADS, Workload, redraw

from multikernel import (
    RBF,
    ElasticNet,
    KernelSet,
    Linear,
    MKLClassifier,
    MKLClassifierCV,
    PrecomputedKernels,
)

CS = np.logspace(-2, 3, 6)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
TOL = 1e-4
RATIOS = {"l1_ratio": [0.1, 0.5, 0.9]}  # as compare tunes the elastic net
FIXED = (0.5, 0.8, 0.85, 0.9)  # l1_ratio of the redrawn workloads


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="*", default=["W1", "W2", "W3"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--l1-ratio", type=float, default=0.85)
    parser.add_argument(
        "--normalize", choices=["none", "center", "trace", "variance"], default="none"
    )
    parser.add_argument("--grid", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--draws", type=int, default=0)
    parser.add_argument("--first-seed", type=int, default=1000, help="of the draws")
    parser.add_argument("--classes", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def main(options: argparse.Namespace) -> None:
    """Print both tables."""
    print(machine())
    normalize = None if options.normalize == "none" else options.normalize
    with threadpool_limits(1):
        print(
            "| | passes, one fit | tuned | unchecked | alignment + grid SVC | tuned / one "
            "| tuned / alignment | unchecked | both with the system's time |"
        )
        for name in options.workloads:
            tuned_fit(WORKLOADS[name](), ElasticNet(options.l1_ratio), normalize, options.repeats)
        for name in options.workloads if options.draws else []:
            seeds = range(options.first_seed, options.first_seed + options.draws)
            accuracies(name, seeds, normalize)
        if options.grid:
            grid_search(options.repeats)
        if options.classes:
            many_classes()


def tuned_fit(w: Workload, regularizer: ElasticNet, normalize: str | None, repeats: int) -> None:
    """One row of the first table, and test accuracies."""
    K, K_test = np.moveaxis(w.K, 0, -1), np.moveaxis(w.K_test, 0, -1)
    flat, v = w.flat, np.random.default_rng(0).normal(size=w.flat.shape[1])
    one_pass, _ = best_of(lambda: flat @ v, 5)
    shared = {"regularizer": regularizer, "normalize": normalize, "tol": TOL}
    cv = MKLClassifierCV("precomputed", Cs=CS, cv=FOLDS, **shared)
    tuned, model = best_of(lambda: cv.fit(K, w.y), repeats)
    unchecked = clone(cv).set_params(kernels=PrecomputedKernels(None, normalize, check_psd=False))
    trusting, _ = best_of(lambda: unchecked.fit(K, w.y), repeats)
    wide = clone(unchecked).set_params(regularizer_grid=RATIOS)
    wider, mixed = best_of(lambda: wide.fit(K, w.y), 1)
    plain = MKLClassifier("precomputed", C=model.C_, **shared)
    one, fitted = best_of(lambda: plain.fit(K, w.y), repeats)
    align, (d, search) = best_of(lambda: alignment_search(w), repeats)
    right = model.predict(K_test) == w.y_test
    one_accuracy, wide_accuracy = (np.mean(m.predict(K_test) == w.y_test) for m in (fitted, mixed))
    theirs = search.predict(np.tensordot(d, w.K_test, 1)) == w.y_test
    ahead, behind = np.sum(right & ~theirs), np.sum(theirs & ~right)
    p = binomtest(ahead, max(ahead + behind, 1)).pvalue  # McNemar's exact test
    print(
        f"| {w.name} | {one.user / one_pass.user:.1f} | {tuned.user / one_pass.user:.1f} | "
        f"{trusting.user / one_pass.user:.1f} | {align.user / one_pass.user:.1f} | "
        f"{tuned.user / one.user:.2f} | {tuned.user / align.user:.2f} | "
        f"{trusting.user / align.user:.2f} | "
        f"{tuned.both / align.both:.2f}, {trusting.both / align.both:.2f} | "
        f"C = {model.C_:g}, accuracy {right.mean():.3f}, one fit {one_accuracy:.3f}, alignment "
        f"{theirs.mean():.3f}: {ahead} samples right here only, {behind} there only, p = {p:.2f}; "
        f"l1_ratio tuned too: {wide_accuracy:.3f} for {wider.user / align.user:.2f} alignments, "
        "unchecked",
        flush=True,
    )


def accuracies(name: str, seeds: range, normalize: str | None) -> None:
    """Test accuracies on fresh draws: their means, and differences from the alignment."""
    rows = []
    for seed in seeds:
        w = redraw(name, seed)
        K, K_test = np.moveaxis(w.K, 0, -1), np.moveaxis(w.K_test, 0, -1)
        kernels = PrecomputedKernels(None, normalize, check_psd=False)
        cv = MKLClassifierCV(kernels, Cs=CS, cv=FOLDS, tol=TOL)
        models = [clone(cv).set_params(regularizer=ElasticNet(ratio)) for ratio in FIXED]
        models.append(clone(cv).set_params(regularizer_grid=RATIOS))
        d, search = alignment_search(w)
        found = [model.fit(K, w.y).predict(K_test) for model in models]
        found.append(search.predict(np.tensordot(d, w.K_test, 1)))
        rows.append([np.mean(labels == w.y_test) for labels in found])
    A = np.array(rows)
    excess = A[:, :-1] - A[:, -1:]
    error = excess.std(axis=0, ddof=1) / np.sqrt(len(seeds))
    print(f"| {name}, {len(seeds)} draws | accuracy: alignment {A[:, -1].mean():.4f}", end="")
    for what, j in zip([*FIXED, "tuned"], range(A.shape[1] - 1), strict=True):
        difference = f"{excess[:, j].mean():+.4f} ± {error[j]:.4f}"
        print(f"; l1_ratio {what}: {A[:, j].mean():.4f} ({difference})", end="")
    print(flush=True)


def alignment_search(w: Workload) -> tuple[np.ndarray, Any]:
    """Weights by centred alignment, then an SVC whose C a grid search chooses."""
    y, n = w.y - w.y.mean(), len(w.y)
    H = np.eye(n) - 1 / n
    T = H @ np.outer(y, y) @ H
    row = w.K.mean(axis=2)
    squares = np.einsum("mi,mi->m", w.flat, w.flat) - 2 * n * np.sum(row**2, axis=1)
    norms = np.sqrt(squares + (n * row.mean(axis=1)) ** 2)
    d = np.maximum(w.flat @ T.ravel() / norms, 0) / norms
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": CS}, cv=FOLDS)
    return d / d.sum(), search.fit((d / d.sum() @ w.flat).reshape(n, n), w.y)


def grid_search(repeats: int) -> None:
    """The second table: the same choice by two ways."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40))
    f = np.sin(2 * X[:, 0]) + X[:, 5] * X[:, 6] + 0.5 * X[:, 20]
    y = f + 0.5 * rng.normal(size=500) > 0
    sources = {f"s{i}": slice(4 * i, 4 * i + 4) for i in range(10)}
    kernels = KernelSet(sources, [Linear(), RBF([0.25, 0.5, 1, 4])])
    ratios = [0.1, 0.3, 0.5, 0.7, 0.9]
    cv = MKLClassifierCV(kernels, Cs=CS, regularizer_grid={"l1_ratio": ratios}, cv=FOLDS)
    ours, model = best_of(lambda: cv.fit(X, y), repeats)
    grid = {"C": CS, "regularizer__l1_ratio": ratios}
    plain = GridSearchCV(MKLClassifier(kernels, regularizer=ElasticNet()), grid, cv=FOLDS)
    theirs, search = best_of(lambda: plain.fit(X, y), 1)
    print(f"grid 6 × 5 × 4 folds: {ours.user / theirs.user:.3f} of GridSearchCV; "
          f"{model.best_params_}, {search.best_params_}")  # fmt: skip


def many_classes() -> None:
    """The tuned fit on ten classes and 1000 digits, in seconds; on six pixels classes overlap."""
    X, y = load_digits(return_X_y=True)
    rows = {f"rows {i}": slice(10 * i, 10 * i + 14) for i in range(6)}
    pixels = {"six pixels": [10, 20, 28, 36, 43, 53]}
    for sources, regularizer in [(rows, "uniform"), (rows, "elasticnet"), (pixels, "uniform")]:
        kernels = KernelSet(sources, [Linear(), RBF([0.25, 1, 4])])
        cv = MKLClassifierCV(kernels, regularizer=regularizer, Cs=CS, cv=FOLDS)
        took, model = best_of(lambda cv=cv: cv.fit(X[:1000], y[:1000]), 1)
        M = model.weights_.shape[-1]
        print(f"10 classes, N = 1000, M = {M}, {regularizer}: {took.user:.1f} s; C = {model.C_:g}, "
              f"gap {model.gap_:.0e}, accuracy {model.score(X[1000:], y[1000:]):.3f}")  # fmt: skip


class Took(NamedTuple):
    """Processor time: the program's own, and with that of the system on its behalf."""

    user: float
    both: float


def best_of(call: Callable[[], Any], repeats: int) -> tuple[Took, Any]:
    """The least times of several runs, each by itself, and what the last of them returned."""
    times = []
    for _ in range(repeats):
        began = getrusage(RUSAGE_SELF)
        result = call()
        ended = getrusage(RUSAGE_SELF)
        user, system = ended.ru_utime - began.ru_utime, ended.ru_stime - began.ru_stime
        times.append(Took(user, user + system))
    return Took(*np.min(times, axis=0)), result


if __name__ == "__main__":
    main(arguments())
