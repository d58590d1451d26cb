"""Real cells: breast tumours seen through three summaries of ten measurements of their cells."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from ..kernels import ViewBundle

_SOURCES = {"average": "mean ", "spread": " error", "extreme": "worst "}  # in names of columns


def load_cells(*, return_X_y: bool = False) -> Any:
    """Load the diagnostic breast cancer data of scikit-learn as three sources.

    Ten properties of cell nuclei (radius, texture, ...) were measured in 569 images. Their averages
    are one source, their standard errors another, and the means of the three largest values a
    third.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of the whole bunch.

    Returns
    -------
    data : Bunch
        ``X`` (a ViewBundle of ``average``, ``spread`` and ``extreme``, ten columns each), ``y``
        (labels ``"benign"`` and ``"malignant"``), ``feature_names`` (the ten properties) and
        ``DESCR``.

    Examples
    --------
    >>> from multikernel.datasets import load_cells
    >>> X, y = load_cells(return_X_y=True)
    >>> X.names, X.block("average").shape, sorted(set(y.tolist()))
    (['average', 'spread', 'extreme'], (569, 10), ['benign', 'malignant'])
    """
    raw = load_breast_cancer()
    names = [str(name) for name in raw.feature_names]
    columns = {
        source: [k for k, name in enumerate(names) if mark in name]
        for source, mark in _SOURCES.items()
    }
    X = ViewBundle({source: raw.data[:, own] for source, own in columns.items()})
    y = raw.target_names[raw.target].astype(str)
    if return_X_y:
        return X, y
    properties = [names[k].removeprefix("mean ") for k in columns["average"]]
    return Bunch(X=X, y=y, feature_names=properties, DESCR=raw.DESCR)
