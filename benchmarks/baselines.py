"""What a user writes without an MKL library: a few lines around scikit-learn's SVC."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC
from workloads import Array, Workload

Machine = tuple[Array, Array, float]


def _fit_svc(w: Workload, d: Array, C: float, tol: float = 1e-3) -> Machine:
    N = len(w.y)
    svc = SVC(kernel="precomputed", C=C, tol=tol).fit((d @ w.flat).reshape(N, N), w.y)
    alpha = np.zeros(N)
    alpha[svc.support_] = svc.dual_coef_[0]
    return d, alpha, float(svc.intercept_[0])


def kloft_loop(w: Workload, C: float, tol: float, p: float = 2.0) -> Machine:
    """Lp-norm MKL by alternating SVC and the closed form of the weights (Kloft et al. 2011)."""
    d = np.full(len(w.K), len(w.K) ** (-1 / p))
    for _ in range(200):
        machine = _fit_svc(w, d, C, 1e-3 * tol)
        alpha = machine[1]
        G = w.flat @ np.outer(alpha, alpha).ravel()
        total = np.abs(alpha).sum()
        value, bound = total - d @ G / 2, total - np.linalg.norm(G, p / (p - 1)) / 2
        if value - bound <= tol * value:
            break
        d = (d**2 * G) ** (1 / (1 + p))  # d_m ∝ ‖f_m‖^(2/(1+p))
        d /= np.linalg.norm(d, p)
    return machine


def uniform(w: Workload, C: float, tol: float) -> Machine:
    """One SVC on equal weights of unit 2-norm."""
    return _fit_svc(w, np.full(len(w.K), len(w.K) ** -0.5), C, tol)


def alignment(w: Workload, C: float, tol: float) -> Machine:
    """One SVC on weights proportional to the alignment of each kernel with the centred labels."""
    target = w.y - w.y.mean()
    products = w.flat @ np.outer(target, target).ravel()
    norms = np.sqrt(np.einsum("mi,mi->m", w.flat, w.flat))
    d = np.maximum(products / norms, 0)
    return _fit_svc(w, d / np.linalg.norm(d), C, tol)


BASELINES = {
    "SVC, Kloft's l2 loop": kloft_loop,
    "SVC, alignment weights": alignment,
    "SVC, uniform weights": uniform,
}
