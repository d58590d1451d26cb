"""Two kernels: the objectives over their weights, and all of them at the weights learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...bayes.taxonomy import taxonomy
from ...displays import ObjectiveContourDisplay, TaxonomyDisplay
from ...report import Section
from .data import Data, make_split
from .methods import fit_plain

N_EVIDENCE = 8  # latent values for which the evidence of labels can be sampled
JITTER = 0.1  # of joint MAP, relative to kernels of unit diagonal
_COLUMNS = ("objective", "value", "bound", "stationarity", "note")


def two_kernels(data: Data) -> tuple[str, str]:
    """A Gaussian kernel on each of two variables, or two widths on one."""
    if data.X.shape[1] > 1:
        width = f"rbf({data.bandwidths[1]:.3g})"
        return f"x1/{width}", f"x3/{width}"
    return _widths(data, 3, 6)


def _widths(data: Data, first: int, second: int) -> tuple[str, str]:
    return f"all/rbf({data.bandwidths[first]:.3g})", f"all/rbf({data.bandwidths[second]:.3g})"


def look(data: Data, n_train: int, n_grid: int) -> dict[str, Any]:
    """Surfaces and minima of three objectives, and the table of all objectives."""
    from matplotlib import pyplot as plt

    model = _fit(data, n_train, two_kernels(data))
    problem = replace(model.problem_, likelihood=model.likelihood_)
    display = ObjectiveContourDisplay.from_problem(problem, n_grid=n_grid, jitter=JITTER)
    plt.close(display.figure_)
    of_table = _widths(data, 0, 2) if data.labels else two_kernels(data)
    n_table = N_EVIDENCE if data.labels else n_train
    table = taxonomy(_fit(data, n_table, of_table), jitter=JITTER)
    return {
        "n": n_train,
        "names": list(two_kernels(data)),
        "d1": np.asarray(display.d1).tolist(),
        "d2": np.asarray(display.d2).tolist(),
        "surfaces": {name: np.asarray(v).tolist() for name, v in display.surfaces.items()},
        "minima": {name: [list(point) for point in v] for name, v in display.minima.items()},
        "n_table": n_table,
        "names_table": list(of_table),
        "table": [list(row[:5]) for row in table.rows],
    }


def _fit(data: Data, n_train: int, names: tuple[str, str]) -> Any:
    train, test = data.divide(n_train, seed=0)
    return fit_plain(make_split(data, train, test).select(names))[0]


def sections(name: str, labels: bool, seen: dict[str, Any]) -> list[Section]:
    """The picture of two kernels and the table of objectives of one data set."""
    display = ObjectiveContourDisplay(
        seen["d1"],
        seen["d2"],
        seen["surfaces"],
        {key: [(a, b) for a, b in points] for key, points in seen["minima"].items()},
        names=(seen["names"][0], seen["names"][1]),
    ).plot()
    display.figure_.set_size_inches(7.9, 3.0)
    for ax in display.axes_:
        ax.title.set_fontsize(8.5)
    what = "logistic likelihood" if labels else "Gaussian noise"
    columns = dict(zip(_COLUMNS, zip(*seen["table"], strict=True), strict=True))
    dots = TaxonomyDisplay(columns["objective"], columns["value"], bounds=columns["bound"]).plot()
    return [
        Section(
            f"Two kernels: {name}",
            (f"{seen['n']} samples, {what}; jitter {JITTER} for joint MAP.",),
            figure=display.figure_,
            alt="Contours of MKL, joint MAP and the variational bound over two weights",
        ),
        Section(
            f"All objectives: {name}",
            (
                f"{seen['n_table']} samples, kernels {' and '.join(seen['names_table'])}, at the "
                f"weights that {'the variational bound' if labels else 'the evidence'} learned.",
            ),
            {key: [_cell(value) for value in column] for key, column in columns.items()},
            "Values on the −2 ln scale; what each is to minus twice the log evidence; and how far "
            "from stationary it is at these weights.",
            dots.figure_,
            "A dot for the value of every objective, a line at the evidence",
        ),
    ]


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "–" if np.isnan(value) else f"{value:.4g}".replace("-", "−")
