"""The probabilistic experiment: nothing is learned from test samples, it resumes, it measures."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "experiments").is_dir(), reason="experiments are not part of the package"
)
sys.path.insert(0, str(ROOT / "experiments"))

import probabilistic  # noqa: E402
import probabilistic_data  # noqa: E402
import probabilistic_table  # noqa: E402


def tiny(labels):
    """Sixty samples whose first of three variables matters."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    f = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    y = np.where(f > 0, 1.0, -1.0) if labels else f
    return probabilistic_data.Data(X, y, (0.5, 2.0), (1,))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a finished run, and its rows."""
    folder = tmp_path_factory.mktemp("probabilistic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(probabilistic_data.DATA, "sonar", lambda _: tiny(labels=True))
        patch.setitem(probabilistic_data.DATA, "concrete", lambda _: tiny(labels=False))
        yield folder, run(folder)


def run(folder, *more):
    page = folder / "page.md"
    page.write_text("before\n<!-- begin tables -->\nold\n<!-- end tables -->\nafter\n")
    asked = ["--data", "sonar", "concrete", "--splits", "2", "--small", "16"]
    out = ["--out", str(folder / "rows.csv"), "--docs", str(page)]
    return probabilistic.main(probabilistic.arguments([*asked, *out, *more]))


def test_every_method_is_measured_on_every_split(finished):
    _, frame = finished
    assert len(frame) == 2 * 2 * 2 * len(probabilistic.METHODS)
    assert set(frame["method"]) == set(probabilistic.METHODS)
    assert set(frame["n_train"]) == {16, 42}
    assert np.all(np.isfinite(frame[["error", "lpd", "calibration", "log_evidence"]]))
    assert np.all(frame.loc[frame["method"] == "uniform sum", "kernels"] == 1)


def test_the_evidence_finds_the_variable_that_matters(finished):
    _, frame = finished
    whole = frame[(frame["size"] == 0) & (frame["method"] == "evidence or VB")]
    error = whole.groupby("data")["error"].mean()
    assert error["sonar"] < 0.25
    assert error["concrete"] < 0.7  # of the standard deviation of the targets
    assert np.all(whole["kernels"] < whole["n_kernels"])


def test_a_finished_run_is_not_repeated(finished, monkeypatch):
    folder, frame = finished

    def refuse(*_):
        raise AssertionError("ran again")

    monkeypatch.setattr(probabilistic, "run_task", refuse)
    again = run(folder)
    assert_allclose(again["lpd"], frame["lpd"], rtol=1e-5)


def test_the_page_keeps_what_is_around_its_tables(finished):
    text = (finished[0] / "page.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    for part in ("### sonar", "### concrete", "### Pairs of methods", "90 % coverage", "ECE"):
        assert part in text


@pytest.mark.parametrize("labels", [True, False])
def test_test_samples_do_not_reach_the_training_kernels(labels):
    data = tiny(labels)
    train, test = np.arange(30), np.arange(30, 60)
    split = probabilistic_data.make_split(data, train, test)
    X = data.X.copy()
    X[test] *= 7.0
    y = data.y.copy()
    y[test] = -y[test]
    moved = probabilistic_data.make_split(
        probabilistic_data.Data(X, y, data.bandwidths, data.degrees), train, test
    )
    assert_array_equal(split.y_train, moved.y_train)
    for name in split.train.names:
        K, L = split.train.block(name, train), moved.train.block(name, train)
        assert_allclose(K, L, rtol=1e-12, atol=1e-12)
        assert_allclose(np.mean(np.diagonal(K)), 1.0)
    assert not np.allclose(split.test.block("all/poly(1)"), moved.test.block("all/poly(1)"))


def test_the_uniform_split_has_the_mean_of_all_kernels():
    split = probabilistic_data.make_split(tiny(labels=False), np.arange(30), np.arange(30, 60))
    mean = np.mean([split.test.block(name) for name in split.test.names], axis=0)
    assert_allclose(split.uniform().test.block("mean"), mean)


def test_calibration_error_and_coverage():
    positive = np.array([True, False, True, True])
    p = np.array([0.15, 0.12, 0.95, 1.0])
    # one bin holds 1 positive for 0.27 expected, the other 2 for 1.95
    assert_allclose(probabilistic_table.calibration_error(positive, p), (0.73 + 0.05) / 4)
    interval = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert probabilistic_table.coverage(np.array([0.5, 2.0]), interval) == 0.5
