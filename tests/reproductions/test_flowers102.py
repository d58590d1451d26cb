"""Flowers102: the authors' layout is read, scores become the paper's measures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat

from multikernel.reproductions import reproduce
from multikernel.reproductions.flowers102.experiment import (
    Flowers102,
    draw_distances,
    first_classes,
)
from multikernel.reproductions.flowers102.models import MACHINES, MULTIPLE, SINGLE
from multikernel.reproductions.flowers102.tables import PEER, equal_error_rate, measures


@pytest.fixture
def files(tmp_path):
    """The layout of the authors' files, for seven classes in no order."""
    data = draw_distances(7, 16)
    order = np.random.default_rng(0).permutation(len(data.y))
    place = np.argsort(order)  # where an image has gone
    folder = tmp_path / "flowers102"
    folder.mkdir()
    distances = {f"D{name}": D[np.ix_(order, order)] for name, D in data.distances.items()}
    savemat(folder / "distancematrices102.mat", distances)
    savemat(folder / "imagelabels.mat", {"labels": data.y[order][np.newaxis] + 1})
    parts = dict(zip(("trnid", "valid", "tstid"), data.splits[0].values(), strict=True))
    savemat(folder / "setid.mat", {key: place[rows][np.newaxis] + 1 for key, rows in parts.items()})
    return tmp_path


def test_a_quick_look_at_drawn_distances(tmp_path):
    done = reproduce("flowers102", quick=True, stand_in=True, out=tmp_path)
    table = done.summary.sections[0].table
    assert table["method"] == [PEER, *MACHINES, MULTIPLE, SINGLE]
    assert dict(zip(table["method"], table["paper: accuracy"], strict=True))[MULTIPLE] == "69.3"
    assert min(float(a) for a in table["accuracy"][1:]) > 40
    assert done.stand_in == "drawn distances"


def test_the_authors_files_are_read(files, tmp_path):
    done = reproduce("flowers102", quick=True, data=files, out=tmp_path / "out")
    section = done.summary.sections[0]
    assert section.text == ("40 test images of 5 classes.",)  # of the seven, the first five
    assert section.table["method"][-1] == SINGLE
    assert min(float(a) for a in section.table["AUC"][1:]) > 0.8


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"distancematrices102\.mat.*drawn distances"):
        reproduce("flowers102", data=tmp_path, out=tmp_path / "out")


def test_classes_are_chosen_by_labels_not_by_position():
    data = draw_distances(6, 8)
    data.y = data.y[::-1].copy()
    study = first_classes(data, 2)
    for part in (study.split.train, study.split.validation, study.split.test):
        assert set(data.y[part]) == {0, 1}
    assert_array_equal(study.y, data.y)
    assert Flowers102(quick=True).tasks(study)[-1] == f"{SINGLE}, class 1"


def test_equal_error_rate():
    positive = np.array([True, False] * 50)
    assert equal_error_rate(positive, np.where(positive, 1.0, 0.0)) == 0.0
    assert equal_error_rate(positive, np.where(positive, 0.0, 1.0)) == 1.0
    scores = np.random.default_rng(0).normal(size=20_000)
    labels = np.arange(20_000) % 2 == 0
    assert_allclose(equal_error_rate(labels, scores + 2 * labels), 0.1587, atol=0.01)  # Φ(−1)


def test_measures_are_those_of_every_class():
    y = np.array([0, 0, 1, 1])
    found = measures(np.array([[2.0, 0.0], [1.0, 3.0], [0.0, 1.0], [0.0, 2.0]]), y)
    assert found["accuracy"] == 0.75
    assert_allclose(found["auc"], [1.0, 0.5])
