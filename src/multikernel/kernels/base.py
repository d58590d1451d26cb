"""Kernels: what every kernel set can do, wherever its numbers come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import gen_batches

from .._component import Array, Component
from .._gram_stack import GramStack
from .._validation import check_gram
from .group import Group, Index, Kernel, unique_names
from .normalize import coefficient_sums, sample_shares
from .presence import Mask, check_enough

_BLOCK_ENTRIES = 1 << 22  # entries of one query-by-training matrix held at a time


class Queries(ABC):
    """Checked queries, bound to some of the training samples.

    ``present`` holds the positions of the queries that have a source, for the sources that some
    lack. Bases have rows only for queries, and columns only for training samples, that have theirs.
    """

    n_queries: int
    present: dict[str, Index]

    @abstractmethod
    def base(self, group: Group, rows: slice) -> Array:
        """The base of a group between some queries that have its source and training samples."""

    @abstractmethod
    def diag(self, group: Group, rows: slice) -> Array:
        """The base of some queries that have the source of a group with themselves."""

    @abstractmethod
    def among(self, group: Group) -> Array:
        """The base of a group between all queries that have its source."""

    def locate(self, source: str, rows: slice) -> tuple[slice, Any]:
        """Some queries among those that have a source, and where they are within these rows."""
        if source not in self.present:
            return rows, slice(None)
        where = self.present[source]
        start, stop = np.searchsorted(where, (rows.start, rows.stop))
        return slice(int(start), int(stop)), where[start:stop] - rows.start


@dataclass
class _Terms:
    """The expansion of one group: kernels with their raw coefficients and offsets."""

    group: Group
    kernels: list[Kernel]
    coefs: list[Array]
    offsets: list[Array]

    def parts(self, queries: Queries, rows: slice) -> Iterator[tuple[int, Array]]:
        """The share of every kernel in the predictor, shape (n_rows, T) each."""
        if rows.start == rows.stop or not len(self.coefs[0]):
            return
        base = queries.base(self.group, rows)
        for kernel, coef, offset in zip(self.kernels, self.coefs, self.offsets, strict=True):
            F = kernel.gram(base) @ coef + offset
            diag = _query_diag(kernel, queries, self.group, rows)
            yield kernel.index, kernel.normalizer.finish(F, diag)


class Kernels(Component, ABC):
    """Several kernels on the same samples: training Grams as a stream, predictions in blocks.

    Subclasses say where the shared bases come from. No method holds more than a few matrices of
    size (n, n) at a time. After ``fit``, ``weights`` and ``coef`` always have the sizes of the
    training problem, also on a set that was restricted.

    Samples may lack a source. Its kernels are computed between those that have it, their scales
    and normalisations are learned from the training samples that have it, and they are zero for
    the others, which thus sit at the origin of the feature space.

    Attributes
    ----------
    n_kernels_, n_samples_ : int
    names_ : list of str
    n_base_computations_ : int
        Bases (distance matrices, inner products, ...) computed for training Grams so far.
    present_ : dict of str to array of bool
        The training samples that have a source, for the sources that some lack.
    glanced_ : list of str
        The sources of which :meth:`vouch` has still to make costly checks.
    """

    normalize: str | None
    n_samples_: int
    present_: dict[str, Mask]
    glanced_: list[str]

    @abstractmethod
    def _open(self, X: Any) -> list[Group]:
        """Check and remember the training data, and list the kernels on it by base."""

    @abstractmethod
    def _training_bases(self) -> Iterator[Array]:
        """The base of every group between all training samples that have its source."""

    @abstractmethod
    def _bind(self, Z: Any, groups: Sequence[Group], positions: Index) -> Queries:
        """Check queries and bind them to the kept training samples at some positions."""

    @abstractmethod
    def _forget(self, positions: Index) -> None:
        """Drop the training data that the groups left and the samples at positions do not need."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn scales and normalisations from the training data.

        Parameters
        ----------
        X : table, row container or array
            The training samples.
        y : ignored
        sample_weight : array of shape (n,), optional
            Weights of the samples in medians, means and variances, such that an integer weight
            equals repetition.
        """
        for _ in self.fit_stacks(X, y, sample_weight):
            pass
        self.vouch()
        return self

    def fit_grams(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Iterator[tuple[int, Array]]:
        """Like ``fit``, and stream the normalised training Grams as (m, K) on the way.

        ``n_kernels_``, ``n_samples_`` and ``names_`` are known at once; the rest is learned by the
        time the stream is exhausted. Each K is new and may be modified; m need not be in order.
        """
        self._begin(X, sample_weight)
        return self._stream()

    def fit_stacks(self, X: Any, y: Any = None, sample_weight: Any = None) -> Iterator[GramStack]:
        """Like ``fit_grams``, as matrices that a bank will normalise, small ones together.

        Costly checks are left to :meth:`vouch`, which is to be called for the kernels put to use.
        """
        self._begin(X, sample_weight)
        return self._stacks()

    def vouch(self, kernels: Iterable[int] | None = None) -> None:
        """Make the checks of some kernels that ``fit_stacks`` has put off: here none."""

    def _begin(self, X: Any, sample_weight: Any) -> None:
        """Open the training data and name the kernels on it."""
        self.present_, self.glanced_ = {}, []
        self.groups_ = self._open(X)
        self.samples_ = np.arange(self.n_samples_)
        self.share_ = sample_shares(sample_weight, self.n_samples_)
        check_enough(self.present_, self.share_)
        self.weighted_ = sample_weight is not None
        self.names_ = unique_names(self._kernels())
        self.n_kernels_ = len(self.names_)
        self.n_base_computations_ = 0
        self.rows_ = [kernel.row() for kernel in self._kernels()]

    def fit_factors(self, X: Any, y: Any = None, sample_weight: Any = None) -> list[Array] | None:
        r"""Like ``fit``, with factors :math:`Z_m` of the training Grams :math:`Z_m Z_m^\top`.

        None, and nothing learned, where a kernel has no exact factor of low rank. No matrix of
        size (n, n) is formed.
        """
        return None

    def grams(self) -> Iterator[tuple[int, Array]]:
        """Stream the normalised training Grams again, recomputed from the training data."""
        self._require_unrestricted("grams")
        return self._stream()

    def _stacks(self) -> Iterator[GramStack]:
        """Training Grams, yet to be normalised where all samples have their source."""
        for kernel, K in self._raw():
            if kernel.source in self.present_:
                K = self._finished(kernel, K)
                yield GramStack(np.array([kernel.index]), K[np.newaxis])
            else:
                stack = GramStack(np.array([kernel.index]), K[np.newaxis])
                share = self._share(kernel.source)
                yield kernel.normalizer.learn([kernel.normalizer], stack, share)

    def _stream(self) -> Iterator[tuple[int, Array]]:
        for kernel, K in self._raw():
            yield kernel.index, self._finished(kernel, K)

    def _finished(self, kernel: Kernel, K: Array) -> Array:
        """A raw Gram, which is overwritten, normalised and put where its samples are."""
        where = self._having(kernel.source)
        K = kernel.normalizer.fit_transform(K, self._share(kernel.source))
        return embed(K, self.n_samples_, where, where)

    def _raw(self) -> Iterator[tuple[Kernel, Array]]:
        """Training Grams, each a new array, between the samples that have their source."""
        for group, base in zip(self.groups_, self._training_bases(), strict=True):
            share = self._share(group.source)
            self.n_base_computations_ += 1
            scales: dict[int, float] = {}
            for kernel in group.kernels:
                if id(kernel.family) not in scales:
                    weights = share if self.weighted_ else None
                    scales[id(kernel.family)] = kernel.family.fit_scale(base, weights)
                kernel.scale = scales[id(kernel.family)]
                K = kernel.gram(base)
                if not kernel.family.trusted:
                    check_gram(K, self.names_[kernel.index])
                yield kernel, K

    def cross(
        self, Z: Any, kernels: Iterable[int] | None = None, samples: Any = None
    ) -> Iterator[tuple[int, Array]]:
        """Stream normalised kernels between queries and training samples as (m, K).

        Parameters
        ----------
        Z : queries, of the same form as the training samples
        kernels : iterable of int, optional
            Only these kernels.
        samples : array of int, optional
            Only the columns of these training samples.
        """
        self._require_unrestricted("cross")
        groups = self._select(kernels)
        queries = self._bind(Z, groups, self.samples_)
        for group in groups:
            rows, where = queries.locate(group.source, slice(0, queries.n_queries))
            columns = self._having(group.source)
            share = self._share(group.source)
            base = self._query_base(queries, group, rows)
            for kernel in group.kernels:
                diag = _query_diag(kernel, queries, group, rows)
                K = kernel.normalizer.transform(kernel.gram(base), share, diag)
                K = embed(K, queries.n_queries, where, columns, self.n_samples_)
                yield kernel.index, K if samples is None else K[:, samples]

    def diag(self, Z: Any, kernels: Iterable[int] | None = None) -> Iterator[tuple[int, Array]]:
        """Stream normalised self-similarities k(z, z) of the queries as (m, array)."""
        self._require_unrestricted("diag")
        groups = self._select(kernels)
        queries = self._bind(Z, groups, self.samples_)
        for group in groups:
            rows, where = queries.locate(group.source, slice(0, queries.n_queries))
            base_diag = _base_diag(queries, group, rows)
            for kernel in group.kernels:
                means = None
                if kernel.normalizer.needs_all:
                    base = self._query_base(queries, group, rows)
                    means = kernel.gram(base) @ self._share(group.source)
                diag = kernel.normalizer.self_similarity(kernel.gram(base_diag), means)
                yield kernel.index, embed(diag, queries.n_queries, where)

    def among(self, Z: Any, kernels: Iterable[int] | None = None) -> Iterator[tuple[int, Array]]:
        """Stream normalised kernels between all queries as (m, K), K of shape (n_queries,) * 2."""
        self._require_unrestricted("among")
        groups = self._select(kernels)
        queries = self._bind(Z, groups, self.samples_)
        for group in groups:
            rows, where = queries.locate(group.source, slice(0, queries.n_queries))
            own = np.zeros((0, 0)) if rows.start == rows.stop else queries.among(group)
            for kernel in group.kernels:
                means = None
                if kernel.normalizer.needs_all:
                    base = self._query_base(queries, group, rows)
                    means = kernel.gram(base) @ self._share(group.source)
                K = kernel.normalizer.transform_among(kernel.gram(own), means)
                yield kernel.index, embed(K, queries.n_queries, where, where)

    def _query_base(self, queries: Queries, group: Group, rows: slice) -> Array:
        """The base between queries and training samples, also where no query has the source."""
        if rows.start == rows.stop:
            return np.zeros((0, len(self._share(group.source))))
        return queries.base(group, rows)

    def cross_combine(
        self,
        Z: Any,
        weights: Array,
        coef: Array,
        *,
        contributions: bool = False,
        block_size: int | None = None,
    ) -> Array:
        r"""The predictor :math:`\sum_m d_m \sum_j a_j k_m(z, x_j)` at every query.

        Only kernels with non-zero weight are computed, against samples with non-zero
        coefficients, in blocks of queries.

        Parameters
        ----------
        Z : queries, of the same form as the training samples
        weights : array of shape (n_kernels,) or (n_kernels, T)
        coef : array of shape (n,) or (n, T)
        contributions : bool, default=False
            Keep the kernels apart instead of summing over them.
        block_size : int, optional
            Number of queries at a time; chosen to bound memory by default.

        Returns
        -------
        array of shape (n_queries, T), or (n_queries, T, n_kernels) with contributions; without
        the axis T if neither weights nor coef has it
        """
        A, D = self._check_expansion(weights, coef)
        terms, positions = self._expand(A, D)
        queries = self._bind(Z, [term.group for term in terms], positions)
        out = np.zeros((queries.n_queries, A.shape[1], self.n_kernels_ if contributions else 1))
        size = block_size or max(1, _BLOCK_ENTRIES // max(len(positions), 1))
        for batch in gen_batches(queries.n_queries, size):
            for term in terms:
                rows, where = queries.locate(term.group.source, batch)
                for m, F in term.parts(queries, rows):
                    out[batch][where, :, m if contributions else 0] += F
        out = out if contributions else out[:, :, 0]
        return out[:, 0] if np.ndim(coef) == np.ndim(weights) == 1 else out

    def _expand(self, A: Array, D: Array) -> tuple[list[_Terms], Index]:
        """Raw coefficients of every kernel in use, and the positions of the samples they need."""
        kept = A[self.samples_]
        terms = []
        needed = np.zeros(len(kept), dtype=bool)
        weighted = np.flatnonzero(D.any(axis=1) & A.any())
        for group in self._select(weighted):
            used = [kernel for kernel in group.kernels if kernel.normalizer.factor_]
            if used:
                own, share = self._having(group.source), self._share(group.source)
                pairs = [k.normalizer.expand(kept[own] * D[k.index], share) for k in used]
                terms.append(_Terms(group, used, [c for c, _ in pairs], [o for _, o in pairs]))
                needed[own] |= np.any([c.any(axis=1) for c, _ in pairs], axis=0)
        positions = np.flatnonzero(needed)
        for term in terms:
            own = self._own_positions(term.group.source, positions)
            term.coefs = [coef[own] for coef in term.coefs]
        return terms, positions

    def _having(self, source: str) -> Any:
        """The positions, among the samples at hand, of those that have a source."""
        if source not in self.present_:
            return slice(None)
        return np.flatnonzero(self.present_[source][self.samples_])

    def _share(self, source: str) -> Array:
        """The shares of the samples at hand that have a source, one in sum over training."""
        if source not in self.present_:
            return self.share_[self.samples_]
        mass = self.share_[self.present_[source]].sum()
        share: Array = self.share_[self.samples_][self._having(source)] / mass
        return share

    def _own_positions(self, source: str, positions: Index) -> Index:
        """Samples at hand, by position, as positions among those that have a source."""
        if source not in self.present_:
            return positions
        return np.flatnonzero(np.isin(self._having(source), positions))

    def needed(self, weights: Array, coef: Array) -> tuple[Index, Index]:
        """The samples that :meth:`cross_combine` will compute with, and the kernels with a weight.

        Kernels that are zero, such as those of a constant source, need no samples. Centred kernels
        need every training sample that has their source, unless the coefficients of these sum to
        zero, as with an intercept they do for a source that all samples have.
        """
        A, D = self._check_expansion(weights, coef)
        _, positions = self._expand(A, D)
        return self.samples_[positions], np.flatnonzero(D.any(axis=1))

    def restrict(self, samples: Any = None, kernels: Iterable[int] | None = None) -> Self:
        """A smaller copy that serves only some training samples and kernels.

        Weights and coefficients keep the sizes of the training problem and must be zero
        elsewhere. Use ``kernels.restrict(*kernels.needed(weights, coef))``.
        """
        small = copy(self)
        wanted = self.samples_ if samples is None else np.unique(np.asarray(samples, np.intp))
        positions = np.flatnonzero(np.isin(self.samples_, wanted))
        small.groups_ = [
            group.take(self._own_positions(group.source, positions))
            for group in self._select(kernels)
        ]
        small.rows_ = self.table()
        small._forget(positions)
        small.samples_ = self.samples_[positions]
        return small

    def sources_in_use(self) -> list[str]:
        """The sources that queries must have: those of the kernels at hand."""
        return list(dict.fromkeys(group.source for group in self.groups_))

    def table(self) -> list[dict[str, Any]]:
        """One row per kernel: its name, its factors, and the scales learned.

        ``scale`` is the unit of the family's parameter (the median distance, ...), ``factor`` what
        the raw kernel was multiplied with.
        """
        rows = [{"kernel": name, **row} for name, row in zip(self.names_, self.rows_, strict=True)]
        for kernel in self._kernels():
            rows[kernel.index] |= {"scale": kernel.scale, "factor": kernel.normalizer.factor_}
        return rows

    def _kernels(self) -> list[Kernel]:
        """The kernels at hand, in order."""
        every = (kernel for group in self.groups_ for kernel in group.kernels)
        return sorted(every, key=lambda kernel: kernel.index)

    def _select(self, kernels: Iterable[int] | None) -> list[Group]:
        """The groups with only some of their kernels; groups without any are dropped."""
        if kernels is None:
            return self.groups_
        wanted = {int(m) for m in kernels}
        chosen = [[k for k in group.kernels if k.index in wanted] for group in self.groups_]
        pairs = zip(self.groups_, chosen, strict=True)
        return [replace(group, kernels=some) for group, some in pairs if some]

    def _require_unrestricted(self, method: str) -> None:
        if len(self.samples_) < self.n_samples_:
            raise ValueError(
                f"{method} needs all {self.n_samples_} training samples, but this "
                f"{type(self).__name__} was restricted to {len(self.samples_)} of them."
            )

    def _check_expansion(self, weights: Array, coef: Array) -> tuple[Array, Array]:
        """Coefficients of shape (n, T) and weights of shape (M, T), after checks."""
        weights, coef = np.asarray(weights, np.float64), np.asarray(coef, np.float64)
        if len(weights) != self.n_kernels_ or len(coef) != self.n_samples_:
            raise ValueError(
                f"expected {self.n_kernels_} weights and coefficients of {self.n_samples_} "
                f"training samples, got shapes {weights.shape} and {coef.shape}."
            )
        A = coef.reshape(self.n_samples_, -1)
        D = weights.reshape(self.n_kernels_, -1)
        n_outputs = max(A.shape[1], D.shape[1])
        if not {A.shape[1], D.shape[1]} <= {1, n_outputs}:
            raise ValueError(
                f"weights for {D.shape[1]} outputs do not fit coefficients for {A.shape[1]}."
            )
        A = np.broadcast_to(A, (len(A), n_outputs))
        D = np.broadcast_to(D, (len(D), n_outputs))
        self._check_restriction(A, D)
        return A, D

    def _check_restriction(self, A: Array, D: Array) -> None:
        """Refuse an expansion in samples or kernels that were dropped."""
        at_hand = np.zeros(self.n_kernels_, dtype=bool)
        at_hand[[kernel.index for kernel in self._kernels()]] = True
        if D[~at_hand].any():
            missing = self.names_[int(np.flatnonzero(D.any(axis=1) & ~at_hand)[0])]
            raise ValueError(f"kernel {missing!r} has a weight but was dropped by restrict.")
        if len(self.samples_) < self.n_samples_:
            rest = np.ones(self.n_samples_, dtype=bool)
            rest[self.samples_] = False
            if any(self._misses(group, A, rest) for group in self.groups_):
                raise ValueError(
                    "the coefficients need training samples that were dropped by restrict; "
                    "choose them with needed(weights, coef)."
                )

    def _misses(self, group: Group, A: Array, rest: Mask) -> bool:
        """Whether a group needs samples of the rest, for their coefficients or for a mean."""
        having = self.present_.get(group.source, np.ones(self.n_samples_, dtype=bool))
        kernels = [kernel for kernel in group.kernels if kernel.normalizer.factor_]  # not zero
        lost = rest & having & bool(kernels)
        centred = lost.any() and any(kernel.normalizer.needs_all for kernel in kernels)
        return bool(A[lost].any() or (centred and coefficient_sums(A[having]).any()))


def embed(K: Array, n_rows: int, rows: Any, columns: Any = None, n_columns: int = 0) -> Array:
    """An array put where its samples are, zero elsewhere; itself where all samples are in it.

    Parameters
    ----------
    K : array of shape (n_own_rows,), (n_own_rows, T) or (n_own_rows, n_own_columns)
    n_rows : int
    rows : slice or array of int
        Where the rows belong, a full slice for all.
    columns : slice or array of int, optional
        Where the columns belong; None for one-dimensional arrays and for factors.
    n_columns : int, optional
        As many as rows by default.
    """
    if all(isinstance(where, slice) for where in (rows, columns) if where is not None):
        return K
    if columns is None:
        out = np.zeros((n_rows, *K.shape[1:]), dtype=K.dtype)
        out[rows] = K
        return out
    out = np.zeros((n_rows, n_columns or n_rows), dtype=K.dtype)
    row_positions, column_positions = (
        np.arange(size)[where] for size, where in zip(out.shape, (rows, columns), strict=True)
    )
    out[np.ix_(row_positions, column_positions)] = K
    return out


def _base_diag(queries: Queries, group: Group, rows: slice) -> Array:
    """The base of queries with themselves, also where no query has the source."""
    return np.zeros(0) if rows.start == rows.stop else queries.diag(group, rows)


def _query_diag(kernel: Kernel, queries: Queries, group: Group, rows: slice) -> Array | None:
    """Raw self-similarities of the queries, for the normalisations that need them."""
    return kernel.gram(_base_diag(queries, group, rows)) if kernel.normalizer.needs_diag else None
