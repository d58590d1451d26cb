"""What the estimators promise beyond scikit-learn's checks."""

from __future__ import annotations

import logging
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import (
    RBF,
    ElasticNet,
    FunctionKernel,
    GroupNorm,
    KernelBundle,
    KernelSet,
    Linear,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    Squared,
    Uniform,
    ViewBundle,
)

SOURCES = {"left": slice(0, 3), "right": slice(3, 6)}


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(120, 6, n_informative=4, n_redundant=0, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def numbers():
    return make_regression(100, 6, n_informative=3, noise=5.0, random_state=0)


def three_kernels(X, Z):
    return np.stack([linear_kernel(X, Z), rbf_kernel(X, Z, 0.1), rbf_kernel(X, Z, 1.0)], axis=2)


# Known limits


def short_kernels(X, Z):
    """Kernels whose entries and sums have few digits: libsvm rounds kernels to float32."""
    X, Z = np.round(4 * X) / 4, np.round(4 * Z) / 4
    left, right = linear_kernel(X[:, :3], Z[:, :3]), linear_kernel(X[:, 3:], Z[:, 3:])
    return np.stack([left, right, left**2], axis=2)


@pytest.mark.parametrize("C", [0.05, 2.0])
def test_uniform_weights_with_the_hinge_loss_are_svc(binary, C):
    X, y = binary
    K, K_new = short_kernels(X[:80], X[:80]), short_kernels(X[80:], X[:80])
    assert_array_equal(K.sum(axis=2), K.sum(axis=2).astype(np.float32))
    ours = MKLClassifier(
        "precomputed", loss="hinge", regularizer="uniform", C=C, normalize=None, tol=1e-12
    ).fit(K, y[:80])
    theirs = SVC(C=C, kernel="precomputed", tol=1e-12).fit(K.sum(axis=2), y[:80])
    decision = theirs.decision_function(K_new.sum(axis=2))
    assert_allclose(ours.decision_function(K_new), decision, rtol=1e-8, atol=1e-8)
    assert_array_equal(ours.predict(K_new), theirs.predict(K_new.sum(axis=2)))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_uniform_weights_with_the_squared_loss_are_kernel_ridge(numbers, n_outputs, rng):
    X, y = numbers
    y = y if n_outputs == 1 else rng.normal(size=(len(y), n_outputs))
    K, K_new = three_kernels(X[:70], X[:70]), three_kernels(X[70:], X[:70])
    options = {"regularizer": Uniform(), "normalize": None, "fit_intercept": False, "tol": 1e-12}
    ours = MKLRegressor("precomputed", C=2.0, **options).fit(K, y[:70])
    theirs = KernelRidge(alpha=0.5, kernel="precomputed").fit(K.sum(axis=2), y[:70])
    assert_allclose(ours.predict(K_new), theirs.predict(K_new.sum(axis=2)), rtol=1e-8)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape


def test_multinomial_with_uniform_weights_is_logistic_regression():
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    options = {"regularizer": "uniform", "normalize": None, "C": 0.5, "tol": 1e-12}
    ours = MKLClassifier(Linear(), **options).fit(X, y)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=5000).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert ours.weights_.shape == (1,)
    assert_allclose(ours.predict_proba(X).sum(axis=1), 1)


def test_weights_per_class_are_those_of_the_binary_problems():
    X, y = load_iris(return_X_y=True)
    ours = MKLClassifier(weights="per_class", tol=1e-8).fit(X, y)
    binary = [MKLClassifier(tol=1e-8).fit(X, y == c) for c in range(3)]
    assert ours.weights_.shape == (3, 4)
    assert_allclose(ours.weights_, [model.weights_ for model in binary], atol=1e-6)
    F = np.column_stack([model.decision_function(X) for model in binary])
    assert_allclose(ours.decision_function(X), F, atol=1e-6)
    assert_allclose(ours.objective_, sum(model.objective_ for model in binary), rtol=1e-7)
    assert len(ours.solution_) == 3
    assert ours.kernel_table_["class"].tolist() == np.repeat([0, 1, 2], 4).tolist()


def test_outputs_share_their_weights(numbers, rng):
    X, y = numbers
    Y = np.column_stack([y, y, rng.permutation(y)])
    model = MKLRegressor(SOURCES).fit(X, Y)
    assert model.weights_.shape == (8,)
    assert model.predict(X).shape == Y.shape
    assert_allclose(model.predict(X)[:, 0], model.predict(X)[:, 1])
    assert model.intercept_.shape == (3,)


def test_the_objective_is_that_of_the_documentation(binary):
    X, y = binary
    K = three_kernels(X, X)
    model = MKLClassifier("precomputed", normalize=None, C=0.7, tol=1e-10).fit(K, y)
    d, alpha = model.weights_, model.dual_coef_
    f = np.einsum("ijm,m,j->i", K, d, alpha) + model.intercept_
    loss = np.logaddexp(0, -np.where(y == "yes", 1, -1) * f).sum()
    sq_norms = d**2 * np.einsum("i,ijm,j->m", alpha, K, alpha)
    penalty = np.sum(sq_norms[d > 0] / d[d > 0]) / 2 + ElasticNet().value(d) / 2
    assert_allclose(model.objective_, 0.7 * loss + penalty, rtol=1e-9)
    assert_allclose(model.norms_, np.sqrt(sq_norms), rtol=1e-6, atol=1e-9)
    assert model.gap_ <= 1e-10
    assert model.converged_


# Contributions


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("normalize", ["variance", "cosine", None])
def test_contributions_of_a_classifier_sum_to_its_decision(binary, fit_intercept, normalize):
    X, y = binary
    options = {"normalize": normalize, "fit_intercept": fit_intercept}
    model = MKLClassifier(SOURCES, **options).fit(X[:80], y[:80])
    by_kernel = model.decision_contributions(X[80:])
    by_source = model.decision_contributions(X[80:], by="source")
    assert by_kernel.shape == (40, 8)
    assert by_source.shape == (40, 2)
    decision = model.decision_function(X[80:])
    assert_allclose(by_kernel.sum(axis=1) + model.intercept_, decision, atol=1e-12)
    assert_allclose(by_source.sum(axis=1) + model.intercept_, decision, atol=1e-12)
    assert_allclose(by_source[:, 0], by_kernel[:, :4].sum(axis=1))
    assert model.sources_ == ["left", "right"]
    assert not by_kernel[:, model.weights_ == 0].any()


def test_contributions_of_many_outputs_sum_to_predictions(numbers):
    X, y = numbers
    model = MKLRegressor(SOURCES).fit(X, np.column_stack([y, -(y**2)]))
    shares = model.decision_contributions(X, by="source")
    assert shares.shape == (len(X), 2, 2)
    assert_allclose(shares.sum(axis=1) + model.intercept_, model.predict(X))


def test_contributions_refuse_an_unknown_grouping(binary):
    X, y = binary
    with pytest.raises(ValueError, match="by must be 'kernel' or 'source', got 'family'"):
        MKLClassifier("linear").fit(X, y).decision_contributions(X, by="family")


# The kernel table


def test_kernel_table(binary):
    X, y = binary
    model = MKLClassifier(KernelSet(SOURCES, [Linear(), RBF([0.5, 2.0])])).fit(X, y)
    table = model.kernel_table_
    columns = ["source", "family", "parameter", "weight", "norm", "contribution"]
    assert table.columns.tolist() == columns
    assert table["source"].tolist() == ["left"] * 3 + ["right"] * 3
    assert table["family"].tolist() == ["linear", "rbf", "rbf"] * 2
    assert table["parameter"].tolist()[1:3] == [0.5, 2.0]
    assert_array_equal(table["weight"], model.weights_)
    shares = np.abs(model.decision_contributions(X)).sum(axis=0)
    assert_allclose(table["contribution"], shares / shares.sum(), rtol=1e-6, atol=1e-12)


def test_kernel_table_without_pandas_says_what_to_install(binary, monkeypatch):
    model = MKLClassifier("linear").fit(*binary)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'multikernel\[table\]'"):
        model.kernel_table_  # noqa: B018


# Probabilities


def test_calibrated_probabilities_are_close_to_frequencies():
    X, y = make_classification(600, 6, n_informative=4, flip_y=0.2, random_state=1)
    kernels = [RBF()]
    model = MKLClassifier(kernels, loss="hinge", calibrate=True, random_state=0)
    p = model.fit(X[:300], y[:300]).predict_proba(X[300:])
    reference = MKLClassifier(kernels).fit(X[:300], y[:300]).predict_proba(X[300:])
    assert_allclose(p.sum(axis=1), 1)
    assert log_loss(y[300:], p) < 1.1 * log_loss(y[300:], reference)
    order = np.argsort(model.decision_function(X[300:]))
    assert np.all(np.diff(p[order, 1]) >= 0)


def test_calibrated_probabilities_of_many_classes():
    X, y = load_iris(return_X_y=True)
    for weights in ("shared", "per_class"):
        model = MKLClassifier(
            "rbf", loss="squared_hinge", calibrate=True, weights=weights, random_state=0
        )
        p = model.fit(X, y).predict_proba(X)
        assert p.shape == (150, 3)
        assert_allclose(p.sum(axis=1), 1)
        assert log_loss(y, p) < 0.3
        assert_allclose(model.predict_log_proba(X), np.log(p))


def test_losses_that_are_no_likelihood_say_how_to_get_probabilities(binary):
    model = MKLClassifier(loss="hinge").fit(*binary)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as error:
        model.predict_proba(binary[0])
    assert "calibrate=True" in str(error.value.__cause__)


def test_calibration_needs_two_samples_of_each_class():
    X, y = np.arange(10.0)[:, None], np.array([0] * 9 + [1])
    with pytest.raises(ValueError, match="at least 2 samples of every class"):
        MKLClassifier("linear", loss="hinge", calibrate=True).fit(X, y)


# Weights of samples and classes


def test_class_weight_is_a_sample_weight(binary):
    X, y = binary
    options = {"tol": 1e-9, "normalize": "trace"}
    kernel = RBF(width=10.0, scale=None)  # of unit trace, so that no statistic sees the weights
    ours = MKLClassifier(kernel, class_weight={"no": 3.0, "yes": 0.5}, **options).fit(X, y)
    s = np.where(y == "no", 3.0, 0.5)
    theirs = MKLClassifier(kernel, **options).fit(X, y, sample_weight=s)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


def test_balanced_class_weights_count_a_weight_as_repetition(binary):
    X, y = binary
    X, y, s = X[:40], y[:40], np.arange(40) % 3
    options = {"class_weight": "balanced", "tol": 1e-9}
    weighted = MKLClassifier("rbf", **options).fit(X, y, sample_weight=s)
    repeated = MKLClassifier("rbf", **options).fit(X.repeat(s, axis=0), y.repeat(s))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_samples_of_zero_weight_leave_the_problem(binary, fit_intercept):
    X, y = binary
    s = np.r_[np.ones(80), np.zeros(40)]
    options = {"fit_intercept": fit_intercept, "tol": 1e-9}
    model = MKLClassifier(**options).fit(X, y, sample_weight=s)
    assert model.dual_coef_.shape == (120,)
    assert not model.dual_coef_[80:].any()
    without = MKLClassifier(**options).fit(X[:80], y[:80])
    assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-6)


def test_zero_weights_with_precomputed_kernels(binary):
    X, y = binary
    K = three_kernels(X, X)
    s = np.r_[np.ones(80), np.zeros(40)]
    model = MKLClassifier("precomputed").fit(K, y, sample_weight=s)
    without = MKLClassifier("precomputed").fit(K[:80, :80], y[:80])
    assert_allclose(model.decision_function(K), without.decision_function(K[:, :80]), atol=1e-6)


# Prediction


class Recorder:
    """A kernel function that remembers the shapes it was asked for."""

    def __init__(self):
        self.shapes = []

    def __call__(self, X, Z):
        self.shapes.append((len(X), len(Z)))
        return rbf_kernel(X, Z, 0.1)

    def __deepcopy__(self, memo):
        return self


def test_predict_computes_only_what_it_needs(binary):
    X, y = binary
    rng = np.random.default_rng(0)
    X = np.hstack([X, rng.normal(size=(len(X), 3))])
    useful, useless = Recorder(), Recorder()
    sources = {
        "signal": (slice(0, 6), [FunctionKernel(useful, "useful")]),
        "noise": (slice(6, 9), [FunctionKernel(useless, "useless")]),
    }
    model = MKLClassifier(sources, loss="hinge", regularizer=ElasticNet(0.9), C=0.1)
    model.fit(X, y)
    assert model.weights_[0] > 0
    assert model.weights_[1] == 0
    assert 0 < len(model.support_) < 120
    useful.shapes.clear()
    useless.shapes.clear()
    model.predict(X[:7])
    assert useful.shapes == [(7, len(model.support_))]
    assert useless.shapes == []


def test_queries_are_streamed_in_blocks(binary, monkeypatch):
    import multikernel.kernels.base as base

    X, y = binary
    model = MKLClassifier().fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr(base, "_BLOCK_ENTRIES", 7 * len(model.support_))
    assert_allclose(model.decision_function(X), expected, atol=1e-12)


def test_a_pickled_model_keeps_only_its_support():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    X[:, 0] += np.where(np.arange(400) % 2, 4, -4)
    y = np.arange(400) % 2
    model = MKLClassifier("linear", loss="hinge", C=10.0).fit(X, y)
    assert len(model.support_) < 100
    pickled = pickle.dumps(model)
    assert len(pickled) < 0.8 * X.nbytes
    assert_array_equal(pickle.loads(pickled).decision_function(X), model.decision_function(X))


def test_coefficients_sum_to_zero_beside_an_intercept():
    X, y = load_iris(return_X_y=True)
    alpha = MKLClassifier(tol=1e-2).fit(X, y).dual_coef_
    assert np.all(np.abs(alpha.sum(axis=0)) <= 1e-13 * np.abs(alpha).sum(axis=0))


# Inputs


def test_float32_storage_agrees_with_float64(binary):
    X, y = binary
    single = MKLClassifier(dtype="float32", tol=1e-5).fit(X, y)
    double = MKLClassifier(tol=1e-5).fit(X, y)
    assert_allclose(single.weights_, double.weights_, atol=1e-2)
    assert_allclose(single.decision_function(X), double.decision_function(X), atol=1e-2)


def test_inputs_are_left_alone(binary):
    X, y = (part.copy() for part in binary)
    s = np.arange(120.0)
    K = three_kernels(X, X)
    for array in (X, y, s, K):
        array.flags.writeable = False
    MKLClassifier().fit(X, y, sample_weight=s).predict(X)
    MKLClassifier("precomputed").fit(K, y, sample_weight=s).predict(K)


def test_tables_and_bundles_agree(binary):
    X, y = binary
    names = [f"{side}_{i}" for side in SOURCES for i in range(3)]
    selectors = {side: f"{side}_*" for side in SOURCES}
    bundle = ViewBundle({side: X[:, part] for side, part in SOURCES.items()})
    expected = MKLClassifier(SOURCES).fit(X, y)
    frame, polars_frame = pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)
    for kernels, table in [
        (selectors, frame),
        (selectors, polars_frame),
        (SOURCES, csr_array(X)),
        (None, bundle),
    ]:
        model = MKLClassifier(kernels).fit(table, y)
        assert_allclose(model.decision_function(table), expected.decision_function(X), atol=1e-6)
        assert model.n_features_in_ == 6
    assert model.source_names_in_.tolist() == ["left", "right"]
    assert MKLClassifier().fit(frame, y).feature_names_in_.tolist() == names


def test_a_bundle_of_grams_agrees_with_the_array(binary):
    X, y = binary
    K = three_kernels(X, X)
    bundle = KernelBundle.from_array(K, names=["linear", "wide", "narrow"])
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    ours = MKLClassifier().fit(bundle[train], y[train])
    theirs = MKLClassifier("precomputed").fit(K[np.ix_(train, train)], y[train])
    expected = theirs.decision_function(K[np.ix_(test, train)])
    assert_allclose(ours.decision_function(bundle[test]), expected)
    assert ours.source_names_in_.tolist() == ["linear", "wide", "narrow"]
    by_name = MKLClassifier("precomputed").fit(bundle[train], y[train])
    assert_allclose(by_name.decision_function(bundle[test]), expected)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([np.eye(9)] * 3, TypeError, r"list of 3 arrays of shape \(9, 9\).*KernelBundle.from_list"),
        (np.stack([np.eye(9)] * 3), ValueError, r"kernels first.*np.moveaxis\(K, 0, 2\)"),
        ({"a": np.eye(9)}, TypeError, r"dict of 1 blocks.*KernelBundle\(kernels\)"),
        (-np.eye(9), ValueError, "must be positive semi-definite"),
        (np.ones((9, 4)), ValueError, r"expected Gram matrices of shape \(n, n, n_kernels\)"),
    ],
)
def test_refused_kernels_name_the_conversion(X, error, message):
    with pytest.raises(error, match=message):
        MKLClassifier("precomputed").fit(X, [0, 1, 0] * 3)


def test_queries_must_look_like_training(binary):
    X, y = binary
    K = three_kernels(X, X)
    model = MKLClassifier("precomputed").fit(K[:90, :90], y[:90])
    with pytest.raises(ValueError, match="kernels against the 90 training samples"):
        model.predict(K[90:])
    bundle = ViewBundle({"left": X[:, :3], "right": X[:, 3:]})
    model = MKLClassifier().fit(bundle, y)
    with pytest.raises(ValueError, match="lack the blocks right"):
        model.predict(ViewBundle({"left": X[:, :3]}))
    with pytest.raises(TypeError, match="fitted on a row container with the blocks left, right"):
        model.predict(X)
    with pytest.raises(TypeError, match="fitted on a table"):
        MKLClassifier().fit(X, y).predict(bundle)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"C": 0}, ValueError, "C == 0, must be > 0"),
        ({"C": "1"}, TypeError, "C must be an instance of"),
        ({"tol": -1.0}, ValueError, "tol"),
        ({"dtype": "float16"}, ValueError, "dtype must be one of"),
        ({"loss": "cubic"}, ValueError, "loss='cubic' is not known"),
        ({"regularizer": 3}, TypeError, "regularizer must be a name or a Regularizer"),
        ({"solver": "magic"}, ValueError, "solver='magic' is not known"),
        ({"kernels": 7}, TypeError, "kernels must be None, 'precomputed'"),
        ({"kernels": "rbff"}, ValueError, "family='rbff' is not known"),
        ({"normalize": "l2"}, ValueError, "normalize='l2' is not known"),
        ({"weights": "own"}, ValueError, "weights must be 'shared' or 'per_class'"),
    ],
)
def test_wrong_parameters_are_refused_in_fit(binary, parameters, error, message):
    with pytest.raises(error, match=message):
        MKLClassifier(**parameters).fit(*binary)


def test_wrong_targets_are_refused(binary):
    X, y = binary
    with pytest.raises(ValueError, match=r"at least 2 classes.*one class: 'yes'"):
        MKLClassifier().fit(X, np.full(120, "yes"))
    with pytest.raises(ValueError, match="loss='hinge' is for classes"):
        MKLRegressor(loss="hinge").fit(X, X[:, 0])
    for weight, message in [
        (np.zeros(120), "must not be zero for all samples"),
        (-np.ones(120), "must not be negative, got -1"),
        (np.ones(7), "one number for each of the 120 samples"),
    ]:
        with pytest.raises(ValueError, match=message):
            MKLClassifier().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MKLClassifier().fit(X, y[:7])


# Parameters, logging, HTML


def test_parts_given_by_name_can_be_searched(binary):
    X, y = binary
    grid = {"regularizer__l1_ratio": [0.1, 0.9], "C": [0.1, 1.0]}
    search = GridSearchCV(MKLClassifier("rbf"), grid, cv=2).fit(X, y)
    assert search.best_estimator_.regularizer.l1_ratio in (0.1, 0.9)
    kernels = KernelSet(families=[RBF()])
    search = GridSearchCV(MKLClassifier(kernels), {"kernels__normalize": ["trace", None]}, cv=2)
    assert search.fit(X, y).best_params_["kernels__normalize"] in ("trace", None)
    model = MKLRegressor().set_params(loss__delta=2.0, loss="huber")
    assert model.loss.delta == 2.0
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        MKLClassifier().set_params(regularizer__nonsense=1)


def test_clone_and_fit_leave_the_parameters_alone(binary):
    X, y = binary
    kernels, loss = KernelSet(SOURCES), Squared()
    model = MKLClassifier(kernels, loss=loss)
    copy = clone(model)
    assert copy.kernels is not kernels
    assert repr(copy) == repr(model)
    before = repr(model)
    model.fit(X, y)
    assert repr(model) == before
    assert not hasattr(kernels, "n_kernels_")
    assert MKLClassifier(kernels=[Linear()]).fit(X, y).weights_.shape == (1,)


def test_solver_by_name_and_as_object(binary):
    X, y = binary
    from multikernel import Alternating

    by_name = MKLClassifier(solver="alternating", tol=1e-6, max_iter=2000).fit(X, y)
    as_object = MKLClassifier(solver=Alternating(tol=1e-6)).fit(X, y)
    assert by_name.solution_.solver == as_object.solution_.solver == "Alternating"
    assert by_name.gap_ <= 1e-6
    assert as_object.gap_ <= 1e-6


def test_a_scaler_in_front(binary):
    X, y = binary
    pipeline = make_pipeline(StandardScaler(), MKLClassifier()).fit(X, y)
    assert pipeline.score(X, y) > 0.8


def test_verbose_reports_through_the_logger(binary, caplog, capsys):
    MKLClassifier("linear").fit(*binary)
    assert not caplog.records
    MKLClassifier("linear", verbose=1).fit(*binary)
    assert "1 of 1 kernels in use, 120 samples" in caplog.text
    assert capsys.readouterr().out == ""
    assert logging.getLogger("multikernel").level == logging.NOTSET


def test_html_shows_the_parts_and_links_to_the_documentation(binary):
    html = MKLClassifier(KernelSet(SOURCES)).fit(*binary)._repr_html_()
    assert "KernelSet" in html
    assert "multikernel.readthedocs.io/en/stable/api/MKLClassifier.html" in html


def test_linear_kernels_on_few_features_are_kept_as_factors(rng):
    X = rng.normal(size=(120, 9))
    y = np.where(X[:, 0] + X[:, 4] + 0.3 * rng.normal(size=120) > 0, "yes", "no")
    sources = {f"g{g}": slice(3 * g, 3 * g + 3) for g in range(3)}
    model = MKLClassifier(KernelSet(sources, "linear"), regularizer="lp", tol=1e-8).fit(X, y)
    dense = np.stack([K for _, K in sorted(model.kernels_.fit_grams(X), key=lambda p: p[0])], 2)
    packed = MKLClassifier("precomputed", normalize=None, regularizer="lp", tol=1e-8).fit(dense, y)
    assert_allclose(model.objective_, packed.objective_, rtol=1e-7)
    assert_allclose(model.decision_function(X), packed.decision_function(dense), atol=1e-3)


def test_a_source_without_weight_is_not_needed_for_queries(rng):
    signal, noise = rng.normal(size=(80, 2)), rng.normal(size=(80, 2))
    y = signal[:, 0] > 0
    X = ViewBundle({"signal": signal, "noise": noise})
    model = MKLClassifier("linear", regularizer="lp", C=0.1).fit(X, y)
    assert model.kernels_.sources_in_use() == ["signal"]
    alone = ViewBundle({"signal": signal})
    assert_allclose(model.decision_function(alone), model.decision_function(X))
    with pytest.raises(ValueError, match="lack the blocks signal that the model uses"):
        model.predict(ViewBundle({"noise": noise}))


def test_groups_may_be_the_sources(rng):
    X = rng.normal(size=(60, 6))
    y = X[:, 0] + X[:, 1] ** 2
    sources = {"first": slice(0, 3), "second": slice(3, 6)}
    kernels = KernelSet(sources, ["linear", "rbf"])
    by_name = MKLRegressor(kernels, regularizer="group", tol=1e-8).fit(X, y)
    labels = ["first", "first", "second", "second"]
    by_hand = MKLRegressor(kernels, regularizer=GroupNorm(labels), tol=1e-8).fit(X, y)
    assert_allclose(by_name.weights_, by_hand.weights_)
    assert by_name.regularizer_.groups == labels
    assert_allclose(by_name.weights_[[0, 2]], by_name.weights_[[1, 3]])


def test_a_name_that_needs_parameters_says_which(rng):
    with pytest.raises(TypeError, match=r"pass TaskCoupling\(n_tasks=\.\.\.\)"):
        MKLRegressor(regularizer="task_coupling").fit(rng.normal(size=(9, 2)), np.arange(9.0))


@pytest.mark.parametrize("regularizer", ["lp", "elasticnet"])
def test_nothing_selected_is_certified_on_factors(regularizer, rng):
    Z = rng.normal(size=(60, 3))
    model = MKLRegressor("linear", regularizer=regularizer, C=1e-6, solver="block_descent")
    assert model.fit(Z, Z[:, 0]).converged_
    assert_allclose(model.predict(Z), Z[:, 0].mean())


@pytest.mark.parametrize(
    ("shape", "advice"), [((40, 40, 3), r"K\."), ((3, 40, 40), r"np\.moveaxis\(K, 0, 2\)\.")]
)
def test_a_stack_where_features_are_expected_is_refused(shape, advice, rng):
    with pytest.raises(ValueError, match=f"use kernels='precomputed' and pass {advice}"):
        MKLRegressor().fit(rng.normal(size=shape), np.zeros(shape[0]))


def test_a_list_of_views_is_told_of_view_bundles(rng):
    with pytest.raises(TypeError, match=r"Use ViewBundle\(\{name: block, \.\.\.\}\)"):
        MKLRegressor().fit([rng.normal(size=(40, 2)), rng.normal(size=(40, 3))], np.zeros(40))


def test_parameters_of_parts_given_by_name(rng):
    model = MKLRegressor("precomputed", solver="newton")
    model.set_params(kernels__normalize=None, solver__tol=1e-3)
    assert model.kernels.normalize is None
    assert model.solver.tol == 1e-3
    with pytest.raises(ValueError, match="solver='auto' has no parameters of its own"):
        MKLRegressor().set_params(solver__tol=1e-3)


def test_class_weights_that_leave_one_class_are_refused(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="fewer than 2 classes"):
        MKLClassifier(class_weight={0: 0, 1: 1}).fit(X, np.arange(20) % 2)


def test_columns_far_from_zero_are_to_be_centred(rng):
    """Products of such columns leave no digits of what tells samples apart."""
    with pytest.warns(UserWarning, match="centre columns whose mean is far larger"):
        MKLClassifier(Linear()).fit(1e9 + rng.normal(size=(20, 2)), np.arange(20) % 2)


@pytest.mark.parametrize("level", [0.0, 1.0])
@pytest.mark.parametrize("estimator", [MKLClassifier, MKLClassifierCV])
def test_kernels_that_tell_no_samples_apart_are_said_to(estimator, level):
    K, y = np.full((12, 12, 3), level), np.arange(12) % 2
    with pytest.warns(UserWarning, match="no kernel tells any two training samples apart") as said:
        estimator("precomputed").fit(K, y)
    assert said[0].filename == __file__
    K[:, :, 1] += np.eye(12)
    estimator("precomputed").fit(K, y)  # one that does is enough
