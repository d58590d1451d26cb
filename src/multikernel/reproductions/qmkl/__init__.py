"""Q-MKL: matrices made from the data against norms of the weights."""

from .experiment import QMKL

__all__ = ["QMKL"]
