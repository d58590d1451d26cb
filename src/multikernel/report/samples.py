"""Single samples: what each source said about the best, the worst and the least sure ones."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy as np

from .._component import Array
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_EACH = 2  # samples of every kind


def samples_section(comparison: Comparison) -> Section | None:
    """Contributions of sources to the decisions about a few test samples."""
    if comparison.headline not in comparison.models:
        return None
    contributions = comparison.contributions()
    if contributions is None:
        return None
    from ..displays import ContributionsDisplay

    predictions = comparison.predictions()
    merit, doubt = _judge(predictions, comparison.task)
    chosen = _choose(merit, doubt)
    rows = [k for group in chosen.values() for k in group]
    kinds = [kind for kind, group in chosen.items() for _ in group]
    ids = [str(predictions["sample"][k]) for k in rows]
    values = contributions.to_numpy()[rows]
    display = ContributionsDisplay(
        values,
        [str(name) for name in contributions.columns],
        samples=[f"{kind}: {name}" for kind, name in zip(kinds, ids, strict=True)],
    ).plot()
    table: dict[str, list[Any]] = {
        "kind": kinds,
        "sample": ids,
        "target": [predictions["target"][k] for k in rows],
        "prediction": [predictions["prediction"][k] for k in rows],
    }
    if "class" in contributions.index.names:
        classes = contributions.index.get_level_values("class")
        table["in favour of"] = [classes[k] for k in rows]
    for j, source in enumerate(contributions.columns):
        table[_free_name(str(source), table)] = values[:, j].tolist()
    return Section(
        "Single samples",
        (
            "What every source adds to the decision about samples that were predicted best, worst "
            "and with most doubt; an intercept is added to their sum.",
        ),
        table=table,
        caption="Contributions of sources to decisions about test samples.",
        figure=display.figure_,
        alt="Bars of the contributions of each source for a few test samples; the table below has "
        "the same numbers.",
    )


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


def _choose(merit: Array, doubt: Array) -> dict[str, list[int]]:
    """Positions of a few samples of every kind, none twice."""
    order = np.argsort(-merit, kind="stable").tolist()
    n = min(_EACH, len(order) // 3) or 1
    chosen = {"best": order[:n], "worst": order[::-1][:n]}
    if np.isfinite(doubt).any():
        taken = {k for group in chosen.values() for k in group}
        doubtful = [k for k in np.argsort(-doubt, kind="stable").tolist() if k not in taken]
        chosen["in doubt"] = doubtful[:n]
    return chosen
