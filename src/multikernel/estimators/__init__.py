"""Estimators: the models of the library as scikit-learn estimators."""

from .bayesian_classifier import BayesianMKLClassifier
from .bayesian_regressor import BayesianMKLRegressor
from .classifier import MKLClassifier
from .classifier_cv import MKLClassifierCV
from .multitask import MultiTaskMKLClassifier, MultiTaskMKLRegressor
from .path import KernelPath, mkl_path
from .preparation import SourcePreparation
from .probabilistic_classifier import ProbabilisticMKLClassifier
from .probabilistic_regressor import ProbabilisticMKLRegressor
from .q_svc import QSVC
from .q_svr import QSVR
from .regressor import MKLRegressor
from .regressor_cv import MKLRegressorCV

__all__ = [
    "QSVC",
    "QSVR",
    "BayesianMKLClassifier",
    "BayesianMKLRegressor",
    "KernelPath",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "MultiTaskMKLClassifier",
    "MultiTaskMKLRegressor",
    "ProbabilisticMKLClassifier",
    "ProbabilisticMKLRegressor",
    "SourcePreparation",
    "mkl_path",
]
