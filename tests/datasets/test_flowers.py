"""The authors' files of the Oxford flowers, on small files of the same layout."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat

from multikernel import MKLClassifier
from multikernel.datasets import (
    load_flowers17,
    load_flowers102,
    mean_distance_grams,
    read_flowers102_split,
)

DATA = Path(__file__).parents[3] / "shared" / "data"
GC = ("D_colourgc", "D_shapegc", "D_texturegc")
IT = ("D_hog", "D_hsv", "D_siftbdy", "D_siftint")
N_EACH = 8


def distances(names, y, rng):
    """Squared distances between points near the corners of a simplex, by class."""
    found = {}
    for name in names:
        X = np.eye(int(y.max()) + 1)[y] + 0.3 * rng.normal(size=(len(y), int(y.max()) + 1))
        found[name] = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    return found


@pytest.fixture
def flowers17(tmp_path):
    """Seventeen classes of eight, in splits of four, two and two."""
    rng, y = np.random.default_rng(0), np.repeat(np.arange(17), N_EACH)
    gc, it = distances(GC, y, rng), distances(IT, y, rng)
    savemat(tmp_path / "distancematrices17gcfeat06.mat", gc)
    savemat(tmp_path / "distancematrices17itfeat08.mat", it)
    splits = {}
    for k in (1, 2, 3):
        order = np.stack([rng.permutation(N_EACH) + N_EACH * c for c in range(17)])
        for name, columns in (("trn", slice(0, 4)), ("val", slice(4, 6)), ("tst", slice(6, 8))):
            splits[f"{name}{k}"] = order[:, columns].reshape(1, -1) + 1
    savemat(tmp_path / "datasplits.mat", splits)
    return tmp_path, gc | it, splits


@pytest.fixture
def flowers102(tmp_path):
    """Three classes of five, in the layout of the 102."""
    rng, y = np.random.default_rng(1), np.repeat(np.arange(3), 5)
    D = distances(("Dhog", "Dhsv", "Dsiftbdy", "Dsiftint"), y, rng)
    savemat(tmp_path / "distancematrices102.mat", D)
    savemat(tmp_path / "imagelabels.mat", {"labels": (y + 1)[np.newaxis].astype(np.uint8)})
    order = (np.arange(15).reshape(3, 5) + 1).T
    ids = {"trnid": order[:1], "valid": order[1:2], "tstid": order[2:].reshape(1, -1)}
    savemat(tmp_path / "setid.mat", ids)
    return tmp_path, D, y


def test_the_17_are_read_as_they_were_written(flowers17):
    folder, D, splits = flowers17
    data = load_flowers17(folder)
    assert len(data.distances) == 7
    for name, matrix in D.items():
        assert_array_equal(data.distances[name.removeprefix("D_")], matrix)
    assert_array_equal(data.y, np.repeat(np.arange(17), N_EACH))
    assert data.target_names[0] == "daffodil"
    for k, split in enumerate(data.splits, 1):
        assert_array_equal(split.train, splits[f"trn{k}"].ravel() - 1)
        assert_array_equal(split.validation, splits[f"val{k}"].ravel() - 1)
        assert_array_equal(split.test, splits[f"tst{k}"].ravel() - 1)


def test_the_102_are_read_as_they_were_written(flowers102):
    folder, D, y = flowers102
    data = load_flowers102(folder)
    assert set(data.distances) == {"hog", "hsv", "siftbdy", "siftint"}
    for name, matrix in D.items():
        assert_array_equal(data.distances[name.removeprefix("D")], matrix)
    assert_array_equal(data.y, y)
    (split,) = data.splits
    assert_array_equal(np.sort(np.concatenate(list(split.values()))), np.arange(15))
    assert_array_equal(data.y[split.train], [0, 1, 2])


def test_kernels_from_the_files_tell_flowers_apart(flowers17):
    data = load_flowers17(flowers17[0])
    train, test = data.splits[0].train, data.splits[0].test
    K = mean_distance_grams(data.distances, train, train)
    model = MKLClassifier("precomputed", normalize=None).fit(K, data.y[train])
    predicted = model.predict(mean_distance_grams(data.distances, test, train))
    assert np.mean(predicted == data.y[test]) > 0.9


def test_kernels_are_what_they_say(flowers17):
    D = flowers17[1]
    train, rows = np.array([3, 9, 20, 50]), np.array([1, 2])
    K = mean_distance_grams(D, rows, train)
    assert K.shape == (2, 4, 7)
    for m, matrix in enumerate(D.values()):
        pairs = [matrix[i, j] for a, i in enumerate(train) for j in train[:a]]
        assert_allclose(K[:, :, m], np.exp(-matrix[rows][:, train] / np.mean(pairs)), rtol=1e-12)


def test_a_scale_needs_pairs_that_differ():
    with pytest.raises(ValueError, match="two training samples"):
        mean_distance_grams([np.eye(3)], [0], [1])
    with pytest.raises(ValueError, match="positive mean"):
        mean_distance_grams([np.zeros((3, 3))], [0], [1, 2])


@pytest.mark.parametrize("name", ["distancematrices17gcfeat06.mat", "datasplits.mat"])
def test_a_missing_file_is_named(flowers17, name):
    (flowers17[0] / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"{name} is missing.*robots\.ox"):
        load_flowers17(flowers17[0])


def test_a_missing_variable_is_named(flowers17):
    folder, D, _ = flowers17
    without = {name: D[name] for name in GC[:2]}
    savemat(folder / "distancematrices17gcfeat06.mat", without)
    with pytest.raises(ValueError, match=r"lacks \['D_texturegc'\]"):
        load_flowers17(folder)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tst1": np.array([[1, 500]])}, "from 1 to 136"),
        ({"tst1": np.array([[0]])}, "from 1 to 136"),
        ({"val2": np.array([[5]]), "tst2": np.array([[5]])}, "twice in split 2"),
    ],
)
def test_impossible_splits_are_refused(flowers17, changed, message):
    folder, _, splits = flowers17
    savemat(folder / "datasplits.mat", splits | changed)
    with pytest.raises(ValueError, match=message):
        load_flowers17(folder)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.zeros((4, 5)), "square matrix"),
        (np.zeros((34, 34)), "differ in size"),
    ],
)
def test_impossible_distances_are_refused(flowers17, D, message):
    folder, stored, _ = flowers17
    changed = {name: stored[name] for name in GC} | {"D_shapegc": D}
    savemat(folder / "distancematrices17gcfeat06.mat", changed)
    with pytest.raises(ValueError, match=message):
        load_flowers17(folder)


def test_the_number_of_images_must_suit_the_classes(flowers17):
    folder, stored, _ = flowers17
    for file, names in (("gcfeat06", GC), ("itfeat08", IT)):
        cut = {name: stored[name][:40, :40] for name in names}
        savemat(folder / f"distancematrices17{file}.mat", cut)
    with pytest.raises(ValueError, match="for each of 17"):
        load_flowers17(folder)


def test_labels_and_distances_must_belong_together(flowers102):
    folder, _, _ = flowers102
    ids = {"trnid": [[1]], "valid": [[2]], "tstid": [[3]]}
    savemat(folder / "setid.mat", ids)
    savemat(folder / "imagelabels.mat", {"labels": [[1, 2, 3]]})
    with pytest.raises(ValueError, match="3 labels for 15 rows"):
        load_flowers102(folder)


def test_what_is_no_matlab_file_is_refused(flowers17):
    (flowers17[0] / "datasplits.mat").write_text("not a MATLAB file, though long enough " * 10)
    with pytest.raises(ValueError, match="is not a MATLAB file"):
        load_flowers17(flowers17[0])


def write_hdf5_header(path):
    """The first bytes of a MATLAB 7.3 file."""
    head = b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM"
    path.write_bytes(head + bytes(512 - len(head)))


def test_hdf5_files_without_h5py_get_one_sentence(flowers17, monkeypatch):
    write_hdf5_header(flowers17[0] / "datasplits.mat")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"MATLAB 7\.3 .* pip install h5py"):
        load_flowers17(flowers17[0])


class StoredTransposed(dict):
    """What h5py would show of a MATLAB 7.3 file."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def test_hdf5_files_are_read_transposed(flowers17, monkeypatch):
    folder, D, _ = flowers17
    lopsided = {name: D[name] + np.triu(np.ones_like(D[name])) for name in GC}
    write_hdf5_header(folder / "distancematrices17gcfeat06.mat")
    stored = StoredTransposed({name: matrix.T for name, matrix in lopsided.items()})
    fake = SimpleNamespace(File=lambda path, mode: stored)
    monkeypatch.setitem(sys.modules, "h5py", fake)
    data = load_flowers17(folder)
    assert_array_equal(data.distances["colourgc"], lopsided["D_colourgc"])


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "flowers102").is_dir(), reason=f"no data sets at {DATA}")
def test_the_real_split_of_the_102():
    y, (split,) = read_flowers102_split(DATA / "flowers102")
    assert len(y) == 8189
    assert sorted(set(y)) == list(range(102))
    assert [len(part) for part in (split.train, split.validation, split.test)] == [1020, 1020, 6149]
    assert_array_equal(np.bincount(y[split.train]), 10)
