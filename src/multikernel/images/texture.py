"""Texture at points, by filters of several orientations of which the strongest counts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Channel, Points, check_image, grey_channel
from ._opencv import opencv

_SCALES = ((1.0, 3.0), (2.0, 6.0), (4.0, 12.0))  # deviations across and along a bar
_N_ANGLES = 6
_ISOTROPIC = 4.0  # deviation of the Gaussian and of its Laplacian


def texture_responses(image: Any, points: Points) -> NDArray[np.float32]:
    """Eight filter responses at points that hardly change when the image is turned.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
    points : array of int of shape (n_points, 2)
        Columns x and y.

    Returns
    -------
    responses : array of shape (n_points, 8)
        Edges and bars at three scales, each at the strongest of six orientations, then a
        Gaussian and its Laplacian (the MR8 bank of Varma and Zisserman, at half its size). The
        image has mean 0 and variance 1 before, and responses are damped as Weber's law says.
    """
    cv2 = opencv()
    grey = grey_channel(check_image(image))
    grey = (grey - grey.mean()) / max(float(grey.std()), 1e-6)
    x, y = points.T
    responses = []
    for bank in _oriented_filters():
        turned = [cv2.filter2D(grey, -1, taps, borderType=cv2.BORDER_REFLECT) for taps in bank]
        responses.append(np.max(np.abs(turned), axis=0)[y, x])
    smooth = cv2.GaussianBlur(grey, (0, 0), _ISOTROPIC)
    laplacian = _ISOTROPIC**2 * cv2.Laplacian(smooth, cv2.CV_32F)
    R = np.stack([*responses, smooth[y, x], laplacian[y, x]], axis=1)
    length = np.maximum(np.linalg.norm(R, axis=1, keepdims=True), 1e-6)
    return np.asarray(R * np.log1p(length / 0.03) / length, dtype=np.float32)


@cache
def _oriented_filters() -> tuple[tuple[Channel, ...], ...]:
    """For every kind and scale, filters of all orientations."""
    return tuple(
        tuple(_turned(across, along, order)) for across, along in _SCALES for order in (1, 2)
    )


def _turned(across: float, along: float, order: int) -> Iterator[Channel]:
    """Derivatives of an elongated Gaussian, of mean 0 and unit sum of sizes."""
    reach = int(np.ceil(3 * along / 2))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    for angle in np.pi * np.arange(_N_ANGLES) / _N_ANGLES:
        u = x * np.cos(angle) + y * np.sin(angle)
        v = y * np.cos(angle) - x * np.sin(angle)
        bump = np.exp(-(u**2) / (2 * across**2) - v**2 / (2 * along**2))
        taps = bump * (u if order == 1 else (u**2 / across**2 - 1))
        taps -= taps.mean()
        yield (taps / np.abs(taps).sum()).astype(np.float32)
