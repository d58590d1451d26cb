"""Which kernels and samples matter, and models without those that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from ..._component import Array
from ...banks.base import Index
from .design import Design
from .model import Factors, Gamma, Model, SampleWeights, Weights
from .structured import update_a_structured
from .updates import update_a, update_be, update_G

NEGLIGIBLE = 1e-6
NOTHING = 1e-4  # share of the variance of targets below which kernels explain nothing
_SMALL, _TINY = 1e-2, 1e-3  # contributions that must be certain, and that never count
_REACH = float(ndtri(0.975))


def kept_kernels(q: Factors) -> Index:
    r"""Kernels whose :math:`E[e_m^2]\, E\|g^m\|^2` is above a millionth of the sum over kernels."""
    power = np.sum(q.be.squares * q.G.norms(), axis=0)
    return np.flatnonzero(power > NEGLIGIBLE * power.sum())


def active_kernels(q: Factors) -> Index:
    """Kernels that contribute more than one in a hundred in some output, or surely contribute.

    Surely means that the 95 % credible interval of the weight excludes zero, and more than one in a
    thousand is asked of them, too. Where kernels explain nothing, none is active.
    """
    if explained_share(q) < NOTHING:
        return np.arange(0)
    sure = np.abs(q.be.mean) > _REACH * np.sqrt(np.diagonal(q.be.cov, axis1=1, axis2=2))
    share = contributions(q)
    return np.flatnonzero(np.any((share > _SMALL) | (sure & (share > _TINY)), axis=0))


def contributions(q: Factors) -> Array:
    """Shares of kernels in the mean absolute components at the samples, shape (Le, M)."""
    size = np.abs(q.be.mean) * np.abs(q.a.Ka).sum(axis=(0, 2))
    return np.asarray(size / np.maximum(size.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def explained_share(q: Factors) -> float:
    r"""The variance of :math:`\tilde e^\top K_i^\top \tilde a` over samples by that of the targets.

    That of the output with the largest share; targets without variance count as explained.
    """
    parts = (q.be.mean[:, np.newaxis, :] @ q.a.Ka)[:, 0]
    total, varies = q.f.var(axis=1), q.f.std(axis=1) > 1e-12 * np.abs(q.f).max(axis=1)
    share = np.divide(parts.var(axis=1), total, out=np.ones(len(total)), where=varies)
    return float(share.max())


def active_samples(second: np.ndarray) -> Index:
    r"""Samples whose :math:`E[a_i^2]` is above a millionth of the largest, in any output.

    Parameters
    ----------
    second : array of shape (La, D)
        The expected squares of sample weights.
    """
    return np.flatnonzero(np.any(second > NEGLIGIBLE * second.max(axis=1, keepdims=True), axis=0))


def pruned(q: Factors, model: Model, design: Design) -> tuple[Factors, Design]:
    """Factors and design without kernels and samples that do not matter.

    The model changes, so the bound of the smaller one need not continue that of the larger.
    """
    kernels, size = kept_kernels(q), len(design.kernels)
    samples = np.arange(len(design.samples))
    if not model.tied:
        samples = active_samples(q.a.second)
    if len(kernels) == size and len(samples) == len(design.samples):
        return q, design
    if len(kernels) < size:
        design = design.keep_kernels(kernels)
    if len(samples) < len(design.samples):
        design = design.keep_samples(samples)
    q = _cut(q, kernels, samples)
    q = replace(q, be=update_be(q, model))
    update = update_a_structured if model.structured else update_a
    q = replace(q, a=update(q, model, design))
    return replace(q, G=update_G(q, model)), design


def _cut(q: Factors, kernels: Index, samples: Index) -> Factors:
    """The factors of some kernels and samples; determinants are left to the updates."""
    lam = q.lam
    if lam.scale.shape[1] > 1:
        lam = Gamma(lam.shape[:, samples], lam.scale[:, samples])
    var = q.a.var if q.a.var.shape[1] == 1 else q.a.var[:, samples]
    rows = np.ix_(np.arange(len(q.be.cov)), kernels, kernels)
    G = replace(
        q.G,
        mean=q.G.mean[:, kernels],
        basis=np.eye(len(kernels)),
        spectrum=(q.G.spectrum @ q.G.basis.T**2)[:, kernels],  # diagonals of the covariances
        gain=None,
        shared=None,
    )
    be = q.be
    return replace(
        q,
        lam=lam,
        omega=Gamma(q.omega.shape[:, kernels], q.omega.scale[:, kernels]),
        a=SampleWeights(q.a.mean[:, samples], var, q.a.log_det, q.a.trace_q, q.a.Ka[:, kernels]),
        G=G,
        be=Weights(
            be.mean[:, kernels],
            be.cov[rows],
            be.bias,
            be.bias_var,
            be.bias_cov[:, kernels],
            be.log_det,
        ),
    )
