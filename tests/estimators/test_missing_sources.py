"""Models of samples that lack whole sources: the same fits as from zero-embedded Grams."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score

from multikernel import (
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    ProbabilisticMKLClassifier,
    ProbabilisticMKLRegressor,
    ViewBundle,
    load_model,
    save_model,
)
from multikernel.kernels import RBF, KernelBundle, KernelSet, Linear

TCGA = Path(__file__).parents[3] / "shared" / "data" / "breast_tcga"
FAMILIES = [Linear(), RBF()]
N, N_QUERIES = 40, 12


def draw(seed=0, n=N + N_QUERIES):
    """Two informative views and a useless one, partly absent (NaN there), and targets."""
    rng = np.random.default_rng(seed)
    blocks = {name: rng.normal(size=(n, p)) for name, p in (("a", 3), ("b", 4), ("c", 2))}
    f = blocks["a"][:, 0] + np.sin(2 * blocks["b"][:, 1])
    present = {name: rng.uniform(size=n) < 0.75 for name in ("a", "b")}
    for name, mask in present.items():
        blocks[name][~mask] = np.nan
    X = ViewBundle(blocks, present)
    return X[:N], X[N:], f[:N] + 0.1 * rng.normal(size=N), f[N:]


def embedded(X, Z):
    """Precomputed kernels between all samples, source by source, zero where one is absent."""
    n, matrices = len(X), {}
    for name in X.names:
        have, ask = X.has(name), Z.has(name)
        kernels = KernelSet(None, FAMILIES)
        grams = dict(kernels.fit_grams(X.block(name)[have]))
        queries = Z.block(name)[ask]
        cross, among = dict(kernels.cross(queries)), dict(kernels.among(queries))
        for m in range(len(FAMILIES)):
            K = matrices[f"{name}{m}"] = np.zeros((n + len(Z), n + len(Z)))
            old, new = np.flatnonzero(have), n + np.flatnonzero(ask)
            K[np.ix_(old, old)], K[np.ix_(new, new)] = grams[m], among[m]
            K[np.ix_(new, old)], K[np.ix_(old, new)] = cross[m], cross[m].T
    bundle = KernelBundle(matrices)
    return bundle[:n], bundle[n:]


MODELS = [
    MKLClassifier(),
    MKLClassifier(regularizer="lp", loss="logistic"),
    MKLClassifier(fit_intercept=False),
    MKLRegressor(),
    MKLRegressor(regularizer="uniform", loss="epsilon_insensitive"),
    MKLClassifierCV(Cs=[0.1, 1.0], cv=3),
    MKLRegressorCV(Cs=[0.1, 1.0], cv=3),
    ProbabilisticMKLRegressor(),
    ProbabilisticMKLClassifier(),
    BayesianMKLRegressor(),
    BayesianMKLClassifier(),
]


def is_regressor(model):
    return "Regressor" in type(model).__name__


def outputs(model, X):
    """The continuous outputs of a model, with its uncertainty where it has one."""
    found = []
    if hasattr(model, "decision_function"):
        found.append(model.decision_function(X))
    if hasattr(model, "predict_latent"):
        found += model.predict_latent(X, return_std=True)
    if is_regressor(model):
        found.append(model.predict(X))
    elif hasattr(model, "predict_latent"):
        found.append(model.predict_proba(X))
    return found


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_fit_is_that_of_embedded_grams(model):
    X, Z, y, _ = draw()
    y = y if is_regressor(model) else np.where(y > 0, "up", "down")
    K, Q = embedded(X, Z)
    ours = clone(model).set_params(kernels=FAMILIES).fit(X, y)
    theirs = clone(model).set_params(kernels="precomputed", normalize=None).fit(K, y)
    assert_allclose(ours.weights_, theirs.weights_, atol=1e-10)
    assert_allclose(ours.contributions_, theirs.contributions_, atol=1e-10)
    pairs = list(zip(outputs(ours, Z), outputs(theirs, Q), strict=True))
    assert pairs
    for mine, their in pairs:
        assert_allclose(mine, their, atol=1e-10)


@pytest.mark.parametrize("model", [MKLRegressor(tol=1e-9), ProbabilisticMKLRegressor()], ids=repr)
def test_the_order_of_samples_does_not_matter(model):
    X, Z, y, _ = draw()
    order = np.random.default_rng(1).permutation(N)
    one = clone(model).fit(X, y)
    other = clone(model).fit(X[order], y[order])
    assert_allclose(one.predict(Z), other.predict(Z), atol=1e-4)
    assert_allclose(one.predict(Z[::-1]), one.predict(Z)[::-1], atol=1e-12)


@pytest.mark.parametrize("model", [MKLClassifier(), MKLRegressor()], ids=repr)
@pytest.mark.parametrize("subset", [("a",), ("b", "c"), ("a", "b", "c"), ()], ids="+".join)
def test_prediction_from_a_subset_is_the_sum_of_its_contributions(model, subset):
    X, Z, y, _ = draw()
    y = y if is_regressor(model) else y > 0
    model = clone(model).fit(X, y)
    shares = model.decision_contributions(Z, by="source")
    kept = [model.sources_.index(name) for name in subset if name in model.sources_]
    part = Z.with_absent([name for name in Z.names if name not in subset])
    found = model.predict(part) if is_regressor(model) else model.decision_function(part)
    assert_allclose(found, shares[:, kept].sum(axis=1) + model.intercept_, atol=1e-12)
    for name in ("a", "b"):
        assert np.all(shares[~Z.has(name), model.sources_.index(name)] == 0)


def test_all_present_is_no_mask():
    rng = np.random.default_rng(0)
    blocks = {"a": rng.normal(size=(30, 3)), "b": rng.normal(size=(30, 2))}
    y = blocks["a"][:, 0] > 0
    masked = ViewBundle(blocks, {name: np.ones(30, dtype=bool) for name in blocks})
    plain = MKLClassifier().fit(ViewBundle(blocks), y)
    same = MKLClassifier().fit(masked, y)
    assert_array_equal(plain.dual_coef_, same.dual_coef_)
    assert_array_equal(plain.decision_function(masked), same.decision_function(ViewBundle(blocks)))


def test_factored_kernels_of_few_features():
    """Many samples and few linear features: the bank holds factors, with rows of zeros."""
    rng = np.random.default_rng(0)
    blocks = {"a": rng.normal(size=(120, 2)), "b": rng.normal(size=(120, 3))}
    y = blocks["a"][:, 0] + blocks["b"][:, 1]
    has = rng.uniform(size=120) < 0.5
    X = ViewBundle(blocks, {"b": has})
    K = [np.where(np.outer(h, h), 1, 0) for h in (np.ones(120, dtype=bool), has)]
    for name, k, h in zip(blocks, range(2), (np.ones(120, dtype=bool), has), strict=True):
        centred = blocks[name] - blocks[name][h].mean(axis=0)
        K[k] = K[k] * (centred @ centred.T) / np.mean(np.sum(centred[h] ** 2, axis=1))
    ours = MKLRegressor("linear").fit(X, y)
    theirs = MKLRegressor("precomputed", normalize=None).fit(np.stack(K, axis=2), y)
    assert_allclose(ours.weights_, theirs.weights_, rtol=1e-4)
    assert_allclose(ours.predict(X), theirs.predict(np.stack(K, axis=2)), atol=1e-4)


def test_noisy_targets_of_incomplete_samples_teach_more():
    rng = np.random.default_rng(3)
    blocks = {"a": rng.normal(size=(300, 5)), "b": rng.normal(size=(300, 5))}
    y = blocks["a"][:, 0] + blocks["b"][:, 0] + 1.5 * rng.normal(size=300)
    kind = np.r_[rng.integers(0, 5, size=100), np.zeros(200)]  # of five, one to two have both
    X = ViewBundle(blocks, {"a": kind != 1, "b": kind < 2})
    train, test = np.arange(100), np.arange(100, 300)
    complete = train[X.present[train].all(axis=1)]
    assert 10 < len(complete) < 40
    model = MKLRegressor("linear", C=0.1)
    everyone = clone(model).fit(X[train], y[train]).score(X[test], y[test])
    few = clone(model).fit(X[complete], y[complete]).score(X[test], y[test])
    assert everyone > few + 0.1


@pytest.mark.parametrize("model", [MKLClassifier(), ProbabilisticMKLClassifier()], ids=repr)
def test_cross_validation_by_hand_and_by_scikit_learn(model):
    X, _, y, _ = draw()
    y, folds = y > 0, StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, y, cv=folds)
    by_hand = [clone(model).fit(X[i], y[i]).score(X[j], y[j]) for i, j in folds.split(y, y)]
    assert_allclose(scores, by_hand)


def test_grid_search():
    X, Z, y, f = draw()
    search = GridSearchCV(MKLRegressor(), {"C": [0.01, 1.0, 100.0]}, cv=KFold(3)).fit(X, y)
    assert search.best_params_["C"] > 0.01
    assert search.predict(Z).shape == f.shape


def test_a_missing_block_must_be_said_to_be_missing():
    X, Z, y, _ = draw()
    model = MKLRegressor(regularizer="uniform").fit(X, y)
    message = (
        r"lack the blocks a that the model uses; they have: b, c\. .*X\.with_absent\(\['a'\]\)"
    )
    with pytest.raises(ValueError, match=message):
        model.predict(Z.select(["b", "c"]))
    misspelt = ViewBundle(
        {"A": Z.block("b"), "b": Z.block("b"), "c": Z.block("c")}, {"b": Z.has("b")}
    )
    with pytest.raises(ValueError, match="lack the blocks a"):
        model.predict(misspelt)
    stated = model.predict(Z.select(["b", "c"]).with_absent(["a"]))
    assert_allclose(stated, model.predict(Z.with_absent("a")), atol=1e-12)


def test_a_saved_model_predicts_the_same(tmp_path):
    pytest.importorskip("skops")
    X, Z, y, _ = draw()
    model = MKLRegressor(loss="epsilon_insensitive").fit(X, y)
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl")
    for queries in (Z, Z.select(["a", "c"]).with_absent("b")):
        assert_allclose(again.predict(queries), model.predict(queries), atol=1e-12)


def test_too_few_training_samples_with_a_source():
    X = ViewBundle({"a": np.eye(20), "b": np.eye(20)}, {"b": np.arange(20) == 4})
    with pytest.raises(ValueError, match="Source 'b' is present in 1 of 20 training samples"):
        MKLClassifier().fit(X, np.arange(20) % 2)


@pytest.mark.data
@pytest.mark.skipif(not TCGA.is_dir(), reason=f"no data set at {TCGA}")
def test_three_omics_in_training_and_two_in_the_test_set():
    def table(name):
        return pd.read_csv(TCGA / f"{name}.csv", index_col=0)

    sources = ("mrna", "mirna", "protein")
    train = ViewBundle.align({name: table(f"train_{name}") for name in sources})
    test = ViewBundle.align({name: table(f"test_{name}") for name in sources[:2]})
    y, y_test = (  # in the order of the samples of the first table
        pd.read_csv(TCGA / f"{part}_subtype.csv")["subtype"].to_numpy()
        for part in ("train", "test")
    )
    assert train.summary().n_complete == len(train) == 150
    model = MKLClassifier().fit(train, y)
    with pytest.raises(ValueError, match="with_absent"):
        model.predict(test)
    test = test.with_absent("protein")
    assert test.summary().n_present == {"mrna": 70, "mirna": 70, "protein": 0}
    accuracy = balanced_accuracy_score(y_test, model.predict(test))
    two = MKLClassifier().fit(train.select(sources[:2]), y)
    assert accuracy > 0.85
    assert accuracy > balanced_accuracy_score(y_test, two.predict(test)) - 0.05
    shares = model.decision_contributions(test, by="source")
    assert np.all(shares[:, model.sources_.index("protein")] == 0)


def test_targets_in_another_order_are_refused():
    ids = [f"p{i}" for i in range(20)]
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), index=ids)
    X, y = ViewBundle.align({"a": table, "b": table[0]}), table[1]
    assert X.block("b").shape == (20, 1)
    model = MKLRegressor().fit(X, y)
    with pytest.raises(ValueError, match=r"row 0 is 'p19' where X has 'p0'; take y.loc\[X.ids\]"):
        model.fit(X, y[::-1])
    assert_allclose(model.fit(X, y[::-1].loc[X.ids]).predict(X), model.fit(X, y).predict(X))


@pytest.mark.parametrize("kind", ["views", "kernels"])
def test_targets_of_other_samples_are_refused(kind):
    ids = [f"p{i}" for i in range(20)]
    A = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), index=ids)
    X = ViewBundle({"a": A}) if kind == "views" else KernelBundle({"a": A @ A.T})
    y, model = A[1], MKLRegressor()
    half = X[:10]
    for part in (half, pickle.loads(pickle.dumps(half))):  # as workers get it
        with pytest.raises(ValueError, match=r"y names other samples than X: row 0 is 'p5' where"):
            model.fit(part, y[5:15])
        model.fit(part, y[:10])
        model.fit(part, y[5:15].to_numpy())
        model.fit(part, y[5:15].reset_index(drop=True))  # labels that are no ids
    with pytest.raises(ValueError, match="y names other samples than X"):
        cross_val_score(model, X, y[::-1], cv=KFold(4), error_score="raise")
    cross_val_score(model, X, y, cv=KFold(4), error_score="raise")


@pytest.mark.parametrize("kind", ["views", "kernels"])
def test_labels_of_targets_of_numbered_samples_do_not_matter(kind):
    A = np.random.default_rng(0).normal(size=(20, 2))
    X = ViewBundle({"a": A}) if kind == "views" else KernelBundle({"a": A @ A.T})
    y = pd.Series(A[:, 0], index=np.arange(3, 23))  # of a table from which rows were taken
    model, half = MKLRegressor(), X[:10]
    model.fit(X, y)
    model.fit(half, y[:10])
    model.fit(pickle.loads(pickle.dumps(half)), y[:10])
    twice = half.append(X[10:])
    assert not twice.named
    model.fit(twice, y)
