"""Does a comparison that is killed again and again end as if nothing had happened?

Runs ``compare`` in processes of its own, kills each with SIGKILL at a random moment, and starts the
same command again until it ends. A run that ends begins a new round in an empty folder, until there
were enough kills. After every round the result is held against that of an uninterrupted run.

    python experiments/kill_resume.py --kills 20
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from multikernel import ViewBundle, compare
from multikernel.comparison import Comparison

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from comparison.resume_problem import content, finished


def run(store: str | None) -> Comparison:
    """The comparison: three sources, of which one is lacking for some samples."""
    rng = np.random.default_rng(11)
    X = {name: rng.normal(size=(60, 3)) for name in ("rna", "mri", "noise")}
    risk = X["rna"][:, 0] + X["mri"][:, 1] ** 2 + 0.5 * rng.normal(size=60)
    bundle = ViewBundle(X, present={"mri": rng.random(60) > 0.2})
    y = np.where(risk > np.median(risk), "patient", "control")
    return compare(bundle, y, kernels=["linear", "rbf"], cv=3, n_permutations=2, store=store)


def start(store: Path, output: Path) -> subprocess.Popen[bytes]:
    """The same command every time."""
    command = [sys.executable, __file__, "--store", str(store), "--output", str(output)]
    return subprocess.Popen(command)


def uninterrupted() -> tuple[dict[str, Any], float]:
    """What the command says when nothing kills it, and the seconds it takes."""
    with tempfile.TemporaryDirectory() as folder:
        began, output = time.perf_counter(), Path(folder) / "result.json"
        if code := start(Path(folder) / "store", output).wait():
            raise SystemExit(f"the run failed with exit code {code}")
        return content(Comparison.load(output)), time.perf_counter() - began


def kill_once(store: Path, output: Path, longest: float, draw: random.Random) -> str | None:
    """Run until a random moment; what was left, or None if the run ended before."""
    seconds = draw.uniform(0.0, longest)
    process = start(store, output)
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        drafts = len(list(store.glob(".*.part")))
        return f"killed after {seconds:5.2f} s: {len(finished(store)):3d} results, {drafts} drafts"
    if code:
        raise SystemExit(f"the run failed with exit code {code}")
    return None


def say(text: str) -> None:
    """A line of the log, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Kill and resume until there were enough kills, or be the run that is killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument(
        "--longest", type=float, help="seconds before a kill; as long as a whole run by default"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.store:
        run(options.store).save(options.output)
        return
    expected, seconds = uninterrupted()
    say(f"uninterrupted: {len(expected['results'])} results, {seconds:.1f} s")
    longest = seconds if options.longest is None else options.longest
    draw, n_kills, n_rounds = random.Random(options.seed), 0, 0
    while n_kills < options.kills:
        n_rounds += 1
        with tempfile.TemporaryDirectory() as folder:
            store, output = Path(folder) / "store", Path(folder) / "result.json"
            while (line := kill_once(store, output, longest, draw)) is not None:
                n_kills += 1
                say(f"kill {n_kills:2d}, round {n_rounds}: {line}")
                if n_kills >= options.kills:
                    start(store, output).wait()
                    break
            same = content(Comparison.load(output)) == expected
            say(f"round {n_rounds} ended; identical: {same}")
            if not same:
                raise SystemExit(1)
    say(f"{n_kills} kills in {n_rounds} rounds, every result identical")


if __name__ == "__main__":
    began = time.perf_counter()
    main()
    if "--store" not in sys.argv:
        say(f"{time.perf_counter() - began:.0f} s in all")
