"""Flowers102: four kernels of the authors tell 102 kinds of flowers apart."""

from .experiment import Flowers102

__all__ = ["Flowers102"]
