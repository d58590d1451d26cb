"""One fit, timed: the unit of cost is a pass over all kernels."""

from __future__ import annotations

import time

import numpy as np


def time_one_fit(n_samples: int, n_sources: int = 5, random_state: int = 0) -> dict[str, float]:
    """Seconds and bank passes of one elastic-net fit to simulated sources.

    Parameters
    ----------
    n_samples : int
    n_sources : int, default=5
        Sources, with four kernels each.
    random_state : int, default=0
    """
    from .. import MKLClassifier, ViewBundle

    rng = np.random.default_rng(random_state)
    X = ViewBundle({f"source {m}": rng.normal(size=(n_samples, 10)) for m in range(n_sources)})
    y = X.block("source 0")[:, 0] + rng.normal(size=n_samples) > 0
    began = time.perf_counter()
    model = MKLClassifier(tol=1e-4).fit(X, y)
    seconds = time.perf_counter() - began
    history = model.solution_.history
    return {
        "samples": n_samples,
        "kernels": len(model.weights_),
        "seconds": seconds,
        "solver seconds": float(history["seconds"][-1]),
        "passes": float(history["n_passes"][-1]),
        "relative gap": float(model.gap_),
    }
