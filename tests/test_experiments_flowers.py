"""The flowers experiment: no test image is looked at, it resumes, and its figures are right."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

pytest.importorskip("cv2")
pd = pytest.importorskip("pandas")

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "experiments").is_dir(), reason="experiments are not part of the package"
)
sys.path.insert(0, str(ROOT / "experiments"))

import flowers17  # noqa: E402
import flowers17_features  # noqa: E402
import flowers17_methods  # noqa: E402
import flowers17_table  # noqa: E402
from flowers17_standin import draw_flower  # noqa: E402


def run(folder, *more):
    return flowers17.main(flowers17.arguments(["--quick", "--out", str(folder), *more]))


@pytest.fixture(scope="module", autouse=True)
def short():
    """Three kinds of eight flowers, few words."""
    tiny = flowers17.Settings("stand-in", True, 3, 8, (4, 2, 2), 1, (1.0, 10.0), 5)
    few = {
        name: flowers17_features.Description(min(d.n_words, 20), d.is_sift)
        for name, d in flowers17_features.DESCRIPTIONS.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flowers17.Settings, "of", lambda source, quick: tiny)
        for module in (flowers17, flowers17_features):
            patch.setattr(module, "DESCRIPTIONS", few)
        patch.setattr(flowers17_features, "_SAMPLE", 2000)
        with threadpool_limits(1):
            yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run with its results, not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, run(folder, "--stand-in")


def test_every_method_has_a_result(finished):
    _, frame = finished
    expected = [m.name for m in flowers17_methods.methods(list(flowers17_features.DESCRIPTIONS))]
    assert frame["method"].tolist() == expected
    assert frame["accuracy"].between(0, 1).all()
    assert (frame["n_kernels"] >= 1).all()
    assert frame.loc[frame["method"].str.startswith("BMKL"), "C"].isna().all()


def test_easy_flowers_are_told_apart(finished):
    _, frame = finished
    by_method = frame.set_index("method")["accuracy"]
    assert by_method["SVM, mean of kernels"] > 0.8
    assert by_method["BMKL, multiple output"] > 0.8


def test_a_run_that_was_stopped_goes_on_where_it_was(finished):
    folder, frame = finished
    parts = sorted((folder / "stand-in-quick").glob("split1-*.json"))
    stamps = {path: path.stat().st_mtime_ns for path in parts}
    marked = json.loads(parts[0].read_text("utf-8")) | {"accuracy": 0.123}
    parts[1].unlink()
    parts[0].write_text(json.dumps(marked), "utf-8")
    again = run(folder, "--stand-in")
    assert (again["accuracy"] == 0.123).sum() == 1
    assert parts[1].exists()
    kept = [path for path in parts[2:] if path.stat().st_mtime_ns != stamps[path]]
    assert kept == []
    parts[0].unlink()
    pd.testing.assert_series_equal(run(folder, "--stand-in")["accuracy"], frame["accuracy"])


def test_results_of_other_settings_are_not_mixed(finished):
    folder, _ = finished
    other = flowers17.Settings("stand-in", False)
    with pytest.raises(ValueError, match="other settings"):
        flowers17.check_settings(folder / "stand-in-quick", other)


def test_missing_images_are_named(tmp_path, monkeypatch):
    images = flowers17.Settings("images", True, 3, 8, (4, 2, 2), 1, (1.0,), 5)
    monkeypatch.setattr(flowers17.Settings, "of", lambda source, quick: images)
    with pytest.raises(FileNotFoundError, match=r"image_0001\.jpg.*--stand-in"):
        run(tmp_path / "out", "--images", str(tmp_path / "nowhere"))


def test_words_do_not_depend_on_test_images(finished, tmp_path):
    """Test images whose descriptors are replaced by others leave the vocabulary as it was."""
    folder, _ = finished
    stored, n = folder / "stand-in-quick" / "descriptors", 24
    split = flowers17.draw_split(np.repeat(np.arange(3), 8), (4, 2, 2), seed=0)
    learn = np.concatenate([split.train, split.validation])
    before = flowers17_features.learn_words(stored, n, "SIFT interior", learn, 0).words_
    with np.load(flowers17_features.block_path(stored, 0)) as file:
        arrays = dict(file)
    counts = arrays["SIFT interior/counts"]
    parts = np.split(arrays["SIFT interior"], np.cumsum(counts)[:-1])
    for i in split.test:
        parts[i] = np.zeros_like(parts[i])
    arrays["SIFT interior"] = np.concatenate(parts)
    with flowers17_features.block_path(tmp_path, 0).open("wb") as file:
        np.savez(file, **arrays)
    after = flowers17_features.learn_words(tmp_path, n, "SIFT interior", learn, 0).words_
    assert_array_equal(after, before)
    one_more = np.append(learn, split.test[0])
    assert not np.array_equal(
        flowers17_features.learn_words(tmp_path, n, "SIFT interior", one_more, 0).words_, before
    )


def test_descriptors_survive_being_stored(finished):
    folder, _ = finished
    image = flowers17_features.read_image(folder / "stand-in-quick" / "jpg" / "image_0003.jpg")
    fresh = flowers17_features.describe(image)
    for name, values in fresh.items():
        kept = dict(flowers17_features.stored(folder / "stand-in-quick" / "descriptors", 24, name))
        scale = 512 if flowers17_features.DESCRIPTIONS[name].is_sift else 1
        assert_allclose(kept[2] / scale, np.minimum(values, 255 / scale), atol=3e-3)


@pytest.mark.parametrize("seed", range(3))
def test_splits_are_stratified_and_apart(seed):
    y = np.repeat(np.arange(17), 80)
    split = flowers17.draw_split(y, (40, 20, 20), seed)
    parts = (split.train, split.validation, split.test)
    assert_array_equal(np.sort(np.concatenate(parts)), np.arange(1360))
    for part, size in zip(parts, (40, 20, 20), strict=True):
        assert_array_equal(np.bincount(y[part]), size)
    assert not np.array_equal(split.test, flowers17.draw_split(y, (40, 20, 20), seed + 1).test)


def toy(n=30, seed=0):
    """Two kernels on three classes, as queries the same samples."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(3), n // 3)
    D = {}
    for name, noise in (("good", 0.2), ("bad", 5.0)):
        H = np.abs(np.eye(3)[y] + noise * rng.random((n, 3)))
        D[name] = -additive_chi2_kernel(H / H.sum(axis=1, keepdims=True))
    return D, y


def test_c_is_chosen_on_validation_images_only(monkeypatch):
    D, y = toy()
    split = flowers17.draw_split(y, (5, 2, 3), seed=0)
    data = flowers17.Study(D, y, split)
    seen = []

    def spy(kernels, labels, C, max_iter):
        seen.append((kernels.train.shape, kernels.query.shape))
        predicted = np.full(6, -1) if C != 1.0 else y[split.validation]
        return flowers17_methods.Outcome(predicted, 1, 0, 0)

    settings = flowers17.Settings("stand-in", True, Cs=(0.1, 1.0, 10.0))
    method = flowers17_methods.Method("spy", True, spy)
    assert flowers17.choose_c(method, data, settings) == (1.0, 1.0)
    assert set(seen) == {((15, 15, 2), (6, 15, 2))}


def test_the_mean_and_the_product_are_what_they_say():
    D, y = toy()
    train = np.arange(0, 30, 2)
    query = np.setdiff1d(np.arange(30), train)
    kernels = flowers17.make_kernels(flowers17.Study(D, y, None), train, query)
    scale = {k: d[np.ix_(train, train)].sum() / (15 * 14) for k, d in D.items()}
    E = sum(d / scale[k] for k, d in D.items()) / 2
    expected = SVC(C=3.0, kernel="precomputed").fit(np.exp(-E[np.ix_(train, train)]), y[train])
    ours = flowers17_methods.product_svm(kernels, y[train], 3.0, 5)
    assert_array_equal(ours.predicted, expected.predict(np.exp(-E[np.ix_(query, train)])))
    assert ours.n_kernels == 2


def test_the_authors_files_can_be_used(tmp_path, monkeypatch):
    rng, y = np.random.default_rng(0), np.repeat(np.arange(17), 4)
    X = np.eye(17)[y] + 0.1 * rng.normal(size=(68, 17))
    D = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    gc = {f"D_{name}": D for name in ("colourgc", "shapegc", "texturegc")}
    savemat(tmp_path / "distancematrices17gcfeat06.mat", gc)
    it = {f"D_{name}": D for name in ("hsv", "hog", "siftint", "siftbdy")}
    savemat(tmp_path / "distancematrices17itfeat08.mat", it)
    order = np.arange(68).reshape(17, 4) + 1
    parts = {"trn": order[:, :2], "val": order[:, 2:3], "tst": order[:, 3:]}
    splits = {f"{name}{k}": ids.reshape(1, -1) for name, ids in parts.items() for k in (1, 2, 3)}
    savemat(tmp_path / "datasplits.mat", splits)
    official = flowers17.Settings("mat", True, n_splits=1, Cs=(1.0,), max_iter=3)
    monkeypatch.setattr(flowers17.Settings, "of", lambda source, quick: official)
    frame = run(tmp_path / "out", "--mat", str(tmp_path))
    assert frame["method"].iloc[0] == "SVM, colourgc alone"
    by_method = frame.set_index("method")["accuracy"]
    one_latent = "BMKL, shared sample weights"  # equal kernels leave one number for 17 classes
    assert by_method.drop(one_latent).min() > 0.9


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
    text = flowers17_table.markdown(frame, ["a", "b"], "images")
    assert "| BMKL, single output | 85.0 ± 5.0 | 86.2 ± 1.6 | 80.0, 90.0, 85.0 |" in text
    assert " 85.0 |  |  | 2.0 | 2 | 0.1 |" in text
    assert "| BMKL, single output | 25 | 75 |" in text
    assert "| BMKL, single output | 5, 6, 7 | converged |" in text
    assert "86.2" not in flowers17_table.markdown(frame, ["a", "b"], "stand-in")


def test_drawn_flowers_differ_within_a_kind():
    images = [draw_flower(1, np.random.default_rng(seed)) for seed in (0, 1)]
    assert images[0].dtype == np.uint8
    assert not np.array_equal(*images)
