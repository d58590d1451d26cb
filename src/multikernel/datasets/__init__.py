"""Data sets of several sources whose truth is known."""

from .demo import load_demo
from .generators import make_multiview_classification, make_multiview_regression

__all__ = ["load_demo", "make_multiview_classification", "make_multiview_regression"]
