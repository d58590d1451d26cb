"""The headline model on all samples: redundancy of its kernels, features, and its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_N_FEATURES = 5  # of every source


def redundancy_section(comparison: Comparison) -> Section | None:
    """Which kernels say the same, and how much of it is about the target."""
    if comparison.whole is None or comparison.whole["redundancy"] is None:
        return None
    from ..displays import RedundancyDisplay

    found = comparison.whole["redundancy"]
    display = RedundancyDisplay(
        found["alignment"], found["names"], target=found["target"], note=found["note"]
    ).plot()
    frame = display.frame()
    table: dict[str, list[Any]] = {"": list(frame.index)}
    table |= {str(name): frame.iloc[:, k].tolist() for k, name in enumerate(frame.columns)}
    parts = ()
    if len(frame) <= 30:
        parts = (
            Section(
                "Table of alignments",
                table=table,
                caption="0: nothing in common, 1: the same.",
                folded=True,
            ),
        )
    return Section(
        "Redundancy",
        (
            "Kernels that say the same can stand in for each other: the weight of one may then go "
            "to the other in the next fold, at no cost.",
        ),
        figure=display.figure_,
        alt="Map of centred alignments between kernels or sources, ordered by a tree, the target "
        "first; " + _closest(found["alignment"], found["names"]),
        parts=parts,
    )


def _closest(alignment: Any, names: list[str]) -> str:
    A = np.array(alignment, dtype=float)
    if len(A) < 2:
        return "there is one row."
    np.fill_diagonal(A, -np.inf)
    i, j = np.unravel_index(int(A.argmax()), A.shape)
    return f"closest are {names[i]} and {names[j]} ({A[i, j]:.2f})."


def features_section(comparison: Comparison) -> Section | None:
    """The heaviest columns of every source that has a linear kernel in use."""
    if comparison.whole is None or not comparison.whole["features"]:
        return None
    rows = [
        (source, feature["name"], feature["coefficient"])
        for source, features in comparison.whole["features"].items()
        for feature in features[:_N_FEATURES]
    ]
    source, name, coefficient = zip(*rows, strict=True)
    return Section(
        "Features",
        (
            f"Coefficients of the columns in the linear part of {comparison.headline}, fitted to "
            "all samples; columns were scaled to unit variance, unless a source has a preparation "
            "of its own. What kernels of other kinds see is not in them.",
        ),
        table={"source": source, "column": name, "coefficient": coefficient},
        caption=f"The {_N_FEATURES} largest of every source"
        + (", for the class named last." if comparison.task == "classification" else "."),
    )


def certificate_section(comparison: Comparison) -> Section:
    """How the fits ended: gaps, iterations, and the course of the last one."""
    frame = comparison.certificates()
    known = frame[frame["gap"].notna()]
    convex = known.groupby("model", sort=False).agg(
        fits=("gap", "size"),
        gap=("gap", "max"),
        n_iter=("n_iter", "mean"),
        seconds=("seconds", "mean"),
        solver=("solver", "first"),
        converged=("converged", "sum"),
    )
    table = {
        "model": [str(name) for name in convex.index],
        "solver": [str(name) for name in convex["solver"]],
        "fits": convex["fits"].tolist(),
        "at tolerance": [int(n) for n in convex["converged"]],
        "largest gap": convex["gap"].tolist(),
        "iterations": convex["n_iter"].tolist(),
        "seconds": convex["seconds"].tolist(),
    }
    text = (
        "The relative duality gap bounds how far the objective of a fit can be from its minimum. "
        "Models without a gap are not convex.",
    )
    section = {"table": table, "caption": "Fits with a certificate, by model."}
    if comparison.whole is None or not comparison.whole["history"]:
        return Section("Certificates", text, **section)
    from ..displays import ConvergenceDisplay

    history, tol = comparison.whole["history"], comparison.whole["tol"]
    display = ConvergenceDisplay(history["gap"], passes=history.get("n_passes"), tol=tol).plot()
    last = history["gap"][-1]
    return Section(
        "Certificates",
        text,
        figure=display.figure_,
        alt=f"Relative duality gap of {comparison.headline} on all samples against the work done; "
        f"it ends at {last:.1e}, the tolerance is {tol:g}.",
        **section,
    )
