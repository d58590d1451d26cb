"""The comparison that is killed and resumed: ``python resume_problem.py store output``."""

import sys

import numpy as np

from multikernel import ViewBundle, compare
from multikernel.comparison import Comparison


def run(store: str | None) -> Comparison:
    """A small comparison, with a source that some samples lack, permutations and all roles."""
    rng = np.random.default_rng(5)
    X = {name: rng.normal(size=(30, 2)) for name in ("rna", "mri", "noise")}
    y = X["rna"][:, 0] + X["mri"][:, 1] + 0.3 * rng.normal(size=30)
    bundle = ViewBundle(X, present={"mri": rng.random(30) > 0.2})
    models = ["concatenated, linear", "alignment weights", "Bayesian"]
    return compare(bundle, y, kernels="linear", models=models, cv=3, n_permutations=1, store=store)


if __name__ == "__main__":
    run(sys.argv[1]).save(sys.argv[2])
