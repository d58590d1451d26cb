"""Theory of kernel weights: virtual kernels, Rademacher complexity and the Rényi entropy of Q."""

from .rademacher import (
    RademacherEstimate,
    lp_bound,
    q_bound,
    rademacher_bound,
    rademacher_complexity,
    second_moments,
)
from .renyi import renyi_entropy
from .virtual_kernels import VirtualKernels, virtual_kernels

__all__ = [
    "RademacherEstimate",
    "VirtualKernels",
    "lp_bound",
    "q_bound",
    "rademacher_bound",
    "rademacher_complexity",
    "renyi_entropy",
    "second_moments",
    "virtual_kernels",
]
