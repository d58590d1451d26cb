"""The experiment of Tomioka and Suzuki on images of Caltech-101."""

from .experiment import Caltech101

__all__ = ["Caltech101"]
