"""Draw what the matrices of the Q-MKL experiment ask for and the weights learned under them.

``python experiments/qmkl_figure.py docs/reproductions/qmkl.png`` remakes the figure, which is that
of Hinrichs et al. (2012), Figure 2, for the simulated study: all people, C = 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import numpy as np
from matplotlib import pyplot as plt
from qmkl import fit_weights, regularizers
from qmkl_data import Study, fold_kernels, neuroimaging

from multikernel.displays import QNormDisplay

SHOWN = ("Cov", "Lap.(Cov)", "Lap.(Cov) + diag")


def draw(study: Study, path: Path) -> None:
    """One row of panels for each matrix."""
    everyone = np.arange(len(study.y))
    kernels = fold_kernels(study, everyone, everyone[:1])
    rules = regularizers(kernels, study.targets)
    figure = plt.figure(figsize=(14, 11.2), layout="constrained")
    rows = figure.subfigures(len(SHOWN), 1)
    for row, name in zip(rows, SHOWN, strict=True):
        regularizer = rules[name][0]
        d = fit_weights(kernels, study.targets, regularizer, C=1.0).weights
        row.suptitle(f"Q = {name}", x=0.01, ha="left")
        display = QNormDisplay(regularizer.Q, d, sources=kernels.sources)
        display.plot(axes=row.subplots(1, 5))
    figure.savefig(path, dpi=110, facecolor="white")


if __name__ == "__main__":
    draw(neuroimaging(0, None, False), Path(sys.argv[1]))
