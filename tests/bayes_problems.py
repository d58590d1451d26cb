"""Random small problems for the tests of Bayesian inference."""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import random_grams

from multikernel.banks import PackedBank
from multikernel.bayes import BayesProblem, Inference
from multikernel.likelihoods import Likelihood


def make_bayes_problem(
    likelihood: Likelihood,
    *,
    n: int = 25,
    M: int = 4,
    n_outputs: int = 1,
    noise: float = 0.5,
    seed: int = 0,
    grams: np.ndarray | None = None,
    n_signal: int | None = None,
    **settings: Any,
) -> BayesProblem:
    """Targets of the model itself, in which some kernels count, by default the first half."""
    rng = np.random.default_rng(seed)
    Ks = random_grams(rng, n, M) if grams is None else np.asarray(grams)
    signal = Ks[: n_signal or (len(Ks) + 1) // 2].sum(axis=0)
    values, vectors = np.linalg.eigh(signal)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    u = 1.5 * root @ rng.normal(size=(n, n_outputs))
    if likelihood.y_domain == "sign":
        y = np.where(rng.random(u.shape) < 1 / (1 + np.exp(-2 * u)), 1.0, -1.0)
        y[0] = -y[1]  # both classes, however few samples
    else:
        y = 1.0 + u + noise * rng.standard_t(5, size=u.shape)
    return BayesProblem(PackedBank.from_grams(Ks), y, likelihood, **settings)


def degenerate_grams(kind: str) -> np.ndarray:
    """Kernels that a careless method divides by zero with."""
    rng = np.random.default_rng(7)
    Ks = random_grams(rng, 2 if kind == "two samples" else 12, 3)
    if kind == "duplicated":
        return np.concatenate([Ks, Ks[:2]])
    if kind == "zero kernel":
        return np.concatenate([Ks, 0 * Ks[:1]])
    if kind == "constant kernel":
        return np.concatenate([Ks, np.ones_like(Ks[:1])])
    if kind == "one kernel":
        return Ks[:1]
    return Ks


DEGENERATE = ("duplicated", "zero kernel", "constant kernel", "one kernel", "two samples")


def largest_rise(inference: Inference) -> float:
    """The largest rise of the objective from one iteration to the next, relative to it."""
    objective = inference.history["objective"]
    rises = np.diff(objective) / np.maximum(np.abs(objective[1:]), 1.0)
    return float(np.max(rises, initial=-np.inf))
