"""Pictures of fitted models: computing, drawing and the numbers shown stay apart."""

from .convergence import ConvergenceDisplay
from .q_norm import QNormDisplay
from .weights import WeightsDisplay

__all__ = [
    "ConvergenceDisplay",
    "QNormDisplay",
    "WeightsDisplay",
]
