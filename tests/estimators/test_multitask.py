"""Multi-task estimators against their definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import make_problem
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from multikernel import (
    RBF,
    Alternating,
    BlockNorm,
    ElasticNet,
    GroupNorm,
    KernelSet,
    Linear,
    LpNorm,
    MKLRegressor,
    MultiTaskMKLClassifier,
    MultiTaskMKLRegressor,
    PackedBank,
    Squared,
    TaskCoupling,
    ViewBundle,
    Wedge,
    choose_solver,
)
from multikernel.banks import TaskBank

KERNELS = [Linear(), RBF(width=4.0, scale=None)]


@pytest.fixture(scope="module")
def tasks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    task = rng.permutation(np.repeat([10, 20, 30], 30))
    y = X[:, 0] + np.where(task == 30, np.sin(2 * X[:, 1]), 0.3 * X[:, 2])
    return np.column_stack([X, task]), y


def task_grams(X, task, levels):
    """Task kernels and then the shared one, for each of two base kernels."""
    grams = []
    for K in (linear_kernel(X), rbf_kernel(X, gamma=0.25)):
        grams += [K * np.outer(task == t, task == t) for t in levels] + [K]
    return np.array(grams)


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25)
def test_task_bank_is_the_bank_of_masked_kernels(seed):
    rng = np.random.default_rng(seed)
    n, n_tasks = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    codes = rng.integers(n_tasks, size=n)
    base = [(lambda Z: Z @ Z.T)(rng.normal(size=(n, 3))) for _ in range(2)]
    masks = [np.outer(codes == t, codes == t) for t in range(n_tasks)] + [np.ones((n, n))]
    plain = PackedBank.from_grams([K * mask for K in base for mask in masks])
    bank = TaskBank(PackedBank.from_grams(base), codes, n_tasks)
    some = rng.permutation(bank.n_kernels)[: max(1, bank.n_kernels // 2)]
    rows = np.sort(rng.permutation(n)[: n - 1])
    pairs = [
        (bank, plain),
        (bank.select(some), plain.select(some)),
        (bank.take(rows), plain.take(rows)),
    ]
    for ours, theirs in pairs:
        d, A = rng.random(ours.n_kernels), rng.normal(size=(ours.n_samples, 2))
        S = rng.normal(size=(3, ours.n_samples, ours.n_samples))
        S = S + S.transpose(0, 2, 1)
        assert_allclose(ours.combine(d), theirs.combine(d), atol=1e-12)
        assert_allclose(ours.apply(A), theirs.apply(A), atol=1e-12)
        assert_allclose(ours.apply(A, np.array([0])), theirs.apply(A, np.array([0])), atol=1e-12)
        assert_allclose(ours.traces(S), theirs.traces(S), atol=1e-12)
        assert_allclose(ours.quadratic(A), theirs.quadratic(A), atol=1e-12)


def test_general_form_is_the_constraint_on_all_task_kernels(tasks):
    X, y = tasks
    options = {"C": 5.0, "tol": 1e-8, "max_iter": 1000}
    ours = MultiTaskMKLRegressor(KERNELS, task=3, normalize=None, **options).fit(X, y)
    K = np.moveaxis(task_grams(X[:, :3], X[:, 3], [10, 20, 30]), 0, 2)
    theirs = MKLRegressor(
        "precomputed", regularizer=LpNorm(p=1, form="ivanov"), normalize=None, **options
    ).fit(K, y)
    assert_allclose(ours.objective_, theirs.objective_, rtol=1e-7)
    assert_allclose(ours.predict(X), theirs.predict(K), atol=1e-3)
    assert ours.weights_.shape == (4, 2)
    assert_allclose(ours.weights_.sum(), 1, atol=1e-6)


@pytest.mark.parametrize("normalize", [None, "variance", "cosine"])
def test_predictions_at_training_samples_are_those_of_the_solution(tasks, normalize):
    X, y = tasks
    model = MultiTaskMKLRegressor(KERNELS, task=3, normalize=normalize, C=5.0).fit(X, y)
    grams = dict(model.kernels_.fit_grams(X[:, :3]))
    same = X[:, 3][:, None] == X[:, 3]
    f = np.zeros(len(X))
    for m, K in grams.items():
        own = np.array([model.weights_[list(model.tasks_).index(t), m] for t in X[:, 3]])
        f += ((model.weights_[-1, m] + own[:, None] * same) * K) @ model.dual_coef_
    assert_allclose(model.predict(X), f + model.intercept_, atol=1e-9)


def test_the_sharing_goes_from_separate_to_pooled_tasks(tasks):
    X, y = tasks
    options = {"regularizer": "uniform", "C": 5.0, "normalize": None, "fit_intercept": False}
    pooled = MultiTaskMKLRegressor(KERNELS, task=3, sharing=1.0, **options).fit(X, y)
    plain = MKLRegressor(KERNELS, **options).fit(X[:, :3], y)
    assert_allclose(pooled.predict(X), plain.predict(X[:, :3]), atol=1e-4)
    separate = MultiTaskMKLRegressor(KERNELS, task=3, sharing=0.0, **options).fit(X, y)
    own = X[:, 3] == 20
    alone = MKLRegressor(KERNELS, **options | {"C": 15.0}).fit(X[own, :3], y[own])
    assert_allclose(separate.predict(X[own]), alone.predict(X[own, :3]), atol=1e-3)
    assert not separate.weights_[-1].any()


def test_an_unknown_task_is_judged_by_the_shared_part(tasks):
    X, y = tasks
    model = MultiTaskMKLRegressor(KERNELS, task=3, sharing=0.5, normalize=None).fit(X, y)
    stranger = X.copy()
    stranger[:, 3] = 99
    K = linear_kernel(X[:, :3]), rbf_kernel(X[:, :3], gamma=0.25)
    shared = sum(d * k @ model.dual_coef_ for d, k in zip(model.weights_[-1], K, strict=True))
    assert_allclose(model.predict(stranger), shared + model.intercept_)


def test_task_by_position_name_and_view(tasks):
    X, y = tasks
    task = np.array(["a", "b", "c"])[(X[:, 3] // 10 - 1).astype(int)]
    frame = pd.DataFrame(X[:, :3], columns=list("uvw")).assign(site=task)
    expected = MultiTaskMKLRegressor(task=-1).fit(X, y).predict(X)
    forms = [
        ("site", frame),
        ("site", pl.DataFrame({name: frame[name].to_list() for name in frame})),
        (3, frame),
        ("site", ViewBundle({"all": X[:, :3], "site": task.tolist()})),
        (3, csr_array(X)),
    ]
    for name, table in forms:
        model = MultiTaskMKLRegressor(task=name).fit(table, y)
        assert_allclose(model.predict(table), expected, atol=1e-6)
    model = MultiTaskMKLRegressor(task="site").fit(frame, y)
    assert model.tasks_.tolist() == ["a", "b", "c"]
    table = model.kernel_table_
    assert table["task"].tolist() == np.repeat(["a", "b", "c", "shared"], 4).tolist()
    assert_allclose(table["contribution"].sum(), 1)


def test_multitask_classifier_with_several_classes(tasks):
    X, y = tasks
    labels = np.digitize(y, [-0.5, 0.5])
    model = MultiTaskMKLClassifier(task=3, C=10.0).fit(X, labels)
    assert model.score(X, labels) > 0.85
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    shares = model.decision_contributions(X)
    assert shares.shape == (90, 4, 3)
    assert_allclose(shares.sum(axis=1) + model.intercept_, model.decision_function(X))


def test_multitask_calibration(tasks):
    X, y = tasks
    model = MultiTaskMKLClassifier("linear", task=3, loss="hinge", calibrate=True, random_state=0)
    p = model.fit(X, y > 0).predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("task", [7, "site"])
def test_a_missing_task_column_is_named(tasks, task):
    with pytest.raises(ValueError, match=f"task={task!r} is not a column of X"):
        MultiTaskMKLRegressor(task=task).fit(*tasks)


def test_precomputed_kernels_have_no_task(tasks):
    X, y = tasks
    with pytest.raises(TypeError, match="hold no task column"):
        MultiTaskMKLRegressor("precomputed", task=0).fit(X @ X.T, y)


@pytest.mark.parametrize(
    "over", [BlockNorm(3.0), ElasticNet(0.3), Wedge(), GroupNorm([0, 0, 1, 1, 2, 2])], ids=repr
)
@pytest.mark.parametrize("solver", ["auto", "alternating"])
def test_the_general_form_is_the_regularizer_over_all_kernels(over, solver):
    direct = make_problem(Squared(), over, M=6)
    coupled = replace(direct, regularizer=TaskCoupling(2, over=over))
    d, G, z = np.linspace(0.9, 0.4, 6), np.linspace(0.5, 2.0, 6), direct.y / 2
    assert_allclose(coupled.objective(d, G, z), direct.objective(d, G, z))  # anywhere
    tol = 1e-6 if solver == "alternating" else 1e-9
    for problem in (direct, coupled):
        kind = Alternating(tol=tol) if solver == "alternating" else choose_solver(problem, tol=tol)
        solution = kind.solve(problem)
        assert solution.converged
        z = problem.bank.combine(solution.weights) @ solution.dual_coef + solution.intercept
        G = problem.bank.quadratic(solution.dual_coef)
        assert_allclose(problem.objective(solution.weights, G, z), solution.objective, rtol=1e-6)
        if problem is direct:
            expected = solution.objective
    assert_allclose(solution.objective, expected, rtol=2 * tol)


@pytest.mark.parametrize("sharing", [None, 0.5])
def test_groups_may_be_the_sources_of_base_kernels(sharing, rng):
    X = np.c_[rng.normal(size=(60, 4)), np.arange(60) % 2]
    y = X[:, 0] + X[:, 1] * X[:, 4] + 0.1 * rng.normal(size=60)
    kernels = KernelSet({"a": slice(0, 2), "b": slice(2, 4)}, ["linear", "rbf"])
    model = MultiTaskMKLRegressor(kernels, task=4, regularizer="group", sharing=sharing, tol=1e-6)
    model.fit(X, y)
    assert model.converged_
    assert_allclose(model.weights_[:, 0] > 1e-8, model.weights_[:, 1] > 1e-8)
