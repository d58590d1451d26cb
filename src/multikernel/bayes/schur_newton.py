r"""Newton's method on weights and latent values together, without any inverse of a kernel.

Notation: θ in [NS11] is ``d`` here. The objective is

.. math:: \psi(d, u, b) = u^\top K_d^{-1} u + L(u + b \mathbf 1) + \lambda^\top d
          - 2 \ln p(d), \qquad K_d = \sum_m d_m K_m,

convex in all its arguments where L and the hyper-prior are. It is kept in the coordinates
:math:`u = K_d \alpha`, in which nothing is inverted and :math:`K_d` may be singular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from .._component import Array
from .._linalg import nonnegative_minimiser
from ..banks import Bank
from ..solvers._curvature import DiagonalCurvature
from .hyper_priors import HyperPrior

_ARMIJO = 1e-4
_MAX_HALVINGS = 30
_ROUNDING = 1e-14  # a rise of the objective this small, relative to it, is none
_RIDGE = 1e-10
_FLAT = 1e-3  # least curvature of a weight, relative to its slopes over the largest weight
_REACH = 3.0  # how far the largest weight may grow in one step
_SHRINK = 0.1  # how far a weight may fall in one step where a hyper-prior forbids zero


class LatentTerm(Protocol):
    """The part of an objective that depends on the latent values z = u + b."""

    def value(self, z: Array) -> float:
        """Its sum over samples and outputs."""

    def gradient(self, z: Array) -> Array:
        """Its derivatives, of the shape of z."""

    def curvature(self, z: Array) -> Array:
        """Its second derivatives, or those of a quadratic above it; not negative."""


class JointPoint(NamedTuple):
    r"""Weights, coefficients, intercepts, and the combined kernel that belongs to the weights."""

    d: Array
    alpha: Array  # (n, n_outputs)
    b: Array  # (n_outputs,)
    K: Array


@dataclass(frozen=True)
class JointProblem:
    r"""A convex problem in weights and latent values, able to take a Newton step.

    Parameters
    ----------
    bank : Bank
    term : LatentTerm
        The function L.
    slopes : array of shape (n_kernels,)
        The slopes :math:`\lambda`.
    hyper_prior : HyperPrior
    fit_intercept : bool
    """

    bank: Bank
    term: LatentTerm
    slopes: Array
    hyper_prior: HyperPrior
    fit_intercept: bool

    def point(self, d: Array, alpha: Array, b: Array) -> JointPoint:
        """The point at given weights, coefficients and intercepts."""
        return JointPoint(d, alpha, b, self.bank.combine(d))

    def value(self, point: JointPoint) -> float:
        """The objective."""
        u = point.K @ point.alpha
        smooth = float(np.sum(point.alpha * u)) + self.term.value(u + point.b)  # uᵀK⁻¹u + L
        return smooth + float(self.slopes @ point.d) + self.hyper_prior.value(point.d)

    def descend(self, point: JointPoint, products: Array | None = None) -> JointPoint:
        r"""A point of lower value on the curve that starts as the Newton step; or the same point.

        The vectors :math:`K_m \alpha`, shape (M, n, n_outputs), need not be computed where given.

        Notes
        -----
        With :math:`B = [K_1\alpha, \dots, K_M\alpha]`, :math:`W = \tfrac12 L''` and P the
        projected inverse of :math:`K_d + W^{-1}`, the step of α and b for fixed weights leads to
        :math:`\hat\alpha = P (z - \tfrac12 W^{-1} L')`, and eliminating them leaves

        .. math:: H \delta_d = -g, \qquad
                  H = 2 B^\top P B + \mathrm{diag}(p''), \quad
                  g = \lambda + p' - \alpha^\top B - 2 B^\top (\hat\alpha - \alpha),

        the Schur complement of [NS11]_, Section 3, solved over :math:`d + \delta_d \ge 0` by an
        active set: there is no barrier, and weights may be zero. One Cholesky factor, one sweep
        for B and one for the new kernel: :math:`O(n^3 + M n^2 + M^2 n)`.
        """
        d, alpha, b, K = point
        u = K @ alpha
        slope_z, W = self.term.gradient(u + b), 0.5 * self.term.curvature(u + b)
        products = self.bank.apply(alpha) if products is None else products
        B = np.moveaxis(products, 0, 2)  # (n, n_outputs, M)
        curvature = DiagonalCurvature(W)
        response = (W * (u + b) - 0.5 * slope_z)[:, :, np.newaxis]
        right = np.concatenate([curvature.times(B), response], axis=2)
        solved, solved_b = curvature.system(K, self.fit_intercept).solve(right)
        PB, alpha_hat = solved[:, :, :-1], solved[:, :, -1]
        q = np.tensordot(alpha, B, axes=2)  # αᵀK_mα
        g_d = self.slopes + self.hyper_prior.gradient(d) - q
        g = g_d - 2 * np.tensordot(alpha_hat - alpha, B, axes=2)
        H = 2 * np.tensordot(B, PB, axes=([0, 1], [0, 1]))  # 2BᵀPB
        d_new = constrained_newton(d, g, H, self.hyper_prior, self.slopes + q)
        step = d_new - d
        new = self.point(d_new, alpha_hat - PB @ step, solved_b[:, -1] - solved_b[:, :-1] @ step)
        du = K @ (new.alpha - alpha) + B @ step  # δu = Kδα + Bδd
        slope = float(np.sum((2 * alpha + slope_z) * du) + np.sum(slope_z * (new.b - b)))
        return self._line_search(point, new, slope + float(g_d @ step))

    def _line_search(self, point: JointPoint, new: JointPoint, slope: float) -> JointPoint:
        """The first of the points half as far, a quarter, ... that is as good as it should be."""
        value, share = self.value(point), 1.0
        for _ in range(_MAX_HALVINGS):
            enough = value + _ARMIJO * share * min(slope, 0.0) + _ROUNDING * abs(value)
            if self.value(new) <= enough:
                return new
            share *= 0.5
            new = JointPoint(*(0.5 * (old + end) for old, end in zip(point, new, strict=True)))
        return point


def constrained_newton(
    d: Array, g: Array, H: Array, hyper_prior: HyperPrior, slopes: Array
) -> Array:
    """The nonnegative weights that minimise the quadratic model with gradient g at d.

    Parameters
    ----------
    d, g : array of shape (n_kernels,)
    H : array of shape (n_kernels, n_kernels)
        Second derivatives without those of the hyper-prior, positive semi-definite.
    hyper_prior : HyperPrior
        Its second derivatives are added where they are positive.
    slopes : array of shape (n_kernels,)
        Sizes of the slopes that make up g; a weight without curvature moves as far as they tell.
    """
    largest = float(d.max()) or np.inf  # from zero, the line search alone says how far
    least = _FLAT * np.maximum(slopes, np.abs(g)) / largest
    # at zero the penalty may be curved without bound, and no step would leave it
    own = hyper_prior.hessian(np.maximum(d, _FLAT * largest)) if np.isfinite(largest) else 0.0
    bend = np.maximum(np.diag(H) + np.maximum(own, 0.0), least)
    scale = np.divide(1.0, np.sqrt(bend), out=np.zeros_like(bend), where=bend > 0)
    unit = scale[:, np.newaxis] * H * scale
    unit[np.diag_indices_from(unit)] = 1.0 + _RIDGE
    floor = np.zeros_like(d) if hyper_prior.keeps_zeros else _SHRINK * d
    above = np.divide(d - floor, scale, out=np.zeros_like(d), where=scale > 0)
    target = unit @ above - scale * g
    new = floor + scale * nonnegative_minimiser(unit, target, (d > floor) | (g < 0))
    step = new - d
    if (rise := float(step.max())) > _REACH * largest:
        step *= _REACH * largest / rise
    return np.asarray(d + step)
