"""Measure every solver on every workload, beside peers: ``python benchmarks/run.py --help``."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from baselines import BASELINES
from cases import MEMORY_GOAL, Case, cases
from certificate import bounds, relative_gap
from measure import Run, best_of, machine, run_once
from peers import PEERS, run_peer, stored
from report import markdown
from threadpoolctl import threadpool_info, threadpool_limits
from workloads import WORKLOADS, Workload

from multikernel.banks import PackedBank
from multikernel.solvers import SOLVERS, Solver, choose_solver

_HERE = Path(__file__).parent
_SLOW = 100.0  # passes; fits slower than this are not repeated
_SHORT = 0.5  # seconds that every solver is given
_BASELINE_C = 10.0


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=["W1", "W2", "W3"])
    parser.add_argument("--repeats", type=int, default=5, help="the least time counts")
    parser.add_argument("--threads", type=int, default=1, help="of linear algebra")
    parser.add_argument("--tol", type=float, default=1e-4, help="relative duality gap")
    parser.add_argument(
        "--clock", choices=["cpu", "wall"], help="default: cpu with one thread, wall with more"
    )
    parser.add_argument(
        "--solvers", nargs="+", choices=["auto", *SOLVERS], help="default: every one that applies"
    )
    parser.add_argument("--cases", default="", help="only cases whose name contains this")
    parser.add_argument(
        "--max-passes", type=float, default=600.0, help="a solver is stopped after this long"
    )
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--peer-limit", type=float, default=300.0, help="seconds for one peer")
    parser.add_argument(
        "--out", type=Path, help="results as JSON; the tables go to the same name .md"
    )
    parser.add_argument(
        "--write-results", action="store_true", help="write the tables to benchmarks/RESULTS.md"
    )
    options = parser.parse_args(argv)
    options.clock = options.clock or ("cpu" if options.threads == 1 else "wall")
    return options


def main(options: argparse.Namespace) -> None:
    """Run the whole benchmark in this process and write what was asked for."""
    results: dict[str, Any] = {
        "environment": environment(options),
        "workloads": [],
        "fits": [],
        "peers": [],
    }
    with threadpool_limits(options.threads):
        for name in options.workloads:
            run_workload(WORKLOADS[name](), options, results)
            write(results, options)
    print("\n" + markdown(results))


def run_workload(w: Workload, options: argparse.Namespace, results: dict[str, Any]) -> None:
    """All rows of one workload; times become passes once the pass was timed before and after."""
    first = time_pass(w, options)
    packing = run_once(lambda: PackedBank.from_grams(w.K))
    bank = packing.result
    print(f"{w.name}: one pass {1e3 * first:.2f} ms", flush=True)

    fits = []
    for case in cases(w.name):
        if options.cases in case.name:
            fits += list(solver_rows(w, bank, case, options, first))
    peers = list(baseline_rows(w, options))
    if options.peers:
        peers += list(peer_rows(w, options))

    last = time_pass(w, options)
    unit = min(first, last)
    for row in (*fits, *peers):
        grade(row, unit, bank.nbytes, options)
    results["workloads"].append(
        {
            "workload": w.name,
            "N": len(w.y),
            "M": len(w.K),
            "pass_seconds": unit,
            "pass_seconds_before_after": [first, last],
            "square_bytes": w.K.nbytes,
            "packed_bytes": bank.nbytes,
            "packing_passes": seconds(packing, options) / unit,
        }
    )
    results["fits"] += fits
    results["peers"] += peers


def time_pass(w: Workload, options: argparse.Namespace) -> float:
    """The least time of one product of the bank, of shape (M, N²), with a vector."""
    v = np.random.default_rng(0).normal(size=w.flat.shape[1])
    loops = max(1, int(1e8 / w.flat.nbytes))  # a small bank is swept often, for the clock's sake
    run = best_of(lambda: [w.flat @ v for _ in range(loops)], 3 * options.repeats)
    return seconds(run, options) / loops


def solver_rows(
    w: Workload, bank: PackedBank, case: Case, options: argparse.Namespace, unit: float
) -> Iterator[dict[str, Any]]:
    """One row per solver that applies, the automatic choice first."""
    problem = case.problem(bank, w.y)
    for solver, auto in solvers_for(problem, options):
        row = {
            "workload": w.name,
            "case": case.name,
            "C": case.C,
            "solver": type(solver).__name__,
            "auto": auto,
            "goal_passes": case.goal,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what did not converge shows in its gap
            try:
                run = best_of(
                    lambda solver=solver: solver.solve(problem),
                    options.repeats,
                    cpu_limit=max(options.max_passes * unit, _SHORT),
                    slow=_SLOW * unit,
                )
            except TimeoutError as stop:
                yield show(row | {"error": str(stop)})
                continue
        yield show(row | times(run, options) | quality(w, case, run.result))


def solvers_for(problem: Any, options: argparse.Namespace) -> Iterator[tuple[Solver, bool]]:
    """The automatic choice, then the other solvers that can treat the problem."""
    auto = choose_solver(problem, tol=options.tol)
    wanted = options.solvers or ["auto", *SOLVERS]
    if "auto" in wanted:
        yield auto, True
    for name, kind in SOLVERS.items():
        if name in wanted and kind is not type(auto) and not kind.missing(problem):
            yield kind(tol=options.tol), False


def quality(w: Workload, case: Case, solution: Any) -> dict[str, Any]:
    """What a solution is worth, the gap computed again from the returned predictor."""
    triple = (solution.weights, solution.dual_coef[:, 0], float(solution.intercept[0]))
    objective, bound = bounds(w, case.loss, case.regularizer, case.C, triple)
    return {
        "counted_passes": solution.n_passes,
        "iterations": solution.n_iter,
        "gap": relative_gap(objective, bound),
        "gap_claimed": solution.gap,
        "objective": objective,
        "active": active(solution.weights),
        "score": w.score(*triple),
    }


def baseline_rows(w: Workload, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What a few lines around scikit-learn give, on the square bank."""
    if not w.labels:
        return
    for name, fit in BASELINES.items():
        run = best_of(lambda fit=fit: fit(w, _BASELINE_C, options.tol), options.repeats)
        row = {
            "workload": w.name,
            "peer": name,
            "model": f"hinge, l2 ball, C = {_BASELINE_C:g}",
            "version": version("scikit-learn"),
            "gap": relative_gap(*bounds(w, "hinge", "l2 ball", _BASELINE_C, run.result)),
            "active": active(run.result[0]),
            "score": w.score(*run.result),
        }
        yield show(row | times(run, options))


def peer_rows(w: Workload, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The other libraries, each in its own process and environment."""
    with stored(w) as folder:
        for peer in PEERS:
            if w.labels or not peer.labels_only:
                row = run_peer(peer, w, folder, options.threads, options.peer_limit)
                row["seconds"] = row.get(options.clock)
                yield show(row)


def grade(row: dict[str, Any], unit: float, bank_bytes: int, options: argparse.Namespace) -> None:
    """Add the ratios to one pass and to the bank, and whether the goals were met."""
    if row.get("seconds") is None:
        return
    row["passes"] = row["seconds"] / unit
    if row["extra_bytes"] is not None:
        row["memory"] = 1 + row["extra_bytes"] / bank_bytes
        row["memory_met"] = row["memory"] <= MEMORY_GOAL
    if row.get("goal_passes") is not None:
        row["goal_met"] = row["passes"] <= row["goal_passes"] and row["gap"] <= options.tol


def active(d: np.ndarray) -> int:
    """The number of kernels in use."""
    return int(np.sum(d > 1e-6 * d.max()))


def times(run: Run, options: argparse.Namespace) -> dict[str, Any]:
    """The measured part of a row."""
    return {
        "seconds": seconds(run, options),
        "cpu": run.cpu,
        "wall": run.wall,
        "extra_bytes": run.extra_bytes,
    }


def seconds(run: Run, options: argparse.Namespace) -> float:
    """The time by the clock that was chosen."""
    return float(getattr(run, options.clock))


def show(row: dict[str, Any]) -> dict[str, Any]:
    """Print a row while the benchmark runs."""
    what = f"{row.get('case', row.get('peer'))} {row.get('solver', '')}"
    if "error" in row:
        print(f"  {what:45s} {row['error']}", flush=True)
    else:
        gap = f"gap {row['gap']:.1e}" if "gap" in row else ""
        print(f"  {what:45s} {row['seconds']:8.3f} s  {gap}", flush=True)
    return row


def environment(options: argparse.Namespace) -> dict[str, Any]:
    """Where, when and how the benchmark ran."""
    packages = ("multikernel", "numpy", "scipy", "scikit-learn")
    blas = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()}
    return machine() | {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join(["python", *sys.argv]),
        "threads": options.threads,
        "clock": options.clock,
        "tol": options.tol,
        "versions": {name: _version(name) for name in packages},
        "libraries": sorted(blas),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed (source tree)"


def write(results: dict[str, Any], options: argparse.Namespace) -> None:
    """Write the results so far."""
    tables = markdown(results)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(results, indent=1) + "\n")
        options.out.with_suffix(".md").write_text(tables)
    if options.write_results:
        (_HERE / "RESULTS.md").write_text(tables)


if __name__ == "__main__":
    main(arguments())
