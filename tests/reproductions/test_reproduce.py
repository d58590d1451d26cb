"""Any experiment: data that are missing, runs that go on, pages that keep what people wrote."""

from pathlib import Path

import pytest

from multikernel import reproductions
from multikernel.report import Section
from multikernel.reproductions import DataFile, Experiment, Summary, reproduce
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


def test_a_task_that_fails_is_said(tmp_path, data):
    (data / "numbers" / "one.txt").write_text("-1")
    with pytest.raises(ValueError, match="negative"):
        reproduce("doubling", data=data, out=tmp_path / "out")


def test_an_unknown_name_lists_the_known(tmp_path):
    with pytest.raises(ValueError, match=r"no experiment 'doublin'; there are .*doubling"):
        reproduce("doublin", out=tmp_path)


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
