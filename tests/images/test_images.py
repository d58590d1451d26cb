"""Points, words, regions, and what whole images are described by."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import additive_chi2_kernel

cv2 = pytest.importorskip("cv2")

from multikernel.images import (  # noqa: E402
    Sift,
    Vocabulary,
    central_foreground,
    edge_points,
    foreground_box,
    gist,
    grid_points,
    histogram,
    hog,
    hsv_colours,
    normalize_counts,
    outline,
    pyramid,
    read_image,
    region_counts,
    resize_image,
    texture_responses,
)


def disc(radius=20, shape=(90, 120), colour=(230, 40, 40), seed=0):
    """A bright disc in the centre of noisy green, and where it is."""
    y, x = np.ogrid[: shape[0], : shape[1]]
    mask = (x - shape[1] // 2) ** 2 + (y - shape[0] // 2) ** 2 <= radius**2
    image = np.random.default_rng(seed).normal((40, 90, 40), 8, (*shape, 3))
    image[mask] = colour
    return np.clip(image, 0, 255).astype(np.uint8), mask


class TestReading:
    def test_channels_are_in_the_order_rgb(self, tmp_path):
        path = tmp_path / "red.png"
        cv2.imwrite(str(path), np.full((6, 8, 3), (0, 0, 250), dtype=np.uint8))
        assert_array_equal(read_image(path)[0, 0], (250, 0, 0))

    @pytest.mark.parametrize(("shape", "resized"), [((40, 80), (20, 40)), ((30, 10), (60, 20))])
    def test_the_short_side_is_what_was_asked_for(self, tmp_path, shape, resized):
        path = tmp_path / "x.png"
        cv2.imwrite(str(path), np.zeros((*shape, 3), dtype=np.uint8))
        assert read_image(path, 20).shape == (*resized, 3)
        assert resize_image(np.zeros((*shape, 3), dtype=np.uint8), 20).shape == (*resized, 3)

    def test_a_missing_file_and_one_that_is_no_image(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="no image"):
            read_image(tmp_path / "none.jpg")
        (tmp_path / "text.jpg").write_text("not an image")
        with pytest.raises(ValueError, match="not an image"):
            read_image(tmp_path / "text.jpg")

    def test_without_opencv_one_sentence_says_what_to_do(self):
        code = (
            "import sys; sys.modules['cv2'] = None\n"
            "import multikernel.images as im\n"
            "try: im.read_image('x.jpg')\n"
            "except ImportError as e: print(e)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "pip install 'multikernel[images]'" in done.stdout


class TestPoints:
    @settings(deadline=None)
    @given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 20), st.integers(0, 5))
    def test_a_grid_lies_inside_and_is_centred(self, height, width, step, margin):
        points = grid_points((height, width), step, margin=margin)
        if min(height, width) > 2 * margin:
            assert points.min() >= margin
            rest = np.array([width, height]) - 1 - points.max(axis=0)
            assert np.all(rest >= margin)
            assert np.all(np.abs(rest - points.min(axis=0)) <= 1)
        for column in points.T:
            assert set(np.diff(np.unique(column))) <= {step}

    def test_a_mask_keeps_the_points_inside(self):
        _, mask = disc()
        points = grid_points(mask.shape, 4, mask=mask)
        assert mask[points[:, 1], points[:, 0]].all()
        inside = [tuple(p) for p in grid_points(mask.shape, 4) if mask[p[1], p[0]]]
        assert [tuple(p) for p in points] == inside

    def test_edges_are_found_where_they_are(self):
        image, mask = disc()
        points = edge_points(image, 6, mask=outline(mask, 4))
        away = np.hypot(points[:, 0] - 60, points[:, 1] - 45) - 20
        assert len(points) > 15
        assert np.abs(away).max() < 3

    def test_no_edges_in_a_flat_image(self):
        assert edge_points(np.full((30, 30, 3), 7, dtype=np.uint8), 5).shape == (0, 2)
        nowhere = np.zeros((30, 30), dtype=bool)
        assert len(edge_points(np.full((30, 30, 3), 7, dtype=np.uint8), 5, mask=nowhere)) == 0

    def test_a_step_of_nothing_is_refused(self):
        with pytest.raises(ValueError, match="at least one pixel"):
            grid_points((9, 9), 0)


class TestForeground:
    @pytest.mark.parametrize("radius", [14, 24, 34])
    def test_a_disc_is_found(self, radius):
        image, mask = disc(radius)
        found = central_foreground(image)
        assert np.sum(found & mask) / np.sum(found | mask) > 0.9

    def test_the_answer_has_the_size_of_the_image_and_is_the_same_again(self):
        image, _ = disc(60, (300, 260))
        found = central_foreground(image, short_side=100)
        assert found.shape == (300, 260)
        assert_array_equal(central_foreground(image, short_side=100), found)

    def test_nothing_to_see_gives_the_central_ellipse(self):
        found = central_foreground(np.full((60, 80, 3), 50, dtype=np.uint8))
        assert found[30, 40]
        assert not found[0, 0]
        assert 0.3 < found.mean() < 0.5

    def test_the_box_of_nothing_is_all(self):
        assert foreground_box(np.zeros((5, 7), dtype=bool)) == (slice(0, 5), slice(0, 7))


class TestWords:
    def test_every_descriptor_gets_its_nearest_word(self):
        rng = np.random.default_rng(0)
        X = rng.random((300, 8)).astype(np.float32)
        vocabulary = Vocabulary(20, random_state=0).fit(X)
        nearest = pairwise_distances(X, vocabulary.words_).argmin(axis=1)
        assert_array_equal(vocabulary.assign(X), nearest)

    def test_clusters_are_found(self):
        rng = np.random.default_rng(0)
        centres = 10 * np.eye(4)
        X = np.repeat(centres, 50, axis=0) + rng.normal(0, 0.1, (200, 4))
        words = Vocabulary(4, random_state=1).fit(X).words_
        assert pairwise_distances(centres, words).min(axis=1).max() < 0.1

    def test_random_words_are_descriptors(self):
        X = np.random.default_rng(0).random((50, 3)).astype(np.float32)
        words = Vocabulary(7, method="random", random_state=0).fit(X).words_
        assert len(np.unique(words, axis=0)) == 7
        assert {tuple(w) for w in words} <= {tuple(x) for x in X}

    def test_too_few_descriptors_and_unknown_methods_are_refused(self):
        with pytest.raises(ValueError, match="lower n_words"):
            Vocabulary(9).fit(np.zeros((5, 2)))
        with pytest.raises(ValueError, match="method must be one of"):
            Vocabulary(2, method="best").fit(np.zeros((5, 2)))


class TestRegions:
    @settings(deadline=None)
    @given(st.integers(0, 10_000), st.integers(4, 40), st.integers(4, 40))
    def test_every_level_counts_every_point_once(self, seed, height, width):
        rng = np.random.default_rng(seed)
        points = np.stack([rng.integers(0, width, 30), rng.integers(0, height, 30)], axis=1)
        words = rng.integers(0, 5, 30)
        counts = region_counts(words, points, (height, width), 5)
        assert counts.shape == (21, 5)
        whole = np.bincount(words, minlength=5)
        for level in (counts[:1], counts[1:5], counts[5:]):
            assert_array_equal(level.sum(axis=0), whole)
        quarter = (points[:, 0] < width / 2) & (points[:, 1] >= height / 2)
        assert_array_equal(counts[3], np.bincount(words[quarter], minlength=5))

    def test_a_pyramid_of_distances_is_the_distance_of_pyramids(self):
        """The chi-squared distance of weighted histograms is the weighted sum over cells."""
        P = normalize_counts(np.random.default_rng(0).random((2, 21, 5)))
        cells = [-additive_chi2_kernel(P[:1, c], P[1:, c])[0, 0] for c in range(21)]
        expected = sum(cells[:1]) / 4 + sum(cells[1:5]) / 4 + sum(cells[5:]) / 2
        long = pyramid(P)
        assert long.shape == (2, 105)
        assert_allclose(-additive_chi2_kernel(long)[0, 1], expected, rtol=1e-12)

    def test_cells_and_levels_must_agree(self):
        with pytest.raises(ValueError, match="5 cells"):
            pyramid(np.ones((21, 3)), levels=(1, 2))

    def test_histograms_sum_to_one_or_are_empty(self):
        assert histogram(np.array([1, 1, 0]), 3).sum() == 1
        assert_array_equal(histogram(np.array([], dtype=np.intp), 3), 0)


@pytest.mark.parametrize(
    "sift", [Sift("hsv"), Sift(), Sift(scale=4.0), Sift(scale=8.0)], ids=lambda s: repr(s)[:40]
)
def test_images_become_histograms_of_22_regions(sift):
    """The recipe of [TS10]: descriptors on a grid, random words, cells and their pyramid."""
    images = [disc(radius, seed=radius)[0] for radius in (15, 25)]
    points = grid_points(images[0].shape, 8)
    found = [sift.describe(image, points) for image in images]
    vocabulary = Vocabulary(30, method="random", random_state=0).fit(np.concatenate(found))
    counts = np.stack(
        [region_counts(vocabulary.assign(D), points, images[0].shape, 30) for D in found]
    )
    cells = normalize_counts(counts)
    regions = [*np.moveaxis(cells, 1, 0), pyramid(cells)]
    assert len(regions) == 22
    assert all(np.abs(additive_chi2_kernel(H)[0, 1]) > 0 for H in (regions[0], regions[-1]))


class TestWholeImages:
    def test_colours_are_where_they_should_be(self):
        image = np.zeros((9, 9, 3), dtype=np.uint8)
        image[:] = (255, 0, 0)
        assert_allclose(hsv_colours(image, np.array([[4, 4]])), [[1, 0, 1]], atol=1e-5)
        image[:] = (0, 255, 0)
        turned = [[np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3), 1]]
        assert_allclose(hsv_colours(image, np.array([[4, 4]])), turned, atol=1e-5)
        image[:] = 51
        assert_allclose(hsv_colours(image, np.array([[4, 4]])), [[0, 0, 0.2]], atol=1e-5)

    def test_texture_hardly_changes_when_the_image_is_turned(self):
        image = cv2.GaussianBlur(
            np.random.default_rng(0).integers(0, 256, (81, 81, 3), dtype=np.uint8), (0, 0), 2
        )
        centre = np.array([[40, 40]])
        upright = texture_responses(image, centre)
        turned = texture_responses(np.ascontiguousarray(np.rot90(image)), centre)
        elsewhere = texture_responses(image, np.array([[25, 52]]))
        assert np.abs(upright - turned).max() < 0.05
        assert np.abs(upright - elsewhere).max() > 0.2

    @pytest.mark.parametrize("describe", [hog, gist])
    def test_orientation_shows_and_size_does_not(self, describe):
        x = np.tile(np.arange(128), (128, 1))
        upright = np.repeat((127 + 90 * np.sin(x / 4))[:, :, np.newaxis], 3, 2).astype(np.uint8)
        lying = np.ascontiguousarray(np.swapaxes(upright, 0, 1))
        small = cv2.resize(upright, (128, 256), interpolation=cv2.INTER_LINEAR)
        a, b, c = (describe(image) for image in (upright, lying, small))
        assert a.shape == b.shape == c.shape
        assert min(a.min(), b.min()) >= 0
        near, far = np.linalg.norm(a - c), np.linalg.norm(a - b)
        assert near < 0.3 * far

    @pytest.mark.parametrize("k", range(8))
    def test_gist_has_a_filter_for_every_direction(self, k):
        y, x = np.mgrid[:128, :128]
        wave = np.cos(2 * np.pi * 0.15 * (x * np.cos(np.pi * k / 8) + y * np.sin(np.pi * k / 8)))
        image = np.repeat((127 + 90 * wave)[:, :, np.newaxis], 3, 2).astype(np.uint8)
        energies = gist(image).reshape(4, 8, 16).sum(axis=2)
        assert np.unravel_index(energies.argmax(), energies.shape) == (1, k)

    def test_hog_sees_edges_of_the_right_direction(self):
        image = np.zeros((128, 128, 3), dtype=np.uint8)
        image[:, 64:] = 200
        blocks = hog(image).reshape(7, 7, 4, 9)
        assert_allclose(blocks.sum(axis=(0, 1, 2))[1:].sum(), 0, atol=1e-6)
        assert blocks[:, 3, :, 0].min(axis=0).max() > 0

    def test_a_flat_image_has_no_gradients(self):
        assert_array_equal(hog(np.full((50, 60, 3), 9, dtype=np.uint8)), 0)
