"""compare: the same folds for all, nothing from the held-out part, and an honest verdict."""

import itertools

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config, register_parallel_backend
from joblib.parallel import LokyBackend
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import (
    KernelBundle,
    KernelSet,
    MKLClassifier,
    MKLRegressor,
    Spectrum,
    ViewBundle,
    compare,
)
from multikernel import _running as running
from multikernel.comparison import MODELS, Setting
from multikernel.comparison.folds import inner_folds
from multikernel.comparison.tasks import Data

PLAIN = ["uniform sum", "MKL, elastic net"]
QUICK = {"models": PLAIN, "kernels": "linear"}
N = 60


def same_but_seconds(first, second):
    """Whether two comparisons have the same results."""
    a, b = ([r | {"seconds": 0.0} for r in result.results] for result in (first, second))
    return a == b


def draw(seed=0, n=N):
    """Three sources, of which the last is noise, and a number that the others predict."""
    rng = np.random.default_rng(seed)
    X = {name: rng.normal(size=(n, 3)) for name in ("rna", "mri", "useless")}
    y = X["rna"][:, 0] + X["mri"][:, 1] + 0.3 * rng.normal(size=n)
    return X, y


@pytest.fixture(scope="module")
def problem():
    return draw()


@pytest.fixture(scope="module")
def result(problem):
    return compare(*problem, **QUICK, cv=3)


def test_all_models_are_judged_on_the_same_folds(result):
    by_fold = {}
    for r in result.results:
        by_fold.setdefault(r["fold"], set()).add(tuple(r["test"]))
        assert len(r["test"]) == len(r["predictions"]) == r["n_test"] == N - r["n_train"]
    assert all(len(tests) == 1 for tests in by_fold.values())
    every = sorted(i for tests in by_fold.values() for i in next(iter(tests)))
    assert every == list(range(N))


def test_predictions_are_out_of_fold_and_give_the_score(result, problem):
    table = result.predictions()
    assert_array_equal(np.sort(table["sample"]), np.arange(N))
    for fold, part in table.groupby("fold"):
        y, f = problem[1][part["sample"]], part["prediction"]
        r2 = 1 - np.sum((y - f) ** 2) / np.sum((y - y.mean()) ** 2)
        assert_allclose(result.scores("MKL, elastic net")[fold], r2)


def test_nothing_of_the_held_out_part_enters_a_model():
    """Other numbers there: the same weights, parameters and predictions of its twin."""
    X, y = draw()
    train, test = np.arange(40), np.arange(40, N)
    folds = [(train, test), (test, train)]
    other = {name: np.array(block) for name, block in X.items()}
    target = y.copy()
    other["rna"][test[1:]] += 2.0  # the first held-out sample is the twin
    target[test[1:]] = target[test[1:]][::-1]
    one, two = (
        compare(*given, models=["MKL, lp", "concatenated, linear"], kernels="linear", cv=folds)
        for given in ((X, y), (other, target))
    )
    for a, b in zip(one.results, two.results, strict=True):
        if a["fold"] == 0:
            assert a["weights"] == b["weights"]
            assert a["chosen"] == b["chosen"]
            assert_allclose(a["predictions"][0], b["predictions"][0])
    assert one.results[0]["score"] != two.results[0]["score"]


def test_weights_and_shares_sum_to_one_and_the_useless_source_gets_least(result):
    shares = result.shares()
    assert_allclose(shares.sum(), 1.0)
    assert_allclose(result.weights().sum(), 1.0)
    assert shares.mean(axis=1).idxmin() == "useless"
    assert list(shares.index) == result.sources


def test_leaving_out_a_source_shows_what_it_is_worth(result):
    table = result.importance().set_index("source")
    assert table["drop"].idxmin() == "useless"
    assert table.loc["rna", "drop"] > 0.2 < table.loc["mri", "drop"]
    assert table["alone"].idxmin() == "useless"
    without = [r for r in result.results if r["role"] == "without" and r["source"] == "rna"]
    assert len(without) == 3
    assert set(without[0]["shares"]) == {"mri", "useless"}
    assert not any("without" in model for model in result.models)


def test_the_verdict_says_that_combining_helps_and_what_carries_it(result):
    first, _, third, *rest = result.verdict
    assert first.startswith("Combining sources helps:")
    assert "useless" in third.split(", ")[2]
    assert not rest


def test_the_verdict_says_plainly_that_learned_weights_do_not_beat_the_sum():
    """Every source is one noisy look at the same thing: their mean is the best there is."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=N)
    X = {name: truth[:, None] + rng.normal(size=(N, 1)) for name in "abcd"}
    verdict = compare(X, truth, **QUICK, cv=5, importance=False).verdict
    assert "do not clearly beat" in verdict[1] or "practically equal" in verdict[1]
    assert not any("Learned weights beat" in sentence for sentence in verdict)


def test_the_default_runs_every_model(problem):
    result = compare(*problem, cv=2, importance=False)
    assert set(MODELS) <= set(result.models)
    assert {f"{source} alone" for source in result.sources} <= set(result.models)
    assert len(result.results) == 2 * (len(MODELS) + 3)
    assert result.complete
    assert not result.failures
    assert result.frame()["score"].is_monotonic_decreasing


def test_classes(problem):
    y = np.array(["low", "mid", "high"])[np.digitize(problem[1], [-0.6, 0.6])]
    result = compare(problem[0], y, **QUICK, cv=2, importance=False)
    assert (result.task, result.scoring) == ("classification", "accuracy")
    row = result.results[-1]
    assert set(row["predictions"]) <= {"low", "mid", "high"}
    assert_allclose(np.sum(row["confidence"], axis=1), 1.0)
    assert np.mean(result.scores("MKL, elastic net")) > 0.5


def test_the_score_asked_for_chooses_the_parameters_too(problem):
    scoring = "neg_mean_absolute_error"
    result = compare(*problem, **QUICK, cv=2, importance=False, scoring=scoring)
    assert np.all(result.scores("uniform sum") < 0)
    assert MODELS["uniform sum"](Setting("regression", scoring, None, 4)).scoring == scoring


@pytest.mark.parametrize(("related", "p"), [(True, 0.2), (False, None)])
def test_permutations_tell_a_relation_from_none(related, p):
    X, y = draw()
    y = y if related else np.random.default_rng(3).normal(size=N)
    X = {"rna": X["rna"], "mri": X["mri"]}
    result = compare(X, y, **QUICK, cv=2, n_permutations=4)
    value = result.permutation_p_value
    assert value == p if related else value > 0.2
    assert "of 4 permutations of the samples (the smallest possible is 0.2)" in result.verdict[-1]


def test_permuted_samples_stay_in_their_groups(rng):
    X = ViewBundle({"a": np.arange(12)[:, None]})
    groups = np.array([0, 1, 2] * 4)
    data = Data(X, np.zeros(12), groups, [], "r2")
    order = data.shuffled(0).block("a").ravel()
    assert_array_equal(np.sort(order), np.arange(12))
    assert_array_equal(groups[order], groups)
    assert not np.array_equal(order, np.arange(12))
    assert not np.array_equal(order, data.shuffled(1).block("a").ravel())


def test_samples_that_lack_sources_count_where_they_can(problem):
    X, y = problem
    ids = [f"s{i}" for i in range(N)]
    tables = {
        "rna": pd.DataFrame(X["rna"], index=ids).iloc[:50],
        "mri": pd.DataFrame(X["mri"], index=ids).iloc[15:],
    }
    bundle = ViewBundle.align(tables)
    target = pd.Series(y, index=ids).sample(frac=1, random_state=0)  # in another order
    result = compare(bundle, target, models=["concatenated, linear"], cv=3)
    assert result.samples == {"rna": 50, "mri": 45}
    assert (result.n_samples, result.n_complete) == (N, 35)
    assert result.complete
    assert np.mean(result.scores("uniform sum")) > 0.2  # only if targets were matched by id


def test_groups_stay_together_in_outer_and_inner_folds(problem):
    X, y = problem
    groups = np.array([f"person {i % 15}" for i in range(N)])
    for cv in (GroupKFold(3), 3):
        result = compare(X, y, groups=groups, **QUICK, cv=cv, importance=False)
        for r in result.results:
            train = np.setdiff1d(np.arange(N), r["test"])
            assert not set(groups[train]) & set(groups[r["test"]])
    numbers = np.unique(groups, return_inverse=True)[1]
    train = np.arange(10, N)
    for inside, outside in inner_folds(3, y, numbers, train, "regression", 0):
        assert not set(numbers[train][inside]) & set(numbers[train][outside])


def test_inner_folds_are_no_more_than_samples_of_a_class():
    few = np.array([0, 0, 1, 1, 1, 1, 1, 1])
    assert inner_folds(3, few, None, np.arange(8), "classification", 0).n_splits == 2
    assert inner_folds(3, few, None, np.arange(8), "regression", 0).n_splits == 3
    assert inner_folds(9, few, None, np.arange(7), "regression", 0).n_splits == 3
    assert len(inner_folds(3, few, np.arange(8), np.arange(8), "classification", 0)) == 2
    assert len(inner_folds(3, few, np.arange(8), np.arange(8), "regression", 0)) == 3


def test_eight_samples_are_enough(rng):
    y = np.repeat(["no", "yes"], 4)
    X = {"a": rng.normal(size=(8, 2)) + 5 * (y == "yes")[:, None], "b": rng.normal(size=(8, 2))}
    for groups in (None, np.arange(8)):
        result = compare(X, y, groups=groups, **QUICK, cv=2)
        assert result.complete
        assert not result.failures
        assert result.constant == [0.5, 0.5]
    numbers = compare(X, np.arange(8) + 0.5, **QUICK, cv=3)
    assert numbers.complete
    assert not numbers.failures


def test_noise_is_no_better_than_a_constant(rng):
    X = {"a": rng.normal(size=(40, 3)), "b": rng.normal(size=(40, 3))}
    result = compare(X, rng.normal(size=40), **QUICK, cv=5, importance=False)
    assert "is no better than a constant prediction, which reaches -0." in result.verdict[0]
    assert sum(result.importance()["share"]) == pytest.approx(1.0)


def test_inner_folds_are_shuffled():
    """Else targets that come sorted would be extrapolated."""
    splitter = inner_folds(3, np.arange(30.0), None, np.arange(20), "regression", 0)
    inside, outside = next(splitter.split(np.zeros(20)))
    assert outside.max() > inside.min()
    assert not np.array_equal(outside, np.arange(len(outside)))


def test_repeats_split_anew(problem):
    result = compare(*problem, **QUICK, cv=2, repeats=2, importance=False)
    tests = {tuple(r["test"]) for r in result.results}
    assert (result.n_folds, len(tests)) == (4, 4)


class Counting(RegressorMixin, BaseEstimator):
    """Reads sources, since it has kernels; predicts the mean of one of them."""

    def __init__(self, kernels=None):
        self.kernels = kernels

    def fit(self, X, y):
        self.n_sources_ = len(X.names)
        return self

    def predict(self, X):
        return X.block("rna")[:, 0]


class Fails(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("the\n  engine is off")


def test_estimators_of_your_own(problem):
    own = {
        "forest": RandomForestRegressor(5, random_state=0),
        "search": GridSearchCV(MKLRegressor(), {"C": [0.1, 1.0]}, cv=2),
        "mine": Counting(),
    }
    result = compare(*problem, models=own, kernels="linear", cv=2, importance=False)
    assert result.complete
    assert {*own, *PLAIN} <= set(result.models)
    assert result.weights("search").shape == (12, 2)
    assert result._of("search")[0]["chosen"]["C"] in (0.1, 1.0)
    with pytest.raises(ValueError, match="'forest' has no kernel weights"):
        result.weights("forest")


def test_a_run_goes_on_with_its_models_in_another_order(problem, tmp_path):
    mine = {"mean": DummyRegressor(), "median": DummyRegressor(strategy="median")}
    options = {"kernels": "linear", "cv": 2, "importance": False, "store": tmp_path}
    first = compare(*problem, models=mine, **options)
    kept = set(tmp_path.iterdir())
    again = compare(*problem, models=dict(reversed(mine.items())), **options)
    assert set(tmp_path.iterdir()) == kept
    assert_array_equal(again.scores("median"), first.scores("median"))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_constant_source_is_useless_but_does_no_harm(rng, task):
    a = rng.normal(size=(40, 2))
    y = a[:, 0] if task == "regression" else np.where(a[:, 0] > 0, "u", "v")
    result = compare({"a": a, "c": np.ones((40, 2))}, y, models=[], cv=2, task=task)
    assert result.failures == []
    assert set(result.models) == {"a alone", "c alone", *PLAIN}
    assert result.scores("uniform sum").mean() > result.scores("c alone").mean()


def test_a_model_that_fails_does_not_stop_the_others(problem):
    result = compare(*problem, models={"broken": Fails()}, kernels="linear", cv=2, importance=False)
    assert result.complete
    assert [f["fold"] for f in result.failures] == [0, 1]
    assert "broken failed on fold 0: RuntimeError: the engine is off" in result.verdict
    assert "preliminary" not in result.verdict[-1]
    assert set(PLAIN) <= set(result.models)


def test_precomputed_kernels_are_sources(problem):
    X, y = problem
    K = KernelBundle({name: block @ block.T for name, block in X.items()})
    result = compare(K, y, models=PLAIN, cv=2)
    table = result.importance().set_index("source")
    assert table["share"].idxmin() == table["drop"].idxmin() == "useless"
    linear = compare(X, y, **QUICK, cv=2, importance=False)
    assert np.mean(result.scores("rna alone")) > np.mean(result.scores("useless alone"))
    assert len(linear.weights()) == len(result.weights()) == 3


@pytest.mark.parametrize("as_set", [True, False])
def test_kernels_by_source(problem, as_set):
    X, y = problem
    X = {"rna": X["rna"], "dna": ["GATTACA"[i % 7 :] + "CAT" for i in range(N)], "no": X["mri"]}
    kernels = {"rna": [0, 1], "dna": (None, Spectrum())}
    kernels = KernelSet(kernels) if as_set else kernels
    result = compare(X, y, kernels=kernels, models="concatenated, linear", cv=2)
    assert result.sources == ["rna", "dna"]
    assert set(result.shares("rna alone").index) == {"rna"}
    assert result.complete


def test_workers_give_the_same(problem, result):
    assert same_but_seconds(compare(*problem, **QUICK, cv=3, n_jobs=2), result)


def test_a_time_budget_ends_it_early(problem, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(running.time, "monotonic", lambda: next(clock))
    result = compare(*problem, **QUICK, cv=2, time_budget=4.5)
    assert len(result.results) == 4
    assert not result.complete
    assert result.verdict[0].startswith("So far, on 1 of ")
    assert result.verdict[-1] == "Not every fold was done: these figures are preliminary."


def test_no_time_at_all_gives_an_empty_comparison(problem):
    result = compare(*problem, **QUICK, cv=2, time_budget=0)
    assert result.models == result.results == []
    assert len(result.frame()) == 0
    assert "Too little was done" in str(result)
    assert result.permutation_p_value is None
    with pytest.raises(ValueError, match=r"no result of 'MKL, elastic net'\. There are: none\."):
        result.shares()


class AllAtOnce(LokyBackend):
    """A backend that, as Ray's, answers when everything is done."""

    supports_return_generator = False


def test_backends_that_answer_all_at_once_will_do(problem, tmp_path):
    register_parallel_backend("all at once", AllAtOnce)
    done = []
    with parallel_config("all at once"):
        found = compare(
            *problem, **QUICK, cv=3, n_jobs=2, store=tmp_path, progress=lambda n, *_: done.append(n)
        )
    assert same_but_seconds(found, compare(*problem, **QUICK, cv=3))
    assert done == list(range(1, len(found.results) + 2))  # with the fit to all samples
    with parallel_config("all at once"):
        early = compare(*problem, **QUICK, cv=3, n_jobs=2, time_budget=1e-9)
    assert not early.results


@pytest.mark.parametrize(("last", "n_jobs"), [(1, None), (5, None), (9, None), (5, 2)])
def test_an_interrupt_leaves_what_was_done(problem, last, n_jobs):
    def progress(n_done, n_tasks, name):
        if n_done == last:
            raise KeyboardInterrupt

    partial = compare(*problem, **QUICK, cv=2, progress=progress, n_jobs=n_jobs)
    assert len(partial.results) == last
    assert not partial.complete
    assert "preliminary" in partial.verdict[-1]
    assert str(partial)
    assert len(partial.frame()) == len(partial.models)
    done = [np.isfinite(partial.scores(model)).sum() for model in partial.models]
    assert ("Models have done 1 to 2 of 2 folds" in partial.verdict[-1]) == (len(set(done)) > 1)


def test_progress_counts(problem):
    seen = []
    result = compare(*problem, **QUICK, cv=2, importance=False, progress=lambda *a: seen.append(a))
    assert [n for n, _, _ in seen] == list(range(1, 12))
    assert {n for _, n, _ in seen} == {11}
    fitted = [name for _, _, name in seen]
    assert fitted == [*(r["model"] for r in result.results), "MKL, elastic net on all samples"]


HOSTILE = ["a without b", "all of them", "<b>\n&", "../../etc", "été '\"{source}"]


def test_hostile_names(tmp_path):
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=(30, 1)) for name in HOSTILE}
    kernels = ["linear"]
    result = compare(X, sum(X.values()).ravel(), kernels=kernels, cv=2, store=tmp_path, models=[])
    assert result.complete
    assert set(result.models) == {f"{name} alone" for name in HOSTILE} | set(PLAIN)
    assert list(result.importance()["source"]) == HOSTILE
    assert np.isfinite(result.importance()["drop"]).all()
    assert list(result.samples) == HOSTILE
    assert all(path.parent == tmp_path and path.suffix == ".json" for path in tmp_path.rglob("*"))
    assert len(str(result).splitlines()) == 1 + len(result.models) + 1 + len(
        "\n".join(result.verdict).splitlines()
    )


X3, Y3 = draw(n=30)
LABELS = np.where(Y3 > 0, "yes", "no")
THREE = np.repeat(["a", "b", "c"], 10)
RARE = np.array(["a"] * 28 + ["b"] * 2)


@pytest.mark.parametrize(
    ("X", "y", "options", "kind", "message"),
    [
        ([np.eye(3), np.eye(3)], Y3, {}, TypeError, "KernelBundle.from_list"),
        (np.eye(30), Y3, {}, TypeError, "compare needs to know the sources"),
        (X3, Y3[:20], {}, ValueError, "There are 30 samples in the sources but 20 targets"),
        (X3, np.c_[Y3, Y3], {}, ValueError, r"one target per sample, got shape \(30, 2\)"),
        (X3, np.where(Y3 > 1, np.nan, Y3), {}, ValueError, "of 30 targets are missing"),
        (X3, [*LABELS[:29], None], {}, ValueError, "1 of 30 targets are missing"),
        (X3, [*LABELS[:29], 3], {"task": "regression"}, ValueError, "needs numbers"),
        (X3, np.array([*LABELS[:29], 3], dtype=object), {}, ValueError, "it mixes int and str"),
        (X3, np.ones(30), {}, ValueError, "nothing to predict"),
        (X3, Y3, {"groups": [1, 2]}, ValueError, "There are 30 samples but 2 groups"),
        (X3, Y3, {"groups": [1, 2] * 15}, ValueError, "There are 2 groups for 5 folds"),
        (X3, Y3, {"groups": [1, 2] * 15, "cv": 2}, ValueError, "samples of one group only"),
        (X3, Y3, {"groups": [None, "b"] * 15}, ValueError, "15 of 30 samples have no group"),
        (X3, None, {}, TypeError, "compare needs y"),
        (X3, Y3, {"task": "ranking"}, ValueError, "task must be"),
        (X3, Y3, {"task": "classification"}, ValueError, "fractional numbers"),
        (X3, LABELS, {"task": "regression"}, ValueError, "needs numbers; y holds labels"),
        (X3, Y3, {"cv": 1}, ValueError, "cv must be from 2 to 30"),
        (X3, Y3, {"cv": [(np.arange(20), np.arange(20, 30))]}, ValueError, "at least 2 folds"),
        (X3, Y3, {"cv": KFold(3), "repeats": 2}, ValueError, "repeats is for a number of folds"),
        (X3, Y3, {"repeats": 0}, ValueError, "repeats == 0"),
        (X3, RARE, {}, ValueError, "The class 'b' has 2 samples, fewer than the 5 folds"),
        (X3, RARE, {"cv": 2}, ValueError, "training part of fold 0 has 1 sample of the class 'b'"),
        (X3, RARE, {"cv": KFold(3)}, ValueError, "has 0 samples of the class 'b'"),
        (X3, Y3, {"cv": LeaveOneOut()}, ValueError, "'r2' is not defined on fold 0, with 1 sample"),
        (
            X3,
            np.sort(LABELS),
            {"cv": KFold(5), "scoring": "roc_auc"},
            ValueError,
            "'roc_auc' is not defined on fold 0, with 6 samples of one class",
        ),
        (X3, Y3, {"scoring": "acuracy"}, ValueError, "no score 'acuracy'; did you mean 'accuracy'"),
        (X3, Y3, {"scoring": max}, TypeError, "scoring must be the name of a score"),
        (X3, LABELS, {"scoring": "r2"}, ValueError, "The score 'r2' does not fit the targets"),
        (
            X3,
            THREE,
            {"scoring": "roc_auc"},
            ValueError,
            "classification: accuracy, .*, roc_auc_ovr, ",
        ),
        (X3, Y3, {"models": ["uniform"]}, ValueError, "'uniform'; did you mean 'uniform sum'"),
        (X3, Y3, {"models": ["zzz"]}, ValueError, "There are: uniform sum; MKL, elastic net; "),
        (X3, Y3, {"models": ["dna alone"]}, ValueError, "did you mean 'rna alone'"),
        (
            X3,
            LABELS,
            {"models": {"svm": MKLClassifier(loss="hinge")}, "scoring": "neg_log_loss"},
            TypeError,
            "'neg_log_loss' needs probabilities, which model 'svm' does not give",
        ),
        (X3, Y3, {"models": {"svm": SVC()}}, TypeError, "'svm' is not for regression: SVC"),
        (X3, Y3, {"models": {"z": StandardScaler()}}, TypeError, "'z' is not for regression"),
        (X3, Y3, {"models": {"z": Counting}}, TypeError, "'z' is not an estimator"),
        (X3, Y3, {"models": {"uniform sum": Counting()}}, ValueError, "called 'uniform sum'"),
        (X3, Y3, {"models": {"rna alone": Counting()}}, ValueError, "called 'rna alone'"),
        (X3, Y3, {"pipelines": {next(iter(X3)): None}}, ValueError, "use 'passthrough'"),
        (X3, Y3, {"pipelines": {"dna": StandardScaler()}}, ValueError, "names the sources 'dna'"),
        (X3 | {"t": pd.DataFrame({"sex": list("fm") * 15})}, Y3, {}, ValueError, "'t' has columns"),
        (X3 | {"t": ["GAT"] * 30}, Y3, {}, TypeError, "Source 't' holds strings"),
        (X3 | {"i": np.full((30, 1), np.inf)}, Y3, {}, ValueError, "'i' holds infinite values"),
        (X3 | {"i": np.full((30, 1), 1e200)}, Y3, {}, ValueError, "such as 1e.200, whose products"),
        (X3, Y3, {"kernels": {"dna": None}}, ValueError, "There is no view 'dna'"),
        (
            KernelBundle({"k": np.eye(30)}),
            Y3,
            {"pipelines": {"k": "passthrough"}},
            ValueError,
            "kernels already",
        ),
        (
            KernelBundle({"k": np.eye(30)}),
            Y3,
            {"models": {"forest": RandomForestRegressor()}},
            TypeError,
            "'forest' needs columns of numbers",
        ),
        (
            X3,
            np.repeat(np.arange(10.0) + 0.5, 3),
            {"groups": np.repeat(np.arange(10), 3), "n_permutations": 1},
            ValueError,
            "y is the same throughout each group",
        ),
        (X3, Y3, {"n_permutations": -1}, ValueError, "n_permutations == -1"),
        (X3, Y3, {"time_budget": -1}, ValueError, "time_budget == -1"),
        (X3, Y3, {"time_budget": np.nan}, ValueError, "number of seconds, or None .* got nan"),
        (X3, Y3, {"rope": np.nan}, ValueError, "rope must be finite, .* such as 0.01; got nan"),
        (X3, Y3, {"rope": np.inf}, ValueError, "rope must be finite, .* such as 0.01; got inf"),
        (X3, Y3, {"pipelines": 3}, TypeError, "pipelines must map names of sources .* got 3"),
        (X3, Y3, {"random_state": None}, TypeError, "must be an int, for a run .* got None: give"),
        (
            X3,
            Y3,
            {"random_state": np.random.RandomState(0)},
            TypeError,
            "random_state must be an int, for a run that resumes has to draw the same folds again",
        ),
        (X3, Y3, {"random_state": -1}, ValueError, "from 0 to 4294967295, got -1"),
        (X3, Y3, {"random_state": 2**32 - 1, "repeats": 2}, ValueError, "from 0 to 4294967294, "),
    ],
)
def test_mistakes_get_a_sentence(X, y, options, kind, message):
    with pytest.raises(kind, match=message):
        compare(X, y, **options)


def test_a_source_alone_may_be_named_among_the_models(problem):
    result = compare(*problem, models=["rna alone"], kernels="linear", cv=2, importance=False)
    assert set(result.models) == {*PLAIN, "rna alone", "mri alone", "useless alone"}


def test_the_start_of_every_fit_is_announced_before_its_end(problem, caplog):
    class Progress:
        def __init__(self):
            self.seen = []

        def __call__(self, n_done, n_tasks, name):
            self.seen.append(("done", n_done, name))

        def starting(self, n_done, n_tasks, name):
            self.seen.append(("start", n_done, name))

    progress = Progress()
    with caplog.at_level("INFO", logger="multikernel"):
        compare(*problem, **QUICK, cv=2, importance=False, progress=progress)
    first, second, *_ = progress.seen
    assert (first, second) == (("start", 0, "uniform sum"), ("done", 1, "uniform sum"))
    assert len(progress.seen) == 22
    assert "0 of 11 done, starting uniform sum" in caplog.messages


def test_what_the_verdict_needs_comes_first_and_the_dearest_last():
    names = list(MODELS)
    assert names[:2] == PLAIN
    assert names[-1] == "best single kernel"


def test_little_time_gives_a_verdict(problem, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(running.time, "monotonic", lambda: next(clock))
    result = compare(*problem, kernels="linear", cv=2, time_budget=2.5)
    assert result.models == PLAIN
    assert result.verdict[0].startswith("So far, on 1 of 2 folds: MKL, elastic net reaches ")
