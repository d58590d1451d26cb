"""The models of a comparison side by side, on the same folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparison.models import UNIFORM
from ..comparison.verdict import failure_sentence
from .page import Cell, Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_MOST_ALONE = 12  # sources alone in the picture; the table has all


def models_section(comparison: Comparison) -> Section:
    """Scores, their differences to the uniform sum, and what went wrong."""
    failed = [failure_sentence(failure) for failure in comparison.failures]
    warned = [f"{model}: {' '.join(texts)}" for model, texts in comparison.warnings.items()]
    said = tuple(failed + warned)
    return Section(
        "Comparison",
        figure=_picture(comparison),
        alt="Scores of every model on every fold, and its difference to the uniform sum with an "
        "interval; the table below has the same numbers.",
        table=_table(comparison),
        caption=f"{_which_folds(comparison)}, best first: mean and standard deviation over folds, "
        "difference to the uniform sum with the p-value of the corrected test, and probabilities "
        f"of being worse, equal within {comparison.rope:g}, and better.",
        parts=(Section("What models complained of", said, folded=True),) if said else (),
    )


def _which_folds(comparison: Comparison) -> str:
    done = {len(comparison._of(model)) for model in comparison.models}
    return "All models on the same folds" if len(done) < 2 else "Every model on the folds it did"


def _table(comparison: Comparison) -> dict[str, list[Any]]:
    """Columns that say the same of every model are left out."""
    frame = comparison.frame()
    table: dict[str, list[Any]] = {
        "model": list(frame["model"]),
        comparison.scoring: [
            _spread(*pair) for pair in zip(frame["score"], frame["sd"], strict=True)
        ],
    }
    for name in ("folds", "samples"):
        if frame[name].nunique() > 1:
            table[name] = list(frame[name])
    table["kernels"] = [_fixed(value, ".1f") for value in frame["kernels"]]
    table["seconds"] = [_fixed(value, ".2f") for value in frame["seconds"]]
    table["difference"] = [_fixed(round(value, 12), "+.3f") for value in frame["difference"]]
    table["p"] = [_fixed(value, ".3f") for value in frame["p_value"]]
    for name in ("worse", "same", "better"):
        table[name] = [_fixed(value, ".2f") for value in frame[name]]
    return table


def _spread(mean: float, sd: float) -> Cell:
    if np.isnan(mean):
        return Cell("–")
    return Cell(f"{mean:.3f}" if np.isnan(sd) else f"{mean:.3f} ± {sd:.3f}", float(mean))


def _fixed(value: float, form: str) -> Cell:
    return Cell("–") if np.isnan(value) else Cell(format(value + 0.0, form), float(value))


def _picture(comparison: Comparison) -> Any:
    """Paired folds; None before the baseline has finished one."""
    from ..displays import ComparisonDisplay

    if UNIFORM not in comparison.models:
        return None
    ranked = list(comparison.frame()["model"])
    alone = {r["model"] for r in comparison.results if r["role"] == "alone"}
    best_alone = [model for model in ranked if model in alone][:_MOST_ALONE]
    shown = [model for model in ranked if model not in alone or model in best_alone]
    return ComparisonDisplay.from_comparison(comparison, models=shown).figure_
