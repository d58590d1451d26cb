"""Tables of a comparison: models, sources, and the table of models in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .models import UNIFORM
from .statistics import corrected_t_test

if TYPE_CHECKING:
    from .results import Comparison, Result

AGAINST = ["difference", "p_value", "worse", "same", "better"]  # the uniform sum
MODEL_COLUMNS = ["model", "score", "sd", "folds", "samples", "kernels", "seconds", *AGAINST]
SOURCE_COLUMNS = ["source", "share", "permuted", "alone", "drop", "p_value"]
CERTIFICATE_COLUMNS = [
    "model",
    "role",
    "source",
    "fold",
    "solver",
    "gap",
    "converged",
    "n_iter",
    "seconds",
]


def model_rows(result: Comparison) -> list[dict[str, Any]]:
    """One row per model, best first; of equals those that ran first."""
    rows = [_model_row(result, model) for model in result.models]
    return sorted(rows, key=lambda row: -np.nan_to_num(row["score"], nan=-np.inf))


def _model_row(result: Comparison, model: str) -> dict[str, Any]:
    found = result._of(model)
    scores = np.array([r["score"] for r in found if r["score"] is not None])
    row = {
        "model": model,
        "score": _mean(scores),
        "sd": float(scores.std(ddof=1)) if len(scores) > 1 else np.nan,
        "folds": len(scores),
        "samples": len({i for r in found for i in r["test"]}),
        "kernels": _mean([r["n_active"] for r in found if r["n_active"] is not None]),
        "seconds": _mean([r["seconds"] for r in found]),
    }
    if model == UNIFORM or result._n_common(model, UNIFORM) < 2:
        return row | dict.fromkeys(AGAINST, np.nan)
    test, same = result.test(model, UNIFORM), result.equivalence(model, UNIFORM)
    return row | {"difference": test.mean, "p_value": test.p_value} | same._asdict()


def source_rows(result: Comparison) -> list[dict[str, Any]]:
    """One row per source: its weight, and what the score loses without it."""
    headline = result._of(result.headline) if result.headline in result.models else []
    return [_source_row(result, source, headline) for source in result.sources]


def _source_row(result: Comparison, source: str, headline: list[Result]) -> dict[str, Any]:
    alone, without = result._about("alone", source), result._about("without", source)
    learned = [r for r in headline if any(r["weights"] or ())] or headline
    row = {
        "source": source,
        "share": _mean([r["shares"][source] for r in learned if source in (r["shares"] or {})]),
        "permuted": _mean(
            [r["permuted"][source] for r in headline if source in (r["permuted"] or {})]
        ),
        "alone": _mean([r["score"] for r in alone if r["score"] is not None]),
    }
    paired = result._paired(headline, without)
    if len(paired[0]) < 2:
        return row | {"drop": np.nan, "p_value": np.nan}
    drop = corrected_t_test(*paired)
    return row | {"drop": drop.mean, "p_value": drop.p_value}


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def as_text(rows: Sequence[Mapping[str, Any]], scoring: str) -> str:
    """The table of models as it is printed; the numbers of folds and samples where they differ."""
    sizes = [name for name in ("folds", "samples") if len({row[name] for row in rows}) > 1]
    header = ["model", scoring, *sizes, "kernels", "seconds", "to uniform", "p"]
    lines = [header, *(_cells(row, sizes) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [first.ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        ).rstrip()
        for first, *rest in lines
    )


def _cells(row: Mapping[str, Any], sizes: Sequence[str]) -> list[str]:
    spread = "" if np.isnan(row["sd"]) else f" ± {row['sd']:.3f}"
    p = row["p_value"]
    return [
        " ".join(row["model"].split()),
        f"{_number(row['score'], '.3f')}{spread}",
        *(str(row[name]) for name in sizes),
        _number(row["kernels"], ".1f"),
        f"{row['seconds']:.2f}",
        _number(row["difference"], "+.3f"),
        "<0.01" if p < 0.01 else _number(p, ".2f"),
    ]


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)
