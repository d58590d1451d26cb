"""Q-MKL against 2-norm MKL on one study of 114 people and 96 kernels, in the same run.

python benchmarks/q_norm.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import platform
import time
from dataclasses import replace

import numpy as np
import scipy

from multikernel import (
    DualCovariance,
    GraphLaplacian,
    Hinge,
    LpNorm,
    PackedBank,
    QNorm,
    SourceBlocks,
)
from multikernel.datasets import make_neuroimaging, neuroimaging_kernels
from multikernel.datasets.neuroimaging import TopVoxels
from multikernel.solvers import Problem, choose_solver

TOL, REPEATS = 1e-5, 15


def make_problem(C: float) -> tuple[Problem, list[str]]:
    """All people of one study; voxels are ranked on them."""
    data = make_neuroimaging(random_state=0)
    kernels = neuroimaging_kernels().fit(TopVoxels().fit_transform(data.X, data.y))
    grams = [K for _, K in kernels.grams()]
    y = np.where(data.y == np.unique(data.y)[1], 1.0, -1.0)[:, np.newaxis]
    problem = Problem(PackedBank.from_grams(grams), y, Hinge(), LpNorm(2.0, form="ivanov"), C)
    return problem, [row["source"] for row in kernels.rows_]


def main() -> None:
    """Print the time of every fit, the least of several taken in turn, over that of the 2-norm."""
    versions = (
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    )
    print(
        f"{platform.machine()}, {versions}, one thread, tol {TOL:g}, CPU time, least of {REPEATS}"
    )
    rules = {
        "Cov": DualCovariance(signed=False),
        "Lap.(Cov)": GraphLaplacian(DualCovariance(signed=False), ridge=0.1),
        "Lap.(Cov) + diag": GraphLaplacian(DualCovariance(signed=False)) + SourceBlocks(),
    }
    for C in (0.1, 1.0, 10.0):
        problem, sources = make_problem(C)
        problems = {"2-norm": problem}
        for name, rule in rules.items():
            Q = QNorm(rule.matrix(problem, sources))
            problems[name] = replace(problem, regularizer=Q)
        times: dict[str, list[float]] = {name: [] for name in problems}
        for _ in range(REPEATS):
            for name, each in problems.items():
                began = time.process_time()
                solution = choose_solver(each, tol=TOL).solve(each)
                times[name].append(time.process_time() - began)
                assert solution.gap <= TOL
        base = min(times["2-norm"])
        for name, taken in times.items():
            print(f"C = {C:<5g} {name:18s} {1e3 * min(taken):6.1f} ms   {min(taken) / base:.2f}")


if __name__ == "__main__":
    main()
