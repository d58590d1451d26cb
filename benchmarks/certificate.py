"""Objective and lower bound of a returned machine, written out again without the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import xlogy
from workloads import Array, Workload

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Penalty:
    """The block norm g(t) of the norms t_m and the dual term Ω(G)."""

    norm: Callable[[Array], float]
    dual: Callable[[Array], float]


def _power(p: float) -> Penalty:
    q, dual_p = 2 * p / (1 + p), p / (p - 1)
    return Penalty(lambda t: np.sum(t**q) / q, lambda G: np.sum(G**dual_p) / dual_p)


def _ball(p: float) -> Penalty:
    q, dual_p = 2 * p / (1 + p), np.inf if p == 1 else p / (p - 1)
    return Penalty(lambda t: 0.5 * np.linalg.norm(t, q) ** 2, lambda G: np.linalg.norm(G, dual_p))


PENALTIES = {
    "elastic net": Penalty(
        lambda t: 0.5 * np.sum(t) + 0.25 * np.sum(t**2),
        lambda G: 2 * np.sum(np.maximum(np.sqrt(G) - 0.5, 0) ** 2),
    ),
    "block-1": Penalty(np.sum, lambda G: 0.0 if G.max() <= 1 + _ROUNDING else np.inf),
    "l1 ball": _ball(1),
    "l2 ball": _ball(2),
    "l1.5 power": _power(1.5),
    "l2 power": _power(2),
}

LOSSES = {
    "hinge": lambda y, z: np.maximum(0, 1 - y * z),
    "logistic": lambda y, z: np.logaddexp(0, -y * z),
    "squared": lambda y, z: (y - z) ** 2 / 2,
}


def bounds(
    w: Workload,
    loss: str,
    penalty: str,
    C: float,
    machine: tuple[Array, Array, float],
    intercept: bool = True,
) -> tuple[float, float]:
    """The objective of the machine (d, alpha, b) and a lower bound of its minimum."""
    d, alpha, b = machine
    products = w.K @ alpha
    z = d @ products + b
    t = d * np.sqrt(np.maximum(products @ alpha, 0))  # ‖f_m‖ = d_m √(αᵀ K_m α)
    objective = C * np.sum(LOSSES[loss](w.y, z)) + PENALTIES[penalty].norm(t)

    feasible = _feasible(w.y, loss, C, alpha, intercept)
    G = np.maximum((w.K @ feasible) @ feasible, 0)

    def dual(c: float) -> float:
        return _dual_loss(w.y, loss, C, c * feasible) - PENALTIES[penalty].dual(c**2 * G) / 2

    largest = min(1.0, 1 / np.sqrt(G.max())) if penalty == "block-1" else 1.0
    ray = minimize_scalar(lambda c: -dual(c), bounds=(0, largest), method="bounded")
    return float(objective), float(max(dual(largest), -ray.fun))


def relative_gap(objective: float, bound: float) -> float:
    """The gap relative to the objective."""
    return (objective - bound) / abs(objective)


def _dual_loss(y: Array, loss: str, C: float, alpha: Array) -> float:
    """Minus the conjugate of the loss, C Σ -ℓ*(y, -α/C)."""
    if loss == "squared":
        return alpha @ y - alpha @ alpha / (2 * C)
    a = np.clip(y * alpha / C, 0, 1)
    return C * np.sum(a) if loss == "hinge" else -C * np.sum(xlogy(a, a) + xlogy(1 - a, 1 - a))


def _feasible(y: Array, loss: str, C: float, alpha: Array, intercept: bool) -> Array:
    """The coefficients moved into the domain of the dual: 0 ≤ yα ≤ C and Σα = 0."""
    lower, upper = np.full_like(y, -np.inf), np.full_like(y, np.inf)
    if loss != "squared":
        lower, upper = np.minimum(0, C * y), np.maximum(0, C * y)

    def shifted(shift: float) -> Array:
        return np.clip(alpha - shift, lower, upper)

    if not intercept:
        return shifted(0.0)
    reach = np.abs(alpha).max() + C
    return shifted(brentq(lambda shift: np.sum(shifted(shift)), -reach, reach, xtol=1e-16))
