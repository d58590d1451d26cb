"""Drawn flowers, for a look at all steps without the images."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np


def draw_flowers(folder: Path, n_classes: int, n_each: int) -> list[Path]:
    """Draw so many flowers of so many kinds, in the order of kinds; the same at every call."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"image_{i + 1:04}.jpg" for i in range(n_classes * n_each)]
    for i, path in enumerate(paths):
        if not path.exists():
            cv2.imwrite(str(path), draw_flower(i // n_each, np.random.default_rng(i)))
    return paths


def draw_flower(kind: int, rng: np.random.Generator, height: int = 120, width: int = 160) -> object:
    """Petals whose number, shape and colour belong to the kind, on noisy green."""
    image = rng.normal((60, 110, 50), 18, (height, width, 3))
    centre = (width // 2 + rng.integers(-12, 13), height // 2 + rng.integers(-8, 9))
    n_petals, reach = 4 + 2 * (kind % 4), int(rng.integers(26, 40))
    colour = cv2.cvtColor(np.uint8([[[kind * 47 % 180, 200, 230]]]), cv2.COLOR_HSV2BGR)[0, 0]
    turn = rng.uniform(0, 360)
    for petal in range(n_petals):
        shade = tuple(float(c) for c in np.clip(colour * rng.uniform(0.85, 1.1), 0, 255))
        angle = turn + 360 * petal / n_petals
        tip = np.deg2rad(angle)
        middle = (
            int(centre[0] + reach / 2 * np.cos(tip)),
            int(centre[1] + reach / 2 * np.sin(tip)),
        )
        axes = (reach // 2, max(3, reach // (2 + kind % 3)))
        cv2.ellipse(image, middle, axes, angle, 0, 360, shade, -1)
    cv2.circle(image, tuple(map(int, centre)), reach // 4, (40, 180, 220), -1)
    return np.clip(image + rng.normal(0, 6, image.shape), 0, 255).astype(np.uint8)
