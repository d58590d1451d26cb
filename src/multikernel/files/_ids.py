"""Sample ids: taken out of their columns; tables without any are joined by position, and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import commonprefix
from pathlib import Path

import numpy as np

from ._encode import label_of
from ._errors import InputError, count, did_you_mean, listing
from ._id_columns import choose_id_columns, is_nameless
from ._table import Table

NO_IDS = "none"  # said instead of a column: rows are to be joined by position


def find_ids(
    tables: Sequence[Table],
    named: str | None,
    dropped: Mapping[Path, Sequence[str]] | None = None,
) -> list[str]:
    """Move the ids out of the columns of every table that has them, and say what was assumed."""
    if named == NO_IDS and not any(NO_IDS in table.frame.columns for table in tables):
        return []
    if named is not None:
        for table in tables:
            if table.ids is None and table.named_columns:
                _require(table, named)
                table.ids = _take(table, named)
        return []
    choice = choose_id_columns(tables, dropped)
    found = []
    for k, table in enumerate(tables):
        table.doubt = choice.doubts.get(k)
        if k in choice.columns:
            column = choice.columns[k].column
            table.ids = _take(table, column)
            found.append(f"{table.name} ({'no name' if is_nameless(column) else repr(column)})")
        if k not in choice.doubts:
            _drop_row_numbers(table)
    return [f"Taken as the sample ids in {listing(found)}."] if found else []


def _require(table: Table, named: str) -> None:
    columns = list(table.frame.columns)
    if named not in columns:
        raise InputError(
            f"{table.name} has no column {named!r}, named as the sample id; it has: "
            f"{listing(columns)}{did_you_mean(named, columns)}"
        )


def _drop_row_numbers(table: Table) -> None:
    """Leave out a first column without a name that numbers rows: programs write it unasked."""
    if not table.named_columns or table.frame.shape[1] < 2:
        return
    values = table.frame.iloc[:, 0]
    if not is_nameless(str(values.name)) or values.dtype.kind not in "iu" or not values.is_unique:
        return
    counts = np.array_equal(values - values.iloc[0], np.arange(len(values)))
    if counts or table.ids is not None:
        table.frame = table.frame.iloc[:, 1:]
        table.notes.append(
            f"{table.name}: the first column has no name and numbers rows; not used."
        )


def _take(table: Table, column: str) -> list[str]:
    """Remove the column of ids from a table, and rows that are wholly empty with it."""
    values = table.frame.pop(column)
    ids = [label_of(v) for v in values] if table.as_text is None else table.as_text(column)
    empty = np.array([label.strip() == "" for label in ids])
    blank = empty & table.frame.isna().all(axis=1).to_numpy()
    if blank.all():
        raise InputError(f"{table.name} holds empty rows only; expected one row per sample.")
    if blank.any():
        table.notes.append(f"{table.name}: {count(int(blank.sum()), 'empty row')} left out.")
        table.keep_rows(~blank)
        ids = [label for label, out in zip(ids, blank, strict=True) if not out]
    if np.any(empty & ~blank):
        raise InputError(
            f"{table.name}: row {int(np.flatnonzero(empty & ~blank)[0]) + 1} has no sample id in "
            f"column {column!r}; give every row its id."
        )
    return ids


def match_by_position(tables: Sequence[Table]) -> tuple[list[str], bool]:
    """Give ids to tables that have none, from those with as many rows; say so, or refuse.

    Returns
    -------
    notes : list of str
    joined : bool
        Whether rows of different files were joined by position.
    """
    without = [table for table in tables if table.ids is None]
    having = [table for table in tables if table.ids is not None]
    if not without:
        return [], False
    several = len({table.path for table in tables}) > 1
    if several and (doubt := next((t.doubt for t in without if t.doubt is not None), None)):
        raise InputError(doubt)
    if not having:
        return _number(without, several), several
    notes = []
    for table in without:
        same = [other for other in having if len(other.frame) == len(table.frame)]
        if not same:
            raise InputError(
                f"{table.name} has no sample ids and {count(len(table.frame), 'row')}, which no "
                f"file with ids has ({_sizes(having)}); add a column of ids to it."
            )
        _refuse_disagreement(table, same)
        _refuse_other_parts(table, same[0])
        table.ids = same[0].ids
        notes.append(
            f"{table.name} has no sample ids: its rows are joined by position, in the order of "
            f"{same[0].name}."
        )
    return notes, several


def _number(tables: Sequence[Table], several: bool) -> list[str]:
    if len({len(table.frame) for table in tables}) > 1:
        raise InputError(
            f"No file has sample ids, and the numbers of rows differ ({_sizes(tables)}); add a "
            "column of ids to each."
        )
    ids = [str(i) for i in range(1, len(tables[0].frame) + 1)]
    for table in tables:
        _refuse_other_parts(table, tables[0])
        table.ids = ids
    if several:
        return [
            f"No id column in {listing(dict.fromkeys(t.name for t in tables))}: rows are joined by "
            "position and numbered from 1; make sure that all files have the same order."
        ]
    return [f"{tables[0].path.name} has no id column: rows are numbered from 1."]


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


def _refuse_other_parts(table: Table, other: Table) -> None:
    """Refuse to join stacked files by position whose parts lie in different orders."""
    if not table.stacked or not other.stacked:
        return
    ours, theirs = _labels(table.stacked), _labels(other.stacked)
    reordered = ours != theirs and sorted(ours) == sorted(theirs)
    if table.sizes != other.sizes or reordered:
        raise InputError(
            f"{table.name} ({_and(table.sizes)} rows) would be joined by position to {other.name} "
            f"({_and(other.sizes)} rows), but their parts differ or come in different orders; "
            "name the files of both in the same order, or add a column of ids."
        )


def _labels(names: Sequence[str]) -> list[str]:
    """What tells the names of files apart: train and test, for train_rna.csv and test_rna.csv."""
    start = len(commonprefix(names))  # noqa: RUF071 - characters, not folders
    end = len(commonprefix([name[start:][::-1] for name in names]))  # noqa: RUF071
    return [name[start : len(name) - end] for name in names]


def _and(sizes: Sequence[int]) -> str:
    return " and ".join(map(str, sizes))


def _sizes(tables: Sequence[Table]) -> str:
    return listing(f"{table.name}: {len(table.frame)}" for table in tables)
