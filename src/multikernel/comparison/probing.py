"""A first look at the data: how many kernels there will be, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._component import Array
from ..estimators import MKLClassifier, MKLRegressor, SourcePreparation
from ..kernels import ViewBundle
from .models import is_numeric


def probe(X: Any, y: Array, task: str, kernels: Any, pipelines: Any = None) -> tuple[int, bool]:
    """The number of kernels, and whether there are columns of numbers.

    A plain fit that also finds out, before any other, what is wrong with sources or kernels.
    """
    has_columns = False
    if isinstance(X, ViewBundle):
        X = SourcePreparation(pipelines).fit_transform(X, y)
        has_columns = any(is_numeric(X.block(name)) for name in X.names)
    elif pipelines:
        raise ValueError("pipelines prepare columns, but the sources are kernels already.")
    kind = MKLClassifier if task == "classification" else MKLRegressor
    model = kind(kernels, regularizer="uniform", tol=1e-2).fit(X, y)
    return np.atleast_2d(model.weights_).shape[1], has_columns
