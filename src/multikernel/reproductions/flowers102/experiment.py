"""The experiment of Gönen (2012), Section 5.2, on Flowers102."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch

from ...datasets import load_flowers102
from ..base import DataFile, Experiment, Summary
from ..flowers17.studies import Split, Study
from .models import MACHINES, MULTIPLE, SINGLE, fit_bayes, fit_machine
from .tables import summarize

_WHERE = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102"


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    n_classes: int = 102
    n_each: int = 8  # drawn images of a class, half of them for testing
    Cs: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)
    max_iter: int = 200


class Flowers102(Experiment):
    """Accuracy, area under the curve and equal error rate of Bayesian models and of MKL."""

    name = "flowers102"
    title = "Do classes that share their kernel weights tell 102 flowers apart better?"
    paper = (
        "M. Gönen (2012), A Bayesian Multiple Kernel Learning Framework for Single and Multiple "
        "Output Regression, Section 5.2, Table 2."
    )
    needs = (
        DataFile(
            "flowers102/distancematrices102.mat",
            "distances Dhsv, Dhog, Dsiftint and Dsiftbdy between 8,189 images",
            _WHERE,
        ),
        DataFile("flowers102/imagelabels.mat", "their classes", _WHERE),
        DataFile("flowers102/setid.mat", "training, validation and test images", _WHERE),
    )
    stand_in_name = "drawn distances"

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes(5, 16, (1.0, 10.0), 30)

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Classes, the grid of C and when Bayesian models stop."""
        return asdict(self.sizes) | {"Cs": list(self.sizes.Cs)}

    def load(self, folder: Path) -> Study:
        """The authors' distances and their split."""
        return first_classes(load_flowers102(folder / "flowers102"), self.sizes.n_classes)

    def stand_in(self) -> Study:
        """Distances between points around centres of classes."""
        sizes = self.sizes
        return first_classes(draw_distances(sizes.n_classes, sizes.n_each), sizes.n_classes)

    def tasks(self, data: Study) -> list[str]:
        """MKL, one Bayesian model of all classes, and one of each."""
        classes = np.unique(data.y[data.split.train])
        return [*MACHINES, MULTIPLE, *(f"{SINGLE}, class {c}" for c in classes)]

    def run(self, task: str, data: Study) -> dict[str, Any]:
        """The scores of the test images, and how the model came about."""
        if task in MACHINES:
            return {"method": task} | fit_machine(task, data, self.sizes.Cs)
        if task == MULTIPLE:
            return {"method": task} | fit_bayes(data, None, self.sizes.max_iter)
        c = int(task.rsplit(" ", 1)[1])
        return {"method": SINGLE} | fit_bayes(data, c, self.sizes.max_iter)

    def summarize(self, results: Mapping[str, dict[str, Any]], data: Study) -> Summary:
        """The paper's table."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for result in results.values():
            groups.setdefault(result["method"], []).append(result)
        return summarize(groups, data.y[data.split.test], list(data.distances))


def draw_distances(n_classes: int, n_each: int) -> Bunch:
    """Four distance matrices in which classes differ more or less, and a split."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), n_each)
    distances = {}
    for name, noise in {"hsv": 2.0, "hog": 3.0, "siftint": 1.8, "siftbdy": 2.5}.items():
        X = rng.normal(size=(n_classes, 10))[y] + noise * rng.normal(size=(len(y), 10))
        squares = np.sum(X**2, axis=1)
        distances[name] = np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0)
    quarter = np.tile(np.arange(n_each) * 4 // n_each, n_classes)  # of every class
    parts = {"train": quarter == 0, "validation": quarter == 1, "test": quarter > 1}
    split = Bunch(**{part: np.flatnonzero(rows) for part, rows in parts.items()})
    return Bunch(distances=distances, y=y, splits=[split])


def first_classes(data: Bunch, n_classes: int) -> Study:
    """All distances, and the split with the images of the first classes only."""
    parts = {part: rows[data.y[rows] < n_classes] for part, rows in data.splits[0].items()}
    return Study(data.distances, data.y, Split(**parts))
