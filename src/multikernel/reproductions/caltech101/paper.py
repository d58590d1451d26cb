"""What the paper prints: its figures have no numbers, its text has these."""

from __future__ import annotations

from .arrangement import CHI2, GAUSSIAN

PROBLEM = "cannon vs cup"
SELECTED = {GAUSSIAN: 88, CHI2: 792}  # by the elastic net, of 880 each
SELECTED_BY_WIDTH = {GAUSSIAN: (88,) + 9 * (0,), CHI2: (0,) + 9 * (88,)}
N_OF_FAMILY = 880
