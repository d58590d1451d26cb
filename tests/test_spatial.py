"""Graph Laplacians of places."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import issparse

from multikernel import _memory, spatial_laplacian


def slow_laplacian(c, tied, power):
    """Entry by entry, from the matrix of all distances."""
    L = np.zeros((len(c), len(c)))
    for j, k in zip(*np.nonzero(tied), strict=True):
        strength = np.linalg.norm(c[j] - c[k]) ** -power
        L[j, k] -= strength
        L[j, j] += strength
    return L


def distances(c):
    return np.linalg.norm(c[:, None] - c[None], axis=-1)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_ties_within_a_radius(power):
    c = np.random.default_rng(0).uniform(size=(40, 3))
    D = distances(c)
    tied = (D <= 0.4) & (D > 0)
    L = spatial_laplacian(c, radius=0.4, power=power)
    assert issparse(L)
    assert 0 < L.nnz < 40 * 40
    np.testing.assert_allclose(L.toarray(), slow_laplacian(c, tied, power), atol=1e-12)


def test_ties_to_the_nearest_hold_both_ways():
    c = np.random.default_rng(1).uniform(size=(30, 2))
    D = distances(c)
    near = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(near, np.argsort(D, axis=1)[:, 1:5], True, axis=1)
    assert np.any(near != near.T)
    L = spatial_laplacian(c, n_neighbors=4)
    np.testing.assert_allclose(L.toarray(), slow_laplacian(c, near | near.T, 1.0), atol=1e-12)


def test_inside_a_cube_26_voxels_touch_one():
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    L = spatial_laplacian(grid, radius=1.8).toarray()
    centre = np.flatnonzero((grid == 2).all(axis=1))[0]
    assert np.count_nonzero(L[centre]) == 27
    assert L[centre, centre] == pytest.approx(6 + 12 / np.sqrt(2) + 8 / np.sqrt(3))


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(2, 25),
    dimensions=st.integers(1, 3),
    n_neighbors=st.integers(1, 30),
    power=st.floats(0, 3),
)
def test_it_is_symmetric_and_positive_semi_definite(seed, n, dimensions, n_neighbors, power):
    c = np.random.default_rng(seed).normal(size=(n, dimensions))
    L = spatial_laplacian(c, n_neighbors=n_neighbors, power=power).toarray()
    scale = np.abs(L).max()
    assert np.array_equal(L, L.T)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(L)[0] >= -1e-12 * n * scale
    assert np.all(L[~np.eye(n, dtype=bool)] <= 0)


@pytest.mark.parametrize("ties", [{"n_neighbors": 2}, {"radius": 5.0}])
def test_coincident_places_are_named(ties):
    c = np.array([[0.0, 1.0], [2.0, 2.0], [5.0, 1.0], [2.0, 2.0], [2.5, 2.0]])
    with pytest.raises(ValueError, match="rows 1 and 3 are the same place"):
        spatial_laplacian(c, **ties)


@pytest.mark.parametrize(
    ("coordinates", "options", "message"),
    [
        (np.array([[0.0], [np.nan]]), {}, "coordinates contains NaN"),
        (np.array([0.0, 1.0]), {}, "Expected 2D array"),
        (np.zeros((1, 2)), {}, "minimum of 2"),
        (np.eye(3), {"n_neighbors": 0}, "n_neighbors == 0"),
        (np.eye(3), {"radius": 0.0}, "radius == 0"),
        (np.eye(3), {"power": -1.0}, "power == -1"),
        (np.eye(3), {"power": np.inf}, "power"),
    ],
)
def test_bad_input_is_refused(coordinates, options, message):
    with pytest.raises(ValueError, match=message):
        spatial_laplacian(coordinates, **options)


@pytest.mark.parametrize("ties", [{"n_neighbors": 500}, {"radius": 10.0}])
def test_memory_is_checked_before_it_is_used(ties, monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryError):
        spatial_laplacian(np.random.default_rng(0).uniform(size=(1000, 2)), **ties)
