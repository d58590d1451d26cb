"""Where in an image local descriptors are taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Mask, Points, check_image, grey_channel
from ._opencv import opencv


def grid_points(
    shape: tuple[int, ...], step: int, *, margin: int = 0, mask: Mask | None = None
) -> Points:
    """Points of a regular grid, centred in the image.

    Parameters
    ----------
    shape : tuple
        Height and width of the image.
    step : int
        Pixels between neighbours.
    margin : int, default=0
        Pixels along the sides where no point lies.
    mask : array of bool of shape (height, width), default=None
        Keep only points inside.

    Returns
    -------
    points : array of int of shape (n_points, 2)
        Columns x and y.

    Examples
    --------
    >>> from multikernel.images import grid_points
    >>> grid_points((5, 9), 4)
    array([[0, 0],
           [4, 0],
           [8, 0],
           [0, 4],
           [4, 4],
           [8, 4]])
    """
    if step < 1:
        raise ValueError(f"step must be at least one pixel, got {step}.")
    ys, xs = (_ticks(length, step, margin) for length in shape[:2])
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    return points if mask is None else points[mask[points[:, 1], points[:, 0]]]


def _ticks(length: int, step: int, margin: int) -> Points:
    """Multiples of the step, shifted such that equally much is left at both ends."""
    reach = max(length - 1 - 2 * margin, 0)
    return np.arange(0, reach + 1, step, dtype=np.intp) + (reach % step) // 2 + margin


def edge_points(image: Any, step: int, *, mask: Mask | None = None) -> Points:
    """The pixel of strongest gradient in every cell of a grid, in cells with clear edges.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
    step : int
        Pixels along a cell.
    mask : array of bool of shape (height, width), default=None
        Look only inside.

    Returns
    -------
    points : array of int of shape (n_points, 2)
        Columns x and y. Clear is at least half the median of strongest gradients over cells.
    """
    cv2 = opencv()
    grey = cv2.GaussianBlur(grey_channel(check_image(image)), (0, 0), 1.0)
    strength = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    if mask is not None:
        strength = np.where(mask, strength, np.float32(-1))
    height, width = (length // step * step for length in strength.shape)
    cells = strength[:height, :width].reshape(height // step, step, width // step, step)
    cells = cells.transpose(0, 2, 1, 3).reshape(height // step, width // step, step * step)
    best, peak = cells.argmax(axis=2), cells.max(axis=2)
    rows, columns = np.indices(best.shape)
    points = np.stack([columns * step + best % step, rows * step + best // step], axis=-1)
    strong = peak > 0
    if strong.any():
        strong &= peak >= np.median(peak[strong]) / 2
    return np.asarray(points[strong])


def outline(mask: Mask, width: int) -> Mask:
    """The band of pixels within a distance of the boundary of a mask.

    Parameters
    ----------
    mask : array of bool of shape (height, width)
    width : int
        Pixels on either side.
    """
    cv2 = opencv()
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * width + 1, 2 * width + 1))
    inside = mask.astype(np.uint8)
    return np.asarray(cv2.dilate(inside, disc) != cv2.erode(inside, disc))
