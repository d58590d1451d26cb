"""QNormDisplay: the five panels of Figure 2, any number of kernels, any order of sources."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from multikernel import MKLClassifier
from multikernel.datasets import make_multiview_classification
from multikernel.displays import QNormDisplay
from multikernel.regularizers import QNorm


def coupled(M, rng):
    A = rng.normal(size=(M, M))
    return A @ A.T / M + 0.1 * np.eye(M)


@pytest.fixture
def display(rng):
    sources = ["a", "b", "a", "c", "c", "b"]
    return QNormDisplay(coupled(6, rng), rng.random(6), sources=sources)


def test_panels_show_q_its_least_eigenvectors_and_the_weights_by_source(display):
    display.plot()
    order = [0, 2, 1, 5, 3, 4]  # a a b b c c
    shown = [np.asarray(image.get_array()) for image in display.images_]
    assert_allclose(shown[0], display.Q[np.ix_(order, order)])
    d = display.weights[order]
    assert_allclose(shown[4], np.outer(d, d))
    values, vectors = np.linalg.eigh(display.Q)
    assert_allclose(display.eigenvalues(), values[:3])
    for panel, v in zip(shown[1:4], vectors.T[:3, order], strict=True):
        assert_allclose(panel, np.outer(v, v), atol=1e-12)


def test_zero_is_white_and_the_diagonal_does_not_set_the_scale(display):
    display.Q = display.Q + 50 * np.eye(6)
    display.plot()
    couplings = np.abs(display.Q[~np.eye(6, dtype=bool)]).max()
    assert_allclose(display.images_[0].get_clim(), (-couplings, couplings))
    for image in display.images_:
        low, high = image.get_clim()
        assert low == -high
        assert_allclose(image.cmap(0.5)[:3], 1.0, atol=0.01)


def test_frame_has_one_row_per_kernel(display):
    frame = display.frame()
    assert frame["source"].tolist() == display.sources
    assert_allclose(frame["weight"], display.weights)
    v = frame["eigenvector 1"].to_numpy()
    assert_allclose(display.Q @ v, display.eigenvalues()[0] * v, atol=1e-12)


@pytest.mark.parametrize(
    ("Q", "n_panels"),
    [
        (np.ones((6, 6)), 3),  # one eigenvalue above zero
        (np.eye(6), 5),
        (np.eye(2), 4),
        (np.ones((1, 1)), 3),
    ],
)
def test_directions_without_a_penalty_are_left_out(Q, n_panels, tmp_path):
    display = QNormDisplay(Q, np.zeros(len(Q)), sources=["a"] * len(Q)).plot()
    assert len(display.axes_) == n_panels
    display.figure_.savefig(tmp_path / "x.png")


def test_sources_are_named_and_parted_once(rng):
    sources = [s for s in ["mri", "pet", "rna", "x$\\bad{"] for _ in range(24)]
    display = QNormDisplay(coupled(96, rng), rng.random(96), sources=sources).plot()
    names = [text.get_text() for text in display.axes_[0].texts]
    assert names == ["mri", "pet", "rna", "x$\\bad{"]
    assert not display.axes_[1].texts
    vertical = [line for line in display.axes_[0].lines if line.get_xdata()[0] == 23.5]
    assert len(vertical) == 1


def test_too_many_sources_to_name_can_be_drawn(rng, tmp_path):
    sources = [f"source {i}" for i in range(60)]
    display = QNormDisplay(coupled(60, rng), rng.random(60), sources=sources).plot()
    assert not display.axes_[0].texts
    display.figure_.savefig(tmp_path / "x.png")


def test_drawing_uses_the_axes_given(display):
    _, axes = plt.subplots(1, 5)
    assert display.plot(axes=axes, cmap="PuOr").axes_[2] is axes[2]
    with pytest.raises(ValueError, match="axes must hold 5 Axes, one per panel, got 2"):
        display.plot(axes=axes[:2])


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="same length, got 3, 2 and 3"):
        QNormDisplay(np.eye(3), [1.0, 2.0], sources=["a"] * 3).plot()


def test_from_estimator():
    X, y = make_multiview_classification(60, n_classes=3, random_state=0)
    model = MKLClassifier(weights="per_class").fit(X, y)
    with pytest.raises(TypeError, match="MKLClassifier was fitted with ElasticNet"):
        QNormDisplay.from_estimator(model)
    Q = np.eye(model.weights_.shape[1]) + 0.1
    model = model.set_params(regularizer=QNorm(Q)).fit(X, y)
    display = QNormDisplay.from_estimator(model)
    assert_allclose(display.Q, Q)
    assert_allclose(display.weights, model.weights_.mean(axis=0))
    assert display.sources == model.kernel_table_["source"].tolist()[: len(Q)]


def test_unfitted_estimators_are_refused():
    with pytest.raises(ValueError, match="not fitted"):
        QNormDisplay.from_estimator(MKLClassifier())
