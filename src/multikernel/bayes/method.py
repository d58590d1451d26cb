"""Method: a way to a stationary point of the evidence or of its variational bound."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._component import Component
from .._warnings import warn
from .base import BayesProblem, Evaluation, Inference, Record, State, conclude
from .sites import rises, shortened, site_stationarity
from .start import first_state
from .unbounded import scale_complaint
from .weight_step import all_negligible, moving, revived, weight_stationarity

_MAX_RETREATS = 10


def stationarity(e: Evaluation) -> float:
    """The largest violation of stationarity in weights, noise and bounds, free of units."""
    keeps_zeros = e.problem.hyper_prior.keeps_zeros
    weights = weight_stationarity(e.state.d, e.gradient, e.t, e.problem.y.size, keeps_zeros)
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
        if len(inference.history["objective"]) <= self.max_iter:
            advice = (
                ": the kernels are not precise enough to go on, as K(d) + noise is not positive "
                "definite there or next to singular. Store them with dtype='float64', or raise tol"
            )
        else:
            unbounded = scale_complaint(e)
            advice = f": {unbounded}" if unbounded else "; raise max_iter or tol"
        warn(
            f"{type(self).__name__} stopped after {inference.n_iter} iterations with "
            f"stationarity {inference.stationarity:.1e} > tol={self.tol:.1e}{advice}.",
            ConvergenceWarning,
        )

    def _infer(self, problem: BayesProblem, state: State) -> Inference:
        record = Record(problem)
        e = Evaluation(problem, state)
        left = stationarity(e)
        record.add(e.value, left)
        retreats = 0
        for _ in range(self.max_iter):
            better = self._better(e) if left > self.tol else None
            if better is not None and rises(e, better):
                retreats += 1  # near the edge of what can be factored there is no end of them
                better = shortened(e, better) if retreats <= _MAX_RETREATS else None
            if better is None:
                break
            e, left = better, stationarity(better)
            record.add(e.value, left)
        return conclude(e, record, self.tol, type(self).__name__)

    def _better(self, e: Evaluation) -> Evaluation | None:
        """The next evaluation, or None where the kernels are not precise enough for any."""
        if moving(e) <= self.tol or all_negligible(e):
            back = revived(e)
            if back is not None:
                return back
        try:
            return self._step(e)
        except LinAlgError:
            return None

    @abstractmethod
    def _step(self, e: Evaluation) -> Evaluation:
        """An evaluation that is no worse."""
