"""Every builder of Q against an independent computation, and scaling and repair."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import make_problem, random_grams
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

import multikernel.interactions._machines as machines_module
import multikernel.interactions.kernel_alignment as alignment_module
from multikernel import (
    DualCovariance,
    ErrorCorrelation,
    GraphLaplacian,
    Hinge,
    KernelAlignment,
    Logistic,
    Multinomial,
    PackedBank,
    SourceBlocks,
    Squared,
    Uniform,
    nearest_psd,
)
from multikernel.interactions import Fixed, Normalized, Repaired, unit_inverse_spectrum, unit_trace
from multikernel.interactions._machines import assign_folds
from multikernel.solvers import fit_fixed_weights

SOURCES = list("aabbcc")


def grams_of(problem):
    return np.stack([problem.bank.gram(m) for m in range(problem.bank.n_kernels)])


def svc_coefficients(K, y, C):
    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = machine.dual_coef_[0]
    return alpha


def test_dual_covariance_is_that_of_support_vector_machines():
    problem = make_problem(Hinge(), Uniform(), C=3.0)
    A = [svc_coefficients(K, problem.y[:, 0], 3.0) for K in grams_of(problem)]
    cov = np.cov(A)
    assert_allclose(
        DualCovariance().matrix(problem, SOURCES), cov * 6 / np.trace(cov), rtol=1e-5, atol=1e-6
    )
    assert_allclose(
        DualCovariance(correlation=True).matrix(problem, SOURCES), np.corrcoef(A), atol=1e-6
    )


def test_dual_covariance_stacks_outputs():
    """Kernel ridge has closed coefficients: α = (K + I/C)⁻¹ Y."""
    problem = make_problem(Squared(), Uniform(), n_outputs=3, C=2.0, fit_intercept=False)
    A = [np.linalg.solve(K + 0.5 * np.eye(30), problem.y).ravel() for K in grams_of(problem)]
    Q = DualCovariance(correlation=True).matrix(problem, SOURCES)
    assert_allclose(Q, np.corrcoef(A), atol=1e-6)


@pytest.mark.parametrize("given", [Logistic(), Multinomial()], ids=repr)
def test_dual_covariance_with_a_loss_of_its_own(given):
    problem = make_problem(given, Uniform(), C=3.0)
    signs = np.where(problem.y > 0, 1.0, -1.0)
    A = [
        np.stack([svc_coefficients(K, y, 3.0) for y in signs.T], axis=1).ravel()
        for K in grams_of(problem)
    ]
    Q = DualCovariance(correlation=True, loss="hinge").matrix(problem, SOURCES)
    assert_allclose(Q, np.corrcoef(A), atol=1e-5)


def test_dual_covariance_does_not_grow_with_the_cost():
    """Otherwise the constraint would cancel C."""
    for C in (1e-3, 1.0, 1e3):
        Q = DualCovariance().matrix(make_problem(Hinge(), Uniform(), C=C), SOURCES)
        assert_allclose(np.trace(Q), 6)


def held_out(K, y, C, n_folds):
    """Out-of-fold predictions of kernel ridge by scikit-learn, on folds written out again."""
    fold = np.empty(len(y), dtype=int)
    for position, i in enumerate(sorted(range(len(y)), key=lambda i: (y[i], i))):
        fold[i] = position % n_folds
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
    return cross_val_predict(KernelRidge(alpha=1 / C, kernel="precomputed"), K, y, cv=splits)


def test_held_out_coefficients_and_errors_are_residuals_of_kernel_ridge():
    problem = make_problem(Squared(), Uniform(), C=2.0, fit_intercept=False)
    y = problem.y[:, 0]
    corr = np.corrcoef([y - held_out(K, y, 2.0, 4) for K in grams_of(problem)])
    assert_allclose(ErrorCorrelation(n_folds=4).matrix(problem, SOURCES), corr, atol=1e-7)
    Q = DualCovariance(correlation=True, n_folds=4).matrix(problem, SOURCES)
    assert_allclose(Q, corr, atol=1e-7)
    assert not np.allclose(
        corr, DualCovariance(correlation=True).matrix(problem, SOURCES), atol=0.01
    )


def test_errors_on_labels_are_losses():
    problem = make_problem(Hinge(), Uniform(), n=24, C=2.0)
    y = problem.y[:, 0]
    fold = assign_folds(problem.y, 3)
    losses = []
    for K in grams_of(problem):
        z = np.empty(24)
        for k in range(3):
            a, b = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            machine = SVC(C=2.0, kernel="precomputed", tol=1e-10).fit(K[np.ix_(a, a)], y[a])
            z[b] = machine.decision_function(K[np.ix_(b, a)])
        losses.append(np.maximum(0, 1 - y * z))
    Q = ErrorCorrelation(n_folds=3).matrix(problem, SOURCES)
    assert_allclose(Q, np.corrcoef(losses), atol=1e-4)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), n_folds=st.integers(2, 6))
def test_folds_are_stratified_balanced_and_always_the_same(seed, n, n_folds):
    y = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, 1))
    fold = assign_folds(y, n_folds)
    for rows in (np.ones(n, dtype=bool), y[:, 0] > 0, y[:, 0] < 0):
        sizes = np.bincount(fold[rows], minlength=n_folds)
        assert np.ptp(sizes) <= 1
    assert np.array_equal(fold, assign_folds(y, n_folds))


def test_a_class_of_one_sample_is_no_obstacle():
    problem = make_problem(Hinge(), Uniform())
    y = np.ones((30, 1))
    y[3] = -1.0
    Q = ErrorCorrelation().matrix(replace(problem, y=y), SOURCES)
    assert np.isfinite(Q).all()


def centred_alignment(Ks):
    n = Ks.shape[1]
    H = np.eye(n) - np.ones((n, n)) / n
    centred = [H @ K @ H for K in Ks]
    norms = [np.sqrt(np.sum(K * K)) for K in centred]
    return np.array(
        [
            [np.sum(a * b) / (s * t) for b, t in zip(centred, norms, strict=True)]
            for a, s in zip(centred, norms, strict=True)
        ]
    )


@pytest.mark.parametrize("batch_bytes", [1, 8000, 1 << 28])
def test_alignment_is_the_cosine_of_centred_kernels(monkeypatch, batch_bytes):
    monkeypatch.setattr(alignment_module, "_BATCH_BYTES", batch_bytes)
    problem = make_problem(Squared(), Uniform())
    Q = KernelAlignment().matrix(problem, SOURCES)
    assert_allclose(Q, centred_alignment(grams_of(problem)), rtol=1e-12, atol=1e-13)
    assert np.array_equal(np.diag(Q), np.ones(6))


def test_alignment_ignores_scale_offset_and_targets(rng):
    problem = make_problem(Squared(), Uniform())
    changed = [10.0 ** (60 * (m - 3)) * (K + m) for m, K in enumerate(grams_of(problem))]
    other = replace(problem, bank=PackedBank.from_grams(changed), y=rng.normal(size=(30, 2)))
    ours, theirs = (KernelAlignment().matrix(p, SOURCES) for p in (problem, other))
    assert_allclose(ours, theirs, atol=1e-12)


def test_a_constant_kernel_is_aligned_with_no_other():
    grams = random_grams(np.random.default_rng(0), 20, 3)
    grams[1] = 7.3
    problem = replace(make_problem(Squared(), Uniform(), n=20), bank=PackedBank.from_grams(grams))
    Q = KernelAlignment().matrix(problem, "abc")
    assert np.array_equal(Q[1], [0.0, 1.0, 0.0])
    assert Q[0, 2] > 0


def test_laplacian_charges_differences_of_weights(rng):
    likeness = np.array([[4.0, 1.0, -2.0], [1.0, 1.0, 0.5], [-2.0, 0.5, 9.0]])
    problem = make_problem(Squared(), Uniform(), M=3)
    Q = GraphLaplacian(Fixed(likeness)).matrix(problem, "abc")
    d = rng.random(3)
    W01, W12 = 1 / (2 * 1), 0.5 / (1 * 3)  # entries over roots of diagonals; −2 counts as 0
    expected = W01 * (d[0] - d[1]) ** 2 + W12 * (d[1] - d[2]) ** 2
    assert_allclose(d @ Q @ d, expected, rtol=1e-12)
    ridged = GraphLaplacian(Fixed(likeness), ridge=0.3).matrix(problem, "abc")
    assert_allclose(ridged - Q, 0.3 * np.mean(np.diag(Q)) * np.eye(3), atol=1e-15)


def test_laplacian_of_a_graph_without_edges_is_its_ridge():
    problem = make_problem(Squared(), Uniform(), M=3)
    Q = GraphLaplacian(Fixed(np.diag([1.0, 2.0, 0.0])), ridge=0.3).matrix(problem, "abc")
    assert_allclose(Q, 0.3 * np.eye(3))


def test_blocks_follow_sources_or_labels():
    problem = make_problem(Squared(), Uniform())
    Q = SourceBlocks().matrix(problem, list("abcabc"))
    assert np.array_equal(Q, np.kron(np.ones((2, 2)), np.eye(3)))
    assert np.array_equal(SourceBlocks(groups="abcabc").matrix(problem, SOURCES), Q)
    labels = [("x", 1), ("x", 2), ("x", 1), 3, 3, 3]
    Q = SourceBlocks(groups=labels).matrix(problem, SOURCES)
    assert np.array_equal(Q, [[a == b for b in labels] for a in labels])


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_threads_change_nothing_and_leave_warnings_and_blas_alone():
    problem = make_problem(Hinge(), Uniform(), n=60, M=20)
    with threadpool_limits(2, user_api="blas"):
        filters, threads = list(warnings.filters), blas_threads()
        one = DualCovariance().matrix(problem, "a" * 20)
        many = DualCovariance(n_jobs=4).matrix(problem, "a" * 20)
        assert warnings.filters == filters
        assert blas_threads() == threads
    assert_allclose(one, many, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_leave_one_thread_to_blas_each(monkeypatch, n_jobs):
    seen = []

    def spy(problem, K, tol):
        seen.append(blas_threads())
        warnings.warn("of one machine", ConvergenceWarning, stacklevel=2)
        return fit_fixed_weights(problem, K, tol)

    monkeypatch.setattr(machines_module, "fit_fixed_weights", spy)
    with threadpool_limits(2, user_api="blas"):
        expected = blas_threads() if n_jobs == 1 else 1  # one library may have a limit of its own
        DualCovariance(n_jobs=n_jobs).matrix(make_problem(Squared(), Uniform()), SOURCES)
    assert len(seen) == 6
    assert np.all(np.array(seen) == expected)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), M=st.integers(1, 8), log_scale=st.floats(-5, 5))
def test_spectra_and_traces_are_brought_to_one(seed, M, log_scale):
    A = np.random.default_rng(seed).normal(size=(M, M + 2)) * 10**log_scale
    Q = A @ A.T
    for how in ("scale", "shift"):
        normalized = unit_inverse_spectrum(Q, how)
        assert np.array_equal(normalized, normalized.T)
        inverse = np.linalg.eigvalsh(np.linalg.inv(normalized))
        assert inverse[0] > 0
        assert_allclose(inverse[-1], 1, rtol=1e-6 if how == "scale" else 1e-4)
    assert_allclose(np.trace(unit_trace(Q)), M, rtol=1e-12)
    assert_allclose(unit_trace(Q) * np.trace(Q) / M, Q, rtol=1e-12)


def test_shifting_keeps_interactions_and_takes_indefinite_matrices():
    Q = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert_allclose(unit_inverse_spectrum(Q, "shift"), [[3.0, 2.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -2.*how='shift'"):
        unit_inverse_spectrum(Q)
    with pytest.raises(ValueError, match="how must be 'scale' or 'shift'"):
        unit_inverse_spectrum(Q, "both")
    with pytest.raises(ValueError, match="positive trace"):
        unit_trace(Q)
    with pytest.raises(ValueError, match="must be symmetric"):
        unit_trace(np.array([[1.0, 2.0], [0.0, 1.0]]))


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_repair_and_normalization_are_steps_of_a_recipe(method, rng):
    A = rng.normal(size=(6, 6))
    problem, indefinite = make_problem(Squared(), Uniform()), A + A.T
    assert np.linalg.eigvalsh(indefinite)[0] < -1
    repaired = Repaired(Fixed(indefinite), method=method)
    Q = repaired.matrix(problem, SOURCES)
    assert np.linalg.eigvalsh(Q)[0] >= -1e-12
    assert_allclose(Q, nearest_psd(indefinite, method))
    for how, expected in [("trace", unit_trace(Q)), ("shift", unit_inverse_spectrum(Q, "shift"))]:
        assert_allclose(Normalized(repaired, how).matrix(problem, SOURCES), expected, rtol=1e-12)


def test_a_fixed_matrix_loses_its_rounding():
    Q = np.eye(6)
    Q[0, 1], Q[1, 0] = 0.3, 0.1 * 3
    assert Q[0, 1] != Q[1, 0]
    fixed = Fixed(Q).matrix(make_problem(Squared(), Uniform()), SOURCES)
    assert np.array_equal(fixed, fixed.T)
    assert Q[0, 1] != Q[1, 0]


def test_held_out_machines_use_sample_weights_and_offsets():
    problem = make_problem(Squared(), Uniform(), M=3, weighted=True, fit_intercept=False)
    s, y = problem.sample_weight, problem.y[:, 0]
    fold = assign_folds(problem.y, 3)
    errors = []
    for K in grams_of(problem):
        z = np.empty(30)
        for k in range(3):
            a, b = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            machine = KernelRidge(alpha=1.0, kernel="precomputed")
            z[b] = machine.fit(K[np.ix_(a, a)], y[a], s[a]).predict(K[np.ix_(b, a)])
        errors.append(y - z)
    corr = np.cov(errors, aweights=s)
    corr /= np.sqrt(np.outer(np.diag(corr), np.diag(corr)))
    assert_allclose(ErrorCorrelation(3).matrix(problem, "abc"), corr, atol=1e-7)
    moved = replace(problem, y=problem.y + 2.0, offset=np.full_like(problem.y, 2.0))
    assert_allclose(ErrorCorrelation(3).matrix(moved, "abc"), corr, atol=1e-7)


def test_held_out_intercepts_are_used():
    problem = make_problem(Squared(), Uniform(), M=2)
    x = np.linspace(-1, 1, 30)[:, None]
    bank = PackedBank.from_grams([x @ x.T, (x**2) @ (x**2).T])
    shifted = replace(problem, bank=bank, y=problem.y + 100)
    y, errors = shifted.y[:, 0], []
    fold = assign_folds(shifted.y, 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    errors = [y - cross_val_predict(Ridge(alpha=1.0), Z, y, cv=splits) for Z in (x, x**2)]
    Q = ErrorCorrelation(3).matrix(shifted, "ab")
    assert_allclose(Q, np.corrcoef(errors), atol=1e-6)


def test_unsigned_coefficients_forget_the_labels():
    """With the hinge loss sizes are y times the signed coefficients."""
    problem = make_problem(Hinge(), Uniform(), n=30)
    alphas = np.stack(
        [fit_fixed_weights(problem, problem.bank.combine(e), 1e-8).alpha for e in np.eye(6)]
    )
    sizes = (alphas * problem.y).reshape(6, -1)
    expected = np.cov(sizes)
    expected *= 6 / np.trace(expected)
    assert_allclose(DualCovariance(signed=False).matrix(problem, SOURCES), expected, atol=1e-6)
    assert not np.allclose(DualCovariance().matrix(problem, SOURCES), expected, atol=1e-2)
