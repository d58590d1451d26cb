"""Preparation of sources inside the fold: each by its own pipeline, on the samples that have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._validation import as_numbers, holds_times, is_missing
from ..kernels import ViewBundle
from ..kernels.align import blank, spread
from ..kernels.magnitude import refuse_huge
from ..kernels.rows import Index, take_rows
from ..kernels.views import feature_names
from ._documented import Documented
from ._rollback import all_or_nothing

_BLIND = {  # packages of scikit-learn whose transformers read targets only if they require them
    "cluster",
    "compose",
    "decomposition",
    "feature_extraction",
    "impute",
    "kernel_approximation",
    "pipeline",
    "preprocessing",
    "random_projection",
}


class SourcePreparation(Documented, TransformerMixin, BaseEstimator):
    """Fill in missing values and scale columns, source by source, with training samples only.

    Parameters
    ----------
    pipelines : mapping from str to transformer, optional
        A transformer of its own for some sources; "passthrough" leaves one as it is. The others
        get their missing values replaced by the mean of the column and are scaled to zero mean and
        unit variance. Sparse sources and sources of strings pass through.

    Attributes
    ----------
    pipelines_ : dict
        The fitted transformer of every source, None for those that pass through.
    n_missing_ : dict
        Missing values of every source in the training samples that have it.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ViewBundle
    >>> from multikernel import SourcePreparation
    >>> X = ViewBundle({"rna": np.array([[1.0], [np.nan], [3.0]]), "dna": ["GAT", "TAC", "CAT"]})
    >>> SourcePreparation().fit_transform(X).block("rna").ravel().round(3)
    array([-1.225,  0.   ,  1.225])
    """

    def __init__(self, pipelines: Mapping[str, Any] | None = None) -> None:
        self.pipelines = pipelines

    @all_or_nothing
    def fit(self, X: ViewBundle, y: Any = None) -> Self:
        """Fit the transformer of every source to the samples that have it.

        Parameters
        ----------
        X : ViewBundle
        y : array of shape (n_samples,), optional
            Passed on to the transformers.
        """
        given = _check_pipelines(self.pipelines)
        if unknown := sorted(set(given) - set(X.names)):
            raise ValueError(
                f"pipelines names the sources {', '.join(map(repr, unknown))}, which are not "
                f"there; there are: {', '.join(X.names)}."
            )
        self.pipelines_, self.n_missing_, self._no_rows = {}, {}, {}
        for name in X.names:
            block, rows = _own_rows(X, name)
            own = name in given
            if not own and not _passes(block):
                _refuse_text(block, name)
                _refuse_huge(block, name)
            transformer = given[name] if own else "passthrough" if _passes(block) else _default()
            target = None if y is None else np.asarray(y)[rows]
            self.pipelines_[name] = _fit(transformer, block, target, name)
            self.n_missing_[name] = _count_missing(block)
            if (fitted := self.pipelines_[name]) is not None:
                first = _as_block(fitted.transform(take_rows(block, slice(0, 1))))
                self._no_rows[name] = blank(first, 0)
        return self

    def transform(self, X: ViewBundle) -> ViewBundle:
        """The bundle with every source transformed; rows of samples that lack it are blank.

        Parameters
        ----------
        X : ViewBundle
        """
        check_is_fitted(self)
        blocks = {name: self._transform(X, name) for name in X.names}
        return ViewBundle(blocks, {name: X.has(name) for name in X.names}, X.ids)

    def _transform(self, X: ViewBundle, name: str) -> Any:
        transformer = self.pipelines_.get(name)
        if transformer is None:
            return X.block(name)
        block, rows = _own_rows(X, name)
        part = _as_block(transformer.transform(block)) if len(rows) else self._no_rows[name]
        if len(rows) == len(X):
            return part
        positions = np.full(len(X), -1)
        positions[rows] = np.arange(len(rows))
        return spread(part, positions, X.ids)


def reads_targets(transformer: Any) -> bool:
    """Whether a transformer may learn from the targets.

    So may all but those whose parts come from packages of scikit-learn that never do, unless a part
    says that it requires targets: neither a tag nor the signature of ``fit`` tells in general.
    """
    if not hasattr(transformer, "get_params"):
        return False
    parts = [transformer, *transformer.get_params(deep=True).values()]
    fitted = [part for part in parts if hasattr(part, "fit") and not isinstance(part, type)]
    return any(not _is_blind(part) or get_tags(part).target_tags.required for part in fitted)


def _is_blind(part: Any) -> bool:
    library, _, rest = type(part).__module__.partition(".")
    return library == "sklearn" and rest.split(".")[0] in _BLIND


def _as_block(part: Any) -> Any:
    """What a transformer returns, as an array or a sparse array of rows."""
    return csr_array(part) if issparse(part) else np.asarray(part)


def _own_rows(X: ViewBundle, name: str) -> tuple[Any, Index]:
    """The rows of the samples that have a source, and where they are."""
    rows = np.flatnonzero(X.has(name))
    return X[rows].block(name), rows


def _default() -> Any:
    imputer = SimpleImputer(strategy="mean", keep_empty_features=True)
    return make_pipeline(imputer, StandardScaler())


def _fit(transformer: Any, block: Any, y: Any, name: str) -> Any:
    """A fitted copy of the transformer, None for those that pass through."""
    if isinstance(transformer, str) and transformer == "passthrough":
        return None
    _check_transformer(transformer, name)
    if not block.shape[0]:
        raise ValueError(
            f"Source {name!r} is present in none of the training samples; leave the source out, or "
            "choose folds that keep samples with it in training."
        )
    return clone(transformer).fit(block, y)


def _check_pipelines(pipelines: Any) -> dict[str, Any]:
    """Transformers by the name of their source."""
    if pipelines is not None and not isinstance(pipelines, Mapping):
        raise TypeError(
            "pipelines must map names of sources to transformers, as in "
            f"{{'rna': StandardScaler()}}; got {pipelines!r}."
        )
    return dict(pipelines or {})


def _check_transformer(transformer: Any, name: str) -> None:
    """Refuse what cannot be fitted and applied."""
    able = hasattr(transformer, "fit") and hasattr(transformer, "transform")
    if able and not isinstance(transformer, type):
        return
    raise ValueError(
        f"pipelines[{name!r}] must be a transformer, got {transformer!r}; use 'passthrough' to "
        "leave the source as it is, or leave its name out for the default preparation."
    )


def _passes(block: Any) -> bool:
    """Whether a source is sparse or text, which pass through."""
    return issparse(block) or len(block.shape) == 1


def _refuse_text(block: Any, name: str) -> None:
    """Refuse columns that are not numbers, by their names."""
    if as_numbers(block) is not None:
        return
    by_name = hasattr(block, "columns")
    columns = list(block.columns) if by_name else list(range(block.shape[1]))
    if text := [c for c in columns if _is_text(block[c] if by_name else block[:, c])]:
        raise ValueError(
            f"Source {name!r} has columns that are not numbers: {', '.join(map(repr, text[:5]))}. "
            f"Encode them with pipelines={{{name!r}: ...}}, for instance by OneHotEncoder in a "
            "ColumnTransformer, or leave them out."
        )


def _refuse_huge(block: Any, name: str) -> None:
    """Refuse values whose variance is no number."""
    if (numbers := as_numbers(block)) is not None:
        refuse_huge(numbers, name, feature_names(block))


def _is_text(column: Any) -> bool:
    known = [value for value in np.asarray(column, dtype=object) if not is_missing(value)]
    return holds_times(column) or as_numbers(known) is None


def _count_missing(block: Any) -> int:
    """NaN, None and NA."""
    numbers = as_numbers(block.data if issparse(block) else block)
    if numbers is not None:
        return int(np.isnan(numbers).sum())
    return sum(map(is_missing, np.asarray(block, dtype=object).ravel()))
