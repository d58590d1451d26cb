"""Remake the figures of the README: python docs/make_figures.py"""

from pathlib import Path

import matplotlib

from multikernel import MKLClassifier
from multikernel.datasets import load_demo
from multikernel.displays import WeightsDisplay

STATIC = Path(__file__).parent / "_static"


def main() -> None:
    """Draw the weights learned on the embedded data."""
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "multikernel"  # the same bytes at every run
    X, y = load_demo(return_X_y=True)
    model = MKLClassifier(loss="logistic", regularizer="elasticnet", C=0.1).fit(X, y)
    figure = WeightsDisplay.from_estimator(model).figure_
    figure.savefig(STATIC / "weights.svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
