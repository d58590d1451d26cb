"""Samples: how many, shared by which sources, under which ids, in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ._errors import count, listing
from ._finding import Finding
from ._join import THE_TARGET, common_ids, ids_by_owner
from ._types import Index
from .dataset import Dataset

_MANY_INCOMPLETE = 0.5
_RULES = (  # in what ids may differ that mean the same sample
    ("spaces", lambda label: re.sub(r"\s+", "", label)),
    ("upper and lower case", lambda label: label.strip().casefold()),
    ("leading zeros", lambda label: re.sub(r"(?<!\d)0+(?=\d)", "", label.strip())),
    ("separators", lambda label: re.sub(r"[\s._-]+", "-", label.strip())),
    ("spaces, case, zeros or separators", lambda label: _bare(label)),
)


def _bare(label: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\s._-]+", "", label.casefold()))


def sample_findings(dataset: Dataset) -> Iterator[Finding]:
    """Sizes, duplicates, overlap, near misses and order of ids."""
    for name, table in dataset.tables.items():
        size = f"{count(len(table), 'sample')}, {count(table.shape[1], 'column')}"
        yield Finding("ok", name, f"{size} ({dataset.kind(name)}).")
        yield from _duplicates(name, table.index)
    if dataset.y is not None:
        yield from _duplicates("target", dataset.y.index)
    yield from _overlap(dataset)
    yield from _near_misses(dataset)
    yield from _order(dataset)


def _duplicates(name: str, ids: Index) -> Iterator[Finding]:
    repeated = ids[ids.duplicated()].unique()
    if len(repeated):
        first = repeated[0]
        yield Finding(
            "problem",
            name,
            f"{count(len(repeated), 'id')} occur{'s' if len(repeated) == 1 else ''} more than once "
            f"({first!r} {int((ids == first).sum())} times): keep one row per sample, or average "
            "them.",
        )


def _overlap(dataset: Dataset) -> Iterator[Finding]:
    owners = ids_by_owner(dataset.tables, dataset.y)
    union = next(iter(owners.values()))
    for ids in owners.values():
        union = union.union(ids, sort=False)
    common = common_ids(dataset.tables, dataset.y)
    counts = {name: len(union) - len(ids) for name, ids in owners.items()}
    lacking = [f"{n:,} {'lacks' if n == 1 else 'lack'} {name}" for name, n in counts.items() if n]
    if not lacking:
        yield Finding("ok", "samples", f"All {count(len(union), 'sample')} are in every source.")
        return
    share = f"{len(common):,} of {count(len(union), 'sample')} are in every source"
    share += " and have a target" if dataset.y is not None else ""
    if len(common) == 0:
        yield Finding(
            "problem",
            "samples",
            f"No sample is in every source ({'; '.join(lacking)}): compare the ids of the files.",
        )
    else:
        few = len(common) < _MANY_INCOMPLETE * len(union)
        yield Finding("warning" if few else "note", "samples", f"{share}; {'; '.join(lacking)}.")
    yield from _strangers(dataset, owners)


def _strangers(dataset: Dataset, owners: dict[str, Index]) -> Iterator[Finding]:
    """Sources that share no sample with any other."""
    for name, table in dataset.tables.items():
        others = [ids for other, ids in owners.items() if other != name]
        if not others or any(table.index.isin(ids).any() for ids in others):
            continue
        turned = [
            other
            for other, ids in owners.items()
            if other != name and _mostly_in(table.columns, ids)
        ]
        if turned and dataset.kind(name) == "features":
            sentence = (
                f"Its columns, not its rows, are the samples of {turned[0]}: the table lies on its "
                "side; transpose the file."
            )
        else:
            sentence = (
                f"Shares no sample id with any other file (its ids: "
                f"{listing(map(repr, table.index), 3)}; elsewhere: "
                f"{listing(map(repr, others[0]), 3)}); correct the ids, or leave the source out."
            )
        yield Finding("problem", name, sentence)


def _mostly_in(columns: Any, ids: Index) -> bool:
    return len(columns) > 0 and float(columns.isin(ids).mean()) > 0.5


def _near_misses(dataset: Dataset) -> Iterator[Finding]:
    """Ids without a partner that would have one if they were written alike."""
    owners = ids_by_owner(dataset.tables, dataset.y)
    reference = THE_TARGET if dataset.y is not None else next(iter(owners))
    expected = owners[reference]
    for name, ids in owners.items():
        lonely = ids[~ids.isin(expected)]
        missing = expected[~expected.isin(ids)]
        if name == reference or not len(lonely) or not len(missing):
            continue
        for what, rule in _RULES:
            partners = {rule(str(label)): str(label) for label in missing}
            pairs = [(str(a), partners[rule(str(a))]) for a in lonely if rule(str(a)) in partners]
            if pairs:
                shown = listing((f"{a!r} and {b!r}" for a, b in pairs), 2)
                yield Finding(
                    "warning",
                    name,
                    f"{count(len(pairs), 'id')} differ{'s' if len(pairs) == 1 else ''} from "
                    f"those of {reference} only in {what} ({shown}) and so count as other "
                    "samples: write them alike.",
                )
                break


def _order(dataset: Dataset) -> Iterator[Finding]:
    owners = ids_by_owner(dataset.tables, dataset.y)
    first, expected = next(iter(owners.items()))
    for name, ids in list(owners.items())[1:]:
        theirs, ours = ids[ids.isin(expected)], expected[expected.isin(ids)]
        if not theirs.equals(ours):
            yield Finding(
                "note",
                "target" if name == THE_TARGET else name,
                f"Its samples are in another order than in {first}; ids match them.",
            )
