"""What the paper says in words, and whether it holds here."""

from __future__ import annotations

import numpy as np

from ..._component import Array
from .arrangement import CHI2, GAUSSIAN
from .models import (
    BLOCK_1,
    ELASTIC,
    EVIDENCE,
    L2,
    METHODS,
    UNIFORM,
    UNIFORM_SQUARED,
)
from .numbers import Numbers, mean_and_error
from .paper import PROBLEM, SELECTED

_SPARSE = (BLOCK_1, EVIDENCE)
_DENSE = tuple(method for method in METHODS if method not in _SPARSE)
_COMPARABLE = 1.0  # points of accuracy
_SURE = 2.0  # standard errors


def findings(numbers: Numbers) -> list[str]:
    """One sentence for every statement of the paper."""
    problem = numbers.problems.index(PROBLEM)
    return [
        _dense_beat_sparse(numbers),
        _sparse_suffer_when_small(numbers),
        _comparable_when_large(numbers),
        _loss_matters_little(numbers),
        _half_of_the_kernels(numbers, problem),
        _widths(numbers, problem),
        _l2_resembles(numbers, problem),
        _evidence_is_sparse(numbers, problem),
    ]


def _says(statement: str, holds: bool, figures: str) -> str:
    return f"{statement}: {'holds' if holds else 'does not hold'} here. {figures}"


def _difference(numbers: Numbers, method: str, other: str, sizes: list[int]) -> tuple[float, float]:
    """Points of accuracy that a method is ahead of another, over all problems."""
    ahead = numbers.accuracy[method] - numbers.accuracy[other]
    return mean_and_error(100 * ahead[:, sizes])


def _dense_beat_sparse(numbers: Numbers) -> str:
    means = {method: 100 * float(numbers.accuracy[method].mean()) for method in METHODS}
    holds = min(means[m] for m in _DENSE) > max(means[m] for m in _SPARSE)
    best_first = sorted(means, key=lambda method: -means[method])
    listed = ", ".join(f"{method} {means[method]:.1f}" for method in best_first)
    return _says(
        "Uniform weights, the elastic net and the ℓ2-norm do better than the block 1-norm and "
        "empirical Bayes",
        bool(holds),
        f"Mean accuracy over all problems and sizes, in per cent: {listed}.",
    )


def _sparse_suffer_when_small(numbers: Numbers) -> str:
    parts, holds = [], True
    for method in _SPARSE:
        small, error = _difference(numbers, method, UNIFORM, numbers.small)
        large, large_error = _difference(numbers, method, UNIFORM, numbers.large)
        holds &= small < -_SURE * error and small < large
        parts.append(
            f"{method} {small:+.1f} ± {error:.1f} below 20 images per class and {large:+.1f} ± "
            f"{large_error:.1f} at {_listed(numbers, numbers.large)}"
        )
    return _says(
        "The block 1-norm and empirical Bayes are worse, especially below 20 images per class",
        holds,
        f"Points of accuracy relative to uniform weights: {'; '.join(parts)}.",
    )


def _listed(numbers: Numbers, places: list[int]) -> str:
    return " and ".join(str(numbers.sizes[k]) for k in places)


def _comparable_when_large(numbers: Numbers) -> str:
    problem = numbers.problems.index("cup vs ant")
    parts, holds = [], True
    for method in _SPARSE:
        ahead = numbers.accuracy[method] - numbers.accuracy[UNIFORM]
        mean, error = mean_and_error(100 * ahead[problem, numbers.large])
        holds &= mean > -max(_COMPARABLE, _SURE * error)
        parts.append(f"{method} {mean:+.1f} ± {error:.1f}")
    return _says(
        "On cup vs ant these two are as good as the others with many images (the paper: above 30)",
        holds,
        f"At {_listed(numbers, numbers.large)}, relative to uniform weights: {', '.join(parts)}.",
    )


def _loss_matters_little(numbers: Numbers) -> str:
    everywhere = list(range(len(numbers.sizes)))
    mean, error = _difference(numbers, UNIFORM, UNIFORM_SQUARED, everywhere)
    ahead = 100 * (numbers.accuracy[UNIFORM] - numbers.accuracy[UNIFORM_SQUARED]).mean(axis=2)
    problem, size = np.unravel_index(np.argmax(np.abs(ahead)), ahead.shape)
    return _says(
        "With uniform weights logistic and squared loss differ little",
        abs(mean) <= _COMPARABLE,
        f"On average by {mean:+.1f} ± {error:.1f} points, at most by {ahead[problem, size]:+.1f} "
        f"({numbers.problems[problem]}, {numbers.sizes[size]} per class).",
    )


def _half_of_the_kernels(numbers: Numbers, problem: int) -> str:
    gaussian, chi2 = np.median(numbers.n_selected(ELASTIC, problem), axis=0)
    share = (gaussian + chi2) / numbers.arrangement.n_kernels
    error = 100 * (numbers.accuracy[ELASTIC] - numbers.accuracy[UNIFORM])
    mean, spread = mean_and_error(error)
    return _says(
        "The elastic net is as accurate as uniform weights with half of the kernels, and prefers "
        "χ² kernels",
        bool(mean > -max(_COMPARABLE, _SURE * spread) and 0.4 < share < 0.6 and chi2 > gaussian),
        f"On {PROBLEM} it selects {gaussian:g} {GAUSSIAN} and {chi2:g} {CHI2} kernels (medians; "
        f"{SELECTED[GAUSSIAN]} and {SELECTED[CHI2]} in the paper), {share:.0%} of all, and over "
        f"all problems its accuracy is {mean:+.1f} ± {spread:.1f} points from that of uniform "
        "weights.",
    )


def _widths(numbers: Numbers, problem: int) -> str:
    gaussian = numbers.by_width(ELASTIC, problem, GAUSSIAN).mean(axis=0)
    chi2 = numbers.by_width(ELASTIC, problem, CHI2).mean(axis=0)
    n_each = numbers.arrangement.shape[0] * numbers.arrangement.shape[1]
    narrow = gaussian[0] / max(gaussian.sum(), 1e-9)
    return _says(
        "Its Gaussian kernels all have γ = 0.1, and its χ² kernels every γ but 0.1",
        bool(narrow > 0.95 and chi2[0] < 0.05 * n_each and chi2[1:].min() > 0.9 * n_each),
        f"On {PROBLEM} {narrow:.1%} of the {GAUSSIAN} kernels selected have γ = 0.1; of {n_each} "
        f"{CHI2} kernels of every width {chi2[0]:.1f} are selected at γ = 0.1 and "
        f"{chi2[1:].min():.1f} to {chi2[1:].max():.1f} at the larger ones.",
    )


def _l2_resembles(numbers: Numbers, problem: int) -> str:
    elastic, l2 = (numbers.weights[method][problem] for method in (ELASTIC, L2))
    shared = float(np.mean(np.sum(l2 * (elastic > 0), axis=1) / l2.sum(axis=1)))
    selected = float(np.mean(elastic > 0))
    used = np.median(numbers.n_selected(L2, problem).sum(axis=1))
    alike = _correlation(*(numbers.mean_weights(m, problem).ravel() for m in (ELASTIC, L2)))
    return _says(
        "The ℓ2-norm finds weights like those of the elastic net, but no zeros",
        bool(shared > 0.5 * (1 + selected) and used == numbers.arrangement.n_kernels),
        f"On {PROBLEM} it puts {shared:.0%} of its weight on the {selected:.0%} of kernels that "
        f"the elastic net selects, and uses {used:,.0f} of {numbers.arrangement.n_kernels:,}; "
        f"their mean weights correlate by {alike:.2f}.",
    )


def _correlation(a: Array, b: Array) -> float:
    """The correlation of two vectors, zero where one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), np.finfo(float).tiny))


def _evidence_is_sparse(numbers: Numbers, problem: int) -> str:
    n_used = {
        method: np.median(numbers.n_selected(method, problem).sum(axis=1)) for method in _SPARSE
    }
    block, evidence = (numbers.weights[method][problem] > 0 for method in _SPARSE)
    common = np.mean(np.sum(block & evidence, axis=1) / np.maximum(np.sum(block, axis=1), 1))
    return _says(
        "Empirical Bayes and the block 1-norm use very few kernels, and (slides) not all the same",
        bool(max(n_used.values()) < 0.05 * numbers.arrangement.n_kernels and common < 1.0),
        f"On {PROBLEM} they use {n_used[EVIDENCE]:g} and {n_used[BLOCK_1]:g} kernels (medians); "
        f"{common:.0%} of those of the block 1-norm are also those of empirical Bayes.",
    )
