"""Drawings of ants, cannons and cups, for those who lack the photographs."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from ..._component import Array

_HEIGHT, _WIDTH = 120, 160
Mask = NDArray[np.bool_]


def draw(name: str, number: int) -> NDArray[np.uint8]:
    """One drawing of a class, the same for the same number.

    Parameters
    ----------
    name : {"ant", "cannon", "cup"}
    number : int

    Returns
    -------
    image : array of uint8 of shape (120, 160, 3)
        The object has a place, a size, a turn and colours of its own, before uneven ground.

    Examples
    --------
    >>> from multikernel.reproductions.caltech101.drawings import draw
    >>> draw("cup", 0).shape
    (120, 160, 3)
    """
    rng = np.random.default_rng(crc32(f"{name} {number}".encode()))
    shape, sigma = _KINDS[name]
    inside = shape(*_places(rng))[:, :, np.newaxis]
    dark, bright = rng.uniform(0.1, 0.35, 3), rng.uniform(0.65, 0.9, 3)
    if rng.random() < 0.5:
        dark, bright = bright, dark
    surface, ground = dark + 0.12 * _texture(rng, sigma), bright + 0.05 * _texture(rng, 4.0)
    levels = np.where(inside, surface, ground) + rng.normal(0, 0.02, (_HEIGHT, _WIDTH, 3))
    return np.asarray(np.clip(255 * levels, 0, 255), dtype=np.uint8)


def _places(rng: np.random.Generator) -> tuple[Array, Array]:
    """Every pixel in the units of the object: moved, scaled and turned."""
    y, x = np.mgrid[:_HEIGHT, :_WIDTH]
    x = (x - _WIDTH * rng.uniform(0.4, 0.6)) / (_HEIGHT * rng.uniform(0.35, 0.5))
    y = (y - _HEIGHT * rng.uniform(0.4, 0.6)) / (_HEIGHT * rng.uniform(0.35, 0.5))
    turn = rng.normal(0, 0.15)
    return x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)


def _texture(rng: np.random.Generator, sigma: float) -> Array:
    """Smooth noise of unit variance, the same in all colours."""
    noise = gaussian_filter(rng.normal(size=(_HEIGHT, _WIDTH)), sigma)
    return np.asarray(noise / noise.std())[:, :, np.newaxis]


def _disc(x: Array, y: Array, radius: float) -> Mask:
    return np.asarray(x**2 + y**2 < radius**2)


def _ant(x: Array, y: Array) -> Mask:
    """Three round parts in a row and three pairs of legs."""
    body = _disc(x + 0.7, y, 0.25) | _disc(x, y, 0.2) | _disc(x - 0.7, y, 0.35)
    legs = (np.abs(np.abs(y) - 2 * np.abs(x - 0.3 * np.round(x / 0.3))) < 0.1) & (np.abs(x) < 0.45)
    return np.asarray(body | (legs & (np.abs(y) < 0.8)))


def _cannon(x: Array, y: Array) -> Mask:
    """A barrel and a wheel with spokes."""
    barrel = (np.abs(y + 0.4 + 0.2 * x) < 0.16) & (np.abs(x) < 1.1)
    wheel = _disc(x, y - 0.3, 0.5) & ~_disc(x, y - 0.3, 0.38)
    spokes = _disc(x, y - 0.3, 0.5) & ((np.abs(x) < 0.05) | (np.abs(y - 0.3) < 0.05))
    return np.asarray(barrel | wheel | spokes)


def _cup(x: Array, y: Array) -> Mask:
    """A body that narrows downwards and a handle."""
    body = (np.abs(y) < 0.7) & (np.abs(x) < 0.6 - 0.15 * y)
    handle = _disc(x - 0.65, y, 0.42) & ~_disc(x - 0.65, y, 0.28)
    return np.asarray(body | handle)


# what is drawn, and the width in pixels of the texture of its surface
_KINDS: dict[str, tuple[Callable[[Array, Array], Mask], float]] = {
    "ant": (_ant, 1.0),
    "cannon": (_cannon, 2.0),
    "cup": (_cup, 4.0),
}
