r"""Tests for scores on the same folds, whose training sets overlap.

Notation: k differences of mean :math:`\bar x` and variance :math:`s^2`, from folds of
:math:`n_1` training and :math:`n_2` test samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from .._component import Array

_ROUNDING = 1e-12  # relative spread of differences that are equal


class TTest(NamedTuple):
    """A mean difference, its standard error, its interval and the p-value of no difference."""

    mean: float
    error: float
    low: float
    high: float
    p_value: float


class Equivalence(NamedTuple):
    """Probabilities that the first is worse, practically as good, or better."""

    worse: float
    same: float
    better: float


def corrected_t_test(
    differences: Array, n_train: float, n_test: float, level: float = 0.95
) -> TTest:
    r"""The corrected resampled t-test of Nadeau and Bengio (2003).

    Parameters
    ----------
    differences : array of shape (k,)
        Score of one model minus that of another, fold by fold.
    n_train, n_test : float
        Samples of a fold.
    level : float, default=0.95
        Of the interval.

    Notes
    -----
    .. math:: t = \bar x \Big/ \sqrt{\big(\tfrac1k + \tfrac{n_2}{n_1}\big)\, s^2}

    with k - 1 degrees of freedom: the plain test, which has 1/k only, takes folds that share most
    of their training samples for independent ones.

    Examples
    --------
    >>> import numpy as np
    >>> test = corrected_t_test(np.array([0.02, 0.03, 0.01, 0.04, 0.02]), n_train=80, n_test=20)
    >>> round(test.mean, 3), round(test.p_value, 3)
    (0.024, 0.035)
    """
    x = np.asarray(differences, dtype=np.float64)
    mean, error = _mean_and_error(x, n_train, n_test)
    if error == 0:
        return TTest(mean, 0.0, mean, mean, 1.0 if mean == 0 else 0.0)
    t = stats.t(len(x) - 1)
    half = float(t.ppf(0.5 + level / 2)) * error
    return TTest(mean, error, mean - half, mean + half, float(2 * t.sf(abs(mean) / error)))


def practical_equivalence(
    differences: Array, n_train: float, n_test: float, rope: float = 0.01
) -> Equivalence:
    r"""The Bayesian correlated t-test of Corani and Benavoli (2015).

    Parameters
    ----------
    differences : array of shape (k,)
        Score of one model minus that of another, fold by fold.
    n_train, n_test : float
        Samples of a fold.
    rope : float, default=0.01
        Differences up to this size are of no practical interest.

    Notes
    -----
    The posterior of the mean difference is Student's t with k - 1 degrees of freedom, centre
    :math:`\bar x` and scale :math:`\sqrt{(1/k + n_2/n_1)\,s^2}`.

    Examples
    --------
    >>> import numpy as np
    >>> practical_equivalence(np.zeros(5), n_train=80, n_test=20)
    Equivalence(worse=0.0, same=1.0, better=0.0)
    """
    x = np.asarray(differences, dtype=np.float64)
    mean, error = _mean_and_error(x, n_train, n_test)
    if error == 0:
        return Equivalence(float(mean < -rope), float(abs(mean) <= rope), float(mean > rope))
    posterior = stats.t(len(x) - 1, mean, error)
    worse, better = float(posterior.cdf(-rope)), float(posterior.sf(rope))
    return Equivalence(worse, 1.0 - worse - better, better)


def _mean_and_error(x: Array, n_train: float, n_test: float) -> tuple[float, float]:
    """The mean difference and its corrected standard error."""
    if x.ndim != 1 or len(x) < 2:
        raise ValueError(f"At least 2 differences are needed, from 2 folds; got {x.size}.")
    variance = float(np.var(x, ddof=1))
    if variance <= (_ROUNDING * float(np.abs(x).max())) ** 2:  # the same on all folds, by chance
        variance = 0.0 if np.all(x == 0) else 1 / (6 * n_test**2)  # of rounding two shares
    return float(x.mean()), float(np.sqrt((1 / len(x) + n_test / n_train) * variance))
