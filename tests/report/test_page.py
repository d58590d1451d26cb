"""The report: one file, nothing loaded, nothing injected, never half-written."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from multikernel.report import report, save_report

EVIL = "<script>alert(1)</script>"


def content(n_kernels=4, name="rna"):
    return {
        "title": "Which sources matter?",
        "verdict": ["Combining helps."],
        "data": {"source": [name], "columns": [60]},
        "comparison": {"model": ["uniform sum"], "accuracy": [0.8125], "seconds": [np.nan]},
        "kernel_table": {
            "source": [name] * n_kernels,
            "family": ["rbf"] * n_kernels,
            "parameter": [float(m) for m in range(n_kernels)],
            "weight": [1.0 / (1 + m) for m in range(n_kernels)],
        },
        "gap": [1.0, 1e-2, 3e-6],
        "passes": [2.0, 4.0, 6.0],
        "tol": 1e-4,
        "versions": {"multikernel": "1.0"},
    }


def write(tmp_path: Path, **changes) -> str:
    return save_report(tmp_path / "r.html", **(content() | changes)).read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collect tags, attributes and ids, and check that tags close in order."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, page):
        super().__init__()
        self.seen, self.open, self.ids = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_sections_and_numbers_are_there(tmp_path):
    page = write(tmp_path)
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == ["Data", "Comparison", "Weights", "Certificate", "Versions"]
    for text in ("Combining helps.", "0.812", "uniform sum", "3.0e-06", "was reached", "–"):
        assert text in page
    assert page.count("<svg") == 2


def test_the_page_is_well_formed_and_ids_are_unique(tmp_path):
    tags = Tags(write(tmp_path))
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))


def test_references_inside_figures_lead_to_ids(tmp_path):
    page = write(tmp_path)
    targets = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page))
    assert targets
    assert {a or b for a, b in targets} <= set(Tags(page).ids)


def test_nothing_is_loaded_from_elsewhere_and_no_script_runs(tmp_path):
    page = write(tmp_path)
    for tag, attrs in Tags(page).seen:
        assert tag not in ("script", "link", "iframe", "object", "embed", "image", "img")
        for key, value in attrs.items():
            if key in ("src", "href", "xlink:href"):
                assert value.startswith("#")
            assert not key.startswith("on")
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    assert len(page) < 1_500_000


def test_every_text_is_escaped(tmp_path):
    evil = content(name=EVIL) | {"title": EVIL, "verdict": [EVIL], "versions": {EVIL: EVIL}}
    evil["comparison"] = {EVIL: [EVIL]}
    evil["data"] = {EVIL: [EVIL]}
    page = save_report(tmp_path / "r.html", **evil).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "alert(1)&lt;/script&gt;" in page


def test_a_gap_above_the_tolerance_is_said(tmp_path):
    assert "was not reached" in write(tmp_path, gap=[1.0, 0.8, 0.5])


def test_many_kernels_stay_small_and_say_what_is_left_out(tmp_path):
    table = content(1760)["kernel_table"]
    table["source"] = [f"view {m // 20}" for m in range(1760)]
    page = write(tmp_path, kernel_table=table)
    assert "1560 more rows" in page
    assert len(page) < 1_500_000


def test_a_failed_write_keeps_the_old_report(tmp_path, monkeypatch):
    before = write(tmp_path)

    def crash(draft, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", crash)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, title="New")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_folders_are_made(tmp_path):
    assert save_report(tmp_path / "a" / "b" / "r.html", **content()).exists()


def test_versions_name_the_packages():
    versions = report.installed_versions()
    assert versions["numpy"] == np.__version__
