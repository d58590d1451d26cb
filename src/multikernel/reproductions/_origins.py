"""Where data sets that several experiments use are described."""

from __future__ import annotations

_UCI = "https://archive.ics.uci.edu/dataset"

CONCRETE = f"{_UCI}/165/concrete+compressive+strength"
ENERGY = f"{_UCI}/242/energy+efficiency"
IONOSPHERE = f"{_UCI}/52/ionosphere"
LIVER = f"{_UCI}/60/liver+disorders"
PIMA = "https://www.openml.org/d/37"
SONAR = f"{_UCI}/151/connectionist+bench+sonar+mines+vs+rocks"
WPBC = f"{_UCI}/16/breast+cancer+wisconsin+prognostic"
