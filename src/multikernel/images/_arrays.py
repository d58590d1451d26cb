"""What an image is, and how its channels are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._opencv import opencv

Image = NDArray[np.uint8]
Channel = NDArray[np.float32]
Points = NDArray[np.intp]
Mask = NDArray[np.bool_]


def check_image(image: Any) -> Image:
    """An array of shape (height, width, 3) of bytes, as RGB; grey images get three channels."""
    image = np.asarray(image)
    if image.ndim == 2:
        image = np.repeat(image[:, :, np.newaxis], 3, axis=2)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(
            "image must be an RGB array of shape (height, width, 3) and dtype uint8, got shape "
            f"{image.shape} and dtype {image.dtype}; read files with multikernel.images.read_image."
        )
    return np.ascontiguousarray(image)


def grey_channel(image: Image) -> Channel:
    """Lightness from 0 to 1."""
    cv2 = opencv()
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.float32) / np.float32(255)


def hsv_channels(image: Image) -> Channel:
    """Hue in radians, saturation and value from 0 to 1: shape (height, width, 3)."""
    cv2 = opencv()
    hsv = cv2.cvtColor(image.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2HSV)
    hsv[:, :, 0] *= np.float32(np.pi / 180)
    return np.asarray(hsv)
