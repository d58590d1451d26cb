"""SIFT: right beside OpenCV's, sharp about orientation and scale, and the same at once or alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

cv2 = pytest.importorskip("cv2")

from multikernel.images import Sift, characteristic_scales, grid_points  # noqa: E402


def noise(seed=0, shape=(96, 128), sigma=2.0):
    """Coloured clouds."""
    image = np.random.default_rng(seed).normal(size=(*shape, 3)).astype(np.float32)
    image = cv2.GaussianBlur(image, (0, 0), sigma)
    image = (image - image.min()) / (image.max() - image.min())
    return (255 * image).astype(np.uint8)


def stripes(angle, shape=(96, 96), period=12.0):
    """Lightness that rises and falls along one direction."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    wave = np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / period)
    return np.repeat((127 + 100 * wave).astype(np.uint8)[:, :, np.newaxis], 3, axis=2)


def opencv_sift(image, points, scale):
    """OpenCV's descriptors without rotation; its cells are 1.5 sizes wide."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    keys = [cv2.KeyPoint(float(x), float(y), 2.0 * scale, 0.0) for x, y in points]
    return cv2.SIFT_create().compute(grey, keys)[1]


def cosines(A, B):
    return np.sum(A * B, axis=1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)


def best_orientation_match(ours, theirs):
    """Cosines after the one relabelling of orientations that fits best, the same for all points.

    Libraries number orientations from different axes and in different directions.
    """
    A, B = ours.reshape(-1, 16, 8), theirs.reshape(-1, 16, 8)
    order = np.arange(8)
    turns = [(sign * order + shift) % 8 for sign in (1, -1) for shift in range(8)]
    return max(
        (cosines(A.reshape(-1, 128), B[:, :, turn].reshape(-1, 128)) for turn in turns),
        key=np.mean,
    )


@pytest.mark.parametrize("scale", [2.0, 4.0])
def test_it_is_close_to_that_of_opencv(scale):
    image = noise(sigma=3.0, shape=(160, 160))
    points = grid_points(image.shape, 16, margin=50)
    ours = Sift(scale=scale).describe(image, points)
    agreement = best_orientation_match(ours, opencv_sift(image, points, scale))
    shuffled = best_orientation_match(ours[::-1], opencv_sift(image, points, scale))
    assert np.mean(agreement) > 0.9
    assert np.mean(shuffled) < 0.75


def test_descriptors_have_unit_length_and_no_huge_entry():
    image = noise()
    D = Sift(scale=2.0).describe(image, grid_points(image.shape, 16))
    assert D.shape == (48, 128)
    assert D.min() >= 0
    assert_allclose(np.linalg.norm(D, axis=1), 1, rtol=1e-5)
    assert D.max() < 0.5  # before the second normalisation, 0.2


def test_a_flat_image_has_no_descriptor():
    flat = np.full((40, 40, 3), 90, dtype=np.uint8)
    assert_array_equal(Sift(scale=2.0).describe(flat, grid_points(flat.shape, 8)), 0)


@pytest.mark.parametrize("k", range(4))
def test_gradients_fall_into_the_bin_of_their_direction(k):
    """Stripes have gradients along one direction, forth and back: bins k and k + 4."""
    image = stripes(k * np.pi / 4)
    D = Sift(scale=4.0).describe(image, np.array([[48, 48]]))
    by_angle = D.reshape(16, 8).sum(axis=0)
    assert set(np.argsort(by_angle)[-2:]) == {k, k + 4}
    assert by_angle[[k, k + 4]].sum() > 0.8 * by_angle.sum()


def test_light_and_contrast_do_not_matter():
    image = noise()
    points = grid_points(image.shape, 16, margin=24)
    darker = (image * 0.5 + 40).round().astype(np.uint8)
    agreement = cosines(*(Sift(scale=3.0).describe(i, points) for i in (image, darker)))
    assert agreement.min() > 0.99


def test_points_are_described_where_they_are():
    image = noise(shape=(96, 96))
    moved = np.roll(image, (8, 4), axis=(0, 1))
    there = Sift(scale=2.0).describe(image, np.array([[44, 44]]))
    here = Sift(scale=2.0).describe(moved, np.array([[48, 52]]))
    assert_allclose(here, there, atol=1e-5)


def test_several_scales_give_one_descriptor_each():
    image, points = noise(), np.array([[40, 40], [60, 50], [70, 30]])
    both = Sift(scale=(2.0, 4.0)).describe(image, points)
    apart = [Sift(scale=s).describe(image, points) for s in (2.0, 4.0)]
    assert_array_equal(both, np.concatenate(apart))


def test_adaptive_takes_each_point_at_its_scale():
    image = noise()
    points = grid_points(image.shape, 16)
    scales = (1.6, 3.2, 6.4)
    chosen = characteristic_scales(image, points, scales)
    assert len(set(chosen)) > 1
    D = Sift(scale="adaptive", scales=scales).describe(image, points)
    for k, scale in enumerate(scales):
        assert_array_equal(D[chosen == k], Sift(scale=scale).describe(image, points[chosen == k]))


@pytest.mark.parametrize("sigma", [2.0, 4.0, 6.0])
def test_a_blob_has_its_own_scale(sigma):
    """The Laplacian of a Gaussian blob of deviation s is strongest at the scale s."""
    y, x = np.mgrid[:80, :80]
    blob = 220 * np.exp(-((x - 40) ** 2 + (y - 40) ** 2) / (2 * sigma**2))
    image = np.repeat(blob.astype(np.uint8)[:, :, np.newaxis], 3, axis=2)
    scales = [2.0, 4.0, 6.0]
    assert scales[characteristic_scales(image, np.array([[40, 40]]), scales)[0]] == sigma


def test_hsv_joins_three_channels_and_grey_images_have_only_the_last():
    image, points = noise(), np.array([[40, 40], [60, 50]])
    D = Sift("hsv", scale=3.0).describe(image, points)
    assert D.shape == (2, 384)
    assert_allclose(np.linalg.norm(D.reshape(2, 3, 128), axis=2), 1 / np.sqrt(3), rtol=1e-5)
    grey = Sift("hsv", scale=3.0).describe(image[:, :, :1].repeat(3, axis=2), points)
    assert_array_equal(grey[:, :256], 0)
    assert np.all(np.linalg.norm(grey[:, 256:], axis=1) > 0.5)


def test_red_is_one_hue():
    """Hues on both sides of the jump from 360 to 0 degrees are neighbours."""
    hue = np.where(np.arange(64) % 8 < 4, 2, 358).astype(np.float32)
    hsv = np.stack([np.tile(hue, (64, 1)), np.full((64, 64), 0.8), np.full((64, 64), 0.8)], axis=2)
    rgb = (255 * cv2.cvtColor(hsv.astype(np.float32), cv2.COLOR_HSV2RGB)).round().astype(np.uint8)
    from multikernel.images._arrays import hsv_channels
    from multikernel.images._gradients import gradients

    dx, _ = gradients(hsv_channels(rgb)[:, :, 0], circular=True)
    assert np.abs(dx).max() < np.deg2rad(5)


def test_root_descriptors_have_unit_length():
    D = Sift(scale=3.0, root=True).describe(noise(), np.array([[40, 40], [60, 50]]))
    assert_allclose(np.sum(D**2, axis=1), 1, rtol=1e-5)


def test_no_points_no_descriptors():
    none = np.empty((0, 2), dtype=np.intp)
    assert Sift("hsv", scale="adaptive").describe(noise(), none).shape == (0, 384)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "rgb"}, "colour must be one of"),
        ({"scale": "large"}, "scale must be 'adaptive'"),
        ({"scale": -1.0}, "positive"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Sift(**options)


def test_images_are_bytes():
    with pytest.raises(ValueError, match="read_image"):
        Sift(scale=2.0).describe(np.zeros((20, 20, 3)), np.array([[3, 3]]))
