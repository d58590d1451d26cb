"""The workloads W0-W5: synthetic banks of kernels with fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Workload:
    """Gram matrices and targets; every kernel has a unit diagonal.

    Attributes
    ----------
    name : str
    K : array of shape (M, N, N)
    K_test : array of shape (M, N_test, N)
    y, y_test : arrays of shape (N,) and (N_test,)
        Labels in {-1, +1}, or real targets.
    """

    name: str
    K: Array
    K_test: Array
    y: Array
    y_test: Array

    @property
    def flat(self) -> Array:
        """The bank as a matrix of shape (M, N²)."""
        return self.K.reshape(len(self.K), -1)

    @property
    def labels(self) -> bool:
        """Whether the targets are labels."""
        return bool(np.all(np.abs(self.y) == 1))

    def score(self, d: Array, alpha: Array, b: float) -> float:
        """Held-out accuracy, or R² for real targets, of the machine (d, alpha, b)."""
        f = (self.K_test @ alpha).T @ d + b
        if self.labels:
            return float(np.mean(np.sign(f) == self.y_test))
        return float(1 - np.mean((self.y_test - f) ** 2) / np.var(self.y_test))


def squared_distances(A: Array, B: Array) -> Array:
    """Squared Euclidean distances between the rows of A and those of B."""
    D = (A * A).sum(1)[:, None] + (B * B).sum(1)[None] - 2 * A @ B.T
    return np.maximum(D, 0)


def chi2_distances(A: Array, B: Array) -> Array:
    """Chi-squared distances between histograms."""
    columns = zip(A.T[:, :, None], B.T[:, None, :], strict=True)
    return sum((a - b) ** 2 / (a + b + 1e-12) for a, b in columns)


def _median(D: Array) -> float:
    return float(np.median(D[np.triu_indices(len(D), 1)]))


def histograms(
    name: str, seed: int, N: int, n_test: int, groups: int, informative: int
) -> Workload:
    """Groups of histograms × {Gaussian, chi-squared} × 10 widths (Tomioka & Suzuki 2010)."""
    rng = np.random.default_rng(seed)
    dim, widths = 20, np.logspace(-1, 1.5, 10)
    y = np.where(rng.random(N + n_test) < 0.5, 1.0, -1.0)
    signal = rng.choice(groups, informative, replace=False)
    K, K_test = [], []
    for g in range(groups):
        base = rng.gamma(1.0, 1.0, dim) + 0.2
        shift = np.zeros(dim)
        if g in signal:
            shift = 0.17 * rng.normal(size=dim) * rng.uniform(0.6, 1.4)
        H = rng.gamma(base * np.exp(0.5 * y[:, None] * shift) * 3.0)
        H /= H.sum(1, keepdims=True)
        for distances in (squared_distances, chi2_distances):
            D = distances(H, H)
            for width in widths * _median(D[:N, :N]):
                kernel = np.exp(-D / width)
                K.append(kernel[:N, :N])
                K_test.append(kernel[N:, :N])
    return Workload(name, np.array(K), np.array(K_test), y[:N], y[N:])


def gaussian_kernels(X: Array, N: int, widths: Array) -> tuple[Array, Array]:
    """Gaussian kernels of each group X[g] at multiples of its median squared distance."""
    n_kernels, n = len(X) * len(widths), X.shape[1]
    K, K_test = np.empty((n_kernels, N, N)), np.empty((n_kernels, n - N, N))
    for g, features in enumerate(X):
        D = squared_distances(features[:N], features[:N])
        D_test = squared_distances(features[N:], features[:N])
        for m, width in enumerate(widths * _median(D), start=g * len(widths)):
            kernel = np.exp(-D / width)
            K[m] = 0.5 * (kernel + kernel.T)
            np.fill_diagonal(K[m], 1.0)
            np.exp(-D_test / width, out=K_test[m])
    return K, K_test


def classification(
    name: str, seed: int, N: int, n_test: int, groups: int, informative: int
) -> Workload:
    """Groups of 4 features × 5 widths; labels are noisy smooth functions of a few groups."""
    rng = np.random.default_rng(seed)
    n, dim, noise = N + n_test, 4, 0.35
    X = rng.normal(size=(groups, n, dim))
    f = np.zeros(n)
    for g in rng.choice(groups, informative, replace=False):
        W, b = rng.normal(size=(dim, 30)), rng.uniform(0, 2 * np.pi, 30)
        h = np.cos(X[g] @ W * 0.9 + b) @ rng.normal(size=30)
        f += h / h.std()
    f -= np.median(f)
    y = np.where(f + noise * f.std() * rng.normal(size=n) > 0, 1.0, -1.0)
    K, K_test = gaussian_kernels(X, N, np.logspace(-1, 1, 5))
    return Workload(name, K, K_test, y[:N], y[N:])


def regression(name: str, seed: int, N: int, n_test: int, groups: int) -> Workload:
    """One kernel per group of 5 features; five groups carry a smooth signal."""
    rng = np.random.default_rng(seed)
    n, dim, outputs = N + n_test, 5, 51  # of 51 outputs, mixed from all groups, the first is used
    X = rng.normal(size=(groups, n, dim))
    F = np.empty((groups, n, outputs))
    for g in range(groups):
        W, b = rng.normal(size=(dim, 60)), rng.uniform(0, 2 * np.pi, 60)
        F[g] = np.cos(X[g] @ W * 0.6 + b) @ rng.normal(size=(60, outputs))
        F[g] -= F[g, :N].mean(0)
        F[g] /= F[g, :N].std(0)
    mixture = np.zeros((groups, outputs))
    mixture[:5, 0] = [1, 0.8, 0.6, 0.5, 0.4]
    mixture[:, 0] = rng.permutation(mixture[:, 0])
    for t in range(1, outputs):
        chosen = rng.choice(groups, 4, replace=False)
        mixture[chosen, t] = rng.dirichlet(np.ones(4))
    mixture /= np.sqrt((mixture**2).sum(0))
    Y = np.einsum("gnt,gt->nt", F, mixture) + 0.7 * rng.normal(size=(n, outputs))
    y = (Y - Y[:N].mean(0))[:, 0]
    K, K_test = gaussian_kernels(X, N, np.ones(1))
    return Workload(name, K, K_test, y[:N], y[N:])


def curve(name: str, seed: int, N: int, n_test: int, n_kernels: int) -> Workload:
    """A noisy curve on the line, like the motorcycle data, with log-spaced widths."""
    rng = np.random.default_rng(seed)
    x, x_test = np.sort(rng.uniform(2.4, 57.6, N)), np.linspace(2.4, 57.6, n_test)
    y, y_test = _motorcycle(x, rng), _motorcycle(x_test, rng)
    mean, scale = y.mean(), y.std()
    s = np.logspace(np.log10(0.5), np.log10(60), n_kernels)[:, None, None]
    K, K_test = (np.exp(-((u[:, None] - x) ** 2) / (2 * s * s)) for u in (x, x_test))
    return Workload(name, K, K_test, (y - mean) / scale, (y_test - mean) / scale)


def _motorcycle(x: Array, rng: np.random.Generator) -> Array:
    bumps = ((-125, 21, 5), (70, 34, 6), (-12, 46, 5))  # height, centre, width
    mean = sum(h * np.exp(-(((x - c) / w) ** 2)) for h, c, w in bumps)
    scale = np.interp(x, [0, 13, 16, 25, 35, 60], [1.5, 2, 18, 25, 25, 14])
    return np.where(x < 14, 0, mean) + scale * rng.normal(size=len(x))


WORKLOADS: dict[str, partial[Workload]] = {
    "W0": partial(classification, "W0", 1, N=120, n_test=200, groups=4, informative=2),
    "W1": partial(histograms, "W1", 101, N=100, n_test=300, groups=88, informative=10),
    "W2": partial(classification, "W2", 202, N=1000, n_test=1000, groups=10, informative=3),
    "W3": partial(classification, "W3", 303, N=2000, n_test=500, groups=20, informative=4),
    "W4": partial(regression, "W4", 404, N=1000, n_test=1000, groups=20),
    "W5": partial(curve, "W5", 505, N=133, n_test=500, n_kernels=21),
}


def redraw(name: str, seed: int) -> Workload:
    """A workload drawn anew, with another seed."""
    make = WORKLOADS[name]
    return make.func(name, seed, **make.keywords)
