"""Seven descriptions of every flower: local descriptors, visual words, histograms.

Local descriptors are stored once per image, in blocks, and histograms once per split, because
vocabularies are learned without test images.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multikernel.images import (
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
    read_image,
    resize_image,
    texture_responses,
)

_LOG = logging.getLogger("flowers17")
_BLOCK = 40  # images in one file
_N_POINTS = 600  # on a flower, whatever its size
_SAMPLE = 60_000  # descriptors from which a vocabulary is learned
_FLOWER_SIDE, _SCENE_SIDE = 192, 256

Array = NDArray[Any]


@dataclass(frozen=True)
class Description:
    """How one of the seven is stored and turned into a histogram."""

    n_words: int  # zero: a vector of the whole image, used as it is
    is_sift: bool = False  # in [0, 1], stored in bytes


DESCRIPTIONS = {
    "colour": Description(300),
    "SIFT interior": Description(800, is_sift=True),
    "SIFT boundary": Description(500, is_sift=True),
    "HSV-SIFT": Description(500, is_sift=True),
    "texture": Description(300),
    "HOG": Description(0),
    "gist": Description(0),
}


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
        return np.minimum(np.rint(512 * values), 255).astype(np.uint8)
    return values.astype(np.float16)


def extract(paths: list[Path], folder: Path) -> None:
    """Describe all images, block by block; blocks that are there already are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for block in range(n_blocks(paths)):
        target = block_path(folder, block)
        if target.exists():
            continue
        began = time.perf_counter()
        found = [describe(read_image(p)) for p in paths[block * _BLOCK : (block + 1) * _BLOCK]]
        arrays = {}
        for name in DESCRIPTIONS:
            arrays[name] = encode(name, np.concatenate([one[name] for one in found]))
            arrays[f"{name}/counts"] = np.array([len(one[name]) for one in found])
        partial = target.with_suffix(f".{os.getpid()}.tmp")
        with partial.open("wb") as file:
            np.savez(file, **arrays)
        os.replace(partial, target)
        _LOG.info("descriptors, block %d: %.1f s", block, time.perf_counter() - began)


def n_blocks(paths: list[Path]) -> int:
    """How many files hold the descriptors."""
    return -(-len(paths) // _BLOCK)


def block_path(folder: Path, block: int) -> Path:
    """Where the descriptors of a block of images are kept."""
    return folder / f"block{block:03}.npz"


def stored(folder: Path, n_images: int, name: str) -> Iterator[tuple[int, Array]]:
    """The descriptors of one kind, image by image."""
    for block in range(-(-n_images // _BLOCK)):
        with np.load(block_path(folder, block)) as file:
            values, counts = file[name], file[f"{name}/counts"]
        for k, part in enumerate(np.split(values, np.cumsum(counts)[:-1])):
            yield block * _BLOCK + k, part


def histograms(folder: Path, n_images: int, name: str, learn: Any, seed: int) -> Array:
    """One histogram per image, over words learned from the images ``learn``."""
    description = DESCRIPTIONS[name]
    if not description.n_words:
        rows = [values[0] for _, values in stored(folder, n_images, name)]
        return normalize_counts(np.stack(rows).astype(np.float64))
    vocabulary = learn_words(folder, n_images, name, learn, seed)
    rows = [
        histogram(vocabulary.assign(values), vocabulary.n_words)
        for _, values in stored(folder, n_images, name)
    ]
    return np.stack(rows)


def learn_words(folder: Path, n_images: int, name: str, learn: Any, seed: int) -> Vocabulary:
    """A vocabulary from equally many descriptors of every image to learn from."""
    rng, chosen = np.random.default_rng(seed), set(np.asarray(learn).tolist())
    each = max(1, _SAMPLE // len(chosen))
    sample = []
    for i, values in stored(folder, n_images, name):
        if i in chosen:
            sample.append(rng.permutation(values)[:each])
    descriptors = np.concatenate(sample)
    n_words = min(DESCRIPTIONS[name].n_words, len(descriptors) // 4)
    return Vocabulary(n_words, random_state=seed).fit(descriptors)
