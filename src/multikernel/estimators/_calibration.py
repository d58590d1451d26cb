"""Calibration: from out-of-fold decisions to probabilities by one sigmoid per class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

from .._component import Array
from ..solvers import Problem, Solution, Solver
from ._folds import decisions, restrict, restrict_start

MAX_FOLDS = 3


def stratified_folds(
    codes: np.ndarray, random_state: int | np.random.RandomState | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Three folds (two where a class has only two samples) with all classes in each."""
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        raise ValueError(
            "calibrate=True needs at least 2 samples of every class, to predict one from the "
            "others; the smallest class has 1. Drop that class or use loss='logistic'."
        )
    folds = StratifiedKFold(min(MAX_FOLDS, smallest), shuffle=True, random_state=random_state)
    yield from folds.split(codes, codes)


def held_out_decisions(
    problem: Problem,
    solver: Solver,
    start: Solution,
    folds: list[tuple[np.ndarray, np.ndarray]],
) -> Array:
    """The decision of every sample by a model, with weights learned anew, that never saw its label.

    Scales and normalisations of the kernels, which no label enters, are those of all samples.
    """
    held_out = np.empty_like(problem.y)
    for train, test in folds:
        solution = solver.solve(restrict(problem, train), restrict_start(start, train))
        held_out[test] = decisions(problem.bank, [solution], train, test)[0]
    return held_out


def fit_sigmoid(
    decision: Array, positive: NDArray[np.bool_], sample_weight: Array
) -> tuple[float, float]:
    r"""Slope and offset of the probability of a class as a sigmoid of its decision.

    Notes
    -----
    Platt's method: :math:`p = 1 / (1 + e^{-(a f + c)})` of greatest likelihood for the smoothed
    targets :math:`(n_+ + 1)/(n_+ + 2)` and :math:`1/(n_- + 2)`, which keep the slope finite when
    the classes are separated.
    """
    n_positive, n_negative = sample_weight @ positive, sample_weight @ ~positive
    t = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    size = float(np.max(np.abs(decision))) or 1.0  # decisions of order one condition the problem
    f = decision / size

    def loss(parameters: Array) -> tuple[float, Array]:
        z = parameters[0] * f + parameters[1]
        residual = sample_weight * (expit(z) - t)
        value = sample_weight @ (np.logaddexp(0.0, z) - t * z)  # −Σ s (t log p + (1−t) log(1−p))
        return float(value), np.array([residual @ f, residual.sum()])

    start = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])
    slope, offset = minimize(loss, start, jac=True, method="BFGS").x
    return float(slope / size), float(offset)


def sigmoid_probabilities(decision: Array, sigmoids: Array) -> Array:
    """Probabilities of all classes from decisions of shape (n, n_outputs)."""
    return normalize_probabilities(expit(decision * sigmoids[:, 0] + sigmoids[:, 1]))


def normalize_probabilities(p: Array) -> Array:
    """Rows of sum one: from one column the pair (1 - p, p), from several their shares."""
    if p.shape[1] == 1:
        return np.hstack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    even = np.full_like(p, 1.0 / p.shape[1])
    return np.asarray(np.divide(p, total, out=even, where=total > 0))
