"""First factors: deterministic, drawn at random in units of the targets, or those of the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._component import Array
from .design import Design
from .model import Factors, Gamma, Intermediate, Model, SampleWeights, Weights
from .probit import score_mean

_CONCENTRATION = 0.3  # of the Dirichlet distribution of kernel weights: few are large


def first_factors(design: Design, model: Model, y: Array) -> Factors:
    """Where the iteration starts, for targets y of shape (L, n).

    Every intermediate output is the target itself and all kernel weights are equal.
    """
    (L, n), M, D = y.shape, design.bank.n_kernels, len(design.samples)
    f = y if model.targets == "real" else score_mean(np.zeros(y.shape), y, model.targets)
    G, e = _first_direction(f) if model.outputs == "shared_samples" else (f, np.ones((1, 1)))
    La, Le = len(G), len(e)
    G = np.repeat(G, M, axis=0).reshape(La, M, n)
    e = np.repeat(e / M, M, axis=1)
    p = model.priors
    a = SampleWeights(
        np.zeros((La, D)),
        np.full((La, 1), float(D)) if model.tied else np.ones((La, D)),
        np.zeros(La),
        np.full(La, float(np.trace(design.Q))),
        np.zeros((La, M, n)),
    )
    cov = np.broadcast_to(np.eye(M), (Le, M, M)).copy()
    be = Weights(e, cov, np.zeros(L), np.ones(L), np.zeros((L, M)), 0.0)
    return Factors(
        lam=_prior(p.alpha_lambda, p.beta_lambda, (La, 1 if model.tied else D)),
        ups=_prior(p.alpha_upsilon, p.beta_upsilon, (La,)),
        gam=_prior(p.alpha_gamma, p.beta_gamma, (L,)),
        omega=_prior(p.alpha_omega, p.beta_omega, (Le, M)),
        eps=_prior(p.alpha_epsilon, p.beta_epsilon, (L,)) if model.targets == "real" else _one(L),
        a=a,
        G=Intermediate(G, np.eye(M), np.ones((La, M))),
        be=be,
        f=f,
    )


def scattered_factors(
    design: Design, model: Model, y: Array, rng: np.random.Generator, *, far: bool
) -> Factors:
    """A random start in units of the targets, for restarts.

    Noise as large as the targets takes their place as intermediate outputs, with kernel weights of
    one (``far``), or is added to them, with a few large kernel weights. All weights have one sign:
    mixed signs often lead to the solution in which nothing is explained.
    """
    q = first_factors(design, model, y)
    G, e, M = q.G.mean, q.be.mean, q.be.mean.shape[1]
    size = np.sqrt(np.mean(G**2, axis=(1, 2), keepdims=True))
    noise = size * rng.normal(size=G.shape)
    weights = np.ones(e.shape) if far else rng.dirichlet(np.full(M, _CONCENTRATION), len(e))
    return replace(
        q,
        G=replace(q.G, mean=noise if far else G + noise),
        be=replace(q.be, mean=M * e * weights),
    )


def printed_factors(design: Design, model: Model, y: Array, rng: np.random.Generator) -> Factors:
    """The start of [G12]_: standard normal sample weights and outputs, kernel weights of one."""
    q = first_factors(design, model, y)
    mean = rng.normal(size=q.a.mean.shape)
    return replace(
        q,
        a=replace(q.a, mean=mean, Ka=design.apply(mean)),
        G=replace(q.G, mean=rng.normal(size=q.G.mean.shape)),
        be=replace(q.be, mean=np.ones(q.be.mean.shape)),
    )


def _first_direction(f: Array) -> tuple[Array, Array]:
    """The common direction of all outputs, shape (1, n), and how much each has of it, (L, 1)."""
    u, _, vt = np.linalg.svd(f, full_matrices=False)
    sign = 1.0 if u[:, 0].sum() >= 0 else -1.0
    size = np.sqrt(np.mean(f**2) * f.shape[1])
    return sign * size * vt[:1], sign * np.sqrt(len(f)) * u[:, :1]


def _prior(shape: float, scale: float, size: tuple[int, ...]) -> Gamma:
    return Gamma(np.full(size, shape), np.full(size, scale))


def _one(L: int) -> Gamma:
    """The noise of latent scores, which is fixed."""
    return Gamma(np.ones(L), np.ones(L))
