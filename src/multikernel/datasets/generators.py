"""Random views of the same samples, some informative, some redundant, some useless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..kernels import ViewBundle

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SourceSpec:
    """How one source is made from hidden factors and what it says about the target.

    Parameters
    ----------
    n_features : int
        Columns of the view.
    effect : {"linear", "radial"} or None
        How the target depends on the hidden factors of this source; None means not at all.
    strength : float
        Standard deviation of the source's share of the target.
    noise : float
        Standard deviation of the noise added to every column.
    repeats : str or None
        Name of an earlier source whose hidden factors this one shows again.
    """

    n_features: int
    effect: str | None = None
    strength: float = 1.0
    noise: float = 1.0
    repeats: str | None = None


def draw_views(
    specs: Mapping[str, SourceSpec], n_samples: int, rng: np.random.RandomState
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Draw all views and the share of the target that each of them carries.

    Returns
    -------
    views : dict of array of shape (n_samples, n_features)
    shares : dict of array of shape (n_samples,)
        Zero for sources without an effect of their own.
    """
    factors: dict[str, FloatArray] = {}
    views: dict[str, FloatArray] = {}
    shares: dict[str, FloatArray] = {}
    for name, spec in specs.items():
        own = rng.standard_normal((n_samples, 2))
        factors[name] = factors[spec.repeats] if spec.repeats else own
        loadings = rng.standard_normal((2, spec.n_features))
        noise = spec.noise * rng.standard_normal((n_samples, spec.n_features))
        views[name] = factors[name] @ loadings + noise
        shares[name] = spec.strength * _effect(spec.effect, factors[name])
    return views, shares


def _effect(kind: str | None, Z: FloatArray) -> FloatArray:
    if kind is None:
        return np.zeros(len(Z))
    raw = Z[:, 0] if kind == "linear" else np.sum(Z**2, axis=1)
    return np.asarray((raw - raw.mean()) / raw.std())


def _numbered_specs(
    n_informative: int, n_redundant: int, n_useless: int, n_features: int, noise: float
) -> dict[str, SourceSpec]:
    counts = {"n_informative": n_informative, "n_redundant": n_redundant, "n_useless": n_useless}
    if n_informative < 1 or min(counts.values()) < 0:
        raise ValueError(
            f"Sources are counted from zero and at least one must be informative; got {counts}."
        )
    specs: dict[str, SourceSpec] = {}
    for k in range(n_informative):
        effect = "radial" if k % 2 else "linear"
        specs[f"informative{k}"] = SourceSpec(n_features, effect, noise=noise)
    for k in range(n_redundant):
        shown = f"informative{k % n_informative}"
        specs[f"redundant{k}"] = SourceSpec(n_features, noise=noise, repeats=shown)
    for k in range(n_useless):
        specs[f"useless{k}"] = SourceSpec(n_features, noise=noise)
    return specs


def make_multiview_regression(
    n_samples: int = 200,
    *,
    n_informative: int = 2,
    n_redundant: int = 0,
    n_useless: int = 1,
    n_features: int = 10,
    noise: float = 0.5,
    target_noise: float = 0.1,
    return_truth: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Draw several views of the same samples and a real target that depends on some of them.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples.
    n_informative, n_redundant, n_useless : int, default=2, 0, 1
        Sources named ``informative0…``, ``redundant0…`` and ``useless0…``. Even informative sources
        act linearly, odd ones through the squared radius of their hidden factors. A redundant
        source shows the hidden factors of an informative one again; a useless one has its own.
    n_features : int, default=10
        Columns of every view.
    noise, target_noise : float, default=0.5, 0.1
        Standard deviation of the noise on the columns and on the target.
    return_truth : bool, default=False
        Also return what every source contributes.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the data reproducible.

    Returns
    -------
    X : ViewBundle
        The views.
    y : array of shape (n_samples,)
        The target.
    truth : dict of array of shape (n_samples,)
        The share of every source, whose sum is y without its noise. Only if ``return_truth``.

    Examples
    --------
    >>> from multikernel.datasets import make_multiview_regression
    >>> X, y, truth = make_multiview_regression(50, return_truth=True, random_state=0)
    >>> len(X), y.shape
    (50, (50,))
    >>> {name: float(share.std().round(1)) for name, share in truth.items()}
    {'informative0': 1.0, 'informative1': 1.0, 'useless0': 0.0}
    """
    rng = check_random_state(random_state)
    specs = _numbered_specs(n_informative, n_redundant, n_useless, n_features, noise)
    views, shares = draw_views(specs, n_samples, rng)
    y = sum(shares.values(), np.zeros(n_samples))
    y = y + target_noise * rng.standard_normal(n_samples)
    return (ViewBundle(views), y, shares) if return_truth else (ViewBundle(views), y)


def make_multiview_classification(
    n_samples: int = 200,
    *,
    n_classes: int = 2,
    n_informative: int = 2,
    n_redundant: int = 0,
    n_useless: int = 1,
    n_features: int = 10,
    noise: float = 0.5,
    flip_y: float = 0.0,
    return_truth: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Draw several views of the same samples and class labels that depend on some of them.

    The score of :func:`make_multiview_regression` is cut at its quantiles, so classes are balanced.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples.
    n_classes : int, default=2
        Number of classes.
    n_informative, n_redundant, n_useless : int, default=2, 0, 1
        Sources, as in :func:`make_multiview_regression`.
    n_features : int, default=10
        Columns of every view.
    noise : float, default=0.5
        Standard deviation of the noise on the columns.
    flip_y : float, default=0.0
        Share of the samples that get a random label.
    return_truth : bool, default=False
        Also return what every source contributes to the score.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the data reproducible.

    Returns
    -------
    X : ViewBundle
        The views.
    y : array of int of shape (n_samples,)
        The labels, 0 to n_classes - 1.
    truth : dict of array of shape (n_samples,)
        The share of every source in the score that was cut. Only if ``return_truth``.

    Examples
    --------
    >>> from multikernel.datasets import make_multiview_classification
    >>> X, y = make_multiview_classification(60, n_classes=3, random_state=0)
    >>> np.bincount(y)
    array([20, 20, 20])
    """
    rng = check_random_state(random_state)
    X, score, shares = make_multiview_regression(
        n_samples,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_useless=n_useless,
        n_features=n_features,
        noise=noise,
        target_noise=0.0,
        return_truth=True,
        random_state=rng,
    )
    y = quantile_labels(score, n_classes)
    flipped = rng.random_sample(n_samples) < flip_y
    y[flipped] = rng.randint(n_classes, size=int(flipped.sum()))
    return (X, y, shares) if return_truth else (X, y)


def quantile_labels(score: FloatArray, n_classes: int) -> NDArray[np.intp]:
    """Cut a score into classes of equal size."""
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    return np.asarray(ranks * n_classes // len(score), dtype=np.intp)
