"""A saved comparison is read from its file or folder; a damaged one is named with what is wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest
from comparison.test_results import BASE, MKL, SUM, make

from multikernel.comparison import Comparison
from multikernel.comparison.saving import as_json


@pytest.fixture
def saved(tmp_path):
    return make({SUM: BASE, MKL: BASE + 0.1}).save(tmp_path / "comparison.json")


def test_a_folder_will_do(saved):
    assert (
        Comparison.load(saved.parent)
        == Comparison.load(saved)
        == make({SUM: BASE, MKL: BASE + 0.1})
    )


def test_an_infinite_gap_is_null_in_the_file_and_infinite_again_after_it(tmp_path):
    history = {"gap": [np.inf, 0.5], "objective": [np.nan, 1.0]}
    result = replace(make({SUM: BASE}), whole={"history": history, "tol": 0.1})
    path = result.save(tmp_path / "c.json")
    content = json.loads(path.read_text(), parse_constant=pytest.fail)  # Infinity and the like
    assert content["whole"]["history"] == {"gap": [None, 0.5], "objective": [None, 1.0]}
    read = Comparison.load(path).whole
    np.testing.assert_equal(read["history"], history)
    assert read["tol"] == 0.1


def test_parameters_that_json_lacks_are_kept_as_they_print():
    assert [as_json(v) for v in (np.float64(2), np.inf, None, True)] == [2.0, "inf", None, True]


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', "\x00\x01"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"other\.json is not a comparison"):
        Comparison.load(path)


def test_nothing_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no comparison\.json; Comparison\.save"):
        Comparison.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.json"):
        Comparison.load(tmp_path / "none.json")


def drop(content, *keys):
    *path, last = keys
    for key in path:
        content = content[key]
    del content[last]


def put(content, value, *keys):
    *path, last = keys
    for key in path:
        content = content[key]
    content[last] = value


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda c: drop(c, "results"), "'results' is not there"),
        (lambda c: put(c, {}, "results"), "'results' is not what it should be"),
        (lambda c: put(c, 1, "more"), "'more' is not known"),
        (lambda c: put(c, True, "n_folds"), "'n_folds' is not what it should be"),
        (lambda c: put(c, [0.5], "constant"), "'constant' has not a score for every fold"),
        (lambda c: put(c, ["x"] * 5, "constant"), "'constant' has not a score for every fold"),
        (lambda c: put(c, [None] * 5, "constant"), "'constant' has not a score for every fold"),
        (lambda c: put(c, [], "results", 3), "in result 3 there are no fields"),
        (lambda c: drop(c, "results", 2, "role"), "in result 2 'role' is not there"),
        (lambda c: put(c, "x", "results", 0, "score"), "'score' is not what it should be"),
        (lambda c: put(c, 99, "results", 0, "fold"), "'fold' is 99 of 5"),
        (lambda c: put(c, [0, 100], "results", 0, "test"), "'test' names samples that are not"),
        (lambda c: put(c, ["a"], "results", 0, "predictions"), "not as many predictions as test"),
        (lambda c: put(c, [1.0], "results", 0, "weights"), "not as many weights as kernels"),
    ],
)
def test_damage_is_named(saved, damage, message):
    content = json.loads(saved.read_text())
    damage(content)
    saved.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message) as caught:
        Comparison.load(saved)
    assert "comparison.json is not a comparison that was saved here, or was damaged" in str(
        caught.value
    )


def test_another_format_is_said(saved):
    saved.write_text(json.dumps(json.loads(saved.read_text()) | {"format": 1}))
    with pytest.raises(ValueError, match="was saved by another version of multikernel"):
        Comparison.load(saved)
