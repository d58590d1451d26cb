"""Sample ids: the column that holds them, and tables without any, which are matched by order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ._errors import InputError, count, did_you_mean, listing
from ._table import Table, need_pandas

ID_NAME = re.compile(
    r"|unnamed: 0|__index_level_0__|index|row|rownames?|ids?|uid|key|barcode|"
    r"(sample|subject|patient|participant|case|cell|tumou?r|specimen)s?"
    r"([ _.-]?(id|name|no|nr|number|code|barcode)s?)?|.*[ _.-]ids?",
    re.IGNORECASE,
)
_MOSTLY = 0.9  # share of different values from which a column of text is taken for ids


def find_ids(tables: Sequence[Table], named: str | None) -> list[str]:
    """Move the ids out of the columns of every table that has them, and say what was assumed."""
    firsts = Counter(table.frame.columns[0] for table in tables if table.frame.shape[1] > 1)
    assumed = []
    for table in tables:
        column = _id_column(table, named, firsts)
        if column is not None:
            table.ids = _take(table, column)
            if column != named:
                label = "" if _nameless(column) else f" ({column!r})"
                assumed.append(f"{table.name}{label}")
    return [f"The first column holds the sample ids in {listing(assumed)}."] if assumed else []


def _id_column(table: Table, named: str | None, firsts: Counter[str]) -> str | None:
    """The column of ids: the one named, or a first column that looks like ids."""
    columns = list(table.frame.columns)
    if table.ids is not None or not table.named_columns:
        return None
    if named is not None:
        if named not in columns:
            raise InputError(
                f"{table.name} has no column {named!r}, named as the sample id; it has: "
                f"{listing(columns)}{did_you_mean(named, columns)}"
            )
        return named
    first = columns[0]
    if ID_NAME.fullmatch(first) or len(columns) == 1:
        return first if len(columns) > 1 else None
    values = table.frame[first]
    different = values.nunique() / len(values)
    if not need_pandas().api.types.is_numeric_dtype(values):
        return first if different >= _MOSTLY else None
    whole = bool(np.all(np.mod(values, 1) == 0)) if values.dtype != bool else False
    return first if whole and different == 1 and firsts[first] > 1 else None


def _nameless(column: str) -> bool:
    return column.lower() in ("", "unnamed: 0", "__index_level_0__")


def _take(table: Table, column: str) -> list[str]:
    """Remove the column of ids from a table, and rows that are wholly empty with it."""
    values = table.frame.pop(column)
    ids = [_label(v) for v in values] if table.as_text is None else table.as_text(column)
    empty = np.array([label.strip() == "" for label in ids])
    blank = empty & table.frame.isna().all(axis=1).to_numpy()
    if blank.all():
        raise InputError(f"{table.name} holds empty rows only; expected one row per sample.")
    if blank.any():
        table.notes.append(f"{table.name}: {count(int(blank.sum()), 'empty row')} left out.")
        table.frame = table.frame[~blank].reset_index(drop=True)
        ids = [label for label, out in zip(ids, blank, strict=True) if not out]
    if np.any(empty & ~blank):
        raise InputError(
            f"{table.name}: row {int(np.flatnonzero(empty & ~blank)[0]) + 1} has no sample id in "
            f"column {column!r}; give every row its id."
        )
    return ids


def _label(value: object) -> str:
    """An id as text: whole numbers without a point, missing ones empty."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def match_by_order(tables: Sequence[Table]) -> list[str]:
    """Give ids to tables that have none, from those with as many rows; say so, or refuse."""
    without = [table for table in tables if table.ids is None]
    having = [table for table in tables if table.ids is not None]
    if not without:
        return []
    if not having:
        return _number(without)
    notes = []
    for table in without:
        same = [other for other in having if len(other.frame) == len(table.frame)]
        if not same:
            raise InputError(
                f"{table.name} has no sample ids and {count(len(table.frame), 'row')}, which no "
                f"file with ids has ({_sizes(having)}); add a column of ids to it."
            )
        _refuse_disagreement(table, same)
        table.ids = same[0].ids
        notes.append(
            f"{table.name} has no sample ids: its rows are taken in the order of {same[0].name}."
        )
    return notes


def _number(tables: Sequence[Table]) -> list[str]:
    if len({len(table.frame) for table in tables}) > 1:
        raise InputError(
            f"No file has sample ids, and the numbers of rows differ ({_sizes(tables)}); add a "
            "column of ids to each."
        )
    ids = [str(i) for i in range(1, len(tables[0].frame) + 1)]
    for table in tables:
        table.ids = ids
    return ["No file has sample ids: rows are matched by their order and numbered from 1."]


def _refuse_disagreement(table: Table, same: Sequence[Table]) -> None:
    first = same[0]
    for other in same[1:]:
        if other.ids != first.ids:
            pairs = zip(first.ids or [], other.ids or [], strict=True)
            row, (a, b) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
            raise InputError(
                f"{table.name} has no sample ids, and {first.name} and {other.name} have theirs "
                f"in different orders (row {row + 1}: {a!r} and {b!r}), so that its rows could be "
                "either; add a column of ids to it."
            )


def _sizes(tables: Sequence[Table]) -> str:
    return listing(f"{table.name}: {len(table.frame)}" for table in tables)
