"""Gradients of a channel, split by orientation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._arrays import Channel


def gradients(channel: Channel, circular: bool = False) -> tuple[Channel, Channel]:
    """Central differences along x and y; those of an angle take the short way round."""
    padded = np.pad(channel, 1, mode="edge")
    dx = padded[1:-1, 2:] - padded[1:-1, :-2]
    dy = padded[2:, 1:-1] - padded[:-2, 1:-1]
    if circular:
        dx, dy = _short_way(dx), _short_way(dy)
    half = np.float32(0.5)
    return half * dx, half * dy


def _short_way(angle: Channel) -> Channel:
    """The same angle between minus half a turn and half a turn."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi, dtype=np.float32)


def orientation_maps(dx: Channel, dy: Channel, n_bins: int, full_turn: bool = True) -> Channel:
    """Gradient lengths shared between the two nearest orientations: (n_bins, height, width)."""
    length, turn = np.hypot(dx, dy), 2 * np.pi if full_turn else np.pi
    position = np.arctan2(dy, dx) % turn * np.float32(n_bins / turn)
    bins = np.arange(n_bins, dtype=np.float32)[:, np.newaxis, np.newaxis]
    away = np.abs(position - bins)
    away = np.minimum(away, n_bins - away)
    return np.asarray(np.maximum(1 - away, 0) * length, dtype=np.float32)


def unit_rows(X: NDArray[np.float32], smallest: float) -> NDArray[np.float32]:
    """Rows of unit Euclidean length; those shorter than ``smallest`` become zero."""
    norms = np.linalg.norm(X, axis=-1, keepdims=True)
    return np.asarray(np.divide(X, norms, out=np.zeros_like(X), where=norms > smallest))
