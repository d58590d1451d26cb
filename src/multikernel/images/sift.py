"""SIFT descriptors at given points, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Channel, Points, check_image, grey_channel, hsv_channels
from ._gradients import gradients, orientation_maps, unit_rows
from ._opencv import opencv
from .scales import SCALES, characteristic_scales

COLOURS = ("grey", "hsv")
_CLIP = 0.2  # of the length: so strong an edge counts no more
_FLAT = 1e-3  # gradients of less than this length are no structure


@dataclass(frozen=True)
class Sift:
    r"""SIFT: orientations of gradients in four by four cells around a point.

    Parameters
    ----------
    colour : {"grey", "hsv"}, default="grey"
        Channels to describe; "hsv" joins the descriptors of hue, saturation and value.
    scale : float, "adaptive" or sequence of float, default="adaptive"
        Size in pixels. "adaptive" takes at every point the one of ``scales`` that fits best;
        with a sequence, every point has one descriptor of each scale.
    magnification : float, default=3.0
        Width of a cell in units of the scale; a descriptor covers four cells.
    scales : sequence of float, default=half octaves from 1.6 to 6.4
        What "adaptive" chooses from.
    root : bool, default=False
        Root of the descriptor divided by its sum, whose Euclidean distance is that of Hellinger.

    Notes
    -----
    Gradients are taken after smoothing by a sixth of a cell, shared linearly between neighbouring
    orientations and cells, and cells are weighted by a Gaussian of two cells. No rotation is
    removed. Filters run once over the image, so that the cost hardly depends on the number of
    points.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.images import Sift, grid_points
    >>> image = np.random.default_rng(0).integers(0, 256, (64, 96, 3), dtype=np.uint8)
    >>> points = grid_points(image.shape, 8)
    >>> Sift(scale=4.0).describe(image, points).shape
    (96, 128)
    >>> Sift("hsv", scale="adaptive").describe(image, points).shape
    (96, 384)
    """

    colour: str = "grey"
    scale: Any = "adaptive"
    magnification: float = 3.0
    scales: Sequence[float] = SCALES
    root: bool = False

    def __post_init__(self) -> None:
        if self.colour not in COLOURS:
            raise ValueError(f"colour must be one of {COLOURS}, got {self.colour!r}.")
        if isinstance(self.scale, str) and self.scale != "adaptive":
            raise ValueError(f"scale must be 'adaptive' or in pixels, got {self.scale!r}.")
        if not all(scale > 0 for scale in self._candidates()):
            raise ValueError(f"scales must be positive, got {self._candidates()}.")

    def _candidates(self) -> tuple[float, ...]:
        """All scales at which something is described."""
        if isinstance(self.scale, str):
            return tuple(self.scales)
        return tuple(np.ravel(self.scale).tolist())

    def describe(self, image: Any, points: Points) -> NDArray[np.float32]:
        """Descriptors at points.

        Parameters
        ----------
        image : array of uint8 of shape (height, width, 3)
        points : array of int of shape (n_points, 2)
            Columns x and y.

        Returns
        -------
        descriptors : array of shape (n_points, 128), (n_points, 384) for "hsv"
            Of unit length, or zero where nothing is to be seen. With several scales, the
            descriptors of the first come first.
        """
        image, candidates = check_image(image), self._candidates()
        channels = _channels(image, self.colour)
        if isinstance(self.scale, str):
            chosen = characteristic_scales(image, points, candidates)
            parts = [np.flatnonzero(chosen == k) for k in range(len(candidates))]
        else:
            parts = [np.arange(len(points))] * len(candidates)
        blocks = [
            self._at_scale(channels, points[part], scale)
            for part, scale in zip(parts, candidates, strict=True)
        ]
        descriptors = np.concatenate(blocks)
        if not isinstance(self.scale, str):
            return descriptors
        in_order = np.empty_like(descriptors)
        in_order[np.concatenate(parts)] = descriptors
        return in_order

    def _at_scale(
        self, channels: list[tuple[Channel, bool]], points: Points, scale: float
    ) -> NDArray[np.float32]:
        """Descriptors of all channels at one scale, side by side."""
        cell = max(self.magnification * scale, 1.0)
        parts = [_describe(channel, circular, points, cell) for channel, circular in channels]
        descriptors = np.concatenate(parts, axis=1) / np.float32(np.sqrt(len(parts)))
        if not self.root:
            return descriptors
        total = descriptors.sum(axis=1, keepdims=True)
        return np.asarray(np.sqrt(np.divide(descriptors, total, out=descriptors, where=total > 0)))


def _channels(image: Any, colour: str) -> list[tuple[Channel, bool]]:
    """Channels, and whether they are angles."""
    if colour == "grey":
        return [(grey_channel(image), False)]
    hue, saturation, value = np.moveaxis(hsv_channels(image), 2, 0)
    return [(hue, True), (saturation, False), (value, False)]


def _describe(channel: Channel, circular: bool, points: Points, cell: float) -> NDArray[np.float32]:
    """Descriptors of one channel with cells of a given width, shape (n_points, 128)."""
    if not len(points):
        return np.empty((0, 128), dtype=np.float32)
    maps = _pooled(_smooth(channel, circular, cell / 6), circular, cell)
    offsets = (np.arange(4) - 1.5) * cell  # centres of cells
    xs = _inside(points[:, :1] + offsets, channel.shape[1])
    ys = _inside(points[:, 1:] + offsets, channel.shape[0])
    cells = maps[:, ys[:, :, np.newaxis], xs[:, np.newaxis, :]]  # (8, n_points, 4, 4)
    weights = np.exp(-((np.arange(4) - 1.5) ** 2) / 8).astype(np.float32)
    cells = cells * np.outer(weights, weights)
    flat = np.moveaxis(cells, 0, -1).reshape(len(points), 128)
    return unit_rows(np.minimum(unit_rows(flat, _FLAT), np.float32(_CLIP)), 0.0)


def _smooth(channel: Channel, circular: bool, sigma: float) -> Channel:
    """Smooth by a Gaussian; an angle is smoothed as a point on the circle."""
    cv2 = opencv()
    if not circular:
        return np.asarray(cv2.GaussianBlur(channel, (0, 0), sigma))
    sine, cosine = (cv2.GaussianBlur(f(channel), (0, 0), sigma) for f in (np.sin, np.cos))
    return np.asarray(np.arctan2(sine, cosine))


def _pooled(channel: Channel, circular: bool, cell: float) -> Channel:
    """Orientation maps averaged by a triangle of a cell on either side: (8, height, width)."""
    cv2 = opencv()
    maps = orientation_maps(*gradients(channel, circular), 8)
    reach = int(np.ceil(cell)) - 1
    taps = 1 - np.abs(np.arange(-reach, reach + 1)) / cell
    taps = (taps / taps.sum()).astype(np.float32)
    pooled = [cv2.sepFilter2D(m, -1, taps, taps, borderType=cv2.BORDER_CONSTANT) for m in maps]
    return np.stack(pooled)


def _inside(positions: Any, length: int) -> Points:
    """The nearest pixels of the image."""
    return np.asarray(np.clip(np.rint(positions), 0, length - 1), dtype=np.intp)
