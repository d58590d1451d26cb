"""Loss: the data term of the objective, elementwise in (y, f)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from .._component import Array, Component
from ._intercept import piecewise_linear_intercept, smooth_intercept

SLACK = 1e-12  # rounding allowed, relative to the width of the dual domain


@dataclass(repr=False)
class Loss(Component):
    r"""A convex loss :math:`\ell(y, f)`; it knows nothing of kernels, weights or C.

    Arrays ``y``, ``f``, ``u`` have one shape, usually (n, n_outputs). An elementwise loss returns
    that shape; a loss that couples the outputs returns values of shape (n, 1).

    Attributes
    ----------
    y_domain : {"sign", "real", "onehot"}
        What targets may be; validation and tests read it.
    curvature_bound : float
        Least L with :math:`\ell'' \le L`; ``inf`` for losses with kinks, which have no ``hessian``.
    """

    y_domain: ClassVar[str] = "real"
    curvature_bound: ClassVar[float] = np.inf
    couples_outputs: ClassVar[bool] = False  # through the softmax
    likelihood: ClassVar[bool] = False  # decisions are log-odds, so probabilities follow

    @property
    def reach(self) -> float:
        """The largest size of a prediction whose loss is finite; most losses know none."""
        return np.inf

    @property
    def smooth(self) -> bool:
        """Whether the loss has a (piecewise continuous) second derivative and no kinks."""
        return bool(np.isfinite(self.curvature_bound))

    def check(self) -> None:
        """Raise ValueError where a parameter is out of range; solvers call it before they start."""
        return None

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        r"""The loss :math:`\ell(y, f)`."""

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        r"""A (sub)gradient of the loss in f."""

    @abstractmethod
    def conjugate(self, y: Array, u: Array) -> Array:
        r"""The conjugate :math:`\ell^*(y, u) = \sup_f u f - \ell(y, f)`; inf outside its domain."""

    @abstractmethod
    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        r"""The minimiser over f of :math:`\ell(y, f) + (f - v)^2 / (2\,\mathrm{step})`."""

    @abstractmethod
    def project_dual(self, y: Array, u: Array) -> Array:
        """The nearest point to u where the conjugate is finite."""

    @abstractmethod
    def best_intercept(self, y: Array, f: Array, cost: Array) -> Array:
        r"""The constants b, one per output, that minimise :math:`\sum_i c_i\, \ell(y_i, f_i + b)`.

        Parameters
        ----------
        y, f : array of shape (n, n_outputs)
            Targets and predictions without intercept.
        cost : array of shape (n, 1)
            Nonnegative :math:`c_i`: C times the sample weight.

        Returns
        -------
        b : array of shape (n_outputs,)
            Always finite, also where the infimum is only approached at infinity.
        """


@dataclass(repr=False)
class ElementwiseLoss(Loss, ABC):
    """A loss that treats every output by itself, so that its dual domain is an interval."""

    @abstractmethod
    def dual_bounds(self, y: Array) -> tuple[Array, Array]:
        """The ends, of the shape of y, of the interval of u where the conjugate is finite."""

    def project_dual(self, y: Array, u: Array) -> Array:
        """The nearest point to u where the conjugate is finite."""
        lower, upper = self.dual_bounds(y)
        return np.clip(u, lower, upper)

    def _where_feasible(self, y: Array, u: Array, values: Array) -> Array:
        """The values where u lies in its interval up to rounding, inf elsewhere."""
        lower, upper = self.dual_bounds(y)
        width = upper - lower
        slack = SLACK * np.where(np.isfinite(width), width, 1.0)
        return np.where((u >= lower - slack) & (u <= upper + slack), values, np.inf)


@dataclass(repr=False)
class SmoothLoss(ElementwiseLoss, ABC):
    """An elementwise loss with a second derivative."""

    @abstractmethod
    def hessian(self, y: Array, f: Array) -> Array:
        """The second derivative of the loss in f (one-sided where it jumps)."""

    def best_intercept(self, y: Array, f: Array, cost: Array) -> Array:
        r"""The constants b, one per output, that minimise :math:`\sum_i c_i\, \ell(y_i, f_i + b)`.

        Notes
        -----
        Newton steps from 0 and, where a few do not settle, kept in the bracket from
        :math:`\min_i (y_i - f_i) - 50` to :math:`\max_i (y_i - f_i) + 50`. Where the sum is flat
        any minimiser is returned; where it only falls towards infinity (the logistic loss with
        labels of one class) the bracket's end.
        """
        return smooth_intercept(self.gradient, self.hessian, y, f, cost)


@dataclass(repr=False)
class PiecewiseLinearLoss(ElementwiseLoss, ABC):
    """An elementwise loss made of straight pieces that meet at kinks, and perhaps end at walls."""

    @abstractmethod
    def kinks(self, y: Array) -> Array:
        """The increasing positions in f of the k kinks, an array of shape (k, *y.shape).

        Where the loss has a finite reach the first and the last are the walls.
        """

    def best_intercept(self, y: Array, f: Array, cost: Array) -> Array:
        r"""The constants b, one per output, that minimise :math:`\sum_i c_i\, \ell(y_i, f_i + b)`.

        Notes
        -----
        Exact, by sorting the kinks. The minimisers form an interval: its midpoint is returned, its
        finite end where it is a half-line (the hinge loss with labels of one class), and 0 where no
        sample has a cost. Where no constant brings all predictions into reach, those that exceed it
        on one side and on the other are balanced.
        """
        kinks = self.kinks(y)
        inner = [cost * self.gradient(y, (a + b) / 2) for a, b in pairwise(kinks)]
        first, last = self._end_slopes(y, cost, inner)
        return piecewise_linear_intercept(kinks - f, np.stack([first, *inner, last]))

    def _end_slopes(self, y: Array, cost: Array, inner: Sequence[Array]) -> tuple[Array, Array]:
        """The slopes before and after all kinks; walls are steeper than all pieces together."""
        if np.isinf(self.reach):
            lower, upper = self.dual_bounds(y)
            return cost * lower, cost * upper
        steep = np.where(cost > 0, 2 * np.sum(np.abs(inner), axis=(0, 1)), 0.0)
        return -steep, steep
