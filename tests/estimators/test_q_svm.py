"""QSVC and QSVR: the quadratic penalty on coefficients, in its primal and its dual form."""

from __future__ import annotations

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from helpers import draw_targets, instances, name_of
from oracle import _run_clarabel, loss_terms
from scipy.sparse import csr_array, eye_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from multikernel import (
    QSVC,
    QSVR,
    Alternating,
    EpsilonInsensitive,
    FactoredBank,
    Linear,
    MKLClassifier,
    MKLRegressor,
    Multinomial,
    Problem,
    Uniform,
    _memory,
    spatial_laplacian,
)
from multikernel.estimators import _linear
from multikernel.losses import LOSSES
from multikernel.solvers.factored_machine import fit_factored

FORMS = ("primal", "dual")
LOSS_OBJECTS = instances(LOSSES)


def positive_definite(rng, p, condition=100.0):
    U = np.linalg.qr(rng.normal(size=(p, p)))[0]
    return (U * np.geomspace(1.0, condition, p)) @ U.T


def make_data(loss, seed=0, n=30, p=8):
    """Features off centre, targets as people pass them, and targets as the loss sees them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    if loss.y_domain == "real":
        y = X @ rng.normal(size=p) + rng.normal(size=n)
        return X, y, y[:, np.newaxis]
    Y = draw_targets(loss.y_domain, rng, n, 3 if loss.couples_outputs else 1)
    return X, (Y.argmax(axis=1) if loss.couples_outputs else Y[:, 0]), Y


def make_model(loss, *args, **kwargs):
    return (QSVR if loss.y_domain == "real" else QSVC)(*args, loss=loss, **kwargs)


def objective(model, X, Y, Q, cost):
    """The objective at the published coefficients, in plain numpy."""
    z = X @ model.coef_.T + model.intercept_
    return cost @ model.loss_.value(Y, z).sum(axis=1) + 0.5 * np.sum(model.coef_ @ Q * model.coef_)


def lower_bound(model, X, Y, Q, cost, fit_intercept):
    """The dual at the published dual coefficients, in plain numpy."""
    alpha = model.dual_coef_.reshape(len(X), -1)
    if fit_intercept:
        assert np.all(np.abs(alpha.sum(axis=0)) <= 1e-10 * np.abs(alpha).sum())
    U = X.T @ alpha
    conjugate = model.loss_.conjugate(Y, -alpha / cost[:, np.newaxis])
    return -cost @ conjugate.sum(axis=1) - 0.5 * np.sum(U * np.linalg.solve(Q, U))


def solve_with_cvxpy(X, Y, Q, loss, cost, fit_intercept):
    w, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    z = X @ w + np.ones((len(X), 1)) @ b
    penalty = cp.sum_squares(np.linalg.cholesky(Q).T @ w) / 2
    constraints = [] if fit_intercept else [b == 0]
    if np.isfinite(loss.reach):
        constraints.append(cp.abs(z) <= loss.reach)
    if loss.couples_outputs:
        constraints.append(cp.sum(b) == 0)
    name = type(loss).__name__
    data = cp.pos(1 - cp.multiply(Y, z)) if name == "RelativeMargin" else None
    terms = loss_terms(loss, Y, z) if data is None else cp.sum(data, axis=1)
    problem = cp.Problem(cp.Minimize(cost @ terms + penalty), constraints)
    _run_clarabel(problem)
    return float(problem.value), w.value.T


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSS_OBJECTS, ids=name_of)
def test_agrees_with_a_convex_solver(loss, fit_intercept, form):
    X, y, Y = make_data(loss)
    rng = np.random.default_rng(1)
    Q, s = positive_definite(rng, X.shape[1]), rng.uniform(0.5, 2.0, len(X))
    model = make_model(loss, Q, C=0.7, form=form, fit_intercept=fit_intercept, tol=1e-8)
    model.fit(X, y, sample_weight=s)
    best, coef = solve_with_cvxpy(X, Y, Q, loss, 0.7 * s, fit_intercept)
    assert model.form_ == form
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-3 * np.abs(coef).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
@pytest.mark.parametrize("loss", LOSS_OBJECTS, ids=name_of)
def test_the_certificate_holds_in_plain_numpy(loss, C, form):
    X, y, Y = make_data(loss, seed=2)
    Q = positive_definite(np.random.default_rng(3), X.shape[1])
    model = make_model(loss, Q, C=C, form=form).fit(X, y)
    cost = np.full(len(X), C)
    value = objective(model, X, Y, Q, cost)
    bound = lower_bound(model, X, Y, Q, cost, fit_intercept=True)
    assert model.converged_
    assert model.gap_ <= 1e-6
    assert value == pytest.approx(model.objective_, rel=1e-8)
    assert -1e-9 * value <= value - bound <= 1.01e-6 * value


@pytest.mark.parametrize("loss", LOSS_OBJECTS, ids=name_of)
@pytest.mark.parametrize(("n", "p"), [(40, 6), (12, 25)])
def test_primal_and_dual_agree(loss, n, p):
    X, y, _ = make_data(loss, seed=4, n=n, p=p)
    Q = positive_definite(np.random.default_rng(5), p)
    primal, dual = (
        make_model(loss, Q, C=2.0, form=form, tol=1e-10, max_iter=400).fit(X, y) for form in FORMS
    )
    assert primal.objective_ == pytest.approx(dual.objective_, rel=1e-9)
    atol = 1e-4 * np.abs(dual.coef_).max() + 1e-9
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=atol)
    automatic = make_model(loss, Q, C=2.0).fit(X, y)
    assert automatic.form_ == ("primal" if n > p else "dual")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_without_q_it_is_the_linear_svm(form, C):
    X, y, _ = make_data(LOSSES["hinge"](), n=50, p=5)
    theirs = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    ours = QSVC(C=C, form=form, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    kernel = MKLClassifier(Linear(), loss="hinge", regularizer="uniform", normalize=None, C=C)
    assert ours.objective_ == pytest.approx(kernel.fit(X, y).objective_, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_without_q_it_is_linear_support_vector_regression(form):
    X, y, _ = make_data(LOSSES["squared"](), n=50, p=5)
    theirs = SVR(kernel="linear", C=0.3, epsilon=0.2, tol=1e-9).fit(X, y)
    loss = EpsilonInsensitive(0.2)
    ours = QSVR(C=0.3, loss=loss, form=form, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    kernel = MKLRegressor(Linear(), loss=loss, regularizer="uniform", normalize=None, C=0.3)
    assert ours.objective_ == pytest.approx(kernel.fit(X, y).objective_, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_squared_loss_is_ridge_regression(form):
    X, y, _ = make_data(LOSSES["squared"]())
    Q = positive_definite(np.random.default_rng(6), X.shape[1])
    L = np.linalg.cholesky(Q)
    Z = np.linalg.solve(L, X.T).T
    theirs = Ridge(alpha=1 / 0.4).fit(Z, y)
    ours = QSVR(Q, loss="squared", C=0.4, form=form).fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], np.linalg.solve(L.T, theirs.coef_), rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_[0], theirs.intercept_, rtol=1e-8)
    kernel = KernelRidge(alpha=1 / 0.4, kernel="precomputed").fit(Z @ Z.T, y)
    flat = QSVR(Q, loss="squared", C=0.4, form=form, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(flat.dual_coef_, kernel.dual_coef_, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_whitened_features_need_no_q(form):
    X, y, _ = make_data(LOSSES["hinge"]())
    Q = positive_definite(np.random.default_rng(7), X.shape[1])
    Z = np.linalg.solve(np.linalg.cholesky(Q), X.T).T
    with_q = QSVC(Q, form=form, tol=1e-10).fit(X, y)
    without = QSVC(form=form, tol=1e-10).fit(Z, y)
    np.testing.assert_allclose(with_q.decision_function(X), without.decision_function(Z), atol=1e-5)
    assert not np.allclose(QSVC(form=form).fit(X, y).coef_, with_q.coef_, rtol=0.1)


@pytest.mark.parametrize("form", FORMS)
def test_coefficients_come_from_the_samples(form):
    X, y, _ = make_data(LOSSES["logistic"]())
    Q = positive_definite(np.random.default_rng(8), X.shape[1])
    model = QSVC(Q, loss="logistic", form=form, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(
        model.coef_[0], np.linalg.solve(Q, X.T @ model.dual_coef_), atol=1e-6
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [15, 60])
def test_sparse_is_dense(form, n):
    rng = np.random.default_rng(9)
    X = np.where(rng.random((n, 30)) < 0.3, rng.normal(size=(n, 30)), 0.0)
    y = np.where(X @ rng.normal(size=30) > 0, "b", "a")
    L = spatial_laplacian(np.arange(30.0)[:, np.newaxis], n_neighbors=4)
    dense = QSVC(L.toarray(), ridge=0.1, form=form, tol=1e-9).fit(X, y)
    for Q in (L, L.tocsc(), L.tocoo()):
        model = QSVC(Q, ridge=0.1, form=form, tol=1e-9).fit(csr_array(X), y)
        np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-6)
        np.testing.assert_allclose(
            model.decision_function(csr_array(X)), dense.decision_function(X), atol=1e-6
        )


def test_the_ridge_is_relative_to_the_mean_diagonal():
    X, y, _ = make_data(LOSSES["hinge"]())
    Q = positive_definite(np.random.default_rng(10), X.shape[1])
    explicit = Q + 0.3 * np.mean(np.diag(Q)) * np.eye(len(Q))
    for form in FORMS:
        ridged = QSVC(Q, ridge=0.3, form=form, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(
            ridged.coef_, QSVC(explicit, form=form, tol=1e-9).fit(X, y).coef_, atol=1e-6
        )
        identity = QSVC(ridge=1.0, C=2.0, form=form, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(
            identity.coef_, QSVC(form=form, tol=1e-9).fit(X, y).coef_, atol=1e-6
        )


def test_q_and_c_act_against_each_other():
    X, y, _ = make_data(LOSSES["hinge"]())
    Q = positive_definite(np.random.default_rng(11), X.shape[1])
    one, other = QSVC(Q, tol=1e-9).fit(X, y), QSVC(5 * Q, C=5.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)


def test_it_is_not_mkl_on_one_kernel_per_feature():
    """There Q = I penalises the square of the 4/3-norm, which no C makes equal to ½‖w‖²."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(60, 5))
    y = np.where(X @ np.array([3.0, 1.0, 0.3, 0.1, 0.0]) + rng.normal(size=60) > 0, 1, -1)
    w = cp.Variable(5)
    data = cp.sum(cp.logistic(-cp.multiply(y, X @ w)))
    mkl = cp.Problem(cp.Minimize(data + cp.square(cp.pnorm(w, 4 / 3)) / 2))
    _run_clarabel(mkl)
    theirs = w.value / np.linalg.norm(w.value)
    cosines = []
    for C in np.geomspace(1e-3, 1e3, 61):
        ours = QSVC(loss="logistic", C=C, fit_intercept=False).fit(X, y).coef_[0]
        cosines.append(ours @ theirs / np.linalg.norm(ours))
    assert 0.9 < max(cosines) < 0.9999


def test_a_laplacian_makes_coefficients_smooth():
    rng = np.random.default_rng(13)
    places = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    X = rng.normal(size=(60, 144))
    y = np.where(X @ np.exp(-np.sum((places - 5) ** 2, axis=1) / 10) > 0, 1, -1)
    L = spatial_laplacian(places, n_neighbors=8)
    eye = L.diagonal().mean() * eye_array(144)
    roughness = []
    for strength in (0.0, 0.5, 0.9, 0.99):
        w = QSVC(strength * L + (1 - strength) * eye).fit(X, y).coef_[0]
        roughness.append(w @ (L @ w) / (w @ w))
    assert np.all(np.diff(roughness) < 0)
    assert roughness[-1] < 0.2 * roughness[0]


def test_a_large_sparse_q_is_not_made_dense(monkeypatch):
    rng = np.random.default_rng(14)
    places = np.stack(np.meshgrid(*[np.arange(15.0)] * 3), axis=-1).reshape(-1, 3)
    X = rng.normal(size=(20, len(places)))
    y = np.tile([0, 1], 10)
    monkeypatch.setattr(_memory, "available_memory", lambda: 8.0 * len(places) ** 2)
    model = QSVC(spatial_laplacian(places, radius=1.1), ridge=0.01).fit(X, y)
    assert model.form_ == "dual"
    assert model.converged_
    w = model.coef_[0]
    L = spatial_laplacian(places, radius=1.1)
    Qw = L @ w + 0.01 * L.diagonal().mean() * w
    np.testing.assert_allclose(Qw, X.T @ model.dual_coef_, atol=1e-8 * np.abs(Qw).max())
    with pytest.raises(MemoryError, match="dense Q"):
        QSVC(spatial_laplacian(places, radius=1.1), ridge=0.01, form="primal").fit(X, y)


@pytest.mark.parametrize("form", FORMS)
def test_fill_and_kernels_are_checked_before_they_are_allocated(form, monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 1e4)
    X, y, _ = make_data(LOSSES["hinge"](), n=200, p=20)
    with pytest.raises(MemoryError):
        QSVC(form=form).fit(X, y)


@pytest.mark.parametrize("form", FORMS)
def test_several_classes_are_taken_one_against_the_rest(form):
    X, y = load_iris(return_X_y=True)
    Q = positive_definite(np.random.default_rng(15), 4)
    model = QSVC(Q, C=10.0, form=form, tol=1e-9).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert model.dual_coef_.shape == (150, 3)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, y) > 0.9
    total = 0.0
    for t in range(3):
        alone = QSVC(Q, C=10.0, form=form, tol=1e-9).fit(X, y == t)
        total += alone.objective_
        np.testing.assert_allclose(model.coef_[[t]], alone.coef_, atol=1e-3)
    assert model.objective_ == pytest.approx(total, rel=1e-7)


def test_the_softmax_of_two_classes_is_logistic():
    X, y, _ = make_data(LOSSES["logistic"]())
    softmax = QSVC(loss=Multinomial()).fit(X, y)
    np.testing.assert_allclose(softmax.coef_, QSVC(loss="logistic").fit(X, y).coef_)


@pytest.mark.parametrize("form", FORMS)
def test_several_outputs(form):
    X, y, _ = make_data(LOSSES["squared"]())
    Y = np.stack([y, -2 * y + X[:, 0]], axis=1)
    model = QSVR(form=form, tol=1e-9).fit(X, Y)
    assert model.coef_.shape == (2, X.shape[1])
    assert model.predict(X).shape == Y.shape
    for t in range(2):
        alone = QSVR(form=form, tol=1e-9).fit(X, Y[:, t])
        assert alone.coef_.shape == (1, X.shape[1])
        np.testing.assert_allclose(model.predict(X)[:, t], alone.predict(X), atol=1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_sample_weights_repeat_samples(loss, form):
    X, y, _ = make_data(LOSSES["hinge"]())
    s = np.random.default_rng(16).integers(0, 4, len(X))
    weighted = QSVC(loss=loss, form=form, tol=1e-9).fit(X, y, sample_weight=s)
    repeated = QSVC(loss=loss, form=form, tol=1e-9).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    assert np.all(weighted.dual_coef_[s == 0] == 0)


def test_balanced_classes():
    rng = np.random.default_rng(17)
    X = rng.normal(size=(60, 3))
    y = np.repeat(["many", "few"], [50, 10])
    balanced = QSVC(class_weight="balanced", tol=1e-9).fit(X, y)
    explicit = QSVC(class_weight={"many": 0.6, "few": 3.0}, tol=1e-9).fit(X, y)
    weights = np.where(y == "many", 0.6, 3.0)
    np.testing.assert_allclose(balanced.coef_, explicit.coef_, atol=1e-7)
    by_sample = QSVC(tol=1e-9).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(balanced.coef_, by_sample.coef_, atol=1e-7)
    with pytest.raises(ValueError, match="at least 2 classes"):
        QSVC(class_weight={"many": 0.0, "few": 1.0}).fit(X, y)


@pytest.mark.parametrize("form", FORMS)
def test_features_far_from_zero_change_nothing(form):
    X, y, _ = make_data(LOSSES["hinge"]())
    near = QSVC(form=form, tol=1e-9).fit(X, y)
    far = QSVC(form=form, tol=1e-9).fit(X + 1e5, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-5)
    np.testing.assert_allclose(far.decision_function(X + 1e5), near.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_with_names(library):
    X, y, _ = make_data(LOSSES["hinge"](), p=3)
    frame = pytest.importorskip(library).DataFrame({name: X[:, j] for j, name in enumerate("abc")})
    model = QSVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.coef_, QSVC().fit(X, y).coef_)


@pytest.mark.parametrize("loss", LOSS_OBJECTS, ids=name_of)
def test_samples_that_repeat_and_features_that_do_not_vary(loss):
    """A singular kernel and a large C."""
    X, y, Y = make_data(loss, n=12, p=30)
    X = np.repeat(np.hstack([X, np.ones((12, 3))]), 2, axis=0)
    y, Y = np.repeat(y, 2), np.repeat(Y, 2, axis=0)
    if loss.y_domain == "real":
        y[::2] += 0.1
        Y = y[:, np.newaxis]
    model = make_model(loss, C=1e4, form="dual", fit_intercept=False).fit(X, y)
    assert model.converged_
    value = objective(model, X, Y, np.eye(33), np.full(24, 1e4))
    assert value == pytest.approx(model.objective_, rel=1e-5)


class GivesUp:
    """A solver that never trusts what it has found."""

    def solve(self, problem):
        return replace(Alternating().solve(problem), converged=False)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSS_OBJECTS, ids=name_of)
def test_a_kernel_machine_that_gives_up_is_solved_on_factors(loss, fit_intercept, monkeypatch):
    X, y, Y = make_data(loss, n=15, p=20)
    X[1] = X[0]  # a singular kernel
    Q = positive_definite(np.random.default_rng(22), 20)
    usual = make_model(loss, Q, fit_intercept=fit_intercept, form="primal").fit(X, y)
    monkeypatch.setattr(_linear, "choose_solver", lambda *_, **__: GivesUp())
    model = make_model(loss, Q, fit_intercept=fit_intercept, form="dual").fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(usual.objective_, rel=2e-6)
    assert objective(model, X, Y, Q, np.ones(15)) == pytest.approx(model.objective_, rel=1e-7)
    bound = lower_bound(model, X, Y, Q, np.ones(15), fit_intercept)
    assert bound == pytest.approx(model.objective_, rel=2e-6)


def test_many_samples_never_meet_in_a_square_matrix():
    rng = np.random.default_rng(18)
    n = 30_000  # a square matrix would need 7 GB
    X = rng.normal(size=(n, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=n)
    for loss in ("epsilon_insensitive", "huber"):
        model = QSVR(loss=loss).fit(X, y)
        assert model.form_ == "primal"
        assert model.converged_


def test_the_offset_of_a_problem_is_part_of_the_predictions():
    rng = np.random.default_rng(19)
    Z, offset = rng.normal(size=(30, 4)), rng.normal(size=(30, 1))
    y = rng.normal(size=(30, 1))
    for name in ("squared", "absolute"):
        loss = LOSSES[name]()
        moved = Problem(FactoredBank([Z]), y - offset, loss, Uniform(), 2.0)
        given = Problem(FactoredBank([Z]), y, loss, Uniform(), 2.0, offset=offset)
        expected, found = fit_factored(moved, Z, 1e-9), fit_factored(given, Z, 1e-9)
        assert found.objective == pytest.approx(expected.objective, rel=1e-8)
        assert found.gap <= 1e-9


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_an_early_stop_is_admitted(loss, form):
    X, y, _ = make_data(LOSSES["hinge"](), n=40, p=40)
    model = QSVC(loss=loss, form=form, max_iter=1, tol=1e-14, C=100.0)
    with pytest.warns(ConvergenceWarning, match="QSVC stopped after 1 iterations"):
        model.fit(X, y)
    assert not model.converged_
    assert model.gap_ > 1e-14


P = 8
BAD_Q = {
    "singular": (np.diag([0.0, *np.ones(P - 1)]), "smallest eigenvalue.*zero up to.*ridge=0.01"),
    "laplacian": (
        spatial_laplacian(np.arange(P)[:, np.newaxis], n_neighbors=2),
        "zero up to rounding.*ridge=0.01",
    ),
    "dense laplacian": (
        spatial_laplacian(np.arange(P)[:, np.newaxis], n_neighbors=2).toarray(),
        "zero up to rounding.*ridge=0.01",
    ),
    "indefinite": (np.diag([-0.5, *np.ones(P - 1)]), r"eigenvalue is -5\.0e-01.*nearest_psd"),
    "sparse indefinite": (
        csr_array(np.diag([-0.5, *np.ones(P - 1)])),
        r"eigenvalue is -5\.0e-01.*nearest_psd",
    ),
    "zero": (np.zeros((P, P)), "no ridge can repair"),
    "asymmetric": (np.eye(P) + 0.1 * np.eye(P, k=1), r"symmetric.*1\.0e-01.*\(Q \+ Q\.T\) / 2"),
    "sparse asymmetric": (csr_array(np.eye(P) + 0.1 * np.eye(P, k=1)), "symmetric"),
    "nan": (np.where(np.eye(P) > 0, np.nan, 0.0), "Q contains NaN or infinity"),
    "sparse nan": (csr_array(np.diag([np.inf, *np.ones(P - 1)])), "Q contains NaN or infinity"),
    "too small": (np.eye(P - 1), r"shape \(8, 8\), got \(7, 7\)"),
    "not square": (np.ones((P, P - 1)), r"shape \(8, 8\), got \(8, 7\)"),
    "vector": (np.ones(P), "Expected 2D array"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", BAD_Q)
def test_a_bad_q_gets_one_clear_sentence(case, form):
    Q, message = BAD_Q[case]
    X, y, _ = make_data(LOSSES["hinge"](), p=P)
    with pytest.raises(ValueError, match=message):
        QSVC(Q, form=form).fit(X, y)


def test_a_ridge_repairs_what_the_message_says():
    X, y, _ = make_data(LOSSES["hinge"](), p=P)
    for case, ridge in (("laplacian", 0.01), ("dense laplacian", 0.01), ("indefinite", 0.63)):
        for form in FORMS:
            assert QSVC(BAD_Q[case][0], ridge=ridge, form=form).fit(X, y).converged_


def test_the_smallest_eigenvalue_of_a_large_sparse_matrix_is_named():
    places = np.stack(np.meshgrid(np.arange(50.0), np.arange(50.0)), axis=-1).reshape(-1, 2)
    L = spatial_laplacian(places, radius=1.1)
    X, y = np.random.default_rng(0).normal(size=(6, 2500)), np.tile([0, 1], 3)
    with pytest.raises(ValueError, match="zero up to rounding"):
        QSVC(L).fit(X, y)
    with pytest.raises(ValueError, match=r"eigenvalue is -1\.0e\+00.*larger by 1 or more"):
        QSVC(L - eye_array(2500)).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"C": 0.0}, ValueError, "C == 0"),
        ({"ridge": -1.0}, ValueError, "ridge == -1"),
        ({"ridge": np.inf}, ValueError, "ridge == inf"),
        ({"tol": 0.0}, ValueError, "tol == 0"),
        ({"max_iter": 0}, ValueError, "max_iter == 0"),
        ({"form": "both"}, ValueError, "form must be one of"),
        ({"loss": "zero_one"}, ValueError, "is not known"),
        ({"Q": "laplacian"}, TypeError, "Q must be None or a matrix"),
        ({"Q": spatial_laplacian}, TypeError, "call the function yourself"),
    ],
)
def test_bad_parameters_are_refused(parameters, error, message):
    X, y, _ = make_data(LOSSES["hinge"]())
    with pytest.raises(error, match=message):
        QSVC(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (np.ones(3), "one number for each of the 30"),
        (-np.ones(30), "must not be negative"),
        (np.zeros(30), "must not be zero for all"),
    ],
)
def test_bad_sample_weights_are_refused(s, message):
    X, y, _ = make_data(LOSSES["hinge"]())
    with pytest.raises(ValueError, match=message):
        QSVC().fit(X, y, sample_weight=s)


def test_a_regressor_refuses_losses_of_classes():
    X, y, _ = make_data(LOSSES["squared"]())
    with pytest.raises(ValueError, match="is for classes"):
        QSVR(loss="hinge").fit(X, y)


def test_parameters_of_a_named_loss_can_be_searched():
    X, y, _ = make_data(LOSSES["squared"]())
    Q = positive_definite(np.random.default_rng(20), X.shape[1])
    grid = {"loss__epsilon": [0.1, 2.0], "ridge": [0.0, 0.1], "C": [0.1, 1.0]}
    search = GridSearchCV(QSVR(Q), grid, cv=3).fit(X, y)
    assert isinstance(search.best_estimator_.loss, EpsilonInsensitive)
    copy = clone(QSVR(Q))
    assert np.array_equal(copy.Q, Q)


def test_fit_leaves_its_input_alone():
    X, y, _ = make_data(LOSSES["hinge"]())
    Q = positive_definite(np.random.default_rng(21), X.shape[1])
    for array in (X, y, Q):
        array.flags.writeable = False
    before = Q.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in FORMS:
            QSVC(Q, ridge=0.1, form=form).fit(X, y)
    assert np.array_equal(Q, before)
