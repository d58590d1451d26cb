"""Seven descriptions of every flower: local descriptors, visual words, histograms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...images import (
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
    resize_image,
    texture_responses,
)
from .albums import Album

_N_POINTS = 600  # on a flower, whatever its size
_FLOWER_SIDE, _SCENE_SIDE = 192, 256

Array = NDArray[Any]


@dataclass(frozen=True)
class Description:
    """How one of the seven is kept and turned into a histogram."""

    n_words: int  # zero: a vector of the whole image, used as it is
    is_sift: bool = False  # in [0, 1], kept in bytes


DESCRIPTIONS = {
    "colour": Description(300),
    "SIFT interior": Description(800, is_sift=True),
    "SIFT boundary": Description(500, is_sift=True),
    "HSV-SIFT": Description(500, is_sift=True),
    "texture": Description(300),
    "HOG": Description(0),
    "gist": Description(0),
}


@lru_cache(maxsize=1)
def descriptors(album: Album) -> dict[str, list[Array]]:
    """The descriptors of all images by description, once per process: half a megabyte an image."""
    found: dict[str, list[Array]] = {name: [] for name in DESCRIPTIONS}
    for i in range(len(album)):
        for name, values in describe(album.image(i)).items():
            found[name].append(encode(name, values))
    return found


def describe(image: Any) -> dict[str, Array]:
    """All descriptors of one image; the first five have one row per point.

    Colour, SIFT, texture and HOG look at the flower, cut out and brought to a common size;
    HSV-SIFT and gist at the whole image.
    """
    flower, mask = cut_out(image)
    scene = resize_image(image, _SCENE_SIDE)
    step = max(2, round(float(np.sqrt(mask.sum() / _N_POINTS))))
    inside = grid_points(flower.shape, step, mask=mask)
    rim = edge_points(flower, 5, mask=outline(mask, 5))
    rim = rim if len(rim) else inside
    scene_grid = grid_points(scene.shape, 10, margin=8)
    return {
        "colour": hsv_colours(flower, inside),
        "SIFT interior": Sift(scale=(1.5, 3.0)).describe(flower, inside),
        "SIFT boundary": Sift(scale=(2.0, 4.0)).describe(flower, rim),
        "HSV-SIFT": Sift("hsv", scale="adaptive").describe(scene, scene_grid),
        "texture": texture_responses(flower, inside),
        "HOG": hog(flower)[np.newaxis],
        "gist": gist(scene)[np.newaxis],
    }


def cut_out(image: Any) -> tuple[Any, Any]:
    """The flower in its box at a common size, and which pixels of the box it covers."""
    found = central_foreground(image)
    box = foreground_box(found)
    flower = resize_image(image[box], _FLOWER_SIDE)
    mask = resize_image(np.ascontiguousarray(found[box]).astype(np.uint8) * 255, _FLOWER_SIDE)
    return flower, mask > 127


def encode(name: str, values: Array) -> Array:
    """Descriptors in few bytes."""
    if DESCRIPTIONS[name].is_sift:
        return np.asarray(np.minimum(np.rint(512 * values), 255), dtype=np.uint8)
    return np.asarray(values, dtype=np.float16)


def histograms(
    values: list[Array], name: str, learn: Any, *, seed: int, n_sample: int, max_words: int
) -> Array:
    """One histogram per image, over words learned from the images ``learn``."""
    if not DESCRIPTIONS[name].n_words:
        rows = np.stack([one[0] for one in values])
        return np.asarray(normalize_counts(rows.astype(np.float64)))
    sample = sample_descriptors(values, learn, n_sample, seed)
    n_words = min(DESCRIPTIONS[name].n_words, max_words, len(sample) // 4)
    vocabulary = Vocabulary(n_words, random_state=seed).fit(sample)
    return np.stack([histogram(vocabulary.assign(one), n_words) for one in values])


def sample_descriptors(values: list[Array], learn: Any, n_sample: int, seed: int) -> Array:
    """Equally many descriptors of every image to learn from."""
    rng = np.random.default_rng(seed)
    each = max(1, n_sample // len(learn))
    return np.concatenate([rng.permutation(values[i])[:each] for i in sorted(learn)])
