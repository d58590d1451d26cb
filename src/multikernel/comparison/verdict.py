"""The verdict: what a comparison means, in sentences that do not oversell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .models import UNIFORM
from .tables import source_rows

if TYPE_CHECKING:
    from .results import Comparison

_SURE = 0.95  # probability from which on a difference is called one
_LIKELY = 0.8
_FEW = 5  # folds
_SHOWN = 4  # sources and failures


def write_verdict(result: Comparison) -> list[str]:
    """Sentences about combining, learned weights, sources and certainty."""
    if result.headline not in result.models:
        sentences = [f"Too little was done for a verdict: {result.headline} finished no fold."]
        return sentences + _reservations(result)
    sentences = [_combining(result)]
    if result._n_common(result.headline, UNIFORM) > 1:
        sentences.append(_learned_weights(result))
    sentences.append(_sources(result))
    if (p := result.permutation_p_value) is not None:
        n = result.n_permutations
        sentences.append(
            f"The p-value of no relation at all is {p:.3g}, of {n} permutation{'s' * (n > 1)} of "
            f"the samples (the smallest possible is {1 / (n + 1):.3g})."
        )
    return sentences + _reservations(result)


def _combining(result: Comparison) -> str:
    """Does the combination beat the best source alone, on the samples that have it?"""
    rivals = [_against(result, source) for source in result.sources]
    known = [rival for rival in rivals if rival is not None]
    if not known:
        mean = float(np.nanmean(result.scores(result.headline)))
        return f"{result.headline} reaches {mean:.3f} ({result.scoring})."
    best = min(known, key=lambda rival: rival.together - rival.alone)
    figures = (
        f"{best.together:.3f} against {best.alone:.3f} for {best.name}, the best single source"
    )
    if best.n_samples < result.n_samples:
        figures += f", on the {best.n_samples} samples that have it"
    figures = f"{figures} ({result.scoring})"
    if result._n_common(result.headline, best.name) < 2:
        return f"So far: {figures}."
    same = result.equivalence(result.headline, best.name)
    if same.better > _SURE:
        return f"Combining sources helps: {figures}."
    if same.worse > _SURE:
        return f"Combining sources hurts: {figures}."
    if same.same > _LIKELY:
        return f"Combining sources makes no practical difference: {figures}."
    return (
        f"It is not clear that combining sources helps: {figures}; better with probability "
        f"{same.better:.2f}."
    )


class _Rival(NamedTuple):
    """A source alone and the combination, on the samples that have the source."""

    name: str
    together: float
    alone: float
    n_samples: int


def _against(result: Comparison, source: str) -> _Rival | None:
    """The scores of a source alone and of the headline model on the folds that both did."""
    if not (alone := result._about("alone", source)):
        return None
    together = result._by_fold(result._of(result.headline), source)
    apart = result._by_fold(alone)
    if not (both := np.isfinite(together) & np.isfinite(apart)).any():
        return None
    n_samples, name = result.samples[source], alone[0]["model"]
    return _Rival(name, float(together[both].mean()), float(apart[both].mean()), n_samples)


def _learned_weights(result: Comparison) -> str:
    """Do learned weights beat the plain sum?"""
    test = result.test(result.headline, UNIFORM)
    same = result.equivalence(result.headline, UNIFORM)
    interval = f"difference {test.mean:+.3f}, 95 % interval {test.low:+.3f} to {test.high:+.3f}"
    if result._n_common(result.headline, UNIFORM) < _FEW:
        interval += "; fewer than 5 folds say little about it"
    if same.better > _SURE:
        return f"Learned weights beat the uniform sum ({interval})."
    if same.worse > _SURE:
        return f"Learned weights do worse than the uniform sum here ({interval}); use the sum."
    if same.same > _LIKELY:
        return f"Learned weights and the uniform sum are practically equal here ({interval})."
    return (
        f"Learned weights do not clearly beat the uniform sum here ({interval}; better with "
        f"probability {same.better:.2f}, equal within {result.rope:g} with {same.same:.2f})."
    )


def _sources(result: Comparison) -> str:
    """Which sources carry the prediction, by weight and by what leaving them out costs?"""
    rows = sorted(source_rows(result), key=lambda row: -row["share"])
    text = ", ".join(f"{row['source']} {row['share']:.0%}" for row in rows[:_SHOWN])
    sentence = f"Weight goes to {text}"
    known = [row for row in rows if np.isfinite(row["drop"])]
    if not known:
        return f"{sentence}."
    worst = max(known, key=lambda row: row["drop"])
    if worst["drop"] > 0:
        return f"{sentence}; leaving out {worst['source']} costs most ({worst['drop']:.3f})."
    return f"{sentence}; leaving out any one source costs nothing."


def _reservations(result: Comparison) -> list[str]:
    """What failed, and what is not there yet."""
    sentences = [
        f"{failure['model']} failed on fold {failure['fold']}: {failure['error']}"
        for failure in result.failures[:_SHOWN]
    ]
    if (n_more := len(result.failures) - _SHOWN) > 0:
        sentences.append(f"{n_more} more fits failed, see failures.")
    if not result.complete:
        sentences.append("Not every fold was done: these figures are preliminary.")
    return sentences
