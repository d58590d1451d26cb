"""Reading images at a common size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import Image
from ._opencv import opencv


def read_image(path: Any, short_side: int | None = None) -> Image:
    """Read an image file as RGB, resized such that its short side has so many pixels.

    Parameters
    ----------
    path : str or Path
    short_side : int, default=None
        None keeps the size.

    Returns
    -------
    image : array of uint8 of shape (height, width, 3)
    """
    cv2 = opencv()
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no image {path}.")
    image = cv2.imdecode(np.fromfile(path, dtype=np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError(f"{path} is not an image that OpenCV can read.")
    image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    return np.asarray(image) if short_side is None else resize_image(image, short_side)


def resize_image(image: Any, short_side: int) -> Image:
    """Resize an image such that its short side has so many pixels."""
    cv2 = opencv()
    height, width = image.shape[:2]
    factor = short_side / min(height, width)
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, size, interpolation=how))
