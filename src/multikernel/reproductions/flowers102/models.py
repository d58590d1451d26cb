"""Models of the flowers, fitted to training and validation images, with scores of test images."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...regularizers import LpNorm, Uniform
from ..flowers17.methods import Array, Kernels, machine, regressor, signs, timed
from ..flowers17.studies import Study

SINGLE, MULTIPLE = "BMKL, single output", "BMKL, multiple output"
MACHINES: dict[str, tuple[Any, float | None]] = {
    "MKL, equal weights": (Uniform(), None),
    "MKL, p = 1": (LpNorm(1.0, form="ivanov"), 1.0),
    "MKL, p = 2": (LpNorm(2.0, form="ivanov"), 2.0),
}
_DIGITS = 6  # of a stored score
_TOL = 1e-5  # of the bound


def fit_machine(name: str, study: Study, Cs: tuple[float, ...]) -> dict[str, Any]:
    """MKL with C chosen on validation images, then fitted to both parts."""
    split = study.split
    inner = study.kernels(split.train, split.validation)
    found = [_scores(name, inner, study.y[split.train], C)[1] for C in Cs]
    hits = [np.mean(s.argmax(axis=1) == study.y[split.validation]) for s in found]
    C = Cs[int(np.argmax(hits))]
    kernels, y = _both(study)
    model, scores, seconds = _scores(name, kernels, y, C)
    return _result(model, scores, seconds.fit) | {"C": C, "note": f"gap {model.gap_:.0e}"}


def fit_bayes(study: Study, c: int | None, max_iter: int) -> dict[str, Any]:
    """One model of one class against the rest, or of all classes with the same kernel weights."""
    kernels, y = _both(study)
    Y = signs(y)
    extra = {"outputs": "shared_weights"} if c is None else {}
    model, scores, seconds = timed(
        lambda: regressor(max_iter, tol=_TOL, **extra).fit(
            kernels.train, Y if c is None else Y[:, c]
        ),
        lambda model: model.predict(kernels.query),
    )
    note = "converged" if model.converged_ else "not converged"
    return _result(model, scores, seconds.fit) | {"C": None, "note": note}


def _both(study: Study) -> tuple[Kernels, Array]:
    """Kernels of training and validation images together, and their classes."""
    train = np.concatenate([study.split.train, study.split.validation])
    return study.kernels(train, study.split.test), study.y[train]


def _scores(name: str, kernels: Kernels, y: Array, C: float) -> tuple[Any, Array, Any]:
    regularizer, p = MACHINES[name]
    return timed(
        lambda: machine(regularizer, p, C, len(kernels.names)).fit(kernels.train, y),
        lambda model: model.decision_function(kernels.query),
    )


def _result(model: Any, scores: Array, seconds: float) -> dict[str, Any]:
    sizes = np.atleast_2d(np.abs(model.weights_)).mean(axis=0)
    return {
        "scores": np.round(scores, _DIGITS).tolist(),
        "weights": (sizes / sizes.sum()).tolist(),
        "seconds": seconds,
        "n_iter": int(model.n_iter_),
    }
