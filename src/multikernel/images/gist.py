"""The layout of a whole image, by energies of filters on a coarse grid."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import check_image, grey_channel
from ._opencv import opencv

_SIDE = 128
_CONTRAST_SIGMA = 8.0


def gist(image: Any, n_scales: int = 4, n_angles: int = 8, n_cells: int = 4) -> NDArray[np.float32]:
    """Mean responses of log-Gabor filters of all scales and orientations in cells of the image.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
        Resized to a square, then contrasts are made even.
    n_scales, n_angles : int
        Filters, an octave and an equal angle apart.
    n_cells : int, default=4
        Cells along a side.

    Returns
    -------
    energies : array of shape (n_scales * n_angles * n_cells ** 2,)
        Not negative.
    """
    cv2 = opencv()
    square = cv2.resize(check_image(image), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    grey = grey_channel(square)
    grey = grey - cv2.GaussianBlur(grey, (0, 0), _CONTRAST_SIGMA)
    local = np.sqrt(cv2.GaussianBlur(grey**2, (0, 0), _CONTRAST_SIGMA))
    spectrum = np.fft.fft2(grey / (0.05 + local))
    energies = np.abs(np.fft.ifft2(spectrum * _log_gabor(n_scales, n_angles)))
    cell = _SIDE // n_cells
    cells = energies.reshape(len(energies), n_cells, cell, n_cells, cell).mean(axis=(2, 4))
    return np.asarray(cells.ravel(), dtype=np.float32)


@cache
def _log_gabor(n_scales: int, n_angles: int) -> NDArray[np.float64]:
    """Filters in the frequency domain, shape (n_scales * n_angles, side, side)."""
    fy, fx = np.meshgrid(np.fft.fftfreq(_SIDE), np.fft.fftfreq(_SIDE), indexing="ij")
    radius, angle = np.hypot(fx, fy), np.arctan2(fy, fx)
    radius[0, 0] = 1.0
    filters = []
    for scale in range(n_scales):
        radial = np.exp(-(np.log(radius / (0.3 / 2**scale)) ** 2) / (2 * np.log(0.65) ** 2))
        radial[0, 0] = 0.0
        for k in range(n_angles):
            away = (angle - np.pi * k / n_angles + np.pi) % (2 * np.pi) - np.pi
            filters.append(radial * np.exp(-(away**2) * n_angles**2 / (2 * np.pi**2 * 0.36)))
    return np.stack(filters)
