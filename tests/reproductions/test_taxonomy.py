"""The taxonomy of objectives: nothing is learned from test samples, and measures are right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multikernel.reproductions import reproduce
from multikernel.reproductions.taxonomy import data as data_module
from multikernel.reproductions.taxonomy import methods, pictures, tables
from multikernel.reproductions.taxonomy.experiment import Sizes, TaxonomyOfObjectives


def tiny(labels):
    """Sixty samples whose first of four variables matters."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    f = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    y = np.where(f > 0, 1.0, -1.0) if labels else f
    return data_module.Data(X, y, (0.5, 2.0, 4.0), (1,))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A look at every step, shorter still than the quick one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TaxonomyOfObjectives, "QUICK", Sizes((16,), 1, 16, 5, 60))
        sets = {"drawn labels": tiny(labels=True), "drawn numbers": tiny(labels=False)}
        patch.setattr(TaxonomyOfObjectives, "stand_in", lambda self: sets)
        out = tmp_path_factory.mktemp("taxonomy")
        yield reproduce("taxonomy", quick=True, stand_in=True, out=out)


def test_every_method_is_measured_on_every_split(done):
    by_heading = {section.heading: section for section in done.summary.sections}
    for name, head in (("drawn labels", "ECE"), ("drawn numbers", "90 % coverage")):
        table = by_heading[f"Data: {name}"].table
        assert table["method"] == list(methods.METHODS) * 2
        assert table["n"] == [42] * 7 + [16] * 7
        assert head in table
        assert table["method"][6] == "uniform sum"
        assert table["kernels of 20"][6] == "1.0 ± 0.0"


def test_the_evidence_finds_the_variable_that_matters(done):
    by_heading = {section.heading: section for section in done.summary.sections}
    labels, numbers = (by_heading[f"Data: drawn {n}"].table for n in ("labels", "numbers"))
    assert float(labels["error"][0].split(" ")[0]) < 0.35
    assert float(numbers["RMSE"][0].split(" ")[0]) < 0.7  # of the standard deviation


def test_pictures_and_objectives_are_there(done):
    by_heading = {section.heading: section for section in done.summary.sections}
    table = by_heading["All objectives: drawn labels"].table
    assert table["objective"] == ["MLM", "VB", "LA", "MAP", "MKL"]
    evidence, bound = (float(v.replace("−", "-")) for v in table["value"][:2])
    assert bound > evidence  # VB bounds minus twice the log evidence from above
    assert "GAU" in by_heading["All objectives: drawn numbers"].table["objective"]
    assert len(list(done.page.parent.glob("taxonomy-*.png"))) == 5
    assert any("joint MAP" in finding for finding in done.summary.findings)


def test_pairs_are_counted_on_the_same_splits():
    import pandas as pd

    frame = pd.DataFrame(
        [
            {"data": "a", "split": k, "size": 0, "method": m, "error": e}
            for k, pair in enumerate([(1, 2), (2, 2), (3, 1), (0, 5)])
            for m, e in zip("xy", pair, strict=True)
        ]
    )
    assert tables.order(frame, 0, "error", "x", "y") == (2, 1, 1)


def test_fewer_samples_are_taken_evenly():
    data = tiny(labels=False)
    assert_array_equal(data.thinned(30).X, data.X[::2])
    assert data.thinned(60).X is not None
    assert len(data.thinned(25).X) == 20
    assert pictures.two_kernels(data) == ("x1/rbf(2)", "x3/rbf(2)")


@pytest.mark.parametrize("labels", [True, False])
def test_test_samples_do_not_reach_the_training_kernels(labels):
    data = tiny(labels)
    train, test = np.arange(30), np.arange(30, 60)
    split = data_module.make_split(data, train, test)
    X = data.X.copy()
    X[test] *= 7.0
    y = data.y.copy()
    y[test] = -y[test]
    moved = data_module.make_split(
        data_module.Data(X, y, data.bandwidths, data.degrees), train, test
    )
    assert_array_equal(split.y_train, moved.y_train)
    for name in split.train.names:
        K, L = split.train.block(name, train), moved.train.block(name, train)
        assert_allclose(K, L, rtol=1e-12, atol=1e-12)
        assert_allclose(np.mean(np.diagonal(K)), 1.0)
    assert not np.allclose(split.test.block("all/poly(1)"), moved.test.block("all/poly(1)"))
    names = ("x1/rbf(2)", "all/poly(1)")
    chosen = split.select(names)
    assert tuple(chosen.train.names) == names
    assert_array_equal(chosen.test.block("all/poly(1)"), split.test.block("all/poly(1)"))


def test_the_uniform_split_has_the_mean_of_all_kernels():
    split = data_module.make_split(tiny(labels=False), np.arange(30), np.arange(30, 60))
    mean = np.mean([split.test.block(name) for name in split.test.names], axis=0)
    assert_allclose(split.uniform().test.block("mean"), mean)


def test_calibration_error_and_coverage():
    positive = np.array([True, False, True, True])
    p = np.array([0.15, 0.12, 0.95, 1.0])
    # one bin holds 1 positive for 0.27 expected, the other 2 for 1.95
    assert_allclose(methods.calibration_error(positive, p), (0.73 + 0.05) / 4)
    interval = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert methods.coverage(np.array([0.5, 2.0]), interval) == 0.5


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"ionosphere\.data.*energy\.csv.*--stand-in"):
        reproduce("taxonomy", data=tmp_path, out=tmp_path / "out")
