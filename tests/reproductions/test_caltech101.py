"""The experiment on Caltech-101: its 1,760 kernels, its splits, its choices, what it concludes."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from multikernel import reproductions
from multikernel.banks import PackedBank
from multikernel.bayes import MacKay
from multikernel.reproductions import reproduce
from multikernel.reproductions.caltech101 import Caltech101, comparison
from multikernel.reproductions.caltech101.arrangement import CHI2, FAMILIES, GAUSSIAN, Arrangement
from multikernel.reproductions.caltech101.evidence import (
    _problem,
    evaluate,
    settled_weights,
    updated_weights,
)
from multikernel.reproductions.caltech101.experiment import CLASSES
from multikernel.reproductions.caltech101.features import _between, typical_distances
from multikernel.reproductions.caltech101.findings import findings
from multikernel.reproductions.caltech101.kernels import kernel_bank
from multikernel.reproductions.caltech101.models import (
    BLOCK_1,
    COSTS,
    ELASTIC,
    EVIDENCE,
    L2,
    METHODS,
    MODELS,
    PENALTIES,
)
from multikernel.reproductions.caltech101.numbers import collect
from multikernel.reproductions.caltech101.splits import (
    PROBLEMS,
    Task,
    balanced_folds,
    read_task,
    train_and_test,
)
from multikernel.reproductions.caltech101.sums import (
    GROUPS,
    IDENTITY,
    KEPT,
    LEFT_OUT,
    USEFUL,
    compare_sums,
    is_sum_key,
    members,
    sum_finding,
    sum_key,
    sum_table,
)
from multikernel.reproductions.caltech101.tables import (
    choice_table,
    count_table,
    lambda_counts,
    width_table,
)

DATA = Path(__file__).parents[3] / "shared" / "data"
LABELS = np.repeat(CLASSES, (42, 43, 57))
SMALL = Arrangement(("SIFT, 8 px",), levels=(1, 2), n_widths=3)


@pytest.fixture
def distances(rng):
    """Distances between 12 images in the five cells of the small arrangement."""
    histograms = rng.dirichlet(np.ones(6), size=(5, 12))
    return _between(histograms)[np.newaxis]


@pytest.fixture
def bank(rng):
    """Thirty kernels on 24 samples, and labels that follow from one of them."""
    X = rng.normal(size=(30, 24, 3))
    bank = PackedBank.from_grams([np.exp(-np.sum((x[:, None] - x) ** 2, axis=2)) for x in X])
    return bank, np.where(X[0, :, 0] > 0, 1.0, -1.0)


def test_there_are_1760_kernels_in_the_order_of_the_paper_s_four_factors():
    arrangement = Caltech101().arrangement
    assert arrangement.shape == (4, 22, 2, 10)
    assert arrangement.n_kernels == 1760
    names = list(arrangement.names())
    assert len(set(names)) == 1760
    assert arrangement.regions[:2] == ("whole", "2×2 (1, 1)")
    assert arrangement.regions[-1] == "pyramid"
    assert_allclose(arrangement.widths(GAUSSIAN)[[0, 1, -1]], [0.1, 0.1 + 4.9 / 9, 5])
    assert_allclose(arrangement.widths(CHI2)[[0, 1, -1]], [0.1, 1.2, 10])
    place = np.ravel_multi_index((2, 21, 1, 3), arrangement.shape)
    assert names[place][:3] == ("SIFT, 4 px", "pyramid", CHI2)
    assert names[place][3] == pytest.approx(3.4)


def test_levels_of_the_pyramid_weigh_a_quarter_a_quarter_and_a_half():
    shares = Caltech101().arrangement.level_shares()
    assert_allclose([shares[0], shares[1:5].sum(), shares[5:].sum()], [0.25, 0.25, 0.5])
    assert np.ptp(shares[1:5]) == np.ptp(shares[5:]) == 0


def test_kernels_follow_the_formulas_of_the_paper(rng):
    q = rng.dirichlet(np.ones(6), size=(5, 12))
    q[0, 0, 2] = q[0, 1, 2] = 0.0  # a word that neither image has
    bank = kernel_bank(_between(q)[np.newaxis], SMALL, np.arange(12))
    names = list(SMALL.names())
    for m, (_, region, family, width) in enumerate(names):
        if region == "pyramid":
            continue
        a, b = q[SMALL.regions.index(region)][:2]
        squares, sums = (a - b) ** 2, a + b
        if family == GAUSSIAN:
            expected = np.exp(-squares.sum() / (2 * width**2))
        else:
            expected = np.exp(-(width**2) * np.sum(squares[sums > 0] / sums[sums > 0]))
        assert_allclose(bank.gram(m)[0, 1], expected, rtol=2e-5)  # distances are kept in float32
        assert_allclose(np.diag(bank.gram(m)), 1)


def test_the_pyramid_is_a_mean_of_the_kernels_of_cells(distances):
    bank = kernel_bank(distances, SMALL, np.arange(12))
    Ks = np.array([bank.gram(m) for m in range(SMALL.n_kernels)]).reshape(*SMALL.shape, 12, 12)
    expected = 0.5 * Ks[:, 0] + 0.5 * Ks[:, 1:5].mean(axis=1)
    assert_allclose(Ks[:, 5], expected)


def test_a_bank_of_some_images_is_part_of_that_of_all(distances):
    some = np.array([1, 4, 5, 9])
    part, whole = kernel_bank(distances, SMALL, some), kernel_bank(distances, SMALL, np.arange(12))
    assert_array_equal(part.gram(7), whole.gram(7)[np.ix_(some, some)])


def test_typical_distances_leave_out_those_of_images_to_themselves():
    distances = np.zeros((1, 2, 2, 3, 3), dtype=np.float32)
    distances[:, :, 0] = 5.0 - 5.0 * np.eye(3)
    assert typical_distances(distances) == {GAUSSIAN: 5.0, CHI2: 0.0}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_training_and_test_images_are_disjoint_balanced_and_all(problem):
    for split in range(3):
        last = np.array([], dtype=int)
        for size in Caltech101().sizes:
            train, test = train_and_test(Task(*problem, size, split), LABELS)
            assert not set(train) & set(test)
            assert sorted([*train, *test]) == np.flatnonzero(np.isin(LABELS, problem)).tolist()
            assert [np.sum(LABELS[train] == name) for name in problem] == [size, size]
            assert set(last) < set(train)
            last = train
    first, second = (train_and_test(Task(*problem, 10, k), LABELS)[0] for k in range(2))
    assert set(first) != set(second)


@pytest.mark.parametrize("size", [4, 10, 15])
def test_folds_hold_out_as_many_of_one_class_as_of_the_other(size):
    y = np.random.default_rng(size).permutation(np.repeat([-1.0, 1.0], size))
    folds = list(balanced_folds(y, 4, 2, seed=0))
    assert len(folds) == 8
    for fit, held in folds:
        assert y[fit].sum() == y[held].sum() == 0
        assert_array_equal(np.sort(np.concatenate([fit, held])), np.arange(2 * size))
    for k in (0, 4):
        everyone = np.concatenate([held for _, held in folds[k : k + 4]])
        assert_array_equal(np.sort(everyone), np.arange(2 * size))
    assert any(set(folds[0][1]) != set(other) for _, other in folds[4:])


def test_names_of_tasks_can_be_read():
    tasks = Caltech101().tasks(None)
    assert len(set(tasks)) == len(tasks) == 3 * 5 * 20 + 20
    assert sum(is_sum_key(key) for key in tasks) == 20
    assert all(read_task(key).key == key for key in tasks if not is_sum_key(key))


def test_no_label_of_a_test_image_is_used(monkeypatch, distances):
    monkeypatch.setattr(comparison, "N_REPEATS", 1)
    train, test = np.array([0, 1, 2, 3, 6, 7, 8, 9]), np.array([4, 5, 10, 11])
    monkeypatch.setattr(comparison, "train_and_test", lambda task, labels: (train, test))
    labels = np.repeat(["cup", "ant"], 6)
    swapped = labels.copy()
    swapped[test] = np.where(labels[test] == "cup", "ant", "cup")
    task = Task("cup", "ant", 4, 0)
    ours, theirs = (
        comparison.compare(task, distances, y, SMALL, keep_weights=True) for y in (labels, swapped)
    )
    assert ours["cv_scores"] == theirs["cv_scores"]
    for method in METHODS:
        one, other = ours["methods"][method], theirs["methods"][method]
        assert one.pop("accuracy") == pytest.approx(1 - other.pop("accuracy"))
        assert one == other


def test_the_constant_of_the_paper_is_the_inverse_of_ours_but_for_the_l2_norm(bank):
    bank, y = bank
    K = bank.combine(np.ones(30))
    machine = MODELS["uniform squared"].path(bank, y, [0.1], 1e-10)[0]
    H = np.eye(len(y)) - 1 / len(y)  # an intercept centres kernel and targets
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(H @ K @ H, H @ y)
    assert_allclose(machine.dual_coef, ridge.dual_coef_, atol=1e-8)
    assert MODELS["l2"].constants == COSTS
    assert all(m.constants == PENALTIES for name, m in MODELS.items() if name != "l2")
    machine = MODELS["l2"].path(bank, y, [0.1], 1e-8)[0]
    assert np.linalg.norm(machine.weights) == pytest.approx(1)
    svm = SVC(C=0.1, kernel="precomputed").fit(bank.combine(machine.weights), y)
    coefficients = np.zeros(len(y))
    coefficients[svm.support_] = svm.dual_coef_[0]
    assert_allclose(machine.dual_coef, coefficients, atol=1e-3)


def test_of_equal_candidates_the_most_regularized_is_chosen():
    scores = {name: [0.5, 0.7, 0.8, 0.8, 0.8, 0.6] for name in MODELS}
    assert comparison.choose(ELASTIC, scores) == ("elastic 0.5", 0.1, 0.8)
    assert comparison.choose(ELASTIC, scores, strongest=False).constant == 0.001
    assert comparison.choose("elastic net (λ by CV)", scores).model == "elastic 0"
    other = comparison.choose("elastic net (λ by CV)", scores, strongest=False)
    assert other == ("elastic 1", 0.001, 0.8)
    scores["elastic 0.6"][4] = 0.9
    assert comparison.choose("elastic net (λ by CV)", scores) == ("elastic 0.6", 0.001, 0.9)


def test_empirical_bayes_ends_where_no_kernel_would_move(bank):
    bank, y = bank
    y = y[:, np.newaxis]
    d = settled_weights(bank, y, 0.1, updated_weights(bank, y, 0.1), 1e-8)
    e = evaluate(bank, y, 0.1, d)
    ratio = e.q / e.t
    assert_allclose(ratio[d > 0], 1, rtol=1e-4)  # d ← d q/t leaves them as they are
    assert np.all(ratio[d == 0] < 1.011)
    slow = MacKay(tol=1e-9, max_iter=20_000).infer(_problem(bank, y, 0.1))
    assert e.value <= slow.objective + 1e-3
    assert 0 < np.sum(d > 0) < 15


def test_kernels_come_back_that_would_raise_the_evidence(bank):
    bank, y = bank
    y = y[:, np.newaxis]
    wrong = np.zeros(30)
    wrong[7] = 1.0
    d = settled_weights(bank, y, 0.1, wrong, 1e-8)
    e = evaluate(bank, y, 0.1, d)
    assert d.argmax() == 0  # the kernel that the labels follow from
    assert np.all(e.q[d == 0] < 1.011 * e.t[d == 0])


def test_empirical_bayes_gives_up_where_noise_explains_all(bank):
    bank, y = bank
    machines = MODELS["evidence"].path(bank, y, PENALTIES, 1e-3)
    assert not machines[0].weights.any()
    assert_allclose(machines[0].decide(np.zeros((2, len(y)))), y.mean(), atol=1e-12)
    assert machines[-1].weights.any()


def made_up(selected, accuracy):
    """Results of three splits of two sizes, with given counts and accuracies by method."""
    arrangement = Caltech101().arrangement
    results = {}
    for first, second in PROBLEMS:
        for size in (10, 30):
            for split in range(3):
                methods = {
                    method: {
                        "accuracy": accuracy(method, size) + 0.001 * split,
                        "n_selected": selected(method),
                        "weights": _weights(arrangement, selected, method),
                    }
                    for method in METHODS
                }
                results[Task(first, second, size, split)] = {"n_test": 20, "methods": methods}
    return collect(results, arrangement)


def _weights(arrangement, selected, method):
    """Weights of one for as many kernels of a width as are selected; ℓ2 follows the elastic net."""
    if method == L2:
        return (0.01 + np.array(_weights(arrangement, selected, ELASTIC))).tolist()
    d = np.zeros(arrangement.shape)
    flat = d.reshape(-1, len(FAMILIES), arrangement.n_widths)
    for f, family in enumerate(selected(method)):
        for w, count in enumerate(family):
            flat[:count, f, w] = 1
    return d.ravel().tolist()


def as_printed(method):
    if method == ELASTIC:
        return [[88, *9 * [0]], [0, *9 * [88]]]
    if method == BLOCK_1:
        return [[3, *9 * [0]], [0, 5, *8 * [0]]]
    if method == EVIDENCE:
        return [[*9 * [0], 3], [2, *9 * [0]]]
    return [10 * [88], 10 * [88]]


def test_statements_of_the_paper_hold_where_results_are_as_it_says():
    numbers = made_up(
        as_printed, lambda m, size: 0.8 - (m in (BLOCK_1, EVIDENCE)) * (0.1 if size < 20 else 0.0)
    )
    said = findings(numbers)
    assert len(said) == 8
    assert all(": holds here." in sentence for sentence in said)
    assert "selects 88 Gaussian and 792 χ² kernels (medians; 88 and 792 in the paper)" in said[4]


def test_statements_of_the_paper_do_not_hold_where_results_are_the_opposite():
    numbers = made_up(
        lambda m: [10 * [88], [88, *9 * [0]]],
        lambda m, size: 0.8 + (m in (BLOCK_1, EVIDENCE)) * 0.1 - (m == "uniform (square)") * 0.1,
    )
    said = findings(numbers)
    wrong = [sentence for sentence in said if ": does not hold here." in sentence]
    assert [said.index(sentence) for sentence in wrong] == [0, 1, 3, 4, 5, 6, 7]
    assert "uniform (square) 70.1" in said[0]


def test_tables_show_the_numbers_that_the_paper_prints():
    numbers = made_up(as_printed, lambda m, size: 0.8)
    table = count_table(numbers)
    row = list(zip(table["problem"], table["method"], strict=True)).index(
        ("cannon vs cup", ELASTIC)
    )
    assert table["Gaussian (range)"][row] == "88 (88–88)"
    assert table["paper: Gaussian"][row] == "88 of 880"
    assert table["paper: χ²"][row] == "792 of 880"
    assert [note for note in table["paper: χ²"] if note] == ["792 of 880"]
    widths = width_table(numbers, 0, {GAUSSIAN: 0.02, CHI2: 1.0})
    assert widths["typical k(x, x′)"][0] == "0.37"  # exp(-0.02 / (2 · 0.1²))
    assert widths["typical k(x, x′)"][11] == "0.24"  # exp(-1.2²)
    assert widths["paper"] == [88, *9 * [0], 0, *9 * [88]] == widths["selected (mean)"]
    assert set(widths["of"]) == {88}


def test_what_other_choices_would_have_given_is_told():
    scores = {name: [0.5, 0.8, 0.8, 0.6, 0.6, 0.6] for name in MODELS}
    test_scores = {name: [0.5, 0.7, 0.9, 0.6, 0.6, 0.6] for name in MODELS}
    chosen = {"accuracy": 0.7, "cv_accuracy": 0.8, "model": "elastic 0.2"}
    methods = dict.fromkeys(METHODS, chosen)
    result = {"methods": methods, "cv_scores": scores, "test_scores": test_scores}
    table = choice_table({Task("cup", "ant", 10, 0): result})
    assert [column[0] for column in table.values()][1:] == ["80.0", "70.0", "90.0"]
    assert lambda_counts({Task("cup", "ant", 10, 0): result})["0.2"] == 1


def test_groups_of_kernels_are_those_of_the_text():
    arrangement = Caltech101().arrangement
    sizes = [int(members(group, arrangement).sum()) for group in GROUPS]
    assert sizes == [1760, 880, 616, 264, 880]
    kept, left_out = members(KEPT, arrangement), members(LEFT_OUT, arrangement)
    assert_array_equal(kept + left_out, 1)
    parts = members(IDENTITY, arrangement) + members(USEFUL, arrangement)
    assert_array_equal(parts, kept)
    counts = kept.reshape(arrangement.shape).sum(axis=(0, 1))
    assert_array_equal(counts, [[88, *9 * [0]], [0, *9 * [88]]])


def test_sums_that_see_nothing_are_told_from_those_that_do(distances):
    labels = np.repeat(CLASSES, 4)
    same = labels[:, None] == labels
    distances = np.where(same, 0.1, 2.0).astype(np.float32) * np.ones_like(distances)
    distances[..., np.arange(12), np.arange(12)] = 0.0
    result = compare_sums(sum_key(0), distances, labels, SMALL, [2])
    assert result["accuracy"][LEFT_OUT] == [[1.0], [1.0], [1.0]]
    table = sum_table([result, result], SMALL)
    assert table["mean"][-1] == "100.0 ± 0.0"
    said = f"the {table['number'][-1]} kernels that the paper's elastic net leaves out reach 100.0"
    assert said in sum_finding([result], SMALL)


class Tiny(Caltech101):
    """The whole way with few drawings, kernels and folds."""

    arrangement = Arrangement(("SIFT, 8 px",), levels=(1, 2), n_widths=2)
    sizes = (5,)
    n_splits = 2

    def _some(self, items):
        return items[:9]


def test_a_tiny_run_on_drawings_goes_all_the_way(tmp_path, monkeypatch):
    pytest.importorskip("cv2")
    monkeypatch.setitem(reproductions.EXPERIMENTS, "caltech101", Tiny)
    monkeypatch.setattr(comparison, "N_REPEATS", 1)
    done = reproduce("caltech101", out=tmp_path, quick=True, stand_in=True)
    assert (done.n_done, done.n_tasks) == (8, 8)
    page = done.page.read_text()
    assert "These are drawings of ants, cannons and cups, not the original data." in page
    assert "792 of 880" in page
    assert "24 kernels" in page
    names = {path.name for path in tmp_path.glob("*.png")}
    assert {"caltech101-accuracy.png", "caltech101-kernels-selected.png"} <= names
    accuracy = done.summary.sections[1].figure
    assert [ax.get_title(loc="left") for ax in accuracy.axes] == [" vs ".join(p) for p in PROBLEMS]


def test_without_opencv_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"needs OpenCV.*multikernel\[images\]"):
        Tiny(quick=True).stand_in()


def test_too_few_images_are_refused(tmp_path):
    for name in CLASSES:
        (tmp_path / "caltech101_3class" / name).mkdir(parents=True)
    with pytest.raises(ValueError, match="ant holds 0 JPEG files; more than 40 are needed"):
        Caltech101().load(tmp_path)


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "caltech101_3class").is_dir(), reason="no images of Caltech-101")
def test_words_of_the_real_images_tell_cups_from_ants():
    pytest.importorskip("cv2")
    experiment = Tiny(quick=True)
    experiment._some = lambda items: items[:20]
    data = experiment.load(DATA)
    assert dict(zip(*np.unique(data.labels, return_counts=True), strict=True)) == dict.fromkeys(
        CLASSES, 20
    )
    assert data.distances.shape == (1, 5, 2, 60, 60)
    assert np.all(data.distances[:, :, FAMILIES.index(CHI2)] <= 2.0001)
    assert np.mean([_accuracy(experiment, data, split) for split in range(5)]) > 0.6


def _accuracy(experiment, data, split):
    """The accuracy of uniform weights, trained on ten cups and ten ants."""
    train, test = train_and_test(Task("cup", "ant", 10, split), data.labels)
    both = np.concatenate([train, test])
    bank = kernel_bank(data.distances, experiment.arrangement, both)
    y = np.where(data.labels[both] == "cup", 1.0, -1.0)
    fit, held = np.split(np.arange(40), [20])
    machine = MODELS["elastic 1"].path(bank.take(fit), y[fit], [1.0], 1e-4)[0]
    K = bank.combine(machine.weights)[np.ix_(held, fit)]
    return np.mean((machine.decide(K) > 0) == (y[held] > 0))
