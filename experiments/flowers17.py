"""Seventeen kinds of flowers, told apart by seven kernels: ``python experiments/flowers17.py -h``.

The experiment of Gönen (2012), Section 5.2. The authors' distance matrices and splits are read
where there are some (``--mat``); otherwise images are described anew (``--images``) and split by
seeds. Without either, ``--stand-in`` draws flowers. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from flowers17_features import DESCRIPTIONS, extract, histograms
from flowers17_methods import Kernels, Method, methods
from flowers17_standin import draw_flowers
from flowers17_table import markdown
from numpy.typing import NDArray
from qmkl_table import replace_section
from sklearn.metrics.pairwise import additive_chi2_kernel
from threadpoolctl import threadpool_limits

from multikernel.datasets import load_flowers17, mean_distance_grams

_LOG = logging.getLogger("flowers17")
_HERE = Path(__file__).resolve().parent
_BESIDE = _HERE.parents[1] / "shared" / "data" / "flowers17"
_WANTED = (
    "the images jpg/image_0001.jpg to image_1360.jpg of "
    "https://www.robots.ox.ac.uk/~vgg/data/flowers/17 are missing in {}; name their folder by "
    "--images, that of the authors' distance matrices by --mat, or draw flowers by --stand-in."
)


@dataclass(frozen=True)
class Settings:
    """What must be the same in a run and in the run that goes on with it."""

    source: str
    quick: bool
    n_classes: int = 17
    n_each: int = 80
    sizes: tuple[int, int, int] = (40, 20, 20)  # training, validation, test, of every class
    n_splits: int = 3
    Cs: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)
    max_iter: int = 500

    @classmethod
    def of(cls, source: str, quick: bool) -> Settings:
        """The settings of the whole experiment or of a quick look."""
        if not quick:
            return cls(source, False)
        return cls(source, True, 4, 16, (8, 4, 4), 1, (1.0, 10.0), 30)


@dataclass(frozen=True)
class Split:
    """Positions of the images of one split."""

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True)
class Study:
    """Distances between all images for every description, their classes, and a split."""

    distances: dict[str, NDArray[np.float64]]
    y: NDArray[np.intp]
    split: Split


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--images", type=Path, default=_BESIDE, help="folder of jpg/")
    source.add_argument("--mat", type=Path, help="folder of the authors' three .mat files")
    source.add_argument("--stand-in", action="store_true", help="drawn flowers")
    parser.add_argument("--quick", action="store_true", help="a look at all steps, in seconds")
    parser.add_argument("--only", type=int, help="one split, counted from 1, to run beside others")
    parser.add_argument("--out", type=Path, default=_HERE / "results" / "flowers17")
    parser.add_argument("--docs", type=Path, help="page whose tables to write anew")
    return parser.parse_args(argv)


def main(options: argparse.Namespace) -> pd.DataFrame:
    """Run what is still missing, store it method by method, and write the tables."""
    source = "mat" if options.mat else "stand-in" if options.stand_in else "images"
    settings = Settings.of(source, options.quick)
    folder = options.out / (f"{source}-quick" if options.quick else source)
    check_settings(folder, settings)
    splits = range(settings.n_splits) if options.only is None else [options.only - 1]
    parts = [(k, method) for k in splits for method in all_methods(options)]
    with threadpool_limits(1):
        for k, method in parts:
            path = part_path(folder, k, method)
            if not path.exists():
                run_part(path, method, study(folder, settings, options, k), settings, k)
    rows = [json.loads(part_path(folder, *part).read_text("utf-8")) for part in parts]
    frame = pd.DataFrame(rows)
    tables = markdown(frame, list(names_of(options)), source)
    if options.only is None:
        write_atomically(folder.with_suffix(".md"), tables)
    if options.docs and options.only is None:
        replace_section(options.docs, folder.name, tables)
    _LOG.info("\n%s", tables)
    return frame


def all_methods(options: argparse.Namespace) -> list[Method]:
    """The methods on the kernels there are."""
    return methods(names_of(options))


def names_of(options: argparse.Namespace) -> list[str]:
    """The names of the descriptions."""
    official = ["colourgc", "shapegc", "texturegc", "hsv", "hog", "siftint", "siftbdy"]
    return official if options.mat else list(DESCRIPTIONS)


def check_settings(folder: Path, settings: Settings) -> None:
    """Refuse to mix results of different experiments."""
    path, text = folder / "settings.json", json.dumps(asdict(settings), indent=1)
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise ValueError(f"{folder} holds results of other settings; remove it or choose --out.")
    write_atomically(path, text)


def write_atomically(path: Path, text: str) -> None:
    """Write a file such that it is there as a whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def part_path(folder: Path, k: int, method: Method) -> Path:
    """Where the result of one method on one split is kept."""
    name = "".join(c if c.isalnum() else "-" for c in method.name)
    return folder / f"split{k + 1}-{name}.json"


@cache
def _official(folder: Path) -> Any:
    return load_flowers17(folder)


_LAST: dict[tuple[Path, int], Study] = {}


def study(folder: Path, settings: Settings, options: argparse.Namespace, k: int) -> Study:
    """Distances and the k-th split; those of the last split asked for are kept."""
    if (folder, k) not in _LAST:
        _LAST.clear()
        if settings.source == "mat":
            data = _official(options.mat)
            _LAST[folder, k] = Study(data.distances, data.y, Split(**data.splits[k]))
        else:
            _LAST[folder, k] = image_study(folder, settings, options, k)
    return _LAST[folder, k]


def image_study(folder: Path, settings: Settings, options: argparse.Namespace, k: int) -> Study:
    """Describe the images, learn words without the test images, and compare histograms."""
    if settings.source == "stand-in":
        paths = draw_flowers(folder / "jpg", settings.n_classes, settings.n_each)
    else:
        paths = find_images(options.images, settings.n_classes, settings.n_each)
    y = np.arange(len(paths)) // settings.n_each
    split = draw_split(y, settings.sizes, seed=k)
    stored = folder / "descriptors"
    extract(paths, stored)
    distances = {}
    for name in DESCRIPTIONS:
        path = folder / f"split{k + 1}-{name.replace(' ', '-')}.npy"
        if not path.exists():
            began = time.perf_counter()
            learn = np.concatenate([split.train, split.validation])
            H = histograms(stored, len(paths), name, learn, seed=k)
            save_atomically(path, np.asarray(-additive_chi2_kernel(H)))
            _LOG.info("split %d, %s: %.1f s", k + 1, name, time.perf_counter() - began)
        distances[name] = np.load(path)
    return Study(distances, y, split)


def save_atomically(path: Path, D: NDArray[np.float64]) -> None:
    """Store a matrix such that it is there as a whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    with partial.open("wb") as file:
        np.save(file, D)
    os.replace(partial, path)


def find_images(folder: Path, n_classes: int, n_each: int) -> list[Path]:
    """The first images of the first classes, of 80 images each, in their order."""
    paths = sorted((folder / "jpg").glob("image_*.jpg"))
    if len(paths) != 1360:
        raise FileNotFoundError(_WANTED.format(folder))
    return [path for i, path in enumerate(paths) if i // 80 < n_classes and i % 80 < n_each]


def draw_split(y: NDArray[np.intp], sizes: tuple[int, int, int], seed: int) -> Split:
    """Equally many images of every class for training, validation and test."""
    rng, cuts = np.random.default_rng(seed), np.cumsum(sizes)
    parts: Iterator[Any] = zip(
        *(np.split(rng.permutation(np.flatnonzero(y == c))[: cuts[-1]], cuts[:-1]) for c in set(y)),
        strict=True,
    )
    return Split(*(np.sort(np.concatenate(part)) for part in parts))


def run_part(path: Path, method: Method, data: Study, settings: Settings, k: int) -> None:
    """Choose C on the validation images if there is one, fit again on both parts, and store."""
    split = data.split
    C, validation = 1.0, float("nan")
    if method.has_c:
        C, validation = choose_c(method, data, settings)
    both = np.concatenate([split.train, split.validation])
    kernels = make_kernels(data, both, split.test)
    outcome = method.run(kernels, data.y[both], C, settings.max_iter)
    row = {
        "method": method.name,
        "split": k + 1,
        "accuracy": float(np.mean(outcome.predicted == data.y[split.test])),
        "C": C if method.has_c else None,
        "validation": validation,
        **{key: value for key, value in asdict(outcome).items() if key != "predicted"},
    }
    write_atomically(path, json.dumps(row, indent=1))
    _LOG.info(
        "split %d, %s: %.3f (%.1f s)", k + 1, method.name, row["accuracy"], row["fit_seconds"]
    )


def choose_c(method: Method, data: Study, settings: Settings) -> tuple[float, float]:
    """The C of the best accuracy on validation images, and that accuracy; the smaller of ties."""
    train, validation = data.split.train, data.split.validation
    kernels = make_kernels(data, train, validation)
    scores = [
        np.mean(
            method.run(kernels, data.y[train], C, settings.max_iter).predicted == data.y[validation]
        )
        for C in settings.Cs
    ]
    best = int(np.argmax(scores))
    return settings.Cs[best], float(scores[best])


def make_kernels(data: Study, train: NDArray[np.intp], query: NDArray[np.intp]) -> Kernels:
    """Kernels exp(-D / mean D) with the mean over training pairs."""
    K = mean_distance_grams(data.distances, np.concatenate([train, query]), train)
    return Kernels(K[: len(train)], K[len(train) :], list(data.distances))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(arguments())
