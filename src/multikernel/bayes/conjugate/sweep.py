"""The sweep over all blocks that need no kernel, and hardly cost."""

from __future__ import annotations

from dataclasses import replace

from ..._component import Array
from .model import Factors, Model
from .probit import score_mean
from .updates import update_be, update_eps, update_G, update_gam, update_omega


def kernel_sweep(q: Factors, model: Model, y: Array, *, refresh: bool = True) -> Factors:
    """Intermediate outputs, kernel weights, biases and noise, given the sample weights.

    Latent scores behind labels are refreshed where asked for.
    """
    q = replace(q, G=update_G(q, model))
    q = replace(q, gam=update_gam(q, model))
    q = replace(q, omega=update_omega(q, model))
    if model.targets == "real":
        q = replace(q, eps=update_eps(q, model))
    q = replace(q, be=update_be(q, model))
    if refresh and model.targets != "real":
        q = replace(q, f=score_mean(q.fitted, y, model.targets, model.margin))
    return q
