"""What Nickisch and Seeger (2011) say of objectives, on pictures and on six data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..base import Experiment, Summary
from .data import FILES, Data, draw_data, load_data, make_split
from .methods import METHODS, run_method
from .pictures import look, sections
from .tables import data_section, findings, pair_section, sparsity_section

_SHARE = 0.7  # of the samples, for training
_LOOK = "two kernels"
_LOOKED_AT = ("ionosphere", "motorcycle", "drawn labels", "drawn numbers")


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    small: tuple[int, ...] = (20, 40)  # training samples, besides a share of all
    n_splits: int = 5
    n_look: int = 80  # samples of the picture of two kernels
    n_grid: int = 22
    max_samples: int = 10_000  # of a data set


class TaxonomyOfObjectives(Experiment):
    """Pictures of two kernels, a table of objectives, and sparsity and forecasts on real data."""

    name = "taxonomy"
    title = "Evidence, joint mode or MKL: what do they predict, and with how many kernels?"
    paper = (
        "H. Nickisch and M. Seeger (2011), Multiple Kernel Learning: A Unifying Probabilistic "
        "Viewpoint, Section 2, Figure 2 and Table 2; R. Tomioka and T. Suzuki (2010), "
        "Regularization Strategies and Empirical Bayesian Learning for MKL."
    )
    needs = tuple(FILES.values())
    stand_in_name = "drawn labels and numbers"

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes((20,), 2, 20, 7, 80)

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Splits, training sets and grids."""
        return asdict(self.sizes) | {"small": list(self.sizes.small)}

    def load(self, folder: Path) -> dict[str, Data]:
        """Six data sets."""
        n = self.sizes.max_samples
        return {name: data.thinned(n) for name, data in load_data(folder).items()}

    def stand_in(self) -> dict[str, Data]:
        """Labels and numbers that depend on few of their variables."""
        return draw_data(60 if self.quick else 200)

    def tasks(self, data: dict[str, Data]) -> list[str]:
        """Pictures first, then every split of every data set."""
        looks = [f"{name}, {_LOOK}" for name in data if name in _LOOKED_AT]
        return looks + [
            f"{name}, size {size}, split {split}"
            for size in (0, *self.sizes.small)
            for name in data
            for split in range(self.sizes.n_splits)
        ]

    def run(self, task: str, data: dict[str, Data]) -> dict[str, Any]:
        """A picture, or all methods on one split."""
        name, *rest = task.split(", ")
        if rest == [_LOOK]:
            return look(data[name], self.sizes.n_look, self.sizes.n_grid)
        size, split = (int(part.split(" ")[1]) for part in rest)
        train, test = data[name].divide(size or int(_SHARE * len(data[name].X)), split)
        cut = make_split(data[name], train, test)
        head = {"data": name, "size": size, "split": split, "n_train": len(train)}
        head |= {"n_kernels": len(cut.train.names)}
        return {"rows": [head | {"method": m} | run_method(m, cut) for m in METHODS]}

    def summarize(self, results: Mapping[str, dict[str, Any]], data: dict[str, Data]) -> Summary:
        """Pictures, objectives, sparsity, pairs of methods and all figures."""
        import pandas as pd

        looks = {t.split(", ")[0]: r for t, r in results.items() if t.endswith(_LOOK)}
        frame = pd.DataFrame([row for r in results.values() for row in r.get("rows", ())])
        shown = [s for name, seen in looks.items() for s in sections(name, data[name].labels, seen)]
        tables = [
            data_section(str(name), data[str(name)].labels, rows)
            for name, rows in frame.groupby("data", sort=False)
        ]
        parts = [*shown, sparsity_section(frame), pair_section(frame), *tables]
        return Summary(findings(frame, looks), parts)
