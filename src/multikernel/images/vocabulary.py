"""Visual words: descriptors by their nearest of some examples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

METHODS = ("kmeans", "random")
_BLOCK = 1 << 22  # distances at a time


class Vocabulary(BaseEstimator):
    """Words for local descriptors: centres of clusters, or descriptors drawn at random.

    Parameters
    ----------
    n_words : int, default=200
    method : {"kmeans", "random"}, default="kmeans"
        Centres of mini-batch k-means, or descriptors as they are (as [TS10]_ did).
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    words_ : array of shape (n_words, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.images import Vocabulary
    >>> descriptors = np.repeat(np.eye(3), 20, axis=0)
    >>> vocabulary = Vocabulary(3, random_state=0).fit(descriptors)
    >>> len(set(vocabulary.assign(np.eye(3)).tolist()))
    3
    """

    def __init__(
        self, n_words: int = 200, *, method: str = "kmeans", random_state: Any = None
    ) -> None:
        self.n_words = n_words
        self.method = method
        self.random_state = random_state

    def fit(self, descriptors: Any, y: Any = None) -> Self:
        """Find words for descriptors of shape (n_descriptors, n_features)."""
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, got {self.method!r}.")
        X = check_array(descriptors, dtype=np.float32)
        if len(X) < self.n_words:
            raise ValueError(
                f"{self.n_words} words need as many descriptors, got {len(X)}; lower n_words or "
                "take descriptors at more points."
            )
        rng = check_random_state(self.random_state)
        if self.method == "random":
            self.words_ = X[rng.choice(len(X), self.n_words, replace=False)]
            return self
        clusters = MiniBatchKMeans(
            self.n_words,
            init="random",
            n_init=1,
            batch_size=max(4096, 8 * self.n_words),
            random_state=rng,
        )
        self.words_ = clusters.fit(X).cluster_centers_
        return self

    def assign(self, descriptors: Any) -> NDArray[np.intp]:
        """The nearest word of every descriptor."""
        check_is_fitted(self)
        X = np.asarray(descriptors, dtype=np.float32)
        W = np.asarray(self.words_, dtype=np.float32)
        half = 0.5 * np.einsum("ij,ij->i", W, W)
        nearest = np.empty(len(X), dtype=np.intp)
        for rows in gen_batches(len(X), max(1, _BLOCK // len(W))):
            nearest[rows] = np.argmin(half - X[rows] @ W.T, axis=1)  # ½‖w‖² − xᵀw
        return nearest
