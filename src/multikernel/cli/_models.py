"""Fitting a model to files, as a comparison fits it, and predicting from others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._names import check_model

if TYPE_CHECKING:
    from ..files import Dataset


def fit_model(
    dataset: Dataset,
    name: str,
    *,
    inner_cv: int = 3,
    scoring: str | None = None,
    random_state: int = 0,
) -> Any:
    """A fitted model that takes sources as they are in files.

    It is made, and its parameters are chosen, as in :func:`multikernel.compare`.

    Parameters
    ----------
    dataset : Dataset
        With a target. Samples of a group stay together in the folds.
    name : str
        One of :data:`multikernel.comparison.MODELS`.
    inner_cv : int, default=3
        Folds in which parameters are chosen.
    scoring : str, optional
        What they are chosen by.
    random_state : int, default=0
        Shuffles the folds.

    Returns
    -------
    model : estimator or Pipeline
        Sources of features are prepared by :class:`multikernel.SourcePreparation`, after the
        levels of their text were noted.
    """
    from sklearn.pipeline import make_pipeline

    from ..comparison import MODELS, Setting
    from ..comparison.folds import inner_folds
    from ..comparison.inputs import TASKS, check_groups, refuse_infinite
    from ..comparison.probing import probe
    from ..comparison.scoring import check_scoring
    from ..estimators import SourcePreparation
    from ..files import TextLevels
    from ..kernels import ViewBundle

    name, task = check_model(name), str(dataset.task)
    scoring = check_scoring(TASKS[task] if scoring is None else scoring, task)
    kernels = dataset.kernel_choice()
    X, labels, given = dataset.align()
    y, groups = np.asarray(labels), check_groups(given, X)
    if given is not None and given.nunique() < 2:
        raise ValueError(f"All samples are of the group {given.iloc[0]!r}; leave --groups out.")
    for source, table in dataset.tables.items():
        refuse_infinite(table, source)
    n_kernels, has_columns = probe(X, y, task, kernels)
    inner = inner_folds(inner_cv, y, groups, np.arange(len(y)), task, random_state)
    setting = Setting(task, scoring, kernels, n_kernels, inner, has_columns)
    model = MODELS[name](setting)
    if isinstance(X, ViewBundle):
        model = make_pipeline(TextLevels(dataset.levels), SourcePreparation(), model)
    return model.fit(X, y)


def levels_of(model: Any) -> Any:
    """The levels of text that a model was fitted to, for :func:`multikernel.read_sources`."""
    from ..files import TextLevels

    steps = [step for step in getattr(model, "steps", []) if isinstance(step[1], TextLevels)]
    known = steps[0][1].levels_ if steps else {}
    return {name: known.get(name, {}) for name in _sources(model)}


def columns_of(model: Any) -> dict[str, list[str]]:
    """The columns that a model was fitted to, for :func:`multikernel.read_sources`."""
    columns = {name: _columns(model, name) for name in _sources(model)}
    return {name: known for name, known in columns.items() if known is not None}


def predict_table(model: Any, dataset: Dataset, *, allow_missing: bool = False) -> tuple[Any, Any]:
    """Predictions as a DataFrame by sample, and what was assumed, in sentences.

    Parameters
    ----------
    model : estimator or Pipeline
        As :func:`fit_model` made it.
    dataset : Dataset
        Read with the levels and columns of the model, see :func:`levels_of`, :func:`columns_of`.
    allow_missing : bool, default=False
        Take sources that the model uses and the data lack for absent.
    """
    import pandas as pd

    notes = [*_check_names(model, dataset, allow_missing), *dataset.warnings]
    tables = dict(_matching(model, dataset))
    X = replace(dataset, tables=tables, y=None, groups=None).align()[0]
    X = _with_absent(model, X, notes)
    table = pd.DataFrame({"sample": X.ids, "prediction": model.predict(X)})
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(X))
        for k, label in enumerate(model.classes_):
            table[f"p({label})"] = p[:, k]
    return table, notes


def _check_names(model: Any, dataset: Dataset, allow_missing: bool) -> list[str]:
    """Refuse names of sources that do not fit; say, with a hint first, which are not used."""
    names, known = list(dataset.tables), _sources(model)
    found = [name for name in names if name in known]
    others = [name for name in names if name not in known]
    lacking = [name for name in known if name not in names]
    _refuse_misspelt(others, lacking)
    hint = _hint(others, lacking)
    if not found:
        whose = f"of the sources {', '.join(names)}" if names else "of the files"
        raise ValueError(
            f"{hint}None {whose} is known to the model; it was fitted to: {', '.join(known)}."
        )
    absent = [name for name in _last(model).kernels_.sources_in_use() if name in lacking]
    tables = dataset.kind(found[0]) == "features"
    if absent and (hint or not (allow_missing and tables)):
        advice = "If these samples do not have them, add --allow-missing."
        if hint and allow_missing:
            advice = "Leave a source out by --sources if it is another one."
        elif not tables:
            advice = "Kernel matrices of all of them are needed."
        raise ValueError(
            f"{hint}The data lack {', '.join(absent)}, which the model uses; they have: "
            f"{', '.join(names)}. {advice}"
        )
    return [f"{hint}The model was fitted without {', '.join(others)}: not used."] if others else []


def _matching(model: Any, dataset: Dataset) -> Iterator[tuple[str, Any]]:
    """The sources that the model knows, with the columns that it was fitted to."""
    from ..comparison.inputs import refuse_infinite

    known = _sources(model)
    for name in [name for name in dataset.tables if name in known]:
        columns, table = _columns(model, name), dataset.tables[name]
        if columns is not None:
            table = _choose(table, columns, name)
            refuse_infinite(table, name)
        yield name, table


def _refuse_misspelt(others: list[str], lacking: list[str]) -> None:
    """Refuse a source whose name differs only in case or spaces from one that is needed."""
    wanted = {name.strip().lower(): name for name in lacking}
    for name in others:
        if (same := wanted.get(name.strip().lower())) is not None:
            raise ValueError(
                f"The data have a source {name!r}, but the model was fitted to {same!r}, and upper "
                f"and lower case count; rename the file to {same}, or leave it out by --sources."
            )


def _hint(others: list[str], lacking: list[str]) -> str:
    """Which of the sources that the data lack may be meant by those that the model lacks."""
    from difflib import get_close_matches

    pairs = [(name, get_close_matches(name, lacking, n=1)) for name in others]
    return "".join(
        f"Source {name!r} may be the {close[0]!r} of the model: if so, rename it, or name its "
        f"file, and those of all other sources, as in --sources {close[0]}=FILE. "
        for name, close in pairs
        if close
    )


def _choose(table: Any, columns: list[str], source: str) -> Any:
    """The columns of training, in their order."""
    names = [str(column) for column in table.columns]
    if lacking := [column for column in columns if column not in names]:
        raise ValueError(_complaint(lacking, names, source))
    return table.set_axis(names, axis=1)[columns]


def _complaint(lacking: list[str], names: list[str], source: str) -> str:
    """What to say about columns that are not there."""
    from ..files._errors import did_you_mean

    first, more = lacking[0], f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
    if any(name.startswith(f"{first}=") for name in names):
        return (
            f"Source {source!r}: column {first!r} held numbers at the fit and holds text here; "
            "correct it, or leave values empty that are missing."
        )
    column = first.partition("=")[0] if "=" in first else first
    return (
        f"Source {source!r} lacks the column {column!r}{more} that the model was fitted to; add it"
        f"{did_you_mean(column, names) or ', with empty values where they are not known.'}"
    )


def _columns(model: Any, source: str) -> list[str] | None:
    """The columns of a source in training, None where they have no names."""
    preparations = [step for _, step in getattr(model, "steps", []) if hasattr(step, "pipelines_")]
    if not preparations:
        return None
    names = getattr(preparations[0].pipelines_.get(source), "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _with_absent(model: Any, X: Any, notes: list[str]) -> Any:
    """The samples, in which the sources that the model uses and the data lack are absent."""
    used = _last(model).kernels_.sources_in_use()
    if absent := [name for name in used if name not in X.names]:
        notes.append(f"Predicted without {', '.join(absent)}, which the data lack.")
        X = X.with_absent(absent)
    for name in [name for name in used if name not in absent]:
        if lacking := int(np.sum(~X.has(name))):
            notes += [f"{lacking} of {len(X)} samples lack {name}; predicted without it."]
    return X


def _sources(model: Any) -> list[str]:
    """The names of the sources that a model was fitted to."""
    names = getattr(_last(model), "source_names_in_", None)
    if names is None:
        raise ValueError(
            f"This {type(_last(model)).__name__} was fitted to an array or one table, not to "
            "sources by name as multikernel fit does; predict with it in Python."
        )
    return [str(name) for name in names]


def _last(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model
