"""Weights that are given, or follow from the data by a rule, and not learned with the functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from ._powers import FEASIBLE, divide, nonnegative, total
from .base import Atoms, Curvature, Regularizer
from .uniform import Uniform


@dataclass(repr=False, eq=False)
class FixedWeights(Regularizer):
    r"""Keep the weights as they are given: one kernel machine on their combination.

    Parameters
    ----------
    weights : array of shape (n_kernels,) or WeightRule
        Nonnegative weights, or a rule such as :class:`multikernel.Alignment` that makes them from
        the training kernels and targets.

    Notes
    -----
    .. math:: h(d) = \iota(0 \le d \le w), \quad g(x) = \tfrac12 \sum_m x_m / w_m, \quad d = w,
              \quad \Omega(G) = w^\top G

    Examples
    --------
    >>> import numpy as np
    >>> FixedWeights([2.0, 0.0, 1.0]).optimal_weights(np.array([4.0, 1.0, 9.0]))
    array([2., 0., 1.])
    """

    weights: Any = None
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"weights": [2.0, 0.5, 1.0, 0.1, 3.0, 1.0]},)

    @property
    def upper_bound(self) -> float:
        """The supremum of a weight where h is finite."""
        return float(np.max(self._w))

    @property
    def _w(self) -> Array:
        return np.asarray(self.weights, dtype=np.float64)

    @property
    def _has_rule(self) -> bool:
        return hasattr(self.weights, "weights")

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        if self._has_rule and not isinstance(self.weights, type):
            return
        try:
            w = self._w
        except (TypeError, ValueError):
            w = np.zeros(0)
        if w.ndim != 1 or not np.all(np.isfinite(w)) or np.any(w < 0) or not np.any(w > 0):
            raise ValueError(
                "FixedWeights: weights must be finite, nonnegative and not all zero, one per "
                f"kernel, or a rule such as Alignment(); got {self.weights!r}."
            )

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
        if self._has_rule:
            raise ValueError(
                f"FixedWeights: the rule {self.weights!r} is for estimators, which make the "
                "weights from training data; pass one weight per kernel."
            )
        if len(self._w) != n_kernels:
            raise ValueError(
                f"FixedWeights: there are {len(self._w)} weights for {n_kernels} kernels."
            )

    def for_training(self, problem: Any, sources: Sequence[str]) -> Regularizer:
        """The regularizer with the weights that its rule, if it has one, makes of the data."""
        self.check()
        if not self._has_rule:
            return self
        return replace(self, weights=self.weights.weights(problem, sources))

    def atoms(self, n_kernels: int) -> Atoms | None:
        """An exact reduction to a simpler regularizer: the combination is one kernel."""
        return Atoms(self._w[np.newaxis], Uniform())

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        room = FEASIBLE * max(self.upper_bound, 1.0)
        return 0.0 if np.all((d >= 0) & (d <= self._w + room)) else np.inf

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        return self._w.copy()

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        x = nonnegative(sq_norms)
        if np.any((self._w == 0) & (x > 0)):
            return np.inf
        return total(divide(x, self._w)) / 2

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        return float(self._w @ nonnegative(G))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        return 0.0 if self.dual_value(G) > 0 else np.inf

    def initial_weights(self, n_kernels: int) -> Array:
        """The weights themselves."""
        return self._w.copy()

    def dual_weights(self, G: Array) -> Array:
        r"""The weights that attain :math:`\Omega(G)`."""
        return self._w.copy()

    def dual_curvature(self, G: Array) -> Curvature:
        """The Jacobian of ``dual_weights``: zero."""
        return Curvature(np.zeros(np.shape(G)), np.zeros((np.size(G), 0)), np.zeros(0))
