"""Comparison: what every model did on every fold, and what follows from it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import write_atomically
from .._component import Array
from .models import HEADLINE, UNIFORM
from .statistics import Equivalence, TTest, corrected_t_test, practical_equivalence
from .verdict import write_verdict

_COLUMNS = ["model", "score", "sd", "folds", "kernels", "seconds"]
_AGAINST = ["difference", "p_value", "worse", "same", "better"]  # the uniform sum
_SELECTED = 1e-6  # of the largest weight

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
        one, or all but one, "permutation" for those fitted to permuted samples.
    rope : float
        Differences up to this size are taken for practically equal.
    headline : str
        The model whose weights are shown, chosen before any score was seen.
    complete : bool
        Whether every task was done; not so after an interrupt, a failure, or at the end of a time
        budget.
    failures : list of dict
        Model, fold and message of every fit that failed.
    plan : dict
        What was compared: settings, versions and a hash of the data.
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

    @property
    def models(self) -> list[str]:
        """The models that finished at least one fold, in the order in which they were run.

        Sources alone are among them, models without a source are not.
        """
        shown = (r["model"] for r in self.results if r["role"] in ("model", "alone"))
        return list(dict.fromkeys(shown))

    def scores(self, model: str) -> Array:
        """The scores of a model by fold, NaN for folds not done, shape (n_folds,)."""
        return self._by_fold(self._of(model))

    def test(self, first: str, second: str) -> TTest:
        """The corrected resampled t-test of one model against another, on the folds both did."""
        return corrected_t_test(*self._paired(self._of(first), self._of(second)))

    def equivalence(self, first: str, second: str) -> Equivalence:
        """Probabilities that the first model is worse, practically as good, or better."""
        paired = self._paired(self._of(first), self._of(second))
        return practical_equivalence(*paired, rope=self.rope)

    def frame(self) -> Any:
        """One row per model, best first, as a pandas DataFrame.

        ``difference`` is to the uniform sum, with the p-value of the corrected t-test and the
        probabilities that the model is worse, practically as good, or better.
        """
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=[*_COLUMNS, *_AGAINST])

    def weights(self, model: str | None = None) -> Any:
        """Shares of the kernels in the weights of a model, a row per kernel, a column per fold."""
        import pandas as pd

        found = self._with_weights(model)
        columns = {f"fold {r['fold']}": r["weights"] for r in found}
        return pd.DataFrame(columns, index=found[0]["kernels"])

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
        used = table > _SELECTED * table.max()
        return pd.DataFrame(
            {"mean": table.mean(axis=1), "sd": table.std(axis=1), "selected": used.mean(axis=1)}
        )

    def importance(self) -> Any:
        """What leaving a source out costs: a row per source, with the test of the difference.

        ``share`` is the part of the source in the weights, ``alone`` its score by itself, ``drop``
        what the score of the headline model loses without it.
        """
        import pandas as pd

        columns = ["source", "share", "alone", "drop", "p_value"]
        return pd.DataFrame(self._importances(), columns=columns)

    def predictions(self, model: str | None = None) -> Any:
        """Out-of-fold predictions of a model: a row per sample and repeat."""
        import pandas as pd

        found = self._of(model or self.headline)
        frames = [
            pd.DataFrame({"sample": r["test"], "fold": r["fold"], "prediction": r["predictions"]})
            for r in found
        ]
        return pd.concat(frames, ignore_index=True)

    @property
    def permutation_p_value(self) -> float | None:
        """The share of permutations on which the headline model is as good as on the real samples.

        None where none were asked for, or not all folds of the real samples are done.
        """
        real = self.scores(self.headline) if self.headline in self.models else np.array([np.nan])
        by_seed: dict[int, list[float]] = {}
        for result in self.results:
            if result["role"] == "permutation":
                by_seed.setdefault(result["seed"], []).append(result["score"])
        full = [np.mean(scores) for scores in by_seed.values() if len(scores) == self.n_folds]
        if not full or not np.isfinite(real).all():
            return None
        return float((1 + np.sum(np.array(full) >= real.mean())) / (1 + len(full)))

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
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        write_atomically(Path(path), json.dumps(content).encode("utf-8"))
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Comparison:
        """Read what :meth:`save` has written."""
        try:
            return cls(**json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is not a comparison that was saved here.") from error

    def __str__(self) -> str:
        return "\n".join([_as_text(self._rows(), self.scoring), "", *self.verdict])

    def _of(self, model: str) -> list[Result]:
        """The results of a model by fold."""
        shown = [r for r in self.results if r["role"] in ("model", "alone")]
        found = [r for r in shown if r["model"] == model]
        if not found:
            known = ", ".join(self.models) or "none yet"
            raise ValueError(f"There is no result of {model!r}; there are: {known}.")
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

    def _by_fold(self, found: Sequence[Result]) -> Array:
        out = np.full(self.n_folds, np.nan)
        for result in found:
            out[result["fold"]] = result["score"]
        return out

    def _paired(
        self, first: Sequence[Result], second: Sequence[Result]
    ) -> tuple[Array, float, float]:
        """Differences on the folds that both did, and the mean sizes of folds."""
        differences = self._by_fold(first) - self._by_fold(second)
        sizes = [(r["n_train"], r["n_test"]) for r in first]
        n_train, n_test = np.mean(sizes, axis=0)
        return differences[np.isfinite(differences)], float(n_train), float(n_test)

    def _n_common(self, first: str, second: str) -> int:
        """On how many folds both can be compared."""
        if not {first, second} <= set(self.models):
            return 0
        return len(self._paired(self._of(first), self._of(second))[0])

    def _rows(self) -> list[dict[str, Any]]:
        """The table, best first; of equals those that ran first."""
        return sorted(map(self._row, self.models), key=lambda row: -row["score"])

    def _row(self, model: str) -> dict[str, Any]:
        found = self._of(model)
        scores = np.array([r["score"] for r in found])
        active = [r["n_active"] for r in found if r["n_active"] is not None]
        row = {
            "model": model,
            "score": float(scores.mean()),
            "sd": float(scores.std(ddof=1)) if len(scores) > 1 else np.nan,
            "folds": len(scores),
            "kernels": float(np.mean(active)) if active else np.nan,
            "seconds": float(np.mean([r["seconds"] for r in found])),
        }
        if model == UNIFORM or self._n_common(model, UNIFORM) < 2:
            return row | dict.fromkeys(_AGAINST, np.nan)
        test, same = self.test(model, UNIFORM), self.equivalence(model, UNIFORM)
        return row | {"difference": test.mean, "p_value": test.p_value} | same._asdict()

    def _importances(self) -> list[dict[str, Any]]:
        headline = self._of(self.headline) if self.headline in self.models else []
        return [self._importance(source, headline) for source in self.sources]

    def _importance(self, source: str, headline: list[Result]) -> dict[str, Any]:
        shares = [r["shares"][source] for r in headline]
        alone = [r["score"] for r in self._about("alone", source)]
        row = {"source": source, "share": _mean(shares), "alone": _mean(alone)}
        without = self._about("without", source)
        if not headline or len((paired := self._paired(headline, without))[0]) < 2:
            return row | {"drop": np.nan, "p_value": np.nan}
        drop = corrected_t_test(*paired)
        return row | {"drop": drop.mean, "p_value": drop.p_value}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _as_text(rows: Sequence[Mapping[str, Any]], scoring: str) -> str:
    """The table as it is printed."""
    header = ["model", scoring, "kernels", "seconds", "to uniform", "p"]
    lines = [header, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [first.ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        ).rstrip()
        for first, *rest in lines
    )


def _cells(row: Mapping[str, Any]) -> list[str]:
    spread = "" if np.isnan(row["sd"]) else f" ± {row['sd']:.3f}"
    p = row["p_value"]
    return [
        " ".join(row["model"].split()),
        f"{row['score']:.3f}{spread}",
        _number(row["kernels"], ".1f"),
        f"{row['seconds']:.2f}",
        _number(row["difference"], "+.3f"),
        "<0.01" if p < 0.01 else _number(p, ".2f"),
    ]


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)
