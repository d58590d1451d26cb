"""SimpleMKL's table: sparse combinations of very many kernels on five small data sets."""

from .experiment import SimpleMKL

__all__ = ["SimpleMKL"]
