"""Pages: one file, nothing loaded, nothing injected, never half-written."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

from multikernel.report import Section, page, save_sections

EVIL = "<script>alert(1)</script>"


def figure(label="line"):
    out = Figure()
    ax = out.add_subplot()
    ax.plot([0, 1], label=label)
    ax.set_title(label)
    ax.legend()
    return out


def sections(name="rna"):
    table = {"model": [name, "sum"], "score": [0.8125, np.nan], "n": [3, None]}
    inner = Section("Table of kernels", table=table, caption="Heaviest first.", folded=True)
    return [
        Section("Data", (name,), table, "The sources.", figure(name), name, parts=(inner,)),
        Section("Weights", figure=figure(name), alt=name, parts=(Section("", (name,)),)),
        Section("Methods", ("We did this.",)),
    ]


def write(folder, name="rna", **changes):
    content = {"title": "Which?", "lead": ["It helps."], "sections": sections(name)} | changes
    return save_sections(folder / "r.html", **content).read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collect tags, attributes and ids, and check that tags close in order."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_sections_tables_and_figures_are_there(tmp_path):
    text = write(tmp_path)
    assert re.findall(r"<h2>(.*?)</h2>", text) == ["Data", "Weights", "Methods"]
    for words in ("It helps.", "0.812", "–", "<summary>Table of kernels</summary>", "We did this."):
        assert words in text
    assert text.count("<svg") == 2
    assert re.findall(r'<a href="#(\w+)">Weights</a>', text) == ["s1"]


def test_the_page_is_well_formed_and_ids_are_unique(tmp_path):
    tags = Tags(write(tmp_path))
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))


def test_references_lead_to_ids(tmp_path):
    text = write(tmp_path)
    targets = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
    assert len(targets) > 4
    assert {a or b for a, b in targets} <= set(Tags(text).ids)


def test_nothing_is_loaded_from_elsewhere_and_one_script_runs(tmp_path):
    text = write(tmp_path)
    tags = Tags(text).seen
    assert [tag for tag, _ in tags].count("script") == 1
    for tag, attrs in tags:
        assert tag not in ("link", "iframe", "object", "embed", "img")
        for key, value in attrs.items():
            if key in ("src", "href", "xlink:href"):
                assert value.startswith(("#", "data:image/png"))
            assert not key.startswith("on")
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_every_text_is_escaped(tmp_path):
    text = write(tmp_path, EVIL, title=EVIL, lead=[EVIL], versions={EVIL: EVIL})
    assert text.count("<script") == 1
    assert "alert(1)</script>" not in text
    assert text.count("alert(1)&lt;/script&gt;") >= 10


def test_every_figure_and_table_says_what_it_is(tmp_path):
    tags = Tags(write(tmp_path)).seen
    pictures = [attrs for _, attrs in tags if attrs.get("role") == "img"]
    regions = [attrs for _, attrs in tags if attrs.get("role") == "region"]
    assert len(pictures) == 2
    assert len(regions) == 2
    assert all(attrs["aria-label"] for attrs in pictures + regions)
    assert all(attrs["tabindex"] == "0" for attrs in regions)


def test_many_rows_stay_small_and_say_what_is_left_out(tmp_path):
    table = {"kernel": [f"k{m}" for m in range(1760)], "weight": np.arange(1760.0)}
    text = write(tmp_path, sections=[Section("Kernels", table=table, caption="All.")])
    assert "1560 more rows are left out." in text
    assert len(text) < 100_000


def test_numbers_are_sorted_by_what_they_are(tmp_path):
    table = {"x": [1 / 3, 10, None, np.float64("nan"), np.inf, "word", True]}
    text = write(tmp_path, sections=[Section("Numbers", table=table, caption="Some.")])
    assert re.findall(r'data-value="([^"]+)"', text) == ["0.3333333333333333", "10.0"]


def test_a_failed_write_keeps_the_old_page(tmp_path, monkeypatch):
    before = write(tmp_path)

    def crash(draft, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", crash)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, title="New")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_folders_are_made(tmp_path):
    assert save_sections(tmp_path / "a" / "r.html", title="", lead=[], sections=[]).exists()


def test_versions_name_the_packages(tmp_path):
    assert f"numpy {np.__version__}" in write(tmp_path)


def test_lines_and_letters_take_the_colour_of_the_text(tmp_path):
    drawn = Figure()
    drawn.add_subplot().plot([0, 1], color=page.INK)
    text = write(tmp_path, sections=[Section("A line", figure=drawn, alt="a line")])
    assert "currentColor" in text
    assert page.INK not in text


def test_a_mean_and_its_spread_stay_on_one_line(tmp_path):
    table = {"text": ["79.2 ± 0.1"], "cell": [page.Cell("0.5 ± 0.2", 0.5)]}
    text = write(tmp_path, sections=[Section("Means", table=table, caption="Two.")])
    assert "79.2\u00a0±\u00a00.1" in text
    assert "0.5\u00a0±\u00a00.2" in text
