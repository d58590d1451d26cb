"""OpenCV, imported when the first image is touched."""

from __future__ import annotations

from typing import Any


def opencv() -> Any:
    """The module cv2, or one sentence that says how to get it."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError(
            "multikernel.images needs OpenCV, which is not installed: "
            "pip install 'multikernel[images]'."
        ) from error
    return cv2
