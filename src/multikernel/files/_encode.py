"""Columns as numbers: truth values and categories are encoded and said, dates are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._errors import InputError, count, listing
from ._table import is_sparse, need_pandas
from ._types import DataFrame, Series

MOST_LEVELS = 20
_SPOILED = 0.8  # share of numbers from which a column of text is a column of numbers with slips
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}( .*)?")
_WHOLE = r"^([+-]?\d+)\.0+$"  # a whole number as programs write it beside missing values
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass
class Encoding:
    """Columns of a table as numbers, and what was done to get there.

    Parameters
    ----------
    where : str
        How messages call the table.
    levels : dict from str to list of str
        Of the columns of text: those to use, and those that were found.
    notes, strange : list of str
        What was assumed, and what the levels to use do not know, in sentences.
    """

    where: str
    levels: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    def encode(self, frame: DataFrame) -> DataFrame:
        """All columns as float64; text is one column per level, of two levels the second one."""
        pd = need_pandas()
        plain = {c for c, t in frame.dtypes.items() if _is_number(t) and c not in self.levels}
        if len(plain) < frame.shape[1]:
            parts = [
                frame[[c]].astype(np.float64) if c in plain else self._encode(frame[c])
                for c in frame.columns
            ]
            frame = pd.concat(parts, axis=1)
        if not is_sparse(frame):
            frame = frame.astype(np.float64)
        if len(frame) > 1 and (constant := constant_columns(frame)):
            self.notes.append(
                f"{self.where}: {count(len(constant), 'column')} without variation "
                f"({listing(constant, 3)})."
            )
        return frame

    def _encode(self, column: Series) -> DataFrame:
        """A column that is not of numbers, as one or more that are."""
        pd = need_pandas()
        label = f"{self.where}, column {column.name!r}"
        if column.name in self.levels:
            return self._by_known_levels(column, label)
        if pd.api.types.is_datetime64_any_dtype(column) or column.dtype.kind in "mc":
            raise _dates(label, column.dropna().iloc[0] if column.notna().any() else column.dtype)
        text = column.dropna().astype(str).str.strip()
        text = text[text != ""]
        numbers = pd.to_numeric(text, errors="coerce")
        if numbers.notna().all():
            return numbers.astype(np.float64).reindex(column.index).to_frame(column.name)
        if looks_like_dates(text):
            raise _dates(label, text.iloc[0])
        if numbers.notna().mean() >= _SPOILED:
            bad = numbers.isna()
            raise InputError(
                f"{label}: {count(int(bad.sum()), 'value')} of {len(text)} cannot be read as "
                f"numbers (first {text[bad].iloc[0]!r} in row {text.index[bad][0] + 1}); correct "
                "them, or leave them empty if they are missing."
            )
        if set(text.str.lower()) <= set(_TRUTH):
            return text.str.lower().map(_TRUTH).reindex(column.index).to_frame(column.name)
        return self._one_hot(text, column, label)

    def _one_hot(self, text: Series, column: Series, label: str) -> DataFrame:
        """One column of zeros and ones for each level; missing values stay missing."""
        levels = sorted(text.unique())
        if len(levels) > MOST_LEVELS:
            raise InputError(
                f"{label} holds text with {len(levels)} different values (such as "
                f"{listing(map(repr, levels), 3)}); at most {MOST_LEVELS} are turned into columns: "
                "drop it (in a TOML file), or give it as numbers."
            )
        dummies = _dummies(text, column, levels)
        self.levels[str(column.name)] = levels
        became = listing(dummies.columns, 3)
        self.notes.append(f"{label}: text with {count(len(levels), 'level')} became {became}.")
        return dummies

    def _by_known_levels(self, column: Series, label: str) -> DataFrame:
        """The columns of the levels to use; a level that is not among them is none of them.

        Of two levels there is one column, in which zero is the first of them: there, a level that
        is neither is missing.
        """
        levels = self.levels[str(column.name)]
        text = column.dropna().map(label_of).astype(str).str.strip()
        text = text[text != ""]
        text = text.where(text.isin(levels), text.str.replace(_WHOLE, r"\1", regex=True))
        unknown = text[~text.isin(levels)]
        if len(unknown):
            taken = "as missing" if len(levels) == 2 else "as none of them"
            self.strange.append(
                f"{label}: {listing(map(repr, sorted(unknown.unique())), 3)} "
                f"({count(len(unknown), 'sample')}) was not there at the fit, which knew "
                f"{listing(map(repr, levels))}: taken {taken}."
            )
        known = text if len(levels) != 2 else text[text.isin(levels)]
        return _dummies(known, column, levels)


def text_names(column: str, levels: Sequence[str]) -> list[str]:
    """The columns that a column of text becomes."""
    return [f"{column}={level}" for level in (levels[1:] if len(levels) == 2 else levels)]


def label_of(value: object) -> str:
    """A value as text: whole numbers without a point, missing ones empty."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _dummies(text: Series, column: Series, levels: Sequence[str]) -> DataFrame:
    kept = levels[1:] if len(levels) == 2 else levels
    names = text_names(str(column.name), levels)
    parts = {name: (text == level).astype(float) for name, level in zip(names, kept, strict=True)}
    return need_pandas().DataFrame(parts, index=text.index).reindex(column.index)


def mostly_numbers(column: Series) -> bool:
    """Whether a column of text holds numbers, but for slips."""
    numbers = need_pandas().to_numeric(column.dropna().astype(str).str.strip(), errors="coerce")
    return len(numbers) > 0 and bool(numbers.notna().mean() >= _SPOILED)


def looks_like_dates(text: Series) -> bool:
    """Whether all known values of a column of text are dates."""
    known = text.dropna().astype(str).str.strip()
    return len(known) > 0 and bool(known.map(lambda v: _DATE.fullmatch(v) is not None).all())


def _is_number(dtype: Any) -> bool:
    types = need_pandas().api.types
    return types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)


def _dates(label: str, example: object) -> InputError:
    return InputError(
        f"{label} holds dates or times (first {str(example)!r}); expected numbers: turn it into "
        "one, such as an age in years, or drop it (in a TOML file)."
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
