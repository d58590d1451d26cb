"""Single samples: what each source said about the best, the worst and the least sure ones."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy as np

from .._component import Array
from ..displays._style import short
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_EACH = 2  # samples of every kind
_FEW = 3 * _EACH  # samples below which all are shown, and none is called the best


def samples_section(comparison: Comparison) -> Section | None:
    """Contributions of sources to the decisions about a few test samples."""
    if comparison.headline not in comparison.models:
        return None
    contributions = comparison.contributions()
    if contributions is None:
        return None
    from ..displays import ContributionsDisplay

    predictions = comparison.predictions()
    kinds, rows = _choose(*_judge(predictions, comparison.task))
    told = predictions.iloc[rows][["sample", "target", "prediction"]].astype({"sample": str})
    names = [f"{kind}: {name}" for kind, name in zip(kinds, told["sample"], strict=True)]
    axis, whole = _meaning(comparison)
    display = ContributionsDisplay(
        contributions.to_numpy()[rows],
        [str(name) for name in contributions.columns],
        constant=_constants(comparison)[rows],
        samples=names if any(kinds) else told["sample"],
        meaning=axis,
    ).plot()
    return Section(
        "Single samples",
        (
            f"What every source says about {_words(kinds)}. Together with a constant, which no "
            f"source accounts for, it adds up to {whole}.",
        ),
        table=_table(kinds, told, display.frame()),
        caption="Contributions of sources to decisions about test samples.",
        figure=display.figure_,
        alt="Bars of the contributions of each source and of the constant for a few test samples, "
        "with their sum; the table below has the same numbers.",
    )


def _table(kinds: list[str], told: Any, parts: Any) -> dict[str, list[Any]]:
    """What is known of every sample, what its sources say, the constant, and the sum of these."""
    table: dict[str, list[Any]] = {"kind": kinds} if any(kinds) else {}
    table |= {name: told[name].tolist() for name in told}
    *sources, constant, _ = parts.columns
    for j, source in enumerate(sources):
        name = _free_name(source, {*table, constant, "sum"})
        table[name] = parts.iloc[:, j].tolist()
    return table | {constant: parts.iloc[:, -2].tolist(), "sum": parts.iloc[:, -1].tolist()}


def _words(kinds: list[str]) -> str:
    """Which samples are shown."""
    if not any(kinds):
        return "every sample"
    doubt = ", and those in most doubt" if "in doubt" in kinds else ""
    return f"the samples that were predicted best and worst{doubt}"


def _constants(comparison: Comparison) -> Array:
    """The intercept in every decision, in the order of the contributions."""
    parts = [result["contributions"] for result in comparison._of(comparison.headline)]
    return np.concatenate([part["constant"] for part in parts if part is not None])


def _meaning(comparison: Comparison) -> tuple[str, str]:
    """What the sum of the contributions is, below an axis and in a sentence."""
    if comparison.task == "regression":
        return "prediction", "the prediction"
    classes = np.unique(comparison.targets).tolist()
    if len(classes) != 2:
        return "decision for the predicted class", "the decision for the class that is predicted"
    against, towards = (short(label) for label in classes)
    whole = f"the decision, which is positive for {classes[1]} and negative for {classes[0]}"
    return f"decision: ← {against} | {towards} →", whole


def _free_name(source: str, taken: Container[str]) -> str:
    """The name of a source, marked as one where a column has that name already."""
    while source in taken:
        source = f"source {source}"
    return source


def _judge(predictions: Any, task: str) -> tuple[Array, Array]:
    """How good every prediction is, and how doubtful."""
    if task == "regression":
        error = predictions["prediction"].to_numpy(float) - predictions["target"].to_numpy(float)
        return -np.abs(error), np.full(len(error), -np.inf)
    right = (predictions["prediction"].astype(str) == predictions["target"].astype(str)).to_numpy()
    columns = [name for name in predictions.columns if name.startswith("p(")]
    if not columns:
        return right.astype(float), np.full(len(right), -np.inf)
    p = np.sort(predictions[columns].to_numpy(float), axis=1)
    return np.where(right, p[:, -1], -p[:, -1]), -(p[:, -1] - p[:, -2])


def _choose(merit: Array, doubt: Array) -> tuple[list[str], list[int]]:
    """Kinds and positions of a few samples, none twice; of few samples all, without a kind."""
    if len(merit) < _FEW:
        return [""] * len(merit), list(range(len(merit)))
    order = np.argsort(-merit, kind="stable").tolist()
    chosen = {"best": order[:_EACH], "worst": order[::-1][:_EACH]}
    if np.isfinite(doubt).any():
        taken = {k for group in chosen.values() for k in group}
        doubtful = [k for k in np.argsort(-doubt, kind="stable").tolist() if k not in taken]
        chosen["in doubt"] = doubtful[:_EACH]
    pairs = [(kind, k) for kind, group in chosen.items() for k in group]
    return [kind for kind, _ in pairs], [k for _, k in pairs]
