"""Learn kernel weights by their evidence, beside GP libraries: ``python benchmarks/evidence.py``.

Every fit has a process of its own; ours and the peers take turns, and the least times count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from evidence_data import TASKS
from evidence_report import write_section
from peers import Peer, _environment, _with_threads
from run import environment

_HERE = Path(__file__).parent
_OURS = "multikernel"
_CLOSE = 1e-3  # nats below the best value at which a fit has arrived
_ROUGH = 1.0  # nats, for a ratio that does not hang on the last steps of a peer
_KEPT = 2  # peers that are repeated: those that arrive first
_GPY = ("gpy", ("GPy",))
_TORCH = ("gpytorch", ("gpytorch", "torch==2.13.0"))
_PEERS = {
    "GPy, one kernel, L-BFGS-B on d ≥ 0": _GPY,
    "GPy, one kernel, L-BFGS": _GPY,
    "gpytorch, L-BFGS": _TORCH,
    "scikit-learn, L-BFGS": ("scikit-learn", ("scikit-learn",)),
    "GPy, sum of Fixed, L-BFGS": _GPY,
    "gpytorch, Adam": _TORCH,
}
_LARGE = 2000  # samples from which only the first peers are run, the fastest of the smaller task


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=["E1", "E2", "V1"])
    parser.add_argument("--repeats", type=int, default=3, help="rounds; the least time counts")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="one table each")
    parser.add_argument(
        "--peer-limit", type=float, default=300.0, help="processor seconds of a fit"
    )
    parser.add_argument("--out", type=Path, default=_HERE / "results" / "evidence.json")
    parser.add_argument("--resume", action="store_true", help="keep the tables that --out holds")
    parser.add_argument(
        "--write-results", action="store_true", help="write the section of benchmarks/RESULTS.md"
    )
    return parser.parse_args(argv)


def main(options: argparse.Namespace) -> None:
    """Run every task with every number of threads and write what was found after each."""
    options.clock, options.tol = "cpu", 1e-6
    results: dict[str, Any] = {"environment": environment(options), "tables": [], "bounds": []}
    if options.resume and options.out.exists():
        results = json.loads(options.out.read_text())
    known = {(row["task"], row["threads"]) for row in results["tables"] + results["bounds"]}
    for threads in options.threads:
        for name in options.tasks:
            if (name, threads) in known:
                continue
            if TASKS[name].labels:
                results["bounds"].append(run_bound(name, threads, options))
            else:
                results["tables"].append(run_task(name, threads, options))
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1) + "\n")
    section = write_section(results, _HERE / "RESULTS.md" if options.write_results else None)
    print("\n" + section)


def run_task(name: str, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    """All fits of one task: in the first round every peer, afterwards those that arrive first."""
    fits: dict[str, list[dict[str, Any]]] = {_OURS: []}
    few = threads > 1 or TASKS[name].n_samples >= _LARGE
    peers = [*_PEERS][: _KEPT if few else None]
    for repeat in range(options.repeats):
        if repeat == 1:
            settled = [p for p in peers if p in fits and not fits[p][0]["stopped"]]
            peers = sorted(settled, key=lambda p: arrival(fits, p, threads))[:_KEPT]
        for who in (_OURS, *peers):
            row = run_fit(who, name, threads, options)
            if "error" not in row:
                fits.setdefault(who, []).append(row)
            print(f"  {name} {threads} {who:40s} {told(row)}", flush=True)
    rows = [summary(fits, who, threads) for who in fits]
    return head(name, threads, fits[_OURS]) | {"rows": rows}


def head(name: str, threads: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What a table is of, and how and under which load it came about."""
    return {
        "task": name,
        "threads": threads,
        "command": " ".join(["python", *sys.argv]),
        "load_after": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "unit": unit_of(rows),
    }


def run_fit(who: str, task: str, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    """One fit in its own process."""
    variables = _with_threads(threads)
    if who == _OURS:
        python, path = Path(sys.executable), os.environ.get("PYTHONPATH")
        variables |= {"PYTHONPATH": path} if path else {}
    else:
        folder, packages = _PEERS[who]
        python = _environment(Peer(who, folder, packages, "", 0.0))
    command = [str(python), str(_HERE / "evidence_fits.py"), who, task, str(options.peer_limit)]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no output"])[-1][:200]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run_bound(name: str, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    """The variational bound of labels: the least of several runs, in units."""
    rows = [run_fit(_OURS, name, threads, options) for _ in range(options.repeats)]
    clock = clock_of(threads)
    best = min(rows, key=lambda row: row[clock])
    table = best | head(name, threads, rows) | {"seconds": best[clock]}
    print(
        f"  {name} {threads} {best[clock]:.3f} s = {best[clock] / whole(table['unit']):.1f} units"
    )
    return table


def unit_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The least seconds of each part of the unit over all runs."""
    return {key: min(row["unit"][key] for row in rows) for key in ("cholesky", "inverse", "pass")}


def whole(unit: dict[str, float]) -> float:
    """Seconds of one Cholesky factor, one inverse and two bank passes."""
    return unit["cholesky"] + unit["inverse"] + 2 * unit["pass"]


def clock_of(threads: int) -> str:
    """Processor time for one thread, else wall time."""
    return "cpu" if threads == 1 else "wall"


def arrival(fits: dict[str, Any], who: str, threads: int, below: float = _CLOSE) -> float:
    """Least seconds until so far below the level that ours and this fit both reach."""
    return first_time(fits[who], common_level(fits, who) - below, threads)


def common_level(fits: dict[str, Any], who: str) -> float:
    """The worse of the best values of ours and of another."""
    return min(max(row["lml"] for row in fits[name]) for name in (who, _OURS))


def first_time(rows: list[dict[str, Any]], value: float, threads: int) -> float:
    """Least seconds, over runs, until the log marginal likelihood first reaches a value."""
    column = ("cpu", "wall").index(clock_of(threads))
    times = [[step[column] for step in row["trace"] if step[2] >= value] for row in rows]
    return min((found[0] for found in times if found), default=np.inf)


def summary(fits: dict[str, Any], who: str, threads: int) -> dict[str, Any]:
    """The line of one library; infinite times become None."""
    rows, column = fits[who], ("cpu", "wall").index(clock_of(threads))
    best = max(row["lml"] for found in fits.values() for row in found)
    line: dict[str, Any] = {
        "who": who,
        "version": rows[0]["version"],
        "runs": len(rows),
        "lml": max(row["lml"] for row in rows),
        "lml_error": max(abs(row["lml"] - row["lml_checked"]) for row in rows),
        "evaluations": len(rows[0]["trace"]),
        "active": rows[0]["active"],
        "stopped": rows[0]["stopped"],
        "seconds": min(row["seconds"][column] for row in rows),
        "to_best": finite(first_time(rows, best - _CLOSE, threads)),
        "to_level": finite(arrival(fits, who, threads)),
        "trace": [(round(step[column], 4), step[2]) for step in rows[0]["trace"]],
    }
    for key, below in (("ratio", _CLOSE), ("ratio_rough", _ROUGH)):
        ours = first_time(fits[_OURS], common_level(fits, who) - below, threads)
        line[key] = finite(arrival(fits, who, threads, below) / ours)
    if who == _OURS:
        line |= {key: rows[0][key] for key in ("iterations", "stationarity", "passes")}
    return line


def finite(seconds: float) -> float | None:
    """The number, or None where a value was never reached."""
    return float(seconds) if np.isfinite(seconds) else None


def told(row: dict[str, Any]) -> str:
    """A fit in one line, while the benchmark runs."""
    if "error" in row:
        return str(row["error"])
    cpu, wall = row["seconds"]
    return f"cpu {cpu:7.2f} s  wall {wall:7.2f} s  lml {row['lml']:.4f}  {len(row['trace'])} steps"


if __name__ == "__main__":
    main(arguments())
