"""The report of a comparison: complete, escaped, self-contained, also of one that was stopped."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multikernel as mk
from multikernel.displays import RedundancyDisplay
from multikernel.report import Section, models, save_report, save_sections
from multikernel.report.certificates import certificate_section
from multikernel.report.features import features_section
from multikernel.report.importance import importance_section
from multikernel.report.methods import methods_section
from multikernel.report.models import models_section
from multikernel.report.predictions import predictions_section
from multikernel.report.samples import samples_section
from multikernel.report.weights import weights_section

EVIL = "<script>alert('rna')</script>"


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=(36, 2)) for name in (EVIL, "mri", "age")}
    y = np.where(X[EVIL][:, 0] > 0, "patient", "control")
    return mk.compare(X, y, models=["uniform sum"], cv=2, inner_cv=2, n_permutations=1)


def page_of(comparison, folder, **content):
    return save_report(folder / "r.html", comparison, **content).read_text("utf-8")


def shown(section, folder):
    """A page of one section, which is quick to draw."""
    return save_sections(folder / "s.html", title="", lead=[], sections=[section]).read_text(
        "utf-8"
    )


class Page(HTMLParser):
    """Tags, attributes and texts; tags must close in order."""

    VOID = ("meta", "br")

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_every_section_is_there(comparison, tmp_path):
    page = page_of(comparison, tmp_path)
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "Data",
        "Comparison",
        "Weights",
        "Redundancy",
        "Importance",
        "Predictions",
        "Single samples",
        "Features",
        "Certificates",
        "Methods",
    ]
    assert page.count("<svg") == 7
    assert len(page) < 1_500_000
    texts = Page(page).texts
    for sentence in comparison.verdict:
        assert sentence in texts
    for model in comparison.models:
        assert model in texts
    assert "All 36 samples with a target have every source." in texts
    assert any(comparison.plan["data"] in text for text in texts)
    assert any(f"numpy {np.__version__}" in text for text in texts)
    assert any("permutation p-value is" in text for text in texts)


def test_numbers_are_those_of_the_comparison(comparison, tmp_path):
    texts = Page(page_of(comparison, tmp_path)).texts
    for score in comparison.frame()["score"]:
        assert any(text.startswith(f"{score:.3f}") for text in texts)
    for share in comparison.shares().mean(axis=1):
        assert f"{share:.3g}" in texts
    for drop in comparison.importance()["drop"]:
        assert f"{round(drop, 12) + 0.0:.3g}" in texts
    kernels = comparison.stability()
    assert {str(name) for name in kernels.index} <= set(texts)


def test_rounding_is_not_shown_as_a_difference(comparison, tmp_path):
    def score(result):
        return 0.1 + 0.2 if result["role"] == "without" else 0.3  # 5.6e-17 apart

    results = [r | {"score": score(r)} for r in comparison.results]
    equal = replace(comparison, results=results)
    assert np.any(equal.importance()["drop"] != 0)
    assert not [text for text in Page(page_of(equal, tmp_path)).texts if "e-17" in text]


def test_nothing_is_injected_or_loaded(comparison, tmp_path):
    evil = {EVIL: EVIL}
    failure = {"model": EVIL, "fold": 0, "error": EVIL}
    first = comparison.results[0] | {"warnings": [EVIL]}
    spoiled = replace(comparison, failures=[failure], results=[first, *comparison.results[1:]])
    page = page_of(
        spoiled,
        tmp_path,
        title=EVIL,
        data={EVIL: [EVIL]},
        notes=[EVIL],
        settings=evil,
        files=evil,
    )
    assert page.count("<script") == 1  # the one that sorts tables
    assert "alert('rna')" not in page
    parsed = Page(page)
    assert parsed.texts.count(EVIL) >= 8
    assert not {tag for tag, _ in parsed.tags} & {"link", "img", "iframe"}
    assert not any("src" in attrs for _, attrs in parsed.tags)
    assert not any(key.startswith("on") for _, attrs in parsed.tags for key in attrs)


@pytest.mark.parametrize("n_results", [0, 1, 5, 9])
def test_a_comparison_that_was_stopped_has_a_report(comparison, tmp_path, n_results):
    part = replace(comparison, results=comparison.results[:n_results], complete=False)
    texts = Page(page_of(part, tmp_path)).texts
    assert set(part.models) <= set(texts)
    stopped = f"{part.headline} has not finished a fold."
    assert (stopped in texts) == (part.headline not in part.models)


def test_a_stored_comparison_gives_the_same_report(comparison, tmp_path):
    again = mk.Comparison.load(comparison.save(tmp_path / "c.json"))
    assert page_of(again, tmp_path) == page_of(comparison, tmp_path)


def test_many_kernels_and_folds_are_summed_up(comparison, tmp_path):
    def grown(result):
        kernels = [f"k{m}" for m in range(300)]
        return result | {"kernels": kernels, "weights": [1 / 300] * 300, "trace": None}

    results = [grown(r) for r in comparison.results if r["role"] == "model"]
    results += [r | {"fold": k} for r in results for k in range(2, 12)]
    page = page_of(replace(comparison, results=results, n_folds=12, constant=[]), tmp_path)
    assert "100 more rows are left out." in page
    assert "fold 11" not in page
    assert "fold 1" in page_of(comparison, tmp_path)


def sharing(result, kernels, sources):
    """A result with other kernels, of equal weight."""
    share = 1 / len(kernels)
    weights = {
        "weights": [share] * len(kernels),
        "shares": dict.fromkeys(sources, 1 / len(sources)),
    }
    return result | {"kernels": kernels, **weights, "trace": weights}


@pytest.mark.parametrize("as_sources", [False, True], ids=["44 x 40", "1760 matrices"])
def test_1760_kernels_fit_in_one_small_page(comparison, tmp_path, as_sources):
    rng = np.random.default_rng(0)
    sources = [f"source {k}" for k in range(1760 if as_sources else 44)]
    kernels = [f"{s}/rbf(width={w})" for s in sources for w in range(1 if as_sources else 40)]
    y, vectors = np.repeat([0, 1], 15), rng.normal(size=(len(sources), 30))
    grams = {s: np.outer(v, v) for s, v in zip(sources, vectors, strict=True)}
    found = RedundancyDisplay.measure(None, mk.KernelBundle(grams), y)
    redundancy = {
        "alignment": np.round(found.alignment, 4).tolist(),
        "names": found.names,
        "target": np.round(found.target, 4).tolist(),
        "note": found.note,
    }
    many = replace(
        comparison,
        sources=sources,
        samples=dict.fromkeys(sources, 30),
        n_complete=30,
        overlap=[[sources, 30], [sources[:-1], 4], [sources[:2], 2]],
        results=[
            sharing(r, kernels, sources) | {"contributions": None, "permuted": None}
            for r in comparison.results
            if r["role"] == "model"
        ],
        whole=comparison.whole | {"redundancy": redundancy, "features": {}, "prepared": None},
    )
    page = page_of(many, tmp_path)
    assert len(page.encode()) < 1_500_000
    assert many.save(tmp_path / "c.json").stat().st_size < 3_000_000
    assert len(found.names) == (150 if as_sources else 44)
    assert ("the 150 best aligned with y of 1,760" in page) == as_sources
    assert "given as matrices without columns to prepare" in page
    Page(page)


def test_many_classes_show_the_worst_confusions(comparison, tmp_path):
    rng = np.random.default_rng(0)
    labels = [f"c{k:02}" for k in range(60)]
    results = []
    for r in comparison.results:
        if r["role"] == "model":
            predictions = rng.choice(labels, size=len(r["test"])).tolist()
            results.append(r | {"predictions": predictions, "confidence": None})
    targets = (labels * 2)[: len(comparison.targets)]
    section = predictions_section(replace(comparison, results=results, targets=targets))
    page = shown(section, tmp_path)
    assert "The worst confusions among" in page
    assert "predicted c00" not in page


def test_classes_that_are_numbers_come_by_size(comparison):
    targets = [1 + k % 10 for k in range(len(comparison.targets))]
    results = [
        r | {"predictions": [targets[i] for i in r["test"]], "confidence": None}
        for r in comparison.results
        if r["role"] == "model"
    ]
    section = predictions_section(replace(comparison, results=results, targets=targets))
    assert section.parts[0].table["true class"] == [str(k) for k in range(1, 11)]


def test_one_class_in_the_test_part_has_no_curve(comparison, tmp_path):
    assert "average precision is" in shown(predictions_section(comparison), tmp_path)
    positive = [i for i, label in enumerate(comparison.targets) if label == "patient"]
    results = []
    for r in comparison.results:
        kept = [k for k, i in enumerate(r["test"]) if i in positive]
        cut = {name: [r[name][k] for k in kept] for name in ("test", "predictions", "confidence")}
        results.append(r | cut | {"contributions": None})
    page = shown(predictions_section(replace(comparison, results=results)), tmp_path)
    assert "ROC curve" not in page
    assert "average precision" not in page
    assert "expected calibration error" in page


def test_sources_called_like_columns_keep_their_own(comparison, tmp_path):
    names = {EVIL: "target", "mri": "sample", "age": "kind"}

    def renamed(r):
        kept = r["contributions"]
        return r | {"contributions": kept | {"sources": [names[s] for s in kept["sources"]]}}

    results = [
        renamed(r)
        for r in comparison.results
        if r["model"] == comparison.headline and r["role"] == "model"
    ]
    page = shown(samples_section(replace(comparison, results=results)), tmp_path)
    table = page[page.index("Contributions of sources to decisions") :]
    heads = re.findall(r"<th [^>]*>(.*?)</th>", table[: table.index("</thead>")])
    assert heads[:4] == ["kind", "sample", "target", "prediction"]
    sources = ["source target", "source sample", "source kind"]
    assert heads[-5:] == [*sources, "constant", "sum"]
    body = table[: table.index("</table>")]
    assert "<td>patient</td>" in body


def test_no_score_is_a_dash(comparison, tmp_path):
    results = [r | {"score": None} if r["role"] == "alone" else r for r in comparison.results]
    page = shown(models_section(replace(comparison, results=results)), tmp_path)
    assert ">nan" not in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "The 5 largest of every source, in favour of patient."),
        ({"targets": ["a", "b", "c"] * 12}, "root mean square over the 3 classes."),
        ({"task": "regression"}, "in units of the target."),
    ],
)
def test_captions_of_features(comparison, changes, sentence):
    section = features_section(replace(comparison, **changes))
    assert section.caption.endswith(sentence)
    assert section.text[-1] == "Columns were scaled to unit variance."


def test_units_of_features(comparison):
    prepared = comparison.whole["prepared"]
    some = replace(comparison, whole=comparison.whole | {"prepared": prepared | {"mri": "PCA()"}})
    assert "those of the other sources come as they were given" in features_section(some).text[-1]
    none = replace(comparison, whole=comparison.whole | {"prepared": None})
    assert "depends on the unit of its column" in features_section(none).text[-1]


def test_weight_without_importance_is_said(comparison):
    def edited(r):
        shares = {EVIL: 0.5, "mri": 0.4, "age": 0.1}
        drops = {EVIL: 0.2, "mri": 0.0, "age": 0.1}
        score = 0.9 - drops[r["source"]] if r["role"] == "without" else 0.9
        return r | {"score": score, "shares": shares if r["shares"] else None}

    text = importance_section(
        replace(comparison, results=[edited(r) for r in comparison.results])
    ).text
    assert "leaving out mri costs nothing" in text[1]
    assert text[2].startswith("Leaving out age seems to cost something")
    wide = replace(comparison, results=[edited(r) for r in comparison.results], rope=0.15)
    assert not any("seems to cost something" in text for text in importance_section(wide).text)
    assert not any(EVIL in sentence for sentence in text)


def test_weights_by_class_have_a_table(comparison):
    def by_class(r):
        M = len(r["kernels"])
        return r | {"class_weights": [[1 / M] * M, [0.0] * (M - 1) + [1.0]]}

    own = [by_class(r) if r["role"] == "model" else r for r in comparison.results]
    headings = [part.heading for part in weights_section(replace(comparison, results=own)).parts]
    assert f"Weights by class of {comparison.headline}" in headings
    table = weights_section(replace(comparison, results=own)).parts[-1].table
    assert set(table["class"]) == {"control", "patient"}
    assert max(table["mean"]) == 1.0
    headings = [part.heading for part in weights_section(comparison).parts]
    assert not any("by class" in heading for heading in headings)


def test_shares_of_the_trace_are_told_where_they_differ(comparison):
    section = weights_section(comparison)  # kernels of unit trace
    assert section.text == (
        "All kernels have the same trace: shares of the weight are also shares of the trace of the "
        "combined kernel.",
    )
    assert "of trace" not in section.table

    def scaled(r):
        if r["trace"] is None:
            return r
        M = len(r["kernels"])
        return r | {
            "trace": {
                "weights": [*[0.0] * (M - 1), 1.0],
                "shares": {"age": 0.25, "mri": 0.75, EVIL: 0.0},
            }
        }

    section = weights_section(replace(comparison, results=[scaled(r) for r in comparison.results]))
    assert "differ in trace" in section.text[0]
    assert section.table["source"] == [EVIL, "mri", "age"]
    assert section.table["of trace"] == [0.0, 0.75, 0.25]
    assert section.table["mean"] == weights_section(comparison).table["mean"]
    kernels = next(part.table for part in section.parts if part.heading == "Table of kernels")
    last = kernels["kernel"].index(comparison.results[0]["kernels"][-1])
    assert kernels["of trace"] == [float(k == last) for k in range(len(kernels["kernel"]))]
    unknown = [r | {"trace": None} for r in comparison.results]
    assert weights_section(replace(comparison, results=unknown)).text == ()


def test_parts_of_single_decisions_add_up(comparison):
    section = samples_section(comparison)
    table, kept = section.table, comparison.contributions()
    parts = np.transpose([table[name] for name in (*comparison.sources, "constant")])
    assert np.any(table["constant"])
    assert_allclose(parts.sum(axis=1), table["sum"], atol=1e-12)
    decision = np.array(table["sum"])
    assert [label == "patient" for label in table["prediction"]] == (decision > 0).tolist()
    assert "positive for patient and negative for control" in section.text[0]
    for k, sample in enumerate(table["sample"]):
        assert_allclose(parts[k, :-1], kept.xs(int(sample), level="sample").iloc[0])
    assert table["kind"] == ["best"] * 2 + ["worst"] * 2 + ["in doubt"] * 2
    assert "constant" in [
        text.get_text() for text in section.figure.axes[0].get_legend().get_texts()
    ]
    assert section.figure.axes[0].get_xlabel() == "decision: ← control | patient →"


def test_few_samples_are_all_shown_and_not_called_best(comparison):
    def cut(r):
        kept = {n: v[:2] if isinstance(v, list) else v for n, v in r["contributions"].items()}
        kept["sources"] = r["contributions"]["sources"]
        short = {name: r[name][:2] for name in ("test", "predictions", "confidence")}
        return r | short | {"contributions": kept}

    results = [cut(r) for r in comparison.results if r["contributions"] is not None]
    section = samples_section(replace(comparison, results=results))
    tested = [str(comparison.ids[i]) for r in results for i in r["test"]]
    assert len(tested) == 4
    assert section.table["sample"] == tested
    assert "kind" not in section.table
    assert "every sample" in section.text[0]
    names = [label.get_text() for label in section.figure.axes[0].get_yticklabels()]
    assert names == tested


def test_methods_name_preparation_works_and_solver(comparison, tmp_path):
    page = shown(methods_section(comparison, None, None), tmp_path)
    assert "<summary>Preparation of sources</summary>" in page
    assert "columns scaled to zero mean and unit variance" in page
    assert "<summary>Works to cite</summary>" in page
    assert "Sparsity-accuracy trade-off" in page
    assert "SimpleMKL" not in page  # was not compared
    certificates = certificate_section(comparison)
    assert f"solved by {comparison.whole['solver']}" in certificates.alt
    why = "DualNewton, because the dual of the regularizer is smooth."
    assert certificates.text[-1] == f"On all samples {comparison.headline} is solved by {why}"
    asked = replace(comparison, whole=comparison.whole | {"reason": ""})
    assert len(certificate_section(asked).text) == len(certificates.text) - 1
    assert [ax.get_xlabel() for ax in certificates.figure.axes] == ["bank passes", "seconds"]


def test_arguments_in_the_other_order_are_told(comparison, tmp_path):
    with pytest.raises(TypeError, match="needs the path first and then a comparison"):
        save_report(comparison, tmp_path / "r.html")


def test_the_picture_of_models_stays_short(comparison):
    first = next(r for r in comparison.results if r["role"] == "alone")
    many = [first | {"model": f"{k} alone", "source": str(k)} for k in range(50)]
    grown = replace(comparison, results=[*comparison.results, *many])
    shown = models._picture(grown).axes[0].get_yticklabels()
    assert sum(label.get_text().endswith("alone") for label in shown) == 12
    assert len(grown.frame()) == len(comparison.frame()) + 50


def test_long_tables_are_folded(tmp_path):
    rows = [
        Section("few", table={"a": list(range(30))}, caption="A."),
        Section("many", table={"a": list(range(31))}, caption="B."),
    ]
    page = save_sections(tmp_path / "p.html", title="t", lead=[], sections=rows).read_text("utf-8")
    assert page.count("<details>") == 1
    assert "<details><summary>Table of 31 rows</summary>" in page
