"""A first guess for losses with kinks, from scikit-learn's libsvm."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from .._component import Array
from .._warnings import unsaid
from .base import Problem

_TOL = 1e-3
_STEPS = 100  # per sample


def libsvm_applies(problem: Problem) -> bool:
    """Whether libsvm, which always fits an intercept and knows no offset, has a guess to offer."""
    return problem.fit_intercept and problem.offset is None


def libsvm_dual(problem: Problem, K: Array) -> Array:
    """The dual coefficients of the hinge or epsilon-insensitive machine with kernel K.

    For a loss with walls, which libsvm does not know, this is the machine without them.
    """
    columns = [_one_output(problem, K, t) for t in range(problem.y.shape[1])]
    return np.stack(columns, axis=1)


def _one_output(problem: Problem, K: Array, t: int) -> Array:
    y, cost = problem.y[:, t], problem.cost[:, 0]
    alpha = np.zeros(len(y))
    if problem.loss.y_domain == "sign":
        if np.ptp(y) == 0:
            return alpha
        machine = SVC(C=1.0, kernel="precomputed", tol=_TOL, max_iter=_STEPS * len(y))
    else:
        kinks = problem.loss.kinks(problem.y)[:, 0, t]
        tube = float(np.ptp(kinks)) / 2
        machine = SVR(C=1.0, kernel="precomputed", tol=_TOL, epsilon=tube, max_iter=_STEPS * len(y))
    with unsaid(ConvergenceWarning):  # a guess need not be exact
        machine.fit(K, y, sample_weight=cost)
    alpha[machine.support_] = machine.dual_coef_[0]
    return alpha
