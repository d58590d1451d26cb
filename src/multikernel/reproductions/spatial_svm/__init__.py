"""Spatial SVM: a classifier of brain maps that knows which voxels are neighbours."""

from .experiment import SpatialSVM

__all__ = ["SpatialSVM"]
