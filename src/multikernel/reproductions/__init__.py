"""Experiments of the papers, done again: one class each, run by name."""

from .base import DataFile, Experiment, Summary
from .reproduce import Reproduction, reproduce

_ALL: tuple[type[Experiment], ...] = ()

EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}

__all__ = ["EXPERIMENTS", "DataFile", "Experiment", "Reproduction", "Summary", "reproduce"]
