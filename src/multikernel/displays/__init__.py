"""Pictures of fitted models: computing, drawing and the numbers shown stay apart."""

from .comparison import ComparisonDisplay
from .contributions import ContributionsDisplay
from .convergence import ConvergenceDisplay
from .evidence import EvidenceDisplay
from .fold_weights import FoldWeightsDisplay
from .method_weights import MethodWeightsDisplay
from .objective_contour import ObjectiveContourDisplay
from .predictive import PredictiveDisplay
from .q_norm import QNormDisplay
from .redundancy import RedundancyDisplay
from .regularization_path import PathDisplay
from .selection import SelectionDisplay
from .simplex import SimplexDisplay
from .taxonomy import TaxonomyDisplay
from .weights import WeightsDisplay

__all__ = [
    "ComparisonDisplay",
    "ContributionsDisplay",
    "ConvergenceDisplay",
    "EvidenceDisplay",
    "FoldWeightsDisplay",
    "MethodWeightsDisplay",
    "ObjectiveContourDisplay",
    "PathDisplay",
    "PredictiveDisplay",
    "QNormDisplay",
    "RedundancyDisplay",
    "SelectionDisplay",
    "SimplexDisplay",
    "TaxonomyDisplay",
    "WeightsDisplay",
]
