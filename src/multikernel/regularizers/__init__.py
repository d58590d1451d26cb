"""Regularizers: what is asked of the kernel weights."""

from .base import Atoms, Curvature, Regularizer
from .block_norm import BlockNorm
from .block_penalty import BlockPenalty
from .custom import from_block_norm, from_weight_penalty
from .elastic_net import ElasticNet
from .equivalence import Equivalent, ivanov_to_tikhonov, tikhonov_to_ivanov
from .fixed_weights import FixedWeights
from .group_norm import GroupNorm
from .lp_norm import LpNorm
from .q_norm import QNorm
from .task_coupling import LearnedSharing, TaskCoupling, learned_sharing
from .uniform import Uniform
from .wedge import Wedge
from .weight_penalty import WeightPenalty

REGULARIZERS: dict[str, type[Regularizer]] = {
    "lp": LpNorm,
    "uniform": Uniform,
    "fixed": FixedWeights,
    "block": BlockNorm,
    "elasticnet": ElasticNet,
    "wedge": Wedge,
    "group": GroupNorm,
    "task_coupling": TaskCoupling,
    "weight_penalty": WeightPenalty,
    "block_penalty": BlockPenalty,
    "q": QNorm,
}

__all__ = [
    "REGULARIZERS",
    "Atoms",
    "BlockNorm",
    "BlockPenalty",
    "Curvature",
    "ElasticNet",
    "Equivalent",
    "FixedWeights",
    "GroupNorm",
    "LearnedSharing",
    "LpNorm",
    "QNorm",
    "Regularizer",
    "TaskCoupling",
    "Uniform",
    "Wedge",
    "WeightPenalty",
    "from_block_norm",
    "from_weight_penalty",
    "ivanov_to_tikhonov",
    "learned_sharing",
    "tikhonov_to_ivanov",
]
