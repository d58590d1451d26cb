"""Every kernel family against an independent formula, and what all families must satisfy."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import instances, name_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import (
    chi2_kernel,
    cosine_similarity,
    laplacian_kernel,
    pairwise_distances,
    polynomial_kernel,
    rbf_kernel,
)

from multikernel._component import concrete_subclasses
from multikernel.kernels import (
    KERNELS,
    RBF,
    Chi2,
    Cosine,
    ExpDistance,
    FunctionKernel,
    HistogramIntersection,
    KernelFamily,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    SklearnKernel,
    Spectrum,
    Tanimoto,
)
from multikernel.kernels.family import median_scale

FAMILIES = [part for family in instances(KERNELS) for part in family.split()]
SPARSE = [family for family in FAMILIES if family.accepts_sparse]


def draw(family, rng, n):
    if family.kind == "strings":
        return np.array(["".join(rng.choice(list("ACGT"), 12)) for _ in range(n)], dtype=object)
    return np.abs(rng.normal(size=(n, 4))) * (rng.random((n, 4)) < 0.8)


def grams(family, X, Z=None):
    """All kernels of a family between X and Z, with the scale learned on Z (or X)."""
    scale = family.fit_scale(family.base(X if Z is None else Z))
    base = family.base(X, Z)
    return [family.gram(base, scale, **parameters) for parameters in family.parameters()]


def double_loop(X, Z, k):
    return np.array([[k(x, z) for z in Z] for x in X])


def test_every_family_is_registered():
    public = {cls for cls in concrete_subclasses(KernelFamily) if not cls.__name__.startswith("_")}
    assert public == set(KERNELS.values())


@pytest.mark.parametrize("name", [n for n in KERNELS if n not in ("function", "sklearn")])
def test_a_family_answers_to_its_registered_name(name):
    assert KERNELS[name]().name == name


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
def test_grams_are_symmetric_and_positive_semidefinite(family, rng):
    X = draw(family, rng, 25)
    for K in grams(family, X):
        assert_allclose(K, K.T, atol=1e-12)
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] > -1e-10 * eigenvalues[-1]


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
def test_cross_kernels_and_diagonals_are_parts_of_the_gram(family, rng):
    X = draw(family, rng, 80)
    scale = family.fit_scale(family.base(X))
    whole, part, diag = family.base(X), family.base(X[:9], X), family.base_diag(X)
    for parameters in family.parameters():
        K = family.gram(whole, scale, **parameters)
        assert_allclose(family.gram(part, scale, **parameters), K[:9], atol=1e-7)
        assert_allclose(family.gram(diag, scale, **parameters), np.diagonal(K), atol=1e-7)


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
def test_gram_is_a_new_array_and_the_family_clones(family, rng):
    base = family.base(draw(family, rng, 5))
    base.setflags(write=False)
    K = family.gram(base, 1.0, **family.parameters()[0])
    K += 1
    assert not np.shares_memory(K, base)
    assert type(clone(family)) is type(family)


@pytest.mark.parametrize("family", SPARSE, ids=name_of)
@pytest.mark.parametrize("container", [csr_array, csr_matrix])
def test_sparse_equals_dense(family, container, rng):
    X, Z = draw(family, rng, 12), draw(family, rng, 7)
    for dense, sparse in zip(
        grams(family, Z, X), grams(family, container(Z), container(X)), strict=True
    ):
        assert isinstance(sparse, np.ndarray)
        assert_allclose(sparse, dense, atol=1e-7)
    assert_allclose(family.base_diag(container(X)), family.base_diag(X), atol=1e-12)


def test_rbf_is_scikit_learns(rng):
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    family = RBF(width=[0.5, 4.0], scale=None)
    for K, width in zip(grams(family, X, Z), family.width, strict=True):
        assert_allclose(K, rbf_kernel(X, Z, gamma=1 / width), rtol=1e-12)


def test_rbf_keeps_its_digits_far_from_the_origin(rng):
    X = rng.normal(size=(20, 3))
    near, far = RBF(scale=None).base(X), RBF(scale=None).base(X + 1e6)
    assert_allclose(far, near, rtol=1e-6)


def test_width_one_is_the_median_squared_distance(rng):
    X = rng.normal(size=(9, 3))
    D = pairwise_distances(X, metric="sqeuclidean")
    median = np.median(D[np.triu_indices(9, 1)])
    (K,) = grams(RBF(), X)
    assert_allclose(K, np.exp(-D / median), rtol=1e-10)


@pytest.mark.parametrize("seed", range(8))  # odd and even numbers of pairs
def test_median_of_distinct_points_ignores_duplicates_and_counts_weights(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    repeats = rng.integers(0, 4, 12)
    base = RBF().base(X)
    expanded = RBF().base(np.repeat(X, repeats, axis=0))
    weighted = median_scale(base, repeats / repeats.sum())
    assert_allclose(weighted, median_scale(expanded), rtol=1e-12)
    assert weighted != pytest.approx(median_scale(base), rel=1e-6)


def test_median_of_identical_points_is_one():
    assert median_scale(np.zeros((4, 4))) == 1.0
    assert median_scale(np.zeros((4, 4)), np.full(4, 0.25)) == 1.0
    assert median_scale(np.zeros((1, 1))) == 1.0


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 0.8, 3.7, np.inf])
def test_matern_is_scikit_learns(nu, rng):
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    (K,) = grams(Matern(nu=nu, width=1.7, scale=None), X, Z)
    assert_allclose(K, gp.Matern(length_scale=1.7, nu=nu)(X, Z), rtol=1e-9)


def test_matern_width_is_a_length_in_units_of_the_root_median(rng):
    X = rng.normal(size=(9, 3))
    (scaled,) = grams(Matern(width=2.0), X)
    root = np.sqrt(median_scale(RBF().base(X)))
    assert_allclose(scaled, gp.Matern(length_scale=2.0 * root, nu=1.5)(X), rtol=1e-9)


def test_laplacian_is_scikit_learns(rng):
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    (K,) = grams(Laplacian(width=0.7, scale=None), X, Z)
    assert_allclose(K, laplacian_kernel(X, Z, gamma=1 / 0.7), rtol=1e-12)


def test_polynomial_is_scikit_learns(rng):
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    (K,) = grams(Polynomial(degree=3, gamma=0.4, coef0=0.3, scale=None), X, Z)
    assert_allclose(K, polynomial_kernel(X, Z, degree=3, gamma=0.4, coef0=0.3), rtol=1e-12)


def test_polynomial_scale_is_the_mean_squared_norm(rng):
    X = rng.normal(size=(8, 3))
    (K,) = grams(Polynomial(coef0=0.0), X)
    assert_allclose(K, (X @ X.T / np.mean(np.sum(X**2, axis=1))) ** 2, rtol=1e-12)


def test_chi2_is_scikit_learns(rng):
    X, Z = rng.random((8, 3)), rng.random((6, 3))
    X[0] = Z[0] = 0
    (K,) = grams(Chi2(width=0.7, scale=None), X, Z)
    assert_allclose(K, chi2_kernel(X, Z, gamma=1 / 0.7), rtol=1e-12)


def test_intersection_and_tanimoto_and_cosine_and_linear_by_double_loop(rng):
    X, Z = rng.random((7, 4)), rng.random((5, 4))
    X[0] = Z[0] = 0
    tanimoto = double_loop(X[1:], Z[1:], lambda x, z: x @ z / (x @ x + z @ z - x @ z))
    assert_allclose(Tanimoto().base(X, Z)[1:, 1:], tanimoto, rtol=1e-12)
    assert_array_equal(Tanimoto().base(X, Z)[0], [1, 0, 0, 0, 0])
    intersection = double_loop(X, Z, lambda x, z: np.minimum(x, z).sum())
    assert_allclose(HistogramIntersection().base(X, Z), intersection, atol=1e-14)
    assert_allclose(Cosine().base(X, Z), cosine_similarity(X, Z), atol=1e-14)
    assert_allclose(Linear().base(X, Z), double_loop(X, Z, np.dot), rtol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_spectrum_by_double_loop(length):
    words = ["banana", "bandana", "an", "", "ΑΒΑΒ", "a b  a"]
    queries = ["ananas", "b", "ΒΑΒ"]

    def common(x, z):
        pieces = [[s[i : i + length] for i in range(len(s) - length + 1)] for s in (x, z)]
        return float(sum(u == v for u in pieces[0] for v in pieces[1]))

    assert_array_equal(Spectrum(length).base(queries, words), double_loop(queries, words, common))
    assert_array_equal(Spectrum(length).base(words), double_loop(words, words, common))


def test_spectrum_of_strings_that_are_all_too_short_is_zero():
    assert_array_equal(Spectrum(5).base(["ab", "c"]), np.zeros((2, 2)))


def test_exp_distance(rng):
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    (K,) = grams(ExpDistance(width=0.7, metric="euclidean", scale=None), X, Z)
    assert_allclose(K, np.exp(-pairwise_distances(X, Z) / 0.7), rtol=1e-12)
    with pytest.raises(TypeError, match=r"KernelBundle\.from_distances"):
        ExpDistance().base(X)


def test_function_and_scikit_learn_kernels(rng):
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(6, 3))
    assert_allclose(FunctionKernel(rbf_kernel).base(X, Z), rbf_kernel(X, Z))
    kernel = gp.RationalQuadratic() + gp.WhiteKernel(0.1)
    assert_allclose(SklearnKernel(kernel).base(X, Z), kernel(X, Z))
    assert_allclose(np.diagonal(SklearnKernel(kernel).base(X)), SklearnKernel(kernel).base_diag(X))
    with pytest.raises(ValueError, match=r"must return an array of shape \(8, 6\), got \(6, 8\)"):
        FunctionKernel(lambda A, B: rbf_kernel(B, A)).base(X, Z)


def test_parameters_are_the_cross_product():
    parameters = Matern(nu=[0.5, 1.5], width=np.array([1, 2])).parameters()
    expected = [(nu, width) for nu in (0.5, 1.5) for width in (1, 2)]
    assert [(p["nu"], p["width"]) for p in parameters] == expected


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (RBF(width=0.0), "RBF: width must be a positive number or a list of them, got 0.0"),
        (RBF(width=[1.0, np.inf]), "width must be a positive"),
        (RBF(width=[]), "RBF has an empty list of parameters"),
        (Polynomial(degree=1.5), "degree must be a positive integer, got 1.5"),
        (Polynomial(coef0=-1.0), "coef0 must be a positive"),
        (Spectrum(length=2.5), "length must be an integer"),
    ],
    ids=name_of,
)
def test_bad_parameters_are_refused(family, message):
    with pytest.raises(ValueError, match=message):
        family.parameters()


@pytest.mark.parametrize("family", [RBF(scale="mean"), Polynomial(scale="median")], ids=name_of)
def test_bad_scales_are_refused(family):
    with pytest.raises(ValueError, match="scale must be"):
        family.fit_scale(np.eye(3))
