"""Method: a way to a stationary point of the evidence or of its variational bound."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._component import Component
from .base import BayesProblem, Evaluation, Inference, Record, State, conclude
from .sites import site_stationarity
from .start import first_state
from .unbounded import scale_complaint
from .weight_step import all_negligible, moving, revived, weight_stationarity


def stationarity(e: Evaluation) -> float:
    """The largest violation of stationarity in weights, noise and bounds, free of units."""
    weights = weight_stationarity(e.state.d, e.gradient, e.t, e.problem.y.size)
    return max(weights, site_stationarity(e))


@dataclass(repr=False)
class Method(Component):
    """A way to a stationary point of the objective; it says how stationary its answer is.

    Parameters
    ----------
    tol : float, default=1e-6
        Stationarity at which to stop.
    max_iter : int
        Iterations after which to stop with a warning.
    """

    tol: float = 1e-6
    max_iter: int = 500

    gaussian_only: ClassVar[bool] = False

    def infer(self, problem: BayesProblem, start: State | None = None) -> Inference:
        """Minimise the objective from a state, by default that of equal shares."""
        problem.check()
        if self.gaussian_only and not problem.likelihood.is_gaussian:
            raise TypeError(
                f"{type(self).__name__} needs a Gaussian likelihood, got {problem.likelihood!r}; "
                "use method='newton' or 'mackay'."
            )
        inference: Inference = clone(self)._infer(problem, start or first_state(problem))
        if not inference.converged:
            self._warn(Evaluation(problem, inference.state), inference)
        return inference

    def _warn(self, e: Evaluation, inference: Inference) -> None:
        advice = scale_complaint(e)
        warnings.warn(
            f"{type(self).__name__} stopped after {inference.n_iter} iterations with "
            f"stationarity {inference.stationarity:.1e} > tol={self.tol:.1e}"
            + (f": {advice}." if advice else "; raise max_iter or tol."),
            ConvergenceWarning,
            stacklevel=3,
        )

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        record = Record(problem)
        e = Evaluation(problem, state)
        for _ in range(self.max_iter):
            left = stationarity(e)
            record.add(e.value, left)
            d = revived(e) if moving(e) <= self.tol or all_negligible(e) else None
            if d is not None:
                e = Evaluation(problem, e.state._replace(d=d))
            elif left <= self.tol:
                break
            else:
                e = self._step(e)
        return conclude(e, record, stationarity(e), self.tol, type(self).__name__)

    @abstractmethod
    def _step(self, e: Evaluation) -> Evaluation:
        """An evaluation that is no worse."""
