"""One task: choose constants by cross-validation on the training images, fit, and test."""

from __future__ import annotations

from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..._component import Array
from ...banks import PackedBank
from .arrangement import Arrangement
from .kernels import kernel_bank
from .models import METHODS, MODELS, Machine
from .splits import Index, Task, balanced_folds, train_and_test

N_FOLDS, N_REPEATS = 4, 2
CV_TOL, TOL = 1e-2, 1e-6  # relative duality gaps
_UNUSED = 1e-6  # a weight below this share of the largest is none


Scores = dict[str, list[float]]  # of every model, at its constants


class Choice(NamedTuple):
    """A model and one of its constants, with the mean accuracy of the folds."""

    model: str
    constant: float
    score: float


def compare(
    task: Task,
    distances: NDArray[np.float32],
    labels: NDArray[np.str_],
    arrangement: Arrangement,
    keep_weights: bool,
) -> dict[str, Any]:
    """Accuracy on the test images, choices and selected kernels of every method, as JSON has it."""
    train, test = train_and_test(task, labels)
    samples = np.sort(np.concatenate([train, test]))
    bank = kernel_bank(distances, arrangement, samples)
    y = np.where(labels[samples] == task.first, 1.0, -1.0)
    inner, outer = np.searchsorted(samples, train), np.searchsorted(samples, test)
    train_bank = bank.take(inner)
    scores = cross_validate(train_bank, y[inner], seed=crc32(task.key.encode()))
    machines: dict[tuple[str, float], Machine] = {}
    results = {}
    for method in METHODS:
        choice = choose(method, scores)
        key = choice.model, choice.constant
        if key not in machines:
            model = MODELS[choice.model]
            machines[key] = model.path(train_bank, y[inner], [choice.constant], TOL)[0]
        used = _used(machines[key].weights).reshape(arrangement.shape)
        results[method] = {
            "accuracy": _accuracy(machines[key], bank, y, inner, outer),
            "model": choice.model,
            "constant": choice.constant,
            "cv_accuracy": choice.score,
            "n_selected": used.sum(axis=(0, 1)).tolist(),
        }
        if keep_weights:
            results[method]["weights"] = _rounded(machines[key].weights)
    test_scores = {
        name: [
            _accuracy(machine, bank, y, inner, outer)
            for machine in model.path(train_bank, y[inner], model.constants, CV_TOL)
        ]
        for name, model in MODELS.items()
    }
    return {
        "n_test": len(outer),
        "methods": results,
        "cv_scores": scores,
        "test_scores": test_scores,  # to see what other choices would have given
    }


def cross_validate(bank: PackedBank, y: Array, seed: int) -> Scores:
    """Mean accuracies of repeated cross-validation."""
    totals = {name: np.zeros(len(model.constants)) for name, model in MODELS.items()}
    for fit, held in balanced_folds(y, N_FOLDS, N_REPEATS, seed):
        part = bank.take(fit)
        for name, model in MODELS.items():
            path = model.path(part, y[fit], model.constants, CV_TOL)
            totals[name] += [_accuracy(machine, bank, y, fit, held) for machine in path]
    return {name: (total / (N_FOLDS * N_REPEATS)).tolist() for name, total in totals.items()}


def choose(method: str, scores: Scores, strongest: bool = True) -> Choice:
    """The most accurate candidate of a method.

    Of equals it is the one with the strongest regularization, then that with the smallest λ; or,
    from the other end, that with the weakest, then the largest λ.
    """
    names = METHODS[method]
    candidates = [
        Choice(name, MODELS[name].constants[k], scores[name][k])
        for k in range(len(scores[names[0]]))
        for name in names
    ]
    in_order = candidates if strongest else candidates[::-1]
    return max(in_order, key=lambda choice: round(choice.score, 9))


def _accuracy(machine: Machine, bank: PackedBank, y: Array, fit: Index, held: Index) -> float:
    """The share of right signs on samples that were held out."""
    K = bank.combine(machine.weights)
    return float(np.mean((machine.decide(K[np.ix_(held, fit)]) > 0) == (y[held] > 0)))


def _used(weights: Array) -> NDArray[np.bool_]:
    return np.asarray(weights > _UNUSED * weights.max())


def _rounded(weights: Array) -> list[float]:
    return [float(f"{weight:.4g}") for weight in weights]
