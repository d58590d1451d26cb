"""Generated data: reproducible, and true to the truth they state."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from multikernel.datasets import (
    load_demo,
    make_multiview_classification,
    make_multiview_regression,
)


def explained(view, share):
    """R² of a share of the target by a linear fit on a view and its squares."""
    features = np.hstack([view, view**2])
    return LinearRegression().fit(features, share).score(features, share)


def test_demo_is_the_same_at_every_call():
    first, second = load_demo(), load_demo()
    for name in first.truth:
        assert_array_equal(first.X.block(name), second.X.block(name))
    assert_array_equal(first.y, second.y)


def test_demo_has_the_promised_form():
    data = load_demo()
    assert len(data.X) == len(data.y) == 200
    assert {"rna", "mri", "clinical"} <= set(data.informative)
    assert data.redundant == [("rna", "protein")]
    assert data.useless == ["scanner"]
    labels, counts = np.unique(data.y, return_counts=True)
    assert labels.tolist() == ["control", "patient"]
    assert counts.tolist() == [100, 100]


def test_the_short_form_gives_the_same_data():
    X, y = load_demo(return_X_y=True)
    assert_array_equal(X.block("mri"), load_demo().X.block("mri"))
    assert_array_equal(y, load_demo().y)


def test_demo_truth():
    """rna and protein carry the share of rna, scanner carries nothing of anyone's."""
    data = load_demo()
    share = data.truth["rna"]
    assert explained(data.X.block("rna"), share) > 0.8
    assert explained(data.X.block("protein"), share) > 0.7
    # 40 features explain about 40/199 of anything on 200 samples
    assert explained(data.X.block("scanner"), share) < 0.35
    assert not data.truth["scanner"].any()
    assert not data.truth["protein"].any()


def test_regression_target_is_the_sum_of_its_shares():
    X, y, truth = make_multiview_regression(
        80, n_informative=3, n_redundant=1, n_useless=2, target_noise=0.0,
        return_truth=True, random_state=3,
    )  # fmt: skip
    assert len(X) == 80
    assert_allclose(y, sum(truth.values()))
    assert list(truth) == [
        "informative0", "informative1", "informative2", "redundant0", "useless0", "useless1",
    ]  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_classes_are_balanced_and_follow_the_score(n_classes):
    _, y, truth = make_multiview_classification(
        60, n_classes=n_classes, return_truth=True, random_state=0
    )
    assert_array_equal(np.bincount(y), 60 // n_classes)
    score = sum(truth.values())
    assert_array_equal(y[np.argsort(score)], np.sort(y))


def test_flipped_labels_are_as_many_as_asked():
    _, clean = make_multiview_classification(2000, random_state=0)
    _, flipped = make_multiview_classification(2000, flip_y=0.4, random_state=0)
    # a random label differs half of the time: 0.2 ± 5 standard errors
    assert abs(np.mean(clean != flipped) - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 2000)


def test_seeds_matter():
    (_, a), (_, b), (_, c) = (make_multiview_regression(20, random_state=s) for s in (0, 0, 1))
    assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("counts", [{"n_informative": 0}, {"n_useless": -1}])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="at least one must be informative"):
        make_multiview_regression(20, **counts)
