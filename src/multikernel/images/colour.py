"""Colours at points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Points, check_image, hsv_channels
from ._opencv import opencv


def hsv_colours(image: Any, points: Points, sigma: float = 1.0) -> NDArray[np.float32]:
    r"""Colours at points, as places in the cylinder of hue, saturation and value.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
    points : array of int of shape (n_points, 2)
        Columns x and y.
    sigma : float, default=1.0
        Standard deviation in pixels of the Gaussian that smooths the image first.

    Returns
    -------
    colours : array of shape (n_points, 3)
        :math:`(s \cos h, s \sin h, v)`, in which grey has no hue and red is one place.
    """
    smooth = opencv().GaussianBlur(check_image(image), (0, 0), sigma)
    hue, saturation, value = hsv_channels(smooth)[points[:, 1], points[:, 0]].T
    return np.stack([saturation * np.cos(hue), saturation * np.sin(hue), value], axis=1)
