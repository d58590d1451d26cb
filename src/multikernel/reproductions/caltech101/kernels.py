"""The Gram matrices of one problem, from distances that were computed once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...banks import PackedBank
from .arrangement import FAMILIES, GAUSSIAN, Arrangement


def kernel_bank(
    distances: NDArray[np.float32], arrangement: Arrangement, samples: NDArray[np.intp]
) -> PackedBank:
    """All kernels between some of the images, in the order of the arrangement."""
    bank = PackedBank(len(samples), arrangement.n_kernels)
    n_descriptors, n_regions, n_families, n_widths = arrangement.shape
    shares = arrangement.level_shares()
    first = 0
    for descriptor in range(n_descriptors):
        base = distances[descriptor][:, :, samples[:, np.newaxis], samples].astype(np.float64)
        stack = np.empty((n_regions, n_families, n_widths, len(samples), len(samples)))
        for k, family in enumerate(FAMILIES):
            for w, width in enumerate(arrangement.widths(family)):
                stack[:-1, k, w] = np.exp(-rate(family, width) * base[:, k])
        stack[-1] = np.tensordot(shares, stack[:-1], axes=1)  # the pyramid: Σ shares · cells
        for offset, K in enumerate(stack.reshape(-1, len(samples), len(samples))):
            bank.set_kernel(first + offset, K)
        first += n_regions * n_families * n_widths
    return bank


def rate(family: str, width: float) -> float:
    r"""The factor of the distance: :math:`1/(2\gamma^2)` or, for χ², :math:`\gamma^2`."""
    return float(1 / (2 * width**2) if family == GAUSSIAN else width**2)
