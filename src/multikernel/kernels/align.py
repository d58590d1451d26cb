"""Joining tables by sample ids: who is in which, and blank rows for those who are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .presence import Mask
from .rows import Index, plain

Ids = list[Hashable]


def align_tables(
    tables: Mapping[str, Any], how: str, as_block: Any
) -> tuple[dict[str, Any], dict[str, Mask], Any]:
    """Blocks with equal rows, masks of presence and ids, from tables of different samples."""
    if how not in ("outer", "inner"):
        raise ValueError(
            f"how must be 'outer' (all samples) or 'inner' (common ones), got {how!r}."
        )
    if not isinstance(tables, Mapping) or not tables:
        raise TypeError(
            "align needs a non-empty mapping from names to DataFrames indexed by sample ids, or "
            "to pairs (ids, block)."
        )
    parts = {str(name): _split(table, str(name), as_block) for name, table in tables.items()}
    own = {name: ids for name, (ids, _) in parts.items()}
    for name, ids in own.items():
        _check_ids(ids, name)
    ids = _join(own, how)
    blocks, present = {}, {}
    for name, (_, block) in parts.items():
        position = {identity: i for i, identity in enumerate(own[name])}
        rows = np.array([position.get(identity, -1) for identity in ids], dtype=np.intp)
        present[name] = rows >= 0
        blocks[name] = spread(block, rows, ids)
    return blocks, present, as_ids(ids)


def as_ids(ids: Sequence[Any]) -> Any:
    """Sample ids as an array; of objects where their types differ."""
    if len({type(identity) for identity in ids}) == 1 and np.ndim(ids[0]) == 0:
        return np.array(ids)
    return np.fromiter(ids, dtype=object, count=len(ids))


def blank(like: Any, n_rows: int) -> Any:
    """Rows without content, of the same kind as those of a block."""
    return spread(like, np.full(n_rows, -1), list(range(n_rows)))


def match_ids(labelled: Any, ids: Any, what: str) -> Any:
    """A pandas Series in the order of the sample ids.

    Samples that are merely numbered take it by position, unless its labels are the same numbers
    in another order: then nobody can tell what was meant.
    """
    own, wanted = labelled.index.tolist(), ids.tolist()
    known, numbered = Counter(own), wanted == list(range(len(wanted)))
    if own == wanted or (numbered and known != Counter(wanted)):
        return labelled
    if numbered:
        raise ValueError(
            f"{what} has row numbers as labels, in another order than the samples. Pass "
            f"{what}.sort_index() if its labels count, {what}.to_numpy() if its order does."
        )
    if not (lost := [identity for identity in wanted if identity not in known]):
        if twice := [identity for identity in wanted if known[identity] > 1]:
            raise ValueError(f"{what} holds the sample {twice[0]!r} twice; keep one of them.")
        return labelled.loc[wanted]
    if len(lost) < len(wanted):
        raise ValueError(f"{what} lacks the sample {lost[0]!r}, and {len(lost)} in all.")
    begins = f" (they begin with {own[0]!r})" if own else ""
    raise ValueError(
        f"The labels of {what}{begins} are not the sample ids (which begin with {wanted[0]!r}). "
        f"Label {what} by sample ids, or pass {what}.to_numpy() if it is in the order of the "
        "samples."
    )


def _split(table: Any, name: str, as_block: Any) -> tuple[Ids, Any]:
    """The ids of a table and its block."""
    if isinstance(table, tuple) and len(table) == 2:
        ids, block = [plain(identity) for identity in table[0]], as_block(table[1], name)
        if len(ids) != block.shape[0]:
            raise ValueError(f"Table {name!r} has {len(ids)} ids for {block.shape[0]} rows.")
        return ids, block.set_axis(ids, axis=0) if hasattr(block, "iloc") else block
    if hasattr(table, "iloc"):
        return table.index.tolist(), table if len(table.shape) == 2 else table.to_frame()
    raise TypeError(
        f"Table {name!r} has no sample ids: pass a pandas DataFrame indexed by them, or a pair "
        f"(ids, block); got {type(table).__name__}."
    )


def _check_ids(ids: Ids, name: str) -> None:
    for identity, count in Counter(ids).items():
        if identity is None or identity != identity:
            raise ValueError(f"Table {name!r} has a row without a sample id.")
        if count > 1:
            raise ValueError(
                f"Table {name!r} has {count} rows for the sample id {plain(identity)!r}; keep or "
                "average them so that every id is there once."
            )


def _join(own: Mapping[str, Ids], how: str) -> Ids:
    """All ids in the order in which they are first seen, or those that every table has."""
    filled = {name: ids for name, ids in own.items() if ids}
    counts = Counter(identity for ids in own.values() for identity in ids)
    alone = [name for name, ids in filled.items() if all(counts[i] == 1 for i in ids)]
    if alone and len(filled) > 1:
        raise ValueError(
            f"Table {alone[0]!r} shares no sample id with the others: {_describe(own)}. Use one "
            "kind of ids in all tables, of the same type and spelling."
        )
    joined = [i for i in counts if how == "outer" or counts[i] == len(own)]
    if not counts:
        raise ValueError(f"The tables hold no samples: {_describe(own)}.")
    if not joined:
        raise ValueError(
            f"No sample is in all tables: {_describe(own)}. Use how='outer' to keep samples that "
            "lack some of them."
        )
    return joined


def _describe(own: Mapping[str, Ids]) -> str:
    """Table by table the number of rows and the first id."""
    return ", ".join(
        f"{name!r} has {len(ids)} rows" + (f" (first id {plain(ids[0])!r})" if ids else "")
        for name, ids in own.items()
    )


def spread(block: Any, rows: Index, ids: Ids) -> Any:
    """The rows of a block by position, blank where the position is negative."""
    if hasattr(block, "iloc"):
        return _spread_frame(block, rows, ids)
    if hasattr(block, "tocsr"):  # S x picks row rows[i] of x into row i
        there = np.flatnonzero(rows >= 0)
        pick = (np.ones(len(there), dtype=block.dtype), (there, rows[there]))
        return csr_array(csr_array(pick, shape=(len(rows), block.shape[0])) @ block)
    if hasattr(block, "columns"):
        columns = {c: spread(block[c].to_numpy(), rows, ids) for c in block.columns}
        return type(block)(columns)
    out = np.zeros((len(rows), *block.shape[1:]), dtype=block.dtype)
    if block.dtype == object:
        out[:] = ""
    out[rows >= 0] = block[rows[rows >= 0]]
    return out


def _spread_frame(frame: Any, rows: Index, ids: Ids) -> Any:
    """Rows of a pandas table; blank rows hold zeros, or nothing where a column is no number."""
    import pandas as pd

    there = frame.iloc[rows[rows >= 0]].set_axis(np.flatnonzero(rows >= 0), axis=0)
    numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)
    spread = there.reindex(range(len(rows)), **({"fill_value": 0} if numeric else {}))
    return spread.set_axis(pd.Index(as_ids(ids)), axis=0)
