"""The objectives compared, each fitted to one split and measured on its test samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from ..._warnings import listening
from ...bayes import first_state, natural_strength
from ...estimators import ProbabilisticMKLClassifier, ProbabilisticMKLRegressor
from .data import Array, Split

_FACTORS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)  # of natural_strength
_FLOOR = 2e-8  # noise variance, relative to that of the targets, that is as good as none
_N_INNER = 3
_TOL = 1e-5  # stationarity
_USED = {"kernels": 1e-6, "kernels_large": 1e-2}  # of the largest weight
_BINS = 10


def run_method(name: str, split: Split) -> dict[str, Any]:
    """Fit and measure one method; its warnings are counted."""
    began = time.process_time()
    with listening() as heard:
        model, split = METHODS[name](split)
    seconds = time.process_time() - began
    d = model.weights_
    return {
        **measures(model, split),
        **{key: int(np.sum(d > share * d.max())) for key, share in _USED.items()},
        "log_evidence": float(model.log_evidence_),
        "seconds": seconds,
        "no_noise": int(getattr(model, "noise_var_", 1.0) <= _FLOOR),
        "edge": getattr(model, "edge_", 0),
        "unsettled": sum(issubclass(w.category, ConvergenceWarning) for w in heard),
        "collapsed": sum(w.category.__name__ == "CollapseWarning" for w in heard),
    }


def measures(model: Any, split: Split) -> dict[str, float]:
    """Test error, log predictive density and calibration."""
    densities = model.log_predictive_density(split.test, split.y_test)
    both = {"lpd": float(np.mean(densities)), "lpd_median": float(np.median(densities))}
    if isinstance(model, ProbabilisticMKLClassifier):
        p = model.predict_proba(split.test)[:, 1]
        error = float(np.mean(model.predict(split.test) != split.y_test))
        return both | {"error": error, "calibration": calibration_error(split.y_test > 0, p)}
    residual = split.y_test - model.predict(split.test)
    inside = coverage(split.y_test, model.predict_interval(split.test, 0.9))
    return both | {"error": float(np.sqrt(np.mean(residual**2))), "calibration": inside}


def calibration_error(positive: Any, p: Any) -> float:
    """Expected calibration error: mean distance of frequency and probability in ten bins."""
    bins = np.minimum((p * _BINS).astype(int), _BINS - 1)
    gaps = [abs(np.sum(positive[bins == b]) - np.sum(p[bins == b])) for b in range(_BINS)]
    return float(np.sum(gaps) / len(p))


def coverage(y: Array, interval: Array) -> float:
    """The share of targets inside their intervals."""
    return float(np.mean((interval[..., 0] <= y) & (y <= interval[..., 1])))


def build(split: Split, objective: str = "bound", **parameters: Any) -> Any:
    """An estimator for the targets of a split, not yet fitted."""
    labels = bool(np.all(np.abs(split.y_train) == 1))
    if objective == "bound":
        objective = "vb" if labels else "evidence"
    kind = ProbabilisticMKLClassifier if labels else ProbabilisticMKLRegressor
    return kind("precomputed", objective=objective, normalize=None, tol=_TOL, **parameters)


def fit_plain(split: Split, **parameters: Any) -> tuple[Any, Split]:
    """An estimator fitted with given parameters."""
    return build(split, **parameters).fit(split.train, split.y_train), split


def fit_uniform(split: Split) -> tuple[Any, Split]:
    """The evidence of the mean of all kernels: scale and noise are all there is to learn."""
    return fit_plain(split.uniform())


def fit_tuned(split: Split) -> tuple[Any, Split]:
    """MKL whose strength has the best log predictive density in an inner cross-validation."""
    model, _ = fit_plain(split, objective="mkl")
    natural = natural_strength(model.problem_, 1.0, first_state(model.problem_).d)
    best = int(np.argmax([held_out(split, factor * natural) for factor in _FACTORS]))
    model, _ = fit_plain(split, objective="mkl", strength=_FACTORS[best] * natural)
    model.edge_ = int(best in (0, len(_FACTORS) - 1))
    return model, split


def held_out(split: Split, strength: float) -> float:
    """The mean log predictive density of MKL in an inner cross-validation."""
    labels = bool(np.all(np.abs(split.y_train) == 1))
    folds = (StratifiedKFold if labels else KFold)(_N_INNER, shuffle=True, random_state=0)
    scores: list[Array] = []
    rows = np.arange(len(split.y_train))
    for train, test in folds.split(rows, split.y_train if labels else None):
        model = build(split, "mkl", strength=strength).fit(split.train[train], split.y_train[train])
        scores.append(model.log_predictive_density(split.train[test], split.y_train[test]))
    return float(np.mean(np.concatenate(scores)))


METHODS: dict[str, Callable[[Split], tuple[Any, Split]]] = {
    "evidence or VB": fit_plain,
    "the same, gamma prior": lambda split: fit_plain(split, hyper_prior="gamma"),
    "joint MAP, jitter 0.1": lambda split: fit_plain(split, objective="map", jitter=0.1),
    "joint MAP, jitter 1": lambda split: fit_plain(split, objective="map", jitter=1.0),
    "MKL, default λ": lambda split: fit_plain(split, objective="mkl"),
    "MKL, λ by CV": fit_tuned,
    "uniform sum": fit_uniform,
}
