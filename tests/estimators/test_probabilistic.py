"""What the probabilistic estimators promise: exact Gaussian processes, honest uncertainty."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import (
    RBF,
    KernelBundle,
    KernelSet,
    Linear,
    ProbabilisticMKLClassifier,
    ProbabilisticMKLRegressor,
    SklearnKernel,
    ViewBundle,
)
from multikernel.bayes import CollapseWarning, GammaPrior, InformationNewton
from multikernel.bayes.taxonomy import taxonomy
from multikernel.estimators import _posterior
from multikernel.likelihoods import Gaussian, Laplace, LogisticLikelihood, StudentT

NORMALIZATIONS = [None, "variance", "center", "trace", "cosine"]


@pytest.fixture(scope="module")
def waves():
    """Noisy waves in the first of three columns."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(60, 3))
    return X, 5 + np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)


@pytest.fixture(scope="module")
def queries():
    return np.random.default_rng(1).uniform(-3, 3, size=(15, 3))


@pytest.fixture(scope="module")
def labels(waves):
    """Noisy labels, not separable by the sign of the wave."""
    X, y = waves
    rng = np.random.default_rng(2)
    return X, np.where(rng.random(len(y)) < expit(3 * (y - 5)), "up", "down")


def three_kernels(X, Z):
    return np.stack([linear_kernel(X, Z), rbf_kernel(X, Z, 0.1), rbf_kernel(X, Z, 1.0)], axis=2)


def three_bundles(X, Z):
    """Precomputed kernels of training samples and queries, with a column for each of them."""
    K = KernelBundle.from_array(three_kernels(np.vstack([X, Z]), np.vstack([X, Z])))
    return K[: len(X)], K[len(X) :]


# Exactness


def test_gaussian_noise_without_intercept_is_the_gaussian_process_of_sklearn(waves, queries):
    X, y = waves
    shapes = [gp.RBF(0.5), gp.RBF(2.0), gp.Matern(1.0)]
    ours = ProbabilisticMKLRegressor(
        [SklearnKernel(shape) for shape in shapes], normalize=None, fit_intercept=False
    ).fit(X, y)
    assert np.count_nonzero(ours.weights_) >= 2
    parts = [d * shape for d, shape in zip(ours.weights_, shapes, strict=True) if d > 0]
    covariance = parts[0] + parts[1] + gp.WhiteKernel(ours.noise_var_)
    theirs = GaussianProcessRegressor(covariance, alpha=0.0, optimizer=None).fit(X, y)
    mean, std = ours.predict(queries, return_std=True)
    expected_mean, expected_std = theirs.predict(queries, return_std=True)
    assert_allclose(mean, expected_mean, rtol=1e-8)
    assert_allclose(std, expected_std, rtol=1e-8)
    likelihood = theirs.log_marginal_likelihood(theirs.kernel_.theta)
    assert_allclose(ours.log_evidence_, likelihood, rtol=1e-8)
    latent, covariance = ours.predict_latent(queries, return_cov=True)
    noise = ours.noise_var_ * np.eye(len(queries))
    assert_allclose(latent, expected_mean, rtol=1e-8)
    assert_allclose(covariance + noise, theirs.predict(queries, return_cov=True)[1], atol=1e-8)


def test_one_fixed_kernel_and_noise_match_sklearn(waves, queries):
    X, y = waves
    ours = ProbabilisticMKLRegressor(
        SklearnKernel(gp.RBF(1.0)),
        likelihood=Gaussian(0.3),
        learn_likelihood=False,
        normalize=None,
        fit_intercept=False,
    ).fit(X, y)
    assert ours.noise_var_ == 0.3
    kernel = gp.ConstantKernel(ours.weights_[0]) * gp.RBF(1.0)
    theirs = GaussianProcessRegressor(kernel, alpha=0.3, optimizer=None).fit(X, y)
    mean, std = ours.predict_latent(queries, return_std=True)
    assert_allclose(np.stack([mean, std]), theirs.predict(queries, return_std=True), rtol=1e-8)
    evidences = [
        theirs.log_marginal_likelihood(theirs.kernel_.theta + np.array([step, 0]))
        for step in (-1e-3, 0, 1e-3)
    ]
    assert np.argmax(evidences) == 1
    assert_allclose(ours.log_evidence_, evidences[1], rtol=1e-8)


def kriging_inverse(S):
    """The inverse of the system of kriging with an unknown constant."""
    system = np.pad(S, (0, 1), constant_values=1.0)
    system[-1, -1] = 0.0
    return np.linalg.inv(system)


def form(inverse, K):
    return np.einsum("ij,jk,ik->i", K, inverse, K)


def dense_reml(K, K_new, prior, y, noise):
    """Evidence of contrasts, and mean and variance of the latent function, the slow way."""
    n = len(y)
    S = K + noise * np.eye(n)
    contrasts = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    evidence = multivariate_normal.logpdf(
        contrasts.T @ y, np.zeros(n - 1), contrasts.T @ S @ contrasts
    )
    inverse = kriging_inverse(S)
    crossed = np.pad(K_new, ((0, 0), (0, 1)), constant_values=1.0)
    return evidence, crossed @ inverse @ np.append(y, 0.0), prior - form(inverse, crossed)


@pytest.mark.parametrize("normalize", ["variance", None])
def test_the_constant_is_integrated_out(waves, queries, normalize):
    X, y = waves
    kernels = KernelSet(families=[RBF([0.3, 1.0])], normalize=normalize)
    model = ProbabilisticMKLRegressor(kernels).fit(X, y)
    fitted = clone(kernels).fit(X)
    K = sum(model.weights_[m] * part for m, part in fitted.grams())
    K_new = sum(model.weights_[m] * part for m, part in fitted.cross(queries))
    prior = sum(model.weights_[m] * part for m, part in fitted.diag(queries))
    evidence, mean, variance = dense_reml(K, K_new, prior, y, model.noise_var_)
    assert_allclose(model.log_evidence_, evidence, rtol=1e-8)
    ours, std = model.predict_latent(queries, return_std=True)
    assert_allclose(ours, mean, rtol=1e-8)
    assert_allclose(std**2, variance, rtol=1e-7)
    shifted = clone(model).fit(X, y + 100)
    assert_allclose(shifted.log_evidence_, model.log_evidence_, rtol=1e-8)
    assert_allclose(shifted.predict(queries), ours + 100, rtol=1e-6)


# Components, covariances and samples


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_components_add_up_and_have_the_variances_of_the_joint_posterior(waves, fit_intercept):
    X, y = waves
    X, queries = X[:40], X[40:]
    model = ProbabilisticMKLRegressor(
        "precomputed", normalize=None, fit_intercept=fit_intercept, hyper_prior="gamma"
    )
    train, test = three_bundles(X, queries)
    model.fit(train, y[:40])
    mean, variance = model.predict_components(test)
    latent, std = model.predict_latent(test, return_std=True)
    assert_allclose(mean.sum(axis=1) + model.intercept_, latent, rtol=1e-10)
    d = model.weights_
    S = three_kernels(X, X) @ d + model.noise_var_ * np.eye(40)
    inverse = kriging_inverse(S) if fit_intercept else np.linalg.inv(S)
    cross, own = d * three_kernels(queries, X), d * three_kernels(queries, queries)
    if fit_intercept:
        cross = np.pad(cross, ((0, 0), (0, 1), (0, 0)))
    for m in range(3):
        expected = own[:, :, m].diagonal() - form(inverse, cross[:, :, m])
        assert_allclose(variance[:, m], expected, rtol=1e-7)
    total = cross.sum(axis=2)
    if fit_intercept:
        total[:, -1] = 1.0
    assert_allclose(std**2, own.sum(axis=2).diagonal() - form(inverse, total), rtol=1e-7)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("precomputed", [False, True])
def test_the_covariance_at_training_samples_is_that_of_the_training_kernels(
    waves, normalize, precomputed
):
    X, y = waves
    data = KernelBundle.from_array(three_kernels(X, X)) if precomputed else X
    model = ProbabilisticMKLRegressor(
        None, normalize=normalize, fit_intercept=False, hyper_prior="gamma"
    ).fit(data, y)
    K = model.problem_.bank.combine(model.weights_)
    S = K + model.noise_var_ * np.eye(len(y))
    mean, covariance = model.predict_latent(data[:20], return_cov=True)
    expected = K - K @ np.linalg.solve(S, K)
    assert_allclose(covariance, expected[:20, :20], atol=1e-7)
    assert_allclose(mean, (K @ np.linalg.solve(S, y))[:20], rtol=1e-6)
    std = model.predict_latent(data[:20], return_std=True)[1]
    assert_allclose(std**2, covariance.diagonal(), rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_samples_have_the_moments_of_the_posterior(waves, queries, likelihood):
    X, y = waves
    model = ProbabilisticMKLRegressor(likelihood=likelihood, objective="vb").fit(X, y)
    draws = model.sample_y(queries[:4], n_samples=40_000)
    assert draws.shape == (4, 40_000)
    mean, std = model.predict(queries[:4], return_std=True)
    assert_allclose(draws.mean(axis=1), mean, atol=4 * std.max() / 200)
    covariance = model.predict_latent(queries[:4], return_cov=True)[1]
    expected = covariance + np.diag(std**2 - covariance.diagonal())
    assert_allclose(np.cov(draws), expected, atol=0.05 * expected.max())
    assert_array_equal(draws[:, :3], model.sample_y(queries[:4], 40_000)[:, :3])
    assert np.any(draws[:, 0] != model.sample_y(queries[:4], 40_000, random_state=1)[:, 0])


def test_batches_of_queries_change_nothing(waves, labels, monkeypatch):
    X, y = waves
    regressor = ProbabilisticMKLRegressor().fit(pd.DataFrame(X), y)
    classifier = ProbabilisticMKLClassifier("precomputed", normalize=None, tol=1e-3)
    train, test = three_bundles(X[:40], X[40:])
    classifier.fit(train, labels[1][:40])

    def answers():
        table = pd.DataFrame(X)
        parts = [*regressor.predict(table, return_std=True), *regressor.predict_components(table)]
        return [*parts, classifier.predict_proba(test)]

    whole = answers()
    monkeypatch.setattr(_posterior, "_BLOCK_ENTRIES", 420)
    for one, other in zip(whole, answers(), strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


# Likelihoods


def test_learned_noise_is_near_the_truth_and_fixed_noise_stays(waves):
    X, y = waves
    learned = ProbabilisticMKLRegressor({"first": [0]}).fit(X, y)
    assert 0.1 < np.sqrt(learned.noise_var_) < 0.3
    given = Gaussian(1.0)
    fixed = ProbabilisticMKLRegressor({"first": [0]}, likelihood=given, learn_likelihood=False)
    fixed.fit(X, y)
    assert fixed.noise_var_ == 1.0
    assert given.noise_var == 1.0
    assert fixed.log_evidence_ < learned.log_evidence_ - 1
    vb = ProbabilisticMKLRegressor({"first": [0]}, objective="vb").fit(X, y)
    assert_allclose(vb.log_evidence_, learned.log_evidence_, rtol=1e-10)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "student"])
def test_fits_do_not_depend_on_units(waves, likelihood):
    X, y = waves
    model = ProbabilisticMKLRegressor({"first": [0]}, likelihood=likelihood, objective="vb")
    one, other = clone(model).fit(X, y), clone(model).fit(X, 1000 * y)
    assert_allclose(other.predict(X), 1000 * one.predict(X), rtol=1e-4)
    assert_allclose(other.predict(X, True)[1], 1000 * one.predict(X, True)[1], rtol=1e-3)
    shift = (len(y) - 1) * np.log(1000)  # of the density of contrasts
    assert_allclose(other.log_evidence_, one.log_evidence_ - shift, rtol=1e-5)


def test_robust_likelihoods_beat_gaussian_noise_on_contaminated_data():
    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, size=(120, 1))
    truth = np.sin(2 * X[:, 0])
    y = truth + 0.1 * rng.normal(size=120)
    bad = rng.choice(120, 15, replace=False)
    y[bad] += rng.choice([-1, 1], 15) * rng.uniform(3, 8, size=15)
    grid = np.linspace(-2.8, 2.8, 200)[:, np.newaxis]
    clean = np.sin(2 * grid[:, 0])
    scores = {}
    for name in ("gaussian", "laplace", "student"):
        model = ProbabilisticMKLRegressor(RBF([0.2, 0.5, 1]), likelihood=name, objective="vb")
        model.fit(X, y)
        fresh = clean + 0.1 * np.random.default_rng(4).normal(size=200)
        error = np.sqrt(np.mean((model.predict(grid) - clean) ** 2))
        scores[name] = error, model.log_predictive_density(grid, fresh).mean()
    for name in ("laplace", "student"):
        assert scores[name][0] < 0.5 * scores["gaussian"][0]
        assert scores[name][1] > scores["gaussian"][1] + 0.5


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "student"])
def test_intervals_hold_as_many_targets_as_they_say(likelihood):
    rng = np.random.default_rng(5)
    X = rng.uniform(-3, 3, size=(700, 1))
    noise = {
        "gaussian": rng.normal(size=700),
        "laplace": rng.laplace(size=700),
        "student": rng.standard_t(4, size=700),
    }[likelihood]
    y = np.sin(2 * X[:, 0]) + 0.3 * noise
    model = ProbabilisticMKLRegressor(RBF([0.5, 1]), likelihood=likelihood, objective="vb")
    model.set_params(tol=1e-4).fit(X[:200], y[:200])
    for coverage in (0.5, 0.9):
        lower, upper = model.predict_interval(X[200:], coverage).T
        inside = np.mean((y[200:] > lower) & (y[200:] < upper))
        # three standard errors of a share of 500, and one of a noise scale from 200 samples
        assert abs(inside - coverage) < 3 * np.sqrt(coverage * (1 - coverage) / 500) + 0.03
    if likelihood == "gaussian":
        mean, std = model.predict(X[200:], return_std=True)
        assert_allclose(upper, mean + norm.ppf(0.95) * std, rtol=1e-10)
        density = norm.logpdf(y[200:], mean, std)
        assert_allclose(model.log_predictive_density(X[200:], y[200:]), density, rtol=1e-9)


# Classes


def test_probabilities_are_averages_over_the_posterior(labels, queries):
    X, y = labels
    model = ProbabilisticMKLClassifier(RBF(0.5), tol=1e-4).fit(X, y)
    mean, std = model.predict_latent(queries, return_std=True)
    averages = [
        quad(lambda u, m=m, s=s: expit(u) * norm.pdf(u, m, s), m - 12 * s, m + 12 * s)[0]
        for m, s in zip(mean, std, strict=True)
    ]
    p = model.predict_proba(queries)
    assert_allclose(p[:, 1], averages, rtol=1e-7)
    assert_allclose(p.sum(axis=1), 1)
    assert np.all(np.abs(p[:, 1] - 0.5) < np.abs(expit(mean) - 0.5))
    assert_array_equal(model.predict(queries), model.classes_[p.argmax(axis=1)])
    logs = model.log_predictive_density(X, y)
    assert_allclose(logs, model.predict_log_proba(X)[np.arange(len(y)), (y == "up").astype(int)])


def test_probabilities_are_near_those_of_the_exact_posterior():
    rng = np.random.default_rng(6)
    x = np.linspace(-2, 2, 5)[:, np.newaxis]
    y = np.array([-1, -1, 1, -1, 1])
    model = ProbabilisticMKLClassifier(
        SklearnKernel(gp.RBF(1.0)),
        normalize=None,
        fit_intercept=False,
        hyper_prior=GammaPrior(50.0, 20.0),
    ).fit(x, y)
    new = np.array([[-1.5], [0.3], [2.5]])
    both = np.vstack([x, new])
    K = model.weights_[0] * rbf_kernel(both, both, 0.5)
    U = rng.multivariate_normal(np.zeros(8), K, size=400_000)
    importance = np.prod(expit(y * U[:, :5]), axis=1)
    exact = importance @ expit(U[:, 5:]) / importance.sum()
    assert_allclose(model.predict_proba(new)[:, 1], exact, atol=0.03)
    assert model.log_evidence_ < np.log(importance.mean())  # a lower bound, and not far below
    assert model.log_evidence_ > np.log(importance.mean()) - 0.5


@pytest.mark.parametrize("weights", ["shared", "per_class"])
def test_several_classes(weights):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], np.array(["a", "b", "c"])[y[::2]]
    model = ProbabilisticMKLClassifier(weights=weights, hyper_prior="gamma", tol=1e-3).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (75, 3)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert model.score(X, y) > 0.9
    assert model.weights_.shape == ((4,) if weights == "shared" else (3, 4))
    table = model.kernel_table_
    assert len(table) == model.weights_.size
    assert ("class" in table) == (weights == "per_class")
    mean, variance = model.predict_components(X)
    assert mean.shape == variance.shape == (75, 4, 3)
    assert_allclose(mean.sum(axis=1) + model.intercept_, model.predict_latent(X), rtol=1e-8)
    std = model.predict_latent(X[:5], return_std=True)[1]
    covariance = model.predict_latent(X[:5], return_cov=True)[1]
    assert_allclose(std**2, np.moveaxis(covariance.diagonal(), 0, 1), rtol=1e-6)
    if weights == "per_class":
        alone = ProbabilisticMKLClassifier(hyper_prior="gamma", tol=1e-3).fit(X, y == "b")
        assert_allclose(alone.weights_, model.weights_[1], rtol=1e-6)
        latent = alone.predict_latent(X, return_std=True)
        both = model.predict_latent(X, return_std=True)
        assert_allclose(latent, [part[:, 1] for part in both], rtol=1e-6)
        _, alone_variance = alone.predict_components(X)
        assert_allclose(alone_variance, variance[:, :, 1], rtol=1e-6)


def test_several_outputs_share_weights_and_noise(waves, queries):
    X, y = waves
    Y = np.stack([y, np.cos(2 * X[:, 0]), X[:, 0]], axis=1)
    model = ProbabilisticMKLRegressor().fit(X, Y)
    mean, std = model.predict(queries, return_std=True)
    assert mean.shape == std.shape == (15, 3)
    assert_array_equal(std[:, 0], std[:, 2])
    assert model.weights_.shape == (4,)
    assert model.predict_interval(queries).shape == (15, 3, 2)
    assert model.sample_y(queries, 2).shape == (15, 3, 2)
    assert model.log_predictive_density(X, Y).shape == (60, 3)
    assert model.predict_latent(queries, return_cov=True)[1].shape == (15, 15, 3)
    doubled = clone(model).fit(X, np.stack([y, y], axis=1))
    single = clone(model).fit(X, y)
    assert_allclose(doubled.log_evidence_, 2 * single.log_evidence_, rtol=1e-6)
    assert_allclose(doubled.predict(X)[:, 1], single.predict(X), rtol=1e-3)


# Objectives, methods, restarts


@pytest.mark.parametrize("method", ["mackay", "newton", "double_loop", InformationNewton()])
def test_methods_reach_the_same_evidence(waves, method):
    X, y = waves
    best = ProbabilisticMKLRegressor(RBF([0.5, 2])).fit(X, y)
    model = ProbabilisticMKLRegressor(RBF([0.5, 2]), method=method, max_iter=2000).fit(X, y)
    assert model.converged_
    assert model.stationarity_ <= model.tol
    assert_allclose(model.log_evidence_, best.log_evidence_, rtol=1e-5)
    assert_allclose(model.history_["objective"][-1], model.objective_, rtol=1e-9)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_other_objectives_give_weights_of_less_evidence(waves, likelihood):
    X, y = waves
    y = 10 * (y - 5)
    settings = {"likelihood": likelihood, "kernels": RBF([0.2, 0.5, 2])}
    vb = ProbabilisticMKLRegressor(objective="vb", **settings).fit(X, y)
    mkl = ProbabilisticMKLRegressor(objective="mkl", **settings).fit(X, y)
    joint = ProbabilisticMKLRegressor(objective="map", jitter=10.0, **settings).fit(X, y)
    for model in (mkl, joint):
        assert model.log_evidence_ < vb.log_evidence_
        assert model.likelihood_.get_params() == vb.likelihood_.get_params()
        assert model.score(X, y) > 0.5
        assert model.predict(X, return_std=True)[1].min() > 0
    even = ProbabilisticMKLRegressor(objective="mkl", p=4.0, **settings).fit(X, y)
    assert np.count_nonzero(even.weights_) == 3
    strong = ProbabilisticMKLRegressor(objective="mkl", strength=1e6, **settings).fit(X, y)
    assert strong.weights_.sum() < 0.1 * mkl.weights_.sum()


def test_the_joint_mode_needs_jitter_and_warns_where_it_collapses(labels):
    X, y = labels
    with pytest.raises(ValueError, match="needs jitter"):
        ProbabilisticMKLClassifier(objective="map").fit(X, y)
    with pytest.warns(CollapseWarning, match="collapsed"):
        ProbabilisticMKLClassifier(objective="map", jitter=1e-3).fit(X, y)
    model = ProbabilisticMKLClassifier(objective="mkl", strength=1.0).fit(X, y)
    assert model.score(X, y) > 0.7


def test_restarts_keep_the_best_and_are_seeded(waves):
    X, y = waves
    rough = ProbabilisticMKLRegressor(method="mackay", max_iter=2, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one = clone(rough).fit(X, y)
        many = clone(rough).set_params(n_restarts=5).fit(X, y)
        again = clone(rough).set_params(n_restarts=5).fit(X, y)
    complaints = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert len(complaints) == 3  # one each, not one for every start
    assert many.objective_ < one.objective_
    assert_array_equal(many.weights_, again.weights_)


def bumps(seed):
    """A curve through eight points, and ten kernels of one bump each: evidence has many minima."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 3, size=8))
    widths = rng.choice([0.5, 1.0, 2.0], size=10)
    Phi = np.exp(-((x[:, np.newaxis] - np.linspace(-3, 3, 10)) ** 2) / (2 * widths**2))
    y = np.sin(rng.uniform(0.5, 3) * x) + 0.05 * rng.normal(size=8)
    return Phi[:, np.newaxis] * Phi, y


@pytest.mark.filterwarnings("ignore:The noise variance ended")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learn_likelihood", [True, False])
def test_newton_with_restarts_is_never_worse_than_other_methods(learn_likelihood):
    model = ProbabilisticMKLRegressor(
        "precomputed",
        likelihood=Gaussian(0.0025),
        learn_likelihood=learn_likelihood,
        normalize=None,
        random_state=0,
    )
    basins = 0
    for seed in range(10):
        K, y = bumps(seed)
        plain, best = (clone(model).set_params(n_restarts=r).fit(K, y).objective_ for r in (0, 10))
        for method, max_iter in (("mackay", 200), ("em", 200), ("reweighted", 20)):
            other = clone(model).set_params(method=method, max_iter=max_iter).fit(K, y)
            assert best <= other.objective_ + 1e-6 * abs(other.objective_)
        basins += plain > best + 1e-3
    assert basins >= 3  # or these problems would show nothing


def test_restarts_begin_with_less_noise_where_it_is_learned():
    K, y = bumps(7)
    model = ProbabilisticMKLRegressor("precomputed", normalize=None, random_state=0)
    assert model.fit(K, y).noise_var_ > 0.03  # much is noise, says the standard start
    quiet = clone(model).set_params(n_restarts=10).fit(K, y)
    assert quiet.noise_var_ < 0.01
    assert quiet.objective_ < model.objective_ - 5


def test_the_hyper_prior_counts_in_the_objective_only(waves):
    X, y = waves
    model = ProbabilisticMKLRegressor(hyper_prior=GammaPrior(2.0, 3.0)).fit(X, y)
    assert np.all(model.weights_ > 0)
    penalty = GammaPrior(2.0, 3.0).in_units(np.var(y)).value(model.weights_)
    assert_allclose(model.objective_, -2 * model.log_evidence_ + penalty)
    assert model.log_evidence_ < ProbabilisticMKLRegressor().fit(X, y).log_evidence_


def test_the_taxonomy_reads_fitted_estimators(waves):
    X, y = waves
    model = ProbabilisticMKLRegressor(RBF([0.5, 2])).fit(X, y)
    assert_allclose(taxonomy(model)["MLM"].value, -2 * model.log_evidence_, rtol=1e-8)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "student"])
def test_the_objective_suits_the_likelihood_by_default(waves, likelihood):
    X, y = waves
    model = ProbabilisticMKLRegressor(RBF([0.5, 2]), likelihood=likelihood, tol=1e-4).fit(X, y)
    expected = "evidence" if likelihood == "gaussian" else "vb"
    assert model.objective_name_ == expected
    given = clone(model).set_params(objective=expected).fit(X, y)
    assert_array_equal(given.weights_, model.weights_)
    assert_allclose(-2 * model.log_evidence_, model.objective_)


def test_labels_have_the_variational_bound_by_default(labels):
    model = ProbabilisticMKLClassifier(RBF(0.5), tol=1e-3).fit(*labels)
    assert model.objective_name_ == "vb"
    with pytest.raises(ValueError, match="'evidence' is exact and needs"):
        ProbabilisticMKLClassifier(objective="evidence").fit(*labels)
    with pytest.raises(ValueError, match="leave method='auto', or choose objective='vb'"):
        ProbabilisticMKLClassifier(objective="mkl", method="newton").fit(*labels)


def test_the_convex_objective_has_a_duality_gap(waves):
    X, y = waves
    model = ProbabilisticMKLRegressor(
        RBF([0.2, 0.5, 2]),
        likelihood=Gaussian(0.04),
        learn_likelihood=False,
        objective="mkl",
        strength=20.0,
    ).fit(X, y)
    assert model.converged_
    assert 0 <= model.gap_ <= 1e-6
    assert model.gap_ == model.stationarity_
    rough = clone(model).set_params(max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        rough.fit(X, y)
    assert not rough.converged_
    assert rough.gap_ > 1e-12
    # the gap bounds how far half the objective, its constant left out, is above the minimum
    constant = len(y) * np.log(2 * np.pi * rough.noise_var_)
    above = (rough.objective_ - model.objective_) / (rough.objective_ - constant)
    assert above <= rough.gap_ + 1e-9
    free = rough.set_params(objective="auto", strength=None, max_iter=None, tol=1e-6).fit(X, y)
    assert not hasattr(free, "gap_")
    assert not hasattr(free.set_params(likelihood="laplace", tol=1e-3).fit(X, y), "noise_var_")


# Inputs, and life inside scikit-learn


def test_all_forms_of_input_agree(waves, queries):
    X, y = waves
    names = ["a", "b", "c"]
    sources = {"left": slice(0, 1), "right": slice(1, 3)}
    expected = ProbabilisticMKLRegressor(sources).fit(X, y).predict(queries, return_std=True)
    for table in (pd.DataFrame, pl.DataFrame):
        model = ProbabilisticMKLRegressor({"left": ["a"], "right": ["b", "c"]})
        model.fit(table(dict(zip(names, X.T, strict=True))), y)
        got = model.predict(table(dict(zip(names, queries.T, strict=True))), return_std=True)
        assert_allclose(got, expected)
    views = [ViewBundle({"left": Z[:, :1], "right": Z[:, 1:]}) for Z in (X, queries)]
    got = ProbabilisticMKLRegressor().fit(views[0], y).predict(views[1], return_std=True)
    assert_allclose(got, expected)


def test_precomputed_kernels_as_arrays_and_bundles(waves, labels, queries):
    X, y = waves
    K, K_new = three_kernels(X, X), three_kernels(queries, X)
    train, test = three_bundles(X, queries)
    arrays = ProbabilisticMKLRegressor("precomputed", normalize=None).fit(K, y)
    bundles = ProbabilisticMKLRegressor(normalize=None).fit(train, y)
    assert_allclose(arrays.predict(K_new), bundles.predict(test))
    assert bundles.predict(test, return_std=True)[1].shape == (15,)
    with pytest.raises(ValueError, match="a KernelBundle with a column per query"):
        arrays.predict(K_new, return_std=True)
    with pytest.raises(ValueError, match="a KernelBundle with a column per query"):
        arrays.sample_y(K_new)
    scores = cross_val_score(clone(arrays), K, y, cv=3, error_score="raise")
    assert_allclose(scores, cross_val_score(clone(bundles), train, y, cv=3, error_score="raise"))
    terciles = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    classifier = ProbabilisticMKLClassifier("precomputed", normalize=None, tol=1e-2).fit(
        K, terciles
    )
    latent = classifier.predict_latent(K_new)
    assert_array_equal(classifier.predict(K_new), latent.argmax(axis=1))


def test_searches_reach_the_parameters_of_parts(waves, labels):
    X, y = waves
    pipeline = make_pipeline(
        StandardScaler(), ProbabilisticMKLRegressor(hyper_prior="gamma", objective="vb", tol=1e-3)
    )
    step = "probabilisticmklregressor__"
    search = GridSearchCV(pipeline, {step + "hyper_prior__rate": [0.1, 10.0]}, cv=2).fit(X, y)
    expected = [  # the same folds by hand: weights, and so scores, depend on the rate
        np.mean(cross_val_score(pipeline.set_params(**{step + "hyper_prior__rate": r}), X, y, cv=2))
        for r in (0.1, 10.0)
    ]
    assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert expected[0] != expected[1]
    assert search.best_params_[step + "hyper_prior__rate"] == (0.1, 10.0)[np.argmax(expected)]
    grid = {"likelihood__tau": [0.5, 5.0], "likelihood": ["laplace"], "learn_likelihood": [False]}
    laplace = GridSearchCV(ProbabilisticMKLRegressor(objective="vb", tol=1e-3), grid, cv=2)
    assert (
        laplace.fit(X, y).best_estimator_.likelihood_.tau == laplace.best_params_["likelihood__tau"]
    )
    classifier = ProbabilisticMKLClassifier(likelihood=LogisticLikelihood(2.0), tol=1e-2)
    search = GridSearchCV(
        classifier, {"method": ["newton", "mackay"]}, scoring="neg_log_loss", cv=2
    )
    assert np.isfinite(search.fit(*labels).best_score_)
    assert "ProbabilisticMKLClassifier" in search.best_estimator_._repr_html_()
    shown = str(pipeline)
    assert "ProbabilisticMKLRegressor" in shown
    assert "hyper_prior=GammaPrior(rate=10.0)" in shown
    assert "objective='vb'" in shown


def test_pickles_predict_but_leave_the_training_kernels_behind(waves, queries):
    X, y = waves
    model = ProbabilisticMKLRegressor(likelihood=StudentT(nu=3.0), objective="vb").fit(X, y)
    assert model.problem_.bank.n_samples == 60
    copy = pickle.loads(pickle.dumps(model))
    assert not hasattr(copy, "problem_")
    assert hasattr(model, "problem_")
    assert_array_equal(
        copy.predict(queries, return_std=True), model.predict(queries, return_std=True)
    )
    assert model.likelihood_.nu == 3.0
    assert not hasattr(model, "noise_var_")


def test_only_kernels_in_use_are_kept(waves, queries):
    X, y = waves
    model = ProbabilisticMKLRegressor({"first": [0], "second": [1], "third": [2]}).fit(X, y)
    used = np.count_nonzero(model.weights_)
    assert 0 < used < 12
    assert sum(len(group.kernels) for group in model.kernels_.groups_) == used
    table = model.kernel_table_
    columns = ["source", "family", "parameter", "weight", "norm", "contribution"]
    assert list(table.columns) == columns
    assert_allclose(table["contribution"].sum(), 1)
    assert table.groupby("source")["contribution"].sum()["first"] > 0.8


# Robustness


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "student"])
@pytest.mark.parametrize("value", [0.0, 1e-6, 3.0, 1e8])
def test_constant_targets_are_predicted_with_hardly_any_doubt(likelihood, value):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ProbabilisticMKLRegressor(likelihood=likelihood, objective="vb")
    mean, std = model.fit(X, np.full(20, value)).predict(X, return_std=True)
    assert_allclose(mean, value, atol=1e-3 * (value or 1))
    assert np.all(std < 1e-3 * (value or 1))


@pytest.mark.filterwarnings("ignore:The noise variance ended")
@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_samples(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    y = np.arange(n) % 2
    regressor = ProbabilisticMKLRegressor().fit(X, X[:, 0])
    assert np.all(np.isfinite(regressor.predict(X, return_std=True)))
    classifier = ProbabilisticMKLClassifier(hyper_prior="gamma").fit(X, y)
    assert np.all(np.isfinite(classifier.predict_proba(X)))


def test_singular_and_repeated_kernels():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(40, 1))
    y = 2 * x[:, 0] + 0.1 * rng.normal(size=40)
    family = [Linear(), Linear(), Linear()]
    many = ProbabilisticMKLRegressor(family).fit(x, y)
    one = ProbabilisticMKLRegressor(Linear()).fit(x, y)
    assert_allclose(many.weights_.sum(), one.weights_[0], rtol=1e-4)
    assert_allclose(many.log_evidence_, one.log_evidence_, rtol=1e-8)
    assert_allclose(many.predict(x, return_std=True), one.predict(x, return_std=True), rtol=1e-4)
    zero = ProbabilisticMKLRegressor("precomputed", normalize=None)
    zero.fit(np.zeros((40, 40, 2)), y)
    assert_allclose(zero.predict(np.zeros((3, 40, 2))), y.mean())


@pytest.mark.filterwarnings("ignore:The noise variance ended")
def test_noiseless_targets_are_interpolated():
    x = np.linspace(-1, 1, 12)[:, np.newaxis]
    model = ProbabilisticMKLRegressor(Linear()).fit(x, 3 * x[:, 0] + 1)
    assert model.noise_var_ < 1e-6
    assert_allclose(model.predict([[0.5]]), 2.5, rtol=1e-4)


@pytest.mark.parametrize("method", ["double_loop", "newton", "mackay"])
def test_weights_without_bound_are_told_with_a_remedy(method):
    X = np.concatenate([np.linspace(-3, -1, 8), np.linspace(1, 3, 8)])[:, np.newaxis]
    y = X[:, 0] > 0
    model = ProbabilisticMKLClassifier(method=method, max_iter=100)
    with pytest.warns(ConvergenceWarning, match="weights grow without bound.*hyper_prior='gamma'"):
        model.fit(X, y)
    p = model.predict_proba([[-2.0], [0.0], [2.0]])[:, 1]
    assert p[0] < 0.15 < 0.4 < p[1] < 0.6 < 0.85 < p[2]
    assert ProbabilisticMKLClassifier(hyper_prior="gamma").fit(X, y).converged_  # the remedy
    assert ProbabilisticMKLClassifier(objective="mkl").fit(X, y).converged_  # it has a penalty
    with pytest.warns(ConvergenceWarning, match="weights grow without bound"):
        model.fit([[0.0], [1.0]], [0, 1])


@pytest.fixture(scope="module")
def quiet():
    """Waves with next to no noise."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(200, 1))
    return x, np.sin(2 * x[:, 0]) + 1e-3 * rng.normal(size=200)


@pytest.mark.filterwarnings("ignore:The noise variance ended")
@pytest.mark.parametrize("method", ["auto", "mackay"])
def test_single_precision_bears_targets_without_noise(quiet, method):
    X, y = quiet
    model = ProbabilisticMKLRegressor(RBF([0.5, 2, 8]), dtype="float32", method=method).fit(X, y)
    assert model.converged_
    assert np.all(np.diff(model.history_["objective"]) <= 1e-10 * abs(model.objective_))
    assert 1e-6 < model.noise_var_ < 1e-4  # as little as the rounded kernels allow
    assert_allclose(model.predict(X), y, atol=0.01)
    again = clone(model).set_params(n_restarts=2, random_state=0, tol=1e-3).fit(X, y)
    assert again.log_evidence_ > model.log_evidence_ - 1


@pytest.mark.parametrize("method", ["auto", "mackay"])
def test_single_precision_says_when_it_did_not_settle(method):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(200, 1))
    y = np.sin(2 * X[:, 0]) + 0.03 * rng.normal(size=200)
    model = ProbabilisticMKLRegressor(RBF([0.5, 2, 8]), dtype="float32", method=method, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="; raise max_iter or tol"):
        model.fit(X, y)


@pytest.mark.parametrize("objective", ["mkl", "map"])
def test_the_search_for_the_likelihood_has_the_limits_of_the_estimator(waves, objective):
    settings = {"jitter": 1.0} if objective == "map" else {"strength": 20.0}
    model = ProbabilisticMKLRegressor(objective=objective, max_iter=1, **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*waves)
    stage = [str(w.message) for w in caught if "takes its likelihood" in str(w.message)]
    assert len(stage) == 1
    assert "stopped after 1 iterations" in stage[0]
    assert f"objective='{objective}'" in stage[0]
    assert "hyper_prior" not in stage[0]
    assert "Raise max_iter or tol" in stage[0]


@pytest.mark.filterwarnings("ignore:The noise variance ended")
def test_the_search_for_the_likelihood_says_when_kernels_are_too_rough():
    x = np.random.default_rng(0).uniform(-2, 2, size=(120, 1))
    model = ProbabilisticMKLRegressor(RBF([20, 50, 200]), dtype="float32", objective="mkl")
    with pytest.warns(ConvergenceWarning, match=r"takes its likelihood .* Use dtype='float64'"):
        model.fit(x, x[:, 0] ** 2 + x[:, 0])
    with pytest.warns(ConvergenceWarning, match=r"not precise enough .* dtype='float64'"):
        model.set_params(objective="evidence").fit(x, x[:, 0] ** 2 + x[:, 0])
    assert np.all(np.isfinite(model.predict(x, return_std=True)))


def test_no_method_is_the_best_one_with_the_limits_of_the_estimator(waves):
    auto, none = (
        ProbabilisticMKLRegressor(method=method, tol=1e-2).fit(*waves) for method in ("auto", None)
    )
    assert none.n_iter_ == auto.n_iter_
    with pytest.warns(ConvergenceWarning, match="InformationNewton stopped after 2 iterations"):
        none.set_params(max_iter=2, tol=1e-6).fit(*waves)


def test_predictions_of_the_joint_mode_are_without_jitter(waves, queries):
    X, y = waves
    model = ProbabilisticMKLRegressor(RBF([0.5, 2]), objective="map", jitter=0.5).fit(X, y)
    spread = model.predict(queries, return_std=True)[1] ** 2
    latent = model.predict_latent(queries, return_std=True)[1] ** 2
    assert_allclose(spread, latent + model.noise_var_, rtol=1e-10)
    assert_allclose(model.site_var_, model.noise_var_ + 0.5)  # the fit has it
    evidence = taxonomy(model)["VB"].value
    assert_allclose(-2 * model.log_evidence_, evidence, rtol=1e-8)
    assert_allclose(
        model.log_evidence_,
        _contrast_density(model.problem_.bank.combine(model.weights_), y, model.noise_var_),
        rtol=1e-8,
    )


def _contrast_density(K, y, noise):
    """The log-density of the contrasts of y, an orthonormal basis of them at a time."""
    n = len(y)
    basis = np.linalg.svd(np.ones((1, n)))[2][1:]
    C = basis @ (K + noise * np.eye(n)) @ basis.T
    return multivariate_normal(np.zeros(n - 1), C).logpdf(basis @ y)


@pytest.mark.parametrize("method", ["double_loop", "newton", "mackay"])
def test_weights_that_have_a_best_scale_need_more_iterations(labels, waves, method):
    for likelihood in ("gaussian", "laplace", "student"):
        model = ProbabilisticMKLRegressor(likelihood=likelihood, method=method, max_iter=3)
        with pytest.warns(ConvergenceWarning, match="; raise max_iter or tol"):
            model.fit(*waves)
    with pytest.warns(ConvergenceWarning, match="; raise max_iter or tol"):
        ProbabilisticMKLClassifier(method=method, max_iter=3).fit(*labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "odds"}, "objective must be one of"),
        ({"likelihood": "laplace", "objective": "evidence"}, "'evidence' is exact and needs"),
        ({"likelihood": "logistic"}, "choose one of: gaussian, laplace, student"),
        ({"likelihood": Gaussian(-1.0)}, "noise_var must be a finite number > 0"),
        ({"likelihood": Laplace(0.0), "objective": "vb"}, "tau must be a finite number > 0"),
        ({"hyper_prior": GammaPrior(0.5)}, "at least 1"),
        ({"method": "magic"}, "is not known; choose one of"),
        ({"objective": "mkl", "method": "mackay"}, "leave method='auto'"),
        ({"objective": "mkl", "hyper_prior": "gamma"}, "leave hyper_prior=None"),
        ({"objective": "mkl", "n_restarts": 3}, "leave n_restarts=0, or choose objective="),
        ({"objective": "mkl", "jitter": 0.1}, "leave jitter=None, or choose objective='map'"),
        ({"objective": "map", "jitter": 0.1, "p": 2.0}, "p=2.0 has no effect with objective='map'"),
        ({"strength": 3.0}, "strength=3.0 has no effect with objective='evidence'.*='mkl'"),
        ({"p": 2.0, "likelihood": "student"}, "p=2.0 has no effect with objective='vb'"),
        ({"jitter": 0.1, "objective": "vb"}, "jitter=0.1 has no effect with objective='vb'"),
        ({"objective": "mkl", "strength": -1.0}, "strength must be positive"),
        ({"objective": "map"}, "needs jitter > 0"),
        ({"n_restarts": -1}, "n_restarts"),
        ({"tol": 0.0}, "tol"),
        ({"dtype": "int8"}, "dtype must be one of"),
    ],
)
def test_settings_that_cannot_be_are_named(waves, settings, message):
    with pytest.raises(ValueError, match=message):
        ProbabilisticMKLRegressor(**settings).fit(*waves)


def test_data_that_cannot_be_are_named(waves):
    X, y = waves
    with pytest.raises(ValueError, match="one class: 1"):
        ProbabilisticMKLClassifier().fit(X, np.ones(60, dtype=int))
    with pytest.raises(ValueError, match="weights must be 'shared' or 'per_class'"):
        ProbabilisticMKLClassifier(weights="none").fit(X, y > 5)
    with pytest.raises(ValueError, match="NaN"):
        ProbabilisticMKLRegressor().fit(X, np.where(y > 5, np.nan, y))
    with pytest.raises(ValueError, match="n_samples=1"):
        ProbabilisticMKLRegressor().fit(X[:1], y[:1])
    model = ProbabilisticMKLRegressor(RBF()).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((1, 3), np.nan), return_std=True)
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, coverage=95)
    with pytest.raises(ValueError, match="either standard deviations or covariances"):
        model.predict_latent(X, return_std=True, return_cov=True)
    classifier = ProbabilisticMKLClassifier(RBF(), tol=1e-2).fit(X, y > 5)
    with pytest.raises(ValueError, match="not among the classes"):
        classifier.log_predictive_density(X[:2], [2, 3])


def test_float32_kernels(waves, queries):
    X, y = waves
    half = ProbabilisticMKLRegressor(dtype="float32").fit(X, y)
    full = ProbabilisticMKLRegressor().fit(X, y)
    assert_allclose(half.predict(queries, True), full.predict(queries, True), rtol=1e-3)


@pytest.mark.parametrize("prior", ["gamma", "inverse_gamma", "power"])
def test_hyper_priors_do_not_depend_on_the_units_of_the_target(prior):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    one, other = (ProbabilisticMKLRegressor(hyper_prior=prior).fit(X, c * y) for c in (1.0, 1000.0))
    assert_allclose(other.weights_, 1e6 * one.weights_, rtol=1e-2, atol=10.0)


def test_constant_features_get_no_weight():
    rng = np.random.default_rng(0)
    model = ProbabilisticMKLRegressor().fit(np.ones((30, 1)), rng.normal(size=30))
    assert np.all(np.isfinite(model.weights_))
    assert_allclose(model.predict(np.ones((2, 1))), model.intercept_, atol=1e-6)


def test_noise_that_ends_at_its_floor_is_said(rng):
    X = rng.normal(size=(40, 30))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=40)
    sources = {f"s{j}": [j] for j in range(30)}
    with pytest.warns(UserWarning, match="ended at its floor.*fix the noise") as caught:
        ProbabilisticMKLRegressor(sources).fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    fixed = ProbabilisticMKLRegressor(
        sources, likelihood=Gaussian(noise_var=0.04), learn_likelihood=False
    )
    low, high = fixed.fit(X[:30], y[:30]).predict_interval(X[30:], 0.9).T
    assert np.mean((low < y[30:]) & (y[30:] < high)) > 0.4
