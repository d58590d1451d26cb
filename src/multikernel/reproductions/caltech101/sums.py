"""Plain sums of some of the kernels: what is worth what, whatever weights say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._component import Array
from ...banks import PackedBank
from ...losses import Logistic
from ...regularizers import Uniform
from .arrangement import CHI2, GAUSSIAN, Arrangement
from .kernels import kernel_bank
from .models import Convex
from .numbers import mean_and_error
from .splits import PROBLEMS, Task, train_and_test

_KEY = "sums of kernels, split "
_SMALLEST = 0.1  # width of both families
_DIFFERENT = 3.0  # a χ² kernel of this width, or more, calls all images different
_CONSTANT, _TOL = 1.0, 1e-4  # of the paper; its choice does not matter to a plain sum


def _narrow_gaussian(family: str, width: float) -> bool:
    return family == GAUSSIAN and width <= _SMALLEST


def _wide_chi2(family: str, width: float) -> bool:
    return family == CHI2 and width > _SMALLEST


ALL, KEPT, LEFT_OUT = "all", "kept by the elastic net", "left out by the elastic net"
IDENTITY, USEFUL = "of these, χ² with γ > 3", "of these, the others"
GROUPS: dict[str, Callable[[str, float], bool]] = {
    ALL: lambda family, width: True,
    KEPT: lambda family, width: _narrow_gaussian(family, width) or _wide_chi2(family, width),
    IDENTITY: lambda family, width: family == CHI2 and width > _DIFFERENT,
    USEFUL: lambda family, width: (
        _narrow_gaussian(family, width) or (_wide_chi2(family, width) and width <= _DIFFERENT)
    ),
    LEFT_OUT: lambda family, width: (
        not (_narrow_gaussian(family, width) or _wide_chi2(family, width))
    ),
}


def sum_key(split: int) -> str:
    """The name of the task of a split."""
    return f"{_KEY}{split}"


def is_sum_key(key: str) -> bool:
    """Whether a task is one of these."""
    return key.startswith(_KEY)


def members(group: str, arrangement: Arrangement) -> Array:
    """Weights of one for the kernels of a group, of zero for the others."""
    chosen = [GROUPS[group](family, width) for _, _, family, width in arrangement.names()]
    return np.array(chosen, dtype=np.float64)


def compare_sums(
    key: str,
    distances: NDArray[np.float32],
    labels: NDArray[np.str_],
    arrangement: Arrangement,
    sizes: Sequence[int],
) -> dict[str, Any]:
    """Accuracies of the sums of all groups, by problem and size, as JSON has it."""
    split = int(key.removeprefix(_KEY))
    weights = {group: members(group, arrangement) for group in GROUPS}
    accuracy: dict[str, list[list[float]]] = {group: [] for group in GROUPS}
    for problem in PROBLEMS:
        rows: dict[str, list[float]] = {group: [] for group in GROUPS}
        for size in sizes:
            train, test = train_and_test(Task(*problem, size, split), labels)
            bank = kernel_bank(distances, arrangement, np.concatenate([train, test]))
            y = np.where(labels[np.concatenate([train, test])] == problem[0], 1.0, -1.0)
            for group, d in weights.items():
                rows[group].append(_accuracy(bank.combine(d), y, len(train)))
        for group in GROUPS:
            accuracy[group].append(rows[group])
    return {"accuracy": accuracy}


def _accuracy(K: Array, y: Array, n: int) -> float:
    """The accuracy on all but the first n samples of a machine that is trained on these."""
    bank = PackedBank.from_grams([K[:n, :n]])
    machine = Convex(Logistic(), Uniform()).path(bank, y[:n], [_CONSTANT], _TOL)[0]
    return float(np.mean((machine.decide(K[n:, :n]) > 0) == (y[n:] > 0)))


def sum_table(
    results: Sequence[Mapping[str, Any]], arrangement: Arrangement
) -> dict[str, list[Any]]:
    """Mean accuracies of the sums of all groups by problem, over sizes and splits."""
    problems = [" vs ".join(problem) for problem in PROBLEMS]
    table: dict[str, list[Any]] = {name: [] for name in ("kernels", "number", *problems, "mean")}
    for group in GROUPS:
        values = 100 * np.array([result["accuracy"][group] for result in results])
        by_split = np.moveaxis(values, 0, -1)  # (problems, sizes, splits)
        table["kernels"].append(group.replace("the elastic net", "the elastic net of the paper"))
        table["number"].append(int(members(group, arrangement).sum()))
        for problem, part in zip(problems, by_split, strict=True):
            table[problem].append(f"{part.mean():.1f}")
        mean, error = mean_and_error(by_split)
        table["mean"].append(f"{mean:.1f} ± {error:.1f}")
    return table


def sum_finding(results: Sequence[Mapping[str, Any]], arrangement: Arrangement) -> str:
    """What the sums say about the zeros of the elastic net."""
    mean = {g: 100 * np.mean([result["accuracy"][g] for result in results]) for g in GROUPS}
    n = {group: int(members(group, arrangement).sum()) for group in GROUPS}
    return (
        "Not in the paper: what kernels are worth, whatever their weights. With uniform weights "
        f"the {n[LEFT_OUT]} kernels that the paper's elastic net leaves out reach "
        f"{mean[LEFT_OUT]:.1f} per cent, the {n[KEPT]} that it keeps {mean[KEPT]:.1f}; "
        f"{n[IDENTITY]} of these, to which all images are different, {mean[IDENTITY]:.1f}, the "
        f"other {n[USEFUL]} {mean[USEFUL]:.1f}."
    )
