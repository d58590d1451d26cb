"""What every solver promises, and the limits in which the answer is known from elsewhere."""

from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from helpers import draw_targets, instances
from numpy.testing import assert_allclose
from oracle import objective_by_hand, solve_with_cvxpy
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from multikernel._component import concrete_subclasses
from multikernel.banks import FactoredBank, PackedBank
from multikernel.losses import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Multinomial,
    Squared,
    SquaredHinge,
)
from multikernel.regularizers import (
    REGULARIZERS,
    BlockNorm,
    ElasticNet,
    GroupNorm,
    LpNorm,
    QNorm,
    TaskCoupling,
    Uniform,
    Wedge,
    ivanov_to_tikhonov,
    tikhonov_to_ivanov,
)
from multikernel.solvers import SOLVERS, Alternating, NewtonWeights, Problem, Solver, choose_solver

N_SAMPLES, N_KERNELS = 12, 6
SMOOTH = [Squared(), Logistic(), SquaredHinge(), Huber(), Multinomial()]
KINKED = [Hinge(), Absolute(), EpsilonInsensitive()]
EVEN = [LpNorm(p=2.0), LpNorm(p=2.0, form="ivanov"), ElasticNet(), Uniform(), BlockNorm()]


def make_grams(rng, n_samples=N_SAMPLES, n_kernels=N_KERNELS):
    """Random kernels, every other one Gaussian and linear of rank three, of unit mean diagonal."""
    Ks = []
    for m in range(n_kernels):
        X = rng.normal(size=(n_samples, 3))
        gaussian = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=-1) / 3)
        K = gaussian if m % 2 else X @ X.T
        Ks.append(K * n_samples / np.trace(K))
    return Ks


@cache
def grams():
    return make_grams(np.random.default_rng(3))


@cache
def bank():
    return PackedBank.from_grams(grams())


def make_problem(loss, regularizer, seed=0, C=2.0, Ks=None, n_outputs=1, **settings):
    Ks = grams() if Ks is None else Ks
    rng = np.random.default_rng(seed)
    n_outputs = max(n_outputs, 3) if loss.couples_outputs else n_outputs
    y = draw_targets(loss.y_domain, rng, len(Ks[0]), n_outputs)
    if loss.y_domain == "sign":
        y[0], y[1] = 1.0, -1.0  # both classes
    kernels = bank() if Ks is grams() else PackedBank.from_grams(Ks)
    return Problem(kernels, y, loss, regularizer, C, **settings)


def solve(problem, tol=1e-8, max_iter=500, start=None):
    return choose_solver(problem, tol=tol, max_iter=max_iter).solve(problem, start)


def predictions(problem, solution):
    f = problem.bank.combine(solution.weights) @ solution.dual_coef
    return f + solution.intercept + problem.known


def assert_honest(problem, solution, Ks, rel=1e-9):
    """The objective is that of the returned point, and the bound is below it."""
    by_hand = objective_by_hand(
        Ks,
        problem.y,
        problem.loss,
        problem.regularizer,
        problem.C,
        problem.sample_weight,
        solution.weights,
        solution.dual_coef,
        solution.intercept,
        problem.known,
    )
    assert solution.objective == pytest.approx(by_hand, rel=rel)
    assert solution.dual_objective <= solution.objective * (1 + 1e-12)
    gap = (solution.objective - solution.dual_objective) / solution.objective
    assert solution.gap == pytest.approx(max(gap, 0.0), abs=1e-12)
    G = np.array([np.sum(solution.dual_coef * (K @ solution.dual_coef)) for K in Ks])
    assert_allclose(solution.sq_norms, solution.weights**2 * G, rtol=1e-7, atol=1e-12)


def applicable(problem):
    reduced, _ = problem.without_atoms
    return {name: cls for name, cls in SOLVERS.items() if not cls.missing(reduced)}


def test_every_solver_is_registered():
    assert set(concrete_subclasses(Solver)) == set(SOLVERS.values())


@pytest.mark.parametrize("solver", instances(SOLVERS), ids=repr)
def test_solvers_are_components(solver):
    assert repr(clone(solver)) == repr(solver)
    assert clone(solver).set_params(tol=0.5).tol == 0.5


# --- agreement, certificates and warm starts over the registries ---

QUICK = [  # no numerical conjugation: it is slow, and test_oracle.py has it
    part for part in instances(REGULARIZERS) if not hasattr(part, "derivative")
]


@pytest.mark.parametrize("regularizer", QUICK, ids=repr)
@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
def test_solvers_agree_and_certify(loss, regularizer):
    seed = len(repr(loss)) + len(repr(regularizer))
    problem = make_problem(loss, regularizer, seed=seed, fit_intercept=bool(seed % 2))
    reference = solve(problem, tol=1e-6)
    for cls in applicable(problem).values():
        tol = 1e-4 if cls is Alternating else 1e-6  # sparse weights take it thousands of rounds
        solution = cls(tol=tol, max_iter=1000).solve(problem)
        assert solution.converged
        assert solution.gap <= tol
        assert solution.solver == cls.__name__
        assert solution.n_iter == len(solution.history["objective"])
        assert solution.n_passes > 0
        assert_honest(problem, solution, grams())
        assert solution.objective == pytest.approx(reference.objective, rel=1.01 * tol)
        assert solution.dual_objective <= reference.objective * (1 + 1e-9)
        assert reference.dual_objective <= solution.objective * (1 + 1e-9)


@pytest.mark.parametrize("regularizer", QUICK, ids=repr)
@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Multinomial()], ids=repr)
def test_warm_start_from_a_solution_is_immediate(loss, regularizer):
    problem = make_problem(loss, regularizer, seed=5)
    solution = solve(problem, tol=1e-6)
    again = solve(problem, tol=1e-6, start=solution)
    assert again.n_iter <= 2
    assert again.objective == pytest.approx(solution.objective, rel=2e-6)


def test_warm_start_along_a_path_saves_rounds():
    problem = make_problem(Logistic(), LpNorm(p=1.0), C=2.0)
    start = solve(problem)
    harder = replace(problem, C=2.2)
    cold, warm = solve(harder), solve(harder, start=start)
    assert warm.n_iter <= cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared()], ids=repr)
@pytest.mark.parametrize(
    "regularizer",
    [
        LpNorm(p=1.0),
        LpNorm(p=3.0),
        LpNorm(p=2.0, form="ivanov"),
        ElasticNet(),
        Wedge(),
        GroupNorm([0, 0, 1, 1, 1, 2], within=2.0, across=1.5),
        TaskCoupling(n_tasks=2),
    ],
    ids=repr,
)
def test_alternating_never_increases_the_objective(loss, regularizer):
    problem = make_problem(loss, regularizer, seed=1)
    values = []
    objective = Problem.objective

    def recorded(self, d, G, z):
        values.append(objective(self, d, G, z))
        return values[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "objective", recorded)
        solution = Alternating(tol=1e-4, max_iter=1000).solve(problem)
    assert solution.n_iter > 2
    assert np.all(np.diff(values) <= 1e-5 * np.abs(values[1:]))  # machines are solved to 1e-5
    assert np.all(np.diff(solution.history["objective"]) <= 0)
    assert np.all(np.diff(solution.history["seconds"]) >= 0)
    assert np.all(np.diff(solution.history["n_passes"]) > 0)


# --- symmetries and degenerate banks ---


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Multinomial()], ids=repr)
@pytest.mark.parametrize(
    "regularizer", [LpNorm(p=1.0), LpNorm(p=1.0, form="ivanov"), *EVEN], ids=repr
)
def test_permuted_kernels_permute_the_weights(loss, regularizer):
    order = np.array([3, 0, 5, 1, 4, 2])
    problem = make_problem(loss, regularizer)
    permuted = replace(problem, bank=PackedBank.from_grams([grams()[m] for m in order]))
    one, other = solve(problem, tol=1e-10), solve(permuted, tol=1e-10)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)
    assert_allclose(other.weights, one.weights[order], atol=2e-4 * np.max(one.weights))


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared()], ids=repr)
@pytest.mark.parametrize("regularizer", EVEN, ids=repr)
def test_duplicated_kernels_share_their_weight(loss, regularizer):
    problem = make_problem(loss, regularizer, Ks=[*grams()[:3], grams()[0]])
    solution = solve(problem, tol=1e-9)
    assert solution.weights[0] == pytest.approx(solution.weights[3], rel=1e-4)


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared(), Multinomial()], ids=repr)
def test_duplicated_kernels_change_nothing_under_block_one(loss):
    Ks = grams()[:3]
    once = make_problem(loss, LpNorm(p=1.0), Ks=Ks)
    twice = make_problem(loss, LpNorm(p=1.0), Ks=[*Ks, Ks[0], Ks[1]])
    one, other = solve(once), solve(twice)
    assert other.objective == pytest.approx(one.objective, rel=2e-8)
    assert_allclose(predictions(twice, other), predictions(once, one), atol=1e-3)
    merged = other.weights[:3] + np.append(other.weights[3:], 0.0)
    assert_allclose(merged, one.weights, atol=1e-3)


REGULARIZERS_FOR_ANY_M = [
    LpNorm(p=1.0),
    LpNorm(p=2.0),
    LpNorm(p=1.0, form="ivanov"),
    LpNorm(p=2.0, form="ivanov"),
    Uniform(),
    BlockNorm(),
    ElasticNet(),
    Wedge(),
]


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=repr)
@pytest.mark.parametrize("regularizer", REGULARIZERS_FOR_ANY_M, ids=repr)
@pytest.mark.parametrize("case", ["zero", "rank-one", "many", "single", "two-samples"])
def test_degenerate_banks(loss, regularizer, case):
    rng = np.random.default_rng(11)
    Ks = {
        "zero": lambda: [*grams()[:2], np.zeros((N_SAMPLES, N_SAMPLES))],
        "rank-one": lambda: [np.outer(v, v) for v in rng.normal(size=(4, N_SAMPLES))],
        "many": lambda: make_grams(rng, n_samples=5, n_kernels=12),
        "single": lambda: grams()[:1],
        "two-samples": lambda: [np.eye(2), np.array([[2.0, 1.0], [1.0, 1.0]])],
    }[case]()
    problem = make_problem(loss, regularizer, Ks=Ks)
    solution = solve(problem, tol=1e-8 if loss.smooth else 1e-6, max_iter=1000)
    assert solution.converged
    assert np.all(np.isfinite(solution.dual_coef))
    assert np.all(np.isfinite(solution.intercept))
    assert_honest(problem, solution, Ks)
    if case in ("rank-one", "many"):
        answer = solve_with_cvxpy(Ks, problem.y, loss, regularizer, problem.C)
        assert solution.objective == pytest.approx(answer.objective, rel=1e-6)


@pytest.mark.parametrize("form", ["tikhonov", "ivanov"])
def test_more_kernels_than_newton_starts_with(form):
    rng = np.random.default_rng(4)
    Ks = make_grams(rng, n_samples=12, n_kernels=40)
    regularizers = [
        GroupNorm(groups=[m % 5 for m in range(40)], within=3.0, across=1.0, form=form),
        QNorm(0.3 * np.eye(40) + np.kron(np.eye(8), np.ones((5, 5))), form=form),
    ]
    for regularizer in regularizers:
        problem = make_problem(Hinge(), regularizer, Ks=Ks)
        solution = NewtonWeights(tol=1e-7).solve(problem)
        answer = solve_with_cvxpy(Ks, problem.y, Hinge(), regularizer, problem.C)
        assert solution.objective == pytest.approx(answer.objective, rel=1e-6)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=repr)
def test_one_kernel_has_one_weight(loss):
    problem = make_problem(loss, LpNorm(p=2.0, form="ivanov"), Ks=grams()[1:2])
    bounded, summed = solve(problem), solve(replace(problem, regularizer=Uniform()))
    assert_allclose(bounded.weights, 1.0, rtol=1e-9)
    assert bounded.objective == pytest.approx(summed.objective, rel=1e-7)
    solution = solve(replace(problem, regularizer=LpNorm(p=2.0)), tol=1e-10)
    norm = np.sqrt(solution.sq_norms[0])
    assert solution.weights[0] == pytest.approx(norm ** (2 / 3), rel=1e-4)  # d = x^(1/(1+p))


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Multinomial()], ids=repr)
@pytest.mark.parametrize("regularizer", [LpNorm(p=1.0), ElasticNet(), Wedge()], ids=repr)
def test_inputs_are_only_read(loss, regularizer):
    rng = np.random.default_rng(2)
    problem = make_problem(loss, regularizer, sample_weight=rng.uniform(0.5, 2, N_SAMPLES))
    problem = replace(problem, offset=rng.normal(size=problem.y.shape))
    Ks = [K.copy() for K in grams()]
    for array in (*Ks, problem.y, problem.sample_weight, problem.offset):
        array.flags.writeable = False
    problem = replace(problem, bank=PackedBank.from_grams(Ks))
    start = solve(problem, tol=1e-4)
    start.weights.flags.writeable = start.dual_coef.flags.writeable = False
    start.intercept.flags.writeable = False
    for cls in applicable(problem).values():
        cls(tol=1e-4, max_iter=1000).solve(problem, start)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=repr)
def test_a_factored_bank_gives_the_same_answer(loss, rng):
    Zs = [rng.normal(size=(N_SAMPLES, r)) for r in (1, 2, 3)]
    problem = make_problem(loss, ElasticNet(), Ks=[Z @ Z.T for Z in Zs])
    expected = solve(problem)
    factored = replace(problem, bank=FactoredBank(Zs))
    for cls in applicable(factored).values():
        solution = cls(tol=1e-6, max_iter=1000).solve(factored)
        assert_honest(factored, solution, [Z @ Z.T for Z in Zs])
        assert solution.objective == pytest.approx(expected.objective, rel=1.1e-6)


# --- outputs, offsets, sample weights ---


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", [LpNorm(p=1.0), LpNorm(p=2.0), Wedge()], ids=repr)
@pytest.mark.parametrize(
    "loss", [loss for loss in (*SMOOTH, *KINKED) if not loss.couples_outputs], ids=repr
)
def test_outputs_share_their_weights(loss, regularizer, fit_intercept):
    problem = make_problem(loss, regularizer, n_outputs=3, fit_intercept=fit_intercept)
    solution = solve(problem, tol=1e-8 if loss.smooth else 1e-6)
    assert solution.weights.shape == (N_KERNELS,)
    assert solution.dual_coef.shape == (N_SAMPLES, 3)
    assert solution.intercept.shape == (3,)
    assert_honest(problem, solution, grams())
    answer = solve_with_cvxpy(
        grams(), problem.y, loss, regularizer, problem.C, fit_intercept=fit_intercept
    )
    assert solution.objective == pytest.approx(answer.objective, rel=1e-6)
    assert_allclose(predictions(problem, solution), answer.predictions, atol=5e-3)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=repr)
def test_a_repeated_output_is_twice_the_cost(loss):
    if loss.couples_outputs:
        pytest.skip("its outputs are classes")
    once = make_problem(loss, LpNorm(p=2.0, form="ivanov"))
    twice = replace(once, y=np.hstack([once.y, once.y]))
    one, other = solve(once), solve(twice)
    assert other.objective == pytest.approx(2 * one.objective, rel=1e-7)
    assert_allclose(other.weights, one.weights, atol=1e-3)


@pytest.mark.parametrize("regularizer", [LpNorm(p=1.0), ElasticNet(), BlockNorm()], ids=repr)
@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=repr)
def test_offset_is_part_of_the_prediction(loss, regularizer):
    problem = make_problem(loss, regularizer)
    offset = np.random.default_rng(4).normal(size=problem.y.shape)
    shifted = replace(problem, offset=offset)
    solution = solve(shifted, tol=1e-8 if loss.smooth else 1e-6)
    assert_honest(shifted, solution, grams())
    answer = solve_with_cvxpy(grams(), problem.y, loss, regularizer, problem.C, offset=offset)
    assert solution.objective == pytest.approx(answer.objective, rel=1e-6)


@pytest.mark.parametrize("loss", [Squared(), Absolute()], ids=repr)
def test_offset_of_a_regression_is_a_change_of_target(loss):
    problem = make_problem(loss, ElasticNet())
    offset = np.linspace(-1, 1, N_SAMPLES)[:, None]
    moved = replace(problem, y=problem.y - offset)
    one, other = solve(replace(problem, offset=offset)), solve(moved)
    assert other.objective == pytest.approx(one.objective, rel=1e-7)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=repr)
def test_a_sample_of_weight_two_is_two_samples(loss):
    weight = np.ones(N_SAMPLES)
    weight[:4] = 2.0
    problem = make_problem(loss, ElasticNet(), sample_weight=weight)
    index = np.append(np.arange(N_SAMPLES), np.arange(4))
    repeated = Problem(
        PackedBank.from_grams([K[np.ix_(index, index)] for K in grams()]),
        problem.y[index],
        loss,
        ElasticNet(),
        problem.C,
    )
    one, other = solve(problem, tol=1e-6), solve(repeated, tol=1e-6)
    assert other.objective == pytest.approx(one.objective, rel=2e-6)


# --- answers known from elsewhere ---


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_uniform_weights_with_hinge_are_a_support_vector_machine(C):
    problem = make_problem(Hinge(), Uniform(), C=C)
    machine = SVC(C=C, kernel="precomputed", tol=1e-12).fit(sum(grams()), problem.y.ravel())
    solution = solve(problem, tol=1e-10)
    alpha = np.zeros((N_SAMPLES, 1))
    alpha[machine.support_, 0] = machine.dual_coef_[0]
    f = sum(grams()) @ alpha
    dual = np.sum(problem.y * alpha) - np.sum(alpha * f) / 2
    assert solution.objective == pytest.approx(dual, rel=1e-8)
    assert_allclose(predictions(problem, solution) - solution.intercept, f, atol=1e-5)
    decision = machine.decision_function(sum(grams()))[:, None]
    assert solution.objective <= problem.data_term(decision) + np.sum(alpha * f) / 2


def test_uniform_weights_with_tube_are_support_vector_regression():
    problem = make_problem(EpsilonInsensitive(epsilon=0.2), Uniform())
    machine = SVR(C=2.0, epsilon=0.2, kernel="precomputed", tol=1e-12)
    fitted = machine.fit(sum(grams()), problem.y.ravel()).predict(sum(grams()))
    solution = solve(problem, tol=1e-10)
    f = predictions(problem, solution).ravel()
    assert_allclose(f - solution.intercept, fitted - machine.intercept_, atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_uniform_weights_with_squares_are_kernel_ridge(C):
    problem = make_problem(Squared(), Uniform(), C=C, fit_intercept=False)
    ridge = KernelRidge(alpha=1 / C, kernel="precomputed").fit(sum(grams()), problem.y)
    solution = solve(problem, tol=1e-12)
    assert_allclose(solution.dual_coef, ridge.dual_coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(predictions(problem, solution), ridge.predict(sum(grams())), rtol=1e-8)


@pytest.mark.parametrize("overlap", [False, True])
def test_linear_kernels_under_block_one_are_the_group_lasso(overlap, rng):
    X, y = rng.normal(size=(20, 6)), rng.normal(size=(20, 1))
    columns = [[0, 1, 2], [2, 3], [4, 5]] if overlap else [[0, 1], [2, 3], [4, 5]]
    C = 0.5
    parts = [cp.Variable(len(group)) for group in columns]
    coefficients = sum(np.eye(6)[:, group] @ w for group, w in zip(columns, parts, strict=True))
    lasso = cp.Minimize(
        C * cp.sum_squares(y.ravel() - X @ coefficients) / 2 + sum(cp.norm(w) for w in parts)
    )
    objective = cp.Problem(lasso).solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_feas=1e-10)
    linear = PackedBank.from_grams([X[:, group] @ X[:, group].T for group in columns])
    problem = Problem(linear, y, Squared(), LpNorm(p=1.0), C, fit_intercept=False)
    solution = solve(problem)
    assert solution.objective == pytest.approx(objective, rel=1e-7)
    found = np.zeros(6)
    for group, d in zip(columns, solution.weights, strict=True):
        found[group] += d * (X[:, group].T @ solution.dual_coef).ravel()
    assert_allclose(found, coefficients.value, atol=1e-4)


@pytest.mark.parametrize("regularizer", [LpNorm(p=1.0), ElasticNet(), LpNorm(p=2.0)], ids=repr)
def test_huber_far_out_is_squared_and_tube_without_width_is_absolute(regularizer):
    problem = make_problem(Squared(), regularizer)
    one = solve(problem)
    other = solve(replace(problem, loss=Huber(delta=1e3)))
    assert_allclose(other.weights, one.weights, atol=1e-6)
    assert_allclose(predictions(problem, other), predictions(problem, one), atol=1e-6)
    median, tube = (
        solve(replace(problem, loss=loss)) for loss in (Absolute(), EpsilonInsensitive(epsilon=0.0))
    )
    assert tube.objective == pytest.approx(median.objective, rel=2e-8)


@pytest.mark.parametrize(
    "regularizer",
    [
        LpNorm(p=1.0),
        LpNorm(p=2.0),
        GroupNorm([0, 0, 1, 1, 1, 2]),
        GroupNorm([0, 0, 1, 1, 1, 2], within=2.0, across=1.5),
    ],
    ids=repr,
)
@pytest.mark.parametrize("loss", [Logistic(), Squared(), Hinge()], ids=repr)
def test_penalised_and_constrained_problems_have_one_predictor(loss, regularizer):
    problem = make_problem(loss, regularizer)
    penalised = solve(problem, tol=1e-10)
    there = tikhonov_to_ivanov(regularizer, problem.C, penalised.weights)
    bounded_problem = replace(problem, regularizer=there.regularizer, C=there.C)
    bounded = solve(bounded_problem, tol=1e-10)
    expected = predictions(problem, penalised)
    assert_allclose(predictions(bounded_problem, bounded), expected, atol=1e-3)
    assert_allclose(bounded.weights, there.weights, atol=1e-3)
    back = ivanov_to_tikhonov(there.regularizer, there.C, bounded.weights, bounded.sq_norms)
    assert_allclose(back.C, problem.C, rtol=1e-3)
    assert_allclose(back.weights, penalised.weights, atol=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "regularizer",
    [
        LpNorm(p=1.0),
        ElasticNet(),
        Wedge(),
        GroupNorm([0, 0, 1, 1, 1, 2]),
        GroupNorm([0, 0, 1, 1, 1, 2], within=3.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_below_the_critical_value_the_predictor_is_constant(loss, regularizer, fit_intercept):
    problem = make_problem(loss, regularizer, C=1.0, fit_intercept=fit_intercept)
    alpha = problem.constant_predictor()[1]  # −ℓ′ at the best constant
    G = np.array([np.sum(alpha * (K @ alpha)) for K in grams()])
    critical = _critical_value(regularizer, G)
    below = solve(replace(problem, C=0.98 * critical))
    above = solve(replace(problem, C=1.02 * critical), tol=1e-10)
    assert np.sqrt(below.sq_norms.max()) <= 1e-6
    assert np.sqrt(above.sq_norms.max()) >= 1e-3


def _critical_value(regularizer, G):
    """The C from which on some kernel is used, for G at C = 1."""
    if isinstance(regularizer, Wedge):
        largest = np.max(np.cumsum(G) / np.arange(1, len(G) + 1))
    elif isinstance(regularizer, GroupNorm):
        groups = np.array(regularizer.groups)
        order = 1.0 if np.isinf(regularizer.within) else 1.5  # the dual order of 3
        largest = max(np.linalg.norm(G[groups == g], order) for g in set(regularizer.groups))
    else:
        largest = np.max(G)
    return getattr(regularizer, "l1_ratio", 1.0) / np.sqrt(largest)


# --- when a solver cannot ---


@pytest.mark.parametrize("cls", SOLVERS.values())
def test_a_short_run_warns_and_keeps_its_certificate(cls, rng):
    Zs = rng.normal(size=(5, N_SAMPLES, 2))
    problem = make_problem(Logistic(), LpNorm(p=1.0 if cls.requires_bank else 1.5), C=20.0)
    Ks = grams()
    if cls.requires_bank:
        problem, Ks = replace(problem, bank=FactoredBank(Zs)), [Z @ Z.T for Z in Zs]
    with pytest.warns(ConvergenceWarning, match="relative duality gap") as caught:
        solution = cls(tol=1e-15, max_iter=1).solve(problem)
    assert f"{solution.gap:.1e}" in str(caught[0].message)
    assert not solution.converged
    assert solution.gap > 1e-12
    assert solution.n_iter == 1
    assert_honest(problem, solution, Ks)
    best = solve(problem)
    assert solution.dual_objective <= best.objective
    assert solution.objective >= best.dual_objective


def test_a_solver_says_what_it_lacks():
    problem = make_problem(Squared(), Uniform())
    with pytest.raises(TypeError, match=r"NewtonWeights needs regularizer\.gradient"):
        NewtonWeights().solve(problem)


def test_parameters_are_checked_before_the_first_step():
    with pytest.raises(ValueError, match="p must be finite and at least 1"):
        solve(make_problem(Squared(), LpNorm(p=0.5)))
    with pytest.raises(ValueError, match="one label per kernel"):
        Alternating().solve(make_problem(Squared(), GroupNorm([0, 1])))
    with pytest.raises(ValueError, match="delta must be a finite number"):
        solve(make_problem(Huber(delta=-1.0), Uniform()))


def test_kernels_far_from_unit_scale_do_not_stall_the_weights():
    """A loosely fitted machine, whose objective is then far too high, once stopped all progress."""
    rng = np.random.default_rng(3)
    X, scores = rng.normal(size=(60, 6)), rng.normal(size=60)
    labels = np.digitize(np.sin(2 * X[:, 0]) + 0.5 * X[:, 2] + 0.4 * scores, [-0.5, 0.5])
    Y = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    bank = PackedBank.from_grams([X[:, c] @ X[:, c].T for c in ([0, 1], [2, 3], [4, 5])])
    for C in (3.0, 10.0, 30.0):
        problem = Problem(bank, Y, SquaredHinge(), ElasticNet(), C)
        solution = NewtonWeights(tol=1e-7, max_iter=40).solve(problem)
        assert solution.converged
