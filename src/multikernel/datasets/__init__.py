"""Data sets of several sources whose truth is known, and a small real one."""

from .cells import load_cells
from .demo import load_demo
from .flowers import (
    load_flowers17,
    load_flowers102,
    mean_distance_grams,
    read_flowers102_split,
)
from .generators import make_multiview_classification, make_multiview_regression
from .motorcycle import load_motorcycle
from .neuroimaging import TopVoxels, make_neuroimaging, neuroimaging_kernels

__all__ = [
    "TopVoxels",
    "load_cells",
    "load_demo",
    "load_flowers17",
    "load_flowers102",
    "load_motorcycle",
    "make_multiview_classification",
    "make_multiview_regression",
    "make_neuroimaging",
    "mean_distance_grams",
    "neuroimaging_kernels",
    "read_flowers102_split",
]
