"""The target and the groups: found by name, taken out of their table, and told apart by task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._encode import mostly_numbers
from ._errors import InputError, count, did_you_mean, listing
from ._table import Table, need_pandas
from ._types import Series
from .dataset import Task

DEFAULT_TARGET = "target"
MOST_CLASSES = 20  # different whole numbers that are taken for classes


def default_target(tables: Sequence[Table]) -> tuple[str, ...]:
    """The column ``target`` if exactly one table has it."""
    holders = [table for table in tables if DEFAULT_TARGET in table.frame.columns]
    if len(holders) > 1:
        raise InputError(
            f"{listing(t.name for t in holders)} each have a column 'target'; say which one is "
            f"meant: target = '{holders[0].path.name}:target'."
        )
    return (f"{holders[0].path.name}:{DEFAULT_TARGET}",) if holders else ()


def take_columns(reference: str, tables: Sequence[Table], aliases: dict[str, Any]) -> list[Table]:
    """Remove a column from its table, or from each file of a source, and return what it held.

    Parameters
    ----------
    reference : str
        ``"file:column"``, a file with one column, or a column that one file has.
    tables : sequence of Table
    aliases : dict
        Paths by the names of sources.
    """
    holders, column = _find(reference, tables, aliases)
    taken = [Table(t.path, t.frame[[column]], t.key, t.ids, doubt=t.doubt) for t in holders]
    for table in holders:
        table.frame = table.frame.drop(columns=column)
    return taken


def file_of(reference: str) -> str:
    """The part of a reference that may name a file."""
    return reference.rpartition(":")[0] or reference


def _find(
    reference: str, tables: Sequence[Table], aliases: dict[str, Any]
) -> tuple[list[Table], str]:
    file, _, column = reference.rpartition(":")
    holders = [table for table in tables if reference in table.frame.columns]
    if file and len(holders) == 1:  # a name with a colon in it
        return holders, reference
    inside = _tables_of(file, tables, aliases) if file else []
    if inside:
        owners = [table for table in inside if column in table.frame.columns]
        if not owners:
            columns = [c for table in inside for c in table.frame.columns]
            raise InputError(
                f"{inside[0].path.name} has no column {column!r}; it has: {listing(columns)}"
                f"{did_you_mean(column, columns)}"
            )
        return (owners if len({t.path for t in owners}) > 1 else owners[:1]), column
    whole = _tables_of(reference, tables, aliases)
    if len(whole) == 1 and whole[0].frame.shape[1] == 1:
        return whole, str(whole[0].frame.columns[0])
    if len(holders) == 1:
        return holders, reference
    if holders:
        raise InputError(
            f"Column {reference!r} is in {listing(t.name for t in holders)}; say which one is "
            f"meant: '{holders[0].path.name}:{reference}'."
        )
    if whole:
        raise InputError(
            f"{whole[0].name} has {count(whole[0].frame.shape[1], 'column')} "
            f"({listing(whole[0].frame.columns, 3)}); say which one is meant: "
            f"'{reference}:{whole[0].frame.columns[0]}'."
        )
    if file:
        known = dict.fromkeys([*aliases, *(table.path.name for table in tables)])
        raise InputError(
            f"There is no file {file!r} for {reference!r}; there are: {listing(known)}"
            f"{did_you_mean(file, known) or '.'}"
        )
    names = [c for table in tables for c in table.frame.columns]
    files = listing(dict.fromkeys(table.path.name for table in tables))
    raise InputError(
        f"No file has a column {reference!r} (looked in {files}); expected 'file:column' or the "
        f"name of a column{did_you_mean(reference, names) or '.'}"
    )


def _tables_of(name: str, tables: Sequence[Table], aliases: dict[str, Any]) -> list[Table]:
    """The tables of a file by its name, with or without ending, or by the name of a source."""
    paths = aliases.get(name, ())
    return [
        t for t in tables if t.path in paths or name in (t.path.name, t.path.stem, t.source_name)
    ]


def as_target(table: Table, task: Task | None) -> tuple[Series, Task, list[str]]:
    """The target by sample id, the task, and what was assumed about either."""
    y, notes = as_labels(table, "target")
    y, task, more = judge_target(y, table.name, task)
    return y, task, [*notes, *more]


def judge_target(y: Series, where: str, task: Task | None) -> tuple[Series, Task, list[str]]:
    """Numbers or labels in the type that suits the task, which is told from them if need be."""
    notes = []
    if y.empty:
        raise InputError(f"The target {y.name!r} of {where} has no values.")
    if task != "classification":
        _refuse_slips(y, where, task)
    inferred, why = _infer_task(y)
    if task is None:
        task = inferred
        notes.append(f"The target {y.name!r} {why}: {task}. If that is wrong, say the task.")
    n_values = y.nunique()
    if task == "regression" and not _numeric(y):
        raise InputError(
            f"task = 'regression' needs numbers, but the target {y.name!r} of {where} holds "
            f"text ({y.iloc[0]!r}); correct it, or say task = 'classification'."
        )
    if task == "classification" and n_values > max(2, len(y) // 2):
        advice = "say task = 'regression'" if _numeric(y) else "name another column as the target"
        raise InputError(
            f"task = 'classification', but the target {y.name!r} of {where} has "
            f"{n_values} different values in {len(y)} samples; {advice}."
        )
    if task == "regression":
        return y.astype(np.float64), task, notes
    return (y.astype(np.int64) if _numeric(y) and np.all(y % 1 == 0) else y), task, notes


def _refuse_slips(y: Series, where: str, task: Task | None) -> None:
    """Refuse numbers among which some text stands, by its sample."""
    if _numeric(y) or y.dtype == bool:
        return
    numbers = need_pandas().to_numeric(y, errors="coerce")
    bad, good = y[numbers.isna()], numbers.dropna()
    meant = mostly_numbers(y) and _infer_task(good)[0] == "regression"
    if len(bad) and len(good) and (task == "regression" or meant):
        raise InputError(
            f"The target {y.name!r} of {where}: {count(len(bad), 'value')} of {len(y)} cannot be "
            f"read as numbers (first {bad.iloc[0]!r} of sample {bad.index[0]!r}); correct them, or "
            "leave them empty if they are not known."
        )


def as_labels(table: Table, role: str) -> tuple[Series, list[str]]:
    """One column by sample id, without missing values, which are counted in a note."""
    pd = need_pandas()
    column = table.frame.iloc[:, 0]
    values = pd.Series(column.to_numpy(), index=pd.Index(table.ids), name=column.name)
    if pd.api.types.is_datetime64_any_dtype(values):
        raise InputError(
            f"The {role} {column.name!r} of {table.name} holds dates; expected labels."
        )
    if values.dtype != bool and not _numeric(values):
        values = values.map(lambda v: v.strip() if isinstance(v, str) else v).replace("", None)
    known = values[values.notna()]
    missing = len(values) - len(known)
    if not missing:
        return known, []
    return known, [f"{table.name}: {count(missing, 'sample')} without a {role} left out of it."]


def _numeric(y: Series) -> bool:
    return bool(need_pandas().api.types.is_numeric_dtype(y)) and y.dtype != bool


def _infer_task(y: Series) -> tuple[Task, str]:
    n_values = y.nunique()
    if not _numeric(y):
        return "classification", f"holds {count(n_values, 'class')}"
    if n_values <= 2:
        return "classification", f"has {count(n_values, 'value')}"
    if np.all(y % 1 == 0) and n_values <= min(MOST_CLASSES, len(y) // 2):
        return "classification", f"has {n_values} whole numbers, taken as classes"
    return "regression", f"has {n_values} different numbers"
