"""Columns as numbers: truth values and categories are encoded and said, dates are refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._errors import InputError, count, listing
from ._table import is_sparse, need_pandas
from ._types import DataFrame, Series

MOST_LEVELS = 20
_SPOILED = 0.8  # share of numbers from which a column of text is a column of numbers with slips
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}( .*)?")
_TRUTH = {"true": 1.0, "false": 0.0}


def encode(frame: DataFrame, where: str) -> tuple[DataFrame, list[str]]:
    """All columns of a table as numbers, and what was done to get there.

    Parameters
    ----------
    frame : DataFrame
    where : str
        How messages call the table.

    Returns
    -------
    frame : DataFrame of float64
        Categories are one column per level; of two levels, the second one.
    notes : list of str
    """
    pd = need_pandas()
    notes: list[str] = []
    plain = [c for c, dtype in frame.dtypes.items() if _is_number(dtype)]
    if len(plain) < frame.shape[1]:
        parts = [
            frame[[c]].astype(np.float64)
            if _is_number(frame[c].dtype)
            else _encode(frame[c], where, notes)
            for c in frame.columns
        ]
        frame = pd.concat(parts, axis=1)
    if not is_sparse(frame):
        frame = frame.astype(np.float64)
    _note_constants(frame, where, notes)
    return frame, notes


def _is_number(dtype: Any) -> bool:
    types = need_pandas().api.types
    return types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)


def _encode(column: Series, where: str, notes: list[str]) -> DataFrame:
    """A column that is not of numbers, as one or more that are."""
    pd = need_pandas()
    label = f"{where}, column {column.name!r}"
    if pd.api.types.is_datetime64_any_dtype(column) or column.dtype.kind in "mc":
        raise _dates(label, column.dropna().iloc[0] if column.notna().any() else column.dtype)
    text = column.dropna().astype(str).str.strip()
    text = text[text != ""]
    numbers = pd.to_numeric(text, errors="coerce")
    if numbers.notna().all():
        return numbers.astype(np.float64).reindex(column.index).to_frame(column.name)
    if len(text) and text.map(lambda value: _DATE.fullmatch(value) is not None).all():
        raise _dates(label, text.iloc[0])
    if numbers.notna().mean() >= _SPOILED:
        bad = numbers.isna()
        raise InputError(
            f"{label}: {count(int(bad.sum()), 'value')} of {len(text)} cannot be read as numbers "
            f"(first {text[bad].iloc[0]!r} in row {text.index[bad][0] + 1}); correct them, or "
            "leave them empty if they are missing."
        )
    if set(text.str.lower()) <= set(_TRUTH):
        return text.str.lower().map(_TRUTH).reindex(column.index).to_frame(column.name)
    return _one_hot(text, column, label, notes)


def _one_hot(text: Series, column: Series, label: str, notes: list[str]) -> DataFrame:
    """One column of zeros and ones for each level; missing values stay missing."""
    pd = need_pandas()
    levels = sorted(text.unique())
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"{label} holds text with {len(levels)} different values (such as "
            f"{listing(map(repr, levels), 3)}); at most {MOST_LEVELS} are turned into columns: "
            "leave it out (drop), or give it as numbers."
        )
    kept = levels[1:] if len(levels) == 2 else levels
    names = [f"{column.name}={level}" for level in kept]
    notes.append(f"{label}: text with {count(len(levels), 'level')} became {listing(names, 3)}.")
    dummies = {name: (text == level).astype(float) for name, level in zip(names, kept, strict=True)}
    return pd.DataFrame(dummies).reindex(column.index)


def _dates(label: str, example: object) -> InputError:
    return InputError(
        f"{label} holds dates or times (first {str(example)!r}); expected numbers: turn it into "
        "one, such as an age in years, or leave it out (drop)."
    )


def constant_columns(frame: DataFrame) -> list[str]:
    """Columns whose known values are all equal, or all missing."""
    if is_sparse(frame):
        values = frame.sparse.to_coo().tocsc()
        low, high = (np.ravel(m.toarray()) for m in (values.min(axis=0), values.max(axis=0)))
    else:
        values = frame.to_numpy()
        missing = np.isnan(values)
        low = np.where(missing, np.inf, values).min(axis=0)
        high = np.where(missing, -np.inf, values).max(axis=0)
    return [str(c) for c in frame.columns[low >= high]]


def _note_constants(frame: DataFrame, where: str, notes: list[str]) -> None:
    if len(frame) > 1 and (constant := constant_columns(frame)):
        notes.append(
            f"{where}: {count(len(constant), 'column')} without variation ({listing(constant, 3)})."
        )
