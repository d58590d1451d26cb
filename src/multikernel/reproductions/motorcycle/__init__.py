"""Motorcycle: three kernels and three samples?"""

from .experiment import Motorcycle

__all__ = ["Motorcycle"]
