r"""Steps on the weights from the pairs (t, q): one routine for evidence and variational bounds.

With :math:`t_m = \operatorname{tr}(P K_m)` and :math:`q_m = \alpha^\top K_m \alpha` the derivative
of every objective of the family in :math:`d_m` is :math:`t_m - q_m`, plus that of the hyper-prior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from .._linalg import nonnegative_minimiser
from .base import Evaluation

PRUNE = 1e-8  # share of the degrees of freedom below which a weight is as good as zero
_REVIVE = 1e-3  # share of the variance that a kernel gets when it comes back, or less
_MAX_HALVINGS = 40
_ROUNDING = 1e-13  # a rise of the objective this small, relative to it, is none
_FLAT = 1e-3  # least curvature of a weight, relative to that of the fixed point
_RIDGE = 1e-10
_REACH = 3.0  # how far the largest weight may grow in one Newton step


def fixed_point(e: Evaluation) -> Array:
    r"""The MacKay update of the weights, or the minimiser of the bound under a hyper-prior.

    Notes
    -----
    Without a hyper-prior :math:`d_m \leftarrow d_m q_m/t_m` ([TS10]_, Eq. (23)), which never
    raises the objective.
    """
    d, prior = e.state.d, e.problem.hyper_prior
    if prior.value(np.ones_like(d)) == 0 and prior.keeps_zeros:
        ratio = np.divide(e.q, e.t, out=np.zeros_like(d), where=e.t > 0)
        return np.asarray(d * ratio)
    return prior.minimiser(d**2 * e.q, e.t)


def negligible(e: Evaluation) -> NDArray[np.bool_]:
    """Which weights carry no degrees of freedom."""
    return np.asarray(e.t * e.state.d < PRUNE * e.problem.y.size)


def all_negligible(e: Evaluation) -> bool:
    """Whether the latent function is as good as constant."""
    return bool(np.all(negligible(e)))


def prune(e: Evaluation, d: Array) -> Array:
    """Weights without those that carry no degrees of freedom and are still falling."""
    if not e.problem.hyper_prior.keeps_zeros:
        return d
    falling = (e.t * d < PRUNE * e.problem.y.size) & (e.gradient > 0)
    return np.where(falling, 0.0, d)


def revived(e: Evaluation) -> Evaluation | None:
    """The evaluation with kernels back that were dropped too early; None where that is no better.

    Weights that come back are halved until the objective does not rise.
    """
    d, scales = e.state.d, e.problem.kernel_scales
    gone = negligible(e) if e.problem.hyper_prior.keeps_zeros else d == 0
    wanting = gone & (e.gradient < -1e-6 * e.t)
    # all weights may have nearly vanished, and a share of them would be as good as nothing
    variance = max(float(np.sum(d * scales)), float(np.var(e.pseudo_targets)))
    back = _REVIVE * variance / scales
    for _ in range(_MAX_HALVINGS):
        wanting &= back > d
        if not np.any(wanting):
            return None
        new = Evaluation(e.problem, e.state._replace(d=np.where(wanting, back, d)))
        if new.trial_value <= e.value + _rounding(e):
            return new
        back = back / 2
    return None


def _rounding(e: Evaluation) -> float:
    return _ROUNDING * abs(e.value) if np.isfinite(e.value) else 0.0


def moving(e: Evaluation) -> float:
    """The largest |d_m g_m| per target: how far positive weights are from where they settle."""
    return float(np.max(np.abs(e.state.d * e.gradient))) / e.problem.y.size


def violation(d: Array, g: Array, unit: Array, least: float = PRUNE) -> float:
    """How far weights with a gradient are from the conditions of a minimum over d >= 0.

    Parameters
    ----------
    d, g : array of shape (n_kernels,)
    unit : array of shape (n_kernels,)
        The weight that a kernel without one would get.
    least : float, default=1e-8
        A weight that is less, in these units, and should grow counts like zero: that it moves
        slowly, as tiny weights do, does not mean that it has settled.

    Returns
    -------
    violation : float
        The largest of |d_m g_m| where a weight is positive, and of what a unit would gain, to first
        order, where it is zero.
    """
    gone = (d <= 0) | ((d < least * unit) & (g < 0))
    return float(np.max(np.where(gone, np.maximum(-g, 0.0) * unit, np.abs(d * g))))


def weight_stationarity(d: Array, g: Array, t: Array, size: int, keeps_zeros: bool = True) -> float:
    """The violation of stationarity in the weights per target, free of units.

    A kernel without weight counts with the weight that would use all degrees of freedom, size / t,
    so that its violation is the relative excess of q over t. So does one that is negligible,
    unless a hyper-prior keeps it from zero, under which tiny weights may be the best.
    """
    unit = np.divide(size, t, out=np.zeros_like(d), where=t > 0)
    return violation(d, g, unit, PRUNE if keeps_zeros else 0.0) / size


def newton_weights(e: Evaluation, learn_noise: bool) -> tuple[Array, float]:
    """Weights, and the noise variance, that minimise the quadratic model with average information.

    Notes
    -----
    The model has the gradient of the objective and the average information as its second
    derivatives. It is minimised over nonnegative weights, so that kernels come and go.
    """
    d, noise = e.state.d, float(e.state.site_var[0, 0])
    x, g, H = d, e.gradient, e.information(learn_noise)
    bend = np.maximum(e.problem.hyper_prior.hessian(d), 0.0)
    if learn_noise:
        x, g, bend = np.append(d, noise), np.append(g, e.noise_gradient()), np.append(bend, 0.0)
        curvature = np.append(e.q, e.noise_form)
    else:
        curvature = e.q
    least = _FLAT * curvature / max(float(x.max()), np.finfo(float).tiny)
    H = H + np.diag(bend + np.maximum(least - np.diag(H), 0.0))
    scale = 1 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    unit = scale[:, np.newaxis] * H * scale
    unit[np.diag_indices_from(unit)] += _RIDGE
    floor = np.zeros_like(x)
    if learn_noise:
        floor[-1] = 0.1 * noise
    if not e.problem.hyper_prior.keeps_zeros:
        floor[: len(d)] = 0.1 * d
    target = unit @ ((x - floor) / scale) - scale * g
    new = floor + scale * nonnegative_minimiser(unit, target, (x > floor) | (g < 0))
    step, reach = new - x, _REACH * float(x.max())
    if step.max() > reach > 0:
        new = x + reach / step.max() * step
    return (new[:-1], float(new[-1])) if learn_noise else (new, noise)
