"""Kernels between queries, normalised as the training samples taught: for joint covariances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._component import Array
from ..kernels import Kernels
from ..kernels.base import Queries
from ..kernels.group import Group, Kernel


def query_kernels(kernels: Kernels, X: Any, active: Sequence[int]) -> Iterator[tuple[int, Array]]:
    r"""Stream normalised kernels between all queries as (m, K), K of shape (n_queries, n_queries).

    Parameters
    ----------
    kernels : Kernels
        Fitted, with all training samples at hand.
    X : queries, of the same form as the training samples
    active : sequence of int
        Only these kernels.
    """
    groups = kernels._select(active)
    queries = kernels._bind(X, groups, kernels.samples_)
    rows = slice(0, queries.n_queries)
    for group in groups:
        own = _own_base(queries, group)
        centred = any(kernel.normalizer.needs_all for kernel in group.kernels)
        cross = queries.base(group, rows) if centred else None
        for kernel in group.kernels:
            means = None if cross is None else kernel.gram(cross) @ kernels.share_
            yield kernel.index, _normalize(kernel, kernel.gram(own), means)


def _own_base(queries: Queries, group: Group) -> Array:
    """The base of a group between all queries."""
    if hasattr(queries, "views"):
        view = queries.views[group.source, group.family.kind]
        return np.asarray(group.family.base(view))
    bundle = queries.bundle  # type: ignore[attr-defined]
    columns = bundle.columns_of(bundle.ids)
    if np.any(columns < 0):
        raise ValueError(
            "covariances between queries need kernels among them, which these precomputed kernels "
            "do not hold; pass a KernelBundle with a column per query."
        )
    return np.asarray(bundle.block(group.source, columns))


def _normalize(kernel: Kernel, K: Array, means: Array | None) -> Array:
    r"""Replay a normalisation: :math:`k - \mu(z) - \mu(z') + \mu_0`, unit diagonal, a factor."""
    normalizer: Any = kernel.normalizer
    if normalizer.needs_all:
        shift = np.asarray(means) - normalizer.mean_ / 2
        return np.asarray((K - shift - shift[:, np.newaxis]) * normalizer.factor_)
    if normalizer.needs_diag:
        roots = np.sqrt(np.maximum(np.diagonal(K), 0.0))
        scale = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        return np.asarray(K * scale * scale[:, np.newaxis])
    return np.asarray(K * normalizer.factor_)
