"""save_model and load_model: fitted models as files that cannot run code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._atomic import write_atomically
from ._archive import Archive
from ._versions import warn_of_differences

_PICKLE = b"\x80"  # how pickles, and so files of joblib, begin


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model, slimmed down to what prediction needs.

    The file holds the training samples that predictions are computed with (the support vectors),
    the kernels that have a weight, and all results of the fit; not the Gram matrices. It is
    written as a whole or not at all.

    Parameters
    ----------
    model : estimator
        Fitted; one of multikernel or a scikit-learn pipeline with one.
    path : str or path
        The file, by custom ``*.skops``. An older one is replaced.

    Raises
    ------
    TypeError
        Where the model holds functions of your own, or types that :func:`load_model` would refuse.
    OSError
        Where the file cannot be written; an older one is then as it was.

    See Also
    --------
    load_model : Read the file again.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from multikernel import MKLClassifier, load_model, save_model
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 4)), rng.integers(2, size=60)
    >>> model = MKLClassifier({"left": [0, 1], "right": [2, 3]}).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.skops")
    ...     save_model(model, path)
    ...     again = load_model(path)
    >>> bool(np.all(again.decision_function(X) == model.decision_function(X)))
    True
    """
    _require_skops()
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"save_model needs a fitted estimator, got {type(model).__name__}.")
    check_is_fitted(model)
    path = Path(path)
    archive = Archive.of(model, path.name)
    archive.read_stamp()
    if strange := archive.strange_types():
        raise TypeError(
            f"This {type(model).__name__} holds {', '.join(strange)}, which load_model would "
            "refuse; save the part that predicts alone, such as search.best_estimator_."
        )
    write_atomically(path, archive.data)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`save_model` wrote, without running code from the file.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator
        With the same predictions and results. What needs all training kernels again, such as
        ``kernels_.grams()``, is not available.

    Raises
    ------
    ValueError
        Where the file is damaged, of another kind, of a newer format, or holds a type that is not
        trusted, which is named. Nothing of it was then loaded.

    Warns
    -----
    UserWarning
        Where other versions of multikernel, scikit-learn or numpy wrote the file.

    See Also
    --------
    save_model : Write the file.

    Notes
    -----
    A file is data: it names types, and these must be among :func:`trusted_types`, scikit-learn's
    estimators, and plain values and arrays. Do not load pickles of others; these are programs.
    """
    _require_skops()
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name the model file in it.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    data = path.read_bytes()
    if data.startswith(_PICKLE):
        raise ValueError(
            f"{path.name} is a pickle, which could run any code and is therefore never opened; ask "
            "for the model as a file of multikernel.save_model."
        )
    archive = Archive(data, path.name)
    written = archive.read_stamp()
    model = archive.read_model()
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"{path.name} holds a {type(model).__name__} instead of a model.")
    warn_of_differences(written, path.name)
    return model


def _require_skops() -> None:
    try:
        import skops.io  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Model files are written and read by skops: pip install 'multikernel[persistence]'."
        ) from error
