"""The size of what is seen at a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Points, check_image, grey_channel
from ._opencv import opencv

SCALES = tuple(1.6 * 2 ** (k / 2) for k in range(5))  # half octaves from the first scale of SIFT


def characteristic_scales(
    image: Any, points: Points, scales: Sequence[float] = SCALES
) -> NDArray[np.intp]:
    r"""Which of some scales fits the structure around every point best.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
    points : array of int of shape (n_points, 2)
    scales : sequence of float
        Standard deviations in pixels.

    Returns
    -------
    index : array of int of shape (n_points,)
        Positions in ``scales``.

    Notes
    -----
    The scale at which the scale-normalised Laplacian
    :math:`\sigma^2 |\nabla^2 (G_\sigma * I)|` is largest.
    """
    cv2 = opencv()
    grey = grey_channel(check_image(image))
    x, y = points.T
    responses = []
    for sigma in scales:
        smooth = cv2.GaussianBlur(grey, (0, 0), sigma)
        responses.append(sigma**2 * np.abs(cv2.Laplacian(smooth, cv2.CV_32F)[y, x]))
    return np.asarray(np.argmax(responses, axis=0))
