"""Experiments of the papers, done again: one class each, run by name."""

from .base import DataFile, Experiment, Summary
from .caltech101 import Caltech101
from .flowers17 import Flowers17
from .flowers102 import Flowers102
from .motorcycle import Motorcycle
from .multitask import MultiTask
from .qmkl import QMKL
from .reproduce import Reproduction, reproduce
from .simplemkl import SimpleMKL
from .spatial_svm import SpatialSVM
from .taxonomy import TaxonomyOfObjectives

_ALL: tuple[type[Experiment], ...] = (
    Caltech101,
    Flowers17,
    Motorcycle,
    MultiTask,
    SimpleMKL,
    TaxonomyOfObjectives,
    QMKL,
    SpatialSVM,
    Flowers102,
)

EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}

__all__ = ["EXPERIMENTS", "DataFile", "Experiment", "Reproduction", "Summary", "reproduce"]
