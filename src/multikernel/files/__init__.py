"""Files: read sources from tables on disk, and say what to know before a fit."""

from ._errors import InputError
from ._finding import Finding
from .check import Check, check_sources
from .dataset import Dataset
from .levels import TextLevels
from .read import read_sources

__all__ = [
    "Check",
    "Dataset",
    "Finding",
    "InputError",
    "TextLevels",
    "check_sources",
    "read_sources",
]
