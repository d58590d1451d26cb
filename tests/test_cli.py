"""The command line: parses, calls, prints; errors are one line, and statuses mean something."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from typer.testing import CliRunner

import multikernel
from multikernel import cli
from multikernel.cli import _models, _needs
from multikernel.cli._models import fit_model, levels_of
from multikernel.cli._names import check_options, split_names
from multikernel.cli._options import parse_sources
from multikernel.cli._progress import _Clock, show_progress
from multikernel.cli._remarks import fit_remarks
from multikernel.cli.app import COMMANDS, make_app
from multikernel.cli.compare import _headline_failed, _unfinished
from multikernel.files import Dataset, read_sources
from multikernel.report import run_demo

DATA = Path(__file__).parents[2] / "shared" / "data"
QUICK = ["--cv", "3", "--models", "uniform sum"]
TARGET = ["--target", "clinic:outcome"]


def invoke(*arguments, status=0):
    """Run a command in this process and return what it printed."""
    result = CliRunner().invoke(make_app(), [str(a) for a in arguments])
    assert result.exit_code == status, result.output + str(result.exception)
    return result


def write_study(folder, n=36, seed=0):
    """Three sources; the target follows the first column of rna, and mri lacks six samples."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    ids = pd.Index([f"P{i:02}" for i in range(n)], name="sample")
    rna = pd.DataFrame(rng.normal(size=(n, 3)), index=ids, columns=["g1", "g2", "g3"])
    rna.iloc[3, 1] = np.nan
    mri = pd.DataFrame(rng.normal(size=(n - 6, 2)), index=ids[6:], columns=["v1", "v2"])
    clinic = pd.DataFrame({"age": rng.integers(20, 80, n), "sex": ["f", "m"] * (n // 2)}, index=ids)
    clinic["outcome"] = np.where(rna["g1"] > 0, "well", "ill")
    for name, table in {"rna": rna, "mri": mri, "clinic": clinic}.items():
        table.to_csv(folder / f"{name}.csv")
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("study") / "data")


@pytest.fixture(scope="module")
def model(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.skops"
    invoke("fit", study, *TARGET, "--inner-cv", 3, "--out", path)
    return path


@pytest.fixture(scope="module")
def compared(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared") / "out"
    return folder, invoke("compare", study, *TARGET, *QUICK, "--out", folder)


# demo


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"))


def test_the_demo_finds_the_truth(studies):
    comparison = studies[0].comparison
    means = comparison.frame().set_index("model")["score"]
    alone = [mean for name, mean in means.items() if name.endswith(" alone")]
    assert means["MKL, elastic net"] > max(alone)
    assert comparison.shares().mean(axis=1).idxmin() == "scanner"


def test_the_last_line_is_the_path_of_a_report(studies, monkeypatch, capsys):
    monkeypatch.setattr("multikernel.report.run_demo", lambda out, progress: studies)
    assert cli.main(["demo"]) == 0
    out = capsys.readouterr().out
    path = Path(out.splitlines()[-1])
    assert path.is_absolute()
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    for study in studies:
        assert study.title in out
        assert str(study.comparison) in out
    assert cli.main(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["title"] for entry in found] == [study.title for study in studies]
    assert found[0]["verdict"] == studies[0].comparison.verdict
    assert found[1]["report"] == str(studies[1].report.resolve())


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert cli.main(["demo", "--out", str(tmp_path / "file")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_interruption_is_quiet(monkeypatch, capsys):
    def interrupt(out, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr("multikernel.report.run_demo", interrupt)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "multikernel: interrupted\n"


# what all commands share


@pytest.mark.parametrize("missing", ["jinja2", "typer"])
def test_a_missing_extra_is_named_before_the_work(missing, monkeypatch, capsys):
    monkeypatch.setattr(_needs, "find_spec", lambda name: None if name == missing else sys)
    assert cli.main(["demo"]) == 1
    assert f"needs {missing}: pip install 'multikernel[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["compare", "data"], ["report", "out"]])
def test_reports_need_pictures_before_the_work(argv, monkeypatch, capsys):
    monkeypatch.setattr(_needs, "find_spec", lambda name: None if name == "matplotlib" else sys)
    assert cli.main(argv) == 1
    assert f"multikernel {argv[0]} needs matplotlib: pip install" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["check"], ["check", ".", "--nonsense"]])
def test_wrong_usage_exits_with_2(argv, capsys):
    assert cli.main(argv) == 2
    assert "Usage: multikernel" in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_by_an_example(name):
    text = invoke(name, "--help").stdout
    assert f"  multikernel {name} " in text
    assert "Example" in text


def test_help_lists_every_command_and_the_exit_status():
    text = invoke("--help").stdout
    for word in [*COMMANDS, "Exit status", "130 interrupted"]:
        assert word in text


def test_version():
    assert invoke("--version").stdout.startswith("multikernel ")


def test_an_error_is_one_sentence_and_its_origin_on_demand():
    result = invoke("check", "nowhere", status=1)
    assert result.stderr == "multikernel: There is no file or folder nowhere.\n"
    assert result.stdout == ""
    shown = CliRunner().invoke(make_app(), ["--traceback", "check", "nowhere"])
    assert isinstance(shown.exception, ValueError)


def test_warnings_are_one_line_while_a_command_runs(monkeypatch, capsys):
    usual = warnings.formatwarning

    def show(out, progress):
        raise OSError(warnings.formatwarning("first\nsecond", UserWarning, "file.py", 1))

    monkeypatch.setattr("multikernel.report.run_demo", show)
    assert cli.main(["demo"]) == 1
    assert capsys.readouterr().err == "multikernel: multikernel: first second\n"
    assert warnings.formatwarning is usual


def test_sources_by_name_or_by_pattern():
    assert parse_sources(None) is None
    assert parse_sources(["rna, mri", "x"]) == ["rna", "mri", "x"]
    assert parse_sources(["a=a_*,b", "c=c"]) == {"a": ["a_*", "b"], "c": ["c"]}
    assert parse_sources(["a=x.csv", "c=c", "a=y.csv"]) == {"a": ["x.csv", "y.csv"], "c": ["c"]}
    with pytest.raises(ValueError, match="write rna=PATTERN"):
        parse_sources(["rna", "c=c"])


def test_progress_is_plain_lines_where_there_is_no_terminal(capsys):
    with show_progress() as progress:
        progress(1, 2, "uniform sum")
    assert capsys.readouterr().err == "1 of 2 fits, 0 s left: uniform sum\n"


def test_progress_is_a_bar_on_a_terminal(monkeypatch, capsys):
    class Terminal:
        def __init__(self):
            self.text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text
            return len(text)

        def flush(self):
            pass

    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with show_progress(terminal) as progress:
        progress(1, 3, "uniform [sum]")
        progress(2, 3, "uniform [sum]")
    assert "2/3" in terminal.text
    assert "left uniform [sum]" in terminal.text


def test_fits_of_an_earlier_run_do_not_make_the_rest_look_quick(monkeypatch):
    now = iter([0.0, 10.0])
    monkeypatch.setattr("multikernel.cli._progress.time.monotonic", lambda: next(now))
    assert _Clock().left(n_done=91, n_tasks=100) == "1 min 30 s left"


def test_another_comparison_begins_with_another_clock(monkeypatch):
    now = iter([0.0, 10.0, 20.0, 25.0, 31.0, 33.0, 37.0])
    monkeypatch.setattr("multikernel.cli._progress.time.monotonic", lambda: next(now))
    clock = _Clock()
    assert clock.left(n_done=1, n_tasks=2) == "10 s left"
    assert clock.left(n_done=2, n_tasks=2) == "0 s left"
    assert clock.left(n_done=1, n_tasks=2) == "5 s left"  # fewer are done
    assert clock.left(n_done=2, n_tasks=4) == "12 s left"  # there are more tasks
    assert clock.left(n_done=3, n_tasks=4) == "4 s left"
    assert clock.left(n_done=3, n_tasks=4) == "4 s left"  # nothing was done in between


# check


def test_check_says_what_there_is(study):
    out = invoke("check", study, *TARGET).stdout
    assert "clinic: 36 × 2, mri: 30 × 2, rna: 36 × 3" in out
    assert "6 lack mri" in out


def test_check_as_json_and_problems_as_a_status(study, tmp_path):
    leaky = write_study(tmp_path / "leaky")
    table = pd.read_csv(leaky / "clinic.csv")
    table.assign(copy=(table["outcome"] == "ill").astype(float)).to_csv(
        leaky / "clinic.csv", index=False
    )
    result = invoke("check", leaky, *TARGET, "--json", status=3)
    content = json.loads(result.stdout)
    assert content["ok"] is False
    assert any("copy" in f["sentence"] for f in content["findings"] if f["severity"] == "problem")
    assert json.loads(invoke("check", study, *TARGET, "--json").stdout)["ok"] is True


# compare


def test_compare_writes_a_table_a_verdict_and_a_report(compared):
    folder, result = compared
    lines = result.stdout.splitlines()
    assert lines[0].split()[:2] == ["model", "accuracy"]
    assert "rna alone" in result.stdout
    assert "Weight goes to rna" in result.stdout
    assert Path(lines[-1]) == (folder / "report.html").resolve()
    assert "fits, " in result.stderr


def test_compare_goes_on_and_ends_the_same(compared, study):
    folder, first = compared
    again = invoke("compare", study, *TARGET, *QUICK, "--out", folder)
    assert again.stdout == first.stdout  # seconds and all: nothing was fitted
    assert "fits, " not in again.stderr


def test_compare_as_json(compared, study):
    folder, _ = compared
    content = json.loads(
        invoke("compare", study, *TARGET, *QUICK, "--out", folder, "--json").stdout
    )
    assert content["complete"] is True
    assert content["samples"] == {"clinic": 36, "mri": 30, "rna": 36, "all sources": 30}
    assert {row["model"] for row in content["models"]} >= {"rna alone", "uniform sum"}
    uniform = next(row for row in content["models"] if row["model"] == "uniform sum")
    assert uniform["difference"] is None
    assert max(content["importance"], key=lambda row: row["drop"])["source"] == "rna"


def test_a_folder_of_another_comparison_is_refused(compared, study):
    folder, _ = compared
    other = ["--cv", "2", "--models", "uniform sum"]
    result = invoke("compare", study, *TARGET, *other, "--out", folder, status=1)
    assert "choose another folder" in result.stderr


def test_report_is_rebuilt_from_the_folder(compared, tmp_path):
    folder, _ = compared
    before = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    out = invoke("report", folder).stdout
    assert Path(out.strip()) == (folder / "report.html").resolve()
    assert (folder / "report.html").read_bytes() == before
    assert json.loads(invoke("report", folder, "--json").stdout) == {"report": out.strip()}
    assert "holds no comparison" in invoke("report", tmp_path, status=1).stderr
    (tmp_path / "fits").mkdir()
    assert "run the same multikernel compare" in invoke("report", tmp_path, status=1).stderr


def test_the_report_names_files_and_settings(compared):
    folder, _ = compared
    page = (folder / "report.html").read_text("utf-8")
    for words in ["Does combining sources help to predict outcome?", "SHA-256", "rna.csv", "cv"]:
        assert words in page
    settings = json.loads((folder / "study.json").read_text("utf-8"))["settings"]
    assert settings["random_state"] == "0"
    assert settings["command"].startswith("multikernel compare ")
    assert "--cv 3 --models 'uniform sum' --out" in settings["command"]
    assert "multikernel compare" in page
    assert "random_state" in page


def test_a_kill_while_results_are_written_can_be_mended(compared, study, tmp_path, monkeypatch):
    def die(self, path):
        raise OSError("killed")

    out = tmp_path / "out"
    shutil.copytree(compared[0] / "fits", out / "fits")  # nothing is fitted again
    with monkeypatch.context() as patch:
        patch.setattr(multikernel.Comparison, "save", die)
        invoke("compare", study, *TARGET, *QUICK, "--out", out, status=1)
    assert (out / "study.json").is_file()
    assert "was not finished; run the same" in invoke("report", out, status=1).stderr
    invoke("compare", study, *TARGET, *QUICK, "--out", out)
    (out / "study.json").unlink()
    assert "report.html" in invoke("report", out).stdout  # it says less about the data


def test_a_toml_file_gives_defaults_that_options_override(study, tmp_path):
    text = "target = 'clinic:outcome'\n[sources.rna]\nfile = 'rna.csv'\nkernels = ['linear']\n"
    text += "[sources.mri]\nfile = 'mri.csv'\n[compare]\ncv = 2\nmodels = ['uniform sum']\n"
    (study / "study.toml").write_text(text)
    try:
        out = tmp_path / "out"
        content = json.loads(invoke("compare", study / "study.toml", "--out", out, "--json").stdout)
        assert content["complete"]
        assert {row["folds"] for row in content["models"]} == {2}
        uniform = next(row for row in content["models"] if row["model"] == "uniform sum")
        assert uniform["kernels"] == 5
        other = ["--out", tmp_path / "other", "--cv", "3", "--json"]
        content = json.loads(invoke("compare", study / "study.toml", *other).stdout)
        assert {row["folds"] for row in content["models"]} == {3}
    finally:
        (study / "study.toml").unlink()


def test_groups_stay_together(study, tmp_path):
    groups = pd.read_csv(study / "clinic.csv")[["sample"]]
    groups["site"] = [f"site {i % 4}" for i in range(len(groups))]
    folder = tmp_path / "data"
    write_study(folder)
    groups.to_csv(folder / "site.csv", index=False)
    options = ["--groups", "site:site", *TARGET, *QUICK, "--out", tmp_path / "out"]
    invoke("compare", folder, *options, "--sources", "rna,mri")
    stored = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert stored["sources"] == ["mri", "rna"]
    sites = groups["site"].to_numpy()
    ids = multikernel.read_sources(folder, target="clinic:outcome", sources=["rna", "mri"])
    rows = [int(sample[1:]) for sample in ids.align()[0].ids]
    for entry in [e for e in stored["results"] if e["role"] == "model"]:  # of all samples
        test = set(sites[[rows[i] for i in entry["test"]]])
        train = set(sites[[rows[i] for i in range(36) if i not in entry["test"]]])
        assert not test & train


def test_a_time_budget_leaves_a_partial_report_and_succeeds(study, tmp_path):
    out = tmp_path / "out"
    result = invoke("compare", study, *TARGET, *QUICK, "--time-budget", "1e-9", "--out", out)
    assert "Too little was done" in result.stdout
    assert "Too little was done" in (out / "report.html").read_text("utf-8")
    goes_on = f"the time budget is used up; with more, the same command goes on from {out}"
    assert goes_on in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("change", "unfinished"),
    [
        ({}, False),
        ({"whole": None}, True),
        ({"whole": None, "failures": [{"fold": 0}]}, True),
        ({"whole": None, "failures": [{"fold": None}]}, False),
        ({"complete": False}, True),
    ],
)
def test_what_a_time_budget_can_leave_out(studies, change, unfinished):
    assert _unfinished(replace(studies[0].comparison, **change)) == unfinished


def test_a_headline_that_failed_on_some_folds_has_not_failed(studies):
    result = studies[0].comparison
    lost = [{"model": result.headline, "fold": k} for k in range(result.n_folds)]
    others = [{"model": "Bayesian", "fold": k} for k in range(result.n_folds)]
    assert not _headline_failed(replace(result, results=[], failures=[*lost[1:], *others]))
    assert _headline_failed(replace(result, results=[], failures=[*lost, *others]))
    assert not _headline_failed(replace(result, failures=lost))  # of permutations


def test_a_comparison_whose_headline_fails_exits_with_1(study, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("the engine is off")

    monkeypatch.setattr(multikernel.MKLClassifierCV, "fit", fail)
    options = ["--models", "concatenated, linear", "--cv", 2, "--out", tmp_path / "out"]
    result = invoke("compare", study, *TARGET, *options, status=1)
    assert "Too little was done for a verdict: MKL, elastic net finished no fold." in result.stdout
    assert "time budget" not in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "name the target"),
        (
            [*TARGET, "--models", "nonsense"],
            "There is no model 'nonsense'. There are: uniform sum;",
        ),
        ([*TARGET, "--models", "uniform sum; MKL, lpp"], "did you mean 'MKL, lp'?"),
        (
            [*TARGET, "--scoring", "acuracy"],
            "There is no score 'acuracy'; did you mean 'accuracy'",
        ),
        (
            [*TARGET, "--scoring", "nonsense"],
            "no score 'nonsense'. Common ones for classification: accuracy, balanced_accuracy, ",
        ),
        (
            ["--target", "clinic:age", "--scoring", "nonsense"],
            "no score 'nonsense'. Common ones for regression: r2, ",
        ),
        ([*TARGET, "--scoring", "r2"], "The score 'r2' does not fit the targets (could not con"),
        ([*TARGET, "--models", ";"], "--models names no model; leave the option out"),
        ([*TARGET, "--jobs", "0"], "n_jobs must be a whole number other than 0"),
        ([*TARGET, "--cv", "50"], "50"),
        ([*TARGET, "--sources", "nonsense"], "There is no source 'nonsense'"),
        (["--target", "clinic:outcom"], "did you mean 'outcome'?"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(study, tmp_path, options, words):
    result = invoke("compare", study, *options, "--out", tmp_path / "out", status=1)
    assert words in result.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "models = ['uniform sum', 'MKL, lpp']",
            "study.toml, line 4, compare.models[1]: There is no model 'MKL, lpp'; did you mean "
            "'MKL, lp'? There are: uniform sum;",
        ),
        (
            "scoring = 'acuracy'",
            "study.toml, line 4, compare.scoring: There is no score 'acuracy'; did you mean "
            "'accuracy'?",
        ),
    ],
)
def test_names_of_a_toml_file_that_do_not_exist(tmp_path, line, words):
    path = write_study(tmp_path / "data") / "study.toml"
    path.write_text(f"target = 'clinic:outcome'\n\n[compare]\n{line}\ncv = 2\n")
    out = tmp_path / "out"
    for command in (["check", path], ["compare", path, "--out", out]):
        assert words in invoke(*command, status=1).stderr
    assert not out.exists()


def test_names_of_a_toml_file_that_exist_or_do_not_count(tmp_path):
    path = write_study(tmp_path / "data") / "study.toml"
    named = "models = ['MKL, lp', 'rna alone']\nscoring = 'roc_auc'\n"
    path.write_text(f"target = 'clinic:outcome'\n[compare]\n{named}")
    invoke("check", path)
    path.write_text("target = 'clinic:outcome'\n[compare]\nmodels = ['nonsense']\n")
    check_options(path, read_sources(path), overridden=["models"])


def test_names_of_models_are_separated_by_semicolons():
    assert split_names(["uniform sum; MKL, lp", "Bayesian"]) == [
        "uniform sum",
        "MKL, lp",
        "Bayesian",
    ]
    assert split_names(None) is split_names([]) is None


# fit and predict


def test_fit_prints_the_weights(model, study, tmp_path):
    result = invoke("fit", study, *TARGET, "--inner-cv", 3, "--out", tmp_path / "again.skops")
    assert result.stdout.split()[:4] == ["source", "family", "parameter", "weight"]
    assert result.stdout.splitlines()[-1] == str((tmp_path / "again.skops").resolve())
    other = ["--model", "uniform sum", "--inner-cv", 3, "--json", "--out", tmp_path / "u.skops"]
    content = json.loads(invoke("fit", study, *TARGET, *other).stdout)
    assert len({round(row["weight"], 12) for row in content["kernels"]}) == 1
    assert set(content["chosen"]) == {"C"}
    assert 0.5 < content["score"] <= 1


def fitted_like(d, C, Cs=(0.1, 1.0, 10.0), **more):
    candidates = [SimpleNamespace(C=value) for value in Cs]
    return SimpleNamespace(weights_=np.array(d), C_=C, candidates_=candidates, **more)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (fitted_like([1.0, 1.2], 1.0), ["are nearly uniform: the uniform sum would"]),
        (fitted_like([[1.0, 1.0], [1.0, 3.0]], 1.0), []),
        (fitted_like([0.0, 1.0], 1.0), []),
        (fitted_like([2.0], 1.0), []),
        (fitted_like([2.0, 2.0], 1.0, regularizer=multikernel.Uniform()), []),
        (fitted_like([1.0, 9.0], 0.1), ["C=0.1 is the smallest of those tried (0.1 to 10): a sma"]),
        (fitted_like([1.0, 9.0], 10.0), ["C=10 is the largest of those tried (0.1 to 10): a larg"]),
        (fitted_like([1.0, 9.0], 0.1, Cs=[0.1]), []),
        (fitted_like([1.0, 9.0], 0.1, selection="one_se"), []),
        (SimpleNamespace(weights_=np.array([1.0, 9.0])), []),
        (fitted_like([0.0, 0.0], 0.1), ["No kernel got a weight: nothing predicts held-out"]),
    ],
)
def test_weights_and_constants_that_say_little_are_pointed_out(model, said):
    remarks = fit_remarks(model)
    assert len(remarks) == len(said)
    assert all(words in remark for words, remark in zip(said, remarks, strict=True))


def test_fit_points_them_out(study, tmp_path, monkeypatch):
    monkeypatch.setattr("multikernel.comparison.insides._FLAT", 1e9)
    options = [*TARGET, "--model", "MKL, lp", "--json", "--out", tmp_path / "m.skops"]
    result = invoke("fit", study, *options)
    assert "multikernel: The learned weights are nearly uniform: " in result.stderr
    assert "The learned weights are nearly uniform" in json.loads(result.stdout)["notes"][-1]


def test_predictions_are_those_of_the_model_in_memory(model, study, tmp_path):
    out = tmp_path / "p.csv"
    invoke("predict", model, study, "--out", out)
    table = pd.read_csv(out)
    assert list(table.columns) == ["sample", "prediction", "p(ill)", "p(well)"]
    assert len(table) == 36
    fitted = multikernel.load_model(model)
    X, y, _ = multikernel.read_sources(study, target="clinic:outcome").align()
    np.testing.assert_allclose(table[["p(ill)", "p(well)"]], fitted.predict_proba(X), atol=1e-12)
    assert list(table["sample"]) == list(X.ids)
    assert np.mean(table["prediction"] == y.to_numpy()) > 0.9


def test_new_files_may_have_other_columns_and_no_target(model, study, tmp_path):
    new = tmp_path / "new"
    write_study(new)
    clinic = pd.read_csv(new / "clinic.csv").drop(columns="outcome")
    clinic.assign(height=1.7)[["sample", "height", "sex", "age"]].to_csv(
        new / "clinic.csv", index=False
    )
    (new / "diet.csv").write_text("sample,kcal\nP00,1\nP01,2\nP02,3\n")
    out = tmp_path / "p.csv"
    result = invoke("predict", model, new, "--out", out)
    assert "fitted without diet" in result.stderr
    assert "height not used" in result.stderr
    invoke("predict", model, study, "--out", tmp_path / "q.csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(out).set_index("sample").sort_index(),
        pd.read_csv(tmp_path / "q.csv").set_index("sample").sort_index(),
    )


def test_a_column_that_lacks_is_named(model, tmp_path):
    new = write_study(tmp_path / "new")
    pd.read_csv(new / "rna.csv").drop(columns="g1").to_csv(new / "rna.csv", index=False)
    result = invoke("predict", model, new, "--out", tmp_path / "p.csv", status=1)
    assert "Source 'rna' lacks the column 'g1' that the model was fitted to" in result.stderr
    assert not (tmp_path / "p.csv").exists()


def test_what_was_read_is_not_written_over(study, model, tmp_path):
    own = write_study(tmp_path / "own")
    files = {path: path.read_bytes() for path in [model, *own.iterdir()]}
    for command in (
        ["fit", own, *TARGET, "--out", own / "rna.csv"],
        ["predict", model, own, "--out", own / "rna.csv"],
        ["predict", model, own, "--out", model],
    ):
        said = " ".join(invoke(*command, status=1).stderr.split())
        assert "is one of the files that were read; name another for --out." in said
    assert files == {path: path.read_bytes() for path in [model, *own.iterdir()]}


@pytest.mark.parametrize("name", ["report.html", "study.json", "comparison.json"])
def test_files_of_others_are_not_written_over(study, tmp_path, name):
    (tmp_path / name).write_text("mine")
    said = invoke("compare", study, *TARGET, *QUICK, "--out", tmp_path, status=1).stderr
    assert f"holds a {name}, but no fits/plan.json" in " ".join(said.split())
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_what_the_system_refuses_is_said_with_the_path(study, tmp_path, monkeypatch):
    taken = tmp_path / "taken"
    taken.write_text("")
    said = invoke("compare", study, *TARGET, *QUICK, "--out", taken, status=1).stderr
    told = f"Could not make the folder {taken / 'fits'}: Not a directory; choose another."
    assert told in " ".join(said.split())

    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", "rna.csv")

    monkeypatch.setattr(pd, "read_csv", denied)
    said = invoke("check", study, *TARGET, status=1).stderr
    assert "Could not use rna.csv: Permission denied; check its path" in " ".join(said.split())


def test_a_source_that_lacks_must_be_allowed(model, tmp_path):
    new = write_study(tmp_path / "new")
    (new / "rna.csv").unlink()
    out = tmp_path / "p.csv"
    result = invoke("predict", model, new, "--out", out, status=1)
    assert "The data lack rna" in result.stderr
    assert "--allow-missing" in result.stderr
    result = invoke("predict", model, new, "--out", out, "--allow-missing", "--json")
    assert "Predicted without rna" in result.stderr
    assert len(json.loads(result.stdout)["predictions"]) == 36


def test_regression_has_no_probabilities(study, tmp_path):
    path = tmp_path / "age.skops"
    invoke("fit", study, "--target", "clinic:age", "--inner-cv", 3, "--out", path)
    invoke("predict", path, study, "--out", tmp_path / "p.csv")
    table = pd.read_csv(tmp_path / "p.csv")
    assert list(table.columns) == ["sample", "prediction"]
    assert np.isfinite(table["prediction"]).all()


def test_kernel_matrices_are_fitted_and_predicted(tmp_path):
    rng = np.random.default_rng(0)
    Z, ids = rng.normal(size=(30, 3)), [f"s{i}" for i in range(30)]
    folder = tmp_path / "data"
    folder.mkdir()
    for name, columns in {"one": [0], "two": [1, 2]}.items():
        K = Z[:, columns] @ Z[:, columns].T
        pd.DataFrame(K, index=ids, columns=ids).to_csv(folder / f"{name}.csv", index_label="id")
    y = pd.DataFrame({"id": ids[:24], "y": np.where(Z[:24, 0] > 0, "b", "a")})
    y.to_csv(folder / "y.csv", index=False)
    path = tmp_path / "m.skops"
    invoke("fit", folder, "--target", "y:y", "--inner-cv", 3, "--out", path)
    options = ["--sources", "one,two", "--out", tmp_path / "p.csv"]
    invoke("predict", path, folder, *options)
    table = pd.read_csv(tmp_path / "p.csv").set_index("sample")
    new = table.loc[ids[24:], "prediction"].to_numpy()
    assert np.mean(new == np.where(Z[24:, 0] > 0, "b", "a")) >= 5 / 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([*TARGET, "--model", "nonsense"], "There is no model 'nonsense' to fit"),
        ([*TARGET, "--model", "mkl lp"], "did you mean 'MKL, lp'?"),
        ([*TARGET, "--model", "rna alone"], "add --sources 'rna' --model 'uniform sum'"),
        (
            [*TARGET, "--scoring", "acuracy"],
            "did you mean 'accuracy'? Common ones for classification",
        ),
        ([*TARGET, "--model", "concatenated, linear"], "to fit"),
        ([], "name the target"),
    ],
)
def test_what_cannot_be_fitted_is_one_sentence(study, tmp_path, options, words):
    result = invoke("fit", study, *options, "--out", tmp_path / "m.skops", status=1)
    assert words in result.stderr
    assert not (tmp_path / "m.skops").exists()


class SeenError(Exception):
    pass


def seen_setting(monkeypatch, dataset, **options):
    """What the factory of a model is given."""
    seen = []

    def factory(setting):
        seen.append(setting)
        raise SeenError

    monkeypatch.setitem(multikernel.comparison.MODELS, "uniform sum", factory)
    with pytest.raises(SeenError):
        fit_model(dataset, "uniform sum", **options)
    return seen[0]


def test_fit_chooses_parameters_as_compare_does(study, monkeypatch):
    dataset = multikernel.read_sources(study, target="clinic:outcome")
    setting = seen_setting(monkeypatch, dataset, inner_cv=4, scoring="roc_auc", random_state=3)
    assert isinstance(setting.inner_cv, StratifiedKFold)
    assert (setting.inner_cv.n_splits, setting.inner_cv.shuffle) == (4, True)
    assert setting.inner_cv.random_state == 3
    assert setting.scoring == "roc_auc"
    sites = pd.Series([f"site {i % 4}" for i in range(36)], index=dataset.y.index)
    setting = seen_setting(monkeypatch, replace(dataset, groups=sites))
    labels = sites.reindex(dataset.align()[0].ids).to_numpy()
    assert len(setting.inner_cv) == 3
    for train, test in setting.inner_cv:
        assert not set(labels[train]) & set(labels[test])
    one = replace(dataset, groups=sites.map(lambda site: "the same"))
    with pytest.raises(ValueError, match="All samples are of the group 'the same'"):
        fit_model(one, "uniform sum")


def test_kernels_of_distances_are_counted(monkeypatch):
    rng = np.random.default_rng(0)
    ids = [f"s{i}" for i in range(12)]
    z = rng.normal(size=12)
    D = pd.DataFrame(np.abs(z[:, None] - z), index=ids, columns=ids)
    y = pd.Series(["a", "b"] * 6, index=ids)
    given = Dataset({"d": D}, y=y, task="classification", kinds={"d": "distance"})
    assert seen_setting(monkeypatch, given).n_kernels == given.n_kernels("d") == 3
    chosen = replace(given, kernels={"d": [multikernel.ExpDistance(width=[0.5, 1, 2, 4, 8])]})
    setting = seen_setting(monkeypatch, chosen)
    assert setting.n_kernels == chosen.n_kernels("d") == 5


def test_fit_takes_what_a_toml_file_says(study, tmp_path, monkeypatch):
    given = {}

    def remember(dataset, name, **options):
        given.update(options, groups=dataset.groups)
        raise ValueError("enough")

    monkeypatch.setattr(_models, "fit_model", remember)
    text = "target = 'clinic:outcome'\ngroups = 'clinic:sex'\n[sources.rna]\nfile = 'rna.csv'\n"
    text += "[compare]\ncv = 2\ninner_cv = 4\nscoring = 'roc_auc'\nrandom_state = 7\n"
    path = tmp_path / "data" / "study.toml"
    write_study(path.parent)
    path.write_text(text)
    invoke("fit", path, "--out", tmp_path / "m.skops", status=1)
    assert given.pop("groups").nunique() == 2
    assert given == {"inner_cv": 4, "scoring": "roc_auc", "random_state": 7}
    invoke("fit", path, "--scoring", "accuracy", "--out", tmp_path / "m.skops", status=1)
    assert given["scoring"] == "accuracy"


def test_fit_says_what_check_finds(tmp_path):
    folder = write_study(tmp_path / "data")
    clinic = pd.read_csv(folder / "clinic.csv")
    clinic["copy"] = (clinic["outcome"] == "ill").astype(float)
    clinic.loc[0, "outcome"] = clinic.loc[0, "outcome"].title()
    clinic.to_csv(folder / "clinic.csv", index=False)
    rna = pd.read_csv(folder / "rna.csv")
    rna["sample"] = rna["sample"].str.lower()
    rna["g2"] = rna["g2"].astype(float)
    rna.loc[4, "g2"] = np.inf
    rna.to_csv(folder / "rna.csv", index=False)
    out = tmp_path / "m.skops"
    result = invoke("fit", folder, *TARGET, "--model", "uniform sum", "--out", out, status=1)
    for words in [
        "Column 'copy' correlates with the target",
        "only in upper and lower case",
        "1 column with infinite values (g2)",
        "differ only in case or spaces, but count as different ones",
        "of 1: fewer than the 3 folds",
        "Source 'rna', column 'g2': sample 'p04' has an infinite value",
    ]:
        assert words in result.stderr
    assert not out.exists()


@pytest.mark.parametrize("command", ["check", "fit", "compare"])
def test_values_whose_products_overflow_are_named(command, tmp_path):
    folder = write_study(tmp_path / "data")
    rna = pd.read_csv(folder / "rna.csv").astype({"g2": float})
    rna.loc[4, "g2"] = 1e200
    rna.to_csv(folder / "rna.csv", index=False)
    options = [] if command == "check" else ["--out", tmp_path / "out"]
    result = invoke(command, folder, *TARGET, *options, status=3 if command == "check" else 1)
    said = result.output + result.stderr
    assert "1 column with values of up to 1e+200 (g2)" in " ".join(said.split())
    assert "encountered" not in said  # as numpy would warn
    if command != "check":
        assert "Source 'rna', column 'g2': sample 'P04' has the value 1e+200" in result.stderr


# new files


def new_study(folder, change):
    """New files of which one was changed, and whose target is not known."""
    write_study(folder)
    clinic = pd.read_csv(folder / "clinic.csv").drop(columns="outcome")
    change(clinic).to_csv(folder / "clinic.csv", index=False)
    return folder


def probabilities(model, folder, tmp_path):
    out = tmp_path / "p.csv"
    result = invoke("predict", model, folder, "--out", out)
    return pd.read_csv(out, index_col="sample").sort_index()["p(ill)"], result.stderr


def test_levels_of_text_are_those_of_the_fit(model, study, tmp_path):
    usual, _ = probabilities(model, study, tmp_path)
    men = lambda t: t[t["sex"] == "m"]  # noqa: E731
    some, said = probabilities(model, new_study(tmp_path / "men", men), tmp_path)
    assert "at the fit" not in said
    rows = pd.read_csv(study / "clinic.csv").query("sex == 'm'")["sample"]
    np.testing.assert_allclose(some[rows], usual[rows], atol=1e-12)


def test_a_level_that_the_fit_did_not_know_is_said_and_not_the_first_one(model, study, tmp_path):
    usual, _ = probabilities(model, study, tmp_path)
    strange = lambda t: t.assign(sex=["x", *t["sex"][1:]])  # noqa: E731
    other, said = probabilities(model, new_study(tmp_path / "x", strange), tmp_path)
    assert (
        "Source 'clinic', column 'sex': 'x' (1 sample) was not there at the fit, which knew 'f', "
        "'m': taken as missing." in said
    )
    missing = lambda t: t.assign(sex=[np.nan, *t["sex"][1:]])  # noqa: E731
    without, _ = probabilities(model, new_study(tmp_path / "nan", missing), tmp_path)
    np.testing.assert_allclose(other, without, atol=1e-12)
    assert abs(other["P00"] - usual["P00"]) > 1e-6  # there it is "f"
    np.testing.assert_allclose(other[1:], usual[1:], atol=1e-12)


def test_levels_travel_in_the_file(model):
    assert levels_of(multikernel.load_model(model)) == {
        "clinic": {"sex": ["f", "m"]},
        "mri": {},
        "rna": {},
    }


def test_ids_of_new_files_may_stand_anywhere(model, study, tmp_path):
    usual, _ = probabilities(model, study, tmp_path)
    moved = lambda t: t[["sex", "sample", "age"]].sample(frac=1, random_state=0)  # noqa: E731
    other, said = probabilities(model, new_study(tmp_path / "new", moved), tmp_path)
    np.testing.assert_allclose(other, usual, atol=1e-12)
    assert "position" not in said


def test_a_join_by_position_is_said(model, tmp_path):
    new = new_study(tmp_path / "new", lambda t: t.drop(columns="sample"))
    (new / "mri.csv").unlink()
    result = invoke("predict", model, new, "--allow-missing", "--out", tmp_path / "p.csv")
    assert "clinic.csv has no sample ids: its rows are joined by position" in result.stderr


def test_an_empty_target_in_new_files_is_no_matter(model, study, tmp_path):
    usual, _ = probabilities(model, study, tmp_path)
    new = new_study(tmp_path / "new", lambda t: t.assign(target=""))
    np.testing.assert_allclose(probabilities(model, new, tmp_path)[0], usual, atol=1e-12)


def test_new_columns_of_free_text_and_dates_are_no_matter(model, study, tmp_path):
    usual, _ = probabilities(model, study, tmp_path)
    more = lambda t: t.assign(  # noqa: E731
        when="2001-02-03", remark=[f"felt {i % 30}" for i in range(len(t))]
    )
    other, said = probabilities(model, new_study(tmp_path / "new", more), tmp_path)
    assert "Source 'clinic': when, remark not used." in said
    np.testing.assert_allclose(other, usual, atol=1e-12)


def test_one_new_sample_without_text(model, tmp_path):
    new = new_study(tmp_path / "new", lambda t: t.assign(sex=np.nan).head(1))
    for name in ("rna", "mri"):
        table = pd.read_csv(new / f"{name}.csv")
        table.assign(sample="P00").head(1).to_csv(new / f"{name}.csv", index=False)
    values, _ = probabilities(model, new, tmp_path)
    assert values.index.tolist() == ["P00"]
    assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RNA", "a source 'RNA', but the model was fitted to 'rna', and upper and lower case"),
        ("rn", "Source 'rn' may be the 'rna' of the model: if so, rename it, or name its file, "),
    ],
)
def test_a_misspelt_source_is_not_passed_over(model, tmp_path, name, words):
    new = write_study(tmp_path / "new")
    (new / "rna.csv").rename(new / f"{name}.csv")
    options = ["--allow-missing", "--out", tmp_path / "p.csv"]
    assert words in invoke("predict", model, new, *options, status=1).stderr
    assert not (tmp_path / "p.csv").exists()


def test_a_model_of_unnamed_sources_is_refused_in_a_sentence(study, tmp_path, rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    for k, fitted in enumerate([multikernel.MKLClassifier().fit(X, y), SVC().fit(X, y)]):
        path = tmp_path / f"{k}.skops"
        multikernel.save_model(fitted, path)
        said = invoke("predict", path, study, "--out", tmp_path / "p.csv", status=1).stderr
        assert f"This {type(fitted).__name__} was fitted to an array or one table, not to" in said
    assert not (tmp_path / "p.csv").exists()


def test_the_hint_at_a_misspelt_source_comes_before_other_complaints(model, tmp_path):
    new = new_study(tmp_path / "new", lambda t: t.drop(columns="age"))
    (new / "rna.csv").rename(new / "rn.csv")
    out = ["--out", tmp_path / "p.csv"]
    hint = (
        "multikernel: Source 'rn' may be the 'rna' of the model: if so, rename it, or name its "
        "file, and those of all other sources, as in --sources rna=FILE. "
    )
    said = invoke("predict", model, new, *out, status=1).stderr
    assert said.startswith(hint + "The data lack rna, which the model uses; they have: ")
    alone = invoke("predict", model, new, "--sources", "rn", *out, status=1).stderr
    assert alone.startswith(hint + "None of the sources rn is known to the model; it was fitted")
    advice = "Leave a source out by --sources if it is another one.\n"
    assert invoke("predict", model, new, "--allow-missing", *out, status=1).stderr.endswith(advice)


def test_the_file_of_a_source_may_be_named(model, study, tmp_path):
    usual, _ = probabilities(model, study, tmp_path)
    new = write_study(tmp_path / "new")
    (new / "rna.csv").rename(new / "rn.csv")
    files = {"rna": "rn.csv", "mri": "mri.csv", "clinic": "clinic.csv"}
    named = [part for name, file in files.items() for part in ("--sources", f"{name}={file}")]
    invoke("predict", model, new, *named, "--out", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv", index_col="sample").sort_index()["p(ill)"]
    assert_allclose(found, usual)


def test_one_table_that_has_gained_a_column(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(24, 4)))
    table.columns = ["rna_a", "rna_b", "mri_a", "mri_b"]
    table.insert(0, "sample", [f"P{i}" for i in range(24)])
    old = table.assign(target=np.where(table["rna_a"] > 0, "well", "ill"))
    old.to_csv(tmp_path / "old.csv", index=False)
    table.to_csv(tmp_path / "new.csv", index=False)
    table.assign(age=60).to_csv(tmp_path / "more.csv", index=False)
    path = tmp_path / "m.skops"
    invoke("fit", tmp_path / "old.csv", "--model", "uniform sum", "--inner-cv", 2, "--out", path)
    usual, _ = probabilities(path, tmp_path / "new.csv", tmp_path)
    other, said = probabilities(path, tmp_path / "more.csv", tmp_path)
    assert said == "multikernel: more.csv: age not used.\n"
    np.testing.assert_allclose(other, usual, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="sex"), "Source 'clinic' lacks the column 'sex' that the model"),
        (lambda t: t.assign(age=["old", "new"] * 18), "'age' held numbers at the fit and holds"),
        (lambda t: t.assign(age=np.inf), "column 'age': sample 'P00' has an infinite value"),
    ],
)
def test_columns_of_new_files_that_cannot_be_used(model, tmp_path, change, words):
    new = new_study(tmp_path / "new", change)
    result = invoke("predict", model, new, "--out", tmp_path / "p.csv", status=1)
    assert words in result.stderr


def test_what_was_written_into_the_data_is_no_source(model, tmp_path):
    new = write_study(tmp_path / "new")
    invoke("predict", model, new, "--out", new / "guess.csv")
    (new / "m.skops").write_bytes(model.read_bytes())
    (new / "comparison").mkdir()
    data = multikernel.read_sources(new)
    assert list(data.tables) == ["clinic", "mri", "rna"]
    assert "guess.csv holds predictions of multikernel and was not read." in data.notes
    assert any("m.skops was not read" in note and "it is a model" in note for note in data.notes)
    (new / "study.toml").write_text("target = 'clinic:outcome'\n")
    assert list(multikernel.read_sources(new / "study.toml").tables) == ["clinic", "mri", "rna"]


def test_a_folder_for_the_model_that_is_not_there_is_said_before_the_fit(study, tmp_path):
    result = invoke("fit", study, *TARGET, "--out", tmp_path / "no" / "m.skops", status=1)
    assert "does not exist; create it first" in result.stderr


# bench


def test_bench_counts_passes():
    content = json.loads(invoke("bench", "--quick", "--json").stdout)
    assert content["kernels"] == 20
    assert content["passes"] > 1
    assert content["relative gap"] <= 1e-4
    assert "passes" in invoke("bench", "--quick").stdout


# in a process of its own


def command(*arguments):
    return [sys.executable, "-m", "multikernel.cli", *map(str, arguments)]


def environment():
    package = str(Path(multikernel.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": package, "OPENBLAS_NUM_THREADS": "1"}


def test_json_is_all_there_is_on_stdout(study):
    done = subprocess.run(
        command("check", study, *TARGET, "--json"),
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["ok"] is True
    assert done.stderr == ""


INTERRUPTED = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer.core":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from multikernel.cli import main
sys.argv = ["multikernel", "check", "data"]
sys.exit(main())
"""


def test_an_interrupt_while_the_application_is_imported_is_quiet():
    arguments = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(
        arguments, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (130, "multikernel: interrupted\n")


def test_a_second_interrupt_says_how_to_go_on_too(study, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("multikernel.cli._study.compare_study", interrupted)
    done = invoke("compare", study, *TARGET, "--out", tmp_path / "out", status=130)
    said = f"multikernel: interrupted; the same command goes on from {tmp_path / 'out'}"
    assert done.stderr.splitlines()[-1] == said


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_an_interrupt_leaves_a_partial_report_that_goes_on(study, tmp_path):
    out = tmp_path / "out"
    arguments = command("compare", study, *TARGET, "--cv", 10, "--out", out)
    run = subprocess.Popen(
        arguments, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 100
    while len(list(out.glob("fits/*.json"))) < 7 and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert (
        stderr.splitlines()[-1] == f"multikernel: interrupted; the same command goes on from {out}"
    )
    assert Path(stdout.splitlines()[-1]) == (out / "report.html").resolve()
    stored = json.loads((out / "comparison.json").read_text())
    assert stored["complete"] is False
    assert 5 <= len(stored["results"]) < 150  # seven files: the plan, and one may just be written
    page = (out / "report.html").read_text("utf-8")
    assert "rna alone" in page
    n_kept = len(stored["results"])
    again = invoke(
        "compare", study, *TARGET, "--cv", 10, "--out", out, "--time-budget", "1e-9", "--json"
    )
    assert json.loads(again.stdout)["complete"] is False
    assert len(json.loads((out / "comparison.json").read_text())["results"]) >= n_kept


# real data

TCGA = """
target = ["train_subtype.csv:subtype", "test_subtype.csv:subtype"]
[sources.mrna]
file = ["train_mrna.csv", "test_mrna.csv"]
kernels = ["linear"]
[sources.mirna]
file = ["train_mirna.csv", "test_mirna.csv"]
kernels = ["linear"]
[sources.protein]
file = "train_protein.csv"
kernels = ["linear"]
[compare]
importance = false
inner_cv = 2
"""


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "breast_tcga").is_dir(), reason="needs breast_tcga")
def test_breast_tumours_from_their_files(tmp_path):
    folder = tmp_path / "tcga"
    folder.mkdir()
    for file in (DATA / "breast_tcga").glob("*.csv"):
        (folder / file.name).symlink_to(file)
    (folder / "study.toml").write_text(TCGA)
    assert "lack protein" in invoke("check", folder / "study.toml").stdout
    options = ["--cv", 2, "--models", "uniform sum", "--out", tmp_path / "out", "--json"]
    content = json.loads(invoke("compare", folder / "study.toml", *options).stdout)
    assert content["samples"]["all sources"] == content["samples"]["protein"] == 150
    assert max(row["score"] for row in content["models"]) > 0.75


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "mfeat").is_dir(), reason="needs mfeat")
def test_handwritten_digits_are_checked_from_their_file():
    result = invoke("check", DATA / "mfeat" / "HW.mat", "--target", "Y", "--json")
    content = json.loads(result.stdout)
    assert any(f["subject"] == "memory" for f in content["findings"])
