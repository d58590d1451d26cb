"""PrecomputedKernels: a kernel set over Gram or distance matrices that exist already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from .._validation import check_distances, check_finite, check_gram, check_stack, refuse_collection
from .base import Kernels, Queries
from .bundle import KernelBundle
from .distances import ExpDistance
from .family import KernelFamily
from .group import Group, Index, make_groups
from .rows import plain


@dataclass(repr=False)
class _Given(KernelFamily):
    """A Gram matrix as it was given."""

    @property
    def name(self) -> str:
        """Given by the user."""
        return "precomputed"

    def kernel_name(self, source: str, parameters: str) -> str:
        """The name that the matrix was given."""
        return source

    def base(self, X: Any, Z: Any = None) -> Array:
        """Read the matrix from the bundle instead."""
        raise NotImplementedError


@dataclass(repr=False)
class PrecomputedKernels(Kernels):
    """Kernels computed elsewhere: a bundle with sample ids, or an array.

    Parameters
    ----------
    families : KernelFamily or list of them, optional
        How distances become kernels; ``ExpDistance(width=[0.25, 1, 4])`` by default. Each distance
        matrix serves all of them. Gram matrices need none.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        As for :class:`KernelSet`.
    check_psd : bool, default=True
        Refuse indefinite Gram matrices, at the cost of one Cholesky factorisation each.

    Notes
    -----
    Training samples are a :class:`KernelBundle` or an array of shape (n, n, n_kernels). Queries
    are a bundle whose columns include the training samples, or an array of shape
    (n_queries, n, n_kernels).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import KernelBundle, PrecomputedKernels
    >>> X = np.random.default_rng(0).normal(size=(8, 3))
    >>> K = KernelBundle({"one": X @ X.T, "two": np.eye(8)})
    >>> kernels = PrecomputedKernels(normalize=None).fit(K[:6])
    >>> kernels.names_
    ['one', 'two']
    >>> kernels.cross_combine(K[6:], np.array([0.0, 1.0]), np.ones(6))
    array([0., 0.])
    """

    families: KernelFamily | Sequence[KernelFamily] | None = None
    normalize: str | None = "variance"
    check_psd: bool = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"normalize": None})

    def _open(self, X: Any) -> list[Group]:
        refuse_collection(X)
        self.keyed_ = isinstance(X, KernelBundle)
        bundle = X if self.keyed_ else KernelBundle.from_array(check_stack(X))
        self.training_: KernelBundle | None = bundle
        self.kind_ = bundle.kind
        self.n_samples_ = len(bundle)
        if self.n_samples_ == 0:
            raise ValueError("The bundle is empty: it holds no samples.")
        self.ids_ = bundle.ids
        self.columns_ = bundle.columns_of(self.ids_)
        if np.any(self.columns_ < 0):
            missing = self.ids_[np.flatnonzero(self.columns_ < 0)[0]]
            raise ValueError(
                f"The kernels have no column for the training sample {missing!r}: at fit every "
                "row must be among the columns."
            )
        families = self._families()
        self.sources_ = bundle.names
        return make_groups(dict.fromkeys(self.sources_, families), self.normalize)

    def _families(self) -> list[KernelFamily]:
        if self.kind_ == "gram":
            if self.families is not None:
                raise ValueError(
                    "families turn distances into kernels, but the bundle holds Gram matrices; "
                    "leave families=None, or use KernelBundle.from_distances."
                )
            return [_Given()]
        if self.families is None:
            return [ExpDistance(width=[0.25, 1.0, 4.0])]
        return [self.families] if isinstance(self.families, KernelFamily) else list(self.families)

    def _training_base(self, group: Group) -> Array:
        if self.training_ is None:
            raise ValueError("grams needs the training kernels, which restrict has dropped.")
        base = self.training_.block(group.source, self.columns_)
        if self.kind_ == "distance":
            check_distances(base, group.source)
        else:
            check_gram(base, group.source, definite=self.check_psd)
        return base

    def _bind(self, Z: Any, groups: Sequence[Group], positions: Index) -> Queries:
        refuse_collection(Z)
        wanted = self.samples_[positions]
        if isinstance(Z, KernelBundle) != self.keyed_:
            raise TypeError(
                f"fitted on {'a KernelBundle' if self.keyed_ else 'an array'}, so queries must be "
                f"one too, got {type(Z).__name__}."
            )
        if isinstance(Z, KernelBundle):
            self._check_bundle(Z)
            columns = Z.columns_of(self.ids_[wanted])
        else:
            Z = self._wrap_array(Z)
            columns = wanted
        for group in groups:
            check_finite(Z.block(group.source, columns), group.source)
        return _BoundKernels(Z, columns, len(Z))

    def _check_bundle(self, Z: KernelBundle) -> None:
        """Refuse a bundle of other kernels or without the training samples."""
        if Z.kind != self.kind_ or not set(self.sources_) <= set(Z.names):
            raise ValueError(
                f"expected {self.kind_} matrices named {', '.join(self.sources_)}; got "
                f"{Z.kind} matrices named {', '.join(Z.names)}."
            )
        needed = self.ids_[self.samples_]
        missing = needed[Z.columns_of(needed) < 0]
        if len(missing):
            raise ValueError(
                f"expected kernels against the {self.n_samples_} training samples, but "
                f"{len(missing)} of them are not among the columns, first {plain(missing[0])!r}."
            )

    def _wrap_array(self, Z: Any) -> KernelBundle:
        """An array of shape (n_queries, n, n_kernels) as a bundle; its rows are new samples."""
        Z = np.asarray(Z)
        Z = Z[:, :, None] if Z.ndim == 2 else Z
        if Z.ndim != 3 or Z.shape[2] != self.n_kernels_:
            raise ValueError(
                f"expected {self.n_kernels_} kernels in an array of shape (n_queries, "
                f"{self.n_samples_}, {self.n_kernels_}), got shape {Z.shape}."
            )
        if Z.shape[1] != self.n_samples_:
            raise ValueError(
                f"expected kernels against the {self.n_samples_} training samples, got "
                f"{Z.shape[1]} columns: pass K[:, train] or give the full bundle."
            )
        strangers = -1 - np.arange(len(Z))
        return KernelBundle.from_array(Z, ids=strangers, column_ids=self.ids_)

    def _forget(self, positions: Index) -> None:
        self.training_ = None


@dataclass
class _BoundKernels(Queries):
    """Query kernels against some training samples."""

    bundle: KernelBundle
    columns: Index
    n_queries: int

    def base(self, group: Group, rows: slice) -> Array:
        return self.bundle.block(group.source, self.columns, rows)

    def diag(self, group: Group, rows: slice) -> Array:
        own = self.bundle.columns_of(self.bundle.ids[rows])
        if np.any(own < 0):
            raise ValueError(
                "self-similarities of the queries are needed, which these precomputed kernels do "
                "not hold; use normalize='variance', or a KernelBundle with a column per query."
            )
        return self.bundle.block(group.source, own, rows).diagonal()
