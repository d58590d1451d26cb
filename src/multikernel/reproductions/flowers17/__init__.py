"""Flowers17: seven kernels tell seventeen kinds of flowers apart."""

from .experiment import Flowers17

__all__ = ["Flowers17"]
