"""The examples with structure: what they select, what they leave out, and their pages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import savemat
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from multikernel.reproductions import EXPERIMENTS, reproduce
from multikernel.reproductions.multitask import data as source
from multikernel.reproductions.multitask import groups, school, text, wedge
from multikernel.reproductions.multitask.experiment import MultiTask, Sizes


@pytest.fixture(scope="module")
def data():
    return source.make_data()


def test_explained_variance_is_that_of_scikit_learn(rng):
    y, prediction = rng.normal(size=(2, 30))
    assert text.explained(y, prediction) == pytest.approx(r2_score(y, prediction))


def test_pupils_are_divided_within_every_school(data):
    train, valid, test = school._divide(data.school, 6, np.random.default_rng(1))
    counts = [np.bincount(data.school.task[part]) for part in (train, valid, test)]
    assert_allclose(counts[0], 4)
    assert_allclose(counts[1], 2)
    assert_allclose(counts[2], 6)  # a quarter of 24
    assert len({*train, *valid, *test}) == len(train) + len(valid) + len(test)


def test_features_are_standardised_by_training_pupils_and_constants_stay(data):
    train = np.arange(50)
    X = school._standardised(data.school, train)
    assert_allclose(X[train, :-2].mean(axis=0), 0, atol=1e-12)
    assert_allclose(X[train, :-2].std(axis=0), 1)
    assert_allclose(X[:, -2], 1)
    assert_allclose(X[:, -1], data.school.task)


def test_pooled_schools_are_ridge_regression(data):
    train, _, test = school._divide(data.school, 9, np.random.default_rng(0))
    X, y = school._standardised(data.school, train), data.school.y
    score = school._score(X, y, train, test, 1e-8, sharing=1.0, C=0.3)
    scale = np.mean(np.sum(X[train, :-1] ** 2, axis=1))
    ridge = Ridge(alpha=scale / 0.3).fit(X[train, :-1], y[train])
    assert score["explained"] == pytest.approx(ridge.score(X[test, :-1], y[test]), abs=1e-6)
    assert (score["n_own"], score["shared"]) == (0, 1.0)


def test_a_learned_sharing_separates_the_tasks(data):
    """Corollary 5: the objective prefers independent tasks, whatever the data."""
    rows = data.school.task < 5
    share = school.learned_share(
        data.school.X[rows], data.school.task[rows], data.school.y[rows], C=1.0
    )
    assert share < 1e-6


@pytest.mark.parametrize(
    ("used", "expected"), [([], 0), ([0], 1), ([3, 4, 5, 9], 2), ([1, 3, 5], 3)]
)
def test_stretches_are_counted(used, expected):
    assert groups.n_runs(used) == expected


def test_columns_in_use_are_those_of_active_groups():
    design = groups.DESIGNS["overlapping bands"]
    d = np.zeros(len(design))
    d[[0, 1, 9]] = 0.5
    used = np.flatnonzero(groups.used_columns(d, design)).tolist()
    assert used == [*range(15), *range(45, 55)]


def test_every_design_covers_all_frequencies_and_only_one_overlaps():
    for name, design in groups.DESIGNS.items():
        counts = np.bincount(np.concatenate(list(design.values())), minlength=60)
        assert counts.min() == 1
        assert (counts.max() > 1) == (name == "overlapping bands")


def test_stability_is_the_mean_overlap():
    assert groups.stability([[0, 1], [1, 2], [0, 1]]) == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)


def test_the_wedge_keeps_the_order_and_equal_weights_are_equal(data):
    result = wedge.run_wedge(data.tables["cubic"], "degrees", 60, seed=1, n_folds=3)
    assert wedge.in_order(result["wedge"]["shares"])
    assert_allclose(result["equal weights"]["shares"], 1 / 6)
    assert not wedge.in_order([0.2, 0.5, 0.3])
    assert all(fit["gap"] <= 1e-6 for fit in result.values())


def test_degrees_are_of_exactly_so_many_features(rng):
    X = rng.normal(size=(10, 2))
    for parameters in wedge.family_of("degrees").parameters():
        K = wedge.family_of("degrees").gram(X @ X.T, 1.0, **parameters)
        assert_allclose(K, (X @ X.T) ** parameters["degree"])
    widths = [p["width"] for p in wedge.family_of("widths").parameters()]
    assert widths == sorted(widths, reverse=True)


def test_files_are_read_as_described(tmp_path, rng):
    for file in source.FILES:
        (tmp_path / file.path).parent.mkdir()
    Xs, ys = np.empty(2, object), np.empty(2, object)
    Xs[:], ys[:] = [np.ones((3, 28)), np.zeros((2, 28))], [np.ones((3, 1)), np.full((2, 1), 7)]
    savemat(tmp_path / "school" / "school.mat", {"X": Xs, "Y": ys})
    rows = rng.normal(size=(4, 60)).round(3)
    lines = [",".join([*map(str, row), "MR"[k % 2]]) for k, row in enumerate(rows)]
    (tmp_path / "sonar" / "sonar.csv").write_text("\n".join(lines))
    header = ",".join(f"X{k}" for k in range(1, 9))
    body = "\n".join(",".join(map(str, row[:10])) for row in rows)
    (tmp_path / "concrete" / "concrete.csv").write_text(f"{header},strength,rest\n{body}")
    (tmp_path / "energy_efficiency" / "energy.csv").write_text(f"{header},Y1,Y2\n{body}")
    loaded = source.load_data(tmp_path)
    assert_allclose(loaded.school.task, [0, 0, 0, 1, 1])
    assert_allclose(loaded.school.y, [1, 1, 1, 7, 7])
    assert_allclose(loaded.sonar.X, rows)
    assert loaded.sonar.y.tolist() == [True, False, True, False]
    for table in loaded.tables.values():
        assert_allclose(table.X, rows[:, :8])
        assert_allclose(table.y, rows[:, 8])
    assert len(source.few_schools(loaded.school, 1).y) == 3


def test_a_task_decides_all_that_is_random(data):
    experiment = EXPERIMENTS["multitask"](quick=True)
    first, again, other = (
        experiment.run(f"wedge; cubic; widths; 60; {k}", data) for k in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_the_page_has_a_section_for_every_example(tmp_path, monkeypatch):
    monkeypatch.setattr(MultiTask, "QUICK", Sizes(12, (6,), 1, 1, (60,), 1, 3))
    done = reproduce("multitask", out=tmp_path, quick=True, stand_in=True)
    assert (done.n_done, done.n_tasks) == (4, 4)
    schools, bands, degrees, widths = done.summary.sections
    assert schools.table["coupling"] == list(school.METHODS)
    assert bands.table["groups"] == list(groups.DESIGNS)
    for section in (degrees, widths):
        assert section.table["data"] == ["cubic, 60 samples"]
    assert len(list(tmp_path.glob("multitask-*.png"))) == 4
    assert len(done.summary.findings) == 5
    assert bands.caption == "Drawn echoes."
    assert "onar" not in done.page.read_text()  # no name of real data on drawn ones
