"""Targets and groups find their samples by id, or are refused; a Dataset is all that is needed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from multikernel import RBF, ViewBundle, compare
from multikernel.comparison.inputs import check_groups, check_targets
from multikernel.comparison.unpacking import unpack
from multikernel.files import Dataset

IDS = ["c", "a", "d", "b"]
VALUES = np.array([3.0, 1.0, 4.0, 2.0])


@pytest.fixture
def aligned():
    return ViewBundle.align({"x": (IDS[:3], np.eye(3)), "z": (IDS[1:], np.eye(3))})


@pytest.fixture
def numbered():
    return ViewBundle({"x": np.eye(4)})


def test_a_series_follows_the_ids(aligned):
    shuffled = pd.Series(VALUES, index=IDS).sort_index()
    assert_array_equal(check_targets(shuffled, aligned), VALUES)
    more = pd.concat([shuffled, pd.Series([9.0], index=["e"])])
    assert_array_equal(check_targets(more, aligned), VALUES)
    labels = pd.Series(list("wxyz"), index=IDS)
    assert_array_equal(
        check_groups(labels.sort_index(), aligned), check_groups(list("wxyz"), aligned)
    )


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (range(4), r"labels of y \(they begin with 0\) are not the sample ids \(.* with 'c'\)"),
        (list("wxyz"), "pass y.to_numpy"),
        (["c", "a", "d", "x"], "y lacks the sample 'b', and 1 in all"),
        ([*IDS[:3], "b", "b"], "y holds the sample 'b' twice"),
    ],
)
def test_labels_that_are_no_ids_are_refused(aligned, index, message):
    with pytest.raises(ValueError, match=message):
        check_targets(pd.Series(np.arange(len(index)), index=index), aligned)


def test_groups_with_other_labels_are_refused(aligned):
    with pytest.raises(ValueError, match="The labels of groups"):
        check_groups(pd.Series([1, 1, 2, 2]), aligned)


def test_arrays_are_taken_in_order(aligned):
    assert_array_equal(check_targets(VALUES, aligned), VALUES)
    assert_array_equal(check_targets(pd.Series(VALUES).to_numpy(), aligned), VALUES)


def test_samples_without_ids_take_any_series_in_order(numbered):
    for index in (range(4), IDS, [7, 3, 9, 1], [0, 0, 1, 1]):
        assert_array_equal(check_targets(pd.Series(VALUES, index=index), numbered), VALUES)


def test_the_same_numbers_in_another_order_are_refused(numbered):
    with pytest.raises(ValueError, match="y has row numbers as labels, in another order"):
        check_targets(pd.Series(VALUES, index=[1, 0, 2, 3]), numbered)


def make_dataset(**options):
    rng = np.random.default_rng(0)
    ids = [f"s{i}" for i in range(30)]
    tables = {name: pd.DataFrame(rng.normal(size=(30, 2)), index=ids) for name in ("rna", "mri")}
    y = (tables["rna"][0] + tables["mri"][1]).rename("outcome").iloc[::-1]
    given = {"y": y, "task": "regression"} | options
    return Dataset(tables | {"rna": tables["rna"].iloc[:25]}, **given)


def test_a_dataset_is_all_that_is_needed():
    groups = pd.Series([f"g{i % 6}" for i in range(30)], index=[f"s{i}" for i in range(30)])
    dataset = make_dataset(groups=groups, kernels={"rna": [RBF(1.0)]})
    result = compare(dataset, models=[], cv=2, importance=False)
    assert result.samples == {"rna": 25, "mri": 30}
    assert result.task == "regression"
    kernels = list(result.weights().index)
    assert sum("rna" in name for name in kernels) == 1 < sum("mri" in name for name in kernels)
    table = result.predictions().set_index("sample")
    assert table["target"].to_dict() == pytest.approx(dataset.y.to_dict())
    by_fold = table.groupby("fold").groups.values()
    assert not set.intersection(*({groups[i] for i in ids} for ids in by_fold))


def test_arguments_win_over_the_dataset():
    dataset = make_dataset()
    y = pd.Series(np.arange(30.0) % 2, index=dataset.y.index)
    study = unpack(dataset, y, None, "linear", None)
    assert study.kernels == "linear"
    assert study.task is None
    assert_array_equal(check_targets(study.y, study.X), y.loc[list(study.X.ids)])


def test_a_dataset_without_a_target_is_refused():
    with pytest.raises(ValueError, match="The Dataset has no target: name one in read_sources"):
        compare(make_dataset(y=None, task=None))
