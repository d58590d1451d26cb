"""Comparison: does combining sources help, which of them carry it, and how sure are we?"""

from .compare import compare
from .models import MODELS, Setting
from .results import Comparison
from .statistics import corrected_t_test, practical_equivalence

__all__ = [
    "MODELS",
    "Comparison",
    "Setting",
    "compare",
    "corrected_t_test",
    "practical_equivalence",
]
