"""Columns of a source: chosen by name or pattern, and stacked from several files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from ._errors import InputError, did_you_mean, listing
from ._table import Table, need_pandas
from ._types import DataFrame
from .plan import Source


def choose_columns(table: Table, source: Source) -> DataFrame:
    """The columns that match, in the order of the file, without those to drop."""
    columns = list(table.frame.columns)
    if columns and not source.columns and not source.drop:
        return table.frame
    chosen = set(columns)
    if source.columns:
        chosen = set().union(
            *(_match(columns, p, table, "columns", source) for p in source.columns)
        )
    for pattern in source.drop:
        chosen -= _match(columns, pattern, table, "drop", source)
    if not chosen:
        raise InputError(
            f"Source {source.name!r} has no columns left of {table.name} beside ids, target and "
            "those to drop; leave the source out, or choose other columns."
        )
    return table.frame[[column for column in columns if column in chosen]]


def _match(columns: list[str], pattern: str, table: Table, key: str, source: Source) -> set[str]:
    found = {pattern} if pattern in columns else {c for c in columns if fnmatchcase(c, pattern)}
    if not found:
        raise InputError(
            f"Source {source.name!r}: no column of {table.name} is called or matches {pattern!r}"
            f"{did_you_mean(pattern, columns) or f'; it has: {listing(columns)}.'}",
            key=key,
        )
    return found


def known_columns(frame: DataFrame, known: Collection[str], where: str) -> DataFrame:
    """The columns that a model was fitted to, in the order of the file."""
    kept = [column for column in frame.columns if column in known]
    if not kept:
        raise InputError(
            f"{where} has none of the columns of the fit ({listing(known, 3)}); it has: "
            f"{listing(frame.columns, 3)}."
        )
    return frame[kept]


def as_written(frame: DataFrame, table: Table, columns: Collection[str]) -> DataFrame:
    """Some columns exactly as their file has them, leading zeros included; missing stay missing."""
    pd = need_pandas()
    if table.as_text is None:
        return frame
    texts = {
        column: pd.Series(table.as_text(column), index=frame.index, dtype=object)
        for column in frame.columns
        if column in columns
    }
    return frame.assign(**{c: text.where(frame[c].notna(), None) for c, text in texts.items()})


def stack(parts: Sequence[Table]) -> Table:
    """Tables of the same columns, one below the other."""
    pd = need_pandas()
    first = parts[0]
    if len(parts) == 1:
        return first
    frames = [first.frame]
    for part in parts[1:]:
        frame = part.frame
        if frame.shape[1] == first.frame.shape[1] == 1:
            frame = frame.set_axis(first.frame.columns, axis=1)
        if odd := sorted(set(frame.columns) ^ set(first.frame.columns)):
            raise InputError(
                f"{first.name} and {part.name} are to be stacked, but only one of them has "
                f"{listing(map(repr, odd), 3)}; expected the same columns."
            )
        frames.append(frame)  # concat matches columns by name
    known = [part.ids for part in parts if part.ids is not None]
    if 0 < len(known) < len(parts):
        raise InputError(
            f"{listing(p.name for p in parts)} are to be stacked, but only some have sample ids; "
            "expected ids in all or in none."
        )
    ids = [label for labels in known for label in labels] if known else None
    frame = pd.concat(frames, ignore_index=True)
    doubt = next((part.doubt for part in parts if part.doubt is not None), None)
    names, sizes = tuple(p.name for p in parts), tuple(len(p.frame) for p in parts)
    return Table(first.path, frame, first.key, ids, doubt=doubt, stacked=names, sizes=sizes)
