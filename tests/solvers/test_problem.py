"""A problem says what does not fit before anything is computed."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_problem

from multikernel.losses import Hinge, Multinomial, Squared
from multikernel.regularizers import GroupNorm, LpNorm, TaskCoupling, Wedge
from multikernel.solvers import Alternating
from multikernel.solvers.base import reduce_to_atoms, relative_gap


@pytest.mark.parametrize(
    ("loss", "change", "message"),
    [
        (Squared(), {"y": np.zeros(30)}, r"y must have shape \(n_samples, n_outputs\)"),
        (Squared(), {"y": np.full((30, 1), np.nan)}, "y must be finite"),
        (Squared(), {"y": np.zeros((29, 1))}, "n_samples = 30"),
        (Hinge(), {"y": np.zeros((30, 1))}, "y must be -1 or 1 for Hinge"),
        (Multinomial(), {"y": np.ones((30, 3))}, "y must be one-hot"),
        (Squared(), {"C": -1.0}, "C must be positive"),
        (Squared(), {"C": np.inf}, "C must be positive and finite"),
        (Squared(), {"sample_weight": np.zeros(30)}, "30 positive finite numbers"),
        (Squared(), {"regularizer": GroupNorm()}, "groups='source' is for estimators"),
        (Squared(), {"regularizer": GroupNorm([1, 2])}, "2 labels for 6 kernels"),
    ],
)
def test_what_does_not_fit_is_refused(loss, change, message):
    problem = replace(make_problem(loss, LpNorm()), **change)
    with pytest.raises(ValueError, match=message):
        Alternating().solve(problem)


def test_atoms_of_atoms_are_composed():
    problem = make_problem(Squared(), TaskCoupling(2, sharing=0.3, over=Wedge()))
    reduced, T = reduce_to_atoms(problem)
    assert isinstance(reduced.regularizer, LpNorm)
    assert T.shape == (2, 6)
    d = np.array([1.0, 2.0])
    np.testing.assert_allclose(reduced.bank.combine(d), problem.bank.combine(T.T @ d))


def test_a_bound_above_the_objective_certifies_nothing():
    assert relative_gap(1.0, 1.0 + 1e-6) == np.inf
    assert relative_gap(1.0, 1.0 + 1e-14) == 0.0
    assert relative_gap(1.0, -np.inf) == np.inf
    assert relative_gap(2.0, 1.0) == 0.5
