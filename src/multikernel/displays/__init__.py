"""Pictures of fitted models: computing, drawing and the numbers shown stay apart."""

from .convergence import ConvergenceDisplay
from .weights import WeightsDisplay

__all__ = ["ConvergenceDisplay", "WeightsDisplay"]
