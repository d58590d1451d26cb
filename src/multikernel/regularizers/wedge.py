"""The wedge: weights that never increase along the given order of the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from .._component import Array
from ._powers import FEASIBLE, SLACK, divide, nonnegative, total
from .base import Atoms, Regularizer
from .lp_norm import LpNorm


@dataclass(repr=False)
class Wedge(Regularizer):
    r"""Prefer early kernels: sparse weights that never increase along the order of the kernels.

    Notes
    -----
    Let :math:`\mathrm{iso}_\downarrow` be the least-squares projection on nonincreasing sequences,
    found by pooling adjacent violators. With :math:`x_m = \|f_m\|^2` ([TS10]_, Section 2)

    .. math:: h(d) = \sum_m d_m + \iota(d_1 \ge \dots \ge d_M), \quad
              g(x) = \sum_m \sqrt{\mathrm{iso}_\downarrow(x)_m}, \quad
              d = \sqrt{\mathrm{iso}_\downarrow(x)}, \quad
              \Omega(G) = \iota\big(\textstyle\sum_{k \le m} G_k \le m\ \forall m\big).

    It is the block 1-norm on the cumulative means :math:`\tilde K_j = \tfrac1j \sum_{k \le j} K_k`.

    Examples
    --------
    >>> import numpy as np
    >>> Wedge().optimal_weights(np.array([9.0, 1.0, 7.0, 0.0]))
    array([3., 2., 2., 0.])
    """

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        slack = FEASIBLE * np.max(np.abs(d))
        ordered = np.all(d >= 0) and np.all(np.diff(d) <= slack)
        return total(d) if ordered else np.inf

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        return np.sqrt(_nonincreasing(nonnegative(sq_norms)))

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        return total(self.optimal_weights(sq_norms))

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        return 0.0 if _largest_mean(G) <= 1 + SLACK else np.inf

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        return float(1 / max(1.0, np.sqrt(_largest_mean(G))))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        largest = _largest_mean(G)
        return float(1 / np.sqrt(largest)) if largest > 0 else np.inf

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return np.full(n_kernels, 1 / n_kernels)

    def atoms(self, n_kernels: int) -> Atoms:
        """An exact reduction to a simpler regularizer, or None."""
        means = np.tri(n_kernels) / np.arange(1, n_kernels + 1)[:, None]
        return Atoms(means, LpNorm(p=1.0))

    def prox(self, r: Array, step: float) -> Array:
        r"""The minimiser over :math:`t \ge 0` of :math:`\tfrac12\|t-r\|^2 + \gamma g(t^2)`."""
        r = nonnegative(r)
        d = np.maximum(np.sqrt(_nonincreasing(r**2)) - step, 0.0)  # (√iso(r²) - γ)₊
        return divide(r * d, d + step)


def _nonincreasing(x: Array) -> Array:
    """The nonincreasing sequence nearest to a nonnegative one, computed at unit scale."""
    scale = float(np.max(x))
    pooled = isotonic_regression(divide(x, scale), increasing=False).x
    return np.asarray(scale * nonnegative(pooled))


def _largest_mean(G: Array) -> float:
    """The largest mean of a leading run of entries, computed at unit scale."""
    G = nonnegative(G)
    scale = float(np.max(G))
    return scale * float(np.max(np.cumsum(divide(G, scale)) / np.arange(1, len(G) + 1)))
