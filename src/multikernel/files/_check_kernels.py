"""Kernels: definiteness of given ones, redundancy of sources, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from .._component import Array
from .._memory import advise_on_grams, available_memory, format_bytes
from .._validation import check_distances, check_gram
from ..kernels.normalize import feature_variance
from ._errors import count
from ._finding import Finding
from ._join import common_ids, ids_by_owner, rows_of
from ._numbers import standardise
from ._square import mirrored_share
from ._table import is_sparse
from ._types import DataFrame, Index
from .dataset import Dataset

_NEAR_DUPLICATE = 0.98
_MOST_SAMPLES = 1000  # for comparing sources
_FEWEST = 10
_MOST_OPERATIONS = 2e10
_MOST_NUMBERS = 2e7
_MIRRORED = 0.9  # of the entries: no table of features has as many
_MUCH = 0.5  # of the memory that is free


def kernel_findings(dataset: Dataset) -> Iterator[Finding]:
    """Square sources, kinds, near duplicates, numbers of kernels and memory."""
    for name in dataset.tables:
        yield from _square(dataset, name)
    if mixed := dataset.mixed_kinds():
        yield Finding("problem", "sources", mixed)
    yield from _duplicates(dataset)
    owners = ids_by_owner(dataset.tables)
    n_samples = len(set().union(*owners.values()))
    n_kernels = sum(dataset.n_kernels(name) for name in dataset.tables)
    yield from _identifiable(n_samples, n_kernels)
    yield from _memory(n_samples, n_kernels)


def _square(dataset: Dataset, name: str) -> Iterator[Finding]:
    kind, table = dataset.kind(name), dataset.tables[name]
    if kind == "features":
        yield from _nearly_symmetric(name, table)
        return
    K = table.to_numpy()
    try:
        (check_gram if kind == "kernel" else check_distances)(K, name)
    except ValueError as error:
        yield Finding("problem", name, str(error))
    else:
        what = "positive semi-definite" if kind == "kernel" else "without negative distances"
        yield Finding("ok", name, f"Symmetric and {what}.")
        if not _varies(K, kind):
            yield Finding("problem", name, "All samples are alike in it: leave the source out.")


def _nearly_symmetric(name: str, table: DataFrame) -> Iterator[Finding]:
    """A table that may have been meant as a kernel."""
    n, width = table.shape
    if n != width or is_sparse(table):
        return
    share = mirrored_share(table.to_numpy())
    if _MIRRORED < share < 1:
        n_bad = round((1 - share) * n * n)
        yield Finding(
            "warning",
            name,
            f"Square, and all but {n_bad:,} of {n * n:,} entries equal their mirror images: if it "
            "is a kernel matrix, it is not symmetric. It is taken as features.",
        )


def _varies(K: Array, kind: str) -> bool:
    """Whether samples differ: by a distance, or by the variance in feature space of a kernel."""
    if kind == "distance":
        return bool(K.max() > 0)
    return feature_variance(float(np.mean(np.diagonal(K))), float(np.mean(K))) > 0


def _duplicates(dataset: Dataset) -> Iterator[Finding]:
    """Pairs of sources that say the same about which samples are alike."""
    tables = {n: t for n, t in dataset.tables.items() if not is_sparse(t)}
    if len(tables) < 2:
        return
    ids = common_ids(tables)
    work = sum(table.shape[1] for table in tables.values() if len(table))
    n = min(
        len(ids),
        _MOST_SAMPLES,
        int(np.sqrt(_MOST_OPERATIONS / work)),
        int(np.sqrt(_MOST_NUMBERS / len(tables))),
    )
    if n < _FEWEST:
        return
    ids = ids[np.linspace(0, len(ids) - 1, n).astype(int)]
    vectors = {name: _similarities(dataset, name, ids) for name in tables}
    pairs = [
        (a, b, share)
        for a, b in combinations(vectors, 2)
        if (share := float(np.vdot(vectors[a], vectors[b]))) > _NEAR_DUPLICATE
    ]
    for a, b, share in pairs:
        yield Finding(
            "warning",
            f"{a}, {b}",
            f"Nearly the same similarities between samples (centred alignment {share:.3f}): their "
            "weights cannot be told apart; keep one, or read the sum of both.",
        )
    if not pairs:
        yield Finding("ok", "kernels", "No two sources are near duplicates.")


def _similarities(dataset: Dataset, name: str, ids: Index) -> Array:
    r"""Centred linear kernel of standardised columns as a vector of unit length.

    Without its diagonal, which makes all kernels of many columns alike, whatever they hold.
    """
    table = rows_of(dataset.tables[name], ids)
    if dataset.kind(name) == "features":
        Z = standardise(table.to_numpy())
        K = Z @ Z.T
    else:
        K = table[list(table.index)].to_numpy()
        K = -0.5 * K**2 if dataset.kind(name) == "distance" else K.copy()
        K = np.nan_to_num(K, posinf=0.0, neginf=0.0)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
    K[np.diag_indices(len(K))] = 0.0
    norm = np.linalg.norm(K)
    return np.asarray((K / norm if norm > 0 else K).ravel())


def _identifiable(n_samples: int, n_kernels: int) -> Iterator[Finding]:
    if n_kernels > n_samples:
        yield Finding(
            "warning",
            "kernels",
            f"{count(n_samples, 'sample')}, {count(n_kernels, 'kernel')}: single weights are not "
            "identifiable; use fewer kernels, group them by source (GroupNorm), or take their "
            "uniform sum.",
        )


def _memory(n_samples: int, n_kernels: int) -> Iterator[Finding]:
    needed = n_kernels * n_samples * (n_samples + 1) / 2 * 8  # one triangle each, float64
    free = available_memory()
    sum_ = (
        f"{count(n_kernels, 'kernel')} of {count(n_samples, 'sample')} need {format_bytes(needed)}"
    )
    if needed > free:
        yield Finding(
            "problem",
            "memory",
            f"{sum_}, but {format_bytes(free)} are free; {advise_on_grams(n_samples, n_kernels)}. "
            "All but the first are ways of Python.",
        )
    else:
        much = needed > _MUCH * free
        yield Finding(
            "warning" if much else "ok", "memory", f"{sum_}; {format_bytes(free)} are free."
        )
