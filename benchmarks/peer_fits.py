"""One fit of another library, in its own environment: ``python peer_fits.py PEER FOLDER``.

The folder holds K.npy, K_test.npy, y.npy and y_test.npy; the answer is one line of JSON. Nothing
here imports multikernel.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from measure import run_once

Answer = tuple[Any, Any, Any]  # predictions on the test kernels, weights, dual coefficients


def himalaya(K: Any, y: Any, C: float) -> Callable[..., Any]:
    """Ridge regression on 20 random mixtures of kernels, 10 penalties and 5 folds."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    search = {"n_iter": 20, "alphas": np.logspace(-2, 3, 10), "progress_bar": False}
    model = MultipleKernelRidgeCV(
        kernels="precomputed", solver_params=search, fit_intercept=True, random_state=0
    ).fit(K, y)
    return lambda K_test: (model.predict(K_test), np.exp(model.deltas_).ravel(), None)


def multimodal(K: Any, y: Any, C: float) -> Callable[..., Any]:
    """Squared loss and weights in the l2 ball, by alternation, without intercept."""
    from multimodal.kernels.lpMKL import MKL

    model = MKL(lmbda=1 / C, kernel="precomputed").fit(dict(enumerate(K)), y)

    def answer(K_test: Any) -> Answer:
        f = model.decision_function(dict(enumerate(K_test)))
        return f, model.weights, model.C

    return answer


def mklpy(K: Any, y: Any, C: float, method: str) -> Callable[..., Any]:
    """A heuristic for the weights, then scikit-learn's SVC."""
    import torch
    from MKLpy import algorithms
    from sklearn.svm import SVC

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model = getattr(algorithms, method)(learner=SVC(C=C))
    model.fit(torch.from_numpy(K), torch.from_numpy(y))

    def answer(K_test: Any) -> Answer:
        f = model.decision_function(torch.from_numpy(K_test))
        weights = getattr(model.solution, "weights", None)
        return np.asarray(f), None if weights is None else np.asarray(weights), None

    return answer


FITS: dict[str, Callable[..., Callable[..., Any]]] = {
    "himalaya": himalaya,
    "scikit-multimodallearn": multimodal,
    "MKLpy EasyMKL": lambda *data: mklpy(*data, method="EasyMKL"),
    "MKLpy AverageMKL": lambda *data: mklpy(*data, method="AverageMKL"),
}


def main(peer: str, folder: Path, C: float) -> dict[str, Any]:
    """Fit, predict and report."""
    K, K_test, y, y_test = (
        np.load(folder / f"{name}.npy") for name in ("K", "K_test", "y", "y_test")
    )
    package = peer.split()[0]
    fit = FITS[peer]
    fit(K[:2, :40, :40].copy(), y[:40].copy(), C)  # imports and compiled parts are not timed
    run = run_once(lambda: fit(K, y, C))
    f, weights, alpha = run.result(K_test)
    f = np.ravel(f)
    labels = np.all(np.abs(y) == 1)
    row = {
        "version": version(package),
        "cpu": run.cpu,
        "wall": run.wall,
        "extra_bytes": run.extra_bytes,
        "score": float(
            np.mean(np.sign(f) == y_test)
            if labels
            else 1 - np.mean((y_test - f) ** 2) / np.var(y_test)
        ),
    }
    if weights is not None:
        row["active"] = int(np.sum(weights > 1e-6 * np.max(weights)))
    if alpha is not None:
        np.savez(folder / "machine.npz", weights=weights, alpha=np.ravel(alpha))
    return row


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))))
