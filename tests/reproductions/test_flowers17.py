"""The flowers experiment: no test image is looked at, and its figures are right."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.svm import SVC

from multikernel.reproductions import reproduce
from multikernel.reproductions.flowers17 import Flowers17, features, methods, tables
from multikernel.reproductions.flowers17.albums import DrawnFlowers, ImageFiles, draw_flower
from multikernel.reproductions.flowers17.experiment import choose_c
from multikernel.reproductions.flowers17.studies import (
    FromImages,
    Sizes,
    Study,
    draw_split,
    image_study,
)

pytest.importorskip("cv2")

TINY = Sizes(3, 8, (4, 2, 2), 1, (1.0, 10.0), 5, 2000, 20)
ALBUM = DrawnFlowers(3, 8)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A look at every step, shorter still than the quick one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flowers17, "QUICK", TINY)
        yield reproduce(
            "flowers17", quick=True, stand_in=True, out=tmp_path_factory.mktemp("flowers")
        )


def test_every_method_has_a_result(done):
    table = done.summary.sections[0].table
    assert table["method"] == [m.name for m in methods.methods(list(features.DESCRIPTIONS))]
    assert "86.2 ± 1.6" not in table["paper"]  # nothing to compare drawn flowers with
    assert all(0 <= float(a) <= 100 for a in table["accuracy"])
    chosen = dict(zip(table["method"], table["C"], strict=True))
    assert chosen["BMKL, single output"] == ""
    assert chosen["MKL, p = 1"] in ("1", "10")
    assert done.stand_in == "drawn flowers"


def test_easy_flowers_are_told_apart(done):
    table = done.summary.sections[0].table
    accuracy = dict(zip(table["method"], map(float, table["accuracy"]), strict=True))
    assert accuracy["SVM, mean of kernels"] > 80
    assert accuracy["BMKL, multiple output"] > 80


def test_missing_images_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"image_0001\.jpg.*--stand-in"):
        reproduce("flowers17", data=tmp_path, out=tmp_path / "out")
    (tmp_path / "flowers17").mkdir()
    with pytest.raises(FileNotFoundError, match=r"neither.*image_0001\.jpg.*--stand-in"):
        reproduce("flowers17", data=tmp_path, out=tmp_path / "out")


def test_without_opencv_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    folder = tmp_path / "flowers17" / "jpg"
    folder.mkdir(parents=True)
    for number in range(1, 1361):
        (folder / f"image_{number:04}.jpg").touch()
    for options in ({"stand_in": True}, {"data": tmp_path}):
        with pytest.raises(ImportError, match=r"pip install 'multikernel\[images\]'"):
            reproduce("flowers17", quick=True, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_images_are_told_apart_by_content(tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        for number in (1, 2, 81, 82):
            (folder / f"image_{number:04}.jpg").write_text(f"{number}")

    def fingerprint(name):
        return Flowers17().fingerprint(FromImages(ImageFiles(2, 2, tmp_path / name)))

    assert fingerprint("a") == fingerprint("b")
    (tmp_path / "b" / "image_0082.jpg").write_text("another")
    assert fingerprint("a") != fingerprint("b")


def test_words_do_not_depend_on_test_images(done):
    """Test images whose descriptors are replaced by others leave the words as they were."""
    values = features.descriptors(ALBUM)["SIFT interior"]
    split = draw_split(ALBUM.y, (4, 2, 2), seed=0)
    learn = np.concatenate([split.train, split.validation]).tolist()
    before = features.sample_descriptors(values, learn, 2000, 0)
    others = [np.zeros_like(v) if i in split.test else v for i, v in enumerate(values)]
    assert_array_equal(features.sample_descriptors(others, learn, 2000, 0), before)
    H, G = (
        features.histograms(v, "SIFT interior", learn, seed=0, n_sample=2000, max_words=20)
        for v in (values, others)
    )
    assert_array_equal(H[learn], G[learn])
    assert not np.array_equal(H[split.test], G[split.test])


def test_descriptors_survive_being_encoded():
    image = ALBUM.image(2)
    for name, values in features.describe(image).items():
        kept = features.descriptors(ALBUM)[name][2]
        scale = 512 if features.DESCRIPTIONS[name].is_sift else 1
        assert_allclose(kept / scale, np.minimum(values, 255 / scale), atol=3e-3)


def test_distances_are_those_of_histograms():
    study = image_study(ALBUM, 0, TINY)
    learn = np.concatenate([study.split.train, study.split.validation]).tolist()
    values = features.descriptors(ALBUM)["colour"]
    H = features.histograms(values, "colour", learn, seed=0, n_sample=2000, max_words=20)
    assert H.shape == (24, 20)
    assert_allclose(H.sum(axis=1), 1.0)
    expected = np.sum((H[0] - H[5]) ** 2 / np.maximum(H[0] + H[5], 1e-300))
    assert_allclose(study.distances["colour"][0, 5], expected)


def test_image_files_are_those_of_the_first_classes(tmp_path):
    import cv2

    files = ImageFiles(2, 3, tmp_path)
    for number in (1, 2, 3, 81, 82, 83):
        cv2.imwrite(str(tmp_path / f"image_{number:04}.jpg"), np.full((4, 4, 3), number, np.uint8))
    assert [round(float(files.image(i).mean())) for i in range(6)] == [1, 2, 3, 81, 82, 83]
    assert not ImageFiles.complete(tmp_path)
    assert_array_equal(files.y, [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("seed", range(3))
def test_splits_are_stratified_and_apart(seed):
    y = np.repeat(np.arange(17), 80)
    split = draw_split(y, (40, 20, 20), seed)
    parts = (split.train, split.validation, split.test)
    assert_array_equal(np.sort(np.concatenate(parts)), np.arange(1360))
    for part, size in zip(parts, (40, 20, 20), strict=True):
        assert_array_equal(np.bincount(y[part]), size)
    assert not np.array_equal(split.test, draw_split(y, (40, 20, 20), seed + 1).test)


def toy(n=30, seed=0):
    """Two kernels on three classes, as queries the same samples."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(3), n // 3)
    D = {}
    for name, noise in (("good", 0.2), ("bad", 5.0)):
        H = np.abs(np.eye(3)[y] + noise * rng.random((n, 3)))
        D[name] = -additive_chi2_kernel(H / H.sum(axis=1, keepdims=True))
    return D, y


def test_c_is_chosen_on_validation_images_only():
    D, y = toy()
    split = draw_split(y, (5, 2, 3), seed=0)
    data = Study(D, y, split)
    seen = []

    def spy(kernels, labels, C, max_iter):
        seen.append((kernels.train.shape, kernels.query.shape))
        predicted = np.full(6, -1) if C != 1.0 else y[split.validation]
        return methods.Outcome(predicted, 1, 0, 0)

    settings = Sizes(Cs=(0.1, 1.0, 10.0))
    method = methods.Method("spy", True, spy)
    assert choose_c(method, data, settings) == (1.0, 1.0)
    assert set(seen) == {((15, 15, 2), (6, 15, 2))}


def test_the_mean_and_the_product_are_what_they_say():
    D, y = toy()
    train = np.arange(0, 30, 2)
    query = np.setdiff1d(np.arange(30), train)
    kernels = Study(D, y, None).kernels(train, query)
    scale = {k: d[np.ix_(train, train)].sum() / (15 * 14) for k, d in D.items()}
    E = sum(d / scale[k] for k, d in D.items()) / 2
    expected = SVC(C=3.0, kernel="precomputed").fit(np.exp(-E[np.ix_(train, train)]), y[train])
    ours = methods.product_svm(kernels, y[train], 3.0, 5)
    assert_array_equal(ours.predicted, expected.predict(np.exp(-E[np.ix_(query, train)])))
    assert ours.n_kernels == 2


def test_the_authors_files_can_be_used(tmp_path, monkeypatch):
    rng, y = np.random.default_rng(0), np.repeat(np.arange(17), 4)
    X = np.eye(17)[y] + 0.1 * rng.normal(size=(68, 17))
    D = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    gc = {f"D_{name}": D for name in ("colourgc", "shapegc", "texturegc")}
    folder = tmp_path / "flowers17"
    folder.mkdir()
    savemat(folder / "distancematrices17gcfeat06.mat", gc)
    it = {f"D_{name}": D for name in ("hsv", "hog", "siftint", "siftbdy")}
    savemat(folder / "distancematrices17itfeat08.mat", it)
    order = np.arange(68).reshape(17, 4) + 1
    parts = {"trn": order[:, :2], "val": order[:, 2:3], "tst": order[:, 3:]}
    splits = {f"{name}{k}": ids.reshape(1, -1) for name, ids in parts.items() for k in (1, 2, 3)}
    savemat(folder / "datasplits.mat", splits)
    monkeypatch.setattr(Flowers17, "QUICK", Sizes(n_splits=1, Cs=(1.0,), max_iter=3))
    finished = reproduce("flowers17", quick=True, data=tmp_path, out=tmp_path / "out")
    table = finished.summary.sections[0].table
    assert table["method"][:2] == [tables.PEER, "SVM, colourgc alone"]
    assert "86.2 ± 1.6" in table["paper"]
    accuracy = dict(zip(table["method"], table["accuracy"], strict=True))
    del accuracy[tables.PEER], accuracy["BMKL, shared sample weights"]  # one number for 17 classes
    assert min(map(float, accuracy.values())) > 90


def test_tables_show_mean_and_deviation_beside_the_paper():
    frame = pd.DataFrame(
        {
            "method": ["BMKL, single output"] * 3,
            "split": [1, 2, 3],
            "accuracy": [0.8, 0.9, 0.85],
            "C": [None] * 3,
            "validation": [float("nan")] * 3,
            "n_kernels": [2.0] * 3,
            "fit_seconds": [1.0, 2.0, 9.0],
            "predict_seconds": [0.1] * 3,
            "n_iter": [5, 6, 7],
            "weights": [[0.25, 0.75]] * 3,
            "note": ["converged"] * 3,
        }
    )
    table = tables.accuracy_table(frame, tables.PAPER)
    row = {key: column[1] for key, column in table.items()}
    assert row["method"] == "BMKL, single output"
    assert row["accuracy"] == "85.0 ± 5.0"
    assert row["paper"] == "86.2 ± 1.6"
    assert row["each split"] == "80.0, 90.0, 85.0"
    assert (row["validation"], row["C"], row["kernels"], row["fit, s"]) == ("", "", "2.0", "2")
    assert tables.weight_table(frame, ["a", "b"])["b"] == ["75"]
    assert tables.iteration_table(frame)["iterations"] == ["5, 6, 7"]
    assert tables.accuracy_table(frame, {})["paper"] == [""]


def test_drawn_flowers_differ_within_a_kind():
    images = [draw_flower(1, np.random.default_rng(seed)) for seed in (0, 1)]
    assert images[0].dtype == np.uint8
    assert not np.array_equal(*images)
