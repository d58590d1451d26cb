"""Model files: same predictions, only what they need, and no way to run code."""

import io
import json
import operator
import os
import pickle
import re
import warnings
import zipfile
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from helpers import instances, name_of
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix, identity
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import multikernel as mk
from multikernel import (
    _atomic,
    bayes,
    estimators,
    heuristics,
    interactions,
    kernels,
    likelihoods,
    load_model,
    losses,
    persistence,
    regularizers,
    save_model,
    solvers,
)
from multikernel.bayes import DoubleLoop
from multikernel.displays import ObjectiveContourDisplay
from multikernel.persistence import _archive, _versions, trusted_types
from multikernel.persistence._archive import Archive
from multikernel.persistence._forms import compact
from multikernel.persistence._slim import pack
from multikernel.persistence._trusted import CODE

RNG = np.random.default_rng(0)
N, NEW = 60, 15
X = np.abs(RNG.normal(size=(N, 6)))
Z = np.abs(RNG.normal(size=(NEW, 6)))
SIGNAL = X[:, 0] - X[:, 3] + 0.1 * RNG.normal(size=N)
LABELS = np.where(SIGNAL > 0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.5, 0.5])
TWO_OUTPUTS = np.column_stack([SIGNAL, X[:, 1]])
SOURCES = {"left": [0, 1, 2], "right": slice(3, 6)}
TASKS = np.arange(N) % 3
WORDS = ["".join(RNG.choice(list("ACGT"), size=12)) for _ in range(N + NEW)]
NAMES = [f"{part}_{i}" for part in ("rna", "mri") for i in range(3)]
TABLE, NEW_TABLE = pd.DataFrame(X, columns=NAMES), pd.DataFrame(Z, columns=NAMES)
BLOCKS = {"numbers": np.vstack([X, Z]), "words": WORDS}
VIEWS = mk.ViewBundle(BLOCKS)
WITH_TASK = mk.ViewBundle(BLOCKS | {"task": np.resize(["a", "b"], N + NEW)})
ALL = np.vstack([X, Z])
GRAMS = {"one": ALL[:, :3] @ ALL[:, :3].T, "two": np.exp(-np.abs(ALL[:, [4]] - ALL[:, 4]))}
BUNDLE = mk.KernelBundle(GRAMS, ids=[f"person {i}" for i in range(N + NEW)])
DISTANCES = mk.KernelBundle.from_distances({"far": np.abs(ALL[:, [4]] - ALL[:, 4])})
STACK = np.dstack(list(GRAMS.values()))
VIEW_KERNELS = {"numbers": (None, "rbf"), "words": (None, mk.Spectrum([1, 2]))}
SPARSE = {"loss": "hinge", "regularizer": mk.LpNorm(1.0), "C": 0.5}

# Every estimator, with arrays first, then settings and inputs of other forms.
CASES = {
    "classifier": (mk.MKLClassifier(SOURCES), X, LABELS, Z),
    "classifier, sparse": (mk.MKLClassifier(SOURCES, **SPARSE), X, LABELS, Z),
    "classifier, calibrated": (
        mk.MKLClassifier(
            SOURCES, loss="hinge", calibrate=True, random_state=np.random.RandomState(0)
        ),
        *(X, LABELS, Z),
    ),
    "classifier, per class": (mk.MKLClassifier(SOURCES, weights="per_class"), X, THREE, Z),
    "classifier, truth": (
        mk.MKLClassifier(SOURCES, class_weight={True: 2.0, False: 1.0}),
        *(X, SIGNAL > 0, Z),
    ),
    "classifier, no intercept": (
        mk.MKLClassifier(SOURCES, fit_intercept=False, normalize="cosine", dtype="float32"),
        *(X, THREE, Z),
    ),
    "classifier, Q": (
        mk.MKLClassifier(
            regularizer=mk.QNorm(mk.KernelAlignment() + mk.SourceBlocks()),
            solver=mk.NewtonWeights(),
        ),
        *(X, LABELS, Z),
    ),
    "classifier, csr": (mk.MKLClassifier("rbf"), csr_array(X), LABELS, csr_array(Z)),
    "classifier, table": (
        mk.MKLClassifier({"rna": "rna_*", "mri": TABLE.columns[3:], "all": make_column_selector()}),
        *(TABLE, LABELS, NEW_TABLE),
    ),
    "classifier, numbers of a table": (
        mk.MKLClassifier({"all": make_column_selector(dtype_include=np.number)}),
        *(TABLE, LABELS, NEW_TABLE),
    ),
    "classifier, views": (mk.MKLClassifier(VIEW_KERNELS), VIEWS[:N], LABELS, VIEWS[N:]),
    "classifier, bundle": (mk.MKLClassifier(), BUNDLE[:N], LABELS, BUNDLE[N:]),
    "classifier, distances": (mk.MKLClassifier(), DISTANCES[:N], LABELS, DISTANCES[N:]),
    "classifier, stack": (
        mk.MKLClassifier("precomputed"),
        *(STACK[:N, :N], LABELS, STACK[N:, :N]),
    ),
    "classifier, kernel set": (mk.MKLClassifier(mk.KernelSet(SOURCES)), X, LABELS, Z),
    "classifier, chosen": (
        mk.MKLClassifierCV(
            SOURCES,
            Cs=[0.1, 1.0],
            regularizer_grid={"l1_ratio": [0.2, 0.5]},
            cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        ),
        *(TABLE.to_numpy(), LABELS, Z),
    ),
    "regressor, chosen": (mk.MKLRegressorCV(SOURCES, Cs=2, cv=2), TABLE, SIGNAL, NEW_TABLE),
    "regressor": (mk.MKLRegressor(SOURCES), X, SIGNAL, Z),
    "regressor, factors": (
        mk.MKLRegressor({"a": [0], "b": [1]}, C=9.0),
        X[:, :2],
        SIGNAL,
        Z[:, :2],
    ),
    "regressor, outputs": (mk.MKLRegressor(SOURCES, loss="huber"), X, TWO_OUTPUTS, Z),
    "regressor, trace": (
        mk.MKLRegressor(
            [mk.SklearnKernel(2.0 * kernels.custom.gp.RationalQuadratic()), mk.Linear()],
            loss="epsilon_insensitive",
            normalize="trace",
        ),
        *(X, SIGNAL, Z),
    ),
    "tasks": (
        mk.MultiTaskMKLClassifier(SOURCES, task=6),
        *(np.c_[X, TASKS], LABELS, np.c_[Z, TASKS[:NEW]]),
    ),
    "tasks, views": (
        mk.MultiTaskMKLClassifier(VIEW_KERNELS, task="task", sharing=0.5),
        *(WITH_TASK[:N], THREE, WITH_TASK[N:]),
    ),
    "tasks, numbers": (
        mk.MultiTaskMKLRegressor(SOURCES, task="who"),
        *(TABLE.assign(who=TASKS), SIGNAL, NEW_TABLE.assign(who=TASKS[:NEW])),
    ),
    "machine": (mk.QSVC(), X, LABELS, Z),
    "machine, Q": (mk.QSVC(csr_matrix(identity(6)), C=0.3), TABLE, THREE, NEW_TABLE),
    "machine, numbers": (mk.QSVR(np.eye(6)), X, TWO_OUTPUTS, Z),
    "probabilistic": (mk.ProbabilisticMKLRegressor(SOURCES), X, SIGNAL, Z),
    "probabilistic, robust": (
        mk.ProbabilisticMKLRegressor(
            SOURCES, likelihood="laplace", objective="vb", hyper_prior="gamma", tol=1e-3
        ),
        *(TABLE.to_numpy(), TWO_OUTPUTS, Z),
    ),
    "probabilistic, mkl": (
        mk.ProbabilisticMKLRegressor(SOURCES, objective="mkl", fit_intercept=False),
        *(X, SIGNAL, Z),
    ),
    "probabilistic, bundle": (mk.ProbabilisticMKLRegressor(), BUNDLE[:N], SIGNAL, BUNDLE[N:]),
    "probabilistic, labels": (mk.ProbabilisticMKLClassifier(SOURCES, tol=1e-3), X, LABELS, Z),
    "probabilistic, views": (
        mk.ProbabilisticMKLClassifier(VIEW_KERNELS, weights="per_class", tol=1e-3),
        *(VIEWS[:N], THREE, VIEWS[N:]),
    ),
    "bayesian": (mk.BayesianMKLRegressor(SOURCES, tol=1e-4), X, SIGNAL, Z),
    "bayesian, outputs": (
        mk.BayesianMKLRegressor(
            SOURCES, outputs="shared_samples", inference="structured", priors={"alpha_omega": 0.5}
        ).set_params(tol=1e-3),
        *(TABLE, TWO_OUTPUTS, NEW_TABLE),
    ),
    "bayesian, pruned": (
        mk.BayesianMKLRegressor(SOURCES, sparsity="both", prune=True, tol=1e-4),
        *(X, SIGNAL, Z),
    ),
    "bayesian, labels": (mk.BayesianMKLClassifier(SOURCES, tol=1e-3), X, LABELS, Z),
    "bayesian, classes": (
        mk.BayesianMKLClassifier(VIEW_KERNELS, sample_precision="shared", tol=1e-3),
        *(VIEWS[:N], THREE, VIEWS[N:]),
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), mk.MKLClassifier(SOURCES, **SPARSE)),
        *(X, LABELS, Z),
    ),
    "pipeline, table": (
        make_pipeline(
            ColumnTransformer(
                [("log", FunctionTransformer(np.log1p), NAMES[:3])], remainder="passthrough"
            ),
            mk.ProbabilisticMKLRegressor(SOURCES),
        ),
        *(TABLE, SIGNAL, NEW_TABLE),
    ),
}
ANSWERS = {
    "predict": {},
    "predict with std": {"return_std": True},
    "predict_proba": {},
    "predict_log_proba": {},
    "predict_latent": {},
    "predict_latent with std": {"return_std": True},
    "predict_latent with cov": {"return_cov": True},
    "predict_interval": {},
    "predict_components": {},
    "sample_y": {"random_state": 3},
    "decision_function": {},
    "decision_contributions": {},
    "decision_contributions by source": {"by": "source"},
}


@pytest.fixture(scope="module")
def fitted():
    """Models by case, fitted when first asked for."""
    models = {}

    def fit(case):
        if case not in models:
            model, train, y, _ = CASES[case]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[case] = clone(model).fit(train, y)
        return models[case]

    return fit


def travel(model, folder):
    path = folder / "model.skops"
    save_model(model, path)
    return load_model(path)


def answers(model, queries):
    """All that a model says about queries, or why it says nothing."""
    out = {}
    for name, settings in ANSWERS.items():
        method = getattr(model, name.split()[0], None)
        if method is not None:
            try:
                out[name] = method(queries, **settings)
            except (TypeError, ValueError) as error:
                out[name] = str(error)
    return out


def assert_same(ours, theirs, where):
    if isinstance(ours, dict):
        assert list(ours) == list(theirs), where
        for key in ours:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(ours, list | tuple):
        assert type(ours) is type(theirs), where
        assert len(ours) == len(theirs), where
        for i, pair in enumerate(zip(ours, theirs, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif isinstance(ours, np.ndarray) and ours.dtype.kind == "f":
        assert_allclose(theirs, ours, rtol=1e-12, atol=1e-12, err_msg=where)
    elif isinstance(ours, np.ndarray | str | int | float | bool | None):
        assert type(ours) is type(theirs), where
        np.testing.assert_array_equal(ours, theirs, err_msg=where)


def test_every_estimator_has_a_case():
    ours = {type(model).__name__ for model, *_ in CASES.values()}
    kinds = {name for name in estimators.__all__ if hasattr(getattr(estimators, name), "predict")}
    assert kinds <= ours


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_model_says_the_same(case, fitted, tmp_path):
    model, queries = fitted(case), CASES[case][-1]
    again = travel(model, tmp_path)
    said = answers(model, queries)
    assert isinstance(said["predict"], np.ndarray)
    assert_same(said, answers(again, queries), case)
    assert repr(again) == repr(model) or "RandomState" in repr(model) or case.endswith("table")


@pytest.mark.parametrize("case", CASES)
def test_a_loaded_model_has_the_same_results(case, fitted, tmp_path):
    model, again = fitted(case), travel(fitted(case), tmp_path)
    if hasattr(model, "steps"):
        model, again = model[-1], again[-1]
    results = {k: v for k, v in vars(model).items() if k.endswith("_") and k != "problem_"}
    assert_same(results, {name: getattr(again, name) for name in results}, case)
    if hasattr(model, "kernel_table_"):
        pd.testing.assert_frame_equal(again.kernel_table_, model.kernel_table_, rtol=1e-12)


def test_saving_leaves_the_model_as_it_was(fitted, tmp_path):
    model = fitted("probabilistic")
    before = pickle.dumps(model)
    travel(model, tmp_path)
    assert pickle.dumps(model) == before
    assert hasattr(model, "problem_")


def test_a_loaded_model_can_be_cloned_fitted_and_saved_again(fitted, tmp_path):
    for case in ("classifier, table", "tasks, views"):
        _, train, y, queries = CASES[case]
        again = travel(travel(fitted(case), tmp_path), tmp_path)
        expected = fitted(case).decision_function(queries)
        assert_allclose(clone(again).fit(train, y).decision_function(queries), expected, rtol=1e-9)


@pytest.mark.parametrize("family", instances(kernels.KERNELS), ids=name_of)
@pytest.mark.parametrize("normalize", ["variance", "cosine", None])
def test_every_family_travels(family, normalize, tmp_path):
    if isinstance(family, CODE):
        pytest.skip("a function")
    if isinstance(family, mk.ExpDistance):
        train, queries = DISTANCES[:N], DISTANCES[N:]
        family = kernels.PrecomputedKernels(family, normalize=None)
    elif family.kind == "strings":
        train, queries = (mk.ViewBundle({"s": words}) for words in (WORDS[:N], WORDS[N:]))
    else:
        train, queries = X, Z
    model = mk.MKLRegressor(family, normalize=normalize).fit(train, SIGNAL)
    again = travel(model, tmp_path)
    assert_allclose(again.predict(queries), model.predict(queries), rtol=1e-12)


PARTS = [
    *instances(losses.LOSSES),
    *instances(likelihoods.LIKELIHOODS),
    *instances(regularizers.REGULARIZERS),
    *instances(solvers.SOLVERS),
    *instances(interactions.INTERACTIONS),
    *instances(heuristics.WEIGHT_RULES),
    *instances(bayes.METHODS),
    *instances(bayes.HYPER_PRIORS),
]


@pytest.mark.parametrize("part", PARTS, ids=name_of)
def test_every_registered_part_travels_unless_it_is_a_function(part):
    if isinstance(part, CODE):
        with pytest.raises(TypeError, match=r"functions of your own .* named regularizer"):
            Archive.of(part, "part")
        return
    archive = Archive.of(part, "part")
    assert archive.strange_types() == []
    assert repr(archive.read_model()) == repr(part)


@pytest.mark.parametrize("prior", [None, "gamma"])
def test_a_method_that_has_run_travels(prior, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    method = DoubleLoop()
    model = mk.ProbabilisticMKLClassifier(
        {"a": [0, 1], "b": [2, 3]}, method=method, hyper_prior=prior, tol=1e-3
    ).fit(X, X[:, 0] + X[:, 2] ** 2 > 0.7)
    mk.save_model(model, tmp_path / "model.skops")
    loaded = mk.load_model(tmp_path / "model.skops")
    assert_allclose(loaded.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_short_forms_give_back_what_they_got():
    names = np.array([["a", "ü\ud800"], ["", '"]']], dtype=object)
    plain = {"x": [1, 2.5, None, True, float("inf")], "y": {"z": "text"}}
    for value in (names, names[:0], plain, ["a"] * 9):
        short = compact(value)
        assert short is not value
        assert_same(value, short.restore(), "form")
    mixed = [1, (2, 3), 4, 5, 6]
    for value in (mixed, {1: 2.0}, [np.float32(1.0)] * 9, np.array([1, "a"], dtype=object)):
        assert compact(value) is value
    assert compact([*np.arange(3), *np.linspace(0, 1, 3)]).restore() == [0, 1, 2, 0.0, 0.5, 1.0]


# ---- what is stored


def parts_of(path):
    """The arrays in a file."""
    with zipfile.ZipFile(path) as file:
        names = [name for name in file.namelist() if name.endswith(".npy")]
        return [np.load(io.BytesIO(file.read(name))) for name in names]


def test_only_support_vectors_and_active_kernels_are_stored(tmp_path):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(200, 9))
    A[:, :3] += 3 * np.where(rng.random(200) < 0.5, -1, 1)[:, None]
    sources = {"a": [0, 1, 2], "b": [3, 4, 5], "c": [6, 7, 8]}
    model = mk.MKLClassifier(sources, **(SPARSE | {"C": 0.1})).fit(A, A[:, 0] > 0)
    active = set(model.kernel_table_.query("weight > 0")["source"])
    assert len(model.support_) < 100
    assert len(active) < 3
    save_model(model, tmp_path / "m")
    rows = {tuple(row) for part in parts_of(tmp_path / "m") if part.ndim == 2 for row in part}
    for i, sample in enumerate(A):
        for source, columns in sources.items():
            stored = tuple(sample[columns]) in rows
            assert stored == (i in model.support_ and source in active), (i, source)
    assert load_model(tmp_path / "m").kernels_.sources_in_use() == sorted(active)


def test_samples_without_weight_are_not_stored(tmp_path):
    weight = np.where(np.arange(N) < 10, 0.0, 1.0)
    model = mk.MKLRegressor("rbf").fit(X, SIGNAL, sample_weight=weight)
    save_model(model, tmp_path / "m")
    rows = {tuple(row) for part in parts_of(tmp_path / "m") if part.ndim == 2 for row in part}
    assert [tuple(x) in rows for x in X] == (weight > 0).tolist()
    assert_allclose(load_model(tmp_path / "m").predict(Z), model.predict(Z), rtol=1e-12)


def test_training_data_in_parameters_and_problems_stay_behind(tmp_path):
    model = mk.ProbabilisticMKLRegressor(mk.KernelSet(SOURCES).fit(X)).fit(X, SIGNAL)
    assert hasattr(model.kernels, "views_")
    assert not hasattr(travel(model, tmp_path).kernels, "views_")
    assert "problem_" not in vars(pack(model))


@pytest.mark.parametrize("case", CASES)
def test_no_gram_matrix_is_stored(case, fitted, tmp_path):
    save_model(fitted(case), tmp_path / "m")
    for part in parts_of(tmp_path / "m"):
        if part.ndim > 1 and min(part.shape[-2:]) >= N:
            assert "probabilistic" in case or "bayesian" in case or "pipeline" in case
            assert not np.triu(part, 1).any()  # a triangle
        assert part.size <= N**2


def test_a_slim_file_is_smaller_than_a_pickle_where_the_pickle_has_more(fitted, tmp_path):
    for case in ("probabilistic", "bayesian"):
        save_model(fitted(case), tmp_path / "m")
        assert (tmp_path / "m").stat().st_size < 0.8 * len(pickle.dumps(fitted(case)))


def test_what_needs_the_training_kernels_says_so(tmp_path):
    model = mk.ProbabilisticMKLRegressor({"a": (slice(0, 3), "rbf"), "b": (slice(3, 6), "rbf")})
    again = travel(model.fit(X, SIGNAL), tmp_path)
    with pytest.raises(ValueError, match="training kernels do not travel"):
        ObjectiveContourDisplay.from_estimator(again)
    small = travel(mk.MKLClassifier(SOURCES, **SPARSE).fit(X, LABELS), tmp_path)
    with pytest.raises(ValueError, match="needs all 60 training samples"):
        small.kernels_.grams()


# ---- what cannot travel


def overlap(A, B):
    return np.minimum(A[:, None], B).sum(axis=2)


def penalty(d):
    return d + d**2 / 2


UNABLE = {
    "a kernel": (mk.MKLRegressor([mk.Linear(), mk.FunctionKernel(overlap)]), "precomputed"),
    "a bare function": (mk.MKLRegressor(overlap), r"MKLRegressor\.kernels is <function overlap"),
    "columns": (mk.MKLRegressor({"a": lambda X: [0]}), r"MKLRegressor\.kernels\['a'\]"),
    "a regularizer": (
        mk.MKLRegressor(regularizer=mk.from_weight_penalty(penalty)),
        r"MKLRegressor\.regularizer is .*such as LpNorm",
    ),
    "a step": (
        make_pipeline(FunctionTransformer(partial(np.clip, a_min=0, a_max=9)), mk.QSVR()),
        r"Pipeline\.steps\[0\]\[1\]\.func is functools\.partial",
    ),
}


@pytest.mark.parametrize("case", UNABLE)
def test_functions_are_refused_at_the_door(case, tmp_path):
    model, expected = UNABLE[case]
    model.fit(X, SIGNAL)
    with pytest.raises(TypeError, match=expected) as caught:
        save_model(model, tmp_path / "model.skops")
    assert "functions of your own cannot travel" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


class Homemade(mk.MKLRegressor):
    pass


def test_types_that_would_not_load_are_refused_at_the_door(tmp_path):
    search = GridSearchCV(mk.MKLRegressor("linear"), {"C": [1.0, 2.0]}, cv=2)
    with pytest.raises(TypeError, match=r"MaskedArray.*search\.best_estimator_"):
        save_model(search.fit(X, SIGNAL), tmp_path / "m")
    with pytest.raises(TypeError, match=r"test_persistence\.Homemade"):
        save_model(Homemade("linear").fit(X, SIGNAL), tmp_path / "m")
    with pytest.raises(NotFittedError):
        save_model(mk.MKLRegressor(), tmp_path / "m")
    with pytest.raises(TypeError, match="needs a fitted estimator, got dict"):
        save_model({}, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# ---- what is refused


class Evil:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.fixture
def sentinel(tmp_path):
    """A file that is there only if code ran."""
    return tmp_path / "code-ran"


@pytest.fixture
def command(sentinel):
    return f"touch {sentinel}"


def sealed(data, **stamp):
    """A file as skops wrote it with a stamp as ours."""
    stamp = _versions.stamp(mk.QSVR()) | stamp
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a") as file:
        file.writestr("multikernel.json", json.dumps(stamp))
    return out.getvalue()


def edited(data, edit):
    """A file with another description."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, json.dumps(edit(json.loads(part))) if "schema" in name else part)
    return out.getvalue()


def refusal(data, folder):
    path = folder / "model.skops"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"^model\.skops ") as caught:
        load_model(path)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_a_pickle_is_never_opened(tmp_path, sentinel, command):
    data = pickle.dumps(Evil(command))
    for hostile in (data, pickle.dumps(mk.QSVR().fit(X, SIGNAL))):
        assert "is a pickle, which could run any code" in refusal(hostile, tmp_path)
    joblib.dump(Evil(command), tmp_path / "joblib", compress=True)
    refusal((tmp_path / "joblib").read_bytes(), tmp_path)
    assert not sentinel.exists()
    pickle.loads(data)  # the same bytes do run code where pickles are opened
    assert sentinel.exists()


HOSTILE = {
    "reduce": (Evil, "test_persistence.Evil"),
    "function": (lambda command: os.system, f"{os.name}.system"),
    "partial": (lambda command: partial(os.system, command), "functools.partial"),
    "methodcaller": (lambda c: operator.methodcaller("system", c), "operator.methodcaller"),
    "method": (lambda command: Path(command).unlink, "PosixPath"),
    "our function": (lambda command: overlap, "test_persistence.overlap"),
    "kernel": (lambda command: mk.FunctionKernel(os.system), f"{os.name}.system"),
    "ufunc kernel": (lambda command: mk.FunctionKernel(np.add), "FunctionKernel"),
    "penalty": (lambda command: regularizers.WeightPenalty(np.exp), "WeightPenalty"),
    "our module": (lambda command: mk.nearest_psd, "multikernel.kernels.repair.nearest_psd"),
    "type": (lambda command: {1: io.FileIO}, "io.FileIO"),
    "generator": (lambda command: np.random.default_rng(0), "Generator"),
    "subclass": (lambda command: Homemade(), "test_persistence.Homemade"),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("place", ["kernels", "random_state", "coef_"])
def test_hostile_types_are_named_and_not_made(kind, place, tmp_path, sentinel, command):
    make, name = HOSTILE[kind]
    model = mk.QSVR().fit(X, SIGNAL)
    setattr(model, place, make(command))
    message = refusal(sealed(skops.io.dumps(model)), tmp_path)
    assert name in message
    assert "nothing of it was loaded" in message
    assert not sentinel.exists()


def node(module, name, loader, **more):
    return {"__module__": module, "__class__": name, "__loader__": loader, "__id__": 7} | more


def text(value):
    return node("builtins", "str", "JsonNode", content=json.dumps(value), is_json=True, __id__=8)


def several(*nodes):
    return node("builtins", "tuple", "TupleNode", content=list(nodes), __id__=9)


def keyed(command):
    """A dict whose keys are made by calling a function on a text."""
    kinds = node(
        *("builtins", "list", "ListNode"),
        content=[node("posix", "system", "TypeNode")],
        __id__=11,
    )
    return node("builtins", "dict", "DictNode", key_types=kinds, content={command: text(1)})


CRAFTED = {
    "constructor": lambda c: node(
        "subprocess", "Popen", "ConstructorFromReduceNode", content=several(text(["sh", "-c", c]))
    ),
    "our constructor": lambda c: node(
        "multikernel.kernels.kernel_set",
        "KernelSet",
        "ConstructorFromReduceNode",
        content=several(text(c)),
    ),
    "list": lambda c: node("posix", "system", "ListNode", content=[text(c)]),
    "key": keyed,
    "loss": lambda c: node(
        "posix", "system", "LossNode", __reduce__={"args": several(text(c))}, content=several()
    ),
    "tree": lambda c: node(
        "sklearn.tree._tree", "Tree", "TreeNode", __reduce__={"args": several()}, content=several()
    ),
    "object": lambda c: node("os", "system", "ObjectNode"),
    "unknown loader": lambda c: node("posix", "system", "SomethingNew", content=text(c)),
    "array": lambda c: node(
        "posix", "system", "NdArrayNode", type="json", content=[text(c)], shape=several(text(1))
    ),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_crafted_descriptions_are_refused(kind, tmp_path, sentinel, command):
    hostile = CRAFTED[kind](command)

    def edit(schema):
        schema["content"]["content"]["coef_"] = hostile
        return schema

    data = edited(sealed(skops.io.dumps(mk.QSVR().fit(X, SIGNAL))), edit)
    names = [hostile["__class__"]] if kind != "key" else ["posix.system"]
    assert all(name in refusal(data, tmp_path) for name in names)
    assert not sentinel.exists()


def test_an_older_protocol_does_not_weaken_the_checks(tmp_path, sentinel):
    """In it a function is named in a place of its own, beside an innocent type."""

    def edit(schema):
        schema["protocol"] = 0
        schema["content"]["content"]["coef_"] = node(
            *("numpy", "log", "FunctionNode"),
            content={"module_path": "posix", "function": "system"},
        )
        return schema

    data = edited(sealed(skops.io.dumps(mk.QSVR().fit(X, SIGNAL))), edit)
    assert "not one that skops writes today" in refusal(data, tmp_path)


def test_arrays_of_pickles_are_refused(tmp_path, sentinel, command):
    payload = io.BytesIO()
    np.save(payload, np.array([Evil(command)], dtype=object), allow_pickle=True)
    data, out = sealed(skops.io.dumps(mk.QSVR().fit(X, SIGNAL))), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, payload.getvalue() if name.endswith(".npy") else old.read(name))
    said = refusal(out.getvalue(), tmp_path)
    assert said.endswith(
        "is damaged: one of its arrays is not one, or is a pickle, which is never opened."
    )
    assert not sentinel.exists()


def test_trust_is_by_class_and_never_in_functions():
    names = trusted_types()
    assert not {name for name in names if name.endswith(("*", "."))}
    for name in names:
        module, _, attribute = name.rpartition(".")
        part = getattr(__import__(module, fromlist=["x"]), attribute)
        assert isinstance(part, type), name
        assert part not in CODE


def good_file():
    return Archive.of(mk.MKLClassifier(SOURCES).fit(X, LABELS), "m").data


def test_a_stamp_that_is_no_table_is_refused(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good_file())) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"[]" if name == "multikernel.json" else old.read(name))
    assert refusal(out.getvalue(), tmp_path).endswith("its stamp is not one of multikernel.")


def test_damaged_files_are_refused_in_one_sentence(tmp_path):
    data = good_file()
    for cut in (0, 1, 10, len(data) // 2, len(data) - 30, len(data) - 1):
        assert "damaged" in refusal(data[:cut], tmp_path)
    sentence = "damaged: it is no archive, was cut short, or holds changed bytes."
    assert sentence in refusal(data[:500], tmp_path)
    middle = data.index(b"schema.json") + 60  # within what is compressed
    changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    assert sentence in refusal(changed, tmp_path)
    noise = np.random.default_rng(0).bytes(5000)
    assert "damaged" in refusal(b"PK\x03\x04" + noise, tmp_path)
    assert "damaged" in refusal(b"x" + noise, tmp_path)
    assert "save_model did not write it" in refusal(skops.io.dumps([1]), tmp_path)
    assert "holds a list instead of a model" in refusal(sealed(skops.io.dumps([1])), tmp_path)


def test_flipped_bytes_never_do_more_than_a_refusal(tmp_path):
    """A byte may lie where nothing depends on it; then the model is the same."""
    data, rng = good_file(), np.random.default_rng(0)
    expected = mk.MKLClassifier(SOURCES).fit(X, LABELS).decision_function(Z)
    refused = 0
    for position in rng.integers(len(data), size=80):
        broken = bytearray(data)
        broken[position] ^= 1 << int(rng.integers(8))
        (tmp_path / "m").write_bytes(broken)
        try:
            assert_allclose(load_model(tmp_path / "m").decision_function(Z), expected, rtol=1e-12)
        except ValueError as error:
            refused += 1
            assert str(error).startswith("m ")  # noqa: PT017
    assert refused > 40


def test_bombs_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    out = io.BytesIO(good_file())
    with zipfile.ZipFile(out, "a", compression=zipfile.ZIP_DEFLATED) as file:
        file.writestr("more.npy", bytes(_archive._LARGE + 1))
    assert len(out.getvalue()) < 1e6
    assert re.search(r"claims to unpack to 67\.\d MB", refusal(out.getvalue(), tmp_path))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", compression=zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.npy", bytes(_archive._LARGE + 1))
    out = io.BytesIO(good_file())
    with zipfile.ZipFile(out, "a") as file:
        file.writestr("sparse.npz", inner.getvalue())
    assert "claims to unpack" in refusal(out.getvalue(), tmp_path)
    nested = io.BytesIO()
    with zipfile.ZipFile(nested, "w") as file:
        file.writestr("more.npz", b"")
    out = io.BytesIO(good_file())
    with zipfile.ZipFile(out, "a") as file:
        file.writestr("sparse.npz", nested.getvalue())
    assert "archive inside an archive" in refusal(out.getvalue(), tmp_path)
    monkeypatch.setattr(_archive, "available_memory", lambda: 1000.0)
    (tmp_path / "m").write_bytes(good_file())
    with pytest.raises(MemoryError, match=r"m unpacks to .* kB, but 1 kB are free"):
        load_model(tmp_path / "m")


# ---- versions


def with_stamp(data, **changes):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "multikernel.json":
                part = json.dumps(json.loads(part) | changes)
            new.writestr(name, part)
    return out.getvalue()


def test_a_newer_format_is_refused_with_both_versions(tmp_path):
    versions = _versions.current_versions() | {"multikernel": "9.8.7"}
    message = refusal(with_stamp(good_file(), format=2, versions=versions), tmp_path)
    assert "format 2 of multikernel 9.8.7" in message
    assert f"multikernel {_versions.current_versions()['multikernel']} reads" in message


@pytest.mark.parametrize("package", ["multikernel", "scikit-learn", "numpy"])
def test_other_versions_are_said_in_one_warning(package, tmp_path):
    versions = _versions.current_versions() | {package: "0.0.1"}
    (tmp_path / "m").write_bytes(with_stamp(good_file(), versions=versions))
    expected = f"saved with {package} 0.0.1 and is loaded with {package} "
    with pytest.warns(UserWarning, match=expected) as caught:
        load_model(tmp_path / "m")
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_scikit_learn_does_not_warn_a_second_time(tmp_path):
    def edit(schema):
        schema["content"]["content"]["steps"]["content"][0]["content"][1]["content"]["content"][
            "_sklearn_version"
        ] = text("1.0")
        return schema

    model = make_pipeline(StandardScaler(), mk.QSVR()).fit(X, SIGNAL)
    (tmp_path / "m").write_bytes(edited(Archive.of(model, "m").data, edit))
    load_model(tmp_path / "m")


@pytest.mark.parametrize("stamp", [{"format": "one"}, {"versions": None}, {"format": True}])
def test_a_strange_stamp_is_refused(stamp, tmp_path):
    assert "stamp" in refusal(with_stamp(good_file(), **stamp), tmp_path)


# ---- files


def test_an_older_file_survives_a_failure(tmp_path, monkeypatch, fitted):
    path = tmp_path / "model.skops"
    save_model(fitted("machine"), path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"Could not write .*No space left on device; nothing was"):
        save_model(fitted("classifier"), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch, fitted):
    path, link = tmp_path / "model.skops", tmp_path / "latest.skops"
    path.write_bytes(b"old")
    link.symlink_to(path)
    seen = []
    replace = os.replace

    def watched(source, target):
        seen.append(
            (Path(source).parent, Path(target).read_bytes(), len(Path(source).read_bytes()))
        )
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    save_model(fitted("machine"), str(link))
    assert seen == [(tmp_path, b"old", path.stat().st_size)]
    assert link.is_symlink()
    assert load_model(link).predict(Z).shape == (NEW,)


def test_paths_that_cannot_be_written_are_said_clearly(tmp_path, monkeypatch, fitted):
    model = fitted("machine")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        save_model(model, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="is a device or a pipe; name a file"):
        save_model(model, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "pipe").unlink()
    with pytest.raises(FileNotFoundError, match=r"The folder .*nowhere does not exist"):
        save_model(model, tmp_path / "nowhere" / "m")

    def denied(path, data):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_atomic, "_write", denied)  # root may write everywhere
    with pytest.raises(PermissionError, match=r"Could not write .*: Permission denied"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_paths_that_cannot_be_read_are_said_clearly(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load_model(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_model(tmp_path / "m")


def test_without_skops_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    for call in (lambda: load_model(tmp_path / "m"), lambda: save_model(mk.QSVR(), tmp_path)):
        with pytest.raises(ImportError, match=r"multikernel\[persistence\]"):
            call()


def test_the_names_are_public():
    assert {"save_model", "load_model", "persistence"} <= set(dir(mk))
    assert mk.save_model is persistence.save_model
