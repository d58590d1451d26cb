"""Interactions inside estimators: fitted per training fold, and with the effect they promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict

from multikernel import (
    DualCovariance,
    ErrorCorrelation,
    GraphLaplacian,
    Hinge,
    KernelAlignment,
    KernelSet,
    Linear,
    MKLClassifier,
    MKLRegressor,
    MultiTaskMKLRegressor,
    PackedBank,
    Problem,
    SourceBlocks,
    Squared,
    Uniform,
)
from multikernel.interactions import Interaction
from multikernel.regularizers import QNorm

SOURCES = {"left": [0, 1], "right": [2, 3], "noise": [4]}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 5))
    y = np.where(X[:, 0] + X[:, 2] ** 2 + 0.3 * rng.normal(size=60) > 0.8, "yes", "no")
    return X, y


def model_with(Q, loss="hinge"):
    return MKLClassifier(SOURCES, loss=loss, regularizer=QNorm(Q), C=1.0)


RECIPES = [
    DualCovariance(),
    ErrorCorrelation(3) + 0.1 * SourceBlocks(),
    GraphLaplacian(DualCovariance()) + SourceBlocks(),
    KernelAlignment(),
]


class Recorder(Interaction):
    """A recipe that writes down the problems it is asked about."""

    problems: list = []  # noqa: RUF012

    def matrix(self, problem, sources):
        self.problems.append((problem, list(sources)))
        return np.eye(problem.bank.n_kernels)


def test_a_fit_shows_the_recipe_its_training_samples_only(data):
    X, y = data
    Recorder.problems.clear()
    folds = StratifiedKFold(3)
    cross_val_predict(model_with(Recorder()), X, y, cv=folds)
    assert len(Recorder.problems) == 3
    for (problem, sources), (train, _) in zip(Recorder.problems, folds.split(X, y), strict=True):
        assert np.array_equal(problem.y[:, 0], np.where(y[train] == "yes", 1.0, -1.0))
        assert problem.bank.n_samples == len(train)
        assert sources == ["left"] * 4 + ["right"] * 4 + ["noise"] * 4


@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
def test_cross_validation_equals_a_manual_fit_per_fold(data, recipe):
    """The matrix of the manual fit is computed from the rows of the fold and then passed."""
    X, y = data
    folds = StratifiedKFold(3)
    decisions = cross_val_predict(model_with(recipe), X, y, cv=folds, method="decision_function")
    everything = matrix_on(recipe, X, y)
    for train, test in folds.split(X, y):
        Q = matrix_on(recipe, X[train], y[train])
        assert not np.allclose(Q, everything, atol=1e-3)
        manual = model_with(Q).fit(X[train], y[train])
        assert_allclose(manual.decision_function(X[test]), decisions[test], atol=1e-4)


def matrix_on(recipe, X, y):
    """The matrix of a recipe on some rows, from kernels computed on them and nothing else."""
    kernels = KernelSet(SOURCES)
    grams = [K.copy() for _, K in kernels.fit_grams(X)]
    signs = np.where(y == "yes", 1.0, -1.0)[:, np.newaxis]
    problem = Problem(PackedBank.from_grams(grams), signs, Hinge(), Uniform(), C=1.0)
    return recipe.matrix(problem, [row["source"] for row in kernels.rows_])


def test_the_recipe_passed_in_is_not_changed(data):
    X, y = data
    recipe = GraphLaplacian(DualCovariance()) + SourceBlocks()
    model = model_with(recipe)
    model.fit(X, y)
    assert model.regularizer.Q is recipe
    assert_allclose(model.regularizer_.Q, matrix_on(recipe, X, y), atol=1e-6)


def test_a_grid_search_reaches_nested_parameters(data):
    X, y = data
    model = model_with(GraphLaplacian(DualCovariance()) + 0.5 * SourceBlocks(), loss="logistic")
    grid = {
        "regularizer__Q__left__of__correlation": [False, True],
        "regularizer__Q__right__factor": [0.1, 10.0],
    }
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    scores = search.cv_results_["params"]
    assert len(scores) == 4
    best = search.best_estimator_.regularizer.Q
    assert best.right.factor == search.best_params_["regularizer__Q__right__factor"]
    assert model.regularizer.Q.right.factor == 0.5


def test_a_laplacian_alone_is_refused_with_the_remedy(data):
    with pytest.raises(ValueError, match="add a ridge"):
        model_with(GraphLaplacian(DualCovariance())).fit(*data)


@pytest.mark.parametrize("Q", RECIPES, ids=repr)
def test_regression_and_several_classes(rng, Q):
    X = rng.normal(size=(45, 5))
    Y = X[:, :2] + 0.1 * rng.normal(size=(45, 2))
    regressor = MKLRegressor(SOURCES, regularizer=QNorm(Q)).fit(X, Y)
    classes = np.argmax(X[:, :3], axis=1)
    shared = MKLClassifier(SOURCES, regularizer=QNorm(Q)).fit(X, classes)
    own = MKLClassifier(SOURCES, regularizer=QNorm(Q), weights="per_class").fit(X, classes)
    assert regressor.converged_
    assert shared.converged_
    assert own.weights_.shape == (3, 12)


@pytest.mark.parametrize("sharing", [0.5, None])
def test_several_tasks(rng, sharing):
    X = np.hstack([rng.normal(size=(50, 5)), np.repeat([[0.0], [1.0]], 25, axis=0)])
    y = X[:, 0] + X[:, 5] * X[:, 2]
    recipe = DualCovariance() + SourceBlocks()
    model = MultiTaskMKLRegressor(SOURCES, task=5, sharing=sharing, regularizer=QNorm(recipe))
    assert model.fit(X, y).converged_


def optimal_weights(Q, x):
    """Minimise Σ x/d + dᵀQd by scipy, in logarithms."""

    def objective(t):
        d = np.exp(t)
        return np.sum(x / d) + d @ Q @ d, -x / d + 2 * d * (Q @ d)

    return np.exp(minimize(objective, np.zeros(len(x)), jac=True, method="BFGS", tol=1e-12).x)


def duplicated_problem(rng):
    """Kernels 0 and 1 are all but equal, kernel 2 is another."""
    A, B = rng.normal(size=(2, 40, 3))
    y = A[:, :1] + B[:, :1]
    twin = A + 0.05 * rng.normal(size=A.shape)
    return Problem(
        PackedBank.from_grams([A @ A.T, twin @ twin.T, B @ B.T]), y, Squared(), Uniform()
    )


@pytest.mark.parametrize(
    "likeness", [DualCovariance(), DualCovariance(True), KernelAlignment()], ids=repr
)
def test_a_covariance_splits_twins_and_a_laplacian_ties_them(rng, likeness):
    problem = duplicated_problem(rng)
    x = np.array([4.0, 1.0, 4.0])
    neutral = optimal_weights(np.eye(3), x)
    split = optimal_weights(likeness.matrix(problem, "abc"), x)
    tied = optimal_weights(GraphLaplacian(likeness, ridge=0.1).matrix(problem, "abc"), x)
    ratio = [d[1] / d[0] for d in (split, neutral, tied)]
    assert ratio[0] < ratio[1] - 0.05
    assert ratio[2] > ratio[1] + 0.1
    assert ratio[2] > 0.9
    assert (split[0] + split[1]) / split[2] < 0.9 * (neutral[0] + neutral[1]) / neutral[2]


def test_an_estimator_splits_and_ties_twins(rng):
    A, B = rng.normal(size=(2, 80, 2))
    twin = A + 0.3 * rng.normal(size=A.shape)
    X = np.hstack([A, twin, B])
    y = A[:, 0] + B[:, 0] + 0.3 * rng.normal(size=80)
    views = {"a": [0, 1], "twin": [2, 3], "b": [4, 5]}
    kernels = KernelSet(views, Linear())
    weights = {
        name: MKLRegressor(kernels, regularizer=QNorm(Q)).fit(X, y).weights_
        for name, Q in {
            "apart": KernelAlignment(),
            "neutral": np.eye(3),
            "tied": GraphLaplacian(KernelAlignment(), ridge=0.1),
        }.items()
    }
    ratio = {name: d[1] / d[0] for name, d in weights.items()}
    assert ratio["apart"] < ratio["neutral"] < ratio["tied"]


def test_blocks_keep_every_source_and_choose_within(rng):
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + X[:, 2] + 0.1 * rng.normal(size=80)
    views = {"a": [0, 1], "b": [2, 3]}
    model = MKLRegressor(views, regularizer=QNorm(SourceBlocks()), C=1.0).fit(X, y)
    d = model.weights_.reshape(2, -1)
    assert np.all(d.sum(axis=1) > 0.3)
    assert np.all((d > 1e-6).sum(axis=1) < d.shape[1])
