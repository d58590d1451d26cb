"""Coupled tasks, overlapping groups and ordered kernels: regularizers that know a structure."""

from .experiment import MultiTask

__all__ = ["MultiTask"]
