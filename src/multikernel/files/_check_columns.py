"""Columns: constant, missing, infinite and huge values, source by source."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..kernels.magnitude import LARGEST
from ._encode import constant_columns
from ._errors import count, listing
from ._finding import Finding
from ._table import is_sparse
from .dataset import Dataset

_MUCH_MISSING = 0.05


def column_findings(dataset: Dataset) -> Iterator[Finding]:
    """What every source has of columns that no kernel can use as they are."""
    clean = True
    for name, table in dataset.tables.items():
        if is_sparse(table) or dataset.kind(name) != "features":
            continue  # constant columns of sparse ones are in the notes of the reading
        values = table.to_numpy()
        found = [*_missing(name, values), *_infinite(name, values, table.columns)]
        found += _too_large(name, values, table.columns)
        clean = clean and not found
        yield from found
        yield from _constant(name, constant_columns(table), table.shape[1])
    if clean:
        yield Finding("ok", "values", "No value is missing, infinite or too large for products.")


def _missing(name: str, values: np.ndarray) -> Iterator[Finding]:
    missing = np.isnan(values)
    if not missing.any():
        return
    share = missing.mean()
    n_rows, n_columns = int(missing.any(axis=1).sum()), int(missing.any(axis=0).sum())
    yield Finding(
        "warning" if share > _MUCH_MISSING else "note",
        name,
        f"{int(missing.sum()):,} of {count(values.size, 'value')} ({share:.1%}) are missing, in "
        f"{count(n_columns, 'column')} and {count(n_rows, 'sample')}: they must be filled inside "
        "each fold.",
    )


def _infinite(name: str, values: np.ndarray, columns: object) -> Iterator[Finding]:
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        shown = listing(np.asarray(columns)[infinite], 3)
        yield Finding(
            "problem",
            name,
            f"{count(int(infinite.sum()), 'column')} with infinite values ({shown}): replace them "
            "by numbers, or leave them empty if they are missing.",
        )


def _too_large(name: str, values: np.ndarray, columns: object) -> Iterator[Finding]:
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=0, initial=0.0)
    huge = sizes > LARGEST
    if huge.any():
        shown = listing(np.asarray(columns)[huge], 3)
        yield Finding(
            "problem",
            name,
            f"{count(int(huge.sum()), 'column')} with values of up to {sizes.max():.3g} ({shown}), "
            f"whose products overflow (up to {LARGEST:.0e} they do not): correct them, or rescale "
            "the columns.",
        )


def _constant(name: str, constant: list[str], n_columns: int) -> Iterator[Finding]:
    if len(constant) == n_columns:
        yield Finding("problem", name, "No column varies: leave the source out.")
    elif constant:
        yield Finding(
            "note",
            name,
            f"{count(len(constant), 'column')} without variation ({listing(constant, 3)}) may be "
            "left out: nothing can be learned from constants.",
        )
