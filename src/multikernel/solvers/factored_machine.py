r"""The kernel machine for fixed weights on factors: Newton's method in the coefficients.

With :math:`K = ZZ^\top` of rank p below n the problem of ``fixed_weights`` is

.. math:: \min_{w, b}\; \sum_i c_i\, \ell(y_i, (Zw)_i + b) + \tfrac12 \|w\|^2, \qquad w \in R^p,

and every system has the size of w: no matrix of size n × n is formed. Smooth losses take Newton
steps; losses with kinks are replaced by their Moreau envelope around the current :math:`\alpha` (a
proximal step on the dual), whose width shrinks until the duality gap is closed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from .._component import Array
from .._linalg import cholesky
from .base import Problem, relative_gap
from .fixed_weights import DataTerm, EnvelopeTerm, SmoothTerm, _line_search

_MAX_NEWTON = 100
_WIDEST = 1e6  # proximal step, relative to the first or to the cost
_ROUNDING = 1e-14
_BALANCED = 1e-9  # sum of dual coefficients, relative to that of their sizes


class FactoredMachine(NamedTuple):
    """Coefficients w of shape (p, n_outputs), with dual coefficients that prove a bound."""

    w: Array
    b: Array
    alpha: Array
    objective: float
    bound: float
    n_iter: int

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.objective, self.bound)


def fit_factored(problem: Problem, Z: Array, tol: float, max_iter: int = 200) -> FactoredMachine:
    r"""The optimal machine for the kernel :math:`ZZ^\top`, to a relative duality gap of tol.

    Parameters
    ----------
    problem : Problem
        Its bank and its regularizer are not used.
    Z : array of shape (n, p)
    tol : float
    max_iter : int, default=200
        Newton steps for a smooth loss, proximal steps for one with kinks.
    """
    if problem.loss.couples_outputs or problem.y.shape[1] == 1:
        return _fit(problem, Z, tol, max_iter)
    return _stack([_fit(part, Z, tol, max_iter) for part in _outputs(problem)])


def _fit(problem: Problem, Z: Array, tol: float, max_iter: int) -> FactoredMachine:
    fit = _fit_smooth if problem.loss.smooth else _fit_with_kinks
    return fit(problem, Z, tol, max_iter)


def _outputs(problem: Problem) -> list[Problem]:
    """One problem per output."""
    offset = problem.offset
    return [
        replace(problem, y=problem.y[:, [t]], offset=None if offset is None else offset[:, [t]])
        for t in range(problem.y.shape[1])
    ]


def _stack(machines: list[FactoredMachine]) -> FactoredMachine:
    return FactoredMachine(
        w=np.hstack([m.w for m in machines]),
        b=np.concatenate([m.b for m in machines]),
        alpha=np.hstack([m.alpha for m in machines]),
        objective=sum(m.objective for m in machines),
        bound=sum(m.bound for m in machines),
        n_iter=max(m.n_iter for m in machines),
    )


class _Certificate:
    """The best coefficients and the best bound so far."""

    def __init__(self, problem: Problem, Z: Array) -> None:
        self.problem, self.Z = problem, Z
        self.objective, self.bound, self.n_iter = np.inf, -np.inf, 0
        self.w: Array = np.zeros((Z.shape[1], problem.y.shape[1]))
        self.b: Array = np.zeros(problem.y.shape[1])
        self.alpha: Array = np.zeros_like(problem.y)

    def lower(self, w: Array, f: Array) -> Array:
        """Use coefficients, with f = Z w, as the solution; their best intercept is returned."""
        t, b = self.problem.into_reach(f, self.problem.best_intercept(f))
        value = self.problem.data_term(t * f + b) + 0.5 * float(np.sum((t * w) ** 2))
        if value < self.objective:
            self.objective, self.w, self.b = value, t * w, b
        return b

    def raise_bound(self, alpha: Array) -> None:
        """Use a dual point, made feasible, as a bound."""
        self.n_iter += 1
        alpha = self.problem.feasible_dual(alpha)
        bound = self.problem.dual_objective(alpha, np.array([np.sum((self.Z.T @ alpha) ** 2)]))
        if bound > self.bound:
            self.bound, self.alpha = bound, alpha

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.objective, self.bound)

    def machine(self) -> FactoredMachine:
        """The best point with its certificate."""
        return FactoredMachine(self.w, self.b, self.alpha, self.objective, self.bound, self.n_iter)


def _fit_smooth(problem: Problem, Z: Array, tol: float, max_iter: int) -> FactoredMachine:
    """Newton steps, each followed by the best intercept, until the duality gap is closed."""
    term, certificate = SmoothTerm(problem), _Certificate(problem, Z)
    w = certificate.w
    for _ in range(max_iter):
        f = Z @ w
        b = certificate.lower(w, f)
        certificate.raise_bound(-term.gradient(f + b))  # α = −C ℓ'(z)
        if certificate.gap <= tol:
            break
        z = f + b
        w, _ = _newton_step(term, problem, Z, w, b, z, term.gradient(z))
    return certificate.machine()


def _fit_with_kinks(problem: Problem, Z: Array, tol: float, max_iter: int) -> FactoredMachine:
    """Proximal steps on the dual, each a smooth problem, until the duality gap is closed."""
    certificate = _Certificate(problem, Z)
    w = certificate.w
    b = certificate.lower(w, np.zeros_like(problem.y))
    cost = float(np.mean(problem.cost))
    sigma = least = 10.0 / max(float(np.mean(np.sum(Z**2, axis=1))), 1e-8 / cost)
    largest = _WIDEST * max(sigma, cost)
    for _ in range(max_iter):
        term = EnvelopeTerm(problem, certificate.alpha, sigma)
        w, b = _minimise(term, problem, Z, w, b, 0.1 * tol * certificate.objective)
        f = Z @ w
        last = certificate.gap
        certificate.lower(w, f)
        certificate.raise_bound(-term.gradient(f + b))
        if certificate.gap <= tol:
            break
        sigma = (
            10.0 * sigma if certificate.gap < last else 0.1 * sigma
        )  # a step too long to be solved
        sigma = float(np.clip(sigma, least, largest))
    return certificate.machine()


def _minimise(
    term: DataTerm, problem: Problem, Z: Array, w: Array, b: Array, enough: float
) -> tuple[Array, Array]:
    r"""Newton steps on a smooth data term until its duality gap is small enough.

    Notes
    -----
    With :math:`\alpha = -\rho` the gap is :math:`\tfrac12 \|w - Z^\top\alpha\|^2`, if the
    intercept is the best one.
    """
    size = float(np.linalg.norm(Z))
    z = Z @ w + b
    rho = term.gradient(z)
    for _ in range(_MAX_NEWTON):  # one at least: large costs see predictions that this gap does not
        w, b = _newton_step(term, problem, Z, w, b, z, rho)
        z = Z @ w + b
        rho = term.gradient(z)
        gap = 0.5 * float(np.sum((Z.T @ rho + w) ** 2))
        rounding = _ROUNDING * size * float(np.linalg.norm(rho))
        if gap <= enough + rounding**2 and _balanced(problem, rho):
            break
    return w, b


def _newton_step(
    term: DataTerm, problem: Problem, Z: Array, w: Array, b: Array, z: Array, rho: Array
) -> tuple[Array, Array]:
    """One Newton step with an exact line search on the primal."""
    step, step_b = _newton_direction(term, problem, Z, w, z, rho)
    step_z = Z @ step + step_b
    linear, square = float(np.sum(w * step)), float(np.sum(step**2))
    slope = float(np.sum(rho * step_z)) + linear
    rounding = _ROUNDING * (float(np.sum(np.abs(rho * step_z))) + abs(linear))
    enough = 0.1 * abs(slope) + rounding
    rate, _ = _line_search(term, z, step_z, linear, square, enough)
    return w + rate * step, b + rate * step_b


def _newton_direction(
    term: DataTerm, problem: Problem, Z: Array, w: Array, z: Array, rho: Array
) -> tuple[Array, Array]:
    r"""The solution of the Newton system in (w, b), whose blocks belong to the outputs.

    Notes
    -----
    With :math:`A = [Z, \mathbf 1]`, block (t, u) of the matrix is :math:`A^\top W_{tu} A`, plus the
    identity on the coefficients where t = u; the right-hand side is
    :math:`-A^\top \rho - (w, 0)`.
    """
    n_outputs, p = z.shape[1], Z.shape[1]
    W = term.curvature(z).times(np.broadcast_to(np.eye(n_outputs), (*z.shape, n_outputs)))
    curved = np.flatnonzero(W.any(axis=(1, 2)))
    A, W = Z[curved], W[curved]
    H = np.zeros((n_outputs, p + 1, n_outputs, p + 1))
    for t in range(n_outputs):
        for u in range(n_outputs):
            AW = W[:, t, u, np.newaxis] * A
            H[t, :p, u, :p] = AW.T @ A + (t == u) * np.eye(p)  # I + Zᵀ W Z
            H[t, :p, u, p] = H[u, p, t, :p] = AW.sum(axis=0)  # Zᵀ W 1
    H[:, p, :, p] = _intercept_block(W, problem.loss.couples_outputs)
    r = -np.vstack([Z.T @ rho + w, rho.sum(axis=0)]).T
    size = p + problem.fit_intercept
    H = H[:, :size, :, :size].reshape(n_outputs * size, n_outputs * size)
    solution = cho_solve(cholesky(H), r[:, :size].ravel()).reshape(n_outputs, size)
    step_b = solution[:, p] if problem.fit_intercept else np.zeros(n_outputs)
    return solution[:, :p].T, step_b


def _balanced(problem: Problem, rho: Array) -> bool:
    r"""Whether :math:`\mathbf 1^\top\alpha = 0`, well enough for a small shift to make it so."""
    return not problem.fit_intercept or bool(
        np.abs(rho.sum()) <= _BALANCED * float(np.abs(rho).sum())
    )


def _intercept_block(W: Array, couples_outputs: bool) -> Array:
    """The block of the intercepts, made definite where no curvature fixes their level."""
    block: Array = W.sum(axis=0)
    if couples_outputs or not len(W):  # a common constant changes nothing
        block = block + (float(np.trace(block)) or 1.0)
    return block
