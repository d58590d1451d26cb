"""Cross-validation over C and the regularizer's parameters, on slices of one bank of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_scalar, gen_even_slices

from .._component import Array
from .._warnings import unsaid, warn
from ..banks.base import Index
from ..solvers import Problem
from ._base import BaseMKL
from ._c_values import as_Cs, check_Cs
from ._chosen import Chosen
from ._cross_validation import Fold
from ._fold_paths import FoldResult, PathPlan
from ._folds import mean_of_folds
from ._logging import LOGGER

_LOWEST, _HIGHEST = -2, 3  # decades of the default C, for kernels of unit variance
_SELECTIONS = ("best", "one_se")
_DIGITS = 12  # of mean scores
_PREFIX = "regularizer__"
_ROUGH = 1e-3  # gap of fits for which sums in single precision are exact enough
_STEEPEST = 1e3  # curvature of the data term, in units of the kernels, up to which they are


class Candidate(NamedTuple):
    """One point of the grid: inverse regularization, and parameters of the regularizer."""

    C: float
    setting: dict[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """As scikit-learn's searches name them."""
        nested = {f"{_PREFIX}{name}": value for name, value in self.setting.items()}
        return {"C": self.C} | nested


class SelectsParameters(BaseMKL):
    """What the estimators that choose C and the regularizer's parameters share."""

    _default_scoring: str
    _default_score: Callable[[Array, Array, Array | None], float]  # the score of that name
    _predict_from: Callable[[Array], Array]  # labels or targets from decisions

    def _check_C(self) -> None:
        check_Cs(self.Cs)
        check_scalar(self.cv_tol, "cv_tol", Real, min_val=0, include_boundaries="neither")
        if self.selection not in _SELECTIONS:
            raise ValueError(f"selection must be one of {_SELECTIONS}, got {self.selection!r}.")
        if self.regularizer_grid is not None and not isinstance(self.regularizer_grid, Mapping):
            raise TypeError(
                "regularizer_grid must map names of parameters of the regularizer to values, as in "
                f"{{'l1_ratio': [0.1, 0.5, 0.9]}}; got {self.regularizer_grid!r}."
            )

    def _grid(self) -> tuple[Array, list[dict[str, Any]]]:
        """Increasing values of C, and settings of the regularizer."""
        grid = {k.removeprefix(_PREFIX): v for k, v in dict(self.regularizer_grid or {}).items()}
        return as_Cs(self.Cs, _LOWEST, _HIGHEST), list(ParameterGrid(grid))

    def _select(
        self, problems: list[Problem], folds: list[Fold], y: Array, s: Array | None
    ) -> list[Chosen]:
        """The problems with the C and the regularizer that predict held-out samples best.

        Parameters
        ----------
        problems : list of Problem
            One per set of weights, on the samples that have a cost.
        folds : list of (train, test)
            By position among these samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Labels or targets as the user gave them, of these samples.
        s : array of shape (n_samples,) or None
            Sample weights as the user gave them, for the scores.
        """
        Cs, settings = self._grid()
        regularizers = [clone(self._make_regularizer()).set_params(**s) for s in settings]
        sources = [row["source"] for row in self.kernels_.rows_]
        plan = PathPlan(Cs, regularizers, sources, self.solver, self.cv_tol, self.max_iter)
        self._check_folds(problems, folds)
        self.candidates_ = [Candidate(float(C), setting) for C in Cs for setting in settings]
        exact = bank = problems[0].bank
        convex = all(regularizer.convex for regularizer in regularizers)
        if self.cv_tol >= _ROUGH and convex and _is_mild(problems, Cs):
            bank = exact.rough()
        rough = [replace(problem, bank=bank) for problem in problems]
        results = self._fit_folds(replace(plan, settled=bank is not exact), rough, folds)
        n_done = min(len(result.solutions) for result in results)
        if n_done < len(self.candidates_):  # rounding matters more the larger C is
            bank, rough = exact, problems  # which gives the memory of the copy back
            rest = self._fit_folds(replace(plan, Cs=Cs[n_done // len(settings) :]), problems, folds)
            results = [r.up_to(n_done, more) for r, more in zip(results, rest, strict=True)]
        self.scores_ = self._score(results, y, s, folds)
        self.n_active_ = np.mean([result.n_active for result in results], axis=0)
        self._warn_unsettled(results)
        self.best_index_ = _choose(
            self.scores_, [c.C for c in self.candidates_], self.n_active_, self.selection
        )
        best = self.candidates_[self.best_index_]
        self.C_, self.best_params_ = best.C, best.parameters
        self.best_score_ = float(self.scores_[self.best_index_].mean())
        LOGGER.info(
            "%s: %s has mean score %.4g over %d folds, the best of %d candidates",
            type(self).__name__,
            self.best_params_,
            self.best_score_,
            len(folds),
            len(self.candidates_),
        )
        regularizer = regularizers[settings.index(best.setting)]
        models = zip(*[result.solutions[self.best_index_] for result in results], strict=True)
        starts = [mean_of_folds(m, [result.train for result in results], len(y)) for m in models]
        return [
            Chosen(replace(problem, C=best.C, regularizer=regularizer), bank, start)
            for problem, start in zip(problems, starts, strict=True)
        ]

    def _fit_folds(
        self, plan: PathPlan, problems: list[Problem], folds: list[Fold]
    ) -> list[FoldResult]:
        """What every fold finds, by as many workers as the user asks for."""
        n_workers = effective_n_jobs(self.n_jobs)
        groups = [folds[group] for group in gen_even_slices(len(folds), n_workers)]
        run = delayed(replace(plan, n_workers=len(groups)).run)
        with unsaid(ConvergenceWarning):  # counted in the results
            found = Parallel(n_jobs=self.n_jobs)(run(problems, group) for group in groups)
        return [result for group in found for result in group]

    def _check_folds(self, problems: list[Problem], folds: list[Fold]) -> None:
        """Refuse folds in which a model could not be fitted or scored."""
        for k, (train, test) in enumerate(folds):
            if not len(train) or not len(test):
                raise ValueError(
                    f"Fold {k} of cv has {len(train)} training and {len(test)} test samples (of "
                    "positive weight); use fewer folds."
                )
            self._check_fold(problems, k, train)

    def _check_fold(self, problems: list[Problem], k: int, train: Index) -> None:
        """Refuse a fold whose training samples cannot make a model."""

    def _score(
        self, results: list[FoldResult], y: Array, s: Array | None, folds: list[Fold]
    ) -> Array:
        """Scores of shape (n_candidates, n_folds)."""
        score = self._scorer()
        scores = np.empty((len(self.candidates_), len(folds)))
        for k, (result, (_, test)) in enumerate(zip(results, folds, strict=True)):
            weights = None if s is None else s[test]
            decisions = map(self._in_units, result.decisions)
            scores[:, k] = [score(F, y[test], weights) for F in decisions]
        if np.isnan(scores).any(axis=1).all():
            named = self.scoring or self._default_scoring
            raise ValueError(
                f"No candidate has a score on all folds: {named!r} is not a number "
                f"on fold {int(np.argmax(np.isnan(scores).any(axis=0)))}. R² needs at least 2 test "
                "samples; use larger folds, or a score such as 'neg_mean_squared_error'."
            )
        return scores

    def _scorer(self) -> Callable[[Array, Array, Array | None], float]:
        """What gives decisions about samples of known labels or targets, and weights, a score."""
        if self.scoring is None:
            return lambda F, y, s: self._default_score(y, self._predict_from(F), s)
        scorer, model = get_scorer(self.scoring), _FromDecisions(self)
        weighs = "sample_weight" in signature(scorer).parameters
        return lambda F, y, s: scorer(
            model, F, y, **({} if s is None or not weighs else {"sample_weight": s})
        )

    def _warn_unsettled(self, results: list[FoldResult]) -> None:
        if n_unsettled := sum(result.n_unsettled for result in results):
            warn(
                f"{n_unsettled} of the fits that {type(self).__name__} compared stopped at "
                f"max_iter before their tolerance (cv_tol={self.cv_tol:.0e}) was reached; raise "
                "either, or lower the largest C.",
                ConvergenceWarning,
            )

    @property
    def cv_results_(self) -> Any:
        """One row per candidate, as a pandas DataFrame with the columns of scikit-learn's searches.

        ``n_active`` is the mean number of kernels in use over the folds.
        """
        import pandas as pd

        scores = self.scores_
        parameters = [candidate.parameters for candidate in self.candidates_]
        mean = _mean(scores)
        return pd.DataFrame(
            {f"param_{name}": [p[name] for p in parameters] for name in parameters[0]}
            | {f"split{k}_test_score": scores[:, k] for k in range(scores.shape[1])}
            | {
                "mean_test_score": mean,
                "std_test_score": scores.std(axis=1),
                "rank_test_score": [1 + int(np.sum(mean > value)) for value in mean],
                "n_active": self.n_active_,
            }
        )


class _FromDecisions:
    """A fitted model whose samples are the decisions about them, for scikit-learn's scorers."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        if is_classifier(estimator):
            self.classes_ = estimator.classes_

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    def predict(self, F: Array) -> Array:
        """Labels or targets."""
        return np.asarray(self._estimator._predict_from(F))

    def decision_function(self, F: Array) -> Array:
        """The decisions in the shape that scikit-learn expects."""
        return np.asarray(self._estimator._decision_function_from(F))

    def predict_proba(self, F: Array) -> Array:
        """Probabilities, for losses that are likelihoods."""
        if not self._estimator._part("loss").likelihood:
            raise ValueError(
                "Scores of probabilities need a loss that is a likelihood while parameters are "
                "chosen, since calibration comes after: use loss='logistic', or a score of "
                "decisions such as scoring='roc_auc'."
            )
        return np.asarray(self._estimator._predict_proba_from(F))


def _is_mild(problems: list[Problem], Cs: Array) -> bool:
    r"""Whether no rounding of the kernels matters beside :math:`W^{-1}`, in :math:`K + W^{-1}`."""
    if not problems[0].loss.smooth:
        return False  # kinks have no bound of the curvature
    largest = float(problems[0].bank.mean_diagonals().max())
    curvature = problems[0].loss.curvature_bound * max(float(p.cost.max()) for p in problems)
    return float(Cs[-1]) * curvature * largest <= _STEEPEST


def _mean(scores: Array) -> Array:
    """Mean scores over folds, so that equal ones are not told apart by rounding."""
    return np.asarray(scores.mean(axis=1).round(_DIGITS))


def _choose(scores: Array, Cs: Sequence[float], n_active: Array, selection: str) -> int:
    """The first of the best candidates or, of those within one standard error, the simplest.

    Simplest is the smallest C and, where it is the same, the fewest kernels in use.
    """
    mean = np.nan_to_num(_mean(scores), nan=-np.inf)
    best = int(np.argmax(mean))
    if selection == "best" or scores.shape[1] < 2:
        return best
    error = scores[best].std(ddof=1) / np.sqrt(scores.shape[1])
    near = np.flatnonzero(mean >= mean[best] - error).tolist()
    return int(min(near, key=lambda j: (Cs[j], n_active[j])))
