"""Pictures of fitted models: computing, drawing and the numbers shown stay apart."""

from .convergence import ConvergenceDisplay
from .evidence import EvidenceDisplay
from .method_weights import MethodWeightsDisplay
from .objective_contour import ObjectiveContourDisplay
from .predictive import PredictiveDisplay
from .q_norm import QNormDisplay
from .taxonomy import TaxonomyDisplay
from .weights import WeightsDisplay

__all__ = [
    "ConvergenceDisplay",
    "EvidenceDisplay",
    "MethodWeightsDisplay",
    "ObjectiveContourDisplay",
    "PredictiveDisplay",
    "QNormDisplay",
    "TaxonomyDisplay",
    "WeightsDisplay",
]
