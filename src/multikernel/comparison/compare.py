"""compare: nested cross-validation of the MKL family against honest baselines."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from .._component import Array
from .._running import Progress, run_tasks
from .._store import Store
from .._threads import blas_threads
from .folds import constant_scores, inner_folds, make_folds
from .inputs import TASKS, check_groups, check_sources, check_targets, check_task
from .models import Setting
from .planning import Menu, make_plan
from .probing import probe
from .results import Comparison
from .saving import as_json, with_infinities
from .scoring import check_scoring
from .tasks import Data, describe_failure
from .unpacking import unpack
from .whole import WholeFit

LOGGER = logging.getLogger(__name__)

_SEEDS = 1 << 32  # that NumPy's generator of folds knows


def compare(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    kernels: Any = None,
    models: str | Sequence[str] | Mapping[str, Any] | None = None,
    task: str | None = None,
    cv: Any = 5,
    repeats: int = 1,
    inner_cv: int = 3,
    scoring: str | None = None,
    pipelines: Mapping[str, Any] | None = None,
    importance: bool = True,
    n_permutations: int = 0,
    rope: float = 0.01,
    time_budget: float | None = None,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Find out whether combining sources helps, which of them carry it, and how sure that is.

    Every model is fitted and judged on the same outer folds, chooses its parameters inside the
    training part of each, and sees sources that were prepared (missing values, scaling) with that
    part alone.

    Parameters
    ----------
    X : ViewBundle, mapping from str to block, KernelBundle or Dataset
        The sources. Samples that lack whole sources are marked in the bundle, see
        :meth:`ViewBundle.align`. A :class:`multikernel.files.Dataset` brings target, groups,
        kernels and task, too, unless they are given here.
    y : array of shape (n_samples,)
        Labels or numbers. A pandas Series is matched with the samples by its index and refused
        where that does not hold their ids; an array, or any y for samples without ids, is in the
        order of the samples.
    groups : array of shape (n_samples,), optional
        Samples that must stay together, in outer and inner folds; targets are permuted within
        them. A pandas Series is matched as y is.
    kernels : optional
        What to compute on the sources, as for :class:`MKLClassifier`; by default a linear and
        three RBF kernels on each.
    models : list of str or mapping from str to estimator, optional
        Names from :data:`multikernel.comparison.MODELS` (all of them by default), or estimators of
        your own by name, which join the uniform sum and elastic-net MKL. An estimator with a
        parameter ``kernels`` gets the sources, any other the columns of all of them as one array.
        Every source alone is always there, too.
    task : {"classification", "regression"}, optional
        By default numbers that are not whole, or take more than 20 values, are a regression.
    cv : int or splitter, default=5
        Outer folds; a number stands for shuffled folds, with classes in proportion and groups
        together.
    repeats : int, default=1
        How often to shuffle and split anew; for a number of folds only.
    inner_cv : int, default=3
        Folds of the training part in which parameters are chosen, split in the same manner; fewer
        where a class has fewer samples there, or where there are fewer groups or pairs of numbers
        to predict.
    scoring : str, optional
        Name of a score of scikit-learn, by which parameters are chosen, too; by default "accuracy"
        or "r2".
    pipelines : mapping from str to transformer, optional
        Preparation of some sources, see :class:`SourcePreparation`. What learns from targets, such
        as SelectKBest, is fitted anew in every inner fold, too.
    importance : bool, default=True
        Also fit the headline model without each source, where there are more than two. Each
        matrix of a KernelBundle counts as a source if there are at most 20.
    n_permutations : int, default=0
        Fit the headline model to permuted samples this often, for a p-value.
    rope : float, default=0.01
        Differences up to this size, in units of the score, are taken for practically equal.
    time_budget : float, optional
        Seconds after which no further fit is begun; one at work is finished. What is done then is
        returned.
    store : path-like, optional
        Folder to keep every finished fit in. The same call with the same folder goes on where it
        was stopped, and ends with the same result.
    n_jobs : int, optional
        Fits at the same time, through joblib.
    random_state : int, default=0
        Shuffles outer and inner folds. It must be a number, so that a run that resumes draws the
        same folds again.
    progress : callable, optional
        Called as ``progress(n_done, n_tasks, name)`` after every fit. If it has a method
        ``starting``, that is called in the same way before every fit.

    Returns
    -------
    comparison : Comparison
        Tables, weights, importances, predictions and a verdict in sentences. After an interrupt
        from the keyboard it holds what was done, with ``complete=False``. A model that fails on a
        fold is named in ``failures``, and the others go on.

    Examples
    --------
    >>> import numpy as np
    >>> import multikernel as mk
    >>> rng = np.random.default_rng(0)
    >>> X = {"good": rng.normal(size=(60, 2)), "useless": rng.normal(size=(60, 2))}
    >>> y = np.where(X["good"][:, 0] > 0, "patient", "control")
    >>> result = mk.compare(X, y, models=["uniform sum", "MKL, elastic net"], cv=3)
    >>> result.frame()["model"].tolist()[-1]
    'useless alone'
    >>> result.shares().mean(axis=1).idxmax()
    'good'
    """
    X, y, groups, kernels, task = unpack(X, y, groups, kernels, task)
    X = check_sources(X, kernels)
    y, groups = check_targets(y, X), check_groups(groups, X)
    task = check_task(task, y)
    scoring = check_scoring(TASKS[task] if scoring is None else scoring, task)
    _check_numbers(repeats, inner_cv, n_permutations, rope, time_budget, n_jobs)
    _check_seed(random_state, repeats)
    folds = make_folds(y, groups, cv, repeats, task, random_state)
    constant = constant_scores(folds, y, task, scoring)
    if n_permutations:
        _check_permutable(y, groups)
    data = Data(X, y, groups, folds, scoring)
    LOGGER.info("a first look at %d samples of %s", len(X), ", ".join(X.names))
    train = folds[0][0]
    n_kernels, has_columns = probe(X[train], y[train], task, kernels, pipelines)
    inner = [inner_folds(inner_cv, y, groups, train, task, random_state) for train, _ in folds]
    settings = [Setting(task, scoring, kernels, n_kernels, i, has_columns) for i in inner]
    menu = Menu(models, dict(pipelines or {}), importance, n_permutations)
    tasks = menu.tasks(data, settings)
    on_all = inner_folds(inner_cv, y, groups, np.arange(len(y)), task, random_state)
    every: list[Any] = [*tasks, WholeFit(menu.headline(X, replace(settings[0], inner_cv=on_all)))]
    plan = make_plan(data, every)
    with blas_threads(len(y)):
        outcome = run_tasks(
            every,
            data,
            Store(store, plan),
            time_budget=time_budget,
            n_jobs=n_jobs,
            progress=progress,
        )
    results = [result for k, result in outcome.results.items() if k < len(tasks)]
    summary = X.summary()
    return Comparison(
        task=task,
        scoring=scoring,
        sources=list(X.names),
        samples=summary.n_present,
        n_samples=summary.n_samples,
        n_complete=summary.n_complete,
        n_folds=len(folds),
        results=results,
        rope=rope,
        complete=all(k in outcome.results or k in outcome.errors for k in range(len(tasks))),
        failures=[describe_failure(every[k], error) for k, error in outcome.errors.items()],
        plan=plan,
        ids=[as_json(identity) for identity in X.ids.tolist()],
        targets=y.tolist(),
        whole=with_infinities(outcome.results.get(len(tasks))),
        overlap=[[list(names), n] for names, n in summary.patterns.items()],
        constant=constant,
    )


def _check_numbers(
    repeats: int,
    inner_cv: int,
    n_permutations: int,
    rope: float,
    time_budget: float | None,
    n_jobs: int | None,
) -> None:
    check_scalar(repeats, "repeats", Integral, min_val=1)
    check_scalar(inner_cv, "inner_cv", Integral, min_val=2)
    check_scalar(n_permutations, "n_permutations", Integral, min_val=0)
    check_scalar(rope, "rope", Real, min_val=0)
    if not isfinite(rope):
        raise ValueError(
            f"rope must be finite, a difference in units of the score such as 0.01; got {rope}."
        )
    if n_jobs == 0:
        raise ValueError("n_jobs must be a whole number other than 0, or None for 1; got 0.")
    if time_budget is None:
        return
    check_scalar(time_budget, "time_budget", Real, min_val=0)
    if isnan(time_budget):
        raise ValueError("time_budget must be a number of seconds, or None for no limit; got nan.")


def _check_seed(random_state: Any, repeats: int) -> None:
    """Refuse what would draw other folds in the next run, and seeds that no repeat could have."""
    remedy = "give a number such as 0"
    if not isinstance(random_state, Integral):
        raise TypeError(
            "random_state must be an int, for a run that resumes has to draw the same folds again; "
            f"got {random_state!r}: {remedy}."
        )
    last = _SEEDS - repeats  # every repeat has the next seed
    if not 0 <= int(random_state) <= last:
        raise ValueError(f"random_state must be from 0 to {last}, got {random_state}: {remedy}.")


def _check_permutable(y: Array, groups: Array | None) -> None:
    if groups is None:
        return
    if all(len(np.unique(y[groups == group])) == 1 for group in np.unique(groups)):
        raise ValueError(
            "n_permutations permutes targets within groups, but y is the same throughout each "
            "group; leave the permutations out."
        )
