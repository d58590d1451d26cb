"""Prefixes: the sources of one table, by what stands before a separator in its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

_SEPARATORS = ("__", ":", "/", ".", "_")  # between the name of a source and that of a feature


class Cut(NamedTuple):
    """The sources of a table, the separator after their names, and columns of none of them."""

    sources: list[str]
    separator: str
    others: list[str]


def cut_by_prefix(columns: Sequence[str]) -> Cut | None:
    """Sources from columns that are named ``source_feature``; None where they are not.

    Examples
    --------
    >>> cut_by_prefix(["rna_g1", "rna_g2", "mri_v1", "mri_v2"])
    Cut(sources=['rna', 'mri'], separator='_', others=[])
    """
    for separator in _SEPARATORS:
        prefixes = list(dict.fromkeys(c.partition(separator)[0] for c in columns))
        named = all(0 < c.find(separator) < len(c) - len(separator) for c in columns)
        if named and 2 <= len(prefixes) <= len(columns) / 2:
            return Cut(prefixes, separator, [])
    return None


def cut_as_known(columns: Sequence[str], known: Mapping[str, Collection[str]]) -> Cut | None:
    """The sources of a fit, whatever other columns there are; None where there is none of them.

    Parameters
    ----------
    columns : sequence of str
    known : mapping from str to collection of str
        The columns of every source at the fit.

    Examples
    --------
    >>> known = {"rna": ["rna_g1", "rna_g2"], "mri": ["mri_v1", "mri_v2"]}
    >>> cut_as_known(["rna_g1", "rna_g2", "age"], known)
    Cut(sources=['rna'], separator='_', others=['age'])
    """
    for separator in _SEPARATORS:
        starts = {
            source: source + separator
            for source, theirs in known.items()
            if any(c in theirs and c.startswith(source + separator) for c in columns)
        }
        if starts:
            others = [c for c in columns if not c.startswith(tuple(starts.values()))]
            return Cut(list(starts), separator, others)
    return None
