"""Equal weights: the sum of all kernels, the baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._component import Array
from ._powers import FEASIBLE, nonnegative, total
from .base import Curvature, Regularizer


@dataclass(repr=False)
class Uniform(Regularizer):
    r"""Give every kernel the weight one, that is, sum the kernels.

    Notes
    -----
    .. math:: h(d) = \iota(0 \le d \le 1), \quad g(x) = \tfrac12 \sum_m x_m, \quad d_m = 1, \quad
              \Omega(G) = \sum_m G_m

    Examples
    --------
    >>> import numpy as np
    >>> Uniform().optimal_weights(np.array([4.0, 0.0, 9.0]))
    array([1., 1., 1.])
    """

    @property
    def separable(self) -> bool:
        """Whether h and g are sums of one term per kernel."""
        return True

    @property
    def upper_bound(self) -> float:
        """The supremum of a weight where h is finite."""
        return 1.0

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        return 0.0 if np.all((d >= 0) & (d <= 1 + FEASIBLE)) else np.inf

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        return np.ones(np.shape(sq_norms))

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        return total(nonnegative(sq_norms)) / 2

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        return total(nonnegative(G))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        return 0.0 if np.max(G) > 0 else np.inf

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return np.ones(n_kernels)

    def dual_weights(self, G: Array) -> Array:
        r"""The weights that attain :math:`\Omega(G)`: all one."""
        return np.ones(np.shape(G))

    def dual_curvature(self, G: Array) -> Curvature:
        """The Jacobian of ``dual_weights``: zero."""
        return Curvature(np.zeros(np.shape(G)), np.zeros((np.size(G), 0)), np.zeros(0))

    def prox(self, r: Array, step: Array | float) -> Array:
        r"""The minimiser over :math:`t \ge 0` of :math:`\tfrac12\|t-r\|^2 + \gamma g(t^2)`."""
        return nonnegative(r) / (1 + step)

    def prox_derivative(self, r: Array, step: Array | float) -> Array:
        """The elementwise derivative of ``prox`` in r."""
        return np.ones(np.shape(r)) / (1 + step)
