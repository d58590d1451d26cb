"""The simulated neuroimaging study: true to its truth, and ranked without a look at test folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ttest_ind
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from multikernel import MKLClassifier, ViewBundle
from multikernel.datasets import TopVoxels, make_neuroimaging, neuroimaging_kernels
from multikernel.datasets.neuroimaging import MODALITIES


@pytest.fixture(scope="module")
def study():
    return make_neuroimaging(n_voxels=600)


@pytest.fixture(scope="module")
def large():
    """Many people with few voxels, for correlations across people."""
    return make_neuroimaging(3000, 1200, n_voxels=60, random_state=1)


def test_it_has_the_form_of_the_published_study():
    data = make_neuroimaging()
    assert data.X.names == list(MODALITIES)
    assert {data.X.block(m).shape for m in MODALITIES} == {(114, 5000)}
    labels, counts = np.unique(data.y, return_counts=True)
    assert labels.tolist() == ["control", "patient"]
    assert counts.tolist() == [66, 48]
    assert data.coordinates.shape == (5000, 3)
    assert np.all(np.sum((data.coordinates / [1.0, 1.2, 1.0]) ** 2, axis=1) < 1.1)
    assert "114 people, 48 of them patients" in data.DESCR


def test_seeds_matter(study):
    same, other = (make_neuroimaging(n_voxels=600, random_state=s) for s in (0, 1))
    assert_array_equal(study.X.block("tbm"), same.X.block("tbm"))
    assert not np.array_equal(study.X.block("tbm"), other.X.block("tbm"))


def test_the_disease_acts_where_the_truth_says(large):
    """Within a group the map follows its scores with the stated effects, and nothing elsewhere."""
    for m in MODALITIES:
        scores, effects = large.truth.region_scores[m], large.truth.effects[m]
        assert_array_equal(large.truth.disease_voxels[m], effects.any(axis=0))
        rest = large.X.block(m) - scores @ effects
        C = np.corrcoef(np.column_stack([scores, rest]).T)[: scores.shape[1], scores.shape[1] :]
        # independent columns correlate by 1/sqrt(3000) or so; 5 standard errors
        assert np.max(np.abs(C)) < 5 / np.sqrt(3000)


def test_pairs_share_regions_and_pet_maps_share_more(large):
    truth = large.truth
    for one, two, expected in [("gm", "tbm", 0.15), ("pet_baseline", "pet_followup", 0.85)]:
        assert_array_equal(truth.disease_voxels[one], truth.disease_voxels[two])
        own = [truth.modality_severity[m] - truth.severity for m in (one, two)]
        assert abs(np.corrcoef(own)[0, 1] - expected) < 5 / np.sqrt(3000)
    assert not np.array_equal(truth.disease_voxels["gm"], truth.disease_voxels["pet_baseline"])


def test_nuisance_is_unrelated_to_the_disease_but_seen_in_the_maps(large):
    for name, factor in large.truth.nuisance.items():
        assert abs(np.corrcoef(factor, large.truth.severity)[0, 1]) < 5 / np.sqrt(3000)
        seen = {m: np.corrcoef(factor, large.X.block(m).mean(axis=1))[0, 1] for m in MODALITIES}
        assert max(map(abs, seen.values())) > 0.15, name
    metabolism = large.truth.nuisance["metabolism"]
    assert abs(np.corrcoef(metabolism, large.X.block("gm").mean(axis=1))[0, 1]) < 0.1


def test_maps_are_smooth(study):
    """Neighbouring voxels are alike, distant ones are not."""
    X = study.X.block("gm") - study.truth.region_scores["gm"] @ study.truth.effects["gm"]
    gaps = np.linalg.norm(study.coordinates[:, None] - study.coordinates[None], axis=2)
    step = np.min(gaps[gaps > 0])
    R = np.corrcoef(X.T)
    near, far = np.isclose(gaps, step), gaps > 1.2
    assert np.mean(R[near]) > np.mean(R[far]) + 0.3


def test_the_calibration_stated_in_the_docstring():
    """One modality is right in about 80 %, the plain sum of four in 86 %, on four of the draws."""
    singles, sums = [], []
    for seed in (100, 101, 102, 103):
        data = make_neuroimaging(random_state=seed)
        right = {m: [] for m in (*MODALITIES, "sum")}
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        for train, test in folds.split(data.y, data.y):
            voxels = TopVoxels((0.08,)).fit(data.X[train], data.y[train])
            A, B = voxels.transform(data.X[train]), voxels.transform(data.X[test])
            Ks = {n.partition("/")[0]: _grams(A.block(n), B.block(n)) for n in A.names}
            Ks["sum"] = tuple(map(sum, zip(*Ks.values(), strict=True)))
            for m, (K, K_test) in Ks.items():
                predicted = SVC(kernel="precomputed").fit(K, data.y[train]).predict(K_test)
                right[m] += (predicted == data.y[test]).tolist()
        sums.append(np.mean(right.pop("sum")))
        singles.append([np.mean(r) for r in right.values()])
    # 456 people in all: 5 standard errors are 8 points
    assert abs(np.mean(sums) - 0.86) < 0.08
    assert np.all(np.abs(np.mean(singles, axis=0) - 0.80) < 0.08)
    assert np.mean(sums) > np.mean(singles)


def _grams(A, B):
    scale = np.mean(np.sum(A**2, axis=1))
    return A @ A.T / scale, B @ A.T / scale


def test_t_statistics(study):
    patient = study.y == "patient"
    voxels = TopVoxels().fit(study.X, study.y)
    block = study.X.block("gm")
    assert_allclose(voxels.t_["gm"], ttest_ind(block[patient], block[~patient]).statistic)


def test_stages_are_nested_and_centred(study):
    views = TopVoxels((0.01, 0.5)).fit_transform(study.X, study.y)
    assert views.names[:3] == ["gm/6", "gm/300", "tbm/6"]
    assert_array_equal(views.block("gm/6"), views.block("gm/300")[:, :6])
    assert_allclose(views.block("gm/300").mean(axis=0), 0.0, atol=1e-12)
    t = ttest_ind(views.block("gm/300")[study.y == "patient"], views.block("gm/300")).statistic
    assert np.abs(t[0]) > np.abs(t[-1])


def test_a_voxel_without_variation_ranks_last():
    X = np.random.default_rng(0).normal(size=(20, 4))
    X[:, 2] = 1.0
    voxels = TopVoxels().fit(ViewBundle({"a": X}), np.arange(20) % 2)
    assert voxels.t_["a"][2] == 0
    assert voxels.order_["a"][-1] == 2


def test_there_are_96_kernels_in_blocks_of_24(study):
    views = TopVoxels().fit_transform(study.X, study.y)
    kernels = neuroimaging_kernels().fit(views)
    modalities = [row["source"].partition("/")[0] for row in kernels.table()]
    assert modalities == [m for m in MODALITIES for _ in range(24)]


def test_ranking_in_the_pipeline_sees_no_test_fold():
    """On meaningless labels, ranking all samples first seems to work; in the fold it fails."""
    rng = np.random.default_rng(0)
    X = ViewBundle({"a": rng.normal(size=(60, 2000)), "b": rng.normal(size=(60, 2000))})
    y = np.arange(60) % 2
    voxels, model = (
        TopVoxels((0.01,)),
        MKLClassifier(neuroimaging_kernels(), loss="hinge", tol=1e-3),
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    honest = cross_val_score(make_pipeline(voxels, model), X, y, cv=folds).mean()
    leaky = cross_val_score(model, voxels.fit_transform(X, y), y, cv=folds).mean()
    assert leaky > 0.85
    assert honest < 0.5 + 3 * 0.5 / np.sqrt(60)  # chance, and three standard errors


@pytest.mark.parametrize("sizes", [(10, 0), (10, 10), (10, 5, 0)])
def test_impossible_studies_are_refused(sizes):
    n_samples, n_patients, n_voxels = (*sizes, 50)[:3]
    with pytest.raises(ValueError, match="patients and controls"):
        make_neuroimaging(n_samples, n_patients, n_voxels=n_voxels)


def test_other_than_two_groups_are_refused(study):
    with pytest.raises(ValueError, match="compares two groups"):
        TopVoxels().fit(study.X, np.arange(114) % 3)
    with pytest.raises(ValueError, match="shares must lie"):
        TopVoxels((0.0, 0.5)).fit(study.X, study.y)
