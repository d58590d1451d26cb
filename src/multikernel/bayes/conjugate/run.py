"""The iteration from one start: sweeps until the bound and the predictions rest."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ..._component import Array
from .design import Design
from .elbo import elbo
from .model import Factors, Model
from .prune import pruned
from .step import plain_step, step

_PRUNE_FROM, _PRUNE_EVERY = 20, 10
_GROWTH, _MAX_STRIDE = 1.5, 20.0
_SLACK = 0.5  # of the change at which to stop: what old covariances may cost the bound
_WARM_UP = 5  # iterations of the mean-field family, part of the structured one, before it


@dataclass(frozen=True)
class Schedule:
    """When to stop, and what to leave out on the way.

    Parameters
    ----------
    tol : float
        Relative change of the bound at which to stop; predictions must change by no more than
        its root, relative to their size.
    max_iter : int
    prune : bool
        Drop kernels and samples that no longer matter.
    plain : bool
        Every update once and in the order of [G12]_, from a random start, without acceleration.
    """

    tol: float = 1e-6
    max_iter: int = 500
    prune: bool = False
    plain: bool = False


@dataclass(frozen=True)
class Run:
    """Where one start has led.

    Attributes
    ----------
    change, moved : float
        Relative changes of the bound and of the predictions in the last iteration.
    """

    q: Factors
    model: Model
    design: Design
    history: dict[str, Array]
    bound: float
    change: float
    moved: float
    converged: bool

    def unrest(self, schedule: Schedule) -> str:
        """What still moved when the iterations were used up."""
        moving = []
        if self.change > schedule.tol:
            moving.append(f"the bound (relative change {self.change:.1e} > tol={schedule.tol:.1e})")
        if self.moved**2 > schedule.tol:
            root = np.sqrt(schedule.tol)
            moving.append(f"predictions (relative change {self.moved:.1e} > sqrt(tol)={root:.1e})")
        what = " and ".join(moving) or "the warm-up of structured inference"
        return (
            f"variational inference stopped at max_iter={schedule.max_iter} while {what} had not "
            "come to rest; raise max_iter or tol."
        )


def run(design: Design, model: Model, y: Array, schedule: Schedule, q: Factors) -> Run:
    """Iterate from the factors q."""
    P, record = None, _Record(design)
    bound, change, moved, converged = -np.inf, np.inf, np.inf, False
    fitted = q.fitted
    stride = 1.0
    for n_iter in range(1, schedule.max_iter + 1):
        before, current = q, model
        if schedule.plain:
            q = plain_step(before, model, design, y)
        else:
            current = replace(model, structured=model.structured and n_iter > _WARM_UP)
            first, slack = n_iter == 1, _SLACK * schedule.tol * abs(bound)
            q, P = step(before, current, design, y, P, stride=stride, slack=slack, first=first)
        new = elbo(q, model, y)
        if stride > 1 and not new > bound:  # too far: steps of stride one never fall
            q, P = step(before, current, design, y, P, slack=slack)
            new, stride = elbo(q, model, y), 1.0
        elif n_iter > _WARM_UP and not schedule.plain:
            stride = min(_GROWTH * stride, _MAX_STRIDE)
        old_fitted, fitted = fitted, q.fitted
        change = abs(new - bound) / max(1.0, abs(new))
        moved = float(np.linalg.norm(fitted - old_fitted) / (np.linalg.norm(fitted) + 1e-8))
        bound = new
        record.add(bound, moved, design)
        rested = change <= schedule.tol and moved**2 <= schedule.tol
        converged = rested and current.structured == model.structured
        if converged:
            break
        if schedule.prune and n_iter >= _PRUNE_FROM and n_iter % _PRUNE_EVERY == 0:
            larger = design
            q, design = pruned(q, model, design)
            P = P if design is larger else None
    return Run(q, model, design, record.history(), bound, change, moved, converged)


class _Record:
    """What happened in every iteration."""

    def __init__(self, design: Design) -> None:
        self._bank, self._began = design.bank, time.perf_counter()
        self._rows: list[tuple[float, float, int, int, float, float]] = []

    def add(self, bound: float, moved: float, design: Design) -> None:
        """Remember one iteration."""
        self._rows.append(
            (
                bound,
                moved,
                len(design.kernels),
                len(design.samples),
                self._bank.n_passes,
                time.perf_counter() - self._began,
            )
        )

    def history(self) -> dict[str, Array]:
        """Columns by name."""
        names = ("elbo", "prediction_change", "n_kernels", "n_samples", "n_passes", "seconds")
        return dict(zip(names, map(np.array, zip(*self._rows, strict=True)), strict=True))
