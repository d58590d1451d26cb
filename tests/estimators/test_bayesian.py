"""The Bayesian estimators: what they publish, predict and refuse."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from multikernel import (
    RBF,
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    KernelBundle,
    KernelSet,
    Linear,
)
from multikernel.bayes.conjugate import Priors
from multikernel.datasets import load_motorcycle
from multikernel.estimators import _bayesian

SOURCES = {"first": [0], "second": [1]}


@pytest.fixture
def numbers(rng):
    X = rng.uniform(-2, 2, size=(70, 2))
    return X, 5 + 3 * np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=70)


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(90, 2))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] ** 2, [0.3, 1.2])]


def regressor(**kw):
    return BayesianMKLRegressor(SOURCES, **({"tol": 1e-5, "max_iter": 300} | kw))


def classifier(**kw):
    return BayesianMKLClassifier(SOURCES, **({"tol": 1e-4, "max_iter": 300} | kw))


def test_regression_finds_the_source_and_the_noise(numbers):
    X, y = numbers
    model = regressor().fit(X, y)
    table = model.kernel_table_
    assert table.groupby("source")["contribution"].sum().idxmax() == "first"
    assert table.columns.tolist() == [
        *("source", "family", "parameter", "weight", "std", "lower", "upper"),
        *("norm", "contribution", "active"),
    ]
    assert_allclose(table["upper"] - table["lower"], 2 * 1.959964 * table["std"], rtol=1e-5)
    vague = regressor(priors={"beta_epsilon": 100.0}).fit(X, y)
    assert 0.5 < vague.noise_var_ / 0.09 < 2.0
    assert vague.noise_var_ < model.noise_var_ < 0.5  # the unit prior adds var(y)/35 here
    assert model.score(X, y) > 0.95
    assert model.converged_
    assert model.n_iter_ == len(model.history_["elbo"])
    assert model.elbo_ >= model.history_["elbo"][-1] - 1e-9 * abs(model.elbo_)


@pytest.mark.parametrize("outputs", ["shared_weights", "shared_samples"])
@pytest.mark.parametrize("inference", ["mean_field", "structured"])
def test_the_moments_and_the_expansion_agree(outputs, inference, numbers, rng):
    X, y = numbers
    Y = np.c_[y, -100 * X[:, 0] + rng.normal(size=70)]
    model = regressor(outputs=outputs, inference=inference, tol=1e-3).fit(X, Y)
    mean, std = model.predict(X[:9], return_std=True)
    assert_allclose(model.predict(X[:9]), mean, rtol=1e-8)
    assert np.all(std**2 > model.noise_var_)
    assert model.weights_.shape == ((8,) if outputs == "shared_weights" else (2, 8))
    shares = model.decision_contributions(X[:9])
    assert_allclose(shares.sum(axis=1) + model.intercept_, mean, rtol=1e-8)
    assert len(model.kernel_table_) == model.weights_.size


def test_units_of_the_targets_do_not_matter(numbers):
    X, y = numbers
    one, other = regressor().fit(X, y), regressor().fit(X, 1000 * y - 7)
    assert_allclose(other.predict(X), 1000 * one.predict(X) - 7, rtol=1e-6)
    assert_allclose(other.noise_var_, 1e6 * one.noise_var_, rtol=1e-6)
    assert_allclose(other.elbo_, one.elbo_, rtol=1e-9)
    raw = regressor(standardize=False).fit(X, y)
    assert abs(raw.elbo_ - one.elbo_) > 1


def test_intervals_cover_and_densities_are_gaussian(rng):
    X = rng.uniform(-2, 2, size=(200, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=200)
    model = regressor(tol=1e-4).fit(X[:80], y[:80])
    ends = model.predict_interval(X[80:], coverage=0.9)
    inside = (ends[:, 0] < y[80:]) & (y[80:] < ends[:, 1])
    assert 0.8 < inside.mean() <= 1.0
    mean, std = model.predict(X[80:], return_std=True)
    exact = -0.5 * ((y[80:] - mean) / std) ** 2 - np.log(std * np.sqrt(2 * np.pi))
    assert_allclose(model.log_predictive_density(X[80:], y[80:]), exact)
    plug_in = regressor(tol=1e-4, predictive="plug_in").fit(X[:80], y[:80])
    assert np.all(plug_in.predict(X[80:], return_std=True)[1] < std)
    latent = model.predict_latent(X[80:], return_std=True)[1]
    assert np.all(latent < std)


def test_sparse_priors_leave_few_samples_and_pruning_agrees_with_itself(numbers):
    X, y = numbers
    with pytest.warns(ConvergenceWarning):
        model = regressor(sparsity="both", prune=True, tol=1e-12, max_iter=200).fit(X, y)
    assert len(model.active_samples_) < 35
    used = np.flatnonzero(model.dual_coef_)
    assert set(model.active_samples_) <= set(used)
    assert np.all(np.isinf(model.dual_precision_[model.dual_coef_ == 0]))
    mean, _ = model.predict(X[:7], return_std=True)
    assert_allclose(model.predict(X[:7]), mean, rtol=1e-8)
    assert model.score(X, y) > 0.9


def test_names_of_the_paper_win_over_words(numbers):
    X, y = numbers
    quick = {"tol": 1e-2, "max_iter": 100}
    model = regressor(sparsity="kernels", priors={"alpha_omega": 0.5}, **quick).fit(X, y)
    assert model.priors_["alpha_omega"] == 0.5
    assert model.priors_["beta_omega"] == 1e10
    same = regressor(priors=Priors(alpha_omega=0.5, beta_omega=1e10), **quick).fit(X, y)
    assert_allclose(same.weights_, model.weights_)


@pytest.mark.parametrize(
    "kw",
    [
        {},
        {"multi_class": "ovr"},
        {"multi_class": "ovr", "margin": 0.5},
        {"coding": "regression"},
        {"outputs": "shared_samples"},
        {"inference": "structured", "tol": 1e-3},
        {"sample_precision": "shared"},
        {"sparsity": "kernels", "tol": 1e-3},
        {"predictive": "plug_in"},
    ],
    ids=str,
)
def test_three_classes(kw, classes):
    X, y = classes
    model = classifier(**kw).fit(X, y)
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1.0)
    assert np.all(model.classes_[p.argmax(axis=1)] == model.predict(X))
    assert model.score(X, y) > 0.8
    logs = model.log_predictive_density(X, y)
    assert_allclose(np.exp(logs), p[np.arange(90), np.searchsorted(model.classes_, y)])
    assert_allclose(np.exp(model.predict_log_proba(X)), p)
    assert model.kernel_table_.groupby("source")["contribution"].sum().idxmax() == "first"


@pytest.mark.parametrize("coding", ["probit", "regression"])
def test_two_classes_and_probabilities_of_what_is_far(coding, classes):
    X, y = classes
    y = y == "a"
    model = classifier(coding=coding).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (90, 2)
    assert np.all((p[:, 1] > 0.5) == model.predict(X))
    assert model.score(X, y) > 0.9
    assert model.intercept_.shape == (1,)
    assert model.predict_latent(X, return_std=True)[1].shape == (90,)


def test_probabilities_are_calibrated_where_nothing_is_known(rng):
    X = rng.normal(size=(60, 2))
    y = rng.random(60) < 0.5
    p = classifier().fit(X, y).predict_proba(rng.normal(size=(50, 2)))
    assert np.mean(np.abs(p[:, 1] - 0.5)) < 0.2


def test_several_labels(classes):
    X, y = classes
    Y = np.c_[y == "a", y == "c"].astype(int)
    model = classifier().fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert np.mean(model.predict(X) == Y) > 0.85
    p = model.predict_proba(X)
    assert np.all((p > 0.5) == model.predict(X))
    density = model.log_predictive_density(X, Y)
    assert_allclose(np.exp(density), np.where(Y, p, 1 - p))
    assert_allclose(model.log_predictive_density(X, csr_array(Y)), density)
    with pytest.raises(ValueError, match=r"one column per label of training, got \(\d+, 1\)"):
        model.log_predictive_density(X, Y[:, :1])


def test_precomputed_kernels_and_bundles_give_the_same(numbers):
    X, y = numbers
    kernels = KernelSet(families=[Linear(), RBF()], normalize=None).fit(X)
    grams = np.stack([K for _, K in sorted(kernels.grams(), key=lambda pair: pair[0])], axis=-1)
    given = {"normalize": None, "tol": 1e-4}
    direct = BayesianMKLRegressor([Linear(), RBF()], **given).fit(X, y)
    stack = BayesianMKLRegressor("precomputed", **given).fit(grams, y)
    bundle = KernelBundle({str(m): grams[:, :, m] for m in range(grams.shape[2])})
    other = BayesianMKLRegressor(**given).fit(bundle, y)
    for model, queries in ((stack, grams[:5]), (other, bundle[:5])):
        assert_allclose(model.predict(queries), direct.predict(X[:5]), rtol=1e-6)
        std = model.predict(queries, return_std=True)[1]
        assert_allclose(std, direct.predict(X[:5], return_std=True)[1], rtol=1e-6)


def test_restarts_are_seeded_and_pickles_predict(numbers):
    X, y = numbers
    kw = {"n_restarts": 2, "sparsity": "kernels", "random_state": 3, "tol": 1e-3}
    one, two = regressor(**kw).fit(X, y), regressor(**kw).fit(X, y)
    assert one.elbo_ == two.elbo_
    copy = pickle.loads(pickle.dumps(one))
    assert_allclose(copy.predict(X[:3], return_std=True), one.predict(X[:3], return_std=True))


def few_labels(rng, n):
    X = rng.uniform(-2, 2, size=(n, 3))
    y = np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, np.digitize(y, [-0.5, 0.5])


LOOSE = {"alpha_upsilon": 1.0, "beta_upsilon": 1.0}


@pytest.mark.parametrize("kw", [{}, {"sample_precision": "shared"}], ids=str)
def test_few_labels_are_explained_where_the_mean_field_family_cannot(kw, rng):
    X, y = few_labels(rng, 80)
    kernels = {"first": [0], "second": [1], "useless": [2]}
    kw = {"tol": 1e-4, "priors": LOOSE} | kw
    model = BayesianMKLClassifier(kernels, **kw).fit(X, y)
    better = BayesianMKLClassifier(kernels, inference="structured", **kw).fit(X, y)
    assert model.inference_ == better.inference_ == "structured"
    assert_allclose(model.elbo_, better.elbo_, rtol=1e-12)
    assert model.score(*few_labels(rng, 300)) > 0.65  # the most frequent class has 0.43
    assert model.kernel_table_.groupby("source")["contribution"].sum().idxmax() == "first"


def test_constant_labels_are_refused(classes):
    X, y = classes
    with pytest.raises(ValueError, match="Label 1 is the same for all samples"):
        classifier().fit(X, np.c_[y == "a", np.ones(len(y))].astype(int))


def test_sparse_priors_on_several_classes_stay_quiet(rng):
    X, y = few_labels(rng, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        BayesianMKLClassifier(sparsity="both", max_iter=60).fit(X, y)


def test_intermediate_outputs_of_classes_have_known_precision(rng):
    X, y = few_labels(rng, 80)
    kernels = {"first": [0], "second": [1], "useless": [2]}
    model = BayesianMKLClassifier(kernels, tol=1e-4).fit(X, y)
    assert model.inference_ == "mean_field"
    assert model.priors_["alpha_upsilon"] * model.priors_["beta_upsilon"] == pytest.approx(100)
    assert model.score(*few_labels(rng, 300)) > 0.65
    other = BayesianMKLClassifier(kernels, coding="regression", tol=1e-3).fit(X, y)
    assert other.priors_["alpha_upsilon"] == 1.0


def test_that_nothing_is_explained_is_said(rng):
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    with pytest.warns(UserWarning, match="predictions are the bias alone.*the bound -") as caught:
        model = regressor(sparsity="kernels", max_iter=1000).fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    assert not model.active_kernels_.any()
    with pytest.warns(
        ConvergenceWarning, match="max_iter=40 while .* Besides, the kernels explain"
    ):
        regressor(sparsity="kernels", tol=1e-15, max_iter=40).fit(X, y)
    assert np.ptp(model.predict(X)) < 0.05
    with pytest.warns(UserWarning, match="try inference='structured', n_restarts"):
        regressor(sparsity="kernels", updates="plain", max_iter=1000, random_state=0).fit(X, y)


def test_active_kernels_follow_contributions_and_intervals(numbers):
    X, y = numbers
    model = regressor(sparsity="kernels").fit(X, y)
    table = model.kernel_table_
    sure = (table["lower"] > 0) | (table["upper"] < 0)
    share = table["contribution"]
    assert_allclose(table["active"], (share > 0.01) | (sure & (share > 0.001)))
    assert 1 <= table["active"].sum() <= 3
    assert set(table["source"][table["active"]]) == {"first"}


def test_restarts_differ_in_any_unit_and_the_best_is_kept():
    X, y = load_motorcycle(return_X_y=True)  # in g, far from unit variance
    X = (X - X.mean()) / X.std()
    kernels = RBF(width=(4.0 ** np.arange(-10, 11)).tolist(), scale=None)
    setting = {"sparsity": "kernels", "normalize": None, "standardize": False, "tol": 1e-5}
    bounds = []
    for k in range(4):
        model = BayesianMKLRegressor(kernels, n_restarts=k, random_state=0, **setting)
        bounds.append(model.fit(X, y).elbo_)
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0] + 1.0


def test_the_warning_names_what_still_moves_and_who_called(numbers):
    X, y = numbers
    with pytest.warns(ConvergenceWarning, match=r"while the bound \(relative change") as caught:
        regressor(max_iter=3).fit(X, y)
    assert [w.filename for w in caught] == [__file__]


def test_blocks_of_queries_do_not_matter(numbers, monkeypatch):
    X, y = numbers
    model = regressor(tol=1e-2).fit(X, y)
    whole = model.predict(X, return_std=True)
    monkeypatch.setattr(_bayesian, "_BLOCK_ENTRIES", 8 * 70 * 11)
    assert_allclose(model.predict(X, return_std=True), whole, rtol=1e-10)


def test_constant_targets(numbers):
    X, _ = numbers
    model = regressor(tol=1e-3).fit(X, np.full(70, 4.0))
    assert_allclose(model.predict(X[:3]), 4.0, atol=0.1)


@pytest.mark.parametrize(
    ("kw", "error", "message"),
    [
        ({"sparsity": "some"}, ValueError, "sparsity must be one of"),
        ({"priors": {"alpha_mu": 1}}, ValueError, "priors has no 'alpha_mu'"),
        ({"priors": {"beta_omega": -1}}, ValueError, "beta_omega must be a positive number"),
        ({"priors": 3}, TypeError, "priors must be None, a Priors object or a dict"),
        ({"priors": Priors(), "sparsity": "both"}, ValueError, "leave sparsity='none'"),
        ({"outputs": "none"}, ValueError, "outputs must be one of"),
        ({"inference": "exact"}, ValueError, "inference must be one of"),
        ({"sample_precision": "all"}, ValueError, "sample_precision must be one of"),
        (
            {"sample_precision": "shared", "sparsity": "samples"},
            ValueError,
            "sparsity='samples' needs a precision for every sample weight",
        ),
        ({"predictive": "half"}, ValueError, "predictive must be one of"),
        ({"dtype": "int"}, ValueError, "dtype must be one of"),
        ({"tol": 0.0}, ValueError, "tol"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"n_restarts": -1}, ValueError, "n_restarts"),
    ],
    ids=str,
)
def test_bad_parameters(kw, error, message, numbers):
    X, y = numbers
    with pytest.raises(error, match=message):
        regressor(**kw).fit(X, y)


def test_bad_input(numbers, classes):
    X, y = numbers
    with pytest.raises(ValueError, match="at least 2 samples"):
        regressor().fit(X[:1], y[:1])
    model = regressor(tol=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, coverage=1.0)
    with pytest.raises(ValueError, match=r"y must have shape \(70,\), .*, got \(70, 2\)"):
        model.log_predictive_density(X, np.c_[y, y])
    X, y = classes
    with pytest.raises(ValueError, match="one class"):
        classifier().fit(X, np.zeros(90))
    for kw, message in (
        ({"coding": "hinge"}, "coding must be one of"),
        ({"multi_class": "ovo"}, "multi_class must be one of"),
        ({"margin": -1.0}, "margin"),
        ({"margin": 0.5}, "margin=0.5 has no effect on coding='probit' with 3 classes"),
        (
            {"margin": 0.5, "coding": "regression"},
            "margin=0.5 has no effect on coding='regression'",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            classifier(**kw).fit(X, y)
    fitted = classifier(tol=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="not among the classes"):
        fitted.log_predictive_density(X, np.full(90, "z"))


def test_float32_is_near(numbers):
    X, y = numbers
    one, other = (regressor(dtype=d, tol=1e-4).fit(X, y) for d in ("float64", "float32"))
    assert_allclose(other.predict(X), one.predict(X), atol=1e-2)


@pytest.mark.parametrize("inference", ["mean_field", "structured"])
def test_plain_updates_rise_slowly_to_the_same_optimum(inference, numbers):
    X, y = numbers
    kw = {"inference": inference, "tol": 1e-9, "max_iter": 20000, "random_state": 0}
    fast, plain = (regressor(updates=u, **kw).fit(X, y) for u in ("accelerated", "plain"))
    assert_allclose(plain.elbo_, fast.elbo_, rtol=1e-4)
    assert_allclose(plain.predict(X), fast.predict(X), atol=0.02 * y.std())
    assert plain.n_iter_ > fast.n_iter_
    rises = np.diff(plain.history_["elbo"])
    assert rises.min() > -1e-10 * abs(plain.elbo_)


def test_plain_updates_start_at_random(numbers):
    X, y = numbers
    quick = {"updates": "plain", "max_iter": 3}
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        one, same, other = (regressor(random_state=s, **quick).fit(X, y) for s in (0, 0, 1))
    assert one.n_iter_ == 3
    assert_allclose(same.weights_, one.weights_, rtol=0)
    assert np.abs(other.weights_ - one.weights_).max() > 1e-6
    with pytest.raises(ValueError, match="updates must be one of"):
        regressor(updates="fast").fit(X, y)


@pytest.mark.parametrize("outputs", ["shared_weights", "shared_samples"])
def test_the_memory_announced_is_the_memory_taken(outputs, rng, monkeypatch):
    n, announced = 400, []
    monkeypatch.setattr(_bayesian, "check_memory", lambda size, *what: announced.append(size))
    X = rng.normal(size=(n, 1))
    Y = np.sin(X) + 0.1 * rng.normal(size=(n, 8))
    model = BayesianMKLRegressor([RBF()], outputs=outputs, tol=1e-2)
    tracemalloc.start()
    model.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1] - 8 * n * (n + 1) / 2  # without the kernel
    tracemalloc.stop()
    assert 0.6 * sum(announced) < peak < 1.1 * sum(announced)
