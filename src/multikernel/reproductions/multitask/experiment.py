"""Examples 3, 4 and 6 of Tomioka and Suzuki (2010), on real data."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..base import Experiment, Summary
from . import groups, school, wedge
from .data import FILES, STAND_IN, Data, few_schools, load_data, make_data


@dataclass(frozen=True)
class Sizes:
    """How large the experiment is."""

    n_schools: int = 139
    n_pupils: tuple[int, ...] = (5, 10)
    school_splits: int = 10
    group_splits: int = 20
    n_train: tuple[int, ...] = (60, 200)
    wedge_splits: int = 10
    n_folds: int = 5


class MultiTask(Experiment):
    """Regularizers that know which tasks, groups or orders belong together."""

    name = "multitask"
    title = "What is it worth to know which kernels belong together?"
    paper = (
        "R. Tomioka, T. Suzuki (2010), Regularization Strategies and Empirical Bayesian Learning "
        "for MKL, Examples 3 (Corollary 5), 4 (Corollary 6) and 6, which it states without "
        "experiments."
    )
    needs = FILES
    stand_in_name = STAND_IN

    WHOLE: ClassVar[Sizes] = Sizes()
    QUICK: ClassVar[Sizes] = Sizes(12, (6,), 1, 2, (60,), 2, 3)

    @property
    def sizes(self) -> Sizes:
        """How large the experiment is."""
        return self.QUICK if self.quick else self.WHOLE

    @property
    def settings(self) -> dict[str, Any]:
        """Schools, pupils, samples, splits and folds, and what parameters are chosen from."""
        sizes = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self.sizes).items()}
        return sizes | {
            "sharings": list(school.SHARINGS),
            "school_Cs": list(school.COSTS),
            "group_Cs": list(groups.COSTS),
            "wedge_Cs": list(wedge.COSTS),
        }

    def load(self, folder: Path) -> Data:
        """Schools, sonar echoes and two tables."""
        data = load_data(folder)
        return Data(few_schools(data.school, self.sizes.n_schools), data.sonar, data.tables)

    def stand_in(self) -> Data:
        """Synthetic schools, echoes and one table."""
        return make_data()

    def tasks(self, data: Data) -> list[str]:
        """Every split of every example, the short ones first."""
        sizes = self.sizes
        return [
            *(f"groups; {k}" for k in range(sizes.group_splits)),
            *(
                f"wedge; {name}; {order}; {n}; {k}"
                for name in data.tables
                for order in wedge.ORDERS
                for n in sizes.n_train
                for k in range(sizes.wedge_splits)
            ),
            *(f"school; {n}; {k}" for n in sizes.n_pupils for k in range(sizes.school_splits)),
        ]

    def run(self, task: str, data: Data) -> dict[str, Any]:
        """One split of one example."""
        seed = zlib.crc32(task.encode())
        match task.split("; "):
            case ["groups", _]:
                return groups.run_groups(data.sonar, seed, self.sizes.n_folds)
            case ["wedge", name, order, n_train, _]:
                table = data.tables[name]
                return wedge.run_wedge(table, order, int(n_train), seed, self.sizes.n_folds)
            case ["school", n_pupils, _]:
                return school.run_school(data.school, int(n_pupils), seed)
        raise ValueError(f"There is no task {task!r}.")

    def summarize(self, results: Mapping[str, dict[str, Any]], data: Data) -> Summary:
        """One section for each example, and one for each order."""
        pupils: dict[int, list[dict[str, Any]]] = {}
        bands: list[dict[str, Any]] = []
        orders: dict[wedge.Key, list[dict[str, Any]]] = {}
        for task, result in results.items():
            match task.split("; "):
                case ["groups", _]:
                    bands.append(result)
                case ["wedge", name, order, n_train, _]:
                    orders.setdefault((name, order, int(n_train)), []).append(result)
                case ["school", n_pupils, _]:
                    pupils.setdefault(int(n_pupils), []).append(result)
        n_schools = len(set(data.school.task.tolist()))
        about_school, first = school.summarize_school(
            dict(sorted(pupils.items())), n_schools, data.drawn
        )
        about_groups, second = groups.summarize_groups(bands, data.drawn)
        about_wedge, rest = wedge.summarize_wedge(orders)
        return Summary([*about_school, *about_groups, *about_wedge], [first, second, *rest])
