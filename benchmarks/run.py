"""Measure every solver on every workload, beside peers: ``python benchmarks/run.py --help``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
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
_EXACT = 1e-3  # tolerance, relative to that of the fits, of the fit that gives the lower bound
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
            rows = list(solver_rows(w, bank, case, options, first))
            measure_gaps(rows, exact_bound(w, bank, case, options))
            fits += rows
    peers = list(baseline_rows(w, bank, options))
    if options.peers:
        peers += list(peer_rows(w, bank, options))

    last = time_pass(w, options)
    unit = min(first, last)
    for row in (*fits, *peers):
        grade(row, unit, w, bank, options)
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
            except Exception as failure:  # the other rows are still wanted
                yield show(row | {"error": str(failure) or type(failure).__name__})
                continue
        yield show(row | times(run, options) | quality(w, case, run.result))


def measure_gaps(rows: list[dict[str, Any]], bound: float) -> None:
    """Hold the objectives of one problem against the best bound that is known."""
    found = [row for row in rows if "objective" in row]
    bound = max([bound, *(row["bound"] for row in found if "bound" in row)])
    for row in found:
        row["gap"] = relative_gap(row["objective"], bound)


def exact_bound(w: Workload, bank: PackedBank, case: Case, options: argparse.Namespace) -> float:
    """The lower bound from an untimed fit that is much more exact."""
    problem = case.problem(bank, w.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = choose_solver(problem, tol=_EXACT * options.tol).solve(problem)
    return float(quality(w, case, solution)["bound"])


def solvers_for(problem: Any, options: argparse.Namespace) -> Iterator[tuple[Solver, bool]]:
    """The automatic choice, then the other solvers that can treat the problem."""
    auto = choose_solver(problem, tol=options.tol)
    wanted = options.solvers or ["auto", *SOLVERS]
    done = type(auto) if "auto" in wanted else None
    if done:
        yield auto, True
    for name, kind in SOLVERS.items():
        if name in wanted and kind is not done and not kind.missing(problem):
            yield kind(tol=options.tol), False


def quality(w: Workload, case: Case, solution: Any) -> dict[str, Any]:
    """What a solution is worth; objective and bound are computed again from what it returns."""
    triple = (solution.weights, solution.dual_coef[:, 0], float(solution.intercept[0]))
    terms = (case.loss, case.regularizer, case.C)
    objective, bound = bounds(w, *terms, triple, case.intercept)
    return {
        "counted_passes": solution.n_passes,
        "iterations": solution.n_iter,
        "gap_claimed": solution.gap,
        "objective": objective,
        "bound": bound,
        "active": active(solution.weights),
        "score": w.score(*triple),
    }


def baseline_rows(
    w: Workload, bank: PackedBank, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """What a few lines around scikit-learn give, on the square bank."""
    if not w.labels:
        return
    case = Case(w.name, "hinge", "l2 ball", _BASELINE_C)
    lower = exact_bound(w, bank, case, options)
    for name, fit in BASELINES.items():
        run = best_of(lambda fit=fit: fit(w, case.C, options.tol), options.repeats)
        objective, _ = bounds(w, case.loss, case.regularizer, case.C, run.result)
        row = {
            "workload": w.name,
            "peer": name,
            "model": f"{case.name}, C = {case.C:g}",
            "version": version("scikit-learn"),
            "gap": relative_gap(objective, lower),
            "active": active(run.result[0]),
            "score": w.score(*run.result),
        }
        yield show(row | times(run, options))


def peer_rows(
    w: Workload, bank: PackedBank, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """The other libraries, each in its own process and environment."""
    with stored(w) as folder:
        for peer in PEERS:
            if w.labels or not peer.labels_only:
                row = run_peer(peer, w, folder, options.threads, options.peer_limit)
                row["seconds"] = row.get(options.clock)
                if "objective" in row:
                    case = Case(w.name, *peer.objective, peer.C, intercept=False)
                    measure_gaps([row], exact_bound(w, bank, case, options))
                yield show(row)


def grade(
    row: dict[str, Any], unit: float, w: Workload, bank: PackedBank, options: argparse.Namespace
) -> None:
    """Add the ratios to one pass and to the bank, and whether the goals were met."""
    if row.get("seconds") is None:
        return
    row["passes"] = row["seconds"] / unit
    if row["extra_bytes"] is not None:
        stored_bytes = bank.nbytes if "solver" in row else w.K.nbytes
        row["memory"] = 1 + row["extra_bytes"] / stored_bytes
        row["memory_square"] = (stored_bytes + row["extra_bytes"]) / w.K.nbytes
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
        print(f"  {what:45s} {row['seconds']:8.3f} s  score {row['score']:.3f}", flush=True)
    return row


def environment(options: argparse.Namespace) -> dict[str, Any]:
    """Where, when and how the benchmark ran."""
    packages = ("multikernel", "numpy", "scipy", "scikit-learn")
    blas = {
        f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info() if lib["version"]
    }
    return machine() | {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join(["python", *sys.argv]),
        "commit": _commit(),
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
        return "(source tree)"


def _commit() -> str | None:
    """The commit of the source tree, where git knows it."""
    command = ["git", "-C", str(_HERE), "describe", "--always", "--dirty"]
    with suppress(OSError, subprocess.CalledProcessError):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return None


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
