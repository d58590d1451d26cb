"""The experiment of Gönen (2012), Section 5.2, on Flowers17."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...datasets import load_flowers17
from ...images._opencv import opencv
from ..base import DataFile, Experiment, Summary, hash_files
from .albums import DrawnFlowers, ImageFiles
from .methods import Method, methods
from .studies import FromAuthors, FromImages, Sizes, Source, Study
from .tables import summarize

_WHERE = "https://www.robots.ox.ac.uk/~vgg/data/flowers/17"


class Flowers17(Experiment):
    """Accuracy of single kernels, of norms of weights and of Bayesian weights.

    The authors' distance matrices and splits are used where the folder ``flowers17`` has them;
    otherwise images are described anew and split by seeds.
    """

    name = "flowers17"
    title = "Do learned weights help to tell seventeen flowers apart?"
    paper = (
        "M. Gönen (2012), A Bayesian Multiple Kernel Learning Framework for Single and Multiple "
        "Output Regression, Section 5.2, Table 1."
    )
    needs = (
        DataFile(
            "flowers17",
            "the images jpg/image_0001.jpg to image_1360.jpg, or the authors' "
            "distancematrices17gcfeat06.mat, distancematrices17itfeat08.mat and datasplits.mat",
            _WHERE,
        ),
    )
    stand_in_name = "drawn flowers"

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes(3, 10, (5, 2, 3), 1, (1.0, 10.0), 30, 6000, 60)

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Sizes and the grid of C."""
        sizes = asdict(self.sizes)
        return sizes | {key: list(sizes[key]) for key in ("parts", "Cs")}

    def load(self, folder: Path) -> Source:
        """The authors' distances, or the images."""
        folder = folder / "flowers17"
        if (folder / "datasplits.mat").exists():
            return FromAuthors(load_flowers17(folder))
        if not ImageFiles.complete(folder / "jpg"):
            raise FileNotFoundError(
                f"{folder} has neither all of jpg/image_0001.jpg to image_1360.jpg nor the "
                f"authors' distance matrices; see {_WHERE}, or draw flowers by --stand-in."
            )
        opencv()  # without it every task would fail
        return FromImages(ImageFiles(self.sizes.n_classes, self.sizes.n_each, folder / "jpg"))

    def stand_in(self) -> Source:
        """Flowers drawn by seeds."""
        opencv()
        return FromImages(DrawnFlowers(self.sizes.n_classes, self.sizes.n_each))

    def fingerprint(self, data: Source) -> str:
        """Of the content of the images, if there are files."""
        if isinstance(data, FromImages) and isinstance(data.album, ImageFiles):
            return hash_files(data.album.path(i) for i in range(len(data.album)))
        return super().fingerprint(data)

    def tasks(self, data: Source) -> list[str]:
        """Every method on every split."""
        return [
            f"{data.origin}, split {k + 1}: {method.name}"
            for k in range(self.sizes.n_splits)
            for method in methods(data.names)
        ]

    def run(self, task: str, data: Source) -> dict[str, Any]:
        """Choose C on validation images if there is one, then fit on both parts."""
        where, name = task.split(": ", 1)
        k = int(where.rsplit(" ", 1)[1])
        (method,) = [method for method in methods(data.names) if method.name == name]
        row = run_method(method, data.study(k - 1, self.sizes), self.sizes)
        return {"method": name, "split": k} | row

    def summarize(self, results: Mapping[str, dict[str, Any]], data: Source) -> Summary:
        """The paper's table and the weights."""
        original = not (isinstance(data, FromImages) and isinstance(data.album, DrawnFlowers))
        return summarize(list(results.values()), data.names, data.origin, original)


def run_method(method: Method, study: Study, sizes: Sizes) -> dict[str, Any]:
    """The figures of one method on one split."""
    split, C, validation = study.split, None, None
    if method.has_c:
        C, validation = choose_c(method, study, sizes)
    both = np.concatenate([split.train, split.validation])
    kernels = study.kernels(both, split.test)
    outcome = method.run(kernels, study.y[both], C or 1.0, sizes.max_iter)
    figures = {key: value for key, value in asdict(outcome).items() if key != "predicted"}
    accuracy = float(np.mean(outcome.predicted == study.y[split.test]))
    return {"accuracy": accuracy, "C": C, "validation": validation} | figures


def choose_c(method: Method, study: Study, sizes: Sizes) -> tuple[float, float]:
    """The C of the best accuracy on validation images, and that accuracy; the smaller of ties."""
    train, validation = study.split.train, study.split.validation
    kernels = study.kernels(train, validation)
    outcomes = [method.run(kernels, study.y[train], C, sizes.max_iter) for C in sizes.Cs]
    scores = [float(np.mean(o.predicted == study.y[validation])) for o in outcomes]
    best = int(np.argmax(scores))
    return sizes.Cs[best], scores[best]
