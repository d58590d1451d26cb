"""Random small problems for the tests of solvers."""

from __future__ import annotations

import numpy as np
from helpers import draw_targets

from multikernel.banks import PackedBank
from multikernel.losses import Loss
from multikernel.regularizers import Regularizer
from multikernel.solvers import Problem


def random_grams(rng: np.random.Generator, n: int, M: int) -> np.ndarray:
    """Gaussian kernels on independent pairs of features."""
    X = rng.normal(size=(M, n, 2))
    sq_distances = np.sum((X[:, :, None] - X[:, None]) ** 2, axis=-1)
    return np.exp(-sq_distances / 2)


def make_problem(
    loss: Loss,
    regularizer: Regularizer,
    *,
    n: int = 30,
    M: int = 6,
    n_outputs: int = 1,
    C: float = 1.0,
    fit_intercept: bool = True,
    weighted: bool = False,
    seed: int = 0,
) -> Problem:
    """A problem with random kernels and targets; a loss that couples outputs gets three."""
    rng = np.random.default_rng(seed)
    bank = PackedBank.from_grams(random_grams(rng, n, M))
    y = draw_targets(loss.y_domain, rng, n, 3 if loss.couples_outputs else n_outputs)
    sample_weight = rng.uniform(0.5, 2.0, size=n) if weighted else None
    return Problem(bank, y, loss, regularizer, C, fit_intercept, sample_weight)
