"""Problem, Solution and Solver: what is solved, what comes out, and who solves it."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar, nnls
from sklearn.exceptions import ConvergenceWarning

from .._component import Array, Component
from .._warnings import warn
from ..banks import AtomBank, Bank, PackedBank
from ..losses import Loss
from ..regularizers import Regularizer
from .asks import Steps, Sweep, answered

_ZERO_SUM = 1e-12  # relative to the sum of absolute values
_FINE = 1e-3  # of the longest scale of a dual point: how exactly the best is sought
_NEAR = 0.9  # of it, where the best mostly lies
_CONTRADICTION = 1e-10  # a bound this far above an objective proves that one of them is wrong
_PATIENCE = 8  # steps of a method that converges quadratically
_RISE = 0.01  # of a bound in so many steps, below which it stands still
_ROUNDED = 1e3  # or this many times the rounding of the kernels
_DOMAIN_NAMES = {"real": "real", "sign": "-1 or 1", "onehot": "one-hot over classes"}
_DOMAINS: dict[str, Callable[[Array], bool]] = {
    "real": lambda y: True,
    "sign": lambda y: bool(np.all(np.abs(y) == 1)),
    "onehot": lambda y: bool(np.all((y == 0) | (y == 1)) and np.all(y.sum(axis=1) == 1)),
}


@dataclass(frozen=True)
class Problem:
    r"""One instance of the objective, able to evaluate itself and its dual.

    Parameters
    ----------
    bank : Bank
        The kernels on the n training samples.
    y : array of shape (n, n_outputs)
        Targets in the domain of the loss.
    loss : Loss
    regularizer : Regularizer
    C : float, default=1.0
        Inverse regularization.
    fit_intercept : bool, default=True
    sample_weight : array of shape (n,), optional
        Positive factors on C, one per sample.
    offset : array of shape (n, n_outputs), optional
        A known part of the predictions, added to the function before the loss sees it.

    Notes
    -----
    .. math:: J(f, b, d) = \sum_i C s_i\, \ell(y_i, f(x_i) + b)
              + \tfrac12 \sum_m \|f_m\|^2 / d_m + \tfrac12 h(d)

    and, with :math:`G_m = \alpha^\top K_m \alpha`, its dual over :math:`\alpha` with
    :math:`\mathbf 1^\top \alpha = 0` where there is an intercept,

    .. math:: D(\alpha) = -\sum_i C s_i\, \ell^*(y_i, -\alpha_i / (C s_i)) - \tfrac12 \Omega(G).
    """

    bank: Bank
    y: Array
    loss: Loss
    regularizer: Regularizer
    C: float = 1.0
    fit_intercept: bool = True
    sample_weight: Array | None = None
    offset: Array | None = None

    @cached_property
    def cost(self) -> Array:
        """C times the sample weights, shape (n, 1)."""
        s = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        return self.C * np.asarray(s, dtype=np.float64)[:, np.newaxis]

    def check(self) -> None:
        """Raise ValueError where a part does not fit the others, before anything is computed."""
        self.loss.check()
        self.regularizer.check()
        self.regularizer.check_n_kernels(self.bank.n_kernels)
        n = self.bank.n_samples
        if self.y.ndim != 2 or len(self.y) != n:
            raise ValueError(
                f"Problem: y must have shape (n_samples, n_outputs) with n_samples = {n}, got "
                f"{self.y.shape}; use y[:, np.newaxis] for one output."
            )
        if not np.all(np.isfinite(self.y)):
            raise ValueError("Problem: y must be finite, but contains NaN or infinity.")
        if not _DOMAINS[self.loss.y_domain](self.y):
            raise ValueError(
                f"Problem: y must be {_DOMAIN_NAMES[self.loss.y_domain]} for {self.loss!r}."
            )
        if not (0 < self.C < np.inf):
            raise ValueError(f"Problem: C must be positive and finite, got {self.C}.")
        s = self.sample_weight
        if s is not None and (s.shape != (n,) or not np.all((s > 0) & np.isfinite(s))):
            raise ValueError(
                f"Problem: sample_weight must hold {n} positive finite numbers; leave samples "
                "without weight out of the bank."
            )

    @cached_property
    def known(self) -> Array | float:
        """The offset, or zero."""
        return 0.0 if self.offset is None else self.offset

    def data_term(self, z: Array) -> float:
        r"""The loss of predictions z: :math:`\sum_i C s_i \ell(y_i, z_i)`."""
        return float(np.sum(self.cost * self.loss.value(self.y, z + self.known)))

    def dual_data_term(self, alpha: Array) -> float:
        r"""The loss part of the dual: :math:`-\sum_i C s_i \ell^*(y_i, -\alpha_i/(C s_i))`."""
        value = -float(np.sum(self.cost * self.loss.conjugate(self.y, -alpha / self.cost)))
        return value if self.offset is None else value - float(np.sum(alpha * self.offset))

    def best_intercept(self, f: Array, near: Array | float = 0.0) -> Array:
        """The best constants to add to the functions f; zero where there is no intercept.

        Those of smooth losses are found the sooner, the nearer they are to ``near``.
        """
        if not self.fit_intercept:
            return np.zeros(self.y.shape[1])
        if not self.loss.smooth or not np.all(np.isfinite(near)):
            near = 0.0
        return near + self.loss.best_intercept(self.y, f + self.known + near, self.cost)

    def into_reach(self, f: Array, b: Array) -> tuple[float, Array]:
        r"""The largest t in (0, 1] for which :math:`t f` has a finite loss, and its intercept.

        One where there is an offset, which scaling does not change.
        """
        reach = self.loss.reach
        if np.isinf(reach) or self.offset is not None:
            return 1.0, b
        size = np.max(np.ptp(f, axis=0)) / 2 if self.fit_intercept else np.max(np.abs(f))
        t = float(reach / max(size, reach))  # t·size <= B
        return (t, self.best_intercept(t * f)) if t < 1 else (1.0, b)

    def excess(self, z: Array) -> Array:
        """How far predictions z are beyond the reach of the loss, with their sign."""
        z, reach = z + self.known, self.loss.reach
        return z - np.clip(z, -reach, reach)

    def strain(self, alpha: Array, z: Array) -> float:
        r"""What predictions beyond the reach of the loss may save: excess times :math:`|\alpha|`.

        Added to an objective that forgives the excess, it keeps it above every dual bound.
        """
        return float(np.sum(np.abs(alpha * self.excess(z))))

    def objective(self, d: Array, G: Array, z: Array) -> float:
        r"""J for :math:`f_m = d_m K_m \alpha`, where :math:`\sum_m \|f_m\|^2/d_m = d^\top G`."""
        if self.regularizer.convex:
            penalty = 0.5 * (float(d @ G) + self.regularizer.value(d))
        else:
            penalty = self.regularizer.block_norm(d**2 * G)
        return self.data_term(z) + penalty

    def dual_objective(self, alpha: Array, G: Array) -> float:
        r"""The dual at :math:`\alpha`, a lower bound of J; minus infinity if not feasible."""
        return self.dual_ray(alpha, G)(1.0)

    def dual_ray(self, alpha: Array, G: Array) -> Callable[[float], float]:
        r"""The dual on the ray through :math:`\alpha`, as a function of c for :math:`c\,\alpha`."""
        if not self.balanced(alpha):
            return lambda c: -np.inf
        penalty = self.regularizer.dual_ray(G)
        return lambda c: self.dual_data_term(c * alpha) - 0.5 * penalty(c)

    def balanced(self, alpha: Array) -> bool:
        r"""Whether :math:`\mathbf 1^\top\alpha = 0`, which an intercept asks for."""
        sums = np.abs(alpha.sum(axis=0))
        return not self.fit_intercept or bool(np.all(sums <= _ZERO_SUM * np.abs(alpha).sum()))

    def best_scale(self, alpha: Array, G: Array) -> float:
        r"""The c in (0, 1] that maximises the dual on the ray through :math:`\alpha`."""
        dual, scale = self.dual_ray(alpha, G), self.regularizer.dual_scale(G)
        return best_on_ray(dual, scale, dual(scale))[0]

    def mixed(self, T: Array) -> Problem:
        r"""The problem on the mixtures :math:`\tilde K_j = \sum_m T_{jm} K_m` of the kernels."""
        if len(T) == 1 and not hasattr(self.bank, "factors"):
            only = PackedBank.from_grams([self.bank.combine(T[0])])
            only.rounding = self.bank.rounding
            return replace(self, bank=only)
        return replace(self, bank=AtomBank(self.bank, T))

    @property
    def without_atoms(self) -> tuple[Problem, Array | None]:
        """The equivalent problem on mixtures of kernels, and the mixing matrix, if there is one."""
        return self._reduced or (self, None)  # not kept, for then a problem would keep itself

    @cached_property
    def _reduced(self) -> tuple[Problem, Array] | None:
        """The problem without atoms, where it has some."""
        atoms = self.regularizer.atoms(self.bank.n_kernels)
        if atoms is None:
            return None
        T = atoms.T
        reduced = replace(self.mixed(T), regularizer=atoms.base)
        further, T_further = reduced.without_atoms  # the base may have atoms of its own
        return further, T if T_further is None else T_further @ T

    @cached_property
    def _rounding(self) -> Array:
        return self.bank.rounding * self.bank.eigenvalue_bounds()

    def without_noise(self, d: Array, alpha: Array, G: Array) -> Array:
        r"""Weights without those kernels for which :math:`K_m \alpha` is nothing but rounding.

        Regularizers that are not convex give them unbounded weights, and their functions are zero.
        """
        if self.regularizer.convex:
            return d
        return np.where(float(np.sum(alpha**2)) * self._rounding < G, d, 0.0)

    def constant_predictor(self) -> tuple[Array, Array]:
        r"""The best constant b and a feasible :math:`\alpha` near :math:`-C \ell'(y, b)`."""
        b = self.best_intercept(np.zeros_like(self.y))
        z = np.zeros_like(self.y) + b + self.known
        return b, self.feasible_dual(-self.cost * self.loss.gradient(self.y, z))

    def feasible_dual(self, alpha: Array) -> Array:
        r"""A near dual point in the domain of the loss, with :math:`\mathbf 1^\top\alpha = 0`."""
        if not self.fit_intercept:
            return -self.cost * self.loss.project_dual(self.y, -alpha / self.cost)
        if self.loss.couples_outputs:
            if self.balanced(alpha) and np.isfinite(self.dual_data_term(alpha)):
                return alpha  # so that the sweep of a path still belongs to it
            u: Array = self.loss.balance_dual(self.y, -alpha / self.cost, self.cost)
            alpha = -self.cost * u
            excess = alpha.sum(axis=0)  # for large C, u + y has lost digits
            balanced: Array = alpha - excess * self.cost / self.cost.sum()
            return balanced
        lower, upper = self.loss.dual_bounds(self.y)  # bounds of u = -alpha / cost
        lower, upper = -self.cost * upper, -self.cost * lower
        return _project_box_hyperplane(alpha, lower, upper)


def best_on_ray(dual: Callable[[float], float], c_max: float, end: float) -> tuple[float, float]:
    """The c in (0, c_max] at which a dual on a ray, a concave function, is largest, and its value.

    The dual is ``end`` at c_max.
    """
    last = (1 - _FINE) * c_max
    beside = dual(last)
    if end > -np.inf and beside <= end:
        return c_max, end  # it rises all the way
    low = _NEAR * c_max if dual(_NEAR * c_max) < beside else 0.0
    ray = minimize_scalar(
        lambda c: -dual(c),
        bounds=(low, c_max),
        method="bounded",
        options={"xatol": _FINE * c_max},
    )
    values = {c_max: end, last: beside, float(ray.x): -float(ray.fun)}
    best = max(values, key=lambda c: values[c])
    return best, values[best]


def _project_box_hyperplane(alpha: Array, lower: Array, upper: Array) -> Array:
    """Columns of alpha moved into a box and to zero sum, by shifts of those with room."""
    inside = np.clip(alpha, lower, upper)
    for _ in range(100):
        excess = inside.sum(axis=0)
        room = np.where(excess > 0, inside > lower, inside < upper)
        if np.all(np.abs(excess) <= 1e-15 * np.abs(inside).sum(axis=0)):
            break
        shift = excess / np.maximum(room.sum(axis=0), 1)
        inside = np.clip(inside - shift * room, lower, upper)
    return inside


@dataclass(frozen=True)
class Solution:
    """What a solver found, with its certificate.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
    dual_coef : array of shape (n, n_outputs)
    intercept : array of shape (n_outputs,)
    sq_norms : array of shape (n_kernels,)
        Squared norms of the component functions.
    atom_weights : array of shape (n_atoms,) or None
        Weights of the mixtures of kernels that the regularizer was reduced to, if it was.
    sweep : Sweep or None
        What the last pass over the kernels found, for the next fit of a path.
    objective, dual_objective : float
        J at this point, and a lower bound of its minimum.
    dual_point : array of shape (n, n_outputs)
        The feasible dual coefficients that prove the lower bound: the dual is ``dual_objective`` at
        them.
    gap : float
        Relative duality gap, (objective - dual_objective) / objective.
    n_iter : int
    converged : bool
        Whether gap <= tol.
    n_passes : float
        Sweeps over the bank that were used, without those shared with other problems.
    history : dict of arrays
        ``objective``, ``gap``, ``n_passes`` and ``seconds`` after each iteration.
    solver : str
    reason : str
        Why an estimator chose it, to be read after "because"; empty where none did.
    """

    weights: Array
    dual_coef: Array
    intercept: Array
    sq_norms: Array
    objective: float
    dual_objective: float
    gap: float
    n_iter: int
    converged: bool
    n_passes: float
    history: dict[str, Array] = field(repr=False)
    solver: str
    dual_point: Array = field(repr=False)
    atom_weights: Array | None = None
    sweep: Sweep | None = field(default=None, repr=False)
    reason: str = field(default="", repr=False)


class Progress:
    """The best point and the best bound so far, and how they were reached."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem = problem
        self.tol = tol
        self.best_objective = np.inf
        self.best_bound = -np.inf
        self.point: tuple[Array, Array, Array, Array] | None = None
        self.dual_point = np.zeros_like(problem.y)
        self._start = (time.perf_counter(), problem.bank.n_passes)
        self._rows: list[tuple[float, float, float, float]] = []
        self._bounds: list[float] = []

    @property
    def gap(self) -> float:
        """The relative duality gap of the best point."""
        slack = max(_CONTRADICTION, _ROUNDED * self.problem.bank.rounding)
        return relative_gap(self.best_objective, self.best_bound, slack)

    @property
    def converged(self) -> bool:
        """Whether the certificate is good enough."""
        return self.gap <= self.tol

    @property
    def stuck(self) -> bool:
        """Whether rounded kernels let neither the gap halve nor the bound rise for some steps.

        The bound rises even where the gap, far from the optimum, stays near one.
        """
        exact = self.problem.bank.rounding <= Bank.rounding
        if exact or len(self._rows) <= _PATIENCE:
            return False
        gap, bound = self._rows[-1 - _PATIENCE][1], self._bounds[-1 - _PATIENCE]
        risen = self.best_bound - _RISE * abs(self.best_bound) > bound
        return self.gap >= 0.5 * gap and not risen

    def record(self, d: Array, alpha: Array, b: Array, G: Array, f: Array) -> float:
        r"""Evaluate a pair (d, alpha) that belongs together, with :math:`f = K(d)\alpha`.

        Where predictions are beyond the reach of the loss, the point kept is :math:`t \alpha`.
        """
        t, b = self.problem.into_reach(f, b)
        z = t * f + b
        value = self.problem.objective(d, t**2 * G, z) + self.problem.strain(t * alpha, z)
        if value < self.best_objective or self.point is None:
            self.best_objective, self.point = value, (d, t * alpha, b, d**2 * (t**2 * G))
        self.raise_bound(alpha, G)
        seconds, passes = time.perf_counter(), self.problem.bank.n_passes
        row = (self.best_objective, self.gap, passes - self._start[1], seconds - self._start[0])
        self._rows.append(row)
        self._bounds.append(self.best_bound)
        return value

    def raise_bound(self, alpha: Array, G: Array) -> None:
        """Use a dual point, scaled to feasibility or better, as a lower bound of the minimum."""
        dual, scale = self.problem.dual_ray(alpha, G), self.problem.regularizer.dual_scale(G)
        bound = dual(scale)
        self._try_bound(alpha, scale, bound)
        if not self.converged:
            self._try_bound(alpha, *best_on_ray(dual, scale, bound))

    def _try_bound(self, alpha: Array, scale: float, bound: float) -> None:
        if bound > self.best_bound:
            self.best_bound, self.dual_point = bound, scale * alpha

    def solution(self, solver: Solver) -> Solution:
        """The best point with its certificate."""
        if self.point is None:
            raise RuntimeError(f"{type(solver).__name__} recorded no point.")
        d, alpha, b, sq_norms = self.point
        names = ("objective", "gap", "n_passes", "seconds")
        history = dict(zip(names, np.array(self._rows).T, strict=True))
        return Solution(
            weights=d,
            dual_coef=alpha,
            intercept=b,
            sq_norms=sq_norms,
            objective=self.best_objective,
            dual_objective=self.best_bound,
            gap=self.gap,
            n_iter=len(self._rows),
            converged=self.converged,
            n_passes=float(history["n_passes"][-1]),
            history=history,
            solver=type(solver).__name__,
            dual_point=self.dual_point,
        )


def relative_gap(objective: float, bound: float, slack: float = _CONTRADICTION) -> float:
    """The gap between an objective and its lower bound, relative to the objective.

    Infinite where the bound is above the objective by more than the slack, for rounding.
    """
    if not np.isfinite(objective) or not np.isfinite(bound):
        return np.inf
    gap = (objective - bound) / max(abs(objective), np.finfo(float).tiny)
    return np.inf if gap < -slack else max(gap, 0.0)


class Lack(NamedTuple):
    """What a solver needs and a problem does not have."""

    need: str
    detail: str

    def __str__(self) -> str:
        return f"{self.need}, {self.detail}"


@dataclass(repr=False)
class Solver(Component):
    """A method that minimises a Problem; it states what it needs and certifies its answer."""

    requires_loss: ClassVar[tuple[str, ...]] = ()
    requires_regularizer: ClassVar[tuple[str, ...]] = ()
    requires_bank: ClassVar[tuple[str, ...]] = ()

    tol: float = 1e-6
    max_iter: int = 200

    @classmethod
    def missing(cls, problem: Problem) -> Lack | None:
        """What the parts of a problem lack for this solver, if anything."""
        for part, needs in (
            ("loss", cls.requires_loss),
            ("regularizer", cls.requires_regularizer),
            ("bank", cls.requires_bank),
        ):
            for name in needs:
                if not hasattr(getattr(problem, part), name):
                    return Lack(f"{part}.{name}", f"which {getattr(problem, part)!r} lacks")
        return None

    def solve(
        self, problem: Problem, start: Solution | None = None, *, keep_sweep: bool = False
    ) -> Solution:
        """Minimise the problem, from an earlier solution where one is given.

        With ``keep_sweep`` the solution remembers products with all kernels, if it has them, which
        spare the next fit of a path its first pass.
        """
        return answered(self.steps(problem, start, keep_sweep=keep_sweep), problem.bank)

    def steps(
        self, problem: Problem, start: Solution | None = None, *, keep_sweep: bool = False
    ) -> Steps[Solution]:
        """What :meth:`solve` does, as a generator that asks for its sweeps over the kernels."""
        problem.check()
        reduced, T = problem.without_atoms
        if lack := self.missing(reduced):
            raise TypeError(f"{type(self).__name__} needs {lack}; use solver='auto'.")
        if T is None:
            solution = yield from self._steps(problem, start)
        else:
            start = None if start is None else replace(start, weights=_atom_weights(start, T))
            solution = expand_atoms(problem.bank, self._solve(reduced, start), T)
        if not keep_sweep:
            solution = replace(solution, sweep=None)
        if not solution.converged:
            warn(
                f"{type(self).__name__} stopped after {solution.n_iter} iterations with relative "
                f"duality gap {solution.gap:.1e} > tol={self.tol:.1e}; raise max_iter or tol.",
                ConvergenceWarning,
            )
        return solution

    @abstractmethod
    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        """Minimise a problem whose parts have all that this solver requires."""

    def _steps(self, problem: Problem, start: Solution | None) -> Steps[Solution]:
        """What ``_solve`` does, as steps; a solver that has its own is these, not ``_solve``."""
        yield from ()
        return self._solve(problem, start)


def expand_atoms(bank: Bank, solution: Solution, T: Array | None) -> Solution:
    """The solution in the kernels of the bank, from one in their mixtures."""
    if T is None:
        return solution
    d = T.T @ solution.weights  # d = Tᵀ d̃
    sq_norms = d**2 * bank.quadratic(solution.dual_coef)
    solution = replace(solution, atom_weights=solution.weights, sweep=None)  # of mixtures
    return replace(solution, weights=d, sq_norms=sq_norms)


def _atom_weights(start: Solution, T: Array) -> Array:
    """The weights of mixtures that a solution came from, or those that come nearest to it."""
    if start.atom_weights is not None:
        return start.atom_weights
    nearest: Array = nnls(T.T, start.weights)[0]
    return nearest
