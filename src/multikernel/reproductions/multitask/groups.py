"""Example 6: overlapping groups of neighbouring frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from ...estimators import MKLClassifierCV
from ...kernels import KernelSet
from ...report import Section
from .._text import spread
from .data import N_BANDS, Table

_WIDTH, _STEP = 10, 5
_TRAIN = 0.7
_SONAR = (
    "The sixty variables of the sonar data are energies in neighbouring frequency bands of one "
    "sweep, from low to high."
)
_DRAWN = "Sixty variables were drawn so that neighbours are alike, as frequencies of one sweep are."
COSTS = tuple(float(C) for C in np.geomspace(0.01, 10, 7))
DESIGNS: dict[str, dict[str, list[int]]] = {
    "overlapping bands": {
        f"{s + 1}-{s + _WIDTH}": list(range(s, s + _WIDTH))
        for s in range(0, N_BANDS - _WIDTH + 1, _STEP)
    },
    "separate bands": {
        f"{s + 1}-{s + _WIDTH}": list(range(s, s + _WIDTH)) for s in range(0, N_BANDS, _WIDTH)
    },
    "single frequencies": {f"{j + 1}": [j] for j in range(N_BANDS)},
    "all together": {"all": list(range(N_BANDS))},
}


def run_groups(sonar: Table, seed: int, n_folds: int) -> dict[str, Any]:
    """Fit linear kernels on every design of groups, with C by the rule of one standard error."""
    splitter = StratifiedShuffleSplit(1, train_size=_TRAIN, random_state=seed)
    train, test = next(splitter.split(sonar.X, sonar.y))
    scaler = StandardScaler().fit(sonar.X[train])
    X, Z = scaler.transform(sonar.X[train]), scaler.transform(sonar.X[test])
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, sonar.y[train]))
    out = {}
    for name, groups in DESIGNS.items():
        model = MKLClassifierCV(
            KernelSet(groups, "linear", normalize="trace"),
            loss="logistic",
            regularizer="lp",
            Cs=COSTS,
            cv=folds,
            selection="one_se",
        ).fit(X, sonar.y[train])
        used = used_columns(np.ravel(model.weights_), groups)
        out[name] = {
            "accuracy": float(model.score(Z, sonar.y[test])),
            "used": np.flatnonzero(used).tolist(),
            "n_groups": int(np.count_nonzero(model.weights_)),
        }
    return out


def used_columns(
    weights: NDArray[np.float64], groups: Mapping[str, Sequence[int]]
) -> NDArray[np.bool_]:
    """The columns of all groups of positive weight."""
    used = np.zeros(N_BANDS, dtype=bool)
    for d, columns in zip(weights, groups.values(), strict=True):
        used[list(columns)] |= d > 0
    return used


def n_runs(used: Sequence[int]) -> int:
    """The number of stretches without a hole.

    Examples
    --------
    >>> n_runs([3, 4, 5, 9])
    2
    """
    return sum(column - 1 not in used for column in used)


def stability(sets: Sequence[Sequence[int]]) -> float:
    """The mean overlap of pairs of selections, in both over in either."""
    pairs = [(set(a), set(b)) for a, b in combinations(sets, 2)]
    return float(np.mean([len(a & b) / max(len(a | b), 1) for a, b in pairs])) if pairs else 1.0


def summarize_groups(results: Sequence[dict[str, Any]], drawn: bool) -> tuple[list[str], Section]:
    """Accuracy, frequencies in use and their stability, by design."""
    name = "Drawn echoes" if drawn else "Sonar: mines against rocks"
    overlap = {name: stability([r[name]["used"] for r in results]) for name in DESIGNS}
    table: dict[str, list[Any]] = {
        "groups": list(DESIGNS),
        "number": [len(groups) for groups in DESIGNS.values()],
        "accuracy, %": [spread([100 * r[n]["accuracy"] for r in results]) for n in DESIGNS],
        "groups in use": [spread([r[n]["n_groups"] for r in results]) for n in DESIGNS],
        "frequencies in use": [spread([len(r[n]["used"]) for r in results]) for n in DESIGNS],
        "stretches": [spread([n_runs(r[n]["used"]) for r in results]) for n in DESIGNS],
        "stability": [f"{overlap[n]:.2f}" for n in DESIGNS],
    }
    text = (
        f"{_DRAWN if drawn else _SONAR} An echo may span several neighbours, and nobody knows "
        f"where it begins: groups of {_WIDTH} frequencies that begin at every {_STEP}th, so that "
        "all but the outermost are in two, follow it where separate groups would cut it.",
        "Linear kernels of unit mean diagonal under the block 1-norm, which is the latent group "
        "lasso with weights in the root of the group size; logistic loss; C is the smallest "
        "within one standard error of the best in cross-validation on training samples; "
        f"{len(results)} random splits, 70 % for training. Stability is the mean overlap of the "
        "frequencies in use between two splits.",
    )
    section = Section(
        "Overlapping bands of frequencies",
        text,
        table,
        f"{name}.",
        _figure(results),
        "How often each frequency is in use, by design of the groups",
    )
    return [_finding(name.partition(":")[0], results, overlap)], section


def _finding(data: str, results: Sequence[dict[str, Any]], overlap: Mapping[str, float]) -> str:
    def mean(name: str) -> str:
        accuracy = 100 * np.mean([r[name]["accuracy"] for r in results])
        runs = np.mean([n_runs(r[name]["used"]) for r in results])
        return f"{accuracy:.1f} % in {runs:.1f} stretches, stability {overlap[name]:.2f}"

    first, *others = list(DESIGNS)[:3]
    return (
        f"{data}: {first} reach {mean(first)}; " + "; ".join(f"{n} {mean(n)}" for n in others) + "."
    )


def _figure(results: Sequence[dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    from ...displays._style import PALETTE, legend, quiet_axes

    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    ax = figure.add_subplot()
    for k, name in enumerate(list(DESIGNS)[:3]):
        often = np.zeros(N_BANDS)
        for result in results:
            often[result[name]["used"]] += 1 / len(results)
        ax.step(np.arange(1, N_BANDS + 1), often, where="mid", color=PALETTE[k], label=name)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("frequency")
    ax.set_ylabel("share of splits")
    quiet_axes(ax, grid="y")
    legend(ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8)
    return figure
