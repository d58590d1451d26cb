"""Inputs: tables, row containers and precomputed kernels, checked once at the border."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._validation import check_stack, refuse_collection, refuse_stack
from ..kernels import KernelBundle, KernelFamily, Kernels, KernelSet, PrecomputedKernels, ViewBundle
from ..kernels.rows import plain

BUNDLES = (ViewBundle, KernelBundle)


def make_kernels(kernels: Any, normalize: str | None, X: Any) -> Kernels:
    """A fresh kernel set from what the user gave as ``kernels``, to be fitted on X."""
    if isinstance(kernels, Kernels):
        fresh: Kernels = clone(kernels)
        return fresh
    if is_precomputed(kernels) or (kernels is None and isinstance(X, KernelBundle)):
        return PrecomputedKernels(normalize=normalize)
    if isinstance(kernels, Mapping):
        return KernelSet(sources=kernels, normalize=normalize)
    if (
        kernels is None
        or isinstance(kernels, (str, KernelFamily, list, tuple))
        or callable(kernels)
    ):
        return KernelSet(families=kernels, normalize=normalize)
    raise TypeError(
        "kernels must be None, 'precomputed', a kernel family, a function or a list of them, a "
        f"dict of sources, or a KernelSet; got {type(kernels).__name__}."
    )


def is_precomputed(kernels: Any) -> bool:
    """Whether arrays given as X are Gram matrices."""
    return isinstance(kernels, PrecomputedKernels) or is_pairwise(kernels)


def is_pairwise(kernels: Any) -> bool:
    """Whether scikit-learn shall cut X by rows and columns.

    True for the name "precomputed" only: a :class:`PrecomputedKernels` object is for bundles,
    which are cut by rows.
    """
    return isinstance(kernels, str) and kernels == "precomputed"


def check_inputs(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Validate X in any of its forms and remember, or compare with, the form of training.

    Parameters
    ----------
    estimator : estimator
        Its ``kernels`` tells how to read an array.
    X : table, row container or array of Gram matrices
    reset : bool
        True in fit, where ``n_features_in_`` and the names are set; False for queries.
    """
    if not issparse(X):
        refuse_collection(X)
    if reset:
        _refuse_empty(X, type(estimator).__name__)
    if isinstance(X, BUNDLES):
        return _check_bundle(estimator, X, reset)
    if not reset and hasattr(estimator, "source_names_in_"):
        raise TypeError(
            f"This {type(estimator).__name__} was fitted on a row container with the blocks "
            f"{', '.join(estimator.source_names_in_)}; pass queries of the same form, got "
            f"{type(X).__name__}."
        )
    if is_precomputed(estimator.kernels):
        return _check_grams(estimator, X, reset)
    if hasattr(X, "columns"):  # a DataFrame: the kernel set chooses and converts its columns
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    refuse_stack(X)
    return validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64)


def _refuse_empty(X: Any, owner: str) -> None:
    """Refuse bundles and DataFrames without rows; scikit-learn refuses arrays."""
    if (isinstance(X, BUNDLES) or hasattr(X, "columns")) and not len(X):
        raise ValueError(
            f"Found a {type(X).__name__} with 0 sample(s) while a minimum of 1 is required by "
            f"{owner}: there are no samples to learn from; look at how they were selected."
        )


def refuse_other_order(X: Any, y: Any) -> None:
    """Refuse pandas targets whose labels say that they belong to other rows of a container.

    Labels that share nothing with the ids number the targets, and so do the ids of samples that
    were given none.
    """
    if not isinstance(X, BUNDLES) or not hasattr(y, "iloc") or len(y) != len(X):
        return
    ours, theirs = X.ids.tolist(), y.index.tolist()
    if ours == theirs:
        return
    same = set(ours) == set(theirs)
    if same or (X.named and not set(ours).isdisjoint(theirs)):
        k = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        raise ValueError(
            f"y names {'the samples of X in another order' if same else 'other samples than X'}: "
            f"row {k} is {plain(theirs[k])!r} where X has {plain(ours[k])!r}; take y.loc[X.ids] "
            "before anything is split, or pass y.to_numpy() if its order is that of X."
        )


def _check_bundle(estimator: Any, X: Any, reset: bool) -> Any:
    names = np.array(X.names, dtype=object)
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.source_names_in_ = names
        estimator.n_features_in_ = getattr(X, "n_features", len(X))
        return X
    known = getattr(estimator, "source_names_in_", None)
    if known is None:
        raise TypeError(
            f"This {type(estimator).__name__} was fitted on a table; pass queries of the same "
            f"form, got {type(X).__name__}."
        )
    task = getattr(estimator, "task", None)
    needed = [*estimator.kernels_.sources_in_use(), task]
    if missing := [name for name in known if name in needed and name not in X.names]:
        absent = [str(name) for name in missing if name != task]
        hint = f" If these samples do not have them, say so: X.with_absent({absent})."
        raise ValueError(
            f"The queries lack the blocks {', '.join(missing)} that the model uses; they "
            f"have: {', '.join(X.names)}.{hint if absent else ''}"
        )
    return X


def _check_grams(estimator: Any, X: Any, reset: bool) -> Any:
    stacked = getattr(X, "ndim", 2) == 3  # then kernels say which of them is not finite, and where
    options: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "allow_nd": True,
        "ensure_all_finite": not stacked,
    }
    if reset:
        estimator.__dict__.pop("source_names_in_", None)
        return check_stack(validate_data(estimator, X, **options))
    X = check_array(X, **options, input_name="X")
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input: kernels against the "
            f"{estimator.n_features_in_} training samples. Pass K[:, train] or a KernelBundle."
        )
    return X
