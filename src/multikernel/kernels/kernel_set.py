"""KernelSet: views × families × parameters, the one place where Gram matrices are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from .._component import Array, resolve
from .._memory import LOW_RANK
from .._validation import holds_times, refuse_collection
from .base import Kernels, Queries, embed
from .bundle import KernelBundle
from .custom import FunctionKernel
from .families import KERNELS, default_families
from .family import KernelFamily
from .group import Group, Index, make_groups
from .magnitude import refuse_huge
from .rows import presence, take_rows
from .views import ViewBundle, feature_names, resolve_columns, take_columns

ViewKey = tuple[str, str]  # source, kind


@dataclass(repr=False)
class KernelSet(Kernels):
    """Many kernels on many views: the cross product of sources, families and parameters.

    Parameters
    ----------
    sources : mapping, optional
        From the name of each source to its columns: a slice, a list of positions or names, a
        mask, a pattern of names such as ``"rna_*"``, or a callable such as
        :func:`sklearn.compose.make_column_selector`; or to a pair (columns, families) to give
        this source its own families. By default the whole table is one source, ``"all"``, and
        every view of a :class:`ViewBundle` is one.
    families : KernelFamily, str or list of them, optional
        Default: linear, and RBF at 1/4, 1 and 4 times the median squared distance.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        Learned on training samples and replayed on queries. The default centres every kernel
        and scales it to unit variance in feature space, so that weights compare.

    Attributes
    ----------
    n_kernels_, n_samples_ : int
    names_ : list of str
    n_base_computations_ : int
        Distance or product matrices computed for training Grams; parameters share them.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import KernelSet
    >>> from multikernel.kernels import RBF, Linear
    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> kernels = KernelSet({"left": slice(0, 2), "right": [2, 3, 4]}, [Linear(), RBF([0.5, 2])])
    >>> kernels.fit(X).names_[:3]
    ['left/linear', 'left/rbf(width=0.5)', 'left/rbf(width=2)']
    >>> kernels.n_kernels_, kernels.n_base_computations_
    (6, 4)
    """

    sources: Mapping[str, Any] | None = None
    families: KernelFamily | str | Sequence[KernelFamily | str] | None = None
    normalize: str | None = "variance"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"normalize": None})

    def _open(self, X: Any) -> list[Group]:
        X = _as_table(X)
        self.columns_: dict[str, Any] = {}
        self.widths_: dict[str, int] = {}
        families = {}
        for source, (columns, own) in _split_sources(self.sources, X).items():
            block = X.block(source) if isinstance(X, ViewBundle) else X
            if len(block.shape) == 2:
                self.columns_[source] = resolve_columns(block, columns, source)
                self.widths_[source] = block.shape[1]
            families[source] = _as_families(self.families if own is None else own)
            has = presence(X, source)
            if has is not None:
                self.present_[source] = has
        self.feature_names_ = feature_names(X)
        groups = make_groups(families, self.normalize)
        self.n_samples_ = X.shape[0]
        self.views_ = self._views(X, groups)
        return groups

    def fit_factors(self, X: Any, y: Any = None, sample_weight: Any = None) -> list[Array] | None:
        r"""Like ``fit``, with factors :math:`Z_m` of the training Grams :math:`Z_m Z_m^\top`.

        None, and nothing learned, unless every kernel is linear on few features: at most a
        twentieth of the samples, on average.
        """
        self._begin(X, sample_weight)
        pairs = [
            (kernel, self.views_[_key(group)]) for group in self.groups_ for kernel in group.kernels
        ]
        if not all(hasattr(kernel.family, "factor") for kernel, _ in pairs):
            return None
        if np.mean([view.shape[1] for _, view in pairs]) > LOW_RANK * self.n_samples_:
            return None
        pairs.sort(key=lambda pair: pair[0].index)
        return [
            embed(
                k.normalizer.fit_factor(k.family.factor(view), self._share(k.source)),
                self.n_samples_,
                self._having(k.source),
            )
            for k, view in pairs
        ]

    def _training_bases(self) -> Iterator[Array]:
        for group in self.groups_:
            yield group.family.base(self.views_[_key(group)])

    def _bind(self, Z: Any, groups: Sequence[Group], positions: Index) -> Queries:
        Z = _as_table(Z)
        self._check_names(Z)
        whole = len(positions) == len(self.samples_)
        keys = {_key(group) for group in groups}
        training = self.views_ if whole else self._training_views(keys, positions)
        masks = {source: presence(Z, source) for source, _ in keys}
        present = {s: np.flatnonzero(mask) for s, mask in masks.items() if mask is not None}
        return _BoundViews(self._views(Z, groups), training, Z.shape[0], present)

    def _forget(self, positions: Index) -> None:
        self.views_ = self._training_views({_key(group) for group in self.groups_}, positions)

    def _training_views(self, keys: Iterable[ViewKey], positions: Index) -> dict[ViewKey, Any]:
        """The rows of some training samples at hand, of those that have each source."""
        return {
            key: take_rows(self.views_[key], self._own_positions(key[0], positions)) for key in keys
        }

    def _views(self, X: Any, groups: Sequence[Group]) -> dict[ViewKey, Any]:
        """The checked block of every source, once per kind of input that its families read.

        Only the rows of samples that have the source are read; nothing where none has it.
        """
        views = {}
        for group in groups:
            has = presence(X, group.source)
            if has is not None and not has.any():
                continue
            if _key(group) not in views:
                block = self._block(X, group.source)
                block = block if has is None else take_rows(block, np.flatnonzero(has))
                views[_key(group)] = _read(block, group)
            for family in {id(k.family): k.family for k in group.kernels}.values():
                _check_view(views[_key(group)], family, group.source)
        return views

    def _block(self, X: Any, source: str) -> Any:
        block = X.block(source) if isinstance(X, ViewBundle) else X
        if source not in self.columns_:
            return block
        if len(block.shape) != 2 or block.shape[1] != self.widths_[source]:
            raise ValueError(
                f"Source {source!r} was fitted on tables of {self.widths_[source]} columns, got "
                f"shape {block.shape}."
            )
        return take_columns(block, self.columns_[source])

    def _check_names(self, Z: Any) -> None:
        """Refuse queries whose columns have other names than those of the training table."""
        names = feature_names(Z)
        if names is not None and self.feature_names_ is not None and names != self.feature_names_:
            pairs = zip_longest(names, self.feature_names_)
            got, expected = next(pair for pair in pairs if pair[0] != pair[1])
            raise ValueError(
                "The columns must be those of the training table, in the same order; found "
                f"{got!r} where {expected!r} was expected."
            )


@dataclass
class _BoundViews(Queries):
    """Blocks of the queries and of the training samples, by source and kind."""

    views: dict[ViewKey, Any]
    training: dict[ViewKey, Any]
    n_queries: int
    present: dict[str, Index]

    def base(self, group: Group, rows: slice) -> Array:
        block = take_rows(self.views[_key(group)], rows)
        return group.family.base(block, self.training[_key(group)])

    def diag(self, group: Group, rows: slice) -> Array:
        return group.family.base_diag(take_rows(self.views[_key(group)], rows))

    def among(self, group: Group) -> Array:
        return group.family.base(self.views[_key(group)])


def _as_table(X: Any) -> Any:
    """Samples with rows and columns, or views of them."""
    if isinstance(X, KernelBundle):
        raise TypeError(
            "KernelSet computes kernels from features; for a bundle of kernels use "
            "PrecomputedKernels (kernels='precomputed')."
        )
    refuse_collection(X)
    return X if hasattr(X, "shape") else np.asarray(X)


def _key(group: Group) -> ViewKey:
    return group.source, group.family.kind


def _split_sources(sources: Mapping[str, Any] | None, X: Any) -> dict[str, tuple[Any, Any]]:
    """Columns and own families (or None) of every source."""
    if sources is None:
        names = X.names if isinstance(X, ViewBundle) else ["all"]
        return dict.fromkeys(names, (None, None))
    if not isinstance(sources, Mapping) or not sources:
        raise TypeError(f"sources must map names to columns, got {sources!r}.")
    if isinstance(X, ViewBundle):
        for name in sources:
            if name not in X.names:
                raise ValueError(
                    f"Source {name!r} is not a view of the bundle; it has: {', '.join(X.names)}."
                )
    for name, entry in sources.items():
        if isinstance(entry, KernelFamily):
            raise TypeError(
                f"Source {name!r} must map to columns, or to a pair (columns, families); for a "
                f"kernel on the whole view use (None, {entry!r})."
            )
    return {
        name: entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
        for name, entry in sources.items()
    }


def _as_families(families: Any) -> list[KernelFamily]:
    """A list of families from a name, a family, a list of them, or None for the default."""
    if families is None:
        return default_families()
    if isinstance(families, str | KernelFamily) or callable(families):
        families = [families]
    if not families:
        raise ValueError("families is empty; name at least one kernel family.")
    if isinstance(families, Mapping):
        raise TypeError(
            "families is a list for all sources; for families of one source use "
            "sources={name: (columns, families)}, with columns=None for a whole view."
        )
    return [_as_family(family) for family in families]


def _as_family(family: Any) -> KernelFamily:
    function = callable(family) and not isinstance(family, KernelFamily)
    part: KernelFamily = FunctionKernel(family) if function else family
    return resolve(part, KERNELS, "linear", "family")


def _read(block: Any, group: Group) -> Any:
    """A block as its families read it: numbers, strings or as given."""
    if group.family.kind == "raw":
        return block
    if group.family.kind == "strings":
        return _as_strings(block, group.source)
    if len(block.shape) == 1 and not np.issubdtype(block.dtype, np.number):
        raise TypeError(
            f"Source {group.source!r} holds strings, which {type(group.family).__name__} cannot "
            "read; give it families of its own, such as Spectrum()."
        )
    block = np.asarray(block)[:, None] if len(block.shape) == 1 else block
    _refuse_text(block, group.source)
    view = check_array(
        block, accept_sparse="csr", dtype=np.float64, input_name=f"source {group.source!r}"
    )
    refuse_huge(view, group.source, feature_names(block))
    return view


def _refuse_text(block: Any, source: str) -> None:
    """Refuse columns of text or dates by their names, before they fail to be numbers."""
    if not hasattr(block, "columns"):
        _refuse_times(block, f"Source {source!r}")
        return
    for column in block.columns:
        _refuse_times(block[column], f"Source {source!r}: column {column!r}")
        values = np.asarray(block[column], dtype=object)
        text = next((v for v in values if isinstance(v, str)), None)
        if text is not None:
            raise ValueError(
                f"Source {source!r}: column {column!r} holds text ({text!r}); encode it as "
                "numbers, for instance with pandas.get_dummies or OneHotEncoder, or leave it out."
            )


def _refuse_times(values: Any, where: str) -> None:
    if holds_times(values):
        raise ValueError(
            f"{where} holds dates or times, which are no features; turn them into numbers, such as "
            "an age in years, or leave them out."
        )


def _as_strings(block: Any, source: str) -> Any:
    """A block as a one-dimensional array of strings."""
    strings = np.asarray(block, dtype=object)
    if strings.ndim == 2 and strings.shape[1] == 1:
        strings = strings[:, 0]
    if strings.ndim != 1 or not all(isinstance(s, str) for s in strings):
        raise TypeError(f"Source {source!r} must be one column of strings to compare substrings.")
    return strings


def _check_view(view: Any, family: KernelFamily, source: str) -> None:
    """Refuse sparse or negative blocks for families that cannot read them."""
    if issparse(view) and not family.accepts_sparse:
        able = ", ".join(cls.__name__ for cls in KERNELS.values() if cls.accepts_sparse)
        raise TypeError(
            f"{type(family).__name__} does not accept sparse input (source {source!r}); convert "
            f"it with .toarray(), or choose one of: {able}."
        )
    if family.nonnegative and (view.min() if view.shape[0] else 0.0) < 0:
        raise ValueError(
            f"{type(family).__name__} compares histograms and needs non-negative features, but "
            f"source {source!r} contains {view.min():.3g}."
        )
