"""Sizes of model files against pickles of the same fitted models, on 500 samples and 20 kernels.

python benchmarks/model_files.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pickle
import platform
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import skops

import multikernel as mk

N, N_SOURCES, WIDTH = 500, 5, 20  # four kernels on each of five sources of twenty features


def make_data() -> tuple[Any, Any, Any]:
    """Samples, classes and numbers; the first two sources matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, N_SOURCES * WIDTH))
    signal = X[:, :3].sum(axis=1) + X[:, WIDTH : WIDTH + 3].sum(axis=1)
    return X, np.where(signal + rng.normal(size=N) > 0, "case", "control"), signal


def make_models() -> dict[str, Any]:
    """Models with few and with many kernels and samples in use."""
    kernels = {f"source {i}": slice(WIDTH * i, WIDTH * (i + 1)) for i in range(N_SOURCES)}
    sparse, dense = mk.LpNorm(1.0), mk.LpNorm(2.0)
    tube = {"loss": mk.EpsilonInsensitive(1.0), "regularizer": sparse}
    return {
        "MKLClassifier, hinge, sparse": mk.MKLClassifier(
            kernels, loss="hinge", regularizer=sparse, C=0.05
        ),
        "MKLClassifier, hinge, dense": mk.MKLClassifier(
            kernels, loss="hinge", regularizer=dense, C=0.05
        ),
        "MKLClassifier, logistic, dense": mk.MKLClassifier(kernels, regularizer=dense),
        "MKLRegressor, tube, sparse": mk.MKLRegressor(kernels, C=0.05, **tube),
        "MKLRegressor, squared, dense": mk.MKLRegressor(kernels, regularizer=dense),
        "MultiTaskMKLClassifier": mk.MultiTaskMKLClassifier(kernels, C=0.05),
        "ProbabilisticMKLRegressor": mk.ProbabilisticMKLRegressor(kernels, tol=1e-3),
        "ProbabilisticMKLClassifier": mk.ProbabilisticMKLClassifier(kernels, tol=1e-2),
        "BayesianMKLRegressor": mk.BayesianMKLRegressor(kernels, tol=1e-4),
        "BayesianMKLRegressor, pruned": mk.BayesianMKLRegressor(
            kernels, sparsity="both", prune=True, tol=1e-4
        ),
        "QSVC": mk.QSVC(C=0.05),
    }


def in_use(model: Any) -> tuple[str, str]:
    """Numbers of samples and kernels that predictions are computed with."""
    if not hasattr(model, "kernels_"):
        return "-", "-"
    n_kernels = sum(len(group.kernels) for group in model.kernels_.groups_)
    return str(len(model.kernels_.samples_)), str(n_kernels)


def main() -> None:
    """Print one row per model."""
    X, labels, numbers = make_data()
    versions = f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    print(f"Python {platform.python_version()}, {versions}, skops {skops.__version__}; sizes in kB")
    print(
        f"{'model':32s} {'samples':>8s} {'kernels':>8s} {'file':>9s} {'pickle':>9s} {'ratio':>6s}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        for name, model in make_models().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # loose tolerances do for sizes
                model.fit(X, numbers if "Regressor" in name else labels)
            mk.save_model(model, path)
            again, pickled = mk.load_model(path), len(pickle.dumps(model)) / 1e3
            if not np.array_equal(again.predict(X), model.predict(X)):
                raise RuntimeError(f"{name} predicts otherwise after loading")
            size = path.stat().st_size / 1e3
            numbers_in_use = "".join(f"{n:>9s}" for n in in_use(again))
            print(f"{name:32s}{numbers_in_use} {size:9.1f} {pickled:9.1f} {size / pickled:6.2f}")


if __name__ == "__main__":
    main()
