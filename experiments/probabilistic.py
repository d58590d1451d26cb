"""Evidence, bounds, joint mode, MKL and the uniform sum: ``python experiments/probabilistic.py``.

What Tomioka and Suzuki (2010) and Nickisch and Seeger (2011) say of these objectives, on repeated
splits of six data sets. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from probabilistic_data import DATA, Array, Data, Index, Split, make_split
from probabilistic_table import calibration_error, coverage, report
from qmkl_table import replace_section
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from multikernel import ProbabilisticMKLClassifier, ProbabilisticMKLRegressor
from multikernel.bayes import first_state, natural_strength

_LOG = logging.getLogger("probabilistic")
_HERE = Path(__file__).resolve().parent
_SMALL = (20, 40)
_SHARE = 0.7  # of the samples, for training
_FACTORS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)  # of natural_strength
_FLOOR = 2e-8  # noise variance, relative to that of the targets, that is as good as none
_N_INNER = 3
_TOL = 1e-5  # stationarity
_USED = {"kernels": 1e-6, "kernels_large": 1e-2}  # of the largest weight


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--small", type=int, nargs="*", default=_SMALL, help="training samples")
    parser.add_argument("--data-dir", type=Path, help="folder of the data sets")
    parser.add_argument("--out", type=Path, default=_HERE / "results" / "probabilistic.csv")
    parser.add_argument("--docs", type=Path, help="page whose tables to write anew")
    return parser.parse_args(argv)


def main(options: argparse.Namespace) -> pd.DataFrame:
    """Run what is still missing and write tables."""
    frame = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1):
        for task in tasks(options):
            if not done(frame, *task):
                rows = run_task(DATA[task[0]](options.data_dir), *task)
                frame = pd.concat([frame, pd.DataFrame(rows)], ignore_index=True)
                frame.to_csv(options.out, index=False, float_format="%.6g")
                _LOG.info("%s, size %d, split %d", *task)
    text = report(frame[frame["data"].isin(options.data)])
    if options.docs:
        replace_section(options.docs, "tables", text)
    _LOG.info("\n%s", text)
    return frame


def tasks(options: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    """Data set, number of training samples (0 for a share of all) and split."""
    for size in (0, *options.small):
        for name in options.data:
            for split in range(options.splits):
                yield name, size, split


def done(frame: pd.DataFrame, name: str, size: int, split: int) -> bool:
    """Whether a task has its rows."""
    if frame.empty:
        return False
    found = (frame["data"] == name) & (frame["size"] == size) & (frame["split"] == split)
    return bool(found.any())


def run_task(data: Data, name: str, size: int, split: int) -> list[dict[str, Any]]:
    """The rows of all methods on one split."""
    train, test = divide(data, size or int(_SHARE * len(data.X)), split)
    kernels = make_split(data, train, test)
    head = {"data": name, "size": size, "split": split, "n_train": len(train)}
    head["n_kernels"] = len(kernels.train.names)
    return [head | {"method": method} | run_method(fit, kernels) for method, fit in METHODS.items()]


def divide(data: Data, n_train: int, seed: int) -> tuple[Index, Index]:
    """Training and test samples, classes in proportion."""
    kind = StratifiedShuffleSplit if data.labels else ShuffleSplit
    splitter = kind(n_splits=1, train_size=n_train, random_state=seed)
    return next(splitter.split(data.X, data.y if data.labels else None))


def run_method(fit: Callable[[Split], tuple[Any, Split]], split: Split) -> dict[str, Any]:
    """Fit and measure one method; its warnings are counted."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, split = fit(split)
    seconds = time.process_time() - began
    d = model.weights_
    return {
        **measures(model, split),
        **{name: int(np.sum(d > share * d.max())) for name, share in _USED.items()},
        "log_evidence": model.log_evidence_,
        "seconds": seconds,
        "no_noise": int(getattr(model, "noise_var_", 1.0) <= _FLOOR),
        "edge": getattr(model, "edge_", 0),
        "unsettled": sum(issubclass(w.category, ConvergenceWarning) for w in caught),
        "collapsed": sum(w.category.__name__ == "CollapseWarning" for w in caught),
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


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(arguments())
