"""Head acceleration after a simulated motorcycle impact: one variable, one target, uneven noise."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch

_DESCR = """Acceleration of the head in a simulated motorcycle impact, 133 measurements.

time          milliseconds after the impact; 94 distinct values, from 2.4 to 57.6
acceleration  in units of g

The noise is small before the impact and large after it. Measured by Schmidt, Mattern and Schueler
(1981) to test crash helmets, published by B. W. Silverman, Some aspects of the spline smoothing
approach to non-parametric regression curve fitting, JRSS B 47 (1985), and since then a standard
example. The numbers are those of the data set mcycle of the R package MASS, which as a package is
under GPL-2 | GPL-3; they are records of measurements, and no text or code of MASS is included.
"""


def load_motorcycle(*, return_X_y: bool = False) -> Any:
    """Load the motorcycle data, a curve that no kernel of a single width fits well.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(X, y)`` instead of the whole bunch.

    Returns
    -------
    data : Bunch
        ``X`` (times in ms, array of shape (133, 1)), ``y`` (accelerations in g, array of shape
        (133,)), ``feature_names``, ``target_name`` and ``DESCR``, which says where the numbers
        come from and under which terms.

    Examples
    --------
    >>> from multikernel.datasets import load_motorcycle
    >>> X, y = load_motorcycle(return_X_y=True)
    >>> X.shape, float(y.min())
    ((133, 1), -134.0)
    """
    text = files(__package__).joinpath("data", "motorcycle.csv").read_text(encoding="utf-8")
    header, *rows = text.splitlines()
    values = np.array([row.split(",") for row in rows], dtype=np.float64)
    X, y = values[:, :1].copy(), values[:, 1].copy()
    if return_X_y:
        return X, y
    names = header.split(",")
    return Bunch(X=X, y=y, feature_names=names[:1], target_name=names[1], DESCR=_DESCR)
