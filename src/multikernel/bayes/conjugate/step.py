"""One iteration: accelerated, or the updates as printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._component import Array
from .design import Design
from .joint import Preconditioner, update_a_and_G
from .model import Factors, Gamma, Model
from .scale_step import scale_step
from .structured import update_a_structured
from .sweep import kernel_sweep
from .updates import update_a, update_G, update_lam, update_omega, update_ups

_MAX_KERNEL_SWEEPS = 5


def step(
    q: Factors,
    model: Model,
    design: Design,
    y: Array,
    P: Preconditioner | None = None,
    *,
    stride: float = 1.0,
    slack: float = 0.0,
    first: bool = False,
) -> tuple[Factors, Preconditioner | None]:
    """One iteration: the sample weights once, all that is cheap several times, the scale.

    Precisions of sample and kernel weights go ``stride`` times as far as their updates say, in
    logarithms: a weight that vanishes is else followed by its precision at a steady pace.
    Covariances of sample weights may stay as they are while that costs the bound ``slack`` at most.
    """
    q = replace(
        q,
        lam=_stretched(q.lam, update_lam(q, model), stride),
        omega=_stretched(q.omega, update_omega(q, model), stride),
    )
    q = replace(q, ups=update_ups(q, model))
    if model.structured:
        P = None  # that of the warm-up
        q = replace(q, a=update_a_structured(q, model, design))
        q = replace(q, G=update_G(q, model))
    elif first:  # the first factors of G are a start, not yet an answer
        q = replace(q, a=update_a(q, model, design))
    else:
        q, P = update_a_and_G(q, model, design, P, slack)
    n_sweeps = _n_kernel_sweeps(q)
    for k in range(1, n_sweeps + 1):  # scores of several classes cost more than the rest
        q = kernel_sweep(q, model, y, refresh=model.targets == "sign" or k == n_sweeps)
        if k < n_sweeps:
            q = replace(q, ups=update_ups(q, model))
    return scale_step(q, model), P


def plain_step(q: Factors, model: Model, design: Design, y: Array) -> Factors:
    """One iteration of [G12]_: every update once, in its order, and nothing else."""
    q = replace(q, lam=update_lam(q, model))
    q = replace(q, ups=update_ups(q, model))
    update = update_a_structured if model.structured else update_a
    q = replace(q, a=update(q, model, design))
    return kernel_sweep(q, model, y)


def _stretched(old: Gamma, new: Gamma, stride: float) -> Gamma:
    """The Gamma factors beyond the new ones, as seen from the old, by the logarithm of scales."""
    return Gamma(new.shape, new.scale * (new.scale / old.scale) ** (stride - 1))


def _n_kernel_sweeps(q: Factors) -> int:
    """As many sweeps over the cheap blocks as cost less than one factorisation per output."""
    _, M, n = q.G.mean.shape
    D = q.a.mean.shape[1]
    return int(np.clip(D**3 // (24 * M**2 * (n + M)), 1, _MAX_KERNEL_SWEEPS))
