"""Comparison: what every model did on every fold, and what follows from it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._component import Array
from ..files._errors import did_you_mean
from .insides import ACTIVE
from .models import HEADLINE
from .samples import class_weight_table, contribution_table, prediction_table
from .saving import read_content, write_content
from .statistics import Equivalence, TTest, corrected_t_test, practical_equivalence
from .tables import (
    CERTIFICATE_COLUMNS,
    MODEL_COLUMNS,
    SOURCE_COLUMNS,
    as_text,
    model_rows,
    source_rows,
)
from .verdict import write_verdict

_SHOWN = ("model", "alone")  # roles

Result = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """The outcome of :func:`multikernel.compare`.

    Attributes
    ----------
    task, scoring : str
    sources : list of str
    samples : dict
        How many samples have each source.
    n_samples, n_complete : int
        How many samples there are, and how many of them have every source.
    n_folds : int
        Outer folds, repeats included.
    results : list of dict
        One entry per finished model and fold: score, seconds, predictions, weights and the like.
        ``role`` is "model" for those that see all sources, "alone" and "without" for those that see
        one, or all but one, "permutation" for those fitted to permuted samples. A source alone is
        judged on the test samples that have it, and ``scores_having`` holds the scores of the
        others on these.
    rope : float
        Differences up to this size are taken for practically equal.
    headline : str
        The model whose weights are shown, chosen before any score was seen.
    complete : bool
        Whether every task was begun and ended, be it with a failure; not so after an interrupt or
        at the end of a time budget.
    failures : list of dict
        Model, fold and message of every fit that failed; the fold is None for the fit to all
        samples.
    plan : dict
        What was compared: settings, versions and a hash of the data.
    ids, targets : list
        Identity and target of every sample.
    whole : dict or None
        The headline model fitted to all samples: the course of its fit, which kernels say the
        same, and the columns that its linear kernels go by.
    overlap : list
        Pairs of sources and the number of samples that have exactly these.
    constant : list of float
        What a constant prediction, the most frequent class or the mean of the training part,
        scores on every fold.
    """

    task: str
    scoring: str
    sources: list[str]
    samples: dict[str, int]
    n_samples: int
    n_complete: int
    n_folds: int
    results: list[Result] = field(repr=False)
    rope: float = 0.01
    headline: str = HEADLINE
    complete: bool = True
    failures: list[dict[str, Any]] = field(default_factory=list, repr=False)
    plan: dict[str, Any] = field(default_factory=dict, repr=False)
    ids: list[Any] = field(default_factory=list, repr=False)
    targets: list[Any] = field(default_factory=list, repr=False)
    whole: dict[str, Any] | None = field(default=None, repr=False)
    overlap: list[Any] = field(default_factory=list, repr=False)
    constant: list[float] = field(default_factory=list, repr=False)

    @property
    def models(self) -> list[str]:
        """The models that finished at least one fold, in the order in which they were run.

        Sources alone are among them, models without a source are not.
        """
        return list(dict.fromkeys(r["model"] for r in self.results if r["role"] in _SHOWN))

    def scores(self, model: str) -> Array:
        """The scores of a model by fold, NaN for folds not done, shape (n_folds,).

        Those of a source alone are on the test samples that have it.
        """
        return self._by_fold(self._of(model))

    def test(self, first: str, second: str) -> TTest:
        """The corrected resampled t-test of one model against another, on the folds both did.

        A source alone and another model are compared on the test samples that have the source.
        """
        return corrected_t_test(*self._paired(self._of(first), self._of(second)))

    def equivalence(self, first: str, second: str) -> Equivalence:
        """Probabilities that the first model is worse, practically as good, or better."""
        paired = self._paired(self._of(first), self._of(second))
        return practical_equivalence(*paired, rope=self.rope)

    def frame(self) -> Any:
        """One row per model, best first, as a pandas DataFrame.

        ``samples`` is how many the model was judged on, for a source alone those that have it.
        ``difference`` is to the uniform sum on the same samples, with the p-value of the corrected
        t-test and the probabilities that the model is worse, practically as good, or better.
        """
        import pandas as pd

        return pd.DataFrame(model_rows(self), columns=MODEL_COLUMNS)

    def weights(self, model: str | None = None) -> Any:
        """Shares of the kernels in the weights of a model, a row per kernel, a column per fold."""
        import pandas as pd

        found = self._with_weights(model)
        columns = {f"fold {r['fold']}": r["weights"] for r in found}
        return pd.DataFrame(columns, index=found[0]["kernels"])

    def class_weights(self, model: str | None = None) -> Any:
        """Shares of the kernels class by class: a row per class and kernel, a column per fold.

        None where a model has one set of weights for all classes.
        """
        found = [r for r in self._with_weights(model) if r["class_weights"] is not None]
        return class_weight_table(self, found) if found else None

    def shares(self, model: str | None = None) -> Any:
        """Shares of the sources in the weights of a model, a row per source, a column per fold."""
        import pandas as pd

        found = self._with_weights(model)
        columns = {f"fold {r['fold']}": r["shares"] for r in found}
        return pd.DataFrame(columns, index=list(found[0]["shares"]))

    def stability(self, model: str | None = None) -> Any:
        """How firm the weights are: mean, sd and frequency of selection of every kernel."""
        import pandas as pd

        table = self.weights(model)
        used = table > ACTIVE * table.max()
        return pd.DataFrame(
            {"mean": table.mean(axis=1), "sd": table.std(axis=1), "selected": used.mean(axis=1)}
        )

    def importance(self) -> Any:
        """What every source is worth: a row per source, with the test of leaving it out.

        ``share`` is the part of the source in the weights of the headline model, ``permuted`` what
        its score loses, without a new fit, where the rows of the source are permuted among the test
        samples that have it, ``alone`` the score of the source by itself on these samples, ``drop``
        what the score loses in a fit without the source.
        """
        import pandas as pd

        return pd.DataFrame(source_rows(self), columns=SOURCE_COLUMNS)

    def predictions(self, model: str | None = None) -> Any:
        """Out-of-fold predictions of a model: a row per sample and repeat, as a DataFrame.

        Columns are ``sample`` (its id), ``fold``, ``target``, ``prediction`` and, for classifiers
        that have them, probabilities as ``p(label)``.
        """
        return prediction_table(self, self._of(model or self.headline))

    def certificates(self) -> Any:
        """How every fit ended: solver, relative duality gap, iterations and seconds.

        Missing where a model has none, such as a linear one or a Bayesian one.
        """
        import pandas as pd

        return pd.DataFrame(self.results, columns=CERTIFICATE_COLUMNS)

    def contributions(self, model: str | None = None) -> Any:
        """What every source adds to the decision about every test sample, as a DataFrame.

        A row per sample and repeat, labelled by ``sample``, ``fold`` and, for classes, the
        ``class`` that the decision is for: the second of two, or that which is predicted; a column
        per source. None for models other than the headline, of which this is not kept.
        """
        found = [r for r in self._of(model or self.headline) if r["contributions"] is not None]
        return contribution_table(self, found) if found else None

    @property
    def n_permutations(self) -> int:
        """On how many permutations of the samples all folds are done."""
        return len(self._permuted_scores())

    @property
    def permutation_p_value(self) -> float | None:
        """The share of permutations on which the headline model is as good as on the real samples.

        The real samples count as one of them, so that of N permutations the smallest value is
        1 / (N + 1). None where none were asked for, or not all folds of the real samples are done.
        """
        real = self.scores(self.headline) if self.headline in self.models else np.array([np.nan])
        permuted = self._permuted_scores()
        if not permuted or not np.isfinite(real).all():
            return None
        return float((1 + np.sum(np.array(permuted) >= real.mean())) / (1 + len(permuted)))

    @property
    def warnings(self) -> dict[str, list[str]]:
        """What models complained of while they were fitted."""
        found: dict[str, set[str]] = {}
        for result in self.results:
            found.setdefault(result["model"], set()).update(result["warnings"])
        return {model: sorted(texts) for model, texts in found.items() if texts}

    @property
    def verdict(self) -> list[str]:
        """Plain sentences: does combining help, do learned weights, which sources carry it?"""
        return write_verdict(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all of it as JSON."""
        return write_content(path, dict(vars(self)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Comparison:
        """Read what :meth:`save` has written: a file, or ``comparison.json`` in a folder."""
        return cls(**read_content(path))

    def __str__(self) -> str:
        return "\n".join([as_text(model_rows(self), self.scoring), "", *self.verdict])

    def _of(self, model: str) -> list[Result]:
        """The results of a model by fold."""
        found = [r for r in self.results if r["role"] in _SHOWN and r["model"] == model]
        if not found:
            hint, known = did_you_mean(str(model), self.models) or ".", "; ".join(self.models)
            raise ValueError(f"There is no result of {model!r}{hint} There are: {known or 'none'}.")
        return sorted(found, key=lambda result: result["fold"])

    def _about(self, role: str, source: str) -> list[Result]:
        """The results of a source alone, or of the headline model without it."""
        return [r for r in self.results if r["role"] == role and r["source"] == source]

    def _with_weights(self, model: str | None) -> list[Result]:
        name = model or self.headline
        found = [r for r in self._of(name) if r["weights"] is not None]
        if not found:
            raise ValueError(f"{name!r} has no kernel weights.")
        return found

    def _by_fold(self, found: Sequence[Result], having: str | None = None) -> Array:
        """Scores by fold, on all test samples or those that have a source."""
        out = np.full(self.n_folds, np.nan)
        for result in found:
            score = result["scores_having"].get(having, result["score"])
            out[result["fold"]] = np.nan if score is None else score
        return out

    def _paired(
        self, first: Sequence[Result], second: Sequence[Result]
    ) -> tuple[Array, float, float]:
        """Differences on the folds that both did, and the mean sizes of these folds.

        Both are judged on the same samples: where one is a source alone, on those that have it.
        """
        differences = self._by_fold(first, _source_alone(second))
        differences = differences - self._by_fold(second, _source_alone(first))
        return _known(differences, first)

    def _above_constant(self) -> tuple[Array, float, float]:
        """How far the headline model is above a constant, as :meth:`_paired` has it."""
        found = self._of(self.headline)
        constant = np.array(self.constant or [np.nan] * self.n_folds)
        return _known(self._by_fold(found) - constant, found)

    def _n_common(self, first: str, second: str) -> int:
        """On how many folds both can be compared."""
        if not {first, second} <= set(self.models):
            return 0
        return len(self._paired(self._of(first), self._of(second))[0])

    def _permuted_scores(self) -> list[float]:
        """The mean score on every permutation of which all folds are done."""
        by_seed: dict[int, list[float]] = {}
        for result in self.results:
            if result["role"] == "permutation":
                by_seed.setdefault(result["seed"], []).append(result["score"])
        return [float(np.mean(v)) for v in by_seed.values() if len(v) == self.n_folds]


def _source_alone(found: Sequence[Result]) -> str | None:
    """The source that a model sees alone, None where it sees others."""
    return found[0]["source"] if found and found[0]["role"] == "alone" else None


def _known(differences: Array, found: Sequence[Result]) -> tuple[Array, float, float]:
    """The differences of the folds that are done, and the mean sizes of these folds."""
    done = np.isfinite(differences)
    sizes = [(r["n_train"], r["n_test"]) for r in found if done[r["fold"]]]
    n_train, n_test = np.mean(sizes, axis=0) if sizes else (np.nan, np.nan)
    return differences[done], float(n_train), float(n_test)
