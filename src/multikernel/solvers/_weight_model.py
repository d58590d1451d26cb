"""The quadratic model of the objective in the weights, and its minimiser over the feasible set."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from .._linalg import nonnegative_minimiser
from ..regularizers import Regularizer

_FLAT = 1e-3  # where the machine does not bend with the weights its model is kept this curved
_RIDGE = 1e-10  # relative; duplicated kernels make the model flat
_EQUALITY = 1e6  # stiffness of the linearised constraint, relative to the model
_KEEP = 0.1  # share of a weight that one step must leave where weights never vanish
_REACH = 10.0  # how far a weight may grow in one step, relative to the largest
_MARGIN = 0.9  # share of the way to an upper bound that one step may go


@dataclass(frozen=True)
class WeightModel:
    r"""First and second derivatives of J in the weights, without the part :math:`V^\top P V`.

    For a penalty, :math:`\tfrac12(\nabla h - G)` and :math:`\tfrac12\nabla^2 h`. For a bound on the
    norm the same with :math:`\mu h`, where :math:`\mu = d^\top G / d^\top\nabla h` is the
    multiplier, and steps orthogonal to ``normal``.
    """

    regularizer: Regularizer
    G: Array
    gradient: Array
    hessian: Array
    normal: Array | None

    @classmethod
    def at(cls, regularizer: Regularizer, d: Array, G: Array) -> WeightModel:
        """The model at weights d with :math:`G_m = \\alpha^\\top K_m \\alpha`."""
        bend = regularizer.hessian(d)
        if not hasattr(regularizer, "norm"):
            slope = regularizer.subgradient(d, G)
            return cls(regularizer, G, 0.5 * (slope - G), 0.5 * bend, None)
        mu = float(d @ G) / float(d @ regularizer.gradient(d))
        slope = regularizer.subgradient(d, G / mu)
        return cls(regularizer, G, 0.5 * (mu * slope - G), 0.5 * mu * bend, slope)

    def of_fixed_size(self, d: Array) -> WeightModel:
        """The model restricted to steps that keep the penalty, to first order."""
        return replace(self, normal=self.regularizer.gradient(d))

    def retract(self, d: Array, d_next: Array) -> Array:
        """The step shortened, or scaled back, to feasible weights."""
        if self.normal is not None:
            scaled: Array = d_next / self.regularizer.norm(d_next)
            return scaled
        room = np.minimum(_MARGIN * (self.regularizer.upper_bound - d), _REACH * d.max())
        step = d_next - d
        shares = np.divide(room, step, out=np.full_like(d, np.inf), where=step > 0)
        longest = np.min(shares)
        return d + min(1.0, float(longest)) * step


def minimise(model: WeightModel, working: NDArray[np.intp], H: Array, d: Array) -> Array:
    """The nonnegative weights of the working set that minimise the model with curvature H added."""
    d, gradient = d[working], model.gradient[working]
    bend = (
        model.hessian[working]
        if model.hessian.ndim == 1
        else model.hessian[np.ix_(working, working)]
    )
    Q = H + (np.diag(bend) if bend.ndim == 1 else bend)
    least = _FLAT * model.G[working] / d.max()  # of the curvature G/d of the closed-form step
    Q[np.diag_indices_from(Q)] += np.maximum(least - np.diag(Q), _RIDGE * np.mean(np.diag(Q)))
    floor = np.zeros_like(d) if model.regularizer.selects_kernels else _KEEP * d
    q = Q @ (d - floor) - gradient
    if model.normal is not None:  # a stiff row for the linearised constraint
        row = model.normal[working] / np.linalg.norm(model.normal[working])
        stiffness = _EQUALITY * float(np.mean(np.diag(Q)))
        Q = Q + stiffness * np.outer(row, row)
        q = q + stiffness * (row @ (d - floor)) * row
    return floor + nonnegative_minimiser(Q, q, d > floor)
