"""Accuracies, kernels and weights as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .arrangement import FAMILIES
from .comparison import Choice, Scores, choose
from .kernels import rate
from .models import ELASTIC, ELASTIC_CV, METHODS, MODELS
from .numbers import Numbers, mean_and_error
from .paper import N_OF_FAMILY, PROBLEM, SELECTED, SELECTED_BY_WIDTH
from .splits import Task

Table = dict[str, list[Any]]


def accuracy_table(numbers: Numbers) -> Table:
    """Mean accuracy and its standard error by problem, method and size."""
    table: Table = {"problem": [], "method": []} | {f"{size}": [] for size in numbers.sizes}
    for k, problem in enumerate(numbers.problems):
        for method in METHODS:
            table["problem"].append(problem)
            table["method"].append(method)
            for size, values in zip(numbers.sizes, numbers.accuracy[method][k], strict=True):
                mean, error = mean_and_error(100 * values)
                table[f"{size}"].append(f"{mean:.1f} ± {error:.1f}")
    return table


def count_table(numbers: Numbers) -> Table:
    """Kernels with weight by problem and method, beside the two counts that the paper prints."""
    table: Table = {"problem": [], "method": []}
    for family in FAMILIES:
        table |= {f"{family} (range)": [], f"paper: {family}": []}
    for k, problem in enumerate(numbers.problems):
        for method in METHODS:
            table["problem"].append(problem)
            table["method"].append(method)
            counts = numbers.n_selected(method, k)
            printed = problem == PROBLEM and method == ELASTIC
            for f, family in enumerate(FAMILIES):
                low, high = counts[:, f].min(), counts[:, f].max()
                table[f"{family} (range)"].append(f"{np.median(counts[:, f]):g} ({low}–{high})")
                note = f"{SELECTED[family]} of {N_OF_FAMILY}"
                table[f"paper: {family}"].append(note if printed else None)
    return table


def width_table(numbers: Numbers, problem: int, typical: Mapping[str, float]) -> Table:
    """Kernels of every width that the elastic net selects, beside those of the paper.

    The last column is what a kernel makes of the typical distance of its family: near one it calls
    all images the same, near zero it calls them all different.
    """
    names = ("family", "γ", "selected (mean)", "of", "paper", "typical k(x, x′)")
    table: Table = {name: [] for name in names}
    n_each = numbers.arrangement.shape[0] * numbers.arrangement.shape[1]
    for family in FAMILIES:
        counts = numbers.by_width(ELASTIC, problem, family).mean(axis=0)
        widths = numbers.arrangement.widths(family)
        printed = SELECTED_BY_WIDTH[family] if len(widths) == 10 else len(widths) * (None,)
        table["family"] += [family] * len(widths)
        table["γ"] += [float(width) for width in widths]
        table["selected (mean)"] += [float(count) for count in counts]
        table["of"] += [n_each] * len(widths)
        table["paper"] += list(printed)
        similar = [np.exp(-rate(family, width) * typical[family]) for width in widths]
        table["typical k(x, x′)"] += [f"{value:.2g}" for value in similar]
    return table


def factor_table(numbers: Numbers) -> Table:
    """Shares of the weight of the elastic net by descriptor, level of regions and family."""
    arrangement = numbers.arrangement
    table: Table = {"factor": [], "value": [], "equal shares": []}
    table |= {problem: [] for problem in numbers.problems}
    shares = [numbers.mean_weights(ELASTIC, k) for k in range(len(numbers.problems))]
    total = arrangement.n_kernels

    def add(factor: str, value: str, part: tuple[Any, ...]) -> None:
        table["factor"].append(factor)
        table["value"].append(value)
        table["equal shares"].append(f"{np.ones(arrangement.shape)[part].sum() / total:.1%}")
        for problem, weights in zip(numbers.problems, shares, strict=True):
            table[problem].append(f"{weights[part].sum():.1%}")

    for k, descriptor in enumerate(arrangement.descriptors):
        add("descriptor", descriptor, (k,))
    start = 0
    for level in arrangement.levels:
        part = slice(start, start + level**2)
        name = "whole image" if level == 1 else f"{level}×{level} cells"
        add("regions", name, (slice(None), part))
        start += level**2
    add("regions", "pyramid", (slice(None), -1))
    for k, family in enumerate(FAMILIES):
        add("family", family, (slice(None), slice(None), k))
    return table


def choice_table(results: Mapping[Task, Mapping[str, Any]]) -> Table:
    """What cross-validation promised and what came, and would have with the other end of ties."""
    table: Table = {"method": [], "cross-validation": [], "test": []}
    table["test, weakest of equals"] = []
    for method in METHODS:
        chosen = [result["methods"][method] for result in results.values()]
        weakest = [
            _score(result["test_scores"], choose(method, result["cv_scores"], strongest=False))
            for result in results.values()
        ]
        table["method"].append(method)
        table["cross-validation"].append(_percent([c["cv_accuracy"] for c in chosen]))
        table["test"].append(_percent([c["accuracy"] for c in chosen]))
        table["test, weakest of equals"].append(_percent(weakest))
    return table


def _score(scores: Scores, choice: Choice) -> float:
    return scores[choice.model][MODELS[choice.model].constants.index(choice.constant)]


def _percent(shares: list[float]) -> str:
    return f"{100 * np.mean(shares):.1f}"


def lambda_counts(results: Mapping[Task, Mapping[str, Any]]) -> dict[str, int]:
    """How often cross-validation chose every λ of the elastic net."""
    models = [result["methods"][ELASTIC_CV]["model"] for result in results.values()]
    return {name.split()[1]: models.count(name) for name in METHODS[ELASTIC_CV]}
