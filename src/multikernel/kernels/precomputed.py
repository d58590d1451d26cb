"""PrecomputedKernels: a kernel set over Gram or distance matrices that exist already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import gen_batches

from .._component import Array
from .._gram_stack import GramStack
from .._validation import (
    check_distances,
    check_finite,
    check_gram,
    check_semidefinite,
    check_stack,
    look_like_grams,
    looked_at,
    refuse_collection,
)
from .base import Kernels, Queries
from .bundle import KernelBundle
from .distances import ExpDistance
from .family import KernelFamily
from .group import Group, Index, make_groups
from .rows import plain, presence

_TOGETHER = 1 << 18  # entries of small matrices that are checked at once


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
        Refuse indefinite Gram matrices, at the cost of one Cholesky factorisation each. From 512
        samples on it is done in single precision, where eigenvalues above -1e-6 √n times the
        largest diagonal entry pass. Estimators test matrices of more than 64 samples on a third
        of them first, or on up to 256, and then, on all samples, those that get a weight and those
        for which αᵀKα ≤ 0, with the dual coefficients α of the model. An indefinite matrix that
        gets no weight although αᵀKα > 0 may be left out without a word.

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
        masks = {name: presence(bundle, name) for name in self.sources_}
        self.present_ = {name: mask for name, mask in masks.items() if mask is not None}
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

    def _training_bases(self) -> Iterator[Array]:
        if self.training_ is None:
            raise ValueError("grams needs the training kernels, which restrict has dropped.")
        for group in self.groups_:
            K = self._matrix(self.training_, group.source)
            self._check(K, group.source)
            yield K

    def _stacks(self) -> Iterator[GramStack]:
        """Gram matrices as they are, small ones checked together; see :meth:`vouch`."""
        if self.kind_ == "distance" or self.present_:
            yield from super()._stacks()
            return
        some = self.check_psd and looked_at(self.n_samples_).step > 1
        training: Any = self.training_
        count = max(1, _TOGETHER // self.n_samples_**2)
        for batch in gen_batches(len(self.groups_), count):
            groups = self.groups_[batch]
            Ks = training.stack(batch, self.columns_)
            if not look_like_grams(Ks, definite=self.check_psd):
                for group in groups:  # each in the precision in which it was given
                    self._check(self._matrix(training, group.source), group.source)
            elif some:
                self.glanced_ += [group.source for group in groups]
            self.n_base_computations_ += len(groups)
            kernels = [group.kernels[0] for group in groups]
            normalizers = [kernel.normalizer for kernel in kernels]
            stack = GramStack(np.array([kernel.index for kernel in kernels]), Ks)
            yield normalizers[0].learn(normalizers, stack, self.share_)

    def vouch(self, kernels: Iterable[int] | None = None) -> None:
        """Refuse kernels that are indefinite on all training samples; the stream looks at some."""
        training: Any = self.training_
        wanted = {group.source for group in self._select(kernels)}
        for source in filter(wanted.__contains__, self.glanced_):
            check_semidefinite(self._matrix(training, source), source)
        self.glanced_ = [source for source in self.glanced_ if source not in wanted]

    def _matrix(self, training: KernelBundle, source: str) -> Array:
        """The matrix of a source between the training samples that have it."""
        own = self._having(source)
        return training.block(source, self.columns_[own], own)

    def _check(self, K: Array, source: str) -> None:
        """Refuse a matrix that is not what its kind asks for."""
        _refuse_blank(K, source, self.ids_[self._having(source)])
        if self.kind_ == "distance":
            check_distances(K, source)
        else:
            check_gram(K, source, definite=self.check_psd)

    def _bind(self, Z: Any, groups: Sequence[Group], positions: Index) -> Queries:
        refuse_collection(Z)
        wanted = {g.source: self._wanted(g.source, positions) for g in groups}
        if isinstance(Z, KernelBundle) != self.keyed_:
            raise TypeError(
                f"fitted on {'a KernelBundle' if self.keyed_ else 'an array'}, so queries must be "
                f"one too, got {type(Z).__name__}."
            )
        if isinstance(Z, KernelBundle):
            self._check_bundle(Z)
            position = Z.columns_of(self.ids_)
            columns = {source: position[own] for source, own in wanted.items()}
        else:
            Z, columns = self._wrap_array(Z), wanted
        masks = {source: presence(Z, source) for source in wanted}
        present = {s: np.flatnonzero(mask) for s, mask in masks.items() if mask is not None}
        for source, own in columns.items():
            rows = present.get(source, slice(None))
            block = Z.block(source, own, rows)
            _refuse_blank(block, source, Z.ids[rows])
            check_finite(block, source)
        return _BoundKernels(Z, columns, len(Z), present)

    def _wanted(self, source: str, positions: Index) -> Index:
        """The training samples that have a source among those at hand at some positions."""
        wanted: Index = self.samples_[self._having(source)][self._own_positions(source, positions)]
        return wanted

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
        self.training_, self.glanced_ = None, []


@dataclass
class _BoundKernels(Queries):
    """Query kernels against some training samples."""

    bundle: KernelBundle
    columns: dict[str, Index]
    n_queries: int
    present: dict[str, Index]

    def base(self, group: Group, rows: slice) -> Array:
        columns = self.columns[group.source]
        return self.bundle.block(group.source, columns, self._rows(group, rows))

    def diag(self, group: Group, rows: slice) -> Array:
        queries = self._rows(group, rows)
        own = self.bundle.columns_of(self.bundle.ids[queries])
        if np.any(own < 0):
            raise ValueError(
                "self-similarities of the queries are needed, which these precomputed kernels do "
                "not hold; pass a KernelBundle with a column per query. Predictive variances and "
                "class probabilities need them; of the normalisations only 'cosine' does."
            )
        return self.bundle.block(group.source, own, queries).diagonal()

    def among(self, group: Group) -> Array:
        queries = self._rows(group, slice(0, None))
        columns = self.bundle.columns_of(self.bundle.ids[queries])
        if np.any(columns < 0):
            raise ValueError(
                "covariances between queries need kernels among them, which these precomputed "
                "kernels do not hold; pass a KernelBundle with a column per query."
            )
        return self.bundle.block(group.source, columns, queries)

    def _rows(self, group: Group, rows: slice) -> Any:
        """Rows of the bundle from positions among the queries that have the source."""
        where = self.present.get(group.source)
        return rows if where is None else where[rows]


def _refuse_blank(K: Array, source: str, ids: Any) -> None:
    """Refuse samples without any number, and tell how to say that they lack the source."""
    blank = np.isnan(K[:, 0]) if K.shape[1] else np.zeros(0, dtype=bool)
    blank[blank] = np.isnan(K[blank]).all(axis=1)
    if blank.any():
        first = plain(ids[np.flatnonzero(blank)[0]])
        raise ValueError(
            f"{source!r} contains NaN only for {blank.sum()} of {len(K)} samples, first {first!r}. "
            f"If they lack this source, say so: KernelBundle(..., present={{{source!r}: mask}})."
        )
