"""The table of the spatial machine, its maps, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...comparison import corrected_t_test
from ...displays._style import INK
from ...report import Section
from ..base import Summary
from .machines import Array, Maps

PAPER = {"SVM": "0.792", "Q-SVM": "0.819"}  # Section 5.1: ADNI, grey matter, 100 folds
_SLICE = -0.35  # height of the hippocampus, in half axes


def summarize(frame: Any, maps: Maps, coefficients: Mapping[str, Any]) -> Summary:
    """Accuracies on one study and on several, and the maps of the first."""
    one, several = frame[frame["draw"] == 0], frame[frame["repeat"] == 0]
    gains = [_gain(one), _gain(several)]
    sections = [
        Section(
            "Accuracy",
            (
                f"{maps.X.shape[0]} people, {maps.X.shape[1]} voxels of grey matter, simulated. "
                f"Largest relative duality gap: {frame['gap'].max():.1e}.",
            ),
            _table(one, several),
            "C: the median of those chosen. Truth: correlation of the coefficients with the change "
            "by the disease. Roughness: differences of neighbours, 1 for independent coefficients.",
        ),
        Section(
            "Maps",
            ("A slice at the height of the hippocampus, all people; compare Figure 1.",),
            figure=_draw(maps, coefficients),
            alt="Change by the disease, coefficients of the plain and of the spatial machine",
        ),
    ]
    return Summary(_findings(frame, gains), sections)


def _gain(part: Any) -> Any:
    """Q-SVM minus SVM: over folds of one study, or over the means of several."""
    folds = part.pivot(index=["draw", "repeat", "fold"], columns="method", values="acc")
    x, n_test = folds["Q-SVM"] - folds["SVM"], float(part["n_test"].mean())
    if part["draw"].nunique() > 1:
        means = x.groupby(level="draw").mean().to_numpy()
        return corrected_t_test(means, np.inf, n_test * part["fold"].nunique())
    return corrected_t_test(x.to_numpy(), float(part["n_train"].mean()), n_test)


def _table(one: Any, several: Any) -> dict[str, list[Any]]:
    rows = []
    for name, part in (("one study", one), ("several studies", several)):
        means = part.groupby("method", sort=False)[
            ["acc", "sens", "spec", "truth", "roughness"]
        ].mean()
        for method, mean in means.iterrows():
            rows.append(
                {
                    "data": name,
                    "machine": method,
                    "Acc.": f"{mean['acc']:.3f}",
                    "paper": PAPER[str(method)],
                    "Sens.": f"{mean['sens']:.3f}",
                    "Spec.": f"{mean['spec']:.3f}",
                    "C": f"{part.loc[part['method'] == method, 'C'].median():.0e}",
                    "truth": f"{mean['truth']:.2f}",
                    "roughness": f"{mean['roughness']:.2f}",
                }
            )
    return {key: [row[key] for row in rows] for key in rows[0]}


def _findings(frame: Any, gains: list[Any]) -> list[str]:
    rough = frame.groupby("method")["roughness"].mean()
    truth = frame.groupby("method")["truth"].mean()
    words = [
        f"{100 * g.mean:+.1f} points ({100 * g.low:+.1f} to {100 * g.high:+.1f})".replace("-", "−")
        for g in gains
    ]
    return [
        f"Knowing the neighbours changes the accuracy by {words[0]} on one simulated study and by "
        f"{words[1]} on several, with 95 % intervals; in the paper by +2.7 points on a real one.",
        f"The coefficients are smoother, as the paper shows: roughness {rough['Q-SVM']:.2f} "
        f"against {rough['SVM']:.2f}; and their correlation with what the disease changes is "
        f"{truth['Q-SVM']:.2f} against {truth['SVM']:.2f}.",
    ]


def _draw(maps: Maps, coefficients: Mapping[str, Any]) -> Any:
    from matplotlib.figure import Figure

    shown = {"change by the disease": maps.truth}
    shown |= {name: np.array(w) for name, w in coefficients.items()}
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    for ax, (name, w) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        limit = np.abs(w).max()
        ax.imshow(_slice(maps, w), cmap="RdBu_r", vmin=-limit, vmax=limit, origin="lower")
        ax.set_title(name, fontsize=10, color=INK)
        ax.set_axis_off()
    return figure


def _slice(maps: Maps, w: Array) -> Array:
    """One slice of a map as an image, left to right and back to front."""
    heights = np.unique(maps.coordinates[:, 2])
    height = heights[np.argmin(np.abs(heights - _SLICE))]
    inside = maps.coordinates[:, 2] == height
    columns, x = np.unique(maps.coordinates[:, 0], return_inverse=True)
    rows, y = np.unique(maps.coordinates[:, 1], return_inverse=True)
    image = np.full((len(rows), len(columns)), np.nan)
    image[y[inside], x[inside]] = w[inside]
    return image
