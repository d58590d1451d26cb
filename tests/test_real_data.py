"""Real data sets of several sources: fits end with their certificate and are worth their while.

The data lie beside a developer's checkout; without them these tests are skipped. Splits are fixed,
so every number here is the same at every run. The margins are loose: with some tens of test
samples, one accuracy is known to a few points only.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import loadmat
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from multikernel import (
    RBF,
    KernelSet,
    LpNorm,
    MKLClassifier,
    MKLRegressor,
    MultiTaskMKLRegressor,
    Polynomial,
    ViewBundle,
)

DATA = Path(__file__).parents[2] / "shared" / "data"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data sets at {DATA}"),
]

SPARSE_AND_DENSE = ["lp", "elasticnet"]
MARGIN = 0.05  # of accuracy: three of sixty test samples


def breast_tcga():
    """Three kinds of molecules of 150 tumours of three subtypes."""
    folder = DATA / "breast_tcga"
    names = ("mrna", "mirna", "protein")
    views = {name: pd.read_csv(folder / f"train_{name}.csv", index_col=0) for name in names}
    return views, pd.read_csv(folder / "train_subtype.csv")["subtype"].to_numpy()


def mfeat():
    """Six descriptions of handwritten digits, the first thirty of each."""
    stored = loadmat(DATA / "mfeat" / "HW.mat")
    rows = np.concatenate([np.arange(200 * digit, 200 * digit + 30) for digit in range(10)])
    names = ("fac", "fou", "kar", "mor", "pix", "zer")
    views = {name: stored[f"X{i}"][rows].astype(float) for i, name in enumerate(names, 1)}
    return views, stored["Y"].ravel()[rows] - 1


def nutrimouse():
    """Genes and fatty acids of forty mice on five diets."""
    folder = DATA / "nutrimouse"
    views = {name: pd.read_csv(folder / f"{name}.csv") for name in ("gene", "lipid")}
    return views, pd.read_csv(folder / "diet.csv")["diet"].to_numpy()


def fit_and_score(views, y, regularizer):
    """A model of half of the samples and its accuracy on the others."""
    X = ViewBundle(views)
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=0, stratify=y)
    model = MKLClassifier(regularizer=regularizer).fit(X[train], y[train])
    return model, model.score(X[test], y[test])


def check_certificate(model):
    assert model.converged_
    assert 0 <= model.gap_ <= model.tol
    assert np.all(model.weights_ >= 0)


@pytest.mark.parametrize("regularizer", SPARSE_AND_DENSE)
@pytest.mark.parametrize("load", [breast_tcga, mfeat, nutrimouse], ids=lambda load: load.__name__)
def test_all_sources_are_about_as_good_as_the_best_one(load, regularizer):
    views, y = load()
    model, accuracy = fit_and_score(views, y, regularizer)
    check_certificate(model)
    singles = [fit_and_score({name: block}, y, regularizer)[1] for name, block in views.items()]
    assert accuracy >= max(singles) - MARGIN
    assert accuracy > np.mean(singles)  # not knowing which source to take is worse


@pytest.mark.parametrize("load", [breast_tcga, mfeat], ids=lambda load: load.__name__)
def test_a_source_of_noise_gets_next_to_nothing_from_the_block_norm(load):
    views, y = load()
    noise = np.random.default_rng(0).normal(size=(len(y), 50))
    model, accuracy = fit_and_score({**views, "noise": noise}, y, "lp")
    check_certificate(model)
    weight = model.kernel_table_.groupby("source")["weight"].sum()
    assert weight["noise"] <= 0.02 * weight.sum()
    assert accuracy >= fit_and_score(views, y, "lp")[1] - MARGIN


def test_the_decision_of_a_tumour_is_the_sum_of_its_sources():
    views, y = breast_tcga()
    X = ViewBundle(views)
    model = MKLClassifier().fit(X, y)
    shares = model.decision_contributions(X, by="source")
    assert shares.shape == (150, 3, 3)
    np.testing.assert_allclose(
        shares.sum(axis=1) + model.intercept_, model.decision_function(X), atol=1e-10
    )


@pytest.mark.parametrize("regularizer", SPARSE_AND_DENSE)
def test_three_metals_from_place_and_other_metals(regularizer):
    """Outputs that share their weights, on a published split of 259 and 100 places."""
    train, test = (pd.read_csv(DATA / "jura" / f"jura_{part}.csv") for part in ("pred", "val"))
    outputs = ["Cd", "Co", "Cr"]
    mean, std = train[outputs].mean(), train[outputs].std()
    Y, Y_test = (((part[outputs] - mean) / std).to_numpy() for part in (train, test))

    def score(sources):
        model = MKLRegressor(sources, regularizer=regularizer, C=0.1).fit(train, Y)
        check_certificate(model)
        return model.score(test, Y_test)

    sources = {"place": ["Xloc", "Yloc"], "metals": ["Cu", "Ni", "Pb", "Zn"]}
    singles = [score({name: columns}) for name, columns in sources.items()]
    assert score(sources) >= max(singles)


@pytest.mark.parametrize("sharing", [None, 0.0, 0.5, 1.0])
def test_exam_scores_of_five_schools(sharing):
    stored = loadmat(DATA / "school" / "school.mat")
    Xs, ys = stored["X"].ravel()[:5], stored["Y"].ravel()[:5]
    y = np.concatenate([scores.ravel() for scores in ys]).astype(float)
    school = np.repeat(np.arange(5), [len(X) for X in Xs])
    X = np.column_stack([np.vstack(list(Xs)), school])
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.4, random_state=0, stratify=school
    )
    y = (y - y[train].mean()) / y[train].std()
    model = MultiTaskMKLRegressor("linear", task=28, sharing=sharing).fit(X[train], y[train])
    check_certificate(model)
    assert model.weights_.shape == (6, 1)
    if sharing is None:  # an ℓ₁ ball: the weights sum to one
        np.testing.assert_allclose(model.weights_.sum(), 1.0, rtol=1e-8)
    else:
        expected = [5 * (1 - sharing)] * 5 + [sharing]
        np.testing.assert_allclose(model.weights_[:, 0], expected, rtol=1e-8, atol=1e-12)
    assert model.score(X[test], y[test]) > 0.2


def test_low_rank_kernels_of_single_variables_are_certified():
    """Ionosphere: weights of zero used to leave no step that descends, at a gap of 0.58."""
    table = pd.read_csv(DATA / "ionosphere" / "ionosphere.data", header=None)
    X, y = table.iloc[:, :34].to_numpy(float), np.where(table[34] == "g", 1, -1)
    X = X[:, X.std(axis=0) > 0]
    train, _ = next(StratifiedShuffleSplit(1, train_size=245, random_state=3).split(X, y))
    X = (X[train] - X[train].mean(axis=0)) / X[train].std(axis=0)
    sources = {"all": slice(0, 33)} | {str(j): [j] for j in range(33)}
    sigma = np.array([0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20])
    families = [RBF((2 * sigma**2).tolist(), scale=None), Polynomial([1, 2, 3], scale=None)]
    kernels = KernelSet(sources, families, normalize="trace")
    model = MKLClassifier(
        kernels, loss="hinge", regularizer=LpNorm(p=1, form="ivanov"), C=100 / 245, tol=1e-2
    )
    assert model.fit(X, y[train]).converged_
