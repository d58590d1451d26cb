"""Histograms of oriented gradients of a whole image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import check_image, grey_channel
from ._gradients import gradients, orientation_maps, unit_rows
from ._opencv import opencv


def hog(image: Any, n_cells: int = 8, n_bins: int = 9, cell: int = 16) -> NDArray[np.float32]:
    """Orientations of gradients in cells of the image, normalised in blocks of two by two.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
        Resized to a square first, so that images of any size compare.
    n_cells : int, default=8
        Cells along a side.
    n_bins : int, default=9
        Orientations of half a turn.
    cell : int, default=16
        Pixels along a cell.

    Returns
    -------
    histogram : array of shape ((n_cells - 1) ** 2 * 4 * n_bins,)
        Not negative.
    """
    cv2 = opencv()
    side = n_cells * cell
    square = cv2.resize(check_image(image), (side, side), interpolation=cv2.INTER_AREA)
    maps = orientation_maps(*gradients(grey_channel(square)), n_bins, full_turn=False)
    cells = maps.reshape(n_bins, n_cells, cell, n_cells, cell).sum(axis=(2, 4)).transpose(1, 2, 0)
    corners = [cells[:-1, :-1], cells[:-1, 1:], cells[1:, :-1], cells[1:, 1:]]
    blocks = np.concatenate(corners, axis=2)
    return unit_rows(np.minimum(unit_rows(blocks, 1e-3), np.float32(0.2)), 0.0).ravel()
