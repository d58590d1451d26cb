"""The Q-MKL experiment: its folds see no test data, and its tests are what they say."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ttest_rel
from sklearn.svm import SVC

from multikernel import DualCovariance, Hinge, Problem, Uniform
from multikernel.banks import PackedBank
from multikernel.datasets import TopVoxels, make_neuroimaging, neuroimaging_kernels
from multikernel.reproductions import EXPERIMENTS, reproduce
from multikernel.reproductions.qmkl import QMKL, methods, studies, tables
from multikernel.reproductions.qmkl.experiment import Sizes

Q_METHODS = ["Cov", "Lap.(Cov)", "Lap.(Cov) + diag"]
METHODS = [
    "uniform sum", "1-norm", "1.5-norm", "2-norm", *Q_METHODS, *(f"signed {m}" for m in Q_METHODS),
]  # fmt: skip


def tiny(archive=None, draw=0):
    """Forty people, sixty voxels, 24 kernels."""
    data = make_neuroimaging(40, 18, n_voxels=60, random_state=draw)
    y = (data.y == "patient").astype(np.intp)
    return studies.Study(data.X, y, TopVoxels((0.2, 1.0)), neuroimaging_kernels())


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A look at every step, shorter still than the quick one."""
    sizes = Sizes(2, 2, (1, 1, 1), methods.Grid(2, (0.1, 1.0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QMKL, "QUICK", sizes)
        patch.setitem(studies.STUDIES, "neuroimaging", tiny)
        studies._study.cache_clear()
        out = tmp_path_factory.mktemp("qmkl")
        yield reproduce("qmkl", quick=True, stand_in=True, out=out)
        studies._study.cache_clear()


def test_the_quick_version_runs_to_its_tables(done):
    by_heading = {section.heading: section for section in done.summary.sections}
    for heading in (tables.HEADINGS | tables.DRAWN).values():
        assert by_heading[heading].table["regularizer"] == METHODS
        assert all(0 <= float(a) <= 1 for a in by_heading[heading].table["Acc."])
    first = by_heading[tables.HEADINGS["one"]]
    assert first.table["paper: Acc."][METHODS.index("Lap.(Cov) + diag")] == "0.888"
    assert first.table["active"][METHODS.index("2-norm")] == "24.0"
    assert "Draws: 2; repeats: 1; folds: 2" in by_heading[tables.HEADINGS["several"]].text[0]
    assert len(list(done.page.parent.glob("qmkl-*.png"))) == 4
    assert "1.3 on one real study" in done.summary.findings[0]


def test_folds_of_the_first_study_serve_both_tables():
    tasks = QMKL().tasks(None)
    assert len(tasks) == len(set(tasks)) == 3 + 10 * (10 + 9 + 5 + 2)
    frame = pd.DataFrame(
        [
            {"study": "neuroimaging", "draw": draw, "repeat": repeat}
            for draw, repeat in ((0, 0), (0, 1), (1, 0))
        ]
    )
    parts = tables.parts_of(frame)
    assert parts["one"]["repeat"].tolist() == [0, 1]
    assert parts["several"]["draw"].tolist() == [0, 1]


def test_a_fold_depends_on_its_name_only():
    experiment = EXPERIMENTS["qmkl"](quick=True)
    archive = experiment.stand_in()
    task = "tcga, draw 0, repeat 0, fold 1"
    first, again = (experiment.run(task, archive)["rows"] for _ in range(2))
    for row, other in zip(first, again, strict=True):
        assert {k: v for k, v in row.items() if "seconds" not in k} == {
            k: v for k, v in other.items() if "seconds" not in k
        }
        assert row["gap"] <= 1e-4


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


def corrected_p(x, share=1 / 9):
    """Nadeau and Bengio: the ordinary test of differences that vary more."""
    x = np.asarray(x)
    wider = x.mean() + np.sqrt(1 + len(x) * share) * (x - x.mean())
    return ttest_rel(wider, 0 * wider).pvalue


def test_draws_are_compared_by_their_means():
    frame = made_up(4, 2, {"2-norm": 0.8, "better": 0.83})
    table = tables.compare(frame, "acc")
    means = frame.groupby(["draw", "method"])["acc"].mean().unstack()
    expected = ttest_rel(means["better"], means["2-norm"]).pvalue
    assert table["best"].to_dict() == {"2-norm": False, "better": True}
    assert_allclose(table.loc["2-norm", "p_honest"], expected)
    assert_allclose(table["sd"], means.std())


def test_folds_of_one_draw_are_compared_by_the_corrected_test():
    frame = made_up(1, 2, {"2-norm": 0.8, "better": 0.83})
    table = tables.compare(frame, "acc")
    folds = frame.pivot(index=["repeat", "fold"], columns="method", values="acc")
    x = folds["better"] - folds["2-norm"]
    assert_allclose(table.loc["2-norm", "p_paired"], ttest_rel(x, 0 * x).pvalue)
    assert_allclose(table.loc["2-norm", "p_honest"], corrected_p(x))
    assert table.loc["2-norm", "p_honest"] > table.loc["2-norm", "p_paired"]
    assert_allclose(table["sd"], folds.groupby("repeat").mean().std())


def test_kernels_of_a_fold_do_not_depend_on_test_samples():
    study, everyone = tiny(), np.arange(40)
    train, test = everyone[:30], everyone[30:]
    y = study.y.copy()
    y[test] = 1 - y[test]
    other = studies.Study(study.X, y, study.prepare, study.kernels)
    a, b = (studies.fold_kernels(s, train, test) for s in (study, other))
    assert_array_equal(a.bank.combine(np.ones(24)), b.bank.combine(np.ones(24)))
    assert_array_equal(a.cross, b.cross)
    fewer = studies.fold_kernels(study, train, test[:3])
    assert_array_equal(a.bank.combine(np.ones(24)), fewer.bank.combine(np.ones(24)))
    assert_allclose(a.cross[:, :3], fewer.cross, atol=1e-12)


def test_covariances_of_dual_coefficients():
    study, everyone = tiny(), np.arange(40)
    kernels = studies.fold_kernels(study, everyone, everyone[:1])
    problem = Problem(kernels.bank, study.targets, Hinge(), Uniform())
    sizes, signed = methods.dual_covariances(problem)
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
    kernels = studies.FoldKernels(
        PackedBank.from_grams([X @ X.T] * 5), np.stack([Z @ X.T] * 5), list("aabbb")
    )
    fits = [
        methods.fit_one(kernels, Y, regularizer, 0.3)["predicted"]
        for regularizer, _ in methods.regularizers(kernels, Y).values()
    ]
    assert len(fits) == len(METHODS)
    for predicted in fits:
        assert np.mean(predicted != fits[0]) <= 0.01  # tolerance of the fits, at the boundary


def test_classes_share_weights_and_are_chosen_by_the_largest_output():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    blocks = {"a": rng.normal(size=(30, 3)) + 3 * np.eye(3)[y], "b": rng.normal(size=(30, 5))}
    families = studies.KernelSet(families=[studies.Linear(), studies.RBF(1.0)])
    study = studies.Study(
        studies.ViewBundle(blocks), y, studies.ScaledViews(), families
    )  # fmt: skip
    assert study.targets.shape == (30, 3)
    fits = methods.fit_all(study, np.arange(21), np.arange(21, 30), (1.0,))
    for method in METHODS:
        assert np.mean(fits[method][1.0]["predicted"] == y[21:]) > 0.7


def test_rates():
    y, predicted = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 1])
    assert methods.rates(y, predicted) == pytest.approx({"acc": 0.6, "sens": 2 / 3, "spec": 0.5})
    y, predicted = np.array([0, 1, 2, 2]), np.array([0, 2, 2, 2])
    assert methods.rates(y, predicted) == pytest.approx(
        {"acc": 0.75, "sens": 2 / 3, "spec": (1 + 1 + 0.5) / 3}
    )


def test_intervals_hold_the_mean_and_match_the_test():
    """Zero is outside of a 95 % interval exactly where p < 0.05."""
    frame = made_up(1, 2, {"2-norm": 0.8, "much better": 1.2, "alike": 0.81})
    table = tables.differences(frame)
    folds = frame.pivot(index=["repeat", "fold"], columns="method", values="acc")
    for method, row in table.iterrows():
        x = folds[method] - folds["2-norm"]
        assert_allclose(row["mean"], x.mean())
        outside = row["low"] > 0 or row["high"] < 0
        assert outside == (corrected_p(x) < 0.05)
    assert table.loc["much better", "low"] > 0 > table.loc["alike", "low"]


def test_a_stand_in_has_no_name_of_real_data(done):
    page = done.page.read_text()
    assert tables.DRAWN["tcga"] in page
    assert not any(tables.HEADINGS[name] in page for name in tables.DRAWN)


def test_real_data_are_told_apart_by_their_files(tmp_path):
    def write(folder, content):
        for file in QMKL.needs:
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return QMKL().fingerprint(QMKL().load(folder))

    first, moved = write(tmp_path / "a", "one"), write(tmp_path / "b", "one")
    assert first == moved
    assert write(tmp_path / "a", "two") != first


def test_missing_data_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"train_mrna\.csv.*HW\.mat.*--data"):
        reproduce("qmkl", data=tmp_path, out=tmp_path / "out")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n", "n_kernels", "n_outputs"), [("tcga", 150, 30, 3), ("mfeat", 300, 36, 10)]
)
def test_real_data(name, n, n_kernels, n_outputs, data_folder):
    study = QMKL().load(data_folder).study(name, 0)
    assert study.targets.shape == (n, n_outputs)
    kernels = studies.fold_kernels(study, np.arange(n), np.arange(2))
    assert kernels.bank.n_kernels == n_kernels


@pytest.fixture
def data_folder():
    from pathlib import Path

    folder = Path(__file__).parents[3] / "shared" / "data"
    if not (folder / "mfeat" / "HW.mat").exists():
        pytest.skip(f"no data sets in {folder}")
    return folder
