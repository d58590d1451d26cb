"""The section on evidence in the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence_data import TASKS
from report import _environment, _table, _yes

_HEAD = "# Evidence"
_COLUMNS = [
    "task",
    "threads",
    "fit",
    "version",
    "runs",
    "lml",
    "lml error",
    "evaluations",
    "active",
    "seconds",
    "to best",
    "to level",
    "ratio",
    "ratio at 1 nat",
]
_SPEED, _STEP, _BOUND = 5.0, 1.5, 60.0  # goals


def write_section(results: dict[str, Any], path: Path | None) -> str:
    """The section; it replaces the one at the end of a file, or is added there."""
    text = section(results)
    if path:
        before = path.read_text().split(f"\n{_HEAD}\n")[0].rstrip() if path.exists() else ""
        path.write_text(f"{before}\n\n{text}")
    return text


def section(results: dict[str, Any]) -> str:
    """Goals, one table per task and number of threads, and the units."""
    e = results["environment"]
    e = e | {"threads": "1 or more", "clock": "processor (1 thread) or wall"}
    parts = [
        _HEAD,
        "Written by `benchmarks/evidence.py`. The weights of M fixed kernels and the noise "
        "variance are learned by the log marginal likelihood (lml) of a Gaussian process without "
        "mean, from the same start and the same Gram matrices; mostly useless kernels. The *unit* "
        "is one Cholesky factor, one inverse and two bank passes, timed in the same processes.",
        _environment(e),
        "## Goals",
        _table(["", "N", "M", "threads", "what", "measured", "goal", "met"], _goals(results)),
        "## Time to the same log marginal likelihood",
        "*to best*: seconds until 1e-3 nats below the best value that any fit found, empty where "
        "that was never reached. *to level*: until 1e-3 below the worse of ours and this peer's, "
        "the level that both reach; *ratio*: that time of the peer ÷ ours to the same level, and "
        "the same 1 nat below that level, where the last steps do not count. *seconds*: until the "
        "fit stops by itself, or was stopped. *lml error*: against a dense recomputation. The "
        "goal takes the peer of the smallest ratio, whether or not it gets to the best value. "
        "Peers are repeated only if they are among the two that arrive first.",
        _table(
            _COLUMNS,
            [_fit(t, row) for t in results["tables"] for row in t["rows"]],
        ),
        "## Units",
        _table(
            ["task", "threads", "Cholesky", "inverse", "one pass", "unit", "load", "command"],
            [_unit(t) for t in (*results["tables"], *results["bounds"])],
        ),
        "With more threads than free cores a whole fit waits more often than the short calls of "
        "the unit: read rows of 2 threads beside the load.",
    ]
    return "\n\n".join(parts) + "\n"


def _goals(results: dict[str, Any]) -> list[list[Any]]:
    rows = []
    for t in results["tables"]:
        ours, *peers = t["rows"]
        ratios = [row["ratio"] for row in peers if row["ratio"]]
        task = TASKS[t["task"]]
        head = [t["task"], task.n_samples, task.n_kernels, t["threads"]]
        if ratios:
            fastest = min(peers, key=lambda row: row["ratio"] or float("inf"))
            what = f"speed against {fastest['who']}"
            met = _yes(min(ratios) >= _SPEED)
            rows.append([*head, what, f"{min(ratios):.1f}×", f"≥ {_SPEED:g}×", met])
        units = ours["seconds"] / ours["iterations"] / _whole(t["unit"])
        rows.append(
            [*head, "units per iteration", f"{units:.2f}", f"≤ {_STEP}", _yes(units <= _STEP)]
        )
    for t in results["bounds"]:
        task, units = TASKS[t["task"]], t["seconds"] / _whole(t["unit"])
        head = [t["task"], task.n_samples, task.n_kernels, t["threads"]]
        what = f"units of VB logistic to {t['stationarity']:.0e} ({t['iterations']} iterations)"
        met = _yes(units <= _BOUND and t["stationarity"] <= 1e-6)
        rows.append([*head, what, f"{units:.1f}", f"≤ {_BOUND:g}", met])
    return rows


def _fit(table: dict[str, Any], row: dict[str, Any]) -> list[Any]:
    ours = row["who"] == "multikernel"
    seconds = f"{row['seconds']:.2f}" + (" (stopped)" if row["stopped"] else "")
    return [
        table["task"],
        table["threads"],
        f"**{row['who']}**" if ours else row["who"],
        row["version"],
        row["runs"],
        f"{row['lml']:.4f}",
        f"{row['lml_error']:.0e}",
        row["evaluations"],
        row["active"],
        seconds,
        *(f"{row[key]:.2f}" if row[key] else "" for key in ("to_best", "to_level")),
        *("" if ours or not row[key] else f"{row[key]:.1f}" for key in ("ratio", "ratio_rough")),
    ]


def _unit(table: dict[str, Any]) -> list[Any]:
    parts = [table["unit"][key] for key in ("cholesky", "inverse", "pass")]
    seconds = [f"{1e3 * s:.1f} ms" for s in (*parts, _whole(table["unit"]))]
    return [*(table[k] for k in ("task", "threads")), *seconds, table["load_after"], _code(table)]


def _code(table: dict[str, Any]) -> str:
    return f"`{table['command']}`"


def _whole(unit: dict[str, float]) -> float:
    return unit["cholesky"] + unit["inverse"] + 2 * unit["pass"]
