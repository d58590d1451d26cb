"""The comparison that is killed and resumed: ``python resume_problem.py store output``."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from multikernel import ViewBundle, compare
from multikernel.comparison import Comparison
from multikernel.comparison.saving import without_infinities


def run(store: str | None) -> Comparison:
    """A small comparison, with a source that some samples lack, permutations and all roles."""
    rng = np.random.default_rng(5)
    X = {name: rng.normal(size=(30, 2)) for name in ("rna", "mri", "noise")}
    y = X["rna"][:, 0] + X["mri"][:, 1] + 0.3 * rng.normal(size=30)
    bundle = ViewBundle(X, present={"mri": rng.random(30) > 0.2})
    models = ["concatenated, linear", "alignment weights", "Bayesian"]
    return compare(bundle, y, kernels="linear", models=models, cv=3, n_permutations=1, store=store)


def content(result: Comparison) -> dict[str, Any]:
    """All that a comparison holds and says, as in a file, but how long it took."""
    fields = without_infinities(asdict(result) | {"verdict": result.verdict})  # NaN equals nothing
    return json.loads(json.dumps(fields), object_hook=_without_seconds)


def _without_seconds(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "seconds"}


def finished(store: Path) -> list[Path]:
    """The files of results; every one of them must be whole."""
    paths = [path for path in store.glob("*.json") if path.name != "plan.json"]
    for path in paths:
        json.loads(path.read_text(encoding="utf-8"))
    return paths


if __name__ == "__main__":
    run(sys.argv[1]).save(sys.argv[2])
