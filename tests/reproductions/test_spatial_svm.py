"""The spatial machine: folds see no test people, maps get smoother, figures are what they say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multikernel.reproductions import reproduce
from multikernel.reproductions.spatial_svm import machines as machines_module
from multikernel.reproductions.spatial_svm.machines import fitted, machines, simulate
from multikernel.reproductions.spatial_svm.tables import _slice


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return reproduce("spatial-svm", quick=True, out=tmp_path_factory.mktemp("spatial"))


def test_a_quick_look_ends_with_both_machines_beside_the_paper(done):
    table = done.summary.sections[0].table
    assert table["machine"] == ["SVM", "Q-SVM"] * 2
    assert table["paper"] == ["0.792", "0.819"] * 2
    assert all(0.4 < float(a) <= 1 for a in table["Acc."])
    assert (done.page.parent / "spatial-svm-maps.png").exists()
    assert "+2.7 points" in done.summary.findings[0]


def test_the_spatial_machine_is_smoother(done):
    roughness = [float(r) for r in done.summary.sections[0].table["roughness"]]
    assert roughness[1] < roughness[0]
    assert roughness[3] < roughness[2]


def test_roughness_is_one_for_independent_coefficients():
    maps = simulate(0, 300)
    w = np.random.default_rng(0).normal(size=(200, 300))
    assert_allclose(np.mean([maps.roughness(row) for row in w]), 1.0, atol=0.02)
    assert_allclose(maps.roughness(np.ones(300)), 0.0, atol=1e-12)


def test_both_machines_share_one_scale_of_c():
    """With all ridge and no Laplacian the spatial machine is the plain one."""
    maps = simulate(0, 300)
    plain, spatial = machines(maps, (1e-3,), (0.0,), 2).values()
    spatial.estimator.Q = np.eye(300)
    w, v = (fitted(search, maps.X, maps.y).coef_ for search in (plain, spatial))
    assert_allclose(v, w, atol=1e-6 * np.abs(w).max())


def test_neighbours_share_at_least_a_corner():
    maps = simulate(0, 300)
    ties = (maps.laplacian.toarray() < 0).sum(axis=1)
    assert ties.max() == 26
    assert machines_module.MODALITY == "gm"


def test_a_slice_shows_the_voxels_of_one_height():
    maps = simulate(0, 300)
    image = _slice(maps, maps.coordinates[:, 2])
    inside = np.isfinite(image)
    assert 5 < inside.sum() < 300
    assert len(np.unique(image[inside])) == 1
