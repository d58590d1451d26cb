"""Warnings point at the user's line, from whatever depth."""

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
from multikernel._warnings import listening, unsaid, warn
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


def in_a_thread(call):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def test_a_category_is_unsaid_in_one_thread():
    def both():
        with unsaid(ConvergenceWarning):
            warn("not settled", ConvergenceWarning)
            warn("of another kind", UserWarning)

    for run in (both, lambda: in_a_thread(both)):
        with pytest.warns() as caught:
            run()
        assert [str(w.message) for w in caught] == ["of another kind"]
    with unsaid(ConvergenceWarning), pytest.warns(ConvergenceWarning, match="of a thread"):
        in_a_thread(lambda: warn("of a thread", ConvergenceWarning))
    with pytest.warns(ConvergenceWarning, match="again"):
        warn("again", ConvergenceWarning)


def test_what_is_heard_is_kept():
    def listen():
        with listening() as heard:
            warn("ours", UserWarning)
        return [(str(w.message), w.category, w.filename) for w in heard]

    for run in (listen, lambda: in_a_thread(listen)):
        assert run() == [("ours", UserWarning, __file__)]

    def rules_in_rules():
        with listening() as outer, unsaid(UserWarning), listening() as inner:
            warn("the innermost rule holds", UserWarning)
        return len(outer), len(inner)

    assert rules_in_rules() == in_a_thread(rules_in_rules) == (0, 1)
    with pytest.warns(UserWarning, match="nobody listens"):
        warn("nobody listens", UserWarning)


def test_only_the_main_thread_changes_filters():
    """Threads that set filters aside in turns restore those of one another."""
    before = list(warnings.filters)

    def seen():
        with unsaid(ConvergenceWarning), listening():
            return list(warnings.filters) == before and warnings.showwarning is show

    show = warnings.showwarning
    assert in_a_thread(seen)
    assert not seen()
    assert list(warnings.filters) == before


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
