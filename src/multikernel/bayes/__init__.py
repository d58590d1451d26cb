"""Bayesian inference of kernel weights: evidence, variational bounds, joint modes."""

from .base import BayesProblem, Evaluation, Inference, State
from .convex_mkl import ConvexMKL, matched_strength, natural_strength
from .default_method import default_method
from .double_loop import DoubleLoop
from .em import ExpectationMaximization
from .hyper_priors import (
    HYPER_PRIORS,
    FlatPrior,
    GammaPrior,
    HyperPrior,
    InverseGammaPrior,
    PowerPrior,
)
from .information_newton import InformationNewton
from .joint_map import CollapseWarning, JointMAP
from .mackay import MacKay
from .marginal import Marginal
from .method import Method
from .reweighted import ReweightedMKL
from .start import first_state

METHODS: dict[str, type[Method]] = {
    "mackay": MacKay,
    "newton": InformationNewton,
    "em": ExpectationMaximization,
    "reweighted": ReweightedMKL,
    "double_loop": DoubleLoop,
}

__all__ = [
    "HYPER_PRIORS",
    "METHODS",
    "BayesProblem",
    "CollapseWarning",
    "ConvexMKL",
    "DoubleLoop",
    "Evaluation",
    "ExpectationMaximization",
    "FlatPrior",
    "GammaPrior",
    "HyperPrior",
    "Inference",
    "InformationNewton",
    "InverseGammaPrior",
    "JointMAP",
    "MacKay",
    "Marginal",
    "Method",
    "PowerPrior",
    "ReweightedMKL",
    "State",
    "default_method",
    "first_state",
    "matched_strength",
    "natural_strength",
]
