"""Where images of flowers come from: files, or a drawing hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...images import read_image
from ...images._opencv import opencv

_N_ORIGINAL, _EACH_ORIGINAL = 1360, 80


@dataclass(frozen=True)
class Album:
    """Equally many images of several kinds, in the order of kinds.

    Attributes
    ----------
    n_classes, n_each : int
        Kinds, and images of every kind.
    """

    n_classes: int
    n_each: int

    def __len__(self) -> int:
        return self.n_classes * self.n_each

    @property
    def y(self) -> NDArray[np.intp]:
        """The kinds, counted from zero."""
        return np.arange(len(self)) // self.n_each

    def image(self, i: int) -> Any:
        """One image as RGB, array of uint8 of shape (height, width, 3)."""
        raise NotImplementedError


@dataclass(frozen=True)
class ImageFiles(Album):
    """The first images of the first kinds of the original 17 × 80.

    Attributes
    ----------
    folder : Path
        Where ``image_0001.jpg`` to ``image_1360.jpg`` lie.
    """

    folder: Path = Path()

    @staticmethod
    def complete(folder: Path) -> bool:
        """Whether all images are there."""
        return len(list(folder.glob("image_*.jpg"))) == _N_ORIGINAL

    def path(self, i: int) -> Path:
        """Where one image lies."""
        number = i // self.n_each * _EACH_ORIGINAL + i % self.n_each + 1
        return self.folder / f"image_{number:04}.jpg"

    def image(self, i: int) -> Any:
        """Read one image."""
        return read_image(self.path(i))


@dataclass(frozen=True)
class DrawnFlowers(Album):
    """Flowers drawn by seeds: the same at every call."""

    def image(self, i: int) -> Any:
        """Draw one flower."""
        return draw_flower(i // self.n_each, np.random.default_rng(i))


def draw_flower(kind: int, rng: np.random.Generator, height: int = 120, width: int = 160) -> Any:
    """Petals whose number, shape and colour belong to the kind, on noisy green."""
    cv2 = opencv()
    image = rng.normal((50, 110, 60), 18, (height, width, 3))
    centre = (width // 2 + int(rng.integers(-12, 13)), height // 2 + int(rng.integers(-8, 9)))
    n_petals, reach = 4 + 2 * (kind % 4), int(rng.integers(26, 40))
    hue = np.array([[[kind * 47 % 180, 200, 230]]], dtype=np.uint8)
    colour = cv2.cvtColor(hue, cv2.COLOR_HSV2RGB)[0, 0]
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
    cv2.circle(image, centre, reach // 4, (220, 180, 40), -1)
    return np.clip(image + rng.normal(0, 6, image.shape), 0, 255).astype(np.uint8)
