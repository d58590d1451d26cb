"""Alternating minimisation: functions for fixed weights, then weights in closed form."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Problem, Progress, Solution, Solver
from .fixed_weights import Start, fit_fixed_weights


@dataclass(repr=False)
class Alternating(Solver):
    r"""Alternate between the functions for fixed weights and the weights in closed form.

    Works for every loss and every regularizer, and never increases the objective of a convex one.

    Notes
    -----
    .. math:: \alpha \leftarrow \arg\min J(\cdot, d), \qquad
              d \leftarrow \arg\min_d \sum_m \|f_m\|^2 / d_m + h(d), \quad \|f_m\|^2 = d_m^2 G_m .

    A regularizer that is not convex in the weights maps :math:`G \mapsto d` instead, which
    converges where the map from the norms would not.
    """

    max_iter: int = 2000

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        regularizer = problem.regularizer
        progress = Progress(problem, self.tol)
        d = regularizer.initial_weights(problem.bank.n_kernels) if start is None else start.weights
        point: Start | None = None
        for _ in range(self.max_iter):
            K = problem.bank.combine(d)  # K(d) = Σ d_m K_m
            machine = fit_fixed_weights(problem, K, 0.1 * self.tol, point)
            point = machine.point
            G = problem.bank.quadratic(machine.alpha)  # G_m = αᵀK_m α
            progress.record(d, machine.alpha, machine.b, G, machine.f)
            if progress.converged:
                break
            if regularizer.convex:
                d = regularizer.optimal_weights(d**2 * G)  # ‖f_m‖² = d_m² G_m
            else:
                d = problem.without_noise(regularizer.dual_weights(G), machine.alpha, G)
        return progress.solution(self)
