"""Which samples the sources share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._types import DataFrame, Index

THE_TARGET = "the target"  # among sources, of which one may be called target


def ids_by_owner(tables: Mapping[str, Any], y: Any = None) -> dict[str, Index]:
    """The different ids of every source, and of the target if there is one."""
    owners = {**tables} if y is None else {**tables, THE_TARGET: y}
    return {name: owner.index.unique() for name, owner in owners.items()}


def common_ids(tables: Mapping[str, Any], y: Any = None) -> Index:
    """Ids that all sources and the target have, in the order of the first source."""
    first, *others = ids_by_owner(tables, y).values()
    for ids in others:
        first = first[first.isin(ids)]
    return first


def rows_of(table: DataFrame, ids: Index) -> DataFrame:
    """The rows of these ids, which the table has; of duplicates the first."""
    unique = table[~table.index.duplicated()]
    return unique if unique.index.equals(ids) else unique.loc[ids]
