"""Inference: the best run from several starts, in a family rich enough to explain something."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._component import Array
from ..._warnings import warn
from ...banks import Bank
from .design import Design
from .model import Model
from .posterior import ConjugatePosterior, conclude
from .prune import NOTHING, explained_share
from .run import Run, Schedule, run
from .start import first_factors, printed_factors, scattered_factors


def fit_conjugate(
    bank: Bank,
    y: Array,
    model: Model,
    schedule: Schedule | None = None,
    n_restarts: int = 0,
    rng: np.random.Generator | None = None,
) -> ConjugatePosterior:
    """The approximate posterior of the conjugate model, from the best of several starts.

    Parameters
    ----------
    bank : Bank
        M kernels on n samples.
    y : array of shape (L, n)
        Numbers, signs or indicators of classes, as the model says.
    model : Model
    schedule : Schedule, optional
    n_restarts : int
        Random starts besides the first, which is deterministic unless the schedule is plain; the
        largest bound is kept.
    rng : Generator, optional
        Draws the random starts.

    Notes
    -----
    In the mean-field family every kernel lends precision to the sample weights, used or not. With
    little information the bound is then largest where all weights vanish, from every start; with
    sparse priors such a point is a local optimum. Where the first run ends there, the structured
    family, which contains the mean-field one, is tried from one or two starts; the largest bound
    is kept.
    """
    schedule, rng = schedule or Schedule(), rng or np.random.default_rng(0)
    best = _best_run(Design.from_bank(bank), model, y, schedule, n_restarts, rng)
    complaints = [] if best.converged else [best.unrest(schedule)]
    complaints += [_emptiness(best)] if _is_empty(best) else []
    if complaints:
        category = UserWarning if best.converged else ConvergenceWarning
        warn(" Besides, ".join(complaints), category)
    return conclude(best.q, best.model, best.design, y, best.history, best.converged)


def _best_run(
    design: Design,
    model: Model,
    y: Array,
    schedule: Schedule,
    n_restarts: int,
    rng: np.random.Generator,
) -> Run:
    """The run with the largest bound, also of the structured family where nothing is explained."""
    if schedule.plain:
        starts = [partial(printed_factors, design, model, y, rng)] * (1 + n_restarts)
        return reduce(_better, (run(design, model, y, schedule, start()) for start in starts))
    random = partial(scattered_factors, design, model, y)
    first = best = run(design, model, y, schedule, first_factors(design, model, y))
    for k in range(n_restarts):  # far from the first start and near it in turn
        best = _better(best, run(design, model, y, schedule, random(rng, far=k % 2 == 0)))
    if model.structured or not _is_empty(first):
        return best
    richer = replace(model, structured=True)
    best = _better(best, run(design, richer, y, schedule, first_factors(design, model, y)))
    if _is_empty(best):
        far = random(np.random.default_rng(0), far=True)
        best = _better(best, run(design, richer, y, schedule, far))
    return best


def _better(one: Run, other: Run) -> Run:
    return other if other.bound > one.bound else one


def _is_empty(found: Run) -> bool:
    return explained_share(found.q) < NOTHING


def _emptiness(best: Run) -> str:
    """What vanished, and what may help."""
    q = best.q
    remedy = "" if best.model.structured else "inference='structured', "
    return (
        f"the kernels explain {explained_share(q):.1e} of the variance of the targets: predictions "
        f"are the bias alone. The largest kernel weight is {np.abs(q.be.mean).max():.1e}, the "
        f"largest sample weight {np.abs(q.a.mean).max():.1e}, the bound {best.bound:.6g}. If there "
        f"is something to explain, try {remedy}n_restarts, more samples, or fewer or other kernels."
    )
