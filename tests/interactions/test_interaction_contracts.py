"""What every recipe for a matrix Q must satisfy, and the algebra of recipes."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import instances
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import make_problem, random_grams
from sklearn.base import clone

from multikernel import (
    DualCovariance,
    ErrorCorrelation,
    FactoredBank,
    GraphLaplacian,
    Hinge,
    KernelAlignment,
    Logistic,
    PackedBank,
    SourceBlocks,
    Squared,
    Uniform,
)
from multikernel.interactions import (
    INTERACTIONS,
    Fixed,
    Interaction,
    Normalized,
    Repaired,
    Scaled,
    Sum,
)
from multikernel.losses import LOSSES

SOURCES = list("aaabbc")
FROM_DATA = [DualCovariance(), DualCovariance(True, n_folds=3), ErrorCorrelation(3)]
FROM_DATA += [KernelAlignment(), GraphLaplacian(KernelAlignment(), ridge=0.1), SourceBlocks()]


def assert_valid(Q, n_kernels):
    assert Q.shape == (n_kernels, n_kernels)
    assert Q.dtype == np.float64
    assert np.isfinite(Q).all()
    assert np.array_equal(Q, Q.T)
    eigenvalues = np.linalg.eigvalsh(Q)
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]


@pytest.mark.parametrize("interaction", instances(INTERACTIONS), ids=repr)
@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
def test_the_matrix_is_symmetric_finite_and_semidefinite(interaction, loss):
    problem = make_problem(loss, Uniform(), weighted=True)
    assert_valid(interaction.matrix(problem, SOURCES), 6)


@pytest.mark.parametrize("interaction", FROM_DATA, ids=repr)
@pytest.mark.parametrize("loss", instances(LOSSES), ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_zero_constant_and_repeated_kernels_do_no_harm(interaction, loss, fit_intercept):
    problem = make_problem(loss, Uniform(), fit_intercept=fit_intercept)
    grams = random_grams(np.random.default_rng(1), 30, 6)
    grams[0], grams[1], grams[2] = 0.0, 3.0, grams[3]
    problem = replace(problem, bank=PackedBank.from_grams(grams))
    Q = interaction.matrix(problem, SOURCES)
    assert_valid(Q, 6)
    assert np.all(np.diag(Q) > 0)


@pytest.mark.parametrize("interaction", FROM_DATA, ids=repr)
def test_targets_without_variation_do_no_harm(interaction):
    problem = make_problem(Squared(), Uniform())
    problem = replace(problem, y=np.full_like(problem.y, 2.0))
    Q = interaction.matrix(problem, SOURCES)
    assert_valid(Q, 6)
    assert np.all(np.diag(Q) > 0)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 12),
    M=st.integers(1, 8),
    log_scale=st.floats(-6, 6),
    loss=st.sampled_from([Squared(), Logistic(), Hinge()]),
)
def test_any_data_give_a_valid_matrix(seed, n, M, log_scale, loss):
    rng = np.random.default_rng(seed)
    scales = 10.0 ** (log_scale * rng.random(M))
    bank = PackedBank.from_grams(scales[:, None, None] * random_grams(rng, n, M))
    problem = replace(make_problem(loss, Uniform(), n=n, seed=seed), bank=bank)
    recipe = DualCovariance() + GraphLaplacian(ErrorCorrelation(2)) + 0.3 * KernelAlignment()
    assert_valid(recipe.matrix(problem, ["a"] * M), M)


@pytest.mark.parametrize("interaction", FROM_DATA, ids=repr)
def test_permuting_kernels_permutes_the_matrix(interaction, rng):
    problem = make_problem(Logistic(), Uniform(), weighted=True)
    order = rng.permutation(6)
    permuted = replace(problem, bank=problem.bank.select(order))
    Q = interaction.matrix(problem, SOURCES)
    Q_permuted = interaction.matrix(permuted, [SOURCES[m] for m in order])
    assert not np.allclose(Q, Q[np.ix_(order, order)])
    assert_allclose(Q_permuted, Q[np.ix_(order, order)], atol=1e-10)


@pytest.mark.parametrize("interaction", FROM_DATA, ids=repr)
def test_factors_give_the_same_matrix_as_their_products(interaction, rng):
    Zs = rng.normal(size=(6, 30, 3))
    problem = make_problem(Squared(), Uniform())
    packed = replace(problem, bank=PackedBank.from_grams(Zs @ Zs.transpose(0, 2, 1)))
    factored = replace(problem, bank=FactoredBank(list(Zs)))
    assert_allclose(
        interaction.matrix(factored, SOURCES), interaction.matrix(packed, SOURCES), atol=1e-7
    )


@pytest.mark.parametrize(
    "interaction", [DualCovariance(), DualCovariance(True), KernelAlignment()], ids=repr
)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
def test_an_integer_weight_equals_repetition(interaction, loss):
    problem = make_problem(loss, Uniform(), n=20)
    s = np.random.default_rng(2).integers(1, 4, size=20)
    rows = np.repeat(np.arange(20), s)
    weighted = replace(problem, sample_weight=s.astype(float))
    repeated = replace(problem, bank=problem.bank.take(rows), y=problem.y[rows])
    Q = interaction.matrix(weighted, SOURCES)
    assert_allclose(Q, interaction.matrix(repeated, SOURCES), atol=1e-6)
    assert not np.allclose(Q, interaction.matrix(problem, SOURCES), atol=1e-3)


def test_the_problem_is_left_alone():
    problem = make_problem(Hinge(), Uniform())
    before = [problem.bank.gram(m) for m in range(6)]
    for interaction in FROM_DATA:
        interaction.matrix(problem, SOURCES)
    assert np.array_equal(before, [problem.bank.gram(m) for m in range(6)])


@pytest.mark.parametrize("interaction", instances(INTERACTIONS), ids=repr)
def test_clones_are_equal_and_independent(interaction):
    problem = make_problem(Hinge(), Uniform())
    copy = clone(interaction)
    assert repr(copy) == repr(interaction)
    assert np.array_equal(copy.matrix(problem, SOURCES), interaction.matrix(problem, SOURCES))


def test_operators_build_recipes_and_the_matrix_follows():
    problem = make_problem(Hinge(), Uniform())
    a, b, matrix = KernelAlignment(), SourceBlocks(), np.diag(np.arange(6.0))
    A, B = a.matrix(problem, SOURCES), b.matrix(problem, SOURCES)
    for recipe, expected in [
        (a + b, A + B),
        (2.0 * a, 2 * A),
        (a * 3, 3 * A),
        (np.float64(0.5) * a, A / 2),
        (a + matrix, A + matrix),
        (matrix + a, A + matrix),
        (matrix.tolist() + a, A + matrix),
        (a + b + 2 * a, 3 * A + B),
    ]:
        assert isinstance(recipe, Interaction)
        assert_allclose(recipe.matrix(problem, SOURCES), expected, rtol=1e-15)


@pytest.mark.parametrize(
    "wrong",
    [lambda a: a + 1.0, lambda a: 1.0 + a, lambda a: a * a, lambda a: a * "2", lambda a: a - a],
)
def test_operators_refuse_what_makes_no_matrix(wrong):
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
        wrong(KernelAlignment())


def test_parameters_of_nested_recipes_are_reached_by_name():
    recipe = GraphLaplacian(DualCovariance()) + 0.5 * SourceBlocks()
    recipe.set_params(left__ridge=0.2, left__of__correlation=True, right__factor=3.0)
    assert isinstance(recipe, Sum)
    assert isinstance(recipe.right, Scaled)
    assert recipe.left.ridge == 0.2
    assert recipe.left.of.correlation
    assert recipe.get_params()["right__of__groups"] == "source"
    assert repr(recipe).startswith("Sum(left=GraphLaplacian(of=DualCovariance(correlation=True)")


@pytest.mark.parametrize(
    ("interaction", "message"),
    [
        (Fixed(np.eye(3)), "one row per kernel; it has 3 for 6"),
        (Fixed(np.triu(np.ones((6, 6)))), "must be symmetric"),
        (Fixed(np.full((6, 6), np.nan)), "contains NaN"),
        (Fixed(np.ones((6, 2))), "square"),
        (Scaled(SourceBlocks(), -1.0), "factor must be finite and not negative"),
        (Scaled(SourceBlocks(), np.nan), "factor must be finite"),
        (GraphLaplacian(SourceBlocks(), ridge=-0.1), "ridge must be finite and not negative"),
        (SourceBlocks(groups=[0, 1]), "2 labels for 6 kernels"),
        (DualCovariance(n_folds=1), "DualCovariance: n_folds must be a whole number from 2"),
        (DualCovariance(n_folds=31), "the number of training samples, 30, got 31"),
        (ErrorCorrelation(n_folds=2.5), "ErrorCorrelation: n_folds must be a whole number"),
        (DualCovariance(loss="multinomial"), "does not fit the targets"),
        (DualCovariance(loss="nonsense"), "is not known"),
        (Normalized(SourceBlocks(), how="norm"), "how must be 'trace', 'scale' or 'shift'"),
        (Normalized(SourceBlocks(), how="scale"), "smallest eigenvalue"),
        (Repaired(SourceBlocks(), method="cut"), "method must be 'clip', 'flip' or 'shift'"),
    ],
    ids=repr,
)
def test_bad_parameters_get_one_clear_sentence(interaction, message):
    with pytest.raises(ValueError, match=message):
        interaction.matrix(make_problem(Hinge(), Uniform()), SOURCES)
