"""Rademacher complexity: exact by enumeration, estimated by draws, bounded from above."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracle import factor
from problems import random_grams

from multikernel import ElasticNet, FactoredBank, GroupNorm, LpNorm, PackedBank, Uniform
from multikernel.regularizers import QNorm
from multikernel.theory import (
    lp_bound,
    q_bound,
    rademacher_bound,
    rademacher_complexity,
    second_moments,
)

n, M = 7, 4
RNG = np.random.default_rng(3)
GRAMS = random_grams(RNG, n, M) * np.array([0.5, 1.0, 2.0, 0.1])[:, None, None]
BANK = PackedBank.from_grams(GRAMS)
SIGNS = np.array(list(product([-1.0, 1.0], repeat=n)))
FORMS = np.einsum("si,mij,sj->sm", SIGNS, GRAMS, SIGNS)  # G(σ) for all 2ⁿ vectors of signs

A = RNG.normal(size=(M, M))
LAPLACIAN = np.diag([1.0, 2.0, 2.0, 1.0]) - np.eye(M, k=1) - np.eye(M, k=-1)
MATRICES = {
    "identity": np.eye(M),
    "random": A @ A.T + 0.1 * np.eye(M),
    "laplacian": LAPLACIAN + 0.3 * np.eye(M),
}
BOUNDED = [
    LpNorm(p=1, form="ivanov"),
    LpNorm(p=1.5, form="ivanov"),
    LpNorm(p=2, form="ivanov"),
    GroupNorm(groups=["a", "a", "b", "b"], within=2, across=1, form="ivanov"),
    QNorm(np.ones((M, M))),
    *map(QNorm, MATRICES.values()),
]


def ball(regularizer, d):
    """The norm of the weights, with the atoms of cvxpy."""
    if isinstance(regularizer, QNorm):
        return cp.norm(factor(regularizer.Q).T @ d)
    if isinstance(regularizer, GroupNorm):
        return cp.norm(d[:2], regularizer.within) + cp.norm(d[2:], regularizer.within)
    return cp.pnorm(d, regularizer.p)


def best_norms(forms, regularizer):
    """sup √(dᵀG) over the unit ball, for every row G, by a conic solver."""
    d, G = cp.Variable(M, nonneg=True), cp.Parameter(M)
    program = cp.Problem(cp.Maximize(G @ d), [ball(regularizer, d) <= 1])
    values = []
    for G.value in forms:
        values.append(program.solve(solver=cp.CLARABEL))
    return np.sqrt(values)


@pytest.mark.parametrize("regularizer", BOUNDED, ids=repr)
def test_enumeration_is_the_mean_of_suprema_over_all_signs(regularizer):
    estimate = rademacher_complexity(BANK, regularizer, n_draws="all")
    halves = FORMS[: len(FORMS) // 2]  # G(σ) = G(-σ)
    expected = np.mean(best_norms(halves, regularizer)) / n
    assert_allclose(estimate.value, expected, rtol=1e-6)
    assert estimate.standard_error == 0
    assert estimate.n_draws == 2 ** (n - 1)


@pytest.mark.parametrize("regularizer", BOUNDED, ids=repr)
def test_draws_agree_with_enumeration_within_their_error(regularizer):
    exact = rademacher_complexity(BANK, regularizer, n_draws="all").value
    estimate = rademacher_complexity(BANK, regularizer, n_draws=500, random_state=0)
    assert 0 < estimate.standard_error < 0.05 * exact
    assert abs(estimate.value - exact) < 4 * estimate.standard_error


def test_standard_error_is_the_spread_of_repeated_estimates():
    regularizer = LpNorm(p=2, form="ivanov")
    repeats = [
        rademacher_complexity(BANK, regularizer, n_draws=100, random_state=seed)
        for seed in range(200)
    ]
    spread = np.std([estimate.value for estimate in repeats])
    error = np.mean([estimate.standard_error for estimate in repeats])
    assert_allclose(error, spread, rtol=0.2)  # a spread of 200 is known to 1/√400 = 5 %


def test_small_batches_and_other_banks_give_the_same(monkeypatch):
    regularizer = LpNorm(p=2, form="ivanov")
    estimate = rademacher_complexity(BANK, regularizer, n_draws=30, random_state=1)
    monkeypatch.setattr("multikernel.theory.rademacher._BATCH_ENTRIES", 4 * n * M)
    assert_allclose(rademacher_complexity(BANK, regularizer, n_draws=30, random_state=1), estimate)
    factored = FactoredBank([np.linalg.cholesky(K) for K in GRAMS])
    again = rademacher_complexity(factored, regularizer, n_draws=30, random_state=1)
    assert_allclose(again, estimate)
    assert_allclose(second_moments(factored), second_moments(BANK))


def test_second_moments_are_exact():
    assert_allclose(second_moments(BANK), FORMS.T @ FORMS / len(FORMS), rtol=1e-12)


@pytest.mark.parametrize("name", MATRICES)
def test_q_bound_holds_and_is_near(name):
    regularizer = QNorm(MATRICES[name])
    exact = rademacher_complexity(BANK, regularizer, n_draws="all").value
    bound = rademacher_bound(BANK, regularizer)
    assert_allclose(bound, q_bound(MATRICES[name], second_moments(BANK), n))
    free = np.einsum("sk,kl,sl->s", FORMS, np.linalg.inv(MATRICES[name]), FORMS)
    assert_allclose(bound, np.mean(free) ** 0.25 / n, rtol=1e-10)  # (E GᵀQ⁻¹G)^¼ / n
    assert exact <= bound
    if name != "random":  # without the constraint d ≥ 0 the bound loses little
        assert bound < 1.2 * exact


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), p=st.floats(1, 8), scale=st.sampled_from([1e-3, 1.0, 1e3]))
def test_lp_bound_holds(seed, p, scale):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(3, 5, 1 + seed % 4)) * rng.exponential(size=(3, 1, 1))
    bank = FactoredBank(list(np.sqrt(scale) * Z))
    regularizer = LpNorm(p=p, form="ivanov")
    exact = rademacher_complexity(bank, regularizer, n_draws="all").value
    assert exact <= rademacher_bound(bank, regularizer)


@pytest.mark.parametrize(("p", "order"), [(2, 2), (1.5, 3), (4 / 3, 4), (1.1, 11)])
def test_lp_bound_of_integer_order_is_the_formula(p, order):
    u = np.array([1.0, 3.0, 0.5])
    expected = np.sqrt(23 / 22 * order * np.sum(u**order) ** (1 / order)) / 9
    assert_allclose(lp_bound(u, p, 9), expected, rtol=1e-12)


def test_lp_bound_of_other_orders_is_the_smallest_over_integer_orders():
    u = np.random.default_rng(0).exponential(size=1000)
    values = [r * np.sum(u**r) ** (1 / r) for r in range(1, 60)]
    for p, order in [(1.0, np.inf), (1.02, 51.0 - 1e-6), (1.4, 3.5), (3.0, 1.5)]:
        p = p if np.isinf(order) else order / (order - 1)
        expected = np.sqrt(23 / 22 * min(values[: int(min(order, 59))])) / 20
        assert_allclose(lp_bound(u, p, 20), expected, rtol=1e-12)


def test_the_bound_as_printed_fails_for_kernels_of_small_trace():
    bank, regularizer = PackedBank.from_grams(1e-3 * GRAMS), LpNorm(p=2, form="ivanov")
    exact = rademacher_complexity(bank, regularizer, n_draws="all").value
    u = bank.traces(np.eye(n))
    printed = np.sqrt(23 / 22 * 2) * np.linalg.norm(u) / n
    assert printed < exact < rademacher_bound(bank, regularizer)


@pytest.mark.parametrize("regularizer", [LpNorm(p=2), ElasticNet(), Uniform()], ids=repr)
@pytest.mark.parametrize("function", [rademacher_complexity, rademacher_bound])
def test_regularizers_without_a_bound_are_refused(function, regularizer):
    with pytest.raises(TypeError, match=r"which .* lacks; use a regularizer with form='ivanov'"):
        function(BANK, regularizer)


def test_wrong_requests_are_refused():
    two = LpNorm(p=2, form="ivanov")
    with pytest.raises(TypeError, match="knows p-norms and Q-norms"):
        rademacher_bound(BANK, BOUNDED[3])
    with pytest.raises(ValueError, match="at most 16 samples, got 17"):
        rademacher_complexity(PackedBank.from_grams([np.eye(17)]), two, n_draws="all")
    with pytest.raises(ValueError, match="at least 2"):
        rademacher_complexity(BANK, two, n_draws=1)
    with pytest.raises(ValueError, match="3 of its 4 eigenvalues are zero; add a ridge"):
        rademacher_bound(BANK, QNorm(np.ones((M, M))))
    with pytest.raises(ValueError, match="5 rows for 4 kernels"):
        rademacher_complexity(BANK, QNorm(np.eye(5)))
    with pytest.raises(ValueError, match="p must be at least 1"):
        lp_bound([1.0], 0.5, 3)
    with pytest.raises(ValueError, match="shape of Q, \\(2, 2\\)"):
        q_bound(np.eye(2), np.eye(3), 3)
