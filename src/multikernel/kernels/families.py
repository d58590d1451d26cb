"""The table of kernel families."""

from __future__ import annotations

from .custom import FunctionKernel, SklearnKernel
from .distances import RBF, Chi2, ExpDistance, Laplacian, Matern
from .family import KernelFamily
from .similarities import Cosine, HistogramIntersection, Linear, Polynomial, Tanimoto
from .strings import Spectrum

KERNELS: dict[str, type[KernelFamily]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RBF,
    "matern": Matern,
    "laplacian": Laplacian,
    "chi2": Chi2,
    "intersection": HistogramIntersection,
    "cosine": Cosine,
    "tanimoto": Tanimoto,
    "spectrum": Spectrum,
    "expdistance": ExpDistance,
    "function": FunctionKernel,
    "sklearn": SklearnKernel,
}


def default_families() -> list[KernelFamily]:
    """Linear, and RBF at a quarter, one and four times the median squared distance."""
    return [Linear(), RBF(width=[0.25, 1.0, 4.0])]
