"""Tables by sample or class: out-of-fold predictions, contributions of sources, class weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .results import Comparison, Result


def prediction_table(comparison: Comparison, found: Sequence[Result]) -> Any:
    """Id, fold, target, prediction and probabilities of every test sample."""
    import pandas as pd

    frames = [pd.DataFrame(_prediction_columns(comparison, r)) for r in found]
    return pd.concat(frames, ignore_index=True)


def contribution_table(comparison: Comparison, found: Sequence[Result]) -> Any:
    """What every source adds to the decision about every test sample."""
    import pandas as pd

    frames = []
    for result in found:
        kept, n = result["contributions"], len(result["test"])
        labels = {"sample": _ids(comparison, result), "fold": [result["fold"]] * n}
        if kept["classes"] is not None:
            labels["class"] = kept["classes"]
        rows = pd.MultiIndex.from_arrays(list(labels.values()), names=list(labels))
        frames.append(pd.DataFrame(kept["values"], index=rows, columns=kept["sources"]))
    return pd.concat(frames)


def class_weight_table(comparison: Comparison, found: Sequence[Result]) -> Any:
    """Shares of the kernels by class and fold."""
    import pandas as pd

    names = [_classes(comparison), found[0]["kernels"]]
    rows = pd.MultiIndex.from_product(names, names=["class", "kernel"])
    columns = {f"fold {r['fold']}": np.ravel(r["class_weights"]) for r in found}
    return pd.DataFrame(columns, index=rows)


def _prediction_columns(comparison: Comparison, result: Result) -> dict[str, Any]:
    columns = {
        "sample": _ids(comparison, result),
        "fold": result["fold"],
        "target": [comparison.targets[i] for i in result["test"]],
        "prediction": result["predictions"],
    }
    if result["confidence"] is not None:
        p = np.asarray(result["confidence"]).T
        columns |= {f"p({c})": p_c for c, p_c in zip(_classes(comparison), p, strict=True)}
    return columns


def _ids(comparison: Comparison, result: Result) -> list[Any]:
    return [comparison.ids[i] for i in result["test"]]


def _classes(comparison: Comparison) -> list[Any]:
    """Labels in the order of weights and probabilities."""
    return list(np.unique(comparison.targets).tolist())
