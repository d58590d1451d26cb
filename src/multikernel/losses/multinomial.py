"""Multinomial loss: softmax cross-entropy over several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, softmax, wrightomega, xlogy

from .._component import Array
from ._root import increasing_root
from .base import SLACK, Loss

_REACH = 50.0  # an absent class keeps a probability below exp(-50)
_LEAST = 1e-12  # probability of a class
_EPS = float(np.finfo(float).eps)


@dataclass(repr=False)
class Multinomial(Loss):
    r"""Softmax cross-entropy for one-hot targets of shape (n, n_classes).

    Notes
    -----
    Rows are samples. With :math:`p = u + y`,

    .. math:: \ell(y, f) = \log \sum_t e^{f_t} - \sum_t y_t f_t, \qquad
              \ell^*(y, u) = \sum_t p_t \log p_t, \quad p_t \ge 0, \ \sum_t p_t = 1

    The loss does not change when a constant is added to all :math:`f_t` of a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.losses import Multinomial
    >>> Multinomial().value(np.eye(3)[[0]], np.zeros((1, 3))).round(4)
    array([[1.0986]])
    """

    y_domain: ClassVar[str] = "onehot"
    likelihood: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 0.5
    couples_outputs: ClassVar[bool] = True

    def value(self, y: Array, f: Array) -> Array:
        """Minus the log-probability of the true class, shape (n, 1)."""
        true = np.sum(y * f, axis=-1, keepdims=True)
        return np.asarray(logsumexp(f - true, axis=-1, keepdims=True))

    def gradient(self, y: Array, f: Array) -> Array:
        """The gradient in f: probabilities minus targets."""
        return np.asarray(softmax(f, axis=-1) - y)

    def hessian(self, y: Array, f: Array) -> Array:
        """The Hessian of every sample in f, shape (n, n_classes, n_classes)."""
        p = softmax(f, axis=-1)
        return np.asarray(p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :]))

    def conjugate(self, y: Array, u: Array) -> Array:
        """The convex conjugate, a negative entropy on the simplex, shape (n, 1)."""
        p = u + y
        slack = SLACK * p.shape[-1]
        inside = np.all(p >= -slack, axis=-1, keepdims=True)
        inside &= np.abs(np.sum(u, axis=-1, keepdims=True)) <= slack
        p = np.clip(p, 0.0, 1.0)
        return np.where(inside, np.sum(xlogy(p, p), axis=-1, keepdims=True), np.inf)

    def prox(self, y: Array, v: Array, step: Array | float) -> Array:
        r"""The minimiser over f of :math:`\ell(y, f) + \|f - v\|^2 / (2\,\mathrm{step})`.

        A step that varies has shape (n, 1).

        Notes
        -----
        With :math:`w = v + \mathrm{step}\, y` and :math:`\lambda = \log \sum_t e^{f_t}`, the
        condition :math:`f_t + \mathrm{step}\, e^{f_t - \lambda} = w_t` is solved by Wright's omega
        function, :math:`w_t - f_t = \omega_t = \omega(w_t - \lambda + \log \mathrm{step})`, and
        :math:`\lambda` is the root of :math:`\sum_t \omega_t = \mathrm{step}`.
        """
        step = np.broadcast_to(np.asarray(step, dtype=float), (*v.shape[:-1], 1))
        w = v + step * y
        shifted = w - w.max(axis=-1, keepdims=True) + np.log(step)

        def excess(lam: Array) -> tuple[Array, Array]:
            omega = wrightomega(shifted - lam)
            return (
                1.0 - np.sum(omega, axis=-1, keepdims=True) / step,
                np.sum(omega / (1.0 + omega), axis=-1, keepdims=True) / step,
            )

        upper = logsumexp(shifted - np.log(step), axis=-1, keepdims=True)
        scale = np.ones_like(upper)
        lam = increasing_root(excess, upper - step, upper, start=upper, scale=scale)
        return np.asarray(w - wrightomega(shifted - lam))

    def project_dual(self, y: Array, u: Array) -> Array:
        """The nearest u for which u + y lies in the simplex."""
        return _project_simplex(u + y) - y

    def balance_dual(self, y: Array, u: Array, cost: Array) -> Array:
        r"""A near u for which u + y lies in the simplex and :math:`\sum_i c_i u_i = 0`.

        Notes
        -----
        Probabilities :math:`p_{it} \propto \max(u_{it} + y_{it}, \varepsilon)\, e^{b_t}`, with the
        constants b for which every class is as frequent as in y.
        """
        log_p = np.log(np.maximum(u + y, _LEAST))
        return self.gradient(y, log_p + self.best_intercept(y, log_p, cost))

    def best_intercept(self, y: Array, f: Array, cost: Array) -> Array:
        r"""The constants b with zero sum that minimise :math:`\sum_i c_i\, \ell(y_i, f_i + b)`.

        Notes
        -----
        Damped Newton. A class without cost wants :math:`b_t = -\infty`; it gets a value at which
        its probability is below :math:`e^{-50}` in every sample.
        """
        present = np.sum(cost * y, axis=0) > 0
        b = np.zeros(f.shape[1])
        if not present.any():
            return b
        b[present] = self._newton_intercept(y[:, present], f[:, present], cost)
        b[~present] = b[present].min() - np.ptp(f, axis=1).max() - _REACH
        centred: Array = b - b.mean()
        return centred

    def _newton_intercept(self, y: Array, f: Array, cost: Array) -> Array:
        """Levenberg-Marquardt steps in b, from 0, down to rounding."""
        b, damping, total = np.zeros(f.shape[1]), 1e-10, float(cost.sum())
        value, gradient, hessian = self._intercept_terms(y, f, cost / total, b)
        resolution = 4 * _EPS * max(1.0, float(np.abs(f).max()))
        for _ in range(300):
            if np.abs(gradient).max() <= 2 * _EPS:
                break
            curvatures, axes = np.linalg.eigh(hessian)
            step = -axes @ ((axes.T @ gradient) / (np.maximum(curvatures, 0.0) + damping))
            step -= step.mean()  # Σ b = 0
            trial = self._intercept_terms(y, f, cost / total, b + step)
            predicted = -float(gradient @ step) / 2
            flatter = np.abs(trial[1]).max() < np.abs(gradient).max()
            visible = predicted > 8 * _EPS * value  # beyond rounding; below it trust the gradient
            if trial[0] <= value - 0.1 * predicted if visible else flatter:
                b, damping = b + step, max(damping / 16, 1e-16)
                value, gradient, hessian = trial
            elif np.abs(step).max() <= resolution:
                break
            else:
                damping *= 8
        return b

    def _intercept_terms(
        self, y: Array, f: Array, cost: Array, b: Array
    ) -> tuple[float, Array, Array]:
        """The weighted sum of losses at f + b with its gradient and Hessian in b."""
        p = softmax(f + b, axis=1)
        value = float(np.sum(cost * self.value(y, f + b)))
        mass = np.sum(cost * p, axis=0)
        hessian = np.diag(mass) - (cost * p).T @ p  # Σ c_i (diag p_i − p_i p_iᵀ)
        return value, np.sum(cost * (p - y), axis=0), hessian


def _project_simplex(p: Array) -> Array:
    """The nearest point, row by row, with nonnegative entries that sum to one."""
    descending = -np.sort(-p, axis=-1)
    counts = np.arange(1, p.shape[-1] + 1)
    thresholds = (np.cumsum(descending, axis=-1) - 1.0) / counts
    n_positive = np.sum(descending > thresholds, axis=-1, keepdims=True)
    shift = np.take_along_axis(thresholds, n_positive - 1, axis=-1)
    return np.maximum(p - shift, 0.0)
