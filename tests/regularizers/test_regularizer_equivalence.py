"""Tikhonov and Ivanov problems with the same predictor, solved independently."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from multikernel.regularizers import (
    ElasticNet,
    GroupNorm,
    LpNorm,
    TaskCoupling,
    ivanov_to_tikhonov,
    tikhonov_to_ivanov,
)

GROUPS = [0, 0, 1]
PAIRS = [
    LpNorm(p=1.0),
    LpNorm(p=2.0),
    LpNorm(p=3.0),
    GroupNorm(GROUPS, within=2.0, across=1.0),
    GroupNorm(GROUPS, within=3.0, across=2.0),
    GroupNorm(GROUPS, within=np.inf, across=1.0),
]


def solve(reg, C, roots, y):
    """The functions of the squared-loss problem, from its block norm, by cvxpy."""
    ws = [cp.Variable(R.shape[1]) for R in roots]
    t = cp.hstack([cp.norm(w, 2) for w in ws])
    fs = [R @ w for R, w in zip(roots, ws, strict=True)]
    groups = [[0], [1], [2]] if isinstance(reg, LpNorm) else [[0, 1], [2]]
    inner = 1.0 if isinstance(reg, LpNorm) else reg.within
    outer = reg.p if isinstance(reg, LpNorm) else reg.across
    r = 2.0 if np.isinf(inner) else 2 * inner / (1 + inner)
    q = 2 * outer / (1 + outer)
    norms = cp.hstack([cp.pnorm(t[g], r) if len(g) > 1 else t[g[0]] for g in groups])
    if reg.form == "ivanov":
        g = cp.square(cp.pnorm(norms, q)) / 2
    else:
        g = cp.sum(cp.power(norms, q)) / q
    loss = cp.sum_squares(y - sum(fs)) / 2
    cp.Problem(cp.Minimize(C * loss + g)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    return np.array([f.value for f in fs]), np.array([w.value @ w.value for w in ws])


@pytest.fixture
def data(rng):
    return [rng.normal(size=(8, 2)) for _ in range(3)], rng.normal(size=8)


@pytest.mark.filterwarnings("ignore:pnorm:UserWarning", "ignore:power:UserWarning")
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
@pytest.mark.parametrize("reg", PAIRS, ids=repr)
def test_mapped_problems_have_the_same_predictor(reg, data):
    roots, y = data
    C = 3.0
    F, sq_norms = solve(reg, C, roots, y)
    d = reg.optimal_weights(sq_norms)
    ivanov, C_iv, d_iv = tikhonov_to_ivanov(reg, C, d)
    assert ivanov.form == "ivanov"
    assert reg.form == "tikhonov"
    F_iv, sq_norms_iv = solve(ivanov, C_iv, roots, y)
    assert_allclose(F_iv, F, atol=2e-5)
    assert_allclose(d_iv, ivanov.optimal_weights(sq_norms_iv), atol=2e-5)
    back, C_back, d_back = ivanov_to_tikhonov(ivanov, C_iv, d_iv, sq_norms_iv)
    assert back.form == "tikhonov"
    assert_allclose(C_back, C, rtol=1e-4)
    assert_allclose(d_back, d, atol=1e-4)


def test_round_trip_is_exact(rng):
    for reg in PAIRS:
        x = rng.uniform(0.1, 2.0, size=3)
        d = reg.optimal_weights(x)
        ivanov, C, d_iv = tikhonov_to_ivanov(reg, 2.0, d)
        assert_allclose(d_iv, ivanov.optimal_weights(x), rtol=1e-12)
        back = ivanov_to_tikhonov(ivanov, C, d_iv, x)
        assert_allclose(back.C, 2.0, rtol=1e-12)
        assert_allclose(back.weights, d, rtol=1e-12)
        assert back.regularizer == reg


def test_what_cannot_be_mapped_is_refused():
    d = np.array([1.0, 2.0, 0.5])
    for reg in (ElasticNet(), TaskCoupling(n_tasks=2)):
        with pytest.raises(TypeError, match="LpNorm, GroupNorm and QNorm"):
            tikhonov_to_ivanov(reg, 1.0, d)
    with pytest.raises(ValueError, match="must have form='tikhonov' here"):
        tikhonov_to_ivanov(LpNorm(form="ivanov"), 1.0, d)
    with pytest.raises(ValueError, match="must have form='ivanov' here"):
        ivanov_to_tikhonov(LpNorm(), 1.0, d, d)
    with pytest.raises(ValueError, match="not all be zero"):
        tikhonov_to_ivanov(LpNorm(), 1.0, 0 * d)
    with pytest.raises(ValueError, match="not all be zero"):
        ivanov_to_tikhonov(LpNorm(form="ivanov"), 1.0, d, 0 * d)
