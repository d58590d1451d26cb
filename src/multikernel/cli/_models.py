"""Fitting a model to files, and predicting from others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kernels import kernels_of

if TYPE_CHECKING:
    from ..files import Dataset

_NOT_SAVED = ("concatenated, linear",)  # holds a function, which no model file does


def fit_model(dataset: Dataset, name: str, inner_cv: int = 5) -> Any:
    """A fitted model that takes sources as they are in files.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    name : str
        One of :data:`multikernel.comparison.MODELS`.
    inner_cv : int, default=5
        Folds in which parameters are chosen.

    Returns
    -------
    model : estimator or Pipeline
        Sources of features are prepared by :class:`multikernel.SourcePreparation`.
    """
    from sklearn.pipeline import make_pipeline

    from ..comparison import MODELS, Setting
    from ..estimators import SourcePreparation
    from ..kernels import ViewBundle

    known = [model for model in MODELS if model not in _NOT_SAVED]
    if name not in known:
        raise ValueError(f"There is no model {name!r} to fit; there are: {'; '.join(known)}.")
    X, y, _ = dataset.align()
    n_kernels = sum(dataset.n_kernels(source) for source in dataset.tables)
    setting = Setting(
        task=str(dataset.task),
        scoring={"classification": "accuracy", "regression": "r2"}[str(dataset.task)],
        kernels=kernels_of(dataset),
        n_kernels=n_kernels,
        inner_cv=inner_cv,
    )
    model = MODELS[name](setting)
    if isinstance(X, ViewBundle):
        model = make_pipeline(SourcePreparation(), model)
    return model.fit(X, np.asarray(y))


def predict_table(model: Any, dataset: Dataset, *, allow_missing: bool = False) -> tuple[Any, Any]:
    """Predictions as a DataFrame by sample, and what was assumed, in sentences.

    Parameters
    ----------
    model : estimator or Pipeline
        As :func:`fit_model` made it.
    dataset : Dataset
        A target is ignored.
    allow_missing : bool, default=False
        Take sources that the model uses and the data lack for absent.
    """
    from dataclasses import replace

    import pandas as pd

    notes: list[str] = []
    tables = dict(_matching(model, dataset, notes))
    X = replace(dataset, tables=tables, y=None, groups=None).align()[0]
    X = _with_absent(model, X, allow_missing, notes)
    table = pd.DataFrame({"sample": X.ids, "prediction": model.predict(X)})
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(X))
        for k, label in enumerate(model.classes_):
            table[f"p({label})"] = p[:, k]
    return table, notes


def _matching(model: Any, dataset: Dataset, notes: list[str]) -> Iterator[tuple[str, Any]]:
    """The sources that the model knows, with the columns that it was fitted to."""
    known = [str(name) for name in _last(model).source_names_in_]
    found = [name for name in dataset.tables if name in known]
    if not found:
        raise ValueError(
            f"None of the sources {', '.join(dataset.tables)} is known to the model; it was fitted "
            f"to: {', '.join(known)}."
        )
    if others := [name for name in dataset.tables if name not in known]:
        notes.append(f"The model was fitted without {', '.join(others)}: not used.")
    for name in found:
        columns = _columns(model, name)
        table = dataset.tables[name]
        yield name, table if columns is None else _choose(table, columns, name, notes)


def _choose(table: Any, columns: list[str], source: str, notes: list[str]) -> Any:
    """The columns of training, in their order."""
    names = [str(column) for column in table.columns]
    if lacking := [column for column in columns if column not in names]:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise ValueError(
            f"Source {source!r} lacks the column {lacking[0]!r}{more} that the model was fitted "
            "to; columns of text need the same levels as in training, or numbers in both."
        )
    if others := [name for name in names if name not in columns]:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        notes.append(f"Source {source!r}: {', '.join(others[:3])}{more} not used.")
    return table.set_axis(names, axis=1)[columns]


def _columns(model: Any, source: str) -> list[str] | None:
    """The columns of a source in training, None where they have no names."""
    if not hasattr(model, "steps"):
        return None
    transformer = model[0].pipelines_.get(source)
    names = getattr(transformer, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _with_absent(model: Any, X: Any, allow_missing: bool, notes: list[str]) -> Any:
    """Sources that the model uses and the data lack, said to be absent if that is allowed."""
    used = _last(model).kernels_.sources_in_use()
    absent = [name for name in used if name not in X.names]
    if absent and not (allow_missing and hasattr(X, "with_absent")):
        raise ValueError(
            f"The data lack {', '.join(absent)}, which the model uses; they have: "
            f"{', '.join(X.names)}. If these samples do not have them, add --allow-missing."
        )
    if absent:
        notes.append(f"Predicted without {', '.join(absent)}, which the data lack.")
        X = X.with_absent(absent)
    for name in [name for name in used if name not in absent]:
        if lacking := int(np.sum(~X.has(name))):
            notes += [f"{lacking} of {len(X)} samples lack {name}; predicted without it."]
    return X


def _last(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model
