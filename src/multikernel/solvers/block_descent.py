"""Block coordinate descent: one kernel after the other, on factors and without square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from ..banks import FactoredBank
from .base import Lack, Problem, Progress, Solution, Solver
from .fixed_weights import Start, fit_fixed_weights

_MEMORY = 5  # sweeps between two extrapolations
_MAX_CYCLES = 20  # of that many sweeps over the blocks in use, before all blocks are visited again
_RIDGE = 1e-12  # of the small system of an extrapolation, relative
_ROUNDING = 1e-15  # relative error of an objective
_VANISHED = 1e-16  # squared norm of a block, relative to the largest
_MODERATE = 3000  # samples up to which the machine of a certificate is fitted exactly


@dataclass(repr=False)
class BlockDescent(Solver):
    r"""Visit the kernels in turn and take a proximal step on the coefficients of each.

    For banks of factors, smooth losses, any number of outputs and regularizers that are a sum over
    kernels. With linear kernels on groups of columns this is the group lasso.

    Notes
    -----
    With :math:`K_m = Z_m Z_m^\top`, :math:`f_m = Z_m w_m` and :math:`\|f_m\| = \|w_m\|` a visit is

    .. math:: u = w_m - \tfrac1{L_m} Z_m^\top C\ell'(z), \qquad
              w_m \leftarrow \mathrm{prox}_{g/L_m}(\|u\|)\; u / \|u\|, \qquad
              L_m = \sup\ell''\; \|\sqrt{C} Z_m\|_2^2 .

    Blocks in use are swept until they settle, then all of them. Every few sweeps the iterates are
    extrapolated (Anderson's method), and the better point is kept. The certificate belongs to the
    predictor :math:`f_m = d_m K_m \alpha` with the weights of the norms :math:`\|w_m\|`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import FactoredBank
    >>> from multikernel.losses import Squared
    >>> from multikernel.regularizers import LpNorm
    >>> from multikernel.solvers import Problem
    >>> bank = FactoredBank([np.array([[2.0], [0.0]]), np.array([[0.0], [1.0]])])
    >>> y = np.array([[3.0], [0.5]])
    >>> problem = Problem(bank, y, Squared(), LpNorm(1.0), fit_intercept=False)
    >>> BlockDescent(tol=1e-10).solve(problem).weights.round(6)
    array([1.25, 0.  ])
    """

    requires_loss: ClassVar[tuple[str, ...]] = ("hessian",)
    requires_regularizer: ClassVar[tuple[str, ...]] = ("prox",)
    requires_bank: ClassVar[tuple[str, ...]] = ("factors",)

    max_iter: int = 1000

    @classmethod
    def missing(cls, problem: Problem) -> Lack | None:
        """What the parts of a problem lack for this solver, if anything."""
        lack = super().missing(problem)
        if lack is None and not problem.regularizer.separable:
            need = "a regularizer that is a sum over kernels"
            return Lack(need, f"which {problem.regularizer!r} is not")
        return lack

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        progress = Progress(problem, self.tol)
        blocks = _Blocks(problem)
        if start is not None:
            blocks.set_machine(start.weights, problem.feasible_dual(start.dual_coef))
        point: Start | None = None
        visits: list[float] = []
        for _ in range(self.max_iter):
            blocks.sweep(blocks.all)
            blocks.settle(
                blocks.used, float(np.clip(0.001 * progress.gap, 0.0001 * self.tol, 0.01))
            )
            alpha = problem.feasible_dual(-blocks.gradient())  # α = −C ℓ'(z)
            d = problem.without_noise(blocks.weights(), alpha, problem.bank.quadratic(alpha))
            alpha, b, f = _machine(problem, d, blocks, 0.1 * self.tol, point)
            point = Start(alpha, b)
            G = problem.bank.quadratic(alpha)  # G_m = αᵀK_m α
            value = progress.record(d, alpha, b, G, f)
            visits.append(blocks.n_passes)
            if progress.converged:
                break
            if value < blocks.objective():
                blocks.set_machine(d, alpha)
        return _with_visits(progress.solution(self), np.array(visits))


def _with_visits(solution: Solution, visits: Array) -> Solution:
    """The solution with the sweeps over the factors counted as bank passes too."""
    passes = solution.history["n_passes"] + visits
    history = {**solution.history, "n_passes": passes}
    return replace(solution, n_passes=float(passes[-1]), history=history)


def _machine(
    problem: Problem, d: Array, blocks: _Blocks, tol: float, start: Start | None
) -> tuple[Array, Array, Array]:
    """Dual coefficients, intercept and function for weights d: the best, or those at hand."""
    if len(problem.y) <= _MODERATE:
        machine = fit_fixed_weights(problem, problem.bank.combine(d), tol, start)
        return machine.alpha, machine.b, machine.f
    alpha = problem.feasible_dual(-blocks.gradient())  # α = −C ℓ'(z)
    f = blocks.function(blocks.coefficients(d, alpha))
    return alpha, problem.best_intercept(f), f


class _Blocks:
    r"""Coefficients :math:`w_m` of shape (rank, n_outputs), their function f and intercept b."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n_passes = 0.0  # visits of all factors, which the bank does not see
        self.factors: Sequence[Array] = cast(FactoredBank, problem.bank).factors
        roots = np.sqrt(problem.cost)
        widths = [np.linalg.norm(roots * Z, 2) if Z.size else 0.0 for Z in self.factors]
        self.L = problem.loss.curvature_bound * np.array(widths) ** 2  # sup ℓ'' · ‖√C Z_m‖²
        self.all = np.flatnonzero(self.L > 0)
        self._move([np.zeros((Z.shape[1], problem.y.shape[1])) for Z in self.factors])

    @property
    def used(self) -> NDArray[np.intp]:
        """The blocks that are not zero."""
        return np.flatnonzero(self.sq_norms() > 0)

    def sq_norms(self) -> Array:
        """The squared norms of the blocks."""
        return np.array([np.sum(w**2) for w in self.w])

    def weights(self) -> Array:
        """The weights that belong to the norms; zero, not unbounded, where a block vanishes."""
        sq_norms = self.sq_norms()
        d = self.problem.regularizer.optimal_weights(sq_norms)
        vanished = sq_norms <= _VANISHED * sq_norms.max()
        return d if self.problem.regularizer.convex else np.where(vanished, 0.0, d)

    def objective(self) -> float:
        """The value of J with the best weights."""
        penalty = self.problem.regularizer.block_norm(self.sq_norms())
        return self.problem.data_term(self.f + self.b) + penalty

    def gradient(self) -> Array:
        """The derivative of the data term in the predictions."""
        problem = self.problem
        return problem.cost * problem.loss.gradient(problem.y, self.f + self.b + problem.known)

    def coefficients(self, d: Array, alpha: Array) -> list[Array]:
        r"""The blocks :math:`w_m = d_m Z_m^\top \alpha` of a machine."""
        self.n_passes += 1.0
        return [d_m * (Z.T @ alpha) for d_m, Z in zip(d, self.factors, strict=True)]

    def function(self, w: Sequence[Array]) -> Array:
        r"""The sum :math:`\sum_m Z_m w_m`."""
        self.n_passes += 1.0
        return sum((Z @ w_m for Z, w_m in zip(self.factors, w, strict=True)), 0 * self.problem.y)

    def set_machine(self, d: Array, alpha: Array) -> None:
        """Take the functions of a machine."""
        self._move(self.coefficients(d, alpha))

    def _move(self, w: list[Array], f: Array | None = None) -> None:
        self.w = w
        self.f = self.function(w) if f is None else f
        self.b = self.problem.best_intercept(self.f)

    def sweep(self, blocks: NDArray[np.intp]) -> None:
        """Visit some blocks, then refresh the intercept."""
        for m in blocks:
            u = self.w[m] - self.factors[m].T @ self.gradient() / self.L[m]  # u = w − Zᵀ Cℓ' / L
            r = float(np.linalg.norm(u))
            t = self.problem.regularizer.prox(np.array([r]), 1 / self.L[m])[0]
            w = u * (t / r) if r > 0 else 0 * u
            self.f = self.f + self.factors[m] @ (w - self.w[m])
            self.w[m] = w
        self.b = self.problem.best_intercept(self.f)
        self.n_passes += len(blocks) / len(self.factors)

    def settle(self, blocks: NDArray[np.intp], tol: float) -> None:
        """Sweep some blocks and extrapolate, until a sweep moves them by a share of at most tol."""
        for _ in range(_MAX_CYCLES):
            path, functions = [self._packed(blocks)], [self.f]
            for _ in range(_MEMORY):
                self.sweep(blocks)
                path.append(self._packed(blocks))
                functions.append(self.f)
            if np.linalg.norm(path[-1] - path[-2]) <= tol * np.linalg.norm(path[-1]):
                break
            self._extrapolate(blocks, np.array(path), np.array(functions))

    def _packed(self, blocks: NDArray[np.intp]) -> Array:
        return np.concatenate([np.zeros(0), *(self.w[m].ravel() for m in blocks)])

    def _extrapolate(self, blocks: NDArray[np.intp], path: Array, functions: Array) -> None:
        """Move to the mixture of past iterates whose residual is smallest, where that is better."""
        steps = np.diff(path, axis=0)
        A = steps @ steps.T
        A[np.diag_indices_from(A)] += _RIDGE * np.trace(A) + np.finfo(float).tiny
        c = np.linalg.solve(A, np.ones(len(A)))
        c /= c.sum()  # min ‖Σ c_k (w_{k+1} − w_k)‖ over Σ c_k = 1
        kept = self.w, self.f, self.b
        value = self.objective()
        ends = np.cumsum([self.w[m].size for m in blocks])[:-1]
        mixed = list(self.w)
        for m, part in zip(blocks, np.split(c @ path[1:], ends), strict=True):
            mixed[m] = part.reshape(self.w[m].shape)
        self._move(mixed, np.tensordot(c, functions[1:], axes=1))
        if self.objective() > value + _ROUNDING * abs(value):
            self.w, self.f, self.b = kept
