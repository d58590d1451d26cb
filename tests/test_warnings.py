"""Warnings point at the user's line, from whatever depth."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel import (
    QSVC,
    BayesianMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    MKLRegressorCV,
    MultiTaskMKLRegressor,
    ProbabilisticMKLRegressor,
    mkl_path,
)
from multikernel._warnings import convergence_unsaid, listening, warn
from multikernel.banks import PackedBank
from multikernel.losses import Squared
from multikernel.regularizers import LpNorm
from multikernel.solvers import Alternating, Problem


def problem(X, y):
    bank = PackedBank.from_grams([X @ X.T, np.eye(len(X))])
    return Problem(bank, y[:, np.newaxis], Squared(), LpNorm())


HURRIED = {
    "fit": lambda X, y: MKLRegressor(max_iter=1).fit(X, y),
    "fit of a class": lambda X, y: MKLClassifier(max_iter=1).fit(X, y > 0),
    "selection": lambda X, y: MKLRegressorCV(max_iter=1, cv_tol=1e-9).fit(X, y),
    "tasks": lambda X, y: MultiTaskMKLRegressor(task=2, max_iter=1).fit(X, y),
    "path": lambda X, y: mkl_path(MKLRegressor(max_iter=1), X, y, Cs=[10.0]),
    "path of nothing": lambda X, y: mkl_path(MKLRegressor(), np.ones_like(X), y, Cs=[1.0]),
    "linear": lambda X, y: QSVC(max_iter=1, tol=1e-12).fit(X, y > 0),
    "conjugate": lambda X, y: BayesianMKLRegressor(max_iter=1).fit(X, y),
    "evidence": lambda X, y: ProbabilisticMKLRegressor(max_iter=1).fit(X, y),
    "likelihood": lambda X, y: ProbabilisticMKLRegressor(objective="mkl", max_iter=1).fit(X, y),
    "solver": lambda X, y: Alternating(max_iter=1).solve(problem(X, y)),
}


@pytest.mark.parametrize("hurried", HURRIED)
def test_every_warning_names_the_file_that_called(hurried, rng):
    X = np.c_[rng.normal(size=(30, 2)), np.arange(30) % 2]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        HURRIED[hurried](X, np.sin(X[:, 0]) + rng.normal(size=30))
    assert caught
    assert {w.filename for w in caught} == {__file__}


def test_a_warning_names_the_line():
    with pytest.warns(UserWarning, match="here") as caught:
        warn("here", UserWarning)
    assert (caught[0].filename, caught[0].lineno) == (__file__, _line_of('warn("here", '))


def _line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(k for k, line in enumerate(file, 1) if line.strip().startswith(text))


def test_convergence_unsaid_is_of_one_thread_and_one_kind():
    with convergence_unsaid():
        with pytest.warns(UserWarning, match="other"):
            warn("other", UserWarning)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn("not settled", ConvergenceWarning)
        with pytest.warns(ConvergenceWarning, match="of a thread"), ThreadPoolExecutor(1) as pool:
            pool.submit(warn, "of a thread", ConvergenceWarning).result()
    with pytest.warns(ConvergenceWarning, match="again"):
        warn("again", ConvergenceWarning)


def test_threads_that_listen_in_turns_leave_the_filters_as_they_were():
    """The first to begin ends before the second, which would restore the filters of the first."""
    began, ended = threading.Event(), threading.Event()

    def first():
        with listening() as heard:
            began.set()
            ended.wait()
            warn("of the first", UserWarning)
        return [str(w.message) for w in heard]

    before, show = list(warnings.filters), warnings.showwarning
    with ThreadPoolExecutor(2) as pool:
        found = pool.submit(first)
        began.wait()
        with listening() as heard:
            ended.set()
            assert found.result() == ["of the first"]
            with pytest.warns(UserWarning, match="of nobody"):
                pool.submit(warn, "of nobody", UserWarning).result()
            warn("of the second", UserWarning)
    assert [str(w.message) for w in heard] == ["of the second"]
    assert list(warnings.filters) == before
    assert warnings.showwarning is show


def test_folds_in_threads_leave_warnings_on(rng):
    X = rng.normal(size=(60, 2))
    y = np.sin(X[:, 0]) + rng.normal(size=60)
    before = list(warnings.filters)
    with joblib.parallel_config("threading"):
        for _ in range(5):
            MKLRegressorCV(n_jobs=3, cv=6).fit(X, y)
    assert list(warnings.filters) == before
    with pytest.warns(ConvergenceWarning):
        MKLRegressor(max_iter=1).fit(X, y)
