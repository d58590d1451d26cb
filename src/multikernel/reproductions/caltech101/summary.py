"""The page of the experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...report import Section
from ..base import Summary
from .arrangement import Arrangement
from .comparison import N_FOLDS, N_REPEATS
from .features import N_WORDS, STEP, typical_distances
from .figures import accuracy_figure, selection_figure, weights_figure
from .findings import findings
from .numbers import Numbers, collect
from .paper import PROBLEM
from .splits import Task
from .sums import sum_finding, sum_table
from .tables import (
    accuracy_table,
    choice_table,
    count_table,
    factor_table,
    lambda_counts,
    width_table,
)


def summarize(
    results: Mapping[Task, Mapping[str, Any]],
    sums: Sequence[Mapping[str, Any]],
    arrangement: Arrangement,
    distances: NDArray[np.float32],
) -> Summary:
    """Findings, tables and figures from the results of all tasks."""
    numbers = collect(results, arrangement)
    problem = numbers.problems.index(PROBLEM)
    largest = numbers.sizes[-1]
    sections = [
        Section("What was done", _protocol(numbers)),
        Section(
            "Accuracy",
            ("The paper shows this as curves without numbers, in the left panels of its figures.",),
            accuracy_table(numbers),
            "Accuracy in per cent by training images per class: mean and standard error over "
            f"{numbers.n_splits} random splits.",
            accuracy_figure(numbers),
            "three panels of accuracy curves with error bars, one line per method",
        ),
        Section(
            "Kernels selected",
            (),
            count_table(numbers),
            f"Kernels with weight after {largest} training images per class: median over splits, "
            "and range. The figure shows mean weights: a row is a region of a descriptor (the "
            "whole image, then finer cells, then the pyramid), a column a width of a family, and "
            "the colour the root of the share, relative to the largest.",
            weights_figure(numbers),
            "heat maps of kernel weights: rows are descriptors and regions, columns families and "
            "widths",
        ),
        Section(
            "Widths selected by the elastic net",
            (),
            width_table(numbers, problem, typical_distances(distances)),
            f"Elastic net with λ = 0.5 on {PROBLEM}, {largest} training images per class. The "
            "numbers of the paper follow from its text: 88 and 792 kernels, of which widths. The "
            "last column is the kernel of two images at the median distance of all pairs.",
            selection_figure(numbers, problem),
            "bars: kernels selected by width, for Gaussian and χ² kernels, beside the paper's",
        ),
        Section(
            "Where the weight lies",
            (),
            factor_table(numbers),
            f"Shares of the weight of the elastic net (λ = 0.5), {largest} training images per "
            "class: mean over splits.",
        ),
    ]
    sections.append(
        Section(
            "What the kernels are worth",
            (
                "Whatever their weights: plain sums of some of the kernels, by logistic regression "
                "with the same training and test images.",
            ),
            sum_table(sums, arrangement),
            "Accuracy in per cent, mean over all sizes and splits; the last column has standard "
            "errors.",
        )
    )
    counts = ", ".join(f"λ = {lam}: {n}" for lam, n in lambda_counts(results).items())
    sections.append(
        Section(
            "Constants",
            (f"How often cross-validation chose each λ of the elastic net: {counts}.",),
            choice_table(results),
            "Accuracy in per cent, mean over all problems, sizes and splits. The last column is "
            "what would have come had the weakest regularization been taken of candidates that "
            "are equally good in cross-validation.",
        )
    )
    return Summary([*findings(numbers), sum_finding(sums, arrangement)], sections)


def _protocol(numbers: Numbers) -> tuple[str, ...]:
    arrangement = numbers.arrangement
    n_descriptors, n_regions, n_families, n_widths = arrangement.shape
    tests = "; ".join(
        f"{problem} {counts[0]} to {counts[-1]}"
        for problem, counts in zip(numbers.problems, numbers.n_test.tolist(), strict=True)
    )
    return (
        f"{n_descriptors} descriptors on a grid of {STEP} pixels, {N_WORDS} words drawn at random "
        f"from the descriptors of all images without their labels, {n_regions} regions, "
        f"{n_families} families and {n_widths} widths: {arrangement.n_kernels:,} kernels. "
        "Histograms of a region sum to one. The kernel of the pyramid is the mean of those of the "
        "cells, in which a level weighs half of the next finer one (the two coarsest the same).",
        f"Constants, and λ, are the most accurate in {N_REPEATS} × {N_FOLDS}-fold cross-validation "
        "on the training images, with folds that hold as many of one class as of the other; of "
        "equals, the strongest regularization, then the smallest λ. The test images are all the "
        f"others of the two classes ({tests} of them).",
    )
