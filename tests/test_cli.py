"""The command line: parses, calls, prints; errors are one line."""

import sys
from pathlib import Path

import pytest

from multikernel import cli
from multikernel.report import demo, run_demo


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"))


def test_the_demo_finds_the_truth(result):
    means = {score.name: score.mean for score in result.scores}
    alone = [mean for name, mean in means.items() if name.endswith(" alone")]
    assert means[demo.ELASTIC] > max(alone)
    assert min(result.shares, key=lambda source: result.shares[source]) == "scanner"
    assert result.model.gap_ <= result.model.tol
    assert sum(result.shares.values()) == pytest.approx(1.0)


def test_the_demo_runs_every_model_on_five_folds(result):
    names = [score.name for score in result.scores]
    assert names[-3:] == [demo.UNIFORM, demo.ELASTIC, demo.SPARSE]
    assert len(names) == 8
    assert all(len(score.scores) == 5 for score in result.scores)


def test_the_last_line_is_the_path_of_the_report(result, monkeypatch, capsys):
    monkeypatch.setattr("multikernel.report.run_demo", lambda out: result)
    assert cli.main(["demo"]) == 0
    out = capsys.readouterr().out
    path = Path(out.splitlines()[-1])
    assert path.is_absolute()
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    for score in result.scores:
        assert score.name in out
    assert "relative duality gap" in out


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert cli.main(["demo", "--out", str(tmp_path / "file")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_extra_is_named_before_the_work(monkeypatch, capsys):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "jinja2" else sys)
    assert cli.main(["demo"]) == 1
    assert "needs jinja2: pip install 'multikernel[cli]'" in capsys.readouterr().err


def test_interruption_is_quiet(monkeypatch, capsys):
    def interrupt(out):
        raise KeyboardInterrupt

    monkeypatch.setattr("multikernel.report.run_demo", interrupt)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "multikernel: interrupted\n"


@pytest.mark.parametrize("argv", [[], ["nonsense"]])
def test_unknown_commands_exit_with_usage(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(argv)
    assert stop.value.code == 2
    assert "usage: multikernel" in capsys.readouterr().err
