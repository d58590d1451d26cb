"""Dual augmented Lagrangian: proximal steps on the functions, solved in the dual on few kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from .._component import Array
from .base import Lack, Problem, Progress, Solution, Solver
from .fixed_weights import Start, fit_fixed_weights

_FIRST = 10.0  # first proximal step, relative to the norms that may be expected
_LEAST = 1e-10  # loss per unit of cost that a constant predictor is taken to leave
_GROWTH = 10.0  # of the proximal step, from one round to the next
_LARGEST = 1e6  # proximal step, relative to the first
_RETREAT = 0.03  # shrinks the proximal step where a round fails
_MAX_NEWTON = 20
_SHARE = 0.1  # of the proximal distance that a round may be wrong by
_ROOM = 20  # kernels in the working set, at least
_LOOSE = 0.3  # of the gap that one Newton step may leave in its model


@dataclass(repr=False)
class DualAugmentedLagrangian(Solver):
    r"""Proximal steps on the functions, each a smooth dual problem over a working set of kernels.

    For one output, smooth losses and regularizers that are a sum over kernels; best where kernels
    are many and few of them are used.

    Notes
    -----
    A round minimises J plus :math:`\tfrac1{2\gamma}\sum_m \|f_m - f_m^{\rm old}\|^2`. With
    :math:`f_m^{\rm old} = K_m a_m`, :math:`v_m = a_m + \gamma\alpha`,
    :math:`r_m^2 = v_m^\top K_m v_m` and :math:`t_m = \mathrm{prox}_{\gamma g}(r_m)` its dual is
    smooth,

    .. math:: \max_\alpha\; D_\ell(\alpha) - \sum_m e(r_m), \qquad
              e(r) = \tfrac1\gamma \big(r t - \tfrac12 t^2\big) - g(t^2), \qquad
              \nabla = \sum_m c_m K_m v_m, \quad c_m = t_m / r_m,

    .. math:: \nabla^2 = B = \gamma \sum_m c_m K_m
              + \frac{\gamma\,(t_m' - c_m)}{r_m^2}\, K_m v_m v_m^\top K_m ,

    so that a Newton step is a kernel machine with kernel B. Then :math:`f_m \leftarrow c_m K_m v_m`
    and :math:`\gamma` grows, which makes the rounds converge faster than linearly. Newton steps
    read only the working set. All kernels are read at the end of a round, for the certificate: the
    predictor is the machine whose weights belong to the norms :math:`t_m`, the bound the better of
    its dual and that of the round. Of the :math:`a_m` only the products :math:`K_m a_m` are kept,
    for the kernels in use.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.losses import Squared
    >>> from multikernel.regularizers import LpNorm
    >>> from multikernel.solvers import Problem
    >>> bank = PackedBank.from_grams([np.diag([4.0, 0.0]), np.diag([0.0, 1.0])])
    >>> y = np.array([[3.0], [0.5]])
    >>> problem = Problem(bank, y, Squared(), LpNorm(1.0), fit_intercept=False)
    >>> DualAugmentedLagrangian(tol=1e-10).solve(problem).weights.round(3)
    array([1.25, 0.  ])
    """

    requires_loss: ClassVar[tuple[str, ...]] = ("hessian",)
    requires_regularizer: ClassVar[tuple[str, ...]] = ("prox", "prox_derivative")

    @classmethod
    def missing(cls, problem: Problem) -> Lack | None:
        """What the parts of a problem lack for this solver, if anything."""
        if problem.y.shape[1] > 1:
            return Lack("one output", f"and there are {problem.y.shape[1]}")
        return super().missing(problem)

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        bank = problem.bank
        progress = Progress(problem, self.tol)
        alpha, G, functions = _first_point(problem, start)
        gamma = _first_step(problem, functions, G)
        largest = _LARGEST * gamma
        for _ in range(self.max_iter):
            proximal = _Round(problem, gamma, functions.on(_working_set(problem, functions, G)))
            end, solved = proximal.solve(alpha, 0.1 * self.tol)
            trial = proximal.update(end)  # f_m ← c_m K_m v_m
            G = proximal.quadratic(end)
            d = problem.without_noise(_weights(problem, trial), end.alpha, G)
            point = Start(end.alpha, problem.best_intercept(proximal.total(end)))
            machine = fit_fixed_weights(problem, bank.combine(d), _inner_tol(progress), point)
            progress.raise_bound(end.alpha, G)
            G_machine = bank.quadratic(machine.alpha)  # G_m = αᵀK_m α
            progress.record(d, machine.alpha, machine.b, G_machine, machine.f)
            if progress.converged:
                break
            if solved:
                alpha, functions = end.alpha, trial
            gamma = min(_GROWTH * gamma, largest) if solved else _RETREAT * gamma
        return progress.solution(self)


def _inner_tol(progress: Progress) -> float:
    return float(np.clip(0.1 * progress.gap, 0.1 * progress.tol, 1e-3))


class _Functions(NamedTuple):
    r"""Functions :math:`f_m = K_m a_m` at the samples, one row per kernel; others are zero."""

    kernels: NDArray[np.intp]
    sq_norms: Array
    products: Array

    def on(self, kernels: NDArray[np.intp]) -> _Functions:
        """The same functions listed on more kernels, in increasing order."""
        place = np.searchsorted(kernels, self.kernels)
        sq_norms = np.zeros(len(kernels))
        products = np.zeros((len(kernels), self.products.shape[1]))
        sq_norms[place], products[place] = self.sq_norms, self.products
        return _Functions(kernels, sq_norms, products)


def _first_point(problem: Problem, start: Solution | None) -> tuple[Array, Array, _Functions]:
    """A dual point, its G and functions to start from: none, or those of an earlier solution."""
    if start is None:
        alpha = problem.constant_predictor()[1]
        G = problem.bank.quadratic(alpha)
        none = _Functions(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros((0, len(alpha))))
        return alpha, G, none
    alpha, d = problem.feasible_dual(start.dual_coef), start.weights
    G = problem.bank.quadratic(alpha)
    kernels = np.flatnonzero(d**2 * G > 0)
    products = d[kernels, np.newaxis] * problem.bank.apply(alpha, kernels)[:, :, 0]
    return alpha, G, _Functions(kernels, (d**2 * G)[kernels], products)


def _first_step(problem: Problem, functions: _Functions, G: Array) -> float:
    r"""The first :math:`\gamma`: the mean norm that the kernels of the working set may reach."""
    working = _working_set(problem, functions, G)
    z = np.zeros_like(problem.y)
    reach = problem.data_term(z + problem.best_intercept(z))  # Σ_m t_m ≤ J(0) for the block 1-norm
    return _FIRST * max(reach, _LEAST * float(np.sum(problem.cost))) / len(working)


def _working_set(problem: Problem, functions: _Functions, G: Array) -> NDArray[np.intp]:
    """Kernels in use and, where weights may vanish, those most likely to be used next."""
    M = len(G)
    if not problem.regularizer.sparse:
        return np.arange(M)
    room = max(_ROOM, M // 10, len(functions.kernels))
    return np.union1d(functions.kernels, np.argsort(-G)[:room])


def _weights(problem: Problem, functions: _Functions) -> Array:
    """The weights that belong to the norms; finite also where a kernel vanishes."""
    sq_norms = np.zeros(problem.bank.n_kernels)
    sq_norms[functions.kernels] = functions.sq_norms
    d = problem.regularizer.optimal_weights(sq_norms)
    return np.where(np.isfinite(d), d, 1.0)


class _Point(NamedTuple):
    r"""A dual point of a round with the rows :math:`K_m\alpha` and each kernel's r and t."""

    alpha: Array
    V: Array
    r: Array
    t: Array


@dataclass(frozen=True)
class _Round:
    r"""The proximal problem around some functions, with step :math:`\gamma`, on their kernels."""

    problem: Problem
    gamma: float
    old: _Functions

    def solve(self, alpha: Array, tol: float) -> tuple[_Point, bool]:
        """Newton steps until the gap is small beside the proximal distance, and whether it is."""
        problem = self.problem
        point = self._first(alpha)
        for _ in range(_MAX_NEWTON):
            f = self.total(point)
            b = problem.best_intercept(f)
            distance = self._distance(point)
            primal = problem.data_term(f + b) + self._penalty(point.t) + distance
            gap = primal - self._value(point)
            if gap <= max(_SHARE * distance, tol * abs(primal)):
                return point, True
            point = self._line_search(point, self._sweep(self._newton(point, f, b, gap)))
        return point, False

    def _first(self, alpha: Array) -> _Point:
        """The point to start from; with no functions yet, the best on its ray."""
        point = self._sweep(alpha)
        if self.old.sq_norms.any():
            return point
        return self._best_between(self._at(np.zeros_like(alpha), np.zeros_like(point.V)), point)

    def _newton(self, point: _Point, f: Array, b: Array, gap: float) -> Array:
        r"""The next :math:`\alpha`: the machine with kernel B, and :math:`f - B\alpha` known."""
        problem = self.problem
        if not point.t.any():
            return problem.constant_predictor()[1]
        B = self._curvature(point)
        B_alpha = B @ point.alpha
        model = replace(problem, offset=problem.known + f - B_alpha)  # z = B (α⁺ − α) + f
        size = problem.data_term(f + b) + 0.5 * float(np.sum(point.alpha * B_alpha))
        return fit_fixed_weights(model, B, _LOOSE * gap / size, Start(point.alpha, b)).alpha

    def quadratic(self, point: _Point) -> Array:
        r"""The forms :math:`\alpha^\top K_m \alpha` of all kernels, swept unless known."""
        if len(self.old.kernels) < self.problem.bank.n_kernels:
            return self.problem.bank.quadratic(point.alpha)
        return np.maximum(point.V @ point.alpha[:, 0], 0.0)

    def products(self, point: _Point) -> Array:
        """The functions of the proximal step, one row per kernel."""
        c = _ratio(point, self._slope(point))
        products: Array = c[:, np.newaxis] * (self.old.products + self.gamma * point.V)  # c K v
        return products

    def total(self, point: _Point) -> Array:
        """The sum of the functions of the proximal step."""
        total: Array = np.sum(self.products(point), axis=0)
        return total[:, np.newaxis]

    def update(self, point: _Point) -> _Functions:
        """The functions of the proximal step that are not zero."""
        kept = np.flatnonzero(point.t > 0)
        return _Functions(self.old.kernels[kept], point.t[kept] ** 2, self.products(point)[kept])

    def _sweep(self, alpha: Array) -> _Point:
        """One pass over the kernels of the round."""
        V = self.problem.bank.apply(alpha, self.old.kernels)[:, :, 0]
        return self._at(alpha, V)

    def _at(self, alpha: Array, V: Array) -> _Point:
        cross, G = self.old.products @ alpha[:, 0], V @ alpha[:, 0]
        r_squared = self.old.sq_norms + 2 * self.gamma * cross + self.gamma**2 * G  # ‖a + γα‖²
        r = np.sqrt(np.maximum(r_squared, 0.0))
        return _Point(alpha, V, r, self.problem.regularizer.prox(r, self.gamma))

    def _slope(self, point: _Point) -> Array:
        slope: Array = self.problem.regularizer.prox_derivative(point.r, self.gamma)
        return slope

    def _penalty(self, t: Array) -> float:
        return self.problem.regularizer.block_norm(t**2)

    def _value(self, point: _Point) -> float:
        """The dual of the proximal problem."""
        r, t = point.r, point.t
        e = float(np.sum(r * t - 0.5 * t**2)) / self.gamma - self._penalty(t)
        constant = 0.5 * float(np.sum(self.old.sq_norms)) / self.gamma
        return self.problem.dual_data_term(point.alpha) - e + constant

    def _distance(self, point: _Point) -> float:
        r"""The proximal term :math:`\tfrac1{2\gamma}\sum_m \|c_m v_m - a_m\|^2`."""
        c = _ratio(point, self._slope(point))
        inner = self.old.sq_norms + self.gamma * (self.old.products @ point.alpha[:, 0])  # ⟨a, v⟩
        total = float(np.sum(point.t**2 - 2 * c * inner + self.old.sq_norms))
        return max(0.5 * total / self.gamma, 0.0)

    def _curvature(self, point: _Point) -> Array:
        """The matrix B of the Newton step."""
        slope = self._slope(point)
        c = _ratio(point, slope)
        d = np.zeros(self.problem.bank.n_kernels)
        d[self.old.kernels] = self.gamma * c
        bent = np.flatnonzero((point.r > 0) & (slope != c))
        Kv = self.old.products[bent] + self.gamma * point.V[bent]
        factor = self.gamma * (slope - c)[bent] / point.r[bent] ** 2
        return self.problem.bank.combine(d) + (Kv.T * factor) @ Kv

    def _line_search(self, old: _Point, new: _Point) -> _Point:
        """The new point if its dual is larger, else the best between the two."""
        return new if self._value(new) >= self._value(old) else self._best_between(old, new)

    def _best_between(self, old: _Point, new: _Point) -> _Point:
        """The best point on a segment, from cached products."""
        step, step_V = new.alpha - old.alpha, new.V - old.V

        def along(s: float) -> _Point:
            return self._at(old.alpha + s * step, old.V + s * step_V)

        best = minimize_scalar(
            lambda s: -self._value(along(s)),
            bounds=(0.0, 1.0),
            method="bounded",
            options={"xatol": 1e-6},
        )
        return along(float(best.x))


def _ratio(point: _Point, slope: Array) -> Array:
    """The factor t / r, which tends to the slope of the prox where r vanishes."""
    return np.divide(point.t, point.r, out=slope.copy(), where=point.r > 0)
