"""Which scikit-learn tools work with which form of input, as a table that is run.

Forms: ``stack`` is an array of Gram matrices of shape (n, n, M), ``grams`` a KernelBundle,
``views`` a ViewBundle; ``array`` and ``frame`` are blocks side by side, with selectors.
"""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    LearningCurveDisplay,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    train_test_split,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KernelCenterer

from multikernel import RBF, KernelBundle, KernelSet, Linear, MKLClassifier, ViewBundle

mpl.use("Agg")

N = 60
FORMS = ("stack", "grams", "views", "array", "frame")
GRID = {"C": [0.1, 1.0], "regularizer__l1_ratio": [0.2, 0.8]}
_rng = np.random.default_rng(0)
FEATURES = _rng.normal(size=(N, 6))
Y = (FEATURES[:, 0] + FEATURES[:, 3] ** 2 + 0.3 * _rng.normal(size=N) > 1).astype(int)
FAMILIES = [Linear(), RBF(width=8.0, scale=None)]
NAMES = ["rna_0", "rna_1", "rna_2", "mri_0", "mri_1", "mri_2"]


def grams():
    blocks = FEATURES[:, :3], FEATURES[:, 3:]
    return {
        f"{name}-{kernel.__name__}": kernel(block, **options)
        for name, block in zip(("rna", "mri"), blocks, strict=True)
        for kernel, options in ((linear_kernel, {}), (rbf_kernel, {"gamma": 1 / 8}))
    }


def make(form):
    """X and an estimator for one form of input; the model is the same for all of them."""
    if form == "stack":
        return np.stack(list(grams().values()), axis=2), MKLClassifier("precomputed")
    if form == "grams":
        return KernelBundle(grams()), MKLClassifier()  # a bundle brings its own kernels
    if form == "views":
        views = {"rna": FEATURES[:, :3], "mri": FEATURES[:, 3:]}
        return ViewBundle(views), MKLClassifier(FAMILIES)
    if form == "array":
        sources = {"rna": slice(0, 3), "mri": slice(3, 6)}
        return FEATURES, MKLClassifier(KernelSet(sources, FAMILIES))
    sources = {"rna": "rna_*", "mri": ["mri_0", "mri_1", "mri_2"]}
    return pd.DataFrame(FEATURES, columns=NAMES), MKLClassifier(KernelSet(sources, FAMILIES))


# Consumers: each raises where it does not work, and returns numbers that all forms must share


def consume_cross_val_score(model, X):
    return cross_val_score(model, X, Y, cv=3, error_score="raise")


def consume_cross_validate(model, X):
    return cross_validate(model, X, Y, cv=StratifiedKFold(3), error_score="raise")["test_score"]


def consume_grouped_folds(model, X):
    groups = np.arange(N) % 6
    cv = GroupKFold(3)
    return cross_val_score(model, X, Y, cv=cv, groups=groups, error_score="raise")


def consume_cross_val_predict(model, X):
    return cross_val_predict(model, X, Y, cv=3, method="decision_function")


def consume_parallel_cross_val(model, X):
    return cross_val_score(model, X, Y, cv=3, n_jobs=2, error_score="raise")


def consume_grid_search(model, X):
    search = GridSearchCV(model, GRID, cv=3, error_score="raise").fit(X, Y)
    search.predict(X)
    return [*search.cv_results_["mean_test_score"], search.score(X, Y)]


def consume_randomized_search(model, X):
    search = RandomizedSearchCV(
        model, {"C": uniform(0.1, 1)}, n_iter=3, cv=3, random_state=0, error_score="raise"
    )
    return search.fit(X, Y).cv_results_["mean_test_score"]


def consume_halving_search(model, X):
    search = HalvingGridSearchCV(
        model, {"C": [0.1, 0.5, 1.0]}, cv=3, min_resources=30, random_state=0, error_score="raise"
    )
    return search.fit(X, Y).cv_results_["mean_test_score"]


def consume_nested_cross_validation(model, X):
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2, error_score="raise")
    return cross_val_score(search, X, Y, cv=3, error_score="raise")


def consume_learning_curve(model, X):
    return learning_curve(model, X, Y, cv=3, train_sizes=[0.6, 1.0], error_score="raise")[2]


def consume_validation_curve(model, X):
    options = {"param_name": "C", "param_range": [0.1, 1.0], "cv": 3, "error_score": "raise"}
    return validation_curve(model, X, Y, **options)[1]


def consume_permutation_test(model, X):
    return permutation_test_score(model, X, Y, cv=3, n_permutations=3, random_state=0)[1]


def consume_learning_curve_display(model, X):
    options = {"cv": 3, "train_sizes": [0.6, 1.0], "error_score": "raise"}
    return LearningCurveDisplay.from_estimator(model, X, Y, **options).test_scores


def consume_validation_curve_display(model, X):
    options = {"param_name": "C", "param_range": [0.1, 1.0], "cv": 3, "error_score": "raise"}
    return ValidationCurveDisplay.from_estimator(model, X, Y, **options).test_scores


def consume_pipeline(model, X):
    return cross_val_score(Pipeline([("mkl", model)]), X, Y, cv=3, error_score="raise")


def consume_pipeline_with_a_transformer(model, X):
    pipeline = make_pipeline(FunctionTransformer(), model)
    return cross_val_score(pipeline, X, Y, cv=3, error_score="raise")


def consume_kernel_centerer(model, X):
    return make_pipeline(KernelCenterer(), model).fit(X, Y).score(X, Y)


def consume_train_test_split(model, X):
    X_train, X_test, y_train, y_test = train_test_split(X, Y, random_state=0)
    return clone(model).fit(X_train, y_train).score(X_test, y_test)


def consume_calibration(model, X):
    return CalibratedClassifierCV(model, cv=3).fit(X, Y).predict_proba(X)[:, 1]


def consume_calibration_without_ensemble(model, X):
    return CalibratedClassifierCV(model, cv=3, ensemble=False).fit(X, Y).predict_proba(X)[:, 1]


def consume_calibration_in_cross_validation(model, X):
    calibrated = CalibratedClassifierCV(model, cv=3, ensemble=False)
    return cross_val_score(calibrated, X, Y, cv=3, error_score="raise")


def consume_tuned_threshold(model, X):
    return TunedThresholdClassifierCV(model, cv=3, thresholds=5).fit(X, Y).predict(X)


def consume_tuned_threshold_in_cross_validation(model, X):
    tuned = TunedThresholdClassifierCV(model, cv=3, thresholds=5)
    return cross_val_score(tuned, X, Y, cv=3, error_score="raise")


def consume_fixed_threshold(model, X):
    fitted = FrozenEstimator(clone(model).fit(X, Y))
    return FixedThresholdClassifier(fitted, threshold=0.3).fit(X, Y).predict(X)


def stacking(model):
    models = [("one", model), ("two", clone(model).set_params(C=0.1))]
    return StackingClassifier(models, LogisticRegression(), cv=3)


def voting(model):
    return VotingClassifier([("one", model), ("two", clone(model).set_params(C=0.1))])


def consume_stacking(model, X):
    return stacking(model).fit(X, Y).predict(X)


def consume_voting(model, X):
    return voting(model).fit(X, Y).predict(X)


def consume_stacking_in_cross_validation(model, X):
    return cross_val_score(stacking(model), X, Y, cv=3, error_score="raise")


def consume_voting_in_cross_validation(model, X):
    return cross_val_score(voting(model), X, Y, cv=3, error_score="raise")


def consume_one_vs_rest(model, X):
    labels = np.digitize(FEATURES[:, 0], [-0.5, 0.5])
    return OneVsRestClassifier(model).fit(X, labels).predict(X)


def consume_multi_output(model, X):
    labels = np.column_stack([Y, FEATURES[:, 0] > 0])
    return MultiOutputClassifier(model).fit(X, labels).predict(X)


def consume_one_vs_one(model, X):
    labels = np.digitize(FEATURES[:, 0], [-0.5, 0.5])
    return OneVsOneClassifier(model).fit(X, labels).predict(X)


def consume_bagging(model, X):
    return BaggingClassifier(model, n_estimators=2, random_state=0).fit(X, Y).predict(X)


def consume_permutation_importance(model, X):
    fitted = clone(model).fit(X, Y)
    result = permutation_importance(fitted, X, Y, n_repeats=2, random_state=0)
    return result.importances_mean


def consume_roc_display(model, X):
    return RocCurveDisplay.from_estimator(clone(model).fit(X, Y), X, Y).roc_auc


def consume_confusion_display(model, X):
    display = ConfusionMatrixDisplay.from_estimator(clone(model).fit(X, Y), X, Y)
    return display.confusion_matrix


def consume_roc_display_of_cross_validation(model, X):
    if not hasattr(RocCurveDisplay, "from_cv_results"):
        pytest.skip("scikit-learn 1.7 brings from_cv_results")
    results = cross_validate(model, X, Y, cv=3, return_estimator=True, return_indices=True)
    return RocCurveDisplay.from_cv_results(results, X, Y).roc_auc


CONSUMERS = {
    name.removeprefix("consume_"): consume
    for name, consume in globals().items()
    if name.startswith("consume_")
}
ROWS_ONLY = "the tool cuts rows only and does not know that the stack has columns to cut"
DIMENSIONS = "the tool calls check_array, which wants two dimensions"
NAMES_LOST = "the tool turns tables into arrays, which have no names to select columns by"
COLUMNS = "the tool permutes or drops columns, which the form does not have"
CANNOT = {
    "pipeline_with_a_transformer": {"stack": ROWS_ONLY},
    "kernel_centerer": dict.fromkeys(("stack", "grams", "views"), DIMENSIONS)
    | dict.fromkeys(("array", "frame"), "the table is not a square kernel"),
    "train_test_split": {"stack": ROWS_ONLY},
    "calibration": {"stack": ROWS_ONLY},
    "calibration_in_cross_validation": {"stack": ROWS_ONLY},
    "tuned_threshold": {"stack": ROWS_ONLY},
    "tuned_threshold_in_cross_validation": {"stack": ROWS_ONLY},
    "stacking_in_cross_validation": {"stack": ROWS_ONLY},
    "voting_in_cross_validation": {"stack": ROWS_ONLY},
    "one_vs_one": dict.fromkeys(("stack", "grams", "views"), DIMENSIONS) | {"frame": NAMES_LOST},
    "bagging": dict.fromkeys(("stack", "grams", "views"), DIMENSIONS) | {"frame": NAMES_LOST},
    "permutation_importance": dict.fromkeys(("stack", "grams", "views"), COLUMNS),
    "roc_display_of_cross_validation": {"stack": ROWS_ONLY},
}
PAIRS = [(name, form) for name in CONSUMERS for form in FORMS]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def reference():
    """What every tool says about plain arrays, computed once."""
    answers = {}

    def answer(name):
        if name not in answers:
            X, model = make("array")
            answers[name] = CONSUMERS[name](model, X)
        return answers[name]

    return answer


@pytest.mark.parametrize(
    ("name", "form"), [pair for pair in PAIRS if pair[1] not in CANNOT.get(pair[0], {})]
)
def test_tools_that_work_give_the_same_numbers_for_all_forms(name, form, reference):
    X, model = make(form)
    result = CONSUMERS[name](model, X)
    assert_allclose(result, reference(name), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "form"), [pair for pair in PAIRS if pair[1] in CANNOT.get(pair[0], {})]
)
def test_tools_that_cannot_work_fail_loudly(name, form):
    X, model = make(form)
    with pytest.raises((ValueError, TypeError, IndexError, AttributeError, KeyError)):
        CONSUMERS[name](model, X)


def test_a_stack_cut_by_rows_needs_its_columns_cut_too():
    X, model = make("stack")
    train, test = train_test_split(np.arange(N), random_state=0)
    with pytest.raises(ValueError, match=r"expected Gram matrices of shape \(n, n, n_kernels\)"):
        clone(model).fit(X[train], Y[train])
    fitted = clone(model).fit(X[np.ix_(train, train)], Y[train])
    assert fitted.predict(X[np.ix_(test, train)]).shape == (len(test),)


def test_sample_weights_are_routed():
    X, model = make("array")
    s = np.arange(N) % 3
    scores = cross_val_score(model, X, Y, cv=3, params={"sample_weight": s}, error_score="raise")
    folds = StratifiedKFold(3).split(X, Y)
    expected = [
        clone(model).fit(X[i], Y[i], sample_weight=s[i]).score(X[j], Y[j]) for i, j in folds
    ]
    assert_allclose(scores, expected)


@pytest.mark.parametrize("consume", [consume_cross_val_score, consume_grid_search])
def test_a_bundle_may_be_called_precomputed(consume):
    X, model = make("grams")
    named = MKLClassifier("precomputed")
    assert_allclose(consume(named, X), consume(model, X))
    rows = np.arange(0, N, 2)
    cut = cross_val_score(named, X[rows], Y[rows], cv=3, error_score="raise")
    assert_allclose(cut, cross_val_score(model, X[rows], Y[rows], cv=3, error_score="raise"))
