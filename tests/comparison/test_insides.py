"""What is kept of a fit: certificates, contributions, permuted sources, scores where present."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import r2_score

from multikernel import KernelBundle, MKLClassifier, MKLRegressor, ViewBundle, compare
from multikernel.comparison.insides import (
    _permute_rows,
    describe_weights,
    permuted_drops,
    source_contributions,
    trace_shares,
)

MKL = "MKL, elastic net"
N = 60


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = {name: rng.normal(size=(N, 2)) for name in ("rna", "mri", "useless")}
    y = X["rna"][:, 0] + X["mri"][:, 1] + 0.2 * rng.normal(size=N)
    ids = [f"s{i}" for i in range(N)]
    return ViewBundle(X, present={"mri": rng.random(N) > 0.4}, ids=ids), y


@pytest.fixture(scope="module")
def result(problem):
    return compare(*problem, kernels="linear", models=["concatenated, linear"], cv=3)


def test_a_source_alone_is_judged_where_it_is(problem, result):
    X, y = problem
    has = X.has("mri")
    for r in result._of("mri alone"):
        assert has[r["test"]].all()
        assert_allclose(r["score"], r2_score(y[r["test"]], r["predictions"]))
    row = result.frame().set_index("model")
    assert row.loc["mri alone", "samples"] == has.sum() == result.samples["mri"]
    assert row.loc["rna alone", "samples"] == N
    assert "samples" in str(result).splitlines()[0]


def test_others_are_judged_there_too(problem, result):
    X, y = problem
    has = X.has("mri")
    for r in result._of(MKL):
        inside = has[r["test"]]
        kept, predictions = np.array(r["test"])[inside], np.array(r["predictions"])[inside]
        assert_allclose(r["scores_having"]["mri"], r2_score(y[kept], predictions))
        assert set(r["scores_having"]) == {"mri"}
    having = [r["scores_having"]["mri"] for r in result._of(MKL)]
    alone = result.scores("mri alone")
    assert_allclose(result.test(MKL, "mri alone").mean, np.mean(having) - alone.mean())


def test_coverage_is_not_taken_for_a_gain():
    """A source that some lack, and noise: where the source is, combining adds nothing."""
    rng = np.random.default_rng(0)
    n = 200
    X = {"good": rng.normal(size=(n, 1)), "proxy": rng.normal(size=(n, 1))}
    y = X["good"][:, 0] + 0.1 * rng.normal(size=n)
    has = rng.random(n) < 0.5
    X["proxy"][~has, 0] = y[~has]  # tells of those whom the other does not know
    bundle = ViewBundle(X, present={"good": has, "proxy": ~has | (rng.random(n) < 0.5)})
    verdict = compare(bundle, y, kernels="linear", models=[], cv=5).verdict[0]
    assert "for good alone" in verdict
    assert f"judged on the {has.sum()} samples that have it" in verdict
    assert not verdict.startswith("Combining sources helps")


def test_contributions_add_up_to_the_prediction(problem, result):
    parts = result.contributions()
    assert list(parts.columns) == result.sources
    assert parts.index.names == ["sample", "fold"]
    table = result.predictions().set_index(["sample", "fold"])
    constant = table["prediction"] - parts.sum(axis=1)
    assert_allclose(constant.groupby("fold").std(), 0.0, atol=1e-5)
    lacking = np.array(problem[0].ids)[~problem[0].has("mri")]
    assert (parts["mri"].loc[list(lacking)] == 0).all()
    assert result.contributions("uniform sum") is None


def test_contributions_of_classes(rng):
    X = ViewBundle({"a": rng.normal(size=(40, 2)), "b": rng.normal(size=(40, 2))})
    f = X.block("a")[:, 0]
    two = MKLClassifier("linear").fit(X, np.where(f > 0, "yes", "no"))
    kept = source_contributions(two, X)
    assert set(kept["classes"]) == {"yes"}
    sums = np.sum(kept["values"], axis=1) + kept["constant"]
    assert_allclose(sums, two.decision_function(X), 1e-4)
    y = np.array(["low", "mid", "top"])[np.digitize(f, [-0.5, 0.5])]
    three = MKLClassifier("linear", weights="per_class", loss="hinge").fit(X, y)
    kept, decisions = source_contributions(three, X), three.decision_function(X)
    assert kept["classes"] == three.predict(X).tolist()
    column = decisions.argmax(axis=1)
    sums = np.sum(kept["values"], axis=1) + kept["constant"]
    assert_allclose(kept["constant"], three.intercept_[column], rtol=1e-5)
    assert_allclose(sums, decisions.max(axis=1), atol=1e-4)
    weights = describe_weights(three)
    assert_allclose(np.sum(weights["class_weights"], axis=1), 1.0)
    assert np.shape(weights["class_weights"]) == (3, 2)
    assert describe_weights(two)["class_weights"] is None


@pytest.mark.parametrize("normalize", ["variance", "center", None])
@pytest.mark.parametrize("form", ["views", "factors", "grams"])
def test_shares_of_the_trace(problem, normalize, form):
    """By definition, from matrices that are computed here."""
    X, y = problem
    X, y = (X[:30], y[:30]) if form == "views" else (X, y)  # too few samples for factors
    scaled = {name: (k + 1) * X.block(name) for k, name in enumerate(X.names)}
    present = {"mri": X.has("mri")}
    if form == "grams":
        X = KernelBundle({name: Z @ Z.T for name, Z in scaled.items()}, X.ids, present=present)
    else:
        X = ViewBundle(scaled, present)
    kernels = None if form == "grams" else "linear"
    model = MKLRegressor(kernels, regularizer="uniform", normalize=normalize).fit(X, y)
    found = trace_shares(model, X)
    traces = {}
    for name, Z in scaled.items():
        Z = Z[X.has(name)]
        Z = Z if normalize is None else Z - Z.mean(axis=0)
        traces[name] = len(Z) if normalize == "variance" else np.sum(Z**2)
    total = sum(traces.values())
    assert_allclose(list(found["shares"].values()), [t / total for t in traces.values()])
    assert found["weights"] == list(found["shares"].values())  # one kernel of each source


def test_weights_by_class_have_a_table(problem):
    X, y = problem
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.6, 0.6])]
    own = {"each": MKLClassifier("linear", weights="per_class", loss="hinge")}
    result = compare(
        X.select(["rna"]), labels, models=own, kernels="linear", cv=2, time_budget=None
    )
    table = result.class_weights("each")
    assert table.index.names == ["class", "kernel"]
    assert table.shape == (3, 2)
    sums = table.groupby("class").sum()
    assert_allclose(sums.loc[["low", "top"]], 1.0)
    assert sums.loc["mid"].round(9).isin([0.0, 1.0]).all()  # no line tells the middle apart
    assert result.class_weights("uniform sum") is None


@pytest.mark.parametrize("precomputed", [False, True])
def test_permuted_rows_are_those_of_one_source(problem, precomputed, rng):
    X, y = problem
    if precomputed:
        grams = {name: X.block(name) @ X.block(name).T for name in X.names}
        X = KernelBundle(grams, X.ids, present={"mri": X.has("mri")})
    has = X.has("mri")
    moved = _permute_rows(X, "mri", rng)
    assert np.array_equal(moved.present, X.present)
    assert list(moved.ids) == list(X.ids)
    for name in ("rna", "useless"):
        assert np.array_equal(moved.block(name), X.block(name))
    before, after = X.block("mri"), moved.block("mri")
    assert np.array_equal(before[~has], after[~has])
    assert not np.array_equal(before[has], after[has])
    assert {tuple(row) for row in before[has]} == {tuple(row) for row in after[has]}
    model = MKLRegressor("precomputed" if precomputed else "linear").fit(X[:40], y[:40])
    test = X[40:]
    drops = permuted_drops(model, test, y[40:], "r2", r2_score(y[40:], model.predict(test)), 0)
    assert drops["rna"] > 0.3
    assert abs(drops["useless"]) < 0.1


def test_importance_puts_permuted_rows_next_to_the_weight(result):
    table = result.importance().set_index("source")
    assert list(table.columns) == ["share", "permuted", "alone", "drop", "p_value"]
    assert table["permuted"].idxmax() == "rna"
    assert abs(table.loc["useless", "permuted"]) < 0.1


def test_certificates_of_all_fits(result):
    table = result.certificates()
    assert len(table) == len(result.results)
    ours = table[table["model"] == MKL]
    assert (ours["gap"] <= 1e-4).all()
    assert ours["converged"].all()
    assert (ours["n_iter"] >= 1).all()
    assert ours["solver"].notna().all()
    assert table[table["model"] == "concatenated, linear"]["gap"].isna().all()


def test_predictions_of_classes_have_probabilities(problem):
    X, y = problem
    result = compare(X, y > 0, kernels="linear", models=[], cv=2, importance=False)
    table = result.predictions()
    assert list(table.columns) == ["sample", "fold", "target", "prediction", "p(False)", "p(True)"]
    assert_allclose(table["p(False)"] + table["p(True)"], 1.0)
    assert ((table["p(True)"] > 0.5) == table["prediction"]).all()
    assert result.contributions().index.names == ["sample", "fold", "class"]
