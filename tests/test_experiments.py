"""The Q-MKL experiment: its folds see no test data, it resumes, and its tests are what they say."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from scipy.stats import ttest_rel
from sklearn.svm import SVC

from multikernel import DualCovariance, Hinge, Problem, Uniform
from multikernel.banks import PackedBank
from multikernel.datasets import TopVoxels, make_neuroimaging, neuroimaging_kernels

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "experiments").is_dir(), reason="experiments are not part of the package"
)
sys.path.insert(0, str(ROOT / "experiments"))

import qmkl  # noqa: E402
import qmkl_data  # noqa: E402
import qmkl_table  # noqa: E402

Q_METHODS = ["Cov", "Lap.(Cov)", "Lap.(Cov) + diag"]
METHODS = [
    "uniform sum", "1-norm", "1.5-norm", "2-norm", *Q_METHODS, *(f"signed {m}" for m in Q_METHODS),
]  # fmt: skip


def tiny(draw, folder=None, quick=True):
    """Forty people, sixty voxels, 24 kernels."""
    data = make_neuroimaging(40, 18, n_voxels=60, random_state=draw)
    y = (data.y == "patient").astype(np.intp)
    return qmkl_data.Study(data.X, y, TopVoxels((0.2, 1.0)), neuroimaging_kernels())


def run(folder, *more):
    return qmkl.main(qmkl.arguments(["--quick", "--out", str(folder), *more]))


@pytest.fixture(scope="module", autouse=True)
def tiny_study():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(qmkl_data.STUDIES, "neuroimaging", tiny)
        qmkl.load.cache_clear()
        yield
    qmkl.load.cache_clear()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run with its results, not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, run(folder)


@pytest.fixture
def stored(finished, tmp_path):
    """A copy of the folder, to be changed at will."""
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


def test_the_quick_version_runs_to_its_table(finished):
    folder, frame = finished
    assert frame["method"].unique().tolist() == METHODS
    assert frame.groupby("method").size().eq(3).all()
    assert frame["gap"].max() <= 1e-4
    assert frame[["acc", "sens", "spec"]].stack().between(0, 1).all()
    assert frame.groupby("method")["active"].mean()["2-norm"] == 24
    table = (folder / "neuroimaging-quick.md").read_text(encoding="utf-8")
    for method in METHODS:
        assert f"| {method} | " in table
    assert "0.888" in table  # the number that the paper prints
    assert_frame_equal(pd.read_csv(folder / "neuroimaging-quick.csv"), frame, rtol=1e-4)


def test_a_finished_run_is_only_read_again_and_can_go_on_a_page(finished, stored, monkeypatch):
    page, name = stored / "page.md", "neuroimaging-quick"
    page.write_text(f"before\n<!-- begin {name} -->\nstale\n<!-- end {name} -->\nafter\n")
    monkeypatch.setattr(qmkl, "run_part", lambda *args: pytest.fail("nothing was missing"))
    assert_frame_equal(run(stored, "--docs", str(page)), finished[1])
    before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- begin {name} -->")
    table, _, after = rest.partition(f"<!-- end {name} -->")
    assert (before, after) == ("before\n", "\nafter\n")
    assert table.strip() == (stored / f"{name}.md").read_text(encoding="utf-8").strip()


def test_a_stopped_run_goes_on_where_it_was(finished, stored, monkeypatch):
    (stored / "neuroimaging-quick" / "draw00-repeat00-fold01.csv").unlink()
    done, run_part = [], qmkl.run_part
    monkeypatch.setattr(qmkl, "run_part", lambda *args: (done.append(args[-1]), run_part(*args)))
    timed = ["seconds", "Q_seconds"]
    assert_frame_equal(run(stored).drop(columns=timed), finished[1].drop(columns=timed))
    assert done == [1]
    assert not list(stored.rglob("*.tmp"))


def test_folds_of_other_settings_are_not_mixed_in(stored):
    settings = stored / "neuroimaging-quick" / "settings.json"
    settings.write_text(settings.read_text().replace("0.1", "0.3"))
    with pytest.raises(ValueError, match="folds of other settings"):
        run(stored)


def made_up(n_draws, n_repeats, shifts):
    """Accuracies drawn around the given means."""
    rng = np.random.default_rng(0)
    rows = [
        {"draw": i, "repeat": r, "fold": k, "method": m, "acc": rng.normal(shift, 0.05)}
        for i in range(n_draws)
        for r in range(n_repeats)
        for k in range(10)
        for m, shift in shifts.items()
    ]
    return pd.DataFrame(rows).assign(n_test=10, n_train=90)


def test_draws_are_compared_by_their_means():
    frame = made_up(4, 2, {"2-norm": 0.8, "better": 0.83})
    table = qmkl_table.compare(frame, "acc")
    means = frame.groupby(["draw", "method"])["acc"].mean().unstack()
    expected = ttest_rel(means["better"], means["2-norm"]).pvalue
    assert table["best"].to_dict() == {"2-norm": False, "better": True}
    assert_allclose(table.loc["2-norm", "p_honest"], expected)
    assert_allclose(table["sd"], means.std())


def test_folds_of_one_draw_are_compared_by_the_corrected_test():
    frame = made_up(1, 2, {"2-norm": 0.8, "better": 0.83})
    table = qmkl_table.compare(frame, "acc")
    folds = frame.pivot(index=["repeat", "fold"], columns="method", values="acc")
    x = folds["better"] - folds["2-norm"]
    assert_allclose(table.loc["2-norm", "p_paired"], ttest_rel(x, 0 * x).pvalue)
    assert_allclose(table.loc["2-norm", "p_honest"], qmkl_table.paired_p(x, share=1 / 9))
    assert table.loc["2-norm", "p_honest"] > table.loc["2-norm", "p_paired"]
    assert_allclose(table["sd"], folds.groupby("repeat").mean().std())


def test_kernels_of_a_fold_do_not_depend_on_test_samples():
    study, everyone = tiny(0), np.arange(40)
    train, test = everyone[:30], everyone[30:]
    y = study.y.copy()
    y[test] = 1 - y[test]
    other = qmkl_data.Study(study.X, y, study.prepare, study.kernels)
    a, b = (qmkl_data.fold_kernels(s, train, test) for s in (study, other))
    assert_array_equal(a.bank.combine(np.ones(24)), b.bank.combine(np.ones(24)))
    assert_array_equal(a.cross, b.cross)
    fewer = qmkl_data.fold_kernels(study, train, test[:3])
    assert_array_equal(a.bank.combine(np.ones(24)), fewer.bank.combine(np.ones(24)))
    assert_allclose(a.cross[:, :3], fewer.cross, atol=1e-12)


def test_covariances_of_dual_coefficients():
    study, everyone = tiny(0), np.arange(40)
    kernels = qmkl_data.fold_kernels(study, everyone, everyone[:1])
    problem = Problem(kernels.bank, study.targets, Hinge(), Uniform())
    sizes, signed = qmkl.dual_covariances(problem)
    expected = DualCovariance().matrix(problem, kernels.sources)
    assert_allclose(signed, expected, atol=1e-3)  # machines to 1e-6 of their objective
    A = np.zeros((2, 40))
    for row, m in zip(A, (0, 3), strict=True):
        machine = SVC(kernel="precomputed", tol=1e-8).fit(kernels.bank.gram(m), study.y)
        row[machine.support_] = np.abs(machine.dual_coef_)
    correlation = sizes[0, 3] / np.sqrt(sizes[0, 0] * sizes[3, 3])
    assert_allclose(correlation, np.corrcoef(A)[0, 1], atol=1e-3)


def test_the_same_c_means_the_same_machine_where_kernels_are_equal():
    """Weights cannot matter on copies of one kernel, so all methods must predict the same."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(200, 4))
    Y = np.where(X[:, :1] + rng.normal(size=(30, 1)) > 0, 1.0, -1.0)
    kernels = qmkl_data.FoldKernels(
        PackedBank.from_grams([X @ X.T] * 5), np.stack([Z @ X.T] * 5), list("aabbb")
    )
    fits = [
        qmkl.fit_one(kernels, Y, regularizer, 0.3)["predicted"]
        for regularizer, _ in qmkl.regularizers(kernels, Y).values()
    ]
    assert len(fits) == len(METHODS)
    for predicted in fits:
        assert np.mean(predicted != fits[0]) <= 0.01  # tolerance of the fits, at the boundary


def test_classes_share_weights_and_are_chosen_by_the_largest_output():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    blocks = {"a": rng.normal(size=(30, 3)) + 3 * np.eye(3)[y], "b": rng.normal(size=(30, 5))}
    families = qmkl_data.KernelSet(families=[qmkl_data.Linear(), qmkl_data.RBF(1.0)])
    study = qmkl_data.Study(
        qmkl_data.ViewBundle(blocks), y, qmkl_data.ScaledViews(), families
    )  # fmt: skip
    assert study.targets.shape == (30, 3)
    fits = qmkl.fit_all(study, np.arange(21), np.arange(21, 30), (1.0,))
    for method in METHODS:
        assert np.mean(fits[method][1.0]["predicted"] == y[21:]) > 0.7


def test_rates():
    y, predicted = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 1])
    assert qmkl.rates(y, predicted) == pytest.approx({"acc": 0.6, "sens": 2 / 3, "spec": 0.5})
    y, predicted = np.array([0, 1, 2, 2]), np.array([0, 2, 2, 2])
    assert qmkl.rates(y, predicted) == pytest.approx(
        {"acc": 0.75, "sens": 2 / 3, "spec": (1 + 1 + 0.5) / 3}
    )


def test_paired_tests():
    x = np.random.default_rng(0).normal(0.3, 1.0, size=25)
    assert_allclose(qmkl_table.paired_p(x), ttest_rel(x, np.zeros(25)).pvalue)
    # The corrected statistic is the ordinary one of differences that vary more.
    factor = np.sqrt(1 + 25 / 9)
    wider = x.mean() + factor * (x - x.mean())
    assert_allclose(qmkl_table.paired_p(x, share=1 / 9), qmkl_table.paired_p(wider))
    assert qmkl_table.paired_p(np.zeros(5)) == 1.0


def test_intervals_hold_the_mean_and_match_the_test():
    """Zero is outside of a 95 % interval exactly where p < 0.05."""
    frame = made_up(1, 2, {"2-norm": 0.8, "much better": 1.2, "alike": 0.81})
    table = qmkl_table.differences(frame)
    folds = frame.pivot(index=["repeat", "fold"], columns="method", values="acc")
    for method, row in table.iterrows():
        x = folds[method] - folds["2-norm"]
        assert_allclose(row["mean"], x.mean())
        outside = row["low"] > 0 or row["high"] < 0
        assert outside == (qmkl_table.paired_p(x, share=1 / 9) < 0.05)
    assert table.loc["much better", "low"] > 0 > table.loc["alike", "low"]


def test_missing_data_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"HW\.mat with --data-dir"):
        qmkl_data.mfeat(0, tmp_path, quick=True)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n", "n_kernels", "n_outputs"), [("tcga", 150, 30, 3), ("mfeat", 300, 36, 10)]
)
def test_real_data(name, n, n_kernels, n_outputs):
    try:
        study = qmkl_data.STUDIES[name](0, None, False)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    assert study.targets.shape == (n, n_outputs)
    kernels = qmkl_data.fold_kernels(study, np.arange(n), np.arange(2))
    assert kernels.bank.n_kernels == n_kernels
