"""Estimators that choose C and the regularizer's parameters: against scikit-learn's own search."""

from __future__ import annotations

import re
import tracemalloc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import (
    ConvergenceWarning,
    DataConversionWarning,
    UndefinedMetricWarning,
)
from sklearn.metrics import log_loss, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)

from multikernel import (
    RBF,
    BlockNorm,
    DualCovariance,
    ElasticNet,
    FixedWeights,
    FunctionKernel,
    KernelSet,
    LpNorm,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    NewtonWeights,
    OneKernel,
    PackedBank,
    ProbabilisticMKLRegressor,
    QNorm,
    ViewBundle,
    mkl_path,
)
from multikernel.banks import packed
from multikernel.banks.shared import SharedSweeps
from multikernel.estimators import _chosen, _fold_paths
from multikernel.estimators._chosen import Chosen
from multikernel.estimators._cross_validation import CrossValidation
from multikernel.estimators._fold_paths import PathPlan
from multikernel.estimators._folds import mean_of_folds
from multikernel.estimators._selection import _choose
from multikernel.losses import Squared
from multikernel.regularizers import Regularizer
from multikernel.solvers import Alternating, DualNewton, Problem

CS = [0.01, 0.3, 10.0]
SOURCES = {"a": [0, 1], "b": [2, 3], "c": [4, 5]}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 6))
    f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 2]
    return X, f + 0.4 * rng.normal(size=90)


def linear_grams(X):
    return np.stack([X[:, c] @ X[:, c].T for c in SOURCES.values()], axis=-1)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "f1"])
def test_classifier_scores_are_those_of_a_grid_search(table, scoring):
    X, y = linear_grams(table[0]), (table[1] > 0).astype(int)
    grid = {"l1_ratio": [0.2, 0.8]}
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    ours = MKLClassifierCV(
        "precomputed",
        normalize=None,
        Cs=CS,
        regularizer_grid=grid,
        cv=cv,
        scoring=scoring,
        tol=1e-9,
        cv_tol=1e-9,
    ).fit(X, y)
    search = GridSearchCV(
        MKLClassifier("precomputed", normalize=None, regularizer=ElasticNet(), tol=1e-9),
        {"C": CS, "regularizer__l1_ratio": grid["l1_ratio"]},
        cv=cv,
        scoring=scoring,
    ).fit(X, y)
    assert_allclose(ours.scores_.mean(axis=1), search.cv_results_["mean_test_score"], rtol=1e-4)
    assert ours.best_params_ == search.best_params_
    assert ours.best_index_ == search.best_index_
    assert_allclose(ours.decision_function(X), search.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_regressor_scores_are_those_of_a_grid_search(table, n_outputs):
    X = linear_grams(table[0])
    y = table[1] if n_outputs == 1 else np.stack([table[1], table[1] ** 2], axis=1)
    ours = MKLRegressorCV(
        "precomputed", regularizer="lp", normalize=None, Cs=CS, cv=4, cv_tol=1e-9,
        regularizer_grid={"p": [1.0, 2.0]},
    ).fit(X, y)  # fmt: skip
    search = GridSearchCV(
        MKLRegressor("precomputed", regularizer=LpNorm(), normalize=None, tol=1e-9),
        {"C": CS, "regularizer__p": [1.0, 2.0]},
        cv=4,
    ).fit(X, y)
    assert_allclose(ours.scores_.mean(axis=1), search.cv_results_["mean_test_score"], atol=1e-4)
    assert ours.best_params_ == search.best_params_
    assert ours.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("parameters", "scoring"),
    [
        ({}, "accuracy"),
        ({}, "neg_log_loss"),
        ({"weights": "per_class"}, "roc_auc_ovr"),
        ({"loss": "squared_hinge"}, "accuracy"),
    ],
)
def test_several_classes(table, parameters, scoring):
    X, y = linear_grams(table[0]), np.digitize(table[1], [-0.5, 0.5])
    common = {"normalize": None} | parameters
    ours = MKLClassifierCV("precomputed", Cs=CS, cv=3, scoring=scoring, cv_tol=1e-7, **common)
    search = GridSearchCV(
        MKLClassifier("precomputed", tol=1e-7, **common), {"C": CS}, cv=3, scoring=scoring
    ).fit(X, y)
    scores = ours.fit(X, y).scores_.mean(axis=1)
    assert_allclose(scores, search.cv_results_["mean_test_score"], atol=1e-3)
    assert search.best_params_["C"] == ours.C_


def test_every_class_with_weights_of_its_own_and_every_setting(table):
    X, f = table
    K, y = linear_grams(X), np.digitize(f, [-0.4, 0.4])
    ratios, cv = [0.1, 0.9], StratifiedKFold(3, shuffle=True, random_state=0)
    options = {"kernels": "precomputed", "normalize": None, "weights": "per_class"}
    model = MKLClassifierCV(
        Cs=[0.1, 10.0], cv=cv, scoring="neg_log_loss", regularizer_grid={"l1_ratio": ratios},
        cv_tol=1e-8, **options,
    ).fit(K, y)  # fmt: skip
    for k, (train, test) in enumerate(cv.split(K, y)):
        alone = [
            MKLClassifier(C=C, regularizer=ElasticNet(ratio), tol=1e-8, **options)
            .fit(K[np.ix_(train, train)], y[train])
            .predict_proba(K[np.ix_(test, train)])
            for C in (0.1, 10.0)
            for ratio in ratios
        ]
        losses = [-log_loss(y[test], p) for p in alone]
        assert_allclose(model.scores_[:, k], losses, atol=1e-4)


def test_no_kernel_is_computed_twice(table):
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        return A @ B.T

    model = MKLClassifierCV(KernelSet(SOURCES, FunctionKernel(kernel)), Cs=4, cv=5)
    model.fit(table[0], table[1] > 0)
    assert sum(calls) == 3 * 90


EVEN = np.arange(90) % 2 == 0
FOLDS = {
    "shuffled": StratifiedKFold(4, shuffle=True, random_state=1),
    "overlapping": StratifiedShuffleSplit(3, test_size=0.3, random_state=1),
    "left out": [(np.arange(0, 60), np.arange(60, 80)), (np.arange(30, 90), np.arange(0, 20))],
    "list and mask": [(list(range(60)), list(range(60, 90))), (EVEN, ~EVEN)],
}


@pytest.mark.parametrize("cv", FOLDS.values(), ids=FOLDS)
def test_folds_are_parts_of_one_bank(table, cv, monkeypatch):
    X, y = table[0], table[1] > 0
    kernels = KernelSet(SOURCES, RBF(np.logspace(-1, 1, 40)))
    copies = []
    allocate = PackedBank._allocate

    def spy(bank, edges, n_kernels, dtype):
        copies.append(edges[-1])
        allocate(bank, edges, n_kernels, dtype)

    model = MKLClassifierCV(kernels, Cs=CS, cv=cv, cv_tol=1e-8)
    monkeypatch.setattr(packed, "_MIN_TILE", np.inf)
    apart = clone(model).fit(X, y)
    monkeypatch.setattr(packed, "_MIN_TILE", 0)
    monkeypatch.setattr(PackedBank, "_allocate", spy)
    model.fit(X, y)
    assert copies == [90]
    assert_allclose(model.scores_, apart.scores_)
    assert_allclose(model.weights_, apart.weights_, atol=1e-6)
    assert_allclose(model.decision_function(X), apart.decision_function(X), atol=1e-5)
    assert model.n_iter_ == apart.n_iter_


def test_many_folds_have_no_parts_in_common(table):
    X, y = table
    few, many = (CrossValidation(MKLRegressorCV(cv=k), X, y, None, None) for k in (32, 33))
    assert len(few.parts(np.arange(90))) == 32
    assert many.parts(np.arange(90)) == []
    MKLRegressorCV(SOURCES, Cs=[1.0], cv=33, scoring="neg_mean_squared_error").fit(X, y)


def test_training_samples_may_be_repeated(table):
    X, y = table
    rng = np.random.default_rng(0)
    folds = [
        (rng.integers(0, 60, 70), np.arange(60, 90)),
        (rng.integers(20, 90, 70), np.arange(20)),
    ]
    model = MKLRegressorCV("precomputed", Cs=CS, cv=folds, cv_tol=1e-9, normalize=None)
    K = linear_grams(X)
    model.fit(K, y)
    plain = MKLRegressor("precomputed", normalize=None, tol=1e-9)
    for k, (train, test) in enumerate(folds):
        for C, score in zip(CS, model.scores_[:, k], strict=True):
            plain.set_params(C=C).fit(K[np.ix_(train, train)], y[train])
            expected = plain.score(K[np.ix_(test, train)], y[test])
            assert score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv gives no folds"),
        ([(np.arange(50), np.arange(50, 91))], "Fold 0 of cv does not fit 90 samples"),
        ([(np.ones(80, dtype=bool), np.arange(9))], "or masks of that length"),
        ([(np.arange(50), [])], "Fold 0 of cv has 50 training and 0 test samples"),
    ],
)
def test_folds_that_do_not_fit_are_refused(table, cv, message):
    with pytest.raises(ValueError, match=message):
        MKLRegressorCV(SOURCES, cv=cv).fit(*table)


def test_groups_stay_together(table):
    X, y = table
    groups = np.repeat(np.arange(9), 10)
    model = MKLRegressorCV(SOURCES, Cs=[1.0], cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    assert model.scores_.shape == (1, 9)
    seen = []

    class Recorder(GroupKFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                seen.append(np.intersect1d(groups[train], groups[test]))
                yield train, test

    MKLRegressorCV(SOURCES, Cs=[1.0], cv=Recorder(3)).fit(X, y, groups=groups)
    assert len(seen) == 3
    assert not any(len(common) for common in seen)


@pytest.mark.parametrize("cv", [3, GroupKFold(3)])
def test_groups_of_other_samples_are_refused(table, cv):
    X, y = table
    with pytest.raises(ValueError, match="groups has 10 entries for 90 samples"):
        MKLRegressorCV(SOURCES, cv=cv).fit(X, y, groups=np.arange(10))


def test_parallel_folds_change_nothing(table):
    X, y = table
    one = MKLRegressorCV(SOURCES, Cs=CS, cv=3).fit(X, y)
    two = MKLRegressorCV(SOURCES, Cs=CS, cv=3, n_jobs=2).fit(X, y)
    assert_allclose(one.scores_, two.scores_, rtol=1e-12)
    assert_allclose(one.predict(X), two.predict(X), rtol=1e-12)


def test_one_standard_error_takes_the_simplest_candidate():
    scores = np.array([[0.5, 0.5, 0.5], [0.8, 0.9, 0.7], [0.9, 0.9, 0.8], [0.8, 0.9, 0.8]])
    Cs, n_active = [0.1, 1.0, 1.0, 10.0], np.array([1, 7, 3, 1])
    assert _choose(scores, Cs, n_active, "best") == 2
    wide = scores + np.array([-0.3, 0.0, 0.3])  # the error of the mean is now about 0.15
    assert _choose(wide, Cs, n_active, "one_se") == 2  # C = 1 like candidate 1, but fewer kernels
    assert _choose(scores, Cs, n_active, "one_se") == 2
    assert _choose(np.repeat([[0.6], [0.6]], 3, axis=1), [1.0, 2.0], n_active, "one_se") == 0


def test_one_standard_error_never_takes_a_larger_C(table):
    X, y = table
    best = MKLRegressorCV(SOURCES, cv=5).fit(X, y)
    simple = MKLRegressorCV(SOURCES, cv=5, selection="one_se").fit(X, y)
    assert_array_equal(best.scores_, simple.scores_)
    assert simple.C_ <= best.C_
    error = best.scores_[best.best_index_].std(ddof=1) / np.sqrt(5)
    assert simple.best_score_ >= best.best_score_ - error


def test_samples_without_weight_are_not_there(table):
    X, y = table
    s = np.ones(90)
    s[::7] = 0.0
    cv = KFold(3)
    folds = [(train, test) for train, test in cv.split(X)]
    kept = np.flatnonzero(s)
    inside = [
        (np.searchsorted(kept, a[s[a] > 0]), np.searchsorted(kept, b[s[b] > 0])) for a, b in folds
    ]
    weighted = MKLRegressorCV(SOURCES, Cs=CS, cv=folds).fit(X, y, sample_weight=s)
    without = MKLRegressorCV(SOURCES, Cs=CS, cv=inside).fit(X[kept], y[kept])
    assert_allclose(weighted.scores_, without.scores_, rtol=1e-6)


def test_scores_are_weighted(table):
    X, y = table
    s = np.where(np.arange(90) < 15, 5.0, 1.0)
    folds = [(np.arange(30, 90), np.arange(30)), (np.arange(60), np.arange(60, 90))]
    model = MKLRegressorCV(SOURCES, Cs=[1.0], cv=folds, scoring="neg_mean_absolute_error")
    model.fit(X, y, sample_weight=s)
    errors = []

    def plain(model, F, y):
        errors.append(np.abs(y - model.predict(F)))
        return 0.0

    model_too = MKLRegressorCV(SOURCES, Cs=[1.0], cv=folds, scoring=plain)
    model_too.fit(X, y, sample_weight=s)
    expected = [-np.average(e, weights=s[test]) for e, (_, test) in zip(errors, folds, strict=True)]
    assert_allclose(model.scores_[0], expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_default_scores_are_those_of_their_names(table, weighted):
    X, y = table
    s = np.where(np.arange(90) < 40, 5.0, 1.0) if weighted else None
    labels = np.where(y > np.median(y), "high", "low")
    for kind, target, name in (
        (MKLClassifierCV, labels, "accuracy"),
        (MKLRegressorCV, y, "r2"),
        (MKLRegressorCV, np.column_stack([y, y**2]), "r2"),
    ):
        plain, named = (
            kind(SOURCES, Cs=[0.01, 1.0], cv=3, scoring=scoring).fit(X, target, sample_weight=s)
            for scoring in (None, name)
        )
        assert_allclose(plain.scores_, named.scores_, rtol=1e-12)


def test_labels_may_be_a_column(table):
    X, y = table
    labels = np.where(y > np.median(y), "high", "low")
    flat = MKLClassifierCV(SOURCES, Cs=[0.01, 1.0], cv=3).fit(X, labels)
    with pytest.warns(DataConversionWarning):
        column = MKLClassifierCV(SOURCES, Cs=[0.01, 1.0], cv=3).fit(X, labels[:, None])
    assert_allclose(column.scores_, flat.scores_)


def test_any_form_of_input_and_scorer(table):
    X, y = table
    views = ViewBundle({name: X[:, columns] for name, columns in SOURCES.items()})
    loss = make_scorer(mean_absolute_error, greater_is_better=False)
    model = MKLRegressorCV(Cs=CS, cv=3, scoring=loss).fit(views, y)
    assert model.best_score_ < 0
    assert model.sources_ == ["a", "b", "c"]
    assert set(model.cv_results_.columns) >= {"param_C", "mean_test_score", "n_active"}
    assert list(model.cv_results_["param_C"]) == CS
    assert np.all(cross_val_score(model, views, y, cv=3) < 1)


class _Spy(QNorm):
    """Remembers the training targets that its Q was made for."""

    seen: list = []  # noqa: RUF012

    def for_training(self, problem, sources):
        type(self).seen.append(problem.y.copy())
        return super().for_training(problem, sources)


def test_labels_of_a_fold_never_reach_its_regularizer(table):
    X, y = table[0], np.where(table[1] > 0, 1, -1)
    _Spy.seen = []
    model = MKLClassifierCV(SOURCES, regularizer=_Spy(DualCovariance()), Cs=[1.0], cv=3)
    folds = list(StratifiedKFold(3).split(X, y))
    model.set_params(cv=folds).fit(X, y)
    for (train, _), seen in zip(folds, _Spy.seen, strict=False):
        assert_array_equal(seen[:, 0], y[train])
    assert isinstance(model.regularizer, Regularizer)


def test_the_final_fit_is_that_of_the_plain_estimator(table):
    X, y = table
    grid = {"l1_ratio": [0.1, 0.9]}
    model = MKLRegressorCV(SOURCES, regularizer_grid=grid, cv=3, tol=1e-12).fit(X, y)
    setting = {name: value for name, value in model.best_params_.items() if name != "C"}
    plain = MKLRegressor(SOURCES, regularizer=ElasticNet(), C=model.C_, tol=1e-12)
    plain.set_params(**setting).fit(X, y)
    assert_allclose(plain.predict(X), model.predict(X), atol=1e-6)  # the root of the gap
    assert model.gap_ <= 1e-12
    assert model.n_iter_ < plain.n_iter_  # for it begins where the folds ended


def test_calibration_comes_after_the_choice(table):
    X, y = table[0], table[1] > 0
    model = MKLClassifierCV(SOURCES, loss="hinge", calibrate=True, Cs=CS, cv=3).fit(X, y)
    assert model.predict_proba(X).shape == (90, 2)
    model.set_params(scoring="neg_log_loss")
    with pytest.raises(ValueError, match=r"calibration comes after.*scoring='roc_auc'"):
        model.fit(X, y)


def test_a_solver_of_ones_own(table):
    X, y = table
    model = MKLRegressorCV(SOURCES, Cs=CS, cv=3, solver=NewtonWeights(tol=1e-8)).fit(X, y)
    auto = MKLRegressorCV(SOURCES, Cs=CS, cv=3, tol=1e-8).fit(X, y)
    assert model.C_ == auto.C_
    assert_allclose(model.predict(X), auto.predict(X), atol=1e-3)


def test_class_weights_do_not_enter_the_scores(table):
    X, y = linear_grams(table[0]), (table[1] > 0.8).astype(int)
    common = {"normalize": None, "class_weight": "balanced"}
    ours = MKLClassifierCV("precomputed", Cs=CS, cv=3, cv_tol=1e-8, **common).fit(X, y)
    search = GridSearchCV(MKLClassifier("precomputed", tol=1e-8, **common), {"C": CS}, cv=3)
    expected = search.fit(X, y).cv_results_["mean_test_score"]
    assert_allclose(ours.scores_.mean(axis=1), expected, atol=1e-12)


def test_scores_that_are_not_numbers(table):
    X, y = table[0][:12], table[1][:12]
    folds = [(np.arange(1, 12), np.arange(1)), (np.arange(6), np.arange(6, 12))]
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match=r"not a number on fold 0.*neg_mean_squared_error"),
    ):
        MKLRegressorCV(SOURCES, Cs=CS, cv=folds).fit(X, y)
    calls = []

    def first_fails(model, F, y):
        calls.append(F)
        return np.nan if len(calls) % 3 == 1 else -np.mean((y - model.predict(F)) ** 2)

    model = MKLRegressorCV(SOURCES, Cs=CS, cv=3, scoring=first_fails).fit(*table)
    assert CS[0] < model.C_


def test_max_iter_holds_for_the_fits_compared(table):
    X, y = table
    model = MKLRegressorCV(SOURCES, Cs=CS, cv=3, max_iter=1, cv_tol=1e-6)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    compared = next(w for w in caught if "compared" in str(w.message))
    assert compared.filename == __file__
    with pytest.warns(ConvergenceWarning):
        path = mkl_path(MKLRegressor(SOURCES, max_iter=1), X, y, Cs=CS)
    assert path.gaps.max() > 1e-6


def test_where_single_precision_does_not_settle_folds_go_on_in_double(rng, monkeypatch):
    X = rng.normal(size=(160, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=160)
    kernels = KernelSet({f"s{j}": [j] for j in range(4)}, [RBF(np.logspace(-1, 1, 10).tolist())])
    runs, steps, run, solve = [], [], PathPlan.run, DualNewton._steps

    def seen(plan, problems, folds):
        runs.append((problems[0].bank.dtype.name, plan.Cs.tolist()))
        return run(plan, problems, folds)

    def counted(solver, problem, start):
        solution = yield from solve(solver, problem, start)
        steps.append(solution.n_iter)
        return solution

    monkeypatch.setattr(PathPlan, "run", seen)
    monkeypatch.setattr(DualNewton, "_steps", counted)
    grid = {"l1_ratio": [0.4, 0.6]}
    model = MKLRegressorCV(kernels, Cs=[0.1, 10.0, 1000.0], cv=4, regularizer_grid=grid)
    rough = clone(model).fit(X, y)
    assert runs == [("float32", [0.1, 10.0, 1000.0]), ("float64", [1000.0])]
    assert max(steps) < 20  # those that are stuck give up
    exact = clone(model).set_params(cv_tol=5e-4).fit(X, y)
    assert runs[2:] == [("float64", [0.1, 10.0, 1000.0])]
    assert_allclose(rough.scores_, exact.scores_, atol=0.02)  # the root of cv_tol
    assert_allclose(rough.n_active_, exact.n_active_, atol=2.0)  # of 40, the last near zero
    assert_allclose(rough.predict(X), exact.predict(X), atol=1e-3)


def test_folds_that_settle_nowhere_are_all_in_double(table, monkeypatch):
    X, y = table
    run, runs = PathPlan.run, []

    def never(plan, problems, folds):
        runs.append((problems[0].bank.dtype.name, len(plan.Cs), plan.settled))
        return run(replace(plan, tol=-1.0, max_iter=1) if plan.settled else plan, problems, folds)

    kernels = KernelSet(SOURCES, [RBF([0.3, 1.0])])
    exact = MKLRegressorCV(kernels, Cs=CS, cv=3, cv_tol=5e-4).fit(X, y)
    monkeypatch.setattr(PathPlan, "run", never)
    rough = MKLRegressorCV(kernels, Cs=CS, cv=3).fit(X, y)
    assert runs == [("float32", 3, True), ("float64", 3, False)]
    assert_allclose(rough.scores_, exact.scores_, atol=0.02)
    assert len(rough.cv_results_) == 3


@pytest.mark.parametrize(
    "change", [{"Cs": [1.0, 1e5]}, {"loss": "absolute"}, {"cv_tol": 1e-4}, {"dtype": "float32"}]
)
def test_steep_losses_and_fine_tolerances_need_double_precision(table, monkeypatch, change):
    X, y = table
    seen = []
    monkeypatch.setattr(PackedBank, "rough", lambda bank: seen.append(bank) or bank)
    kernels = KernelSet(SOURCES, [RBF([0.3, 1.0])])
    MKLRegressorCV(kernels, Cs=[0.1, 1.0], cv=3).fit(X, y)
    assert len(seen) == 1
    model = MKLRegressorCV(kernels, Cs=[0.1, 1.0], cv=3).set_params(**change).fit(X, y)
    assert len(seen) == 1 + ("dtype" in change)  # a bank in single precision decides by itself
    assert model.converged_


def test_weights_of_samples_and_the_scale_of_kernels_make_a_loss_steep(table, monkeypatch):
    X, y = table
    seen = []
    monkeypatch.setattr(PackedBank, "rough", lambda bank: seen.append(bank) or bank)
    model = MKLRegressorCV("precomputed", normalize=None, Cs=[0.1, 1.0], cv=3)
    K = linear_grams(X)
    model.fit(K, y)
    assert len(seen) == 1
    model.fit(K * 1e5, y)
    model.fit(K, y, sample_weight=np.where(np.arange(len(y)) == 3, 1e5, 1.0))
    assert len(seen) == 1


def test_the_last_fit_begins_at_the_mean_of_the_folds(rng):
    weights, alphas = rng.random((2, 3)), rng.normal(size=(2, 3, 1))
    bank = PackedBank.from_grams([np.eye(3)] * 3)
    problem = Problem(bank, np.array([[1.0], [2.0], [4.0]]), Squared(), ElasticNet())
    one = DualNewton().solve(problem)
    folds = [replace(one, weights=d, dual_coef=a) for d, a in zip(weights, alphas, strict=True)]
    start = mean_of_folds(folds, [np.array([0, 1, 1]), np.array([3, 1, 0])], 5)
    (a, b), expected = alphas, np.zeros((5, 1))
    expected[0], expected[1] = (a[0] + b[2]) / 2, (a[1] + a[2] + b[1]) / 3
    expected[3] = b[0]
    assert_allclose(start.dual_coef, expected)
    assert_allclose(start.dual_point, expected)
    assert_allclose(start.weights, weights.mean(axis=0))
    assert_allclose(start.intercept, one.intercept)
    assert_allclose(start.sq_norms, one.sq_norms)
    assert start.atom_weights is None
    assert not start.converged
    assert np.isinf(start.gap)
    folds = [replace(fold, atom_weights=k * weights[0]) for k, fold in enumerate(folds)]
    start = mean_of_folds(folds, [np.arange(3)] * 2, 3)
    assert_allclose(start.atom_weights, weights[0] / 2)


def test_first_steps_are_on_the_rough_kernels(rng, monkeypatch):
    bank = PackedBank.from_grams([Z @ Z.T for Z in rng.normal(size=(4, 30, 5))])
    problem = Problem(bank, rng.normal(size=(30, 1)), Squared(), ElasticNet())
    solver = DualNewton(tol=1e-8)
    start = replace(solver.solve(problem), dual_coef=rng.normal(size=(30, 1)))
    assert Chosen(problem).near(solver) is None
    assert Chosen(problem, bank, start).near(solver) is start
    rough, seen, solve = bank.rough(), [], DualNewton.solve

    def spy(self, problem, start):
        seen.append((problem.bank, start, self.tol))
        return solve(self, problem, start)

    monkeypatch.setattr(DualNewton, "solve", spy)
    near = Chosen(problem, rough, start).near(replace(solver, max_iter=1))  # no warning
    assert near.n_iter == 1
    assert seen == [(rough, start, 1e-4)]
    monkeypatch.setattr(ElasticNet, "convex", False)  # where the start decides on the minimum
    assert Chosen(problem, rough, start).near(solver) is None


def test_steps_on_the_rough_kernels_are_few():
    rng = np.random.default_rng(0)
    bank = PackedBank.from_grams([Z @ Z.T for Z in rng.normal(size=(4, 30, 5))])
    problem = Problem(bank, rng.normal(size=(30, 1)), Squared(), ElasticNet(), C=0.03)
    solver = Alternating(tol=1e-4, max_iter=100)
    assert solver.solve(problem).n_iter > _chosen._MAX_STEPS
    assert Chosen(problem, bank.rough()).near(solver).n_iter == _chosen._MAX_STEPS


def test_norms_that_are_not_convex_take_the_kernels_as_they_are():
    """Their solvers ask for a positive definite sum of kernels, which rounded ones may not have."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=80)
    kernels = KernelSet({f"s{j}": [j] for j in range(3)}, [RBF([3.0, 10.0, 30.0])])
    model = MKLRegressorCV(kernels, regularizer=BlockNorm(3.0), cv=3, Cs=[0.1, 1000.0])
    assert model.fit(X, y).converged_


def test_unfinished_fits_are_counted(table):
    X, y = table
    solver = NewtonWeights(max_iter=1, tol=1e-12)
    model = MKLRegressorCV(SOURCES, Cs=CS, cv=3, solver=solver, cv_tol=1e-12)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert any("of the fits that MKLRegressorCV compared" in str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selection": "median"}, "selection must be one of"),
        ({"cv_tol": 0.0}, "cv_tol == 0.0, must be > 0"),
        ({"regularizer_grid": {"p": [1.0]}}, "Invalid parameter 'p' for estimator ElasticNet"),
        ({"scoring": "no_such_score"}, "no_such_score"),
        ({"cv": [(np.arange(90), np.array([], dtype=int))]}, "Fold 0[^$]*use fewer folds"),
        ({"cv": [(np.flatnonzero(np.arange(90) < 3), np.arange(3, 90))]}, "lack the class True"),
    ],
)
def test_clear_errors(table, parameters, message):
    X, y = table[0], np.arange(90) >= 45
    with pytest.raises(ValueError, match=message):
        MKLClassifierCV(SOURCES, **parameters).fit(X, y)


def test_a_grid_may_use_the_names_of_the_result(table):
    model = MKLRegressorCV(SOURCES, regularizer_grid={"l1_ratio": [0.5]}, Cs=CS, cv=3).fit(*table)
    grid = {name: [value] for name, value in model.best_params_.items() if name != "C"}
    again = clone(model).set_params(regularizer_grid=grid).fit(*table)
    assert again.best_params_ == model.best_params_


def test_a_grid_must_be_a_mapping(table):
    with pytest.raises(TypeError, match="regularizer_grid must map names"):
        MKLRegressorCV(SOURCES, regularizer_grid=[0.1]).fit(*table)


@pytest.mark.parametrize("weights", ["shared", "per_class"])
def test_a_path_is_the_fits_one_by_one(table, weights):
    X, y = table[0], np.digitize(table[1], [-0.5, 0.5])
    model = MKLClassifier(SOURCES, weights=weights, tol=1e-8)
    path = mkl_path(model, X, y, Cs=[10.0, 0.1])
    assert_array_equal(path.Cs, [0.1, 10.0])
    for C, d, objective in zip(path.Cs, path.weights, path.objectives, strict=True):
        one = MKLClassifier(SOURCES, weights=weights, tol=1e-8, C=C).fit(X, y)
        assert_allclose(objective, one.objective_, rtol=1e-7)
        assert_allclose(d, one.weights_, atol=1e-3)
    assert path.gaps.max() <= 1e-8
    assert len(path.frame()) == 2 * len(path.kernels)
    assert not hasattr(model, "kernels_")


def test_a_path_begins_where_the_first_kernel_enters(table):
    X, y = table
    path = mkl_path(MKLRegressor(SOURCES, regularizer="lp"), X, y, Cs=6)
    assert path.n_active[0] <= 1 < path.n_active[2]
    assert path.n_active[-1] > 3
    assert set(path.frame()["source"]) == {"a", "b", "c"}
    dense = mkl_path(MKLRegressor(SOURCES, regularizer="uniform"), X, y, Cs=3)
    assert_allclose(dense.Cs, [1e-3, 1.0, 1e3])


NO_CS = [0, 1.5, "3", ["1", "2"], [], [1.0, -1.0], [np.nan], [np.inf], [[1, 2], [3, 4]], None]


@pytest.mark.parametrize("Cs", NO_CS, ids=repr)
def test_paths_and_searches_need_positive_values(table, Cs):
    said = re.escape(f"such as 6 or [0.1, 1, 10]; got {Cs!r}.")
    with pytest.raises(ValueError, match=said):
        mkl_path(MKLRegressor(SOURCES), *table, Cs=Cs)
    with pytest.raises(ValueError, match=said):
        MKLRegressorCV(SOURCES, Cs=Cs).fit(*table)


@pytest.mark.parametrize("Cs", [(10, 0.1, 10), np.array([10, 0.1], "f4")], ids=repr)
def test_paths_and_searches_take_values_in_any_order_and_container(table, Cs):
    assert_allclose(mkl_path(MKLRegressor(SOURCES), *table, Cs=Cs).Cs, [0.1, 10.0])
    model = MKLRegressorCV(SOURCES, Cs=Cs, cv=2).fit(*table)
    assert_allclose([candidate.C for candidate in model.candidates_], [0.1, 10.0])


def test_a_path_is_for_estimators_with_a_C(table):
    with pytest.raises(TypeError, match="mkl_path takes an MKLClassifier"):
        mkl_path(ProbabilisticMKLRegressor(SOURCES), *table)
    paths = [
        mkl_path(kind(SOURCES), *table, Cs=[0.1, 1.0]) for kind in (MKLRegressor, MKLRegressorCV)
    ]
    assert_allclose(paths[1].weights, paths[0].weights)


@pytest.fixture
def shared_table(rng):
    """Enough samples and kernels for folds that share their sweeps."""
    X = rng.normal(size=(160, 6))
    kernels = KernelSet({f"s{j}": [j] for j in range(6)}, [RBF(np.logspace(-1, 1, 12).tolist())])
    return kernels, X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=160)


def batches_seen(monkeypatch, most=None):
    """The sizes of the batches of paths that share sweeps, as they come."""
    seen, together = [], _fold_paths.answered_together

    def spy(steps, sweeps, sets):
        seen.append((len(steps), list(sets)))
        return together(steps, sweeps, sets)

    monkeypatch.setattr(_fold_paths, "answered_together", spy)
    if most is not None:
        monkeypatch.setattr(SharedSweeps, "most", lambda sweeps, n_outputs, n_workers: most)
    return seen


@pytest.mark.parametrize("cv_tol", [3e-3, 1e-6])
def test_folds_share_sweeps_and_find_what_each_finds_alone(shared_table, monkeypatch, cv_tol):
    kernels, X, y = shared_table
    seen = batches_seen(monkeypatch)
    grid = {"l1_ratio": [0.3, 0.8]}
    model = MKLRegressorCV(kernels, Cs=CS, cv=4, regularizer_grid=grid, cv_tol=cv_tol)
    together = clone(model).fit(X, y)
    half = [(6, [0, 0, 1, 1, 2, 2]), (2, [3, 3])]  # of a bank of half the size
    assert seen == (half if cv_tol > 1e-3 else [(8, [0, 0, 1, 1, 2, 2, 3, 3])])
    seen = batches_seen(monkeypatch, most=3)
    batched = clone(model).fit(X, y)
    assert seen == [(3, [0, 0, 1]), (3, [1, 2, 2]), (2, [3, 3])]
    seen = batches_seen(monkeypatch, most=1)
    alone = clone(model).fit(X, y)
    assert seen == []
    for other in (batched, alone):
        assert_allclose(other.scores_, together.scores_, atol=0.5 * np.sqrt(cv_tol))
        assert other.best_params_ == together.best_params_  # 0.002 ahead of the next
        assert_allclose(other.objective_, together.objective_, rtol=2e-6)


@pytest.mark.parametrize("n_jobs", [2, 3, 9])
def test_workers_get_neighbouring_folds(shared_table, monkeypatch, n_jobs):
    kernels, X, y = shared_table
    groups, run = [], PathPlan.run

    def spy(plan, problems, folds):
        groups.append([int(test[0]) for _, test in folds])
        return run(plan, problems, folds)

    monkeypatch.setattr(PathPlan, "run", spy)
    with parallel_config("threading"):
        model = MKLRegressorCV(kernels, Cs=CS, cv=5, n_jobs=n_jobs, cv_tol=1e-6).fit(X, y)
    ends = {2: [[0, 32, 64], [96, 128]], 3: [[0, 32], [64, 96], [128]]}
    assert sorted(groups) == ends.get(n_jobs, [[0], [32], [64], [96], [128]])
    one = MKLRegressorCV(kernels, Cs=CS, cv=5, cv_tol=1e-6).fit(X, y)
    assert_allclose(model.scores_, one.scores_, atol=1e-3)  # the root of cv_tol


@pytest.mark.parametrize(("labels", "n_outputs"), [(2, 1), (3, 3)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_is_asked_for_all_outputs_and_workers(
    shared_table, monkeypatch, labels, n_outputs, n_jobs
):
    kernels, X, y = shared_table
    asked, most = [], SharedSweeps.most

    def spy(sweeps, outputs, workers):
        asked.append((outputs, workers))
        return most(sweeps, outputs, workers)

    monkeypatch.setattr(SharedSweeps, "most", spy)
    y = np.digitize(y, np.quantile(y, np.arange(1, labels) / labels))
    loss = "logistic" if labels == 2 else "multinomial"
    with parallel_config("threading"):
        MKLClassifierCV(kernels, loss=loss, Cs=[0.1], cv=4, n_jobs=n_jobs).fit(X, y)
    assert asked == [(n_outputs, n_jobs)] * n_jobs


def test_mixtures_of_kernels_live_one_at_a_time(shared_table):
    """Each setting of fixed weights has a combined kernel of every fold."""
    kernels, X, y = shared_table
    n, M = len(X), 72
    grid = {"weights__kernel": list(range(M))}
    model = MKLRegressorCV(
        kernels, regularizer=FixedWeights(OneKernel()), regularizer_grid=grid, Cs=[1.0], cv=4
    )
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 8 * M * n**2 / 2  # of the bank, of which a fold's M mixtures are nearly one
    assert len(model.cv_results_) == M


@pytest.mark.parametrize("cv_tol", [1e-2, 1e-5])
def test_a_solver_of_ones_own_is_no_finer_than_the_folds(table, monkeypatch, cv_tol):
    seen, steps = [], _fold_paths.path_steps

    def spy(problem, Cs, solver, **options):
        seen.append(solver.tol)
        return steps(problem, Cs, solver, **options)

    monkeypatch.setattr(_fold_paths, "path_steps", spy)
    MKLRegressorCV(SOURCES, solver=DualNewton(tol=1e-3), Cs=CS, cv=3, cv_tol=cv_tol).fit(*table)
    assert seen == [max(1e-3, cv_tol)] * 3


def test_copies_of_folds_live_one_at_a_time(shared_table, monkeypatch):
    """Folds that cut through parts of the bank are copies, each as large as the bank."""
    kernels, X, y = shared_table
    take, alive, most = PackedBank.take, weakref.WeakSet(), []

    def counted(bank, samples):
        part = take(bank, samples)
        alive.add(part)
        most.append(len(alive))
        return part

    monkeypatch.setattr(PackedBank, "take", counted)
    cv = ShuffleSplit(40, random_state=0)
    MKLRegressorCV(kernels, Cs=[0.1, 1.0], cv=cv).fit(X, y)
    assert len(most) == 40
    assert max(most) <= 2
