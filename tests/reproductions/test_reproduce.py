"""Any experiment: data that are missing, runs that go on, pages that keep what people wrote."""

import sys
from pathlib import Path

import pytest

from multikernel import reproductions
from multikernel.report import Section
from multikernel.reproductions import DataFile, Experiment, Summary, reproduce
from multikernel.reproductions.base import hash_files
from multikernel.reproductions.page import update_docs


class Doubling(Experiment):
    """Twice a number, which takes a file to know."""

    name = "doubling"
    title = "What is <twice> a number?"
    paper = "Nobody (1900)."
    needs = (DataFile("numbers/one.txt", "a number", "https://example.org"),)
    stand_in_name = "made-up numbers"
    ran: list[str] = []  # noqa: RUF012

    @property
    def settings(self):
        return {"factor": 2}

    def load(self, folder):
        return float((folder / "numbers" / "one.txt").read_text())

    def stand_in(self):
        return 0.5

    def tasks(self, data):
        return ["first"] if self.quick else ["first", "second"]

    def run(self, task, data):
        self.ran.append(task)
        if task == "second" and data < 0:
            raise ValueError("negative")
        return {"value": 2 * data}

    def summarize(self, results, data):
        from matplotlib.figure import Figure

        figure = Figure()
        figure.add_subplot().plot([0, 1])
        values = [result["value"] for result in results.values()]
        table = {"task": list(results), "a|b": values}
        section = Section("A table", ("Words & more.",), table, "Numbers.", figure, "a line")
        return Summary(["It doubles."], [section])


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(reproductions.EXPERIMENTS, "doubling", Doubling)
    Doubling.ran.clear()


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data" / "numbers").mkdir(parents=True)
    (tmp_path / "data" / "numbers" / "one.txt").write_text("21")
    return tmp_path / "data"


def test_a_run_ends_with_a_report_and_a_page(tmp_path, data):
    done = reproduce("doubling", data=data, out=tmp_path / "out")
    assert (done.n_done, done.n_tasks, done.stand_in) == (2, 2, "")
    page = done.page.read_text()
    assert "| second | 42 |" in page
    assert r"| task | a\|b |" in page
    assert "not the original" not in page
    assert (tmp_path / "out" / "doubling-a-table.png").read_bytes().startswith(b"\x89PNG")
    html = done.report.read_text()
    assert "What is &lt;twice&gt; a number?" in html
    assert "Words &amp; more." in html
    assert "<svg" in html


def test_it_goes_on_where_it_was_and_refuses_another_size(tmp_path, data):
    reproduce("doubling", data=data, out=tmp_path / "out")
    reproduce("doubling", data=data, out=tmp_path / "out")
    assert Doubling.ran == ["first", "second"]
    with pytest.raises(ValueError, match="holds a run with other size"):
        reproduce("doubling", data=data, out=tmp_path / "out", quick=True)


def test_results_of_other_data_are_refused(tmp_path, data):
    reproduce("doubling", data=data, out=tmp_path / "out")
    (data / "numbers" / "one.txt").write_text("22")
    with pytest.raises(ValueError, match="holds a run with other data"):
        reproduce("doubling", data=data, out=tmp_path / "out")


def test_results_of_another_version_are_refused(tmp_path, data, monkeypatch):
    reproduce("doubling", data=data, out=tmp_path / "out")
    module = sys.modules["multikernel.reproductions.reproduce"]
    monkeypatch.setattr(module, "installed_versions", lambda names: dict.fromkeys(names, "9.9"))
    with pytest.raises(ValueError, match="holds a run with other version"):
        reproduce("doubling", data=data, out=tmp_path / "out")


def test_kinds_of_runs_have_folders_of_their_own(tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for quick in (True, False):
        for stand_in in (True, False):
            reproduce("doubling", data=data, quick=quick, stand_in=stand_in)
    assert sorted(folder.name for folder in Path("reproductions").iterdir()) == [
        "doubling",
        "doubling-quick",
        "doubling-quick-stand-in",
        "doubling-stand-in",
    ]


def test_a_quick_run_says_so_first_and_prints_its_own_command(tmp_path, data):
    done = reproduce("doubling", out=tmp_path / "quick", quick=True, stand_in=True)
    page = done.page.read_text()
    assert page.split("\n")[2] == ("- A quick look, at a fraction of the size of the experiment.")
    assert "multikernel reproduce doubling --quick --stand-in: " in page
    whole = reproduce("doubling", data=data, out=tmp_path / "whole").page.read_text()
    assert "A quick look" not in whole
    assert "multikernel reproduce doubling: " in whole


def test_files_are_told_apart_by_content_not_by_place(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path, content in zip(paths, ("one", "two", "one"), strict=True):
        path.write_text(content)
    a, b, c = paths
    assert hash_files([a, b]) == hash_files([c, b])
    assert len({hash_files(p) for p in ([a], [b], [a, b], [b, a])}) == 4


def test_an_interrupt_leaves_what_is_done(tmp_path, data):
    def interrupt(n_done, n_tasks, name):
        raise KeyboardInterrupt

    done = reproduce("doubling", data=data, out=tmp_path / "out", progress=interrupt)
    assert (done.summary, done.n_done, done.report) == (None, 1, None)
    assert reproduce("doubling", data=data, out=tmp_path / "out").n_done == 2
    assert Doubling.ran == ["first", "second"]


def test_missing_data_are_named_with_the_stand_in(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        reproduce("doubling", data=tmp_path, out=tmp_path / "out")
    wanted = str(Path(tmp_path, "numbers", "one.txt"))
    for part in (wanted, "a number", "https://example.org", "--data", "--stand-in", "made-up"):
        assert part in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_stand_in_is_named_everywhere(tmp_path):
    done = reproduce("doubling", out=tmp_path / "out", stand_in=True)
    assert done.stand_in == "made-up numbers"
    (section,) = done.summary.sections
    assert [text.get_text() for text in section.figure.texts] == ["stand-in: made-up numbers"]
    for path in (done.page, done.report):
        assert "These are made-up numbers, not the original data." in path.read_text()


def test_data_that_are_always_there_have_no_stand_in(tmp_path, data, monkeypatch):
    monkeypatch.setattr(Doubling, "needs", ())
    monkeypatch.setattr(Doubling, "load", lambda self, folder: 3.0)
    done = reproduce("doubling", out=tmp_path / "out", stand_in=True)
    assert done.stand_in == ""
    assert "| first | 6 |" in done.page.read_text()


def test_a_task_that_fails_is_said(tmp_path, data):
    (data / "numbers" / "one.txt").write_text("-1")
    with pytest.raises(ValueError, match="negative"):
        reproduce("doubling", data=data, out=tmp_path / "out")


def test_an_unknown_name_lists_the_known(tmp_path):
    with pytest.raises(ValueError, match=r"no experiment 'doublin'; there are .*doubling"):
        reproduce("doublin", out=tmp_path)


def test_docs_get_the_figures_of_the_page_and_no_others(tmp_path, data):
    done = reproduce("doubling", data=data, out=tmp_path / "out")
    (tmp_path / "out" / "doubling-of-last-year.png").write_bytes(b"old")
    (tmp_path / "docs").mkdir()
    update_docs(tmp_path / "docs", "doubling", done.page)
    assert [path.name for path in (tmp_path / "docs").glob("*.png")] == ["doubling-a-table.png"]


def test_equal_headings_have_figures_of_their_own(tmp_path, data, monkeypatch):
    once = Doubling.summarize

    def twice(self, results, data):
        sections = [once(self, results, data).sections[0] for _ in range(2)]
        sections[1].figure.set_size_inches(1, 1)
        return Summary([], sections)

    monkeypatch.setattr(Doubling, "summarize", twice)
    done = reproduce("doubling", data=data, out=tmp_path / "out")
    (tmp_path / "docs").mkdir()
    update_docs(tmp_path / "docs", "doubling", done.page)
    for folder in ("out", "docs"):
        names = ("doubling-a-table.png", "doubling-a-table-2.png")
        first, second = ((tmp_path / folder / name).read_bytes() for name in names)
        assert first != second
    assert all(f"]({name})" in done.page.read_text() for name in names)


def test_docs_keep_what_people_wrote(tmp_path, data):
    done = reproduce("doubling", data=data, out=tmp_path / "out")
    docs = tmp_path / "docs"
    docs.mkdir()
    target = update_docs(docs, "doubling", done.page)
    assert (docs / "doubling-a-table.png").exists()
    first = target.read_text()
    target.write_text(
        first.replace("# What", "Before.\n\n# What") + "\n## Why it differs\n\nIt does.\n"
    )
    written = target.read_text()
    update_docs(docs, "doubling", done.page)
    assert target.read_text() == written
    target.write_text("no marks")
    with pytest.raises(ValueError, match="between which results go"):
        update_docs(docs, "doubling", done.page)
