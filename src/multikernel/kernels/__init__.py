"""Kernels: what to compute, from which columns, and how to normalise it."""

from .base import Kernels
from .bundle import KernelBundle
from .custom import FunctionKernel, SklearnKernel
from .distances import RBF, Chi2, ExpDistance, Laplacian, Matern
from .families import KERNELS, default_families
from .family import KernelFamily
from .kernel_set import KernelSet
from .normalize import NORMALIZERS
from .precomputed import PrecomputedKernels
from .presence import PresenceSummary
from .repair import nearest_psd
from .rows import RowContainer
from .similarities import Cosine, HistogramIntersection, Linear, Polynomial, Tanimoto
from .strings import Spectrum
from .views import ViewBundle

__all__ = [
    "KERNELS",
    "NORMALIZERS",
    "RBF",
    "Chi2",
    "Cosine",
    "ExpDistance",
    "FunctionKernel",
    "HistogramIntersection",
    "KernelBundle",
    "KernelFamily",
    "KernelSet",
    "Kernels",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "PrecomputedKernels",
    "PresenceSummary",
    "RowContainer",
    "SklearnKernel",
    "Spectrum",
    "Tanimoto",
    "ViewBundle",
    "default_families",
    "nearest_psd",
]
