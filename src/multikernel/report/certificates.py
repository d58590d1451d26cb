"""Certificates: how the fits of a comparison ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..comparison.verdict import failure_sentence
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_AXES = ("n_passes", "seconds")  # what the gap is drawn against


def certificate_section(comparison: Comparison) -> Section:
    """Gaps and iterations of all fits, and the course of the one on all samples."""
    text = (
        "The relative duality gap bounds how far the objective of a fit can be from its minimum. "
        "Models without a gap have no certificate of this kind.",
    )
    section: dict[str, Any] = {
        "table": _table(comparison),
        "caption": "Fits with a certificate, by model.",
    }
    whole = comparison.whole
    if whole is None:
        return Section("Certificates", (*text, _absence(comparison)), **section)
    if not whole["history"]:
        return Section("Certificates", text, **section)
    last, tol = whole["history"]["gap"][-1], whole["tol"]
    solver = f", solved by {whole['solver']}" if whole["solver"] else ""
    return Section(
        "Certificates",
        (*text, *_choice(whole, comparison.headline)),
        figure=_picture(whole["history"], tol),
        alt=f"Relative duality gap of {comparison.headline} on all samples{solver}, against the "
        f"work done and the time; it ends at {last:.1e}, the tolerance is {tol:g}.",
        **section,
    )


def _table(comparison: Comparison) -> dict[str, list[Any]]:
    """One row per model whose fits have a gap."""
    frame = comparison.certificates()
    certified = (
        frame[frame["gap"].notna()]
        .groupby("model", sort=False)
        .agg(
            fits=("gap", "size"),
            gap=("gap", "max"),
            n_iter=("n_iter", "mean"),
            seconds=("seconds", "mean"),
            solver=("solver", "first"),
            converged=("converged", "sum"),
        )
    )
    return {
        "model": [str(name) for name in certified.index],
        "solver": [str(name) for name in certified["solver"]],
        "fits": certified["fits"].tolist(),
        "at tolerance": [int(n) for n in certified["converged"]],
        "largest gap": certified["gap"].tolist(),
        "iterations": certified["n_iter"].tolist(),
        "seconds": certified["seconds"].tolist(),
    }


def _choice(whole: dict[str, Any], model: str) -> tuple[str, ...]:
    """Which solver was chosen for the fit to all samples, and why; nothing if it was asked for."""
    said = f"On all samples {model} is solved by {whole['solver']}, because {whole['reason']}."
    return (said,) if whole["reason"] else ()


def _absence(comparison: Comparison) -> str:
    """Why nothing is shown of the fit to all samples."""
    failed = [failure for failure in comparison.failures if failure["fold"] is None]
    why = failure_sentence(failed[0]) if failed else "No model was fitted to all samples."
    return f"{why} Redundancy of kernels, features and the course of a fit are therefore not shown."


def _picture(history: dict[str, list[float]], tol: float) -> Any:
    """The gap against the work done, and against time where that is known."""
    from matplotlib import pyplot as plt

    from ..displays import ConvergenceDisplay

    against = [name for name in _AXES if history.get(name)] or ["iteration"]
    size = (4.6 * len(against), 3.2)
    figure, axes = plt.subplots(1, len(against), figsize=size, squeeze=False, layout="constrained")
    for ax, name in zip(axes[0], against, strict=True):
        display = ConvergenceDisplay(
            history["gap"],
            passes=history.get("n_passes"),
            seconds=history.get("seconds"),
            tol=tol,
            against=name,
        )
        display.plot(ax=ax)
        ax.locator_params(axis="x", nbins=4)
    return figure
