"""The method that a user gets who names none."""

from __future__ import annotations

from ..likelihoods import Likelihood
from .double_loop import DoubleLoop
from .information_newton import InformationNewton
from .method import Method


def default_method(likelihood: Likelihood) -> Method:
    """The fastest method that is safe, for the evidence or for its variational bound.

    Examples
    --------
    >>> from multikernel.bayes import default_method
    >>> from multikernel.likelihoods import Gaussian, Laplace
    >>> default_method(Gaussian()), default_method(Laplace())
    (InformationNewton(), DoubleLoop())
    """
    return InformationNewton() if likelihood.is_gaussian else DoubleLoop()
