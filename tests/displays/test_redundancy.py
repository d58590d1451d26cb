"""RedundancyDisplay: alignments by definition, in the order of a tree, by source where many."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multikernel.displays import RedundancyDisplay
from multikernel.displays.redundancy import MAX_NUMBERED
from multikernel.estimators import MKLClassifier, MKLRegressor, MultiTaskMKLRegressor
from multikernel.kernels import RBF, KernelBundle, KernelSet, ViewBundle

HOSTILE = "a$b$c_<script>"


def alignment(K, L):
    n = len(K)
    H = np.eye(n) - 1 / n
    K, L = H @ K @ H, H @ L @ H
    return np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L)


@pytest.fixture
def grams(rng):
    A = rng.normal(size=(30, 2))
    near = A + 0.1 * rng.normal(size=A.shape)
    other = rng.normal(size=(30, 3))
    return {HOSTILE: A @ A.T, "other": other @ other.T, "near": near @ near.T}


def test_alignments_by_definition(grams, rng):
    y = rng.choice(["u", "v", "w"], size=30)
    frame = RedundancyDisplay.from_kernels(None, KernelBundle(grams), y).frame()
    one_hot = np.array([[label == c for c in "uvw"] for label in y], dtype=float)
    known = grams | {"y": one_hot @ one_hot.T}
    assert frame.index[0] == frame.columns[0] == "y"
    expected = [[alignment(known[a], known[b]) for b in frame.columns] for a in frame.index]
    assert_allclose(frame, expected, atol=1e-5)  # triangles are in single precision


def test_what_is_given_is_left_alone(grams, rng):
    y, K = rng.normal(size=30), np.stack(list(grams.values()), axis=2)
    kept_y, kept_K = y.copy(), K.copy()
    RedundancyDisplay.measure("precomputed", K, y, normalize=None)
    RedundancyDisplay.measure(None, KernelBundle(grams), y, normalize=None)
    assert_array_equal(y, kept_y)
    assert_array_equal(K, kept_K)
    assert_array_equal(np.stack(list(grams.values()), axis=2), kept_K)


def test_kernels_that_are_alike_are_neighbours(grams):
    display = RedundancyDisplay.from_kernels(None, KernelBundle(grams))
    names = display.frame().index.tolist()
    assert abs(names.index(HOSTILE) - names.index("near")) == 1
    assert [list(grams)[m] for m in display.order_] == names
    assert_allclose(display.image_.get_array(), display.frame())
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == names


def test_numbers_are_targets_of_a_regressor_and_labels_of_a_classifier(grams):
    K = np.stack(list(grams.values()), axis=2)
    y = np.arange(30) % 3
    for model, target in (
        (MKLRegressor("precomputed"), np.outer(y, y)),
        (MKLClassifier("precomputed"), np.equal.outer(y, y)),
    ):
        display = RedundancyDisplay.from_estimator(model, K, y)
        expected = [alignment(G, target.astype(float)) for G in grams.values()]
        assert_allclose(display.target, expected, atol=1e-5)


def test_many_kernels_are_taken_together_by_source(rng):
    views = {f"view {i}": rng.normal(size=(20, 2)) for i in range(8)}
    widths = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    kernels = KernelSet(families=[RBF(width=widths)], normalize=None)
    display = RedundancyDisplay.from_kernels(kernels, ViewBundle(views), np.arange(20) % 2)
    assert display.note == "8 sources, each the sum of its kernels (64 in all)"
    assert "64 in all" in display.ax_.get_title(loc="left")
    sums = {name: np.zeros((20, 20)) for name in views}
    H = np.eye(20) - 1 / 20
    for m, K in kernels.fit_grams(ViewBundle(views)):
        K = H @ K @ H
        sums[kernels.rows_[m]["source"]] += K / np.linalg.norm(K)
    expected = [[alignment(a, b) for b in sums.values()] for a in sums.values()]
    assert_allclose(display.alignment, expected, atol=1e-4)
    alone = RedundancyDisplay.from_kernels(kernels, ViewBundle(views), by="kernel")
    assert np.shape(alone.alignment) == (64, 64)


@pytest.mark.parametrize("one_source", [True, False])
def test_of_very_many_rows_those_about_the_targets_are_kept(rng, one_source):
    y = rng.normal(size=12)
    vectors = rng.normal(size=(170, 12))
    vectors[[3, 160]] = y + 0.01 * rng.normal(size=(2, 12))
    if one_source:
        kernels, X = "precomputed", np.einsum("mi,mj->ijm", vectors, vectors)
    else:
        kernels, X = None, KernelBundle({f"k{m}": np.outer(v, v) for m, v in enumerate(vectors)})
    display = RedundancyDisplay.measure(kernels, X, y)
    assert "the 150 best aligned with y of 170" in display.note
    every = RedundancyDisplay.measure(kernels, X, y, by="kernel")
    best = np.sort(np.argsort(-np.asarray(every.target), kind="stable")[:150])
    assert {3, 160} <= set(best)
    assert list(display.names) == [every.names[m] for m in best]
    assert_allclose(display.target, np.asarray(every.target)[best], atol=1e-5)
    assert_allclose(display.alignment, np.asarray(every.alignment)[np.ix_(best, best)], atol=1e-5)
    blind = RedundancyDisplay.measure(kernels, X)
    assert list(blind.names) == every.names[:150]
    assert "the first 150 of 170" in blind.note


def test_samples_are_drawn_from_many(rng):
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    y = X["a"].to_numpy()
    display = RedundancyDisplay.from_estimator(MKLRegressor(), X, y, max_samples=20)
    assert "20 of 50 samples" in display.note
    K = rng.normal(size=(50, 50, 2))
    K = np.einsum("ikm,jkm->ijm", K, K)
    display = RedundancyDisplay.from_kernels("precomputed", K, y, max_samples=20)
    assert np.shape(display.alignment) == (2, 2)


@pytest.mark.parametrize("n", [1, 2, 30, 150, 450])
def test_any_number_of_rows(n, rng, tmp_path):
    A = np.corrcoef(rng.normal(size=(n, 3 * n))) ** 2 if n > 1 else np.ones((1, 1))
    display = RedundancyDisplay(A, ["$\\bad{"] * n, target=np.zeros(n), note="$\\bad{").plot()
    display.figure_.savefig(tmp_path / "x.svg")
    assert display.frame().shape == (n + 1, n + 1)


def test_what_cannot_be_drawn_is_refused(grams):
    with pytest.raises(ValueError, match="by must be"):
        RedundancyDisplay.from_kernels(None, KernelBundle(grams), by="family")
    with pytest.raises(ValueError, match="a row per name"):
        RedundancyDisplay(np.eye(2), ["a"]).plot()
    with pytest.raises(TypeError, match=r"use RedundancyDisplay\.from_kernels"):
        RedundancyDisplay.from_estimator(MultiTaskMKLRegressor(), np.zeros((3, 2)))


@pytest.mark.parametrize("n", [1, 2, 3, 13, 24, 60, 109])
@pytest.mark.parametrize("length", [6, 30, 60])
def test_names_fit_into_the_figure(n, length):
    middle = ("/rbf of width" * 5)[: length - 6]
    names = [f"{m:03}{middle}{m:03}" if middle else f"{m:03}" for m in range(n)]
    display = RedundancyDisplay(np.eye(n), names, target=np.zeros(n)).plot()
    figure, ax = display.figure_, display.ax_
    figure.draw_without_rendering()
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        texts = [label.get_text() for label in labels]
        ordered = [names[m] for m in display.order_]
        if n + 1 <= MAX_NUMBERED:
            assert texts == ["y", *ordered]
        for text, name in zip(texts[1:], ordered, strict=True):
            assert text.startswith(name[:10])
            assert text.endswith(name[-10:])
        for label in labels:
            box = label.get_window_extent()
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    widths = [label.get_window_extent().width for label in ax.get_xticklabels()]
    if n + 1 > MAX_NUMBERED:  # upright: none reaches into the next
        assert max(widths) <= ax.get_window_extent().width / (n + 1)
