"""Linear kernels on overlapping groups of columns under the block 1-norm: the latent group lasso.

The reference is written in the coefficients: one zero-padded vector per group, whose sum is the
linear model and whose norms are the penalty. Nothing of the library is used in it.
"""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from multikernel import BlockDescent, KernelSet, MKLClassifier, MKLRegressor

N_COLUMNS = 9
GROUPS = {
    "first": [0, 1, 2],
    "second": [2, 3, 4],
    "third": [4, 5, 6],
    "fourth": [6, 7, 8],
    "ends": [0, 8],
}
C = 0.3
TOL = 1e-9  # of the relative duality gap; the comparisons below are looser than what it implies


def draw(loss):
    """Samples whose target needs the columns of two overlapping groups only."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, N_COLUMNS))
    signal = X @ np.array([0, 0, 1.0, -1.5, 2.0, 0.8, 0.5, 0, 0])
    noise = rng.normal(size=90)
    return X, signal + noise if loss == "squared" else signal + noise > 0.4


def latent_group_lasso(X, y, loss, groups, C=C):
    """The optimum, the coefficients by column and the intercept, from cvxpy."""
    ws, b = {name: cp.Variable(len(columns)) for name, columns in groups.items()}, cp.Variable()
    total = sum(np.eye(X.shape[1])[:, columns] @ ws[name] for name, columns in groups.items())
    z = X @ total + b
    if loss == "squared":
        data = cp.sum_squares(y - z) / 2
    else:
        data = cp.sum(cp.logistic(-cp.multiply(np.where(y, 1.0, -1.0), z)))
    model = cp.Problem(cp.Minimize(C * data + sum(cp.norm(w) for w in ws.values())))
    model.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return model.value, total.value, float(b.value)


def make_model(loss, **kwargs):
    kind = MKLRegressor if loss == "squared" else MKLClassifier
    return kind(loss=loss, regularizer="lp", normalize=None, tol=TOL, **kwargs)


def fit_factored(X, y, loss, groups, solver, C=C):
    """Few columns for many samples: the estimator keeps factors, and no square matrix."""
    kernels = KernelSet(groups, families="linear", normalize=None)
    return make_model(loss, kernels=kernels, solver=solver, C=C).fit(X, y)


def fit_packed(X, y, loss, groups):
    """The same kernels as precomputed Gram matrices."""
    K = np.stack([X[:, g] @ X[:, g].T for g in groups.values()], axis=-1)
    return make_model(loss, kernels="precomputed", C=C).fit(K, y)


def column_coefficients(model, X, groups):
    """The sum of the zero-padded coefficients of the groups, w_m = d_m X_gᵀ α."""
    w = np.zeros(X.shape[1])
    for d, columns in zip(model.weights_, groups.values(), strict=True):
        w[columns] += d * X[:, columns].T @ model.dual_coef_
    return w


def check(model, X, y, loss, groups, queries):
    value, w, b = latent_group_lasso(X, y, loss, groups)
    assert model.converged_
    assert_allclose(model.objective_, value, rtol=1e-6)
    # The data term is strongly convex on these samples, so a gap of 1e-9 moves coefficients by
    # about its square root; 1e-4 leaves room for the reference as well.
    assert_allclose(column_coefficients(model, X, groups), w, atol=1e-4)
    assert_allclose(model.intercept_, b, atol=1e-4)
    predict = model.predict if loss == "squared" else model.decision_function
    assert_allclose(predict(queries), X @ w + b, atol=1e-3)


@pytest.mark.parametrize("solver", ["auto", BlockDescent(tol=TOL)], ids=["auto", "blocks"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_factored_kernels_agree_with_the_reference(loss, solver):
    X, y = draw(loss)
    model = fit_factored(X, y, loss, GROUPS, solver)
    check(model, X, y, loss, GROUPS, X)
    assert solver == "auto" or model.solution_.solver == "BlockDescent"  # which needs factors


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_packed_kernels_agree_with_the_reference(loss):
    X, y = draw(loss)
    model = fit_packed(X, y, loss, GROUPS)
    K = np.stack([X[:, g] @ X[:, g].T for g in GROUPS.values()], axis=-1)
    check(model, X, y, loss, GROUPS, K)


@pytest.mark.parametrize(
    ("loss", "C", "expected"),
    [("squared", 0.05, {"second", "third"}), ("logistic", 0.05, {"second"})],
)
def test_whole_groups_are_left_out(loss, C, expected):
    X, y = draw(loss)
    model = fit_factored(X, y, loss, GROUPS, BlockDescent(tol=TOL), C=C)
    kept = {name for name, d in zip(GROUPS, model.weights_, strict=True) if d > 0}
    assert kept == expected
    w = column_coefficients(model, X, GROUPS)
    assert set(np.flatnonzero(w)) == {column for name in kept for column in GROUPS[name]}
    assert_allclose(w, latent_group_lasso(X, y, loss, GROUPS, C)[1], atol=1e-4)


def test_a_repeated_group_leaves_the_model_as_it_is():
    """The split between equal groups is arbitrary, their sum is not."""
    X, y = draw("squared")
    once = fit_factored(X, y, "squared", GROUPS, BlockDescent(tol=TOL))
    groups = {**GROUPS, "second again": GROUPS["second"]}
    twice = fit_factored(X, y, "squared", groups, BlockDescent(tol=TOL))
    assert_allclose(twice.objective_, once.objective_, rtol=1e-8)
    assert_allclose(
        column_coefficients(twice, X, groups), column_coefficients(once, X, GROUPS), atol=1e-4
    )
