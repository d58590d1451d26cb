"""The SimpleMKL experiment: its kernels are the recipe's, its splits and files what they say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from multikernel.banks import PackedBank
from multikernel.reproductions import EXPERIMENTS, reproduce
from multikernel.reproductions.simplemkl import data, experiment, learning


@pytest.fixture(scope="module")
def quick():
    return EXPERIMENTS["simplemkl"](quick=True)


@pytest.fixture(scope="module")
def studies(quick):
    return quick.stand_in()


def test_kernels_are_those_of_the_recipe(rng):
    X = rng.normal(size=(20, 3))
    kernels = learning.recipe(3)
    bank = learning.fit_bank(kernels, X)
    assert bank.n_kernels == 13 * (3 + 1)
    for m, row in enumerate(kernels.rows_):
        columns = slice(None) if row["source"] == "all" else [int(row["source"][1:])]
        V = X[:, columns]
        if row["family"] == "rbf":
            bandwidth = learning.BANDWIDTHS[m % 13]
            K = np.exp(-np.sum((V[:, None] - V) ** 2, axis=2) / (2 * bandwidth**2))
        else:
            K = (1 + V @ V.T) ** row["parameters"]["degree"]
        assert_allclose(bank.gram(m), K / np.mean(np.diagonal(K)), atol=1e-12)


def test_a_trace_of_one_is_a_smaller_cost(rng):
    """One kernel has weight one, which leaves the machine of scikit-learn on K / n."""
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0.3, 1.0, -1.0)
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2))
    fit = learning.fit_simplex(PackedBank.from_grams([K]), y[:, None], 100 / 40, 1e-8)
    reference = SVC(C=100.0, kernel="precomputed", tol=1e-10).fit(K / 40, y)
    f = K @ fit.solution.dual_coef[:, 0] + fit.solution.intercept[0]
    assert_allclose(f, reference.decision_function(K / 40), atol=1e-4)


def test_even_weights_are_the_mean_of_the_kernels(rng):
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0)
    Ks = [np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / w) for w in (1, 4, 9)]
    solution = learning.fit_even(PackedBank.from_grams(Ks), y[:, None], 2.0, 1e-8)
    reference = SVC(C=2.0, kernel="precomputed", tol=1e-10).fit(np.mean(Ks, axis=0), y)
    f = np.sum(Ks, axis=0) @ solution.dual_coef[:, 0] + solution.intercept[0]
    assert_allclose(f, reference.decision_function(np.mean(Ks, axis=0)), atol=1e-4)


def test_a_solver_that_stood_still_starts_again(studies, monkeypatch):
    study = studies["clouds 5"]
    y = np.where(study.y, 1.0, -1.0)[:, None]
    bank = learning.fit_bank(learning.recipe(study.X.shape[1]), study.X)
    straight = learning.fit_simplex(bank, y, 1.0, 1e-4)
    assert straight.n_restarts == 0
    monkeypatch.setattr(learning, "_PATIENCE", straight.solution.n_iter - 1)
    again = learning.fit_simplex(bank, y, 1.0, 1e-4)
    assert again.n_restarts > 0
    assert again.solution.converged
    assert_allclose(again.solution.objective, straight.solution.objective, rtol=1e-3)
    assert_allclose(again.solution.weights.sum(), 1.0)


def test_training_has_seventy_percent_of_each_class(studies):
    study = studies["clouds 2"]
    train, test = experiment._split(study, 3)
    assert sorted([*train, *test]) == list(range(len(study.y)))
    assert len(train) == round(0.7 * len(study.y))
    assert abs(study.y[train].mean() - study.y.mean()) < 1 / len(train)
    other, _ = experiment._split(study, 4)
    assert set(train) != set(other)


def test_a_task_decides_all_that_is_random(quick, studies):
    first, second = (quick.run("clouds 1; 1", studies) for _ in range(2))
    for result in (first, second):
        for fit in ("printed", "optimum", "unit mean diagonal"):
            del result[fit]["seconds"]
    assert first == second
    assert sum(first["printed"]["shares"].values()) == pytest.approx(1.0)
    assert first["optimum"]["gap"] <= 1e-6
    other = quick.run("clouds 1; 0", studies)
    assert other["printed"]["shares"] != first["printed"]["shares"]


def test_files_are_read_as_described(tmp_path, rng):
    def write(path, rows):
        target = tmp_path / path
        target.parent.mkdir()
        target.write_text("\n".join(",".join(map(str, row)) for row in rows))

    numbers = rng.normal(size=(6, 60)).round(3).tolist()
    write("liver_bupa/bupa.data", [[*r[:6], 1 + k % 2] for k, r in enumerate(numbers)])
    write("pima/pima-indians-diabetes.data", [[*r[:8], k % 2] for k, r in enumerate(numbers)])
    write(
        "ionosphere/ionosphere.data",
        [[r[0], 0, *r[1:33], "gb"[k % 2]] for k, r in enumerate(numbers)],
    )
    wpbc = [[k, "RN"[k % 2], 10 + k, *r[:31], 0.5] for k, r in enumerate(numbers)]
    wpbc[2][-1] = "?"
    write("wpbc/wpbc.data", wpbc)
    write("sonar/sonar.csv", [[*r, "MR"[k % 2]] for k, r in enumerate(numbers)])
    studies = data.load_studies(tmp_path)
    shapes = {name: study.X.shape for name, study in studies.items()}
    assert shapes == {
        "Liver": (6, 6),
        "Pima": (6, 8),
        "Ionosphere": (6, 33),
        "WPBC": (5, 33),
        "Sonar": (6, 60),
        "WPBC without time": (5, 32),
    }
    assert studies["WPBC"].X[0, 0] == 10
    assert studies["WPBC without time"].X[0, 0] == numbers[0][0]
    for name, positive in {"Liver": 1, "Pima": 1, "Ionosphere": 0, "Sonar": 0}.items():
        assert_allclose(np.flatnonzero(studies[name].y) % 2, positive)


def test_the_page_has_the_table_and_its_certificates(tmp_path):
    done = reproduce("simplemkl", out=tmp_path, quick=True, stand_in=True)
    main, conventions, kinds = done.summary.sections
    assert main.table["data set"] == conventions.table["data set"] == kinds.table["data set"]
    assert max(main.table["largest gap"]) <= 1e-2
    assert "12 of 12 fits are certified" in done.summary.findings[0]
    assert (tmp_path / "simplemkl-where-the-weight-goes.png").exists()
    page = done.page.read_text()
    assert not any(name in page for name in ("Liver", "Pima", "Ionosphere", "WPBC", "Sonar"))
