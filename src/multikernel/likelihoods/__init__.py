"""Likelihoods: normalised losses with their Gaussian bounds and predictive distributions."""

from .base import Likelihood, RegressionLikelihood
from .gaussian import Gaussian
from .laplace import Laplace
from .logistic import LogisticLikelihood
from .student_t import StudentT

LIKELIHOODS: dict[str, type[Likelihood]] = {
    "gaussian": Gaussian,
    "logistic": LogisticLikelihood,
    "laplace": Laplace,
    "student": StudentT,
}

__all__ = [
    "LIKELIHOODS",
    "Gaussian",
    "Laplace",
    "Likelihood",
    "LogisticLikelihood",
    "RegressionLikelihood",
    "StudentT",
]
