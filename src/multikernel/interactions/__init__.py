"""Interactions: matrices Q over kernels, computed inside each fit, that say what goes together."""

from .base import Fixed, Interaction, Scaled, Sum
from .dual_covariance import DualCovariance
from .error_correlation import ErrorCorrelation
from .graph_laplacian import GraphLaplacian
from .kernel_alignment import KernelAlignment
from .scaling import Normalized, Repaired, unit_inverse_spectrum, unit_trace
from .source_blocks import SourceBlocks

INTERACTIONS: dict[str, type[Interaction]] = {
    "dual_covariance": DualCovariance,
    "error_correlation": ErrorCorrelation,
    "fixed": Fixed,
    "graph_laplacian": GraphLaplacian,
    "kernel_alignment": KernelAlignment,
    "normalized": Normalized,
    "repaired": Repaired,
    "scaled": Scaled,
    "source_blocks": SourceBlocks,
    "sum": Sum,
}

__all__ = [
    "INTERACTIONS",
    "DualCovariance",
    "ErrorCorrelation",
    "Fixed",
    "GraphLaplacian",
    "Interaction",
    "KernelAlignment",
    "Normalized",
    "Repaired",
    "Scaled",
    "SourceBlocks",
    "Sum",
    "unit_inverse_spectrum",
    "unit_trace",
]
