"""Markdown tables of the results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cases import MEMORY_GOAL


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    parts = [
        "# Benchmark results",
        "Written by `benchmarks/run.py`; `benchmarks/README.md` says what is measured and how.",
        _environment(results["environment"]),
        "## One bank pass",
        _table(
            ["", "N", "M", "square bank", "packed bank", "one pass", "packing"],
            [
                [
                    w["workload"],
                    w["N"],
                    w["M"],
                    f"{w['square_bytes'] / 1e6:,.0f} MB",
                    f"{w['packed_bytes'] / 1e6:,.0f} MB",
                    f"{1e3 * w['pass_seconds']:.3g} ms",
                    f"{w['packing_passes']:.1f} passes",
                ]
                for w in results["workloads"]
            ],
        ),
        *_goals(results["fits"]),
        "## Solvers",
        f"Asked for a relative gap of {results['environment']['tol']:.0e}. **Bold**: the automatic "
        "choice.",
        _table(
            [
                "",
                "problem",
                "C",
                "solver",
                "passes",
                "counted",
                "iterations",
                "gap",
                "claimed",
                "active",
                "score",
                "memory",
                "of square",
                "goal",
                "met",
            ],
            [_fit(row) for row in results["fits"]],
        ),
    ]
    if results["peers"]:
        parts += [
            "## Peers",
            "The same kernels in the same run. A gap is given where a peer has our objective; "
            "memory is relative to the square bank.",
            _table(
                ["", "peer", "version", "model", "passes", "gap", "active", "score", "memory"],
                [_peer(row) for row in _side_by_side(results)],
            ),
        ]
    return "\n\n".join(parts) + "\n"


def _environment(e: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in e["versions"].items())
    lines = [
        f"{e['date']}, commit {e['commit']}, `{e['command']}`",
        f"{e['processor']}, {e['cores']} cores, {e['memory_GiB']} GiB, {e['system']}; "
        f"{e['threads']} thread(s), {e['clock']} time, load {e['load_before']} at the start",
        f"Python {e['python']}, {versions}, {', '.join(e['libraries'])}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _goals(fits: list[dict[str, Any]]) -> list[str]:
    """The goals beside what the automatic choice reached, where there are goals."""
    judged = [_goal(row) for row in fits if row["auto"] and row["goal_passes"]]
    head = ["", "problem", "solver", "passes", "goal", "met", "memory", f"≤ {MEMORY_GOAL}"]
    return ["## Goals (automatic choice of solver)", _table(head, judged)] if judged else []


def _goal(row: dict[str, Any]) -> list[Any]:
    goal = f"{row['goal_passes']:.0f}"
    head = [row["workload"], row["case"], row["solver"]]
    if "error" in row:
        return [*head, row["error"], goal, "no", "", ""]
    passes, met = f"{row['passes']:.1f}", _yes(row.get("goal_met"))
    return [*head, passes, goal, met, _memory(row), _yes(row.get("memory_met"))]


def _fit(row: dict[str, Any]) -> list[Any]:
    solver = f"**{row['solver']}**" if row["auto"] else row["solver"]
    head = [row["workload"], row["case"], f"{row['C']:g}", solver]
    goal = "" if row["goal_passes"] is None else f"{row['goal_passes']:.0f}"
    if "error" in row:
        return [*head, row["error"], *[""] * 8, goal, "no" if goal else ""]
    return [
        *head,
        f"{row['passes']:.1f}",
        f"{row['counted_passes']:.1f}",
        row["iterations"],
        f"{row['gap']:.1e}",
        f"{row['gap_claimed']:.1e}",
        row["active"],
        f"{row['score']:.3f}",
        _memory(row),
        _memory(row, "memory_square"),
        goal,
        _yes(row.get("goal_met")),
    ]


def _peer(row: dict[str, Any]) -> list[Any]:
    head = [row["workload"], row["peer"], row.get("version", ""), row["model"]]
    if "error" in row:
        return [*head, row["error"], *[""] * 4]
    gap = f"{row['gap']:.1e}" if "gap" in row else ""
    active, score = row.get("active", ""), f"{row['score']:.3f}"
    return [*head, f"{row['passes']:,.0f}", gap, active, score, _memory(row, "memory_square")]


def _side_by_side(results: dict[str, Any]) -> list[dict[str, Any]]:
    """The automatic choice on every problem of a workload, then its peers."""
    ours = [
        row | {"peer": "**multikernel**", "model": f"{row['case']}, C = {row['C']:g}"}
        for row in results["fits"]
        if row["auto"]
    ]
    order = [w["workload"] for w in results["workloads"]]
    return sorted([*ours, *results["peers"]], key=lambda row: order.index(row["workload"]))


def _memory(row: dict[str, Any], base: str = "memory") -> str:
    return f"{row[base]:.2f}" if base in row else "n/a"


def _yes(met: bool | None) -> str:
    return "" if met is None else "yes" if met else "no"


def _table(head: list[str], rows: Iterable[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
