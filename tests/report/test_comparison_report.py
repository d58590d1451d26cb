"""The report of a comparison: complete, escaped, self-contained, also of one that was stopped."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import multikernel as mk
from multikernel.report import save_report

EVIL = "<script>alert('rna')</script>"


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=(36, 2)) for name in (EVIL, "mri", "age")}
    y = np.where(X[EVIL][:, 0] > 0, "patient", "control")
    return mk.compare(X, y, models=["uniform sum"], cv=2, inner_cv=2, n_permutations=1)


def page_of(comparison, folder, **content):
    return save_report(folder / "r.html", comparison, **content).read_text("utf-8")


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
        return result | {"kernels": kernels, "weights": [1 / 300] * 300}

    results = [grown(r) for r in comparison.results if r["role"] == "model"]
    results += [r | {"fold": k} for r in results for k in range(2, 12)]
    page = page_of(replace(comparison, results=results, n_folds=12), tmp_path)
    assert "100 more rows are left out." in page
    assert "fold 11" not in page
    assert "fold 1" in page_of(comparison, tmp_path)
