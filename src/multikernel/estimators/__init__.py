"""Estimators: the models of the library as scikit-learn estimators."""

from .classifier import MKLClassifier
from .multitask import MultiTaskMKLClassifier, MultiTaskMKLRegressor
from .regressor import MKLRegressor

__all__ = ["MKLClassifier", "MKLRegressor", "MultiTaskMKLClassifier", "MultiTaskMKLRegressor"]
