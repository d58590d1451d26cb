"""The verdict: what a comparison means, in sentences that do not oversell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .insides import nearly_uniform
from .models import UNIFORM
from .statistics import practical_equivalence
from .tables import source_rows

if TYPE_CHECKING:
    from .results import Comparison

_SURE = 0.95  # probability from which on a difference is called one
_LIKELY = 0.8
_CERTAIN = 0.99  # above which folds, few as they are, cannot tell probabilities apart
_FEW = 5  # folds
_LITTLE = f"; fewer than {_FEW} folds say little about it"
_ENOUGH = 0.5  # of the samples of the source judged on most, for a source to be the best single one
_SHOWN = 4  # sources and failures


def write_verdict(result: Comparison) -> list[str]:
    """Sentences about combining, learned weights, sources and certainty."""
    if result.headline not in result.models:
        sentences = [f"Too little was done for a verdict: {result.headline} finished no fold."]
        return sentences + _reservations(result)
    sentences = [*_no_better(result), _combining(result), *_of_one_class(result)]
    sentences[0] = _so_far(result) + sentences[0]
    if result._n_common(result.headline, UNIFORM) > 1:
        sentences.append(_learned_weights(result))
    sentences += [*_sources(result), *_uniform_folds(result), *_many_kernels(result)]
    if (p := result.permutation_p_value) is not None:
        n = result.n_permutations
        sentences.append(
            f"The p-value of no relation at all is {p:.3g}, of {n} permutation{'s' * (n > 1)} of "
            f"the samples (the smallest possible is {1 / (n + 1):.3g})."
        )
    return sentences + _reservations(result)


def _so_far(result: Comparison) -> str:
    """What to read before a sentence about folds that are not all done."""
    n_done = int(np.isfinite(result.scores(result.headline)).sum())
    return f"So far, on {n_done} of {result.n_folds} folds: " * (n_done < result.n_folds)


def _no_better(result: Comparison) -> list[str]:
    """Whether the headline model predicts at all, however small the unit of the score is."""
    differences, n_train, n_test = result._above_constant()
    if len(differences) < 2:
        return []
    chance = practical_equivalence(differences, n_train, n_test, rope=0.0).better
    if chance > _SURE:
        return []
    known = np.isfinite(result.scores(result.headline))
    constant = f"a constant prediction, which reaches {np.mean(result.constant, where=known):.3f}"
    if differences.mean() <= 0:
        return [f"{result.headline} is no better than {constant}."]
    doubt = f"better with probability {chance:.2f}{_LITTLE if len(differences) < _FEW else ''}"
    return [f"{result.headline} is not clearly better than {constant} ({doubt})."]


def _uniform_folds(result: Comparison) -> list[str]:
    """On how many folds the weights say nothing, for they are nearly uniform."""
    weights = _weights(result)
    n_flat = sum(nearly_uniform(d) for d in weights)
    if not n_flat:
        return []
    return [
        f"On {n_flat} of {len(weights)} folds the chosen penalty leaves the weights nearly "
        "uniform: there they say little about sources."
    ]


def _many_kernels(result: Comparison) -> list[str]:
    """Whether there are more kernels than samples to learn their weights from."""
    learned = [r for r in result._of(result.headline) if r["weights"] is not None]
    n_kernels, n_train = max(((len(r["weights"]), r["n_train"]) for r in learned), default=(0, 0))
    if n_kernels <= n_train:
        return []
    return [
        f"{n_kernels} kernels were weighted on {n_train} training sample{'s' * (n_train > 1)}: "
        "single weights are not identifiable; those of sources and the uniform sum say more."
    ]


def _combining(result: Comparison) -> str:
    """Does the combination beat the best source alone, on the samples that have it?"""
    rivals = [_against(result, source) for source in result.sources if not _only(result, source)]
    known = [rival for rival in rivals if rival is not None]
    if not known:
        mean = float(np.nanmean(result.scores(result.headline)))
        return f"{result.headline} reaches {mean:.3f} ({result.scoring})."
    best = _best(known)
    figures = (
        f"{best.together:.3f} with {result.headline}, against {best.alone:.3f} for {best.name}, "
        "the best single source"
    )
    if best.n_samples < best.n_tested:
        figures += f", judged on the {best.n_samples} samples that have it"
    figures = f"{figures} ({result.scoring})"
    if best.n_folds < 2:
        return f"One fold says little: {figures}."
    same = result.equivalence(result.headline, best.name)
    if same.better > _SURE:
        return f"Combining sources helps: {figures}; better with {_chance(same.better)}."
    if same.worse > _SURE:
        return f"Combining sources hurts: {figures}; worse with {_chance(same.worse)}."
    if same.same > _LIKELY:
        equal = f"equal within {result.rope:g} with {_chance(same.same)}"
        return f"Combining sources makes no practical difference: {figures}; {equal}."
    chance = (
        f"better with probability {same.better:.2f}, equal within {result.rope:g} with "
        f"{same.same:.2f}, worse with {same.worse:.2f}"
    )
    if best.together < best.alone:
        return f"Combining sources does not seem to help: {figures}; {chance}."
    return f"It is not clear that combining sources helps: {figures}; {chance}."


def _chance(p: float) -> str:
    """A probability that is never said to be one."""
    return f"probability above {_CERTAIN}" if p > _CERTAIN else f"probability {p:.2f}"


class _Rival(NamedTuple):
    """A source alone and the combination, on the samples that have the source."""

    name: str
    together: float
    alone: float
    n_samples: int
    n_tested: int  # on the same folds, with the source or without
    n_folds: int


def _best(rivals: list[_Rival]) -> _Rival:
    """The source with the best score alone, of those that were judged often enough.

    A source that few samples have is good or bad by chance, as is one that a single fold could
    judge.
    """
    paired = [rival for rival in rivals if rival.n_folds > 1] or rivals
    enough = _ENOUGH * max(rival.n_samples for rival in paired)
    return max((r for r in paired if r.n_samples >= enough), key=lambda rival: rival.alone)


def _against(result: Comparison, source: str) -> _Rival | None:
    """The scores of a source alone and of the headline model on the folds that both did."""
    if not (alone := result._about("alone", source)):
        return None
    headline = result._of(result.headline)
    together = result._by_fold(headline, source)
    apart = result._by_fold(alone)
    if not (both := np.isfinite(together) & np.isfinite(apart)).any():
        return None
    judged, tested = (
        {i for result in results if both[result["fold"]] for i in result["test"]}
        for results in (alone, headline)
    )
    return _Rival(
        alone[0]["model"],
        float(together[both].mean()),
        float(apart[both].mean()),
        len(judged),
        len(tested),
        int(both.sum()),
    )


def _only(result: Comparison, source: str) -> list[Any]:
    """The class of the samples on which a source alone was judged, if it is one; else nothing."""
    judged = {i for r in result._about("alone", source) for i in r["test"]}
    if result.task != "classification" or not result.targets or not judged:
        return []
    classes = list({result.targets[i] for i in judged})
    return classes if len(classes) == 1 else []


def _of_one_class(result: Comparison) -> list[str]:
    """Which sources were judged on one class: who always says that is always right."""
    return [
        f"{source} alone is judged on samples of class {label!r} only, so its score says nothing."
        for source in result.sources
        for label in _only(result, source)
    ]


def _learned_weights(result: Comparison) -> str:
    """Do learned weights beat the plain sum?"""
    test = result.test(result.headline, UNIFORM)
    same = result.equivalence(result.headline, UNIFORM)
    interval = f"difference {test.mean:+.3f}, 95 % interval {test.low:+.3f} to {test.high:+.3f}"
    if test.low == test.high:
        interval = f"difference {test.mean:+.3f} on every fold, which gives no interval"
    if result._n_common(result.headline, UNIFORM) < _FEW:
        interval += _LITTLE
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


def _sources(result: Comparison) -> list[str]:
    """Which sources carry the prediction, and on how many folds none did?"""
    weights = _weights(result)
    n_none = sum(not any(d) for d in weights)
    if weights and n_none == len(weights):
        return ["No kernel got a weight on any fold, so no source can be said to matter."]
    sentence = _weight_and_cost(result)
    if not n_none:
        return [sentence]
    return [sentence, f"On {n_none} of {len(weights)} folds no kernel got a weight."]


def _weights(result: Comparison) -> list[Any]:
    """The weights of the headline model by fold, where it has any."""
    return [r["weights"] for r in result._of(result.headline) if r["weights"] is not None]


def _weight_and_cost(result: Comparison) -> str:
    """Where weight goes, and what leaving a source out costs."""
    rows = sorted(source_rows(result), key=lambda row: -row["share"])
    parts = [f"{row['source']} {row['share']:.0%}" for row in rows[:_SHOWN]]
    if others := rows[_SHOWN:]:
        rest = sum(row["share"] for row in others)
        name = others[0]["source"] if len(others) == 1 else f"{len(others)} others"
        parts.append(f"{name} {rest:.0%}")
    text = ", ".join(parts)
    sentence = f"Weight goes to {text}"
    known = [row for row in rows if np.isfinite(row["drop"])]
    if not known:
        return f"{sentence}."
    worst = max(known, key=lambda row: row["drop"])
    if worst["drop"] > 0:
        few = _LITTLE * (result.n_folds < _FEW)
        cost = f"{worst['drop']:.3f}, p = {worst['p_value']:.2g}{few}"
        return f"{sentence}; leaving out {worst['source']} costs most ({cost})."
    return f"{sentence}; leaving out any one source costs nothing."


def failure_sentence(failure: Mapping[str, Any]) -> str:
    """Which model failed, where and why; the fit to all samples belongs to no fold."""
    where = "" if failure["fold"] is None else f" on fold {failure['fold']}"
    return f"{failure['model']} failed{where}: {failure['error']}"


def _reservations(result: Comparison) -> list[str]:
    """What failed, and what is not there yet."""
    sentences = [failure_sentence(failure) for failure in result.failures[:_SHOWN]]
    if (n_more := len(result.failures) - _SHOWN) > 0:
        sentences.append(f"{n_more} more fits failed, see failures.")
    if not result.complete:
        sentences.append(
            f"Not every fold was done: these figures are preliminary{_spread(result)}."
        )
    return sentences


def _spread(result: Comparison) -> str:
    """How many folds models have done, where that differs."""
    n_done = [int(np.isfinite(result.scores(model)).sum()) for model in result.models]
    if not n_done or min(n_done) == max(n_done):
        return ""
    return (
        f". Models have done {min(n_done)} to {max(n_done)} of {result.n_folds} folds, so compare "
        "them by their differences, which are over folds that both did"
    )
