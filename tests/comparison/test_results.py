"""Comparison: tables, tests and sentences from made-up results."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multikernel.comparison import Comparison, corrected_t_test, practical_equivalence
from multikernel.comparison.tables import source_rows

SUM, MKL = "uniform sum", "MKL, elastic net"


def entry(model, fold, score, role="model", source=None, seed=None, shares=None, warning=None):
    return {
        "model": model,
        "role": role,
        "source": source,
        "fold": fold,
        "seed": seed,
        "score": score,
        "seconds": 0.5,
        "n_train": 80,
        "n_test": 20,
        "test": [2 * fold, 2 * fold + 1],
        "predictions": ["a", "b"],
        "confidence": None,
        "scores_having": {},
        "permuted": None,
        "contributions": None,
        "class_weights": None,
        "trace": None,
        "solver": None,
        "reason": "",
        "gap": None,
        "converged": None,
        "n_iter": None,
        "warnings": [] if warning is None else [warning],
        "weights": None if shares is None else list(shares.values()),
        "kernels": None if shares is None else [f"{name}/linear" for name in shares],
        "shares": shares,
        "n_active": None if shares is None else sum(v > 0 for v in shares.values()),
        "chosen": {},
    }


def make(scores, complete=True, **options):
    """Results of models by fold, from {name: scores}; 'x alone' and 'without x' have their role."""
    results = []
    for name, values in scores.items():
        role = "alone" if name.endswith(" alone") else "model"
        role = "without" if name.startswith("without ") else role
        source = {"alone": name[:-6], "without": name[8:]}.get(role)
        shares = {"x": 0.75, "y": 0.25} if role == "model" else None
        results += [entry(name, k, s, role, source, None, shares) for k, s in enumerate(values)]
    n_folds = max(len(values) for values in scores.values())
    return Comparison(
        task="classification",
        scoring="accuracy",
        sources=["x", "y"],
        samples={"x": 100, "y": 90},
        n_samples=100,
        n_complete=90,
        n_folds=n_folds,
        results=results,
        complete=complete,
        ids=[f"s{i}" for i in range(100)],
        targets=["a", "b"] * 50,
        **options,
    )


BASE = np.array([0.80, 0.82, 0.78, 0.81, 0.79])
NOISE = np.array([0.002, -0.003, 0.001, 0.0, -0.001])


def test_the_tests_are_those_of_the_scores():
    result = make({SUM: BASE, MKL: BASE + 0.05 + NOISE})
    differences = result.scores(MKL) - result.scores(SUM)
    assert result.test(MKL, SUM) == corrected_t_test(differences, 80, 20)
    assert result.equivalence(MKL, SUM) == practical_equivalence(differences, 80, 20, rope=0.01)
    row = result.frame().set_index("model").loc[MKL]
    assert_allclose(row["difference"], differences.mean())
    assert_allclose(row["worse"] + row["same"] + row["better"], 1.0)
    assert np.isnan(result.frame().set_index("model").loc[SUM, "difference"])


def test_only_folds_that_both_did_are_compared():
    result = make({SUM: BASE, MKL: BASE[:3] + 0.05 + NOISE[:3]}, complete=False)
    assert_allclose(result.test(MKL, SUM).mean, (0.05 + NOISE[:3]).mean())
    assert np.isnan(result.scores(MKL)[3:]).all()


@pytest.mark.parametrize(
    ("shift", "spread", "sentence"),
    [
        (0.05, 1, "Learned weights beat the uniform sum ("),
        (-0.05, 1, "Learned weights do worse than the uniform sum here"),
        (0.0, 1, "Learned weights and the uniform sum are practically equal here"),
        (0.02, 20, "Learned weights do not clearly beat the uniform sum here"),
    ],
)
def test_what_is_said_of_learned_weights(shift, spread, sentence):
    result = make({SUM: BASE, MKL: BASE + shift + spread * NOISE})
    assert result.verdict[1].startswith(sentence)


@pytest.mark.parametrize(
    ("shift", "spread", "sentence", "chance"),
    [
        (
            0.05,
            1,
            "Combining sources helps: 0.850 with MKL, elastic net, against 0.800 for x alone",
            "better",
        ),
        (0.05, 8, "Combining sources helps:", "better"),
        (-0.05, 1, "Combining sources hurts:", "worse"),
        (0.0, 1, "Combining sources makes no practical difference:", "same"),
        (0.02, 20, "It is not clear that combining sources helps:", "better"),
        (-0.02, 20, "Combining sources does not seem to help:", "better"),
    ],
)
def test_what_is_said_of_combining(shift, spread, sentence, chance):
    scores = {MKL: BASE + shift + spread * NOISE, "x alone": BASE, "y alone": BASE - 0.3}
    result = make(scores)
    assert result.verdict[0].startswith(sentence)
    p = getattr(result.equivalence(MKL, "x alone"), chance)
    said = "above 0.99" if p > 0.99 else f"{p:.2f}"
    kind = "equal within 0.01" if chance == "same" else chance
    assert f"; {kind} with probability {said}" in result.verdict[0]


def test_ties_on_every_fold_are_said_to_give_no_interval():
    said = make({SUM: BASE, MKL: BASE}).verdict[1]
    assert "difference +0.000 on every fold, which gives no interval" in said
    assert "95 %" not in said


def test_few_folds_are_said_to_say_little():
    assert "fewer than 5 folds" in make({SUM: BASE[:3], MKL: BASE[:3] + 0.05}).verdict[1]


def test_what_is_said_of_sources():
    scores = {MKL: BASE, "without x": BASE - 0.1 + NOISE, "without y": BASE + 0.01}
    result = make(scores)
    p = source_rows(result)[0]["p_value"]
    expected = f"Weight goes to x 75%, y 25%; leaving out x costs most (0.100, p = {p:.2g})."
    assert result.verdict[1] == expected
    few = make({model: values[:4] for model, values in scores.items()})
    assert few.verdict[1].endswith("; fewer than 5 folds say little about it).")
    cheap = make(scores | {"without x": BASE + 0.01})
    assert cheap.verdict[1].endswith("leaving out any one source costs nothing.")
    table = result.importance().set_index("source")
    assert_allclose(table["drop"], [0.1002, -0.01])
    assert np.isnan(table["alone"]).all()


def test_folds_with_nearly_uniform_weights_are_counted():
    result = make({SUM: [0.8, 0.7], MKL: [0.9, 0.8]})
    result._of(MKL)[1]["weights"][:] = [0.51, 0.49]
    assert (
        "On 1 of 2 folds the chosen penalty leaves the weights nearly uniform: there they say "
        "little about sources."
    ) in result.verdict


def test_more_kernels_than_samples_are_remarked():
    result = make({SUM: [0.8, 0.7], MKL: [0.9, 0.8]})
    sentence = (
        "2 kernels were weighted on 1 training sample: single weights are not identifiable; those "
        "of sources and the uniform sum say more."
    )
    for n_train, many in [((80, 80), False), ((2, 2), False), ((80, 1), False), ((1, 1), True)]:
        for record, n in zip(result._of(MKL), n_train, strict=True):
            record["n_train"] = n
        assert (sentence in result.verdict) == many


def test_folds_on_which_no_kernel_got_a_weight_are_counted_and_not_averaged():
    result = make({SUM: [0.8, 0.7, 0.7], MKL: [0.9, 0.8, 0.8]})
    without = "On 2 of 3 folds no kernel got a weight."
    assert without not in result.verdict
    for record in result._of(MKL)[1:]:
        record["weights"][:], record["shares"] = [0.0, 0.0], {"x": 0.0, "y": 0.0}
    assert without in result.verdict
    assert "Weight goes to x 75%, y 25%." in result.verdict
    result._of(MKL)[0]["weights"][:] = [0.0, 0.0]
    assert "No kernel got a weight on any fold, so no source can be said to matter." in (
        result.verdict
    )
    assert not any("Weight goes to" in sentence for sentence in result.verdict)


@pytest.mark.parametrize(
    ("constant", "sentence"),
    [
        ([0.9, 0.8, 0.88], f"{MKL} is no better than a constant prediction, which reaches 0.860."),
        ([0.9, 0.8, 0.82], f"{MKL} is not clearly better than a constant prediction, which "
        "reaches 0.840 (better with probability 0.74; fewer than 5 folds say little about it)."),
        ([0.3, 0.3, 0.3], None),
    ],
)  # fmt: skip
def test_a_model_that_is_no_better_than_a_constant_is_said_to_be(constant, sentence):
    result = make({SUM: [0.9, 0.8, 0.8], MKL: [0.9, 0.8, 0.85]}, constant=constant)
    if sentence is None:
        assert not any("constant" in said for said in result.verdict)
    else:
        assert result.verdict[0].startswith(sentence)
    tiny = make({SUM: BASE, MKL: BASE + 0.005 + NOISE / 10}, constant=BASE.tolist())
    assert not any("constant" in said for said in tiny.verdict)  # beyond doubt, if within the rope
    half = replace(result, n_folds=6, constant=[*constant, 0.0, 0.0, 0.0], complete=False)
    prefix = "So far, on 3 of 6 folds: "
    assert half.verdict[0].removeprefix(prefix) == result.verdict[0]


def test_stability_counts_how_often_a_kernel_is_used():
    result = make({MKL: [0.8, 0.9]})
    result.results[1] |= {"weights": [1.0, 0.0]}
    table = result.stability()
    assert_allclose(table["selected"], [1.0, 0.5])
    assert_allclose(table["mean"], [0.875, 0.125])


def test_the_permutation_p_value_counts_whole_permutations():
    result = make({MKL: [0.8, 0.8]})
    for seed, scores in enumerate([[0.5, 0.6], [0.9, 0.8], [0.7, 0.9], [0.9]]):
        result.results.extend(
            entry(MKL, k, s, "permutation", seed=seed) for k, s in enumerate(scores)
        )
    assert result.permutation_p_value == (1 + 2) / (1 + 3)
    assert result.models == [MKL]
    assert_allclose(result.scores(MKL), 0.8)


def test_a_round_trip_through_a_file(tmp_path):
    failures = [{"model": "m", "fold": 0, "error": "ä"}]
    result = make({SUM: BASE, MKL: BASE + 0.1 / 3}, failures=failures, plan={"data": "x"})
    assert Comparison.load(result.save(tmp_path / "result.json")) == result


def test_the_table_in_print():
    result = make({SUM: BASE, MKL: BASE + 0.05 + NOISE, "x alone": BASE - 0.2})
    lines = str(result).splitlines()
    assert lines[0].split() == ["model", "accuracy", "kernels", "seconds", "to", "uniform", "p"]
    assert lines[1].startswith("MKL, elastic net  0.850 ± 0.0")
    assert lines[1].endswith("<0.01")
    assert lines[2].rstrip() == lines[2]
    assert lines[4:] == ["", *result.verdict]
    partial = str(make({SUM: BASE, MKL: BASE[:2]})).splitlines()
    assert partial[0].split()[:5] == ["model", "accuracy", "folds", "samples", "kernels"]
    folds = {line.split("  ")[0]: line.partition("±")[2].split()[1] for line in partial[1:3]}
    assert folds == {SUM: "5", MKL: "2"}


def test_failures_and_warnings_are_told():
    failures = [{"model": f"m{k}", "fold": 0, "error": "no."} for k in range(6)]
    result = make({MKL: BASE}, failures=failures, complete=False)
    result.results.append(entry("m", 0, 0.5, warning="slow"))
    assert "m0 failed on fold 0: no." in result.verdict
    assert "2 more fits failed, see failures." in result.verdict
    assert result.warnings == {"m": ["slow"]}


def test_unknown_models_are_named():
    with pytest.raises(ValueError, match=r"no result of 'svm'\. There are: uniform sum; MKL, elas"):
        make({SUM: BASE, MKL: BASE}).scores("svm")
    with pytest.raises(ValueError, match="did you mean 'uniform sum'"):
        make({SUM: BASE}).weights("uniform sun")


def test_predictions_name_samples_and_targets():
    table = make({MKL: BASE[:2]}).predictions()
    assert table["sample"].tolist() == ["s0", "s1", "s2", "s3"]
    assert table["target"].tolist() == ["a", "b", "a", "b"]
    assert table["prediction"].tolist() == ["a", "b", "a", "b"]


def test_a_source_alone_and_the_combination_are_compared_on_the_same_samples():
    """Overall the combination is better, since it covers more; where both can tell, it is not."""
    scores = {SUM: BASE + 0.1, MKL: BASE + 0.1, "y alone": BASE}
    result = make(scores)
    result._of("y alone")[0] |= {"test": [0], "predictions": ["a"]}  # of ten in all
    for k, entries in enumerate(result._of(name) for name in (SUM, MKL)):
        for r in entries:
            shift = 0.1 + 0.001 * k + 0.1 * NOISE[r["fold"]]
            r["scores_having"] = {"y": r["score"] - shift}
    expected = -0.001 - 0.1 * NOISE.mean()
    assert_allclose(result.test(MKL, "y alone").mean, expected)
    assert_allclose(result.test("y alone", MKL).mean, -expected)
    assert_allclose(result.test(MKL, SUM).mean, 0.0, atol=1e-12)
    assert result.verdict[0] == (
        f"Combining sources makes no practical difference: 0.799 with {MKL}, against 0.800 for y "
        "alone, the best single source, judged on the 9 samples that have it (accuracy); equal "
        "within 0.01 with probability above 0.99."
    )
    row = result.frame().set_index("model").loc["y alone"]
    assert_allclose(row["difference"], 0.1 * NOISE.mean(), atol=1e-12)


def test_samples_of_folds_not_yet_done_are_not_said_to_lack_a_source():
    verdict = make({SUM: BASE[:2], MKL: BASE[:2], "y alone": BASE[:1]}).verdict[0]
    assert "One fold says little" in verdict
    assert "judged on" not in verdict


def test_a_source_that_few_samples_have_is_not_the_best_by_chance():
    """Of ten samples two have x: whatever it does there, y is the rival to beat."""
    result = make({SUM: BASE, MKL: BASE + 0.1, "x alone": BASE, "y alone": BASE})
    for r in result._of("x alone"):
        r |= {"test": [], "predictions": [], "score": None} if r["fold"] > 1 else {"score": 1.0}
        r |= {} if r["fold"] > 1 else {"test": [3 * r["fold"]], "predictions": ["a"]}
    assert "for y alone, the best single source (accuracy)" in result.verdict[0]
    assert result.verdict[0].startswith(f"Combining sources helps: 0.900 with {MKL}, against 0.800")
    one_fold = make({SUM: BASE, MKL: BASE + 0.1, "x alone": BASE[:1] + 0.2, "y alone": BASE})
    assert "for y alone" in one_fold.verdict[0]


def test_a_source_of_one_class_is_not_the_best_single_one(tmp_path):
    """Where only one class has a source, it is always right."""
    said = "x alone is judged on samples of class 'a' only, so its score says nothing."
    result = make({SUM: BASE, MKL: BASE + 0.1, "x alone": BASE + 0.2, "y alone": BASE})
    assert said not in result.verdict
    for r in result._of("x alone"):
        r |= {"test": [2 * r["fold"]], "predictions": ["a"]}
    assert (
        f"0.900 with {MKL}, against 0.800 for y alone, the best single source" in result.verdict[0]
    )
    assert result.verdict[1] == said
    assert Comparison.load(result.save(tmp_path / "c.json")).verdict == result.verdict
    alone = make({MKL: BASE, "x alone": BASE})
    alone.targets[:] = ["a"] * 100
    assert alone.verdict[0] == "MKL, elastic net reaches 0.800 (accuracy)."


def test_one_number_is_no_class():
    result = replace(make({MKL: BASE, "x alone": BASE}), task="regression", targets=[1.5] * 100)
    assert "for x alone, the best single source" in result.verdict[0]


def test_a_source_that_no_test_sample_has_leaves_its_fold_out():
    result = make({MKL: BASE, "y alone": BASE - 0.1})
    result.results[-1]["score"] = None
    assert np.isnan(result.scores("y alone")[-1])
    assert len(result._paired(result._of(MKL), result._of("y alone"))[0]) == 4
    assert result.frame().set_index("model").loc["y alone", "folds"] == 4
    assert str(result)


def test_sizes_of_folds_are_those_compared():
    result = make({SUM: BASE, MKL: BASE + 0.05 + NOISE})
    for r in result.results:
        r |= {"n_train": 80 + r["fold"], "n_test": 20 - r["fold"]}
    del result.results[0]  # the first fold of the sum
    differences = (0.05 + NOISE)[1:]
    expected = corrected_t_test(differences, 82.5, 17.5)
    assert_allclose(result.test(MKL, SUM), expected)
    assert_allclose(result.test(SUM, MKL).error, expected.error)
