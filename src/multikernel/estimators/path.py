"""mkl_path: which kernels enter, and how they grow, as the regularization gets weaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import clone

from .._component import Array
from ..solvers import Solution, critical_C, regularization_path
from ._base import BaseMKL, only_or_stack
from ._c_values import as_Cs, check_Cs

_DECADES = 4  # beyond the C at which the first kernel enters
_NOTHING = 1e-6  # of the largest weight
_LOWEST, _HIGHEST = -3, 3  # decades where every C uses some kernel


@dataclass(frozen=True)
class KernelPath:
    """The solutions of one problem for increasing C.

    Attributes
    ----------
    Cs : array of shape (n_Cs,)
    weights : array of shape (n_Cs, n_kernels) or (n_Cs, n_classes, n_kernels)
    gaps, objectives : array of shape (n_Cs,)
        Relative duality gaps and objectives (the largest, and the sum, over classes).
    kernels, sources : list of str
        Name of every kernel, and the source it comes from.
    solutions : list of list of Solution
        All that the solver returned: for every C, one per set of weights.
    """

    Cs: Array
    weights: Array
    gaps: Array
    objectives: Array
    kernels: list[str]
    sources: list[str]
    solutions: list[list[Solution]] = field(repr=False)

    @property
    def n_active(self) -> Array:
        """The number of kernels in use at every C: weights above a millionth of the largest."""
        used = self.weights > _NOTHING * self.weights.max()
        return np.asarray(used.reshape(len(self.Cs), -1, len(self.kernels)).any(axis=1).sum(axis=1))

    def frame(self) -> Any:
        """One row per C and kernel (mean over classes), as a pandas DataFrame."""
        import pandas as pd

        weights = self.weights.reshape(len(self.Cs), -1, len(self.kernels)).mean(axis=1)
        return pd.DataFrame(
            {
                "C": np.repeat(self.Cs, len(self.kernels)),
                "kernel": self.kernels * len(self.Cs),
                "source": self.sources * len(self.Cs),
                "weight": weights.ravel(),
            }
        )


def mkl_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    Cs: int | Sequence[float] = 20,
    sample_weight: Any = None,
) -> KernelPath:
    """Fit an estimator at many C, each started from the last, on kernels computed once.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor, one that chooses its C or a multi-task estimator
        Its C, or how it would choose it, is not used; it is not changed.
    X : table, row container or array of Gram matrices
        Training samples.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    Cs : int or sequence of float, default=20
        They are sorted. A number stands for as many values, evenly spaced in their logarithms, over
        four decades from the C at which the first kernel enters (from 0.001 to 1000 where all are
        always in).
    sample_weight : array of shape (n_samples,), optional
        Factors on C.

    Returns
    -------
    path : KernelPath

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRegressor, mkl_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4))
    >>> y = X[:, 0] + 0.1 * X[:, 2] + 0.05 * rng.normal(size=60)
    >>> model = MKLRegressor({name: ([j], "linear") for j, name in enumerate("abcd")})
    >>> path = mkl_path(model.set_params(regularizer="lp"), X, y, Cs=4)
    >>> path.n_active.tolist()
    [1, 2, 4, 4]
    """
    _check_estimator(estimator)
    check_Cs(Cs)
    model = clone(estimator)
    problems, _ = model._assemble(*model._prepare(X, y, sample_weight))
    with model._naming_indefinite():
        problems = [model._ready(problem) for problem in problems]
        values = _grid(Cs, min(critical_C(problem) for problem in problems))
        paths = [
            regularization_path(problem, values, solver=model._make_solver(problem))
            for problem in problems
        ]
    model._vouch(problems[0].bank, chain(*paths))
    solutions = [list(at_C) for at_C in zip(*paths, strict=True)]
    rows = model.kernels_.table()
    return KernelPath(
        Cs=values,
        weights=np.stack(
            [only_or_stack([model._shape_weights(s.weights) for s in at_C]) for at_C in solutions]
        ),
        gaps=np.array([max(s.gap for s in at_C) for at_C in solutions]),
        objectives=np.array([sum(s.objective for s in at_C) for at_C in solutions]),
        kernels=[row["kernel"] for row in rows],
        sources=[row["source"] for row in rows],
        solutions=solutions,
    )


def _check_estimator(estimator: Any) -> None:
    """Refuse what has no C, which a path goes along."""
    parameters = estimator.get_params(deep=False) if isinstance(estimator, BaseMKL) else {}
    if not {"C", "Cs"} & parameters.keys():
        raise TypeError(
            "mkl_path takes an MKLClassifier, an MKLRegressor, one of their multi-task forms, or "
            f"one that chooses its C; got {type(estimator).__name__}."
        )


def _grid(Cs: int | Sequence[float], first: float) -> Array:
    """Increasing values of C; a number of them begins where the first kernel enters."""
    if not 0 < first < np.inf:
        return as_Cs(Cs, _LOWEST, _HIGHEST)
    low = np.log10(first)
    return as_Cs(Cs, low, low + _DECADES)
