"""Conjugate Bayesian MKL beside the updates as printed: ``python benchmarks/bayesian.py``.

``Transcription`` is [G12]_ line by line in plain NumPy on square matrices, with the second moments
that two of the printed updates lack, so that both climb the same bound. It inverts where the paper
inverts. Both are timed in one process, in turns, with one thread.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from threadpoolctl import threadpool_limits

from multikernel.banks import PackedBank
from multikernel.bayes.conjugate import Design, Factors, Model, elbo
from multikernel.bayes.conjugate.model import Gamma, Intermediate, SampleWeights, Weights
from multikernel.bayes.conjugate.start import first_factors
from multikernel.bayes.conjugate.step import step
from multikernel.bayes.conjugate.sweep import kernel_sweep
from multikernel.bayes.conjugate.updates import update_a, update_lam, update_ups


class Transcription:
    """The single-output updates of the paper with all hyper-parameters at one."""

    def __init__(self, grams: np.ndarray, y: np.ndarray) -> None:
        self.K, self.y = grams, y
        self.M, self.n = len(grams), len(y)
        self.KK = np.sum([K @ K.T for K in grams], axis=0)
        M, n = self.M, self.n
        self.a, self.Sa = np.zeros(n), np.eye(n)
        self.G, self.Sg = np.repeat(y[None], M, axis=0), np.eye(M)
        self.be, self.Sbe = np.r_[0.0, np.full(M, 1.0 / M)], np.eye(M + 1)
        self.eps = (1.0, 1.0)

    def sweep(self) -> None:
        """All factors once, in the order of the paper."""
        K, y, n, M = self.K, self.y, self.n, self.M
        self.lam = (1.5, 1 / (1 + 0.5 * (self.a**2 + np.diag(self.Sa))))
        GG = self.G @ self.G.T + n * self.Sg
        aa = np.outer(self.a, self.a) + self.Sa
        KG = np.sum([K[m] @ self.G[m] for m in range(M)], axis=0)
        R = np.trace(GG) - 2 * self.a @ KG + np.sum(self.KK * aa)
        self.ups = (1 + 0.5 * n * M, 1 / (1 + 0.5 * R))
        ups, eps = self.ups[0] * self.ups[1], self.eps[0] * self.eps[1]
        self.Sa = np.linalg.inv(np.diag(self.lam[0] * self.lam[1]) + ups * self.KK)
        self.a = ups * self.Sa @ KG
        b, e = self.be[0], self.be[1:]
        ee = np.outer(e, e) + self.Sbe[1:, 1:]
        self.Sg = np.linalg.inv(ups * np.eye(M) + eps * ee)
        Ka = np.stack([K[m].T @ self.a for m in range(M)])
        pull = eps * (np.outer(e, y) - (b * e + self.Sbe[1:, 0])[:, None])
        self.G = self.Sg @ (ups * Ka + pull)
        GG = self.G @ self.G.T + n * self.Sg
        self.gam = (1.5, 1 / (1 + 0.5 * (b**2 + self.Sbe[0, 0])))
        self.omega = (1.5, 1 / (1 + 0.5 * np.diag(ee)))
        T = y @ y - 2 * y @ (e @ self.G + b) + np.sum(GG * ee)
        T += 2 * (b * e + self.Sbe[1:, 0]) @ self.G.sum(axis=1) + n * (b**2 + self.Sbe[0, 0])
        self.eps = (1 + 0.5 * n, 1 / (1 + 0.5 * T))
        eps, s = self.eps[0] * self.eps[1], self.G.sum(axis=1)
        P = np.block([[np.full((1, 1), n), s[None]], [s[:, None], GG]]) * eps
        P += np.diag(np.r_[self.gam[0] * self.gam[1], self.omega[0] * self.omega[1]])
        self.Sbe = np.linalg.inv(P)
        self.be = self.Sbe @ (eps * np.r_[y.sum(), self.G @ y])

    def bound(self) -> float:
        """The evidence bound, by the code of the library on these factors."""
        return elbo(self.factors(), Model(), self.y[None])

    def factors(self) -> Factors:
        """The same factors in the library's form."""
        s, V = np.linalg.eigh(self.Sg)
        Ka = np.stack([K @ self.a for K in self.K])
        a = SampleWeights(
            self.a[None],
            np.diag(self.Sa)[None],
            np.array([np.linalg.slogdet(self.Sa)[1]]),
            np.array([np.sum(self.KK * self.Sa)]),
            Ka[None],
        )
        be = Weights(
            self.be[None, 1:],
            self.Sbe[None, 1:, 1:],
            self.be[:1],
            self.Sbe[:1, 0],
            self.Sbe[:1, 1:],
            float(np.linalg.slogdet(self.Sbe)[1]),
        )
        return Factors(
            lam=_gamma(self.lam, (1, self.n)),
            ups=_gamma(self.ups, (1,)),
            gam=_gamma(self.gam, (1,)),
            omega=_gamma(self.omega, (1, self.M)),
            eps=_gamma(self.eps, (1,)),
            a=a,
            G=Intermediate(self.G[None], V, s[None]),
            be=be,
            f=self.y[None],
        )


def _gamma(pair: tuple[float, Any], shape: tuple[int, ...]) -> Gamma:
    return Gamma(np.full(shape, pair[0]), np.broadcast_to(pair[1], shape).astype(float))


def make_problem(n: int, M: int, L: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Centred RBF kernels of three widths on M features, and targets on two of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, M))
    grams = []
    for m in range(M):
        K = np.exp(-((X[:, m, None] - X[:, m]) ** 2) / (2 * (0.3, 1.0, 3.0)[m % 3] ** 2))
        K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
        grams.append(K * n / np.trace(K))
    Y = np.stack([np.sin(2 * X[:, o % M]) + 0.5 * X[:, 1] for o in range(L)])
    Y = Y + 0.2 * rng.normal(size=Y.shape)
    return np.stack(grams), (Y - Y.mean(1, keepdims=True)) / Y.std(1, keepdims=True)


def climb(call: Any, bound: Any, target: float, max_iter: int) -> tuple[float, int, list[float]]:
    """Seconds, iterations and bounds until the bound is within 1e-6 of a target."""
    spent = 0.0
    trace: list[float] = []
    while len(trace) < max_iter:
        began = time.process_time()
        call()
        spent += time.process_time() - began
        trace.append(bound())  # not timed for either
        if trace[-1] >= target - 1e-6 * abs(target):
            break
    return spent, len(trace), trace


class Plain:
    """The updates as printed, by the functions of the library: same path, same bounds."""

    def __init__(self, design: Design, y: np.ndarray) -> None:
        self.design, self.model, self.y = design, Model(), y
        self.q = first_factors(design, self.model, y)

    def __call__(self) -> None:
        """All factors once, in the order of the paper."""
        q, model = self.q, self.model
        q = replace(q, lam=update_lam(q, model))
        q = replace(q, ups=update_ups(q, model))
        q = replace(q, a=update_a(q, model, self.design))
        self.q = kernel_sweep(q, model, self.y)

    def bound(self) -> float:
        """The bound reached."""
        return elbo(self.q, self.model, self.y)


class Ours:
    """The iteration of the library, one call at a time."""

    def __init__(self, design: Design, model: Model, y: np.ndarray) -> None:
        self.design, self.model, self.y = design, model, y
        self.q, self.P, self.stride, self.n_iter = first_factors(design, model, y), None, 1.0, 0
        self.value = -np.inf

    def __call__(self) -> None:
        """One iteration with its safeguard, as in ``fit_conjugate``."""
        before, first = self.q, self.n_iter == 0
        args = (self.model, self.design, self.y, self.P)
        self.q, self.P = step(before, *args, stride=self.stride, first=first)
        new = elbo(self.q, self.model, self.y)
        if self.stride > 1 and not new > self.value:
            self.q, self.P = step(before, *args)
            new, self.stride = elbo(self.q, self.model, self.y), 1.0
        elif self.n_iter >= 5:
            self.stride = min(1.5 * self.stride, 20.0)
        self.value, self.n_iter = new, self.n_iter + 1

    def bound(self) -> float:
        """The bound reached."""
        return self.value


def single(n: int, M: int, iterations: int) -> None:
    """One output: time per iteration, and to the bound that the transcription reaches."""
    grams, Y = make_problem(n, M)
    theirs = Transcription(grams, Y[0])
    plain, _, trace = climb(theirs.sweep, theirs.bound, np.inf, iterations)
    design = Design.from_bank(PackedBank.from_grams(grams))
    same = Plain(design, Y)
    alike, n_alike, same_trace = climb(same, same.bound, np.inf, min(iterations, 20))
    ours = Ours(design, Model(), Y)
    spent, n_iter, _ = climb(ours, ours.bound, trace[-1], iterations)
    each, error = alike / n_alike, np.max(np.abs(np.subtract(same_trace, trace[:n_alike])))
    print(f"n = {n}, M = {M}, one output, from the same start")
    print(
        f"  transcription     {1e3 * plain / iterations:6.1f} ms/iteration, {iterations} to the end"
    )
    print(f"  the same updates  {1e3 * each:6.1f} ms/iteration, bounds equal to {error:.1e}")
    print(
        f"  fit_conjugate     {1e3 * spent / n_iter:6.1f} ms/iteration, {n_iter} to {trace[-1]:.4f}"
    )
    print(f"  last change of the transcription: {trace[-1] - trace[-2]:.1e}")
    print(
        f"  per iteration {plain / iterations / each:.2f}x (same updates), "
        f"{plain * n_iter / iterations / spent:.2f}x (fit_conjugate); total {plain / spent:.1f}x"
    )


def many(n: int, M: int, L: int, iterations: int) -> None:
    """Many outputs: time per iteration in factorisations and inverses."""
    grams, Y = make_problem(n, M, L)
    ours = Ours(Design.from_bank(PackedBank.from_grams(grams)), Model(), Y)
    times = []
    for _ in range(iterations):
        began = time.process_time()
        ours()
        times.append(time.process_time() - began)
    A = np.asfortranarray(ours.design.Q + np.eye(n))
    units = []
    for _ in range(5):
        began = time.process_time()
        dpotri(dpotrf(A, lower=True)[0], lower=True)
        units.append(time.process_time() - began)
    each, unit = np.median(times[1:]), L * min(units)
    print(
        f"n = {n}, M = {M}, {L} outputs: {each:.2f} s/iteration = {each / unit:.2f} x {unit:.2f} s"
    )


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--outputs", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=300)
    options = parser.parse_args()
    with threadpool_limits(1):
        single(options.n, options.kernels, options.iterations)
        if options.outputs:
            many(options.n, options.kernels, options.outputs, 8)


if __name__ == "__main__":
    main()
