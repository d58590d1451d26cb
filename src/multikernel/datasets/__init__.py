"""Data sets of several sources whose truth is known."""

from .demo import load_demo
from .generators import make_multiview_classification, make_multiview_regression
from .neuroimaging import TopVoxels, make_neuroimaging, neuroimaging_kernels

__all__ = [
    "TopVoxels",
    "load_demo",
    "make_multiview_classification",
    "make_multiview_regression",
    "make_neuroimaging",
    "neuroimaging_kernels",
]
