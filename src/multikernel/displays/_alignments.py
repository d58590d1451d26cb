"""Alignments of kernels or sources with each other and with the targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import label_binarize
from sklearn.utils.multiclass import type_of_target

from .._component import Array
from ..banks import PackedBank
from ..banks.base import Index
from ..estimators._inputs import make_kernels
from ..interactions import KernelAlignment
from ..losses import Squared
from ..regularizers import Uniform
from ..solvers import Problem

MAX_KERNELS = 60  # beyond which the kernels of a source are taken together
MAX_ROWS = 150  # beyond which only the rows best aligned with the targets are kept
MAX_SAMPLES = 1000  # drawn at random from more
TARGET = "y"


class Alignments(NamedTuple):
    """Centred alignments of rows with each other and with the targets."""

    alignment: Array
    names: list[str]
    target: Array | None
    note: str


class _Rows(NamedTuple):
    """What the rows of the map are: names, and the row that each kernel belongs to."""

    names: list[str]
    of_kernel: Index
    note: str


def measure_alignments(
    kernels: Any,
    X: Any,
    y: Any,
    *,
    by: str,
    normalize: str | None,
    classification: bool | None,
    max_samples: int,
) -> Alignments:
    """Compute the alignments of kernels, as :meth:`RedundancyDisplay.measure` describes it."""
    X, y, left_out = _draw_samples(X, y, max_samples, pairwise=_is_array_of_grams(kernels))
    made = make_kernels(kernels, normalize, X)
    grams = made.fit_grams(X)
    rows = _rows(made.names_, [row["source"] for row in made.rows_], by)
    n_rows = min(len(rows.names), MAX_ROWS) if by == "auto" else len(rows.names)
    bank = PackedBank(made.n_samples_, n_rows + 1, np.float32)
    target = _target_gram(y, made.n_samples_, classification)
    bank.set_kernel(0, target)
    kept = _fill(bank, grams, rows, target)
    names = [rows.names[row] for row in kept]
    problem = Problem(bank, np.zeros((bank.n_samples, 1)), Squared(), Uniform())
    A = KernelAlignment().matrix(problem, [TARGET, *names])
    order = np.argsort(kept)
    return Alignments(
        A[1:, 1:][np.ix_(order, order)],
        [names[k] for k in order],
        None if y is None else A[0, 1:][order],
        "; ".join(filter(None, [rows.note, _cut(n_rows, rows, y), left_out])),
    )


def _rows(kernels: Sequence[str], sources: Sequence[str], by: str) -> _Rows:
    """A row for every kernel, or for every source."""
    names = list(dict.fromkeys(sources))
    if by == "auto":
        by = "source" if len(kernels) > MAX_KERNELS and 1 < len(names) < len(kernels) else "kernel"
    if by == "kernel":
        return _Rows(list(kernels), np.arange(len(kernels)), "")
    place = {name: i for i, name in enumerate(names)}
    note = f"{len(names)} sources, each the sum of its kernels ({len(kernels):,} in all)"
    return _Rows(names, np.array([place[source] for source in sources]), note)


def _cut(n_rows: int, rows: _Rows, y: Any) -> str:
    """Which rows were kept, where not all are."""
    if n_rows == len(rows.names):
        return ""
    which = f"the first {n_rows}" if y is None else f"the {n_rows} best aligned with {TARGET}"
    return f"{which} of {len(rows.names):,} {'sources' if rows.note else 'kernels'}"


def _fill(
    bank: PackedBank, grams: Iterator[tuple[int, Array]], rows: _Rows, target: Array
) -> list[int]:
    """Add every kernel to its row, centred and of unit norm; the rows kept, in their places.

    A bank with too few places keeps the rows that are best aligned with the targets.
    """
    left = np.bincount(rows.of_kernel, minlength=len(rows.names))
    sums: dict[int, Array] = {}
    kept: list[int] = []
    merit = np.full(bank.n_kernels - 1, -np.inf)
    for m, K in grams:
        row = int(rows.of_kernel[m])
        K = K - K.mean(axis=0)  # H K H, not in the memory of the user's matrix
        K -= K.mean(axis=1, keepdims=True)
        K /= np.linalg.norm(K) or 1.0
        sums[row] = sums[row] + K if row in sums else K
        left[row] -= 1
        if not left[row]:
            total = sums.pop(row)
            place = len(kept) if len(kept) < len(merit) else int(merit.argmin())
            value = np.vdot(total, target) / (np.linalg.norm(total) or 1.0)
            if value > merit[place]:
                bank.set_kernel(place + 1, total)
                merit[place] = value
                kept[place : place + 1] = [row]
    return kept


def _target_gram(y: Any, n: int, classification: bool | None) -> Array:
    r"""The kernel :math:`Y Y^\top` of the targets, a column per class or number."""
    if y is None:
        return np.zeros((n, n))
    y = np.asarray(y)
    if classification is None:
        classification = not type_of_target(y).startswith("continuous")
    Y = label_binarize(y, classes=np.unique(y)) if classification and y.ndim == 1 else y
    Y = np.asarray(Y, dtype=float).reshape(n, -1)
    Y = Y - Y.mean(axis=0)
    Y = Y / (np.abs(Y).max() or 1.0)
    return Y @ Y.T


def _is_array_of_grams(kernels: Any) -> bool:
    return isinstance(kernels, str) and kernels == "precomputed"


def _draw_samples(X: Any, y: Any, max_samples: int, *, pairwise: bool) -> tuple[Any, Any, str]:
    """Some of the samples, at random but always the same, where there are too many."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n <= max_samples:
        return X, y, ""
    rows = np.sort(np.random.default_rng(0).permutation(n)[:max_samples])
    if pairwise and isinstance(X, np.ndarray):
        X = X[np.ix_(rows, rows)]
    else:
        X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    y = None if y is None else np.asarray(y)[rows]
    return X, y, f"{max_samples:,} of {n:,} samples, drawn at random"
