"""Block norms of order above two: more even than the sum of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._component import Array
from ._powers import nonnegative, power, power_prox, total
from .base import Curvature, Regularizer

_FLOOR = 1e-200  # below it a kernel counts as unused: large finite weight, no curvature


@dataclass(repr=False)
class BlockNorm(Regularizer):
    r"""Push the kernels to contribute evenly: a block norm of order above two.

    Parameters
    ----------
    q : float, default=3.0
        Order of the block norm, above 2. Order 2 is ``Uniform()``; below it use ``LpNorm``.

    Notes
    -----
    With :math:`t_m = \|f_m\|` and :math:`r = q/(q-1)`

    .. math:: g(x) = \tfrac1q \sum_m t_m^q, \quad d_m = t_m^{2-q}, \quad
              \Omega(G) = \tfrac2r \sum_m G_m^{r/2}, \quad d_m = G_m^{-(q-2)/(2(q-1))}.

    Unlike in the other regularizers g is convex in :math:`x_m = t_m^2`, and the weights *maximise*:

    .. math:: 2 g(x) = \max_{d > 0} \sum_m x_m / d_m + h(d), \qquad
              h(d) = -\tfrac{q-2}{q} \sum_m d_m^{-q/(q-2)},

    so that a kernel with :math:`f_m = 0` has infinite weight.

    Examples
    --------
    >>> import numpy as np
    >>> BlockNorm(q=4.0).optimal_weights(np.array([4.0, 1.0, 0.0]))
    array([0.25, 1.  ,  inf])
    """

    q: float = 3.0

    examples: ClassVar = ({"q": 3.0}, {"q": 2.5}, {"q": 4.0})

    @property
    def convex(self) -> bool:
        """False: the weights maximise."""
        return False

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        if not 2 < self.q < np.inf:
            raise ValueError(
                f"BlockNorm: q must be finite and above 2, got {self.q}; "
                "for q = 2 use Uniform(), for q < 2 use LpNorm(p=q / (2 - q))."
            )

    @property
    def separable(self) -> bool:
        """Whether h and g are sums of one term per kernel."""
        return True

    @property
    def _slope(self) -> float:
        """The exponent of the dual map, (q-2) / (2(q-1))."""
        return (self.q - 2) / (2 * (self.q - 1))

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        if np.any(d < 0):
            return np.inf
        q = self.q
        return -(q - 2) / q * total(power(np.asarray(d, dtype=np.float64), -q / (q - 2)))

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        return power(nonnegative(sq_norms), (2 - self.q) / 2)  # t^(2-q)

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        return total(power(nonnegative(sq_norms), self.q / 2)) / self.q  # (1/q) Σ t^q

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        half = self.q / (self.q - 1) / 2  # r/2
        return total(power(nonnegative(G), half)) / half

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        return 0.0 if np.max(G) > 0 else np.inf

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return np.ones(n_kernels)

    def dual_weights(self, G: Array) -> Array:
        r"""The gradient of :math:`\Omega`; finite even where G vanishes."""
        return power(np.maximum(G, _FLOOR), -self._slope)

    def dual_curvature(self, G: Array) -> Curvature:
        """The Jacobian of ``dual_weights``, a diagonal; zero where G vanishes."""
        kept = np.maximum(G, _FLOOR)
        D = np.where(G > _FLOOR, -self._slope * power(kept, -self._slope - 1), 0.0)
        return Curvature(D, np.zeros((len(D), 0)), np.zeros(0))

    def prox(self, r: Array, step: Array | float) -> Array:
        r"""The minimiser over :math:`t \ge 0` of :math:`\tfrac12\|t-r\|^2 + \gamma g(t^2)`."""
        return power_prox(nonnegative(r), step, self.q)  # t + γ t^(q-1) = r

    def prox_derivative(self, r: Array, step: Array | float) -> Array:
        """The elementwise derivative of ``prox`` in r."""
        t = self.prox(r, step)
        return np.asarray(1 / (1 + step * (self.q - 1) * t ** (self.q - 2)))
