"""The iteration: sweeps until the bound and the predictions rest, from several starts."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._component import Array
from ...banks import Bank
from .design import Design
from .elbo import elbo
from .joint import Preconditioner, update_a_and_G
from .model import Factors, Gamma, Model
from .posterior import ConjugatePosterior, conclude
from .prune import pruned
from .scale_step import scale_step
from .start import first_factors
from .structured import update_a_structured
from .sweep import kernel_sweep
from .updates import update_a, update_G, update_lam, update_omega, update_ups

_MAX_KERNEL_SWEEPS = 5
_PRUNE_FROM, _PRUNE_EVERY = 20, 10
_GROWTH, _MAX_STRIDE = 1.5, 20.0
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
    """

    tol: float = 1e-6
    max_iter: int = 500
    prune: bool = False


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
        Random starts besides the deterministic one; the largest bound is kept.
    rng : Generator, optional
        Draws the random starts.
    """
    schedule = schedule or Schedule()
    rng = rng or np.random.default_rng(0)
    design = Design.from_bank(bank)
    starts = [None] + [rng] * n_restarts
    results = []
    for start in starts:
        results.append(_run(design, model, y, schedule, start))
        results = [max(results, key=lambda result: result.bound)]
    best = results[0]
    if not best.converged:
        warnings.warn(
            f"variational inference stopped at max_iter={schedule.max_iter} with a relative "
            f"change of the bound of {best.change:.1e} > tol={schedule.tol:.1e}, or predictions "
            "still moving; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return conclude(best.q, model, best.design, y, best.record.history(), best.converged)


def step(
    q: Factors,
    model: Model,
    design: Design,
    y: Array,
    P: Preconditioner | None = None,
    *,
    stride: float = 1.0,
    first: bool = False,
) -> tuple[Factors, Preconditioner | None]:
    """One iteration: the sample weights once, all that is cheap several times, the scale.

    Precisions of sample and kernel weights go ``stride`` times as far as their updates say, in
    logarithms: a weight that vanishes is else followed by its precision at a steady pace.
    """
    q = replace(
        q,
        lam=_stretched(q.lam, update_lam(q, model), stride),
        omega=_stretched(q.omega, update_omega(q, model), stride),
    )
    q = replace(q, ups=update_ups(q, model))
    if model.structured:
        q = replace(q, a=update_a_structured(q, model, design))
        q = replace(q, G=update_G(q, model))
    elif first:  # the first factors of G are a start, not yet an answer
        q = replace(q, a=update_a(q, model, design))
    else:
        q, P = update_a_and_G(q, model, design, P)
    n_sweeps = _n_kernel_sweeps(q)
    for k in range(1, n_sweeps + 1):  # scores of several classes cost more than the rest
        q = kernel_sweep(q, model, y, refresh=model.targets == "sign" or k == n_sweeps)
        if k < n_sweeps:
            q = replace(q, ups=update_ups(q, model))
    return scale_step(q, model), P


def _stretched(old: Gamma, new: Gamma, stride: float) -> Gamma:
    """The Gamma factors beyond the new ones, as seen from the old, by the logarithm of scales."""
    return Gamma(new.shape, new.scale * (new.scale / old.scale) ** (stride - 1))


def _n_kernel_sweeps(q: Factors) -> int:
    """As many sweeps over the cheap blocks as cost less than one factorisation per output."""
    _, M, n = q.G.mean.shape
    D = q.a.mean.shape[1]
    return int(np.clip(D**3 // (24 * M**2 * (n + M)), 1, _MAX_KERNEL_SWEEPS))


@dataclass(frozen=True)
class _Run:
    """Where one start has led."""

    q: Factors
    design: Design
    record: _Record
    bound: float
    change: float
    converged: bool


def _run(
    design: Design, model: Model, y: Array, schedule: Schedule, rng: np.random.Generator | None
) -> _Run:
    q, P = first_factors(design, model, y, rng), None
    record = _Record(design)
    bound, change, converged = -np.inf, np.inf, False
    fitted = q.fitted
    stride = 1.0
    for n_iter in range(1, schedule.max_iter + 1):
        current = replace(model, structured=model.structured and n_iter > _WARM_UP)
        before = q
        q, P = step(before, current, design, y, P, stride=stride, first=n_iter == 1)
        new = elbo(q, model, y)
        if stride > 1 and not new > bound:  # too far: the plain step never falls
            q, P = step(before, current, design, y, P)
            new, stride = elbo(q, model, y), 1.0
        elif n_iter > _WARM_UP:
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
    return _Run(q, design, record, bound, change, converged)


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
