"""CrossValidation: the folds on which an estimator chooses its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from .._component import Array
from ..banks.base import Index
from ..solvers import Problem
from ._chosen import Chosen
from ._sample_weights import check_sample_weight

if TYPE_CHECKING:
    from ._selection import SelectsParameters

_MANY = 32  # folds

Fold = tuple[Index, Index]


@dataclass(frozen=True)
class CrossValidation:
    """How an estimator chooses its parameters: on folds of the samples that the user gave."""

    estimator: SelectsParameters
    X: Any
    y: Array
    sample_weight: Any
    groups: Any

    @cached_property
    def _folds(self) -> list[Fold]:
        splitter = check_cv(self.estimator.cv, self.y, classifier=is_classifier(self.estimator))
        _check_groups(self.groups, len(self.y))
        n, given = len(self.y), splitter.split(self.X, self.y, self.groups)
        folds = [
            (np.sort(_positions(train, n, k)), _positions(test, n, k))
            for k, (train, test) in enumerate(given)
        ]
        if not folds:
            raise ValueError("cv gives no folds; use a number of folds such as cv=5.")
        return folds

    def _inside(self, kept: Index) -> list[Fold]:
        """The folds in positions among the samples that are kept."""
        return [(_among(kept, train), _among(kept, test)) for train, test in self._folds]

    def parts(self, kept: Index) -> list[Index]:
        """Samples that the same folds train on; none of many folds, which share too little."""
        if len(self._folds) > _MANY:
            return []
        trains = np.zeros((len(kept), len(self._folds)), dtype=bool)
        for k, (train, _) in enumerate(self._inside(kept)):
            trains[train, k] = True
        part = np.unique(trains, axis=0, return_inverse=True)[1].ravel()
        return np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])

    def choose(self, problems: list[Problem], kept: Index) -> list[Chosen]:
        """The problems with the parameters that predict held-out samples best."""
        s = check_sample_weight(self.sample_weight, len(self.y))
        weights = None if s is None else s[kept]
        return self.estimator._select(problems, self._inside(kept), self.y[kept], weights)


def _check_groups(groups: Any, n_samples: int) -> None:
    """Refuse groups of other samples than those given."""
    if groups is not None and len(groups) != n_samples:
        raise ValueError(
            f"groups has {len(groups)} entries for {n_samples} samples; give the group of every "
            "sample, in the order of the samples."
        )


def _positions(part: Any, n_samples: int, k: int) -> Index:
    """A part of a fold as positions, which may come as a list or a mask."""
    part = np.asarray(part)
    try:
        return np.arange(n_samples)[part if part.size else part.astype(np.intp)]
    except IndexError:
        raise ValueError(
            f"Fold {k} of cv does not fit {n_samples} samples: it must hold positions below "
            f"{n_samples}, or masks of that length."
        ) from None


def _among(kept: Index, samples: Index) -> Index:
    """The positions of samples among those that are kept, without the others."""
    return np.searchsorted(kept, samples[np.isin(samples, kept)])
