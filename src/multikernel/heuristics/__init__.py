"""Heuristics: kernel weights made from the data by a formula, the baselines of every comparison."""

from .alignment import Alignment, AlignmentQP, BestAligned
from .base import WeightRule
from .margin import MarginShares
from .single import OneKernel

WEIGHT_RULES: dict[str, type[WeightRule]] = {
    "alignment": Alignment,
    "alignment_qp": AlignmentQP,
    "best_aligned": BestAligned,
    "margin": MarginShares,
    "one_kernel": OneKernel,
}

__all__ = [
    "WEIGHT_RULES",
    "Alignment",
    "AlignmentQP",
    "BestAligned",
    "MarginShares",
    "OneKernel",
    "WeightRule",
]
