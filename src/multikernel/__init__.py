"""Multiple kernel learning: learn which data sources to trust, with a certificate.

Estimators, kernels, losses, regularizers and solvers are here by name. Data sets and displays are
imported when they are first asked for, so that ``import multikernel`` stays light.
"""

import logging
from importlib import import_module
from typing import Any

from .banks import FactoredBank, PackedBank
from .estimators import (
    QSVC,
    QSVR,
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MultiTaskMKLClassifier,
    MultiTaskMKLRegressor,
    ProbabilisticMKLClassifier,
    ProbabilisticMKLRegressor,
    SourcePreparation,
    mkl_path,
)
from .heuristics import Alignment, AlignmentQP, BestAligned, MarginShares, OneKernel
from .interactions import (
    DualCovariance,
    ErrorCorrelation,
    GraphLaplacian,
    KernelAlignment,
    SourceBlocks,
)
from .kernels import (
    RBF,
    Chi2,
    Cosine,
    ExpDistance,
    FunctionKernel,
    HistogramIntersection,
    KernelBundle,
    KernelSet,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    PrecomputedKernels,
    SklearnKernel,
    Spectrum,
    Tanimoto,
    ViewBundle,
    nearest_psd,
)
from .losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Multinomial,
    RelativeMargin,
    Squared,
    SquaredHinge,
)
from .regularizers import (
    BlockNorm,
    ElasticNet,
    FixedWeights,
    GroupNorm,
    LpNorm,
    QNorm,
    TaskCoupling,
    Uniform,
    Wedge,
    from_block_norm,
    from_weight_penalty,
    ivanov_to_tikhonov,
    tikhonov_to_ivanov,
)
from .solvers import (
    Alternating,
    BlockDescent,
    DualAugmentedLagrangian,
    DualNewton,
    NewtonWeights,
    Problem,
    Solution,
    choose_solver,
    critical_C,
    regularization_path,
)
from .spatial import spatial_laplacian

logging.getLogger(__name__).addHandler(logging.NullHandler())

_LAZY_MODULES = ("comparison", "datasets", "displays", "files", "persistence", "report", "theory")
_LAZY_NAMES = {
    "Comparison": "comparison",
    "compare": "comparison",
    "ComparisonDisplay": "displays",
    "ContributionsDisplay": "displays",
    "ConvergenceDisplay": "displays",
    "EvidenceDisplay": "displays",
    "FoldWeightsDisplay": "displays",
    "MethodWeightsDisplay": "displays",
    "ObjectiveContourDisplay": "displays",
    "PathDisplay": "displays",
    "PredictiveDisplay": "displays",
    "QNormDisplay": "displays",
    "RedundancyDisplay": "displays",
    "SelectionDisplay": "displays",
    "SimplexDisplay": "displays",
    "TaxonomyDisplay": "displays",
    "WeightsDisplay": "displays",
    "check_sources": "files",
    "load_cells": "datasets",
    "load_demo": "datasets",
    "load_model": "persistence",
    "load_motorcycle": "datasets",
    "make_multiview_classification": "datasets",
    "make_multiview_regression": "datasets",
    "read_sources": "files",
    "save_model": "persistence",
    "save_report": "report",
    "taxonomy": "bayes.taxonomy",
}

__all__ = [
    "QSVC",
    "QSVR",
    "RBF",
    "Absolute",
    "Alignment",
    "AlignmentQP",
    "Alternating",
    "BayesianMKLClassifier",
    "BayesianMKLRegressor",
    "BestAligned",
    "BlockDescent",
    "BlockNorm",
    "Chi2",
    "Cosine",
    "DualAugmentedLagrangian",
    "DualCovariance",
    "DualNewton",
    "ElasticNet",
    "EpsilonInsensitive",
    "ErrorCorrelation",
    "ExpDistance",
    "FactoredBank",
    "FixedWeights",
    "FunctionKernel",
    "GraphLaplacian",
    "GroupNorm",
    "Hinge",
    "HistogramIntersection",
    "Huber",
    "KernelAlignment",
    "KernelBundle",
    "KernelSet",
    "Laplacian",
    "Linear",
    "Logistic",
    "LpNorm",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "MarginShares",
    "Matern",
    "MultiTaskMKLClassifier",
    "MultiTaskMKLRegressor",
    "Multinomial",
    "NewtonWeights",
    "OneKernel",
    "PackedBank",
    "Polynomial",
    "PrecomputedKernels",
    "ProbabilisticMKLClassifier",
    "ProbabilisticMKLRegressor",
    "Problem",
    "QNorm",
    "RelativeMargin",
    "SklearnKernel",
    "Solution",
    "SourceBlocks",
    "SourcePreparation",
    "Spectrum",
    "Squared",
    "SquaredHinge",
    "Tanimoto",
    "TaskCoupling",
    "Uniform",
    "ViewBundle",
    "Wedge",
    "choose_solver",
    "critical_C",
    "from_block_norm",
    "from_weight_penalty",
    "ivanov_to_tikhonov",
    "mkl_path",
    "nearest_psd",
    "regularization_path",
    "spatial_laplacian",
    "tikhonov_to_ivanov",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return import_module(f".{name}", __name__)
    if name in _LAZY_NAMES:
        return getattr(import_module(f".{_LAZY_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_LAZY_MODULES, *_LAZY_NAMES])
