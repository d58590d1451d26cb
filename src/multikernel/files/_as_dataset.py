"""Sources that are in memory already, as a Dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels import ViewBundle
from ._encode import Encoding
from ._errors import InputError
from ._table import frame_of_array, need_pandas
from ._types import DataFrame
from .dataset import Dataset
from .target import judge_target


def dataset_of(sources: Mapping[str, Any] | ViewBundle, y: Any = None) -> Dataset:
    """Blocks by name, in the same order of samples or with their ids in an index.

    Parameters
    ----------
    sources : mapping from str to block, or ViewBundle
    y : array or Series, optional
        One target per sample.
    """
    pd = need_pandas()
    if isinstance(sources, ViewBundle):
        bundle = sources
        sources = {
            name: _rows(bundle[np.flatnonzero(bundle.has(name))], name) for name in bundle.names
        }
    if not sources:
        raise InputError("There is no source; expected a mapping from names to tables.")
    tables, levels = {}, {}
    notes: list[str] = []
    for name, block in sources.items():
        encoding = Encoding(str(name))
        tables[str(name)] = encoding.encode(_frame(block, str(name)))
        levels[str(name)], notes = encoding.levels, notes + encoding.notes
    target, task = None, None
    if y is not None:
        labelled = isinstance(y, pd.Series)
        ids = y.index if labelled else _index_for(len(y), tables)
        name = (y.name if labelled else None) or "target"
        values = pd.Series(np.asarray(y), index=[str(label) for label in ids], name=name)
        target, task, more = judge_target(values.dropna(), "y", None)
        notes += more
    return Dataset(tables, y=target, task=task, notes=notes, levels=levels)


def _rows(bundle: ViewBundle, name: str) -> DataFrame:
    frame = _frame(bundle.block(name), name)
    frame.index = need_pandas().Index([str(label) for label in bundle.ids])
    return frame


def _frame(block: Any, name: str) -> DataFrame:
    """A block with sample ids, as text, in its index."""
    pd = need_pandas()
    if isinstance(block, pd.DataFrame):
        frame = block.set_axis([str(column) for column in block.columns], axis=1)
    elif hasattr(block, "to_pandas"):
        frame = block.to_pandas()
    else:
        array = block if hasattr(block, "tocsr") else np.asarray(block)
        if array.dtype.kind in "OUS" or array.ndim not in (1, 2):
            raise InputError(
                f"Source {name!r} is no table; expected samples in rows and features in columns."
            )
        frame = frame_of_array(array, name, f"Source {name!r}")
    return frame.set_axis([str(label) for label in frame.index], axis=0)


def _index_for(n: int, tables: Mapping[str, DataFrame]) -> Any:
    """The ids of the tables with as many rows, if these agree."""
    same = [table.index for table in tables.values() if len(table) == n]
    if not same or any(not same[0].equals(other) for other in same[1:]):
        raise InputError(
            f"y has {n} values without sample ids, which fit no order of samples that all sources "
            "share; give a pandas Series with the ids in its index."
        )
    return same[0]
