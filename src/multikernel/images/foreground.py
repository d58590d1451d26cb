"""What an image is about, if that lies in its centre."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Mask, check_image
from ._opencv import opencv

_SHARE = (0.02, 0.98)  # a smaller or larger foreground is a failure
_SURE = 0.04  # of height and width, along all sides: surely background


def central_foreground(image: Any, short_side: int = 128, n_iter: int = 5) -> Mask:
    """Pixels of the object in the centre, found by colour and edges (GrabCut), without labels.

    Parameters
    ----------
    image : array of uint8 of shape (height, width, 3)
    short_side : int, default=128
        Size at which the object is looked for; the answer has the size of the image.
    n_iter : int, default=5
        Iterations of GrabCut.

    Returns
    -------
    mask : array of bool of shape (height, width)
        True on the object. Where nearly nothing or nearly all is found, the central ellipse from
        which the search started.
    """
    cv2 = opencv()
    image = check_image(image)
    height, width = image.shape[:2]
    factor = min(1.0, short_side / min(height, width))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    start = _central_ellipse(size[1], size[0])
    found = _grab_cut(small, start, n_iter)
    if not _SHARE[0] < found.mean() < _SHARE[1]:
        found = start
    return np.asarray(cv2.resize(found.astype(np.float32), (width, height)) >= 0.5)


def foreground_box(mask: Mask, padding: float = 0.1) -> tuple[slice, slice]:
    """Rows and columns of the smallest box around a mask, wider by a share of its size.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.images import foreground_box
    >>> mask = np.zeros((20, 20), dtype=bool)
    >>> mask[5:15, 8:12] = True
    >>> foreground_box(mask)
    (slice(4, 16, None), slice(8, 12, None))
    """
    if not mask.any():
        return slice(0, mask.shape[0]), slice(0, mask.shape[1])
    box = []
    for axis, length in enumerate(mask.shape):
        where = np.flatnonzero(mask.any(axis=1 - axis))
        pad = round(padding * (where[-1] + 1 - where[0]))
        box.append(slice(int(max(where[0] - pad, 0)), int(min(where[-1] + 1 + pad, length))))
    return box[0], box[1]


def _central_ellipse(height: int, width: int) -> Mask:
    """An ellipse around the centre that covers two fifths of the image."""
    y, x = np.ogrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    return np.asarray(x**2 + y**2 <= 0.5)


def _grab_cut(image: Any, start: Mask, n_iter: int) -> Mask:
    """Split the pixels by two mixtures of colours that keep neighbours together."""
    cv2 = opencv()
    labels = np.where(start, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    rim = [max(1, round(_SURE * length)) for length in labels.shape]
    labels[: rim[0]] = labels[-rim[0] :] = cv2.GC_BGD
    labels[:, : rim[1]] = labels[:, -rim[1] :] = cv2.GC_BGD
    cv2.setRNGSeed(0)
    mixtures = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(image, labels, None, *mixtures, n_iter, cv2.GC_INIT_WITH_MASK)
    return np.asarray((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))
